"""A score for every feature, each feature by itself or beside those already chosen.

::

    X, y -> checked once (bitsieve.data.inputs)
              |-> relief/        neighbors: Relief, ReliefF, SURF ...
              |-> univariate/    one feature at a time, in one pass over the table
              |-> laplacian.py   smoothness over neighbors     orthogonal.py   Gram-Schmidt
              '-> information/   what counts levels (bitsieve.discrete)

    scores -> positions.py    1 for the best feature
              p_values.py     tails, and the false discovery rate
              aggregation.py  one ranking out of several
    named.py                  all of them by short names

Every function takes ``(X, y, ...)`` and returns one score a feature, greater is better, so that it
works as ``score_func`` of scikit-learn's ``SelectKBest``; greedy methods return an order.
"""

from __future__ import annotations

from bitsieve.discrete import as_codes, cut_points, discretize
from bitsieve.filters.aggregation import rank_aggregation
from bitsieve.filters.information import (
    cfs,
    conditional_mutual_information,
    entropy,
    fcbf,
    gain_ratio,
    gini,
    information_gain,
    information_selection,
    joint_mutual_information,
    mrmr,
    mutual_information,
    symmetrical_uncertainty,
)
from bitsieve.filters.laplacian import laplacian_score
from bitsieve.filters.orthogonal import gram_schmidt
from bitsieve.filters.p_values import benjamini_hochberg
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
from bitsieve.filters.univariate import (
    auc,
    chi2,
    f_test,
    fisher_score,
    kruskal_wallis,
    pearson,
    signal_to_noise,
    spearman,
    t_test,
    variance,
)

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
