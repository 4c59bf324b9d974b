"""One pass over the table, each feature by itself.

::

    X, y -> checked, without a copy -> _moments.py (one pass) -> a formula a feature

    anova.py        F, Fisher score, variance        association.py  Pearson, Spearman
    contrast.py     signal-to-noise, t               ranks.py        AUC, Kruskal-Wallis
    chi2.py         counts

All sums are float64 whatever X is, taken from a sample of the class itself, and in one order: the
same bits for any number of threads and on every instruction set. Where a feature is constant
within all classes and their means differ, the score is infinite, so that it comes first; a
constant feature has 0, and a p-value of 1. No finite X gives NaN.
"""

from __future__ import annotations

from bitsieve.filters.univariate.anova import f_test, fisher_score, variance
from bitsieve.filters.univariate.association import pearson, spearman
from bitsieve.filters.univariate.chi2 import chi2
from bitsieve.filters.univariate.contrast import signal_to_noise, t_test
from bitsieve.filters.univariate.ranks import auc, kruskal_wallis

__all__ = [
    "auc",
    "chi2",
    "f_test",
    "fisher_score",
    "kruskal_wallis",
    "pearson",
    "signal_to_noise",
    "spearman",
    "t_test",
    "variance",
]
