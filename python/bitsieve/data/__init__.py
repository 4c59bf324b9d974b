"""From a file to a table.

::

    file ---- io.read_table ----> Table ---- .X         the user's numbers, the arbiter
              (a registry of       |   \\---- .features  the hot copy: centred, feature-major
               formats)            |
    arrays, DataFrames ------------/    every check on the way in: validation
"""

from __future__ import annotations

from bitsieve.data.hot import HotCopy, make_hot_copy
from bitsieve.data.table import Table

__all__ = ["HotCopy", "Table", "make_hot_copy"]
