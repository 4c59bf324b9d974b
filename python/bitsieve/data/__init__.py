"""From a file to a table.

::

    file ---- io.read_table ----> Table ---- .X         the user's numbers, the arbiter
              (a registry:         |   \\---- .features  the hot copy: centred, feature-major
               text, npz, ...)     |
    arrays, DataFrames ------------/    every check on the way in: validation
"""

from __future__ import annotations

from bitsieve.data.hot import HotCopy, make_hot_copy
from bitsieve.data.io import ReadRequest, formats, read_table, register_format
from bitsieve.data.table import Table

__all__ = [
    "HotCopy",
    "ReadRequest",
    "Table",
    "formats",
    "make_hot_copy",
    "read_table",
    "register_format",
]
