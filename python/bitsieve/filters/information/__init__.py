"""Filters that count levels: entropies, what features share, and what they share with the target.

::

    X, y -> _tables.py: levels and their counts
              |-> scores.py          entropy, mutual information, of one feature at a time
              |-> selection.py       greedy criteria        mrmr.py  the best known of them
              '-> uncertainty.py     symmetrical uncertainty with classes and with each other
                    entropy_scores.py  information gain, gain ratio ...
                    fcbf.py, cfs.py    sets that do not repeat themselves
"""

from __future__ import annotations

from bitsieve.filters.information._tables import Correction
from bitsieve.filters.information.cfs import CFSResult, cfs, search_cfs
from bitsieve.filters.information.entropy_scores import (
    Cut,
    gain_ratio,
    gini,
    information_gain,
    symmetrical_uncertainty,
)
from bitsieve.filters.information.fcbf import fcbf
from bitsieve.filters.information.mrmr import mrmr
from bitsieve.filters.information.scores import (
    conditional_mutual_information,
    entropy,
    joint_mutual_information,
    mutual_information,
)
from bitsieve.filters.information.selection import information_selection
from bitsieve.filters.information.uncertainty import ClassTable, class_table

__all__ = [
    "CFSResult",
    "ClassTable",
    "Correction",
    "Cut",
    "cfs",
    "class_table",
    "conditional_mutual_information",
    "entropy",
    "fcbf",
    "gain_ratio",
    "gini",
    "information_gain",
    "information_selection",
    "joint_mutual_information",
    "mrmr",
    "mutual_information",
    "search_cfs",
    "symmetrical_uncertainty",
]
