"""Confidence intervals: of cross-validation scores, proportions, their means, and an AUC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

from bitsieve._checks import check_number
from bitsieve._errors import plural

#: Where a scorer's values can lie, for the scorers of scikit-learn that are bounded.
_UNIT_INTERVAL = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "completeness_score",
    "fowlkes_mallows_score",
    "homogeneity_score",
    "normalized_mutual_info_score",
    "rand_score",
    "top_k_accuracy",
    "v_measure_score",
)
_UNIT_PREFIXES = ("f1", "jaccard", "precision", "recall", "roc_auc")


class Interval(NamedTuple):
    """A confidence interval, both ends in the units of the score.

    Attributes
    ----------
    low, high : float
        The ends; NaN where there is no interval.
    """

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        """Whether a value lies in the interval, ends included."""
        return isinstance(value, (int, float)) and self.low <= float(value) <= self.high


NO_INTERVAL = Interval(math.nan, math.nan)
NO_BOUNDS = (-math.inf, math.inf)


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
    if scoring == "adjusted_rand_score":
        return -0.5, 1.0
    if scoring in ("r2", "explained_variance", "adjusted_mutual_info_score"):
        return -math.inf, 1.0
    if scoring.startswith("d2_"):
        return -math.inf, 1.0
    if scoring in ("mutual_info_score", "positive_likelihood_ratio"):
        return 0.0, math.inf
    if scoring.startswith("neg_"):
        return -math.inf, 0.0
    return -math.inf, math.inf


def corrected_standard_error(
    scores: ArrayLike, test_sizes: Sequence[int], train_sizes: Sequence[int]
) -> float:
    """Corrected resampled standard error of the mean of cross-validation scores.

    Parameters
    ----------
    scores, test_sizes, train_sizes
        As in :func:`corrected_t_interval`.

    Returns
    -------
    float
        NaN for fewer than two folds, and where a score is not finite.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52,
    239-281, section 3.

    Examples
    --------
    >>> round(corrected_standard_error([0.8, 0.9, 0.7, 0.8], [25] * 4, [75] * 4), 4)
    0.0624
    """
    values = np.asarray(scores, dtype=np.float64)
    if len(values) < 2 or not np.all(np.isfinite(values)):
        return math.nan
    ratio = float(np.mean(np.asarray(test_sizes) / np.asarray(train_sizes)))
    return math.sqrt(float(np.var(values, ddof=1)) * (1.0 / len(values) + ratio))


def corrected_t_interval(
    scores: ArrayLike,
    test_sizes: Sequence[int],
    train_sizes: Sequence[int],
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = NO_BOUNDS,
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
    check_number("level", level, 0, 1, hint="0.95 asks for a 95 % interval")
    if values.ndim != 1 or not len(values) == len(test_sizes) == len(train_sizes):
        raise ValueError(
            "expected one score, one test size and one training size a fold, got "
            f"{plural(values.size, 'score')}, {plural(len(test_sizes), 'test size')} and "
            f"{plural(len(train_sizes), 'training size')}"
        )
    n_folds = len(values)
    if n_folds < 2 or not np.all(np.isfinite(values)):
        return Interval(math.nan, math.nan)
    error = corrected_standard_error(values, test_sizes, train_sizes)
    half = float(stats.t.ppf(0.5 + level / 2.0, n_folds - 1)) * error
    mean = float(values.mean())
    low, high = bounds
    return Interval(max(mean - half, low), min(mean + half, high))


def binomial_interval(count: float, size: float, *, level: float = 0.95) -> Interval:
    """Exact interval of Clopper and Pearson for a proportion.

    Parameters
    ----------
    count, size : float
        Right answers and answers. Not whole where a sample was predicted several times and
        counts with the mean of its answers: the beta quantiles are defined all the same.
    level : float, default 0.95

    Returns
    -------
    Interval
        Never of zero width.

    References
    ----------
    C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in
    the case of the binomial, Biometrika 26, 404-413.

    Examples
    --------
    >>> low, high = binomial_interval(10, 10)
    >>> round(low, 4), high
    (0.6915, 1.0)
    """
    count = min(max(count, 0.0), size)
    tail = 0.5 - level / 2.0
    low, high = 0.0, 1.0
    # A count within rounding of an end is the end.
    if count > 1e-9 * size:
        low = float(special.betaincinv(count, size - count + 1.0, tail))
    if size - count > 1e-9 * size:
        high = float(special.betaincinv(count + 1.0, size - count, 1.0 - tail))
    return Interval(low, high)


def mean_interval(estimates: ArrayLike, intervals: Sequence[Interval]) -> Interval:
    """Interval for the mean of independent estimates, by the method of variance estimates recovery.

    The distance of an end from the mean is the root of the summed squares of the distances of the
    estimates' own ends, divided by their number.

    Parameters
    ----------
    estimates : array-like of shape (n_estimates,)
    intervals : sequence of n_estimates Interval

    References
    ----------
    G. Y. Zou, A. Donner (2008), Construction of confidence limits about effect measures: a
    general approach, Statistics in Medicine 27, 1693-1702, equation 4.

    Examples
    --------
    >>> low, high = mean_interval([1.0, 0.5], [Interval(0.6, 1.0), Interval(0.2, 0.8)])
    >>> round(low, 3), round(high, 3)
    (0.5, 0.9)
    """
    values = np.asarray(estimates, dtype=np.float64)
    ends = np.asarray(intervals, dtype=np.float64)
    below, above = np.linalg.norm(values[:, None] - ends, axis=0) / len(values)
    mean = float(values.mean())
    return Interval(mean - float(below), mean + float(above))


def difference_interval(
    only_first: float, only_second: float, size: float, *, level: float = 0.95
) -> Interval:
    """Interval for the difference of two proportions of the same samples.

    The difference is that of the two discordant proportions; their exact intervals are combined
    by the method of variance estimates recovery, with their negative correlation. It has width
    where no sample is discordant.

    Parameters
    ----------
    only_first, only_second : float
        Samples that only the first one answers rightly, and only the second one.
    size : float
        All samples.
    level : float, default 0.95

    References
    ----------
    G. Y. Zou (2007), Toward using confidence intervals to compare correlations, Psychological
    Methods 12, 399-413 (the limits for two estimates that are correlated); the
    correlation is that of two counts of a multinomial distribution.

    Examples
    --------
    >>> low, high = difference_interval(0, 0, 20)
    >>> round(low, 3), round(high, 3)
    (-0.168, 0.168)
    """
    first = binomial_interval(only_first, size, level=level)
    second = binomial_interval(only_second, size, level=level)
    p, q = only_first / size, only_second / size
    together = 0.0 if p * q == 0.0 else -math.sqrt(p * q / ((1.0 - p) * (1.0 - q)))

    def reach(one: float, other: float) -> float:
        return math.sqrt(one**2 + other**2 - 2.0 * together * one * other)

    return Interval(
        p - q - reach(p - first.low, second.high - q),
        p - q + reach(first.high - p, q - second.low),
    )


def auc_interval(
    auc: float,
    class_counts: ArrayLike,
    *,
    n_tests: float = 1.0,
    excess: float = 0.0,
    level: float = 0.95,
) -> Interval:
    """Score-like interval for the mean of the folds' areas under the ROC curve.

    The ends are where the squared distance from ``auc`` equals z**2 V(end). V is Hanley and
    McNeil's variance with (m + n) / 2 - 1 in place of both m - 1 and n - 1, for m and n samples
    of the two classes: Newcombe's method 5. Unlike Wald's it has width at 0 and 1. Two things are
    added for outer folds. Only samples of one fold are compared, so V is that of a mean over
    folds. And models that were trained on shared samples err alike, the more so the less there is
    to learn: V is multiplied by ``1 + excess * s``, where s is 1 up to an AUC of 0.5 and falls to
    0 at 1.

    Parameters
    ----------
    auc : float
        Mean over the folds.
    class_counts : array-like of shape (n_folds, 2)
        Test samples of the two classes in each fold.
    n_tests : float, default 1.0
        In how many folds a sample is tested; more do not make the interval narrower.
    excess : float, default 0.0
        ``n_folds * n_test / n_train``, over the folds that test each sample once: Nadeau and
        Bengio's correction (2003), relative to the variance of independent folds.
    level : float, default 0.95

    Returns
    -------
    Interval

    References
    ----------
    R. G. Newcombe (2006), Confidence intervals for an effect size measure based on the
    Mann-Whitney statistic, part 2, Statistics in Medicine 25, 559-573, method 5. J. A. Hanley,
    B. J. McNeil (1982), Radiology 143, 29-36.

    Examples
    --------
    >>> low, high = auc_interval(1.0, [[10, 10]])
    >>> round(low, 3), high
    (0.8, 1.0)
    """
    counts = np.asarray(class_counts, dtype=np.float64)
    pairs, likeness = counts.prod(axis=1), counts.sum(axis=1) / 2.0 - 1.0
    z2 = float(special.ndtri(0.5 + level / 2.0)) ** 2

    def beyond(end: float) -> float:
        alike = likeness * ((1.0 - end) / (2.0 - end) + end / (1.0 + end))
        variance = n_tests * float(np.mean((1.0 + alike) / pairs)) / len(counts) * end * (1.0 - end)
        return (end - auc) ** 2 - z2 * variance * (1.0 + excess * min(1.0, 2.0 - 2.0 * end) ** 2)

    # At a distance of 1e-12 from the estimate the variance is the greater part, at 0 and 1 nil.
    low = 0.0 if auc <= 1e-12 else optimize.brentq(beyond, 0.0, min(auc, 1.0 - 1e-12))
    high = 1.0 if auc >= 1.0 - 1e-12 else optimize.brentq(beyond, max(auc, 1e-12), 1.0)
    return Interval(float(low), float(high))


def effective_size(values: ArrayLike, units: ArrayLike, *, level: float = 0.95) -> float:
    """Number of independent samples that are worth as much as samples in groups.

    The number of samples is divided by the design effect, the variance of the mean over groups
    relative to that over samples, and multiplied by the squared ratio of Student's quantiles with
    n - 1 and with groups - 1 degrees of freedom. Where all values are the same the effect is
    unknown, and groups count as one sample each.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Such as whether a sample was answered rightly.
    units : array-like of shape (n_samples,)
        The group of each sample; all different where there are none.
    level : float, default 0.95

    Returns
    -------
    float
        From 1 to n_samples, n_samples where every sample is a group of its own.

    References
    ----------
    E. L. Korn, B. I. Graubard (1998), Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data, Survey Methodology 24, 193-201.

    Examples
    --------
    >>> effective_size([1, 1, 0, 1], [0, 1, 2, 3])
    4.0
    >>> round(effective_size([1, 1, 0, 0] * 10, np.arange(40) // 2), 1)  # pairs that agree
    18.2
    """
    deviations = np.asarray(values, dtype=np.float64)
    n = len(deviations)
    _, unit = np.unique(np.asarray(units), return_inverse=True)
    n_units = int(unit.max()) + 1
    if n_units == n:
        return float(n)
    if n_units == 1:
        return 1.0
    deviations = deviations - deviations.mean()
    alone = float(np.sum(deviations**2)) * n / (n - 1)
    together = float(np.sum(np.bincount(unit, deviations) ** 2)) * n_units / (n_units - 1)
    if alone <= 1e-12:
        return float(n_units)
    effect = max(1.0, together / alone)
    narrow, wide = stats.t.ppf(0.5 + level / 2.0, [n - 1, n_units - 1])
    return max(1.0, n / effect * float(narrow / wide) ** 2)


def joined(
    estimate: float, *intervals: Interval, bounds: tuple[float, float] = NO_BOUNDS
) -> Interval:
    """Return the shortest interval that holds an estimate and all intervals that are not NaN.

    NaN where all of them are, and where nothing but the estimate would be left.

    Examples
    --------
    >>> joined(0.9, Interval(0.8, 0.95), Interval(0.85, 1.1), bounds=(0.0, 1.0))
    Interval(low=0.8, high=1.0)
    """
    ends: NDArray[np.float64] = np.array([one for one in intervals if not math.isnan(one.low)])
    if not len(ends):
        return NO_INTERVAL
    low, high = min(estimate, ends[:, 0].min()), max(estimate, ends[:, 1].max())
    low, high = max(float(low), bounds[0]), min(float(high), bounds[1])
    return Interval(low, high) if low < high else NO_INTERVAL
