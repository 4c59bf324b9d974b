"""A score for every feature, each feature by itself or beside those already chosen.

::

    X, y -> _input.py (one check for all)
              |-> relief.py        neighbours: Relief, ReliefF, SURF ...
              |-> _columns.py      one feature at a time, in one pass over the table:
              |     univariate.py    F, Fisher score, variance
              |     contrast.py      signal-to-noise, t        association.py  correlations
              |     ranks.py         AUC, Kruskal-Wallis       chi2.py         counts
              |   laplacian.py     smoothness over neighbours  orthogonal.py   Gram-Schmidt
              '-> discretize.py    levels in place of numbers, for all that count:
                    information.py   entropy, mutual information
                    entropy_scores.py  information gain, gain ratio ...
                    information_selection.py  greedy criteria    mrmr.py  the best known of them
                    fcbf.py, cfs.py  sets that do not repeat themselves

    scores -> p_values.py     tails, and the false discovery rate
              aggregation.py  one ranking out of several
    named.py                  all of them by short names

Every function takes ``(X, y, ...)`` and returns one score a feature, greater is better, so that it
works as ``score_func`` of scikit-learn's ``SelectKBest``; greedy methods return an order.
"""

from __future__ import annotations

from bitsieve.filters.aggregation import rank_aggregation
from bitsieve.filters.association import pearson, spearman
from bitsieve.filters.cfs import cfs
from bitsieve.filters.chi2 import chi2
from bitsieve.filters.contrast import signal_to_noise, t_test
from bitsieve.filters.discretize import as_codes, cut_points, discretize
from bitsieve.filters.entropy_scores import (
    gain_ratio,
    gini,
    information_gain,
    symmetrical_uncertainty,
)
from bitsieve.filters.fcbf import fcbf
from bitsieve.filters.information import (
    conditional_mutual_information,
    entropy,
    joint_mutual_information,
    mutual_information,
)
from bitsieve.filters.information_selection import information_selection
from bitsieve.filters.laplacian import laplacian_score
from bitsieve.filters.mrmr import mrmr
from bitsieve.filters.orthogonal import gram_schmidt
from bitsieve.filters.p_values import benjamini_hochberg
from bitsieve.filters.ranks import auc, kruskal_wallis
from bitsieve.filters.relief import (
    multisurf,
    multisurf_star,
    relief,
    relieff,
    rrelieff,
    surf,
    surf_star,
    swrf_star,
    turf,
)
from bitsieve.filters.univariate import f_test, fisher_score, variance

__all__ = [
    "as_codes",
    "auc",
    "benjamini_hochberg",
    "cfs",
    "chi2",
    "conditional_mutual_information",
    "cut_points",
    "discretize",
    "entropy",
    "f_test",
    "fcbf",
    "fisher_score",
    "gain_ratio",
    "gini",
    "gram_schmidt",
    "information_gain",
    "information_selection",
    "joint_mutual_information",
    "kruskal_wallis",
    "laplacian_score",
    "mrmr",
    "multisurf",
    "multisurf_star",
    "mutual_information",
    "pearson",
    "rank_aggregation",
    "relief",
    "relieff",
    "rrelieff",
    "signal_to_noise",
    "spearman",
    "surf",
    "surf_star",
    "swrf_star",
    "symmetrical_uncertainty",
    "t_test",
    "turf",
    "variance",
]
