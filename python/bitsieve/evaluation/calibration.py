"""Whether out-of-fold probabilities can be taken at their word."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bitsieve.evaluation.interval import NO_INTERVAL, Interval, binomial_interval

__all__ = ["Calibration", "CalibrationBin", "calibration_of"]

#: Probabilities are kept this far from 0 and 1 before their logits are taken.
CLIP = 1e-6
_MOST_BINS = 10
_LEAST_IN_BIN = 5


@dataclass(frozen=True)
class CalibrationBin:
    """Samples whose predicted probabilities are alike: a point of the calibration plot.

    Attributes
    ----------
    predicted : float
        Mean predicted probability.
    observed : float
        Share of the samples that are of the class.
    interval : Interval
        Exact, of the observed share.
    n : float
        Number of samples; a sample that was predicted r times counts 1 / r each time.
    """

    predicted: float
    observed: float
    interval: Interval
    n: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """How the predicted probabilities of one class compare with how often it was there.

    Attributes
    ----------
    label : object
        The class.
    intercept : float
        Calibration in the large: logit(P) = intercept + logit(p), 0 where the mean probability is
        right, above where it is too low.
    intercept_interval : Interval
    slope : float
        Logistic recalibration: logit(P) = a + slope * logit(p), 1 where the probabilities spread
        as they should, below where they are too extreme, as those of overfitted models are. NaN
        where the probabilities separate the classes, or are all the same: then it has no value.
    slope_interval : Interval
    brier : float
        Mean of (p - y)**2; 0 is perfect, lower is better.
    brier_chance : float
        That of the share of the class for everyone.
    bins : tuple of CalibrationBin
        By quantiles of the predicted probability, at most ten, equal probabilities together.
    """

    label: Any
    intercept: float
    intercept_interval: Interval
    slope: float
    slope_interval: Interval
    brier: float
    brier_chance: float
    bins: tuple[CalibrationBin, ...]


def calibration_of(
    probabilities: ArrayLike,
    is_class: ArrayLike,
    weights: ArrayLike,
    *,
    label: Any = 1,
    level: float = 0.95,
) -> Calibration:
    """Compare predicted probabilities of a class with what was observed.

    Parameters
    ----------
    probabilities : array-like of shape (n_predictions,)
        Of the class.
    is_class : bool array-like of shape (n_predictions,)
        Whether the sample is of the class.
    weights : array-like of shape (n_predictions,)
        1 over the number of predictions of the sample, so that each sample counts once.
    label : object, default 1
        The class.
    level : float, default 0.95

    Returns
    -------
    Calibration
        The intervals are Wald's, with as many observations as samples.

    References
    ----------
    D. R. Cox (1958), Two further applications of a model for binary regression, Biometrika 45,
    562-565. B. Van Calster et al. (2019), Calibration: the Achilles heel of predictive analytics,
    BMC Medicine 17, 230. G. W. Brier (1950), Monthly Weather Review 78, 1-3.

    Examples
    --------
    >>> p = np.array([0.1, 0.3, 0.2, 0.8, 0.6, 0.9, 0.4, 0.7])
    >>> y = np.array([0, 1, 0, 1, 0, 1, 0, 1], dtype=bool)
    >>> found = calibration_of(p, y, np.ones(8))
    >>> round(found.intercept, 2), round(found.slope, 2), round(found.brier, 3)
    (0.0, 1.38, 0.15)
    """
    p = np.asarray(probabilities, dtype=np.float64)
    y = np.asarray(is_class, dtype=np.float64)
    w = np.asarray(weights, dtype=np.float64)
    z = float(special.ndtri(0.5 + level / 2.0))
    logit = special.logit(np.clip(p, CLIP, 1.0 - CLIP))
    ones = np.ones_like(logit)
    large = _logistic(ones[:, None], logit, y, w)
    both = _logistic(np.column_stack([ones, logit]), np.zeros_like(logit), y, w)
    share = float(np.average(y, weights=w))
    return Calibration(
        label=label,
        intercept=math.nan if large is None else float(large[0][0]),
        intercept_interval=_wald(large, 0, z),
        slope=math.nan if both is None else float(both[0][1]),
        slope_interval=_wald(both, 1, z),
        brier=float(np.average((p - y) ** 2, weights=w)),
        brier_chance=share * (1.0 - share),
        bins=_bins(p, y, w, level),
    )


def _logistic(
    design: NDArray[np.float64],
    offset: NDArray[np.float64],
    y: NDArray[np.float64],
    w: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return coefficients and their covariance by Newton's method, None where there are none."""
    beta = np.zeros(design.shape[1])

    def loss(at: NDArray[np.float64]) -> float:
        eta = offset + design @ at
        return float(np.sum(w * (np.logaddexp(0.0, eta) - y * eta)))

    now = loss(beta)
    for _ in range(100):
        expected = special.expit(offset + design @ beta)
        information = (design * (w * expected * (1.0 - expected))[:, None]).T @ design
        if np.linalg.cond(information) > 1e12:
            return None
        step = np.linalg.solve(information, design.T @ (w * (y - expected)))
        size = 1.0
        while loss(beta + size * step) > now + 1e-12 and size > 1e-6:
            size /= 2.0
        beta = beta + size * step
        now = loss(beta)
        if np.abs(size * step).max() < 1e-10:
            break
    # Of separated classes the loss has no minimum: it creeps to 0.
    if now < 1e-6 * float(w.sum()) or np.abs(beta).max() > 100.0:
        return None
    return beta, np.linalg.inv(information)


def _wald(
    fit: tuple[NDArray[np.float64], NDArray[np.float64]] | None, which: int, z: float
) -> Interval:
    if fit is None:
        return NO_INTERVAL
    value, error = float(fit[0][which]), math.sqrt(float(fit[1][which, which]))
    return Interval(value - z * error, value + z * error)


def _bins(
    p: NDArray[np.float64], y: NDArray[np.float64], w: NDArray[np.float64], level: float
) -> tuple[CalibrationBin, ...]:
    total = float(w.sum())
    n_bins = max(1, min(_MOST_BINS, int(total // _LEAST_IN_BIN)))
    order = np.argsort(p, kind="stable")
    edges = np.unique(p[order[np.searchsorted(
        np.cumsum(w[order]), total * np.arange(1, n_bins) / n_bins - 1e-9
    )]])  # fmt: skip
    place = np.searchsorted(edges, p, side="left")
    found = []
    for one in np.unique(place):
        rows = place == one
        n = float(w[rows].sum())
        observed = float(np.average(y[rows], weights=w[rows]))
        found.append(
            CalibrationBin(
                predicted=float(np.average(p[rows], weights=w[rows])),
                observed=observed,
                interval=binomial_interval(observed * n, n, level=level),
                n=n,
            )
        )
    return tuple(found)
