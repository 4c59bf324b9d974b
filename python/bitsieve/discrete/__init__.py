"""Levels in place of numbers, for everything that counts.

::

    X, y -> _levels.py   checks; cut points by _cuts.py, or the values themselves
                |-> dense codes, or those of the entries of a sparse table (_sparse.py)
    discretize.py        the same as functions
    categories.py        labels of a frame, numbered once and then the same in every frame

The room depends on ``data`` alone; filters build on it.
"""

from __future__ import annotations

from bitsieve.discrete._levels import CutCost, Method, Missing
from bitsieve.discrete.categories import Categories
from bitsieve.discrete.discretize import as_codes, cut_points, discretize

__all__ = ["Categories", "CutCost", "Method", "Missing", "as_codes", "cut_points", "discretize"]
