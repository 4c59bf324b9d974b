"""Data to try things on: bundled sets by name, and made tables whose answer is known.

Examples
--------
>>> from bitsieve import datasets
>>> datasets.load("breast_cancer").X.shape
(569, 30)
"""

from __future__ import annotations

from bitsieve.data.datasets import *  # noqa: F403
from bitsieve.data.datasets import __all__ as __all__
