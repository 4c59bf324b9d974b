"""Levels in place of numbers, and how often they meet, for everything that counts.

::

    X, y -- data.inputs.check_input --> _levels.py   cut points by _cuts.py, or the values
                                           |           (_sparse.py: of the entries alone)
                                           v
    cuts.py  CutPoints ---- apply ----> table.py     DiscreteTable: codes, bit planes, contingency
               (learnt on some samples,                |
                for these and for others)              v
    categories.py  labels of a frame    variable.py  a target, a feature, a set to condition on
    discretize.py  the same as functions of arrays

The room depends on ``data`` alone; what counts levels (filters, blankets, naive Bayes, trees)
builds on it.
"""

from __future__ import annotations

from bitsieve.discrete._levels import (
    MAX_LEVELS,
    CutCost,
    Discretization,
    Method,
    Missing,
    Options,
    check_discretization,
    inputs_for,
)
from bitsieve.discrete.categories import Categories
from bitsieve.discrete.cuts import CutPoints, find_cuts
from bitsieve.discrete.discretize import as_codes, cut_points, discretize
from bitsieve.discrete.table import DiscreteTable
from bitsieve.discrete.variable import Variable

__all__ = [
    "MAX_LEVELS",
    "Categories",
    "CutCost",
    "CutPoints",
    "DiscreteTable",
    "Discretization",
    "Method",
    "Missing",
    "Options",
    "Variable",
    "as_codes",
    "check_discretization",
    "cut_points",
    "discretize",
    "find_cuts",
    "inputs_for",
]
