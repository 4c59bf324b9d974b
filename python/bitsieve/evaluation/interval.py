"""The interval around a mean of cross-validation scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bitsieve._errors import plural

#: Where a scorer's values can lie, for the scorers of scikit-learn that are bounded.
_UNIT_INTERVAL = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "completeness_score",
    "homogeneity_score",
    "normalized_mutual_info_score",
    "top_k_accuracy",
    "v_measure_score",
)
_UNIT_PREFIXES = ("f1", "jaccard", "precision", "recall", "roc_auc")


class Interval(NamedTuple):
    """A confidence interval, both ends in the units of the score.

    Attributes
    ----------
    low, high : float
        The ends; NaN where there are too few folds for an interval.
    """

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        """Whether a value lies in the interval, ends included."""
        return isinstance(value, (int, float)) and self.low <= float(value) <= self.high


def score_range(scoring: str | None) -> tuple[float, float]:
    """Lowest and highest value that the named scorer can have.

    Parameters
    ----------
    scoring : str or None
        A scikit-learn scorer's name.

    Returns
    -------
    low, high : float
        Infinite where there is no bound, or where the scorer is not known.
    """
    if scoring is None:
        return -math.inf, math.inf
    if scoring in _UNIT_INTERVAL or scoring.startswith(_UNIT_PREFIXES):
        return 0.0, 1.0
    if scoring == "matthews_corrcoef":
        return -1.0, 1.0
    if scoring in ("r2", "explained_variance", "d2_absolute_error_score"):
        return -math.inf, 1.0
    if scoring.startswith("neg_"):
        return -math.inf, 0.0
    return -math.inf, math.inf


def corrected_t_interval(
    scores: ArrayLike,
    test_sizes: Sequence[int],
    train_sizes: Sequence[int],
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Corrected resampled t-interval for the mean of cross-validation scores.

    Training parts overlap, so the scores of the folds are not independent and the ordinary
    variance of their mean is too small. The correction replaces ``1 / J`` by
    ``1 / J + n_test / n_train``.

    Parameters
    ----------
    scores : array-like of shape (n_folds,)
        One score a fold.
    test_sizes, train_sizes : sequences of n_folds int
        Number of samples in the test and training part of each fold; their mean ratio is used.
    level : float, default 0.95
        Level of confidence, strictly between 0 and 1.
    bounds : (float, float), default infinite
        Where the score can lie; the interval is clipped to it.

    Returns
    -------
    Interval
        NaN at both ends where there are fewer than two folds.

    Raises
    ------
    ValueError
        Where level is not between 0 and 1, or the lengths differ.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52,
    239-281, section 3 (the corrected resampled t-test).

    Examples
    --------
    >>> from bitsieve.evaluation import corrected_t_interval
    >>> interval = corrected_t_interval([0.8, 0.9, 0.7, 0.8], [25] * 4, [75] * 4, bounds=(0, 1))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.602, 0.998)
    """
    values = np.asarray(scores, dtype=np.float64)
    if not 0.0 < level < 1.0:
        raise ValueError(
            f"level must be strictly between 0 and 1, got {level!r}; 0.95 asks for a 95 % interval"
        )
    if values.ndim != 1 or not len(values) == len(test_sizes) == len(train_sizes):
        raise ValueError(
            "expected one score, one test size and one training size a fold, got "
            f"{plural(values.size, 'score')}, {plural(len(test_sizes), 'test size')} and "
            f"{plural(len(train_sizes), 'training size')}"
        )
    n_folds = len(values)
    if n_folds < 2 or not np.all(np.isfinite(values)):
        return Interval(math.nan, math.nan)
    ratio = float(np.mean(np.asarray(test_sizes) / np.asarray(train_sizes)))
    variance = float(np.var(values, ddof=1)) * (1.0 / n_folds + ratio)
    half = float(stats.t.ppf(0.5 + level / 2.0, n_folds - 1)) * math.sqrt(variance)
    mean = float(values.mean())
    low, high = bounds
    return Interval(max(mean - half, low), min(mean + half, high))
