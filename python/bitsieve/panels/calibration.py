"""Probabilities from decisions, learnt on decisions for samples that were not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitsieve.panels.gram import ABSENT

__all__ = ["Calibration", "most_probable", "smoothed_shares"]

Floats = NDArray[np.float64]

#: Newton's steps, and how small the squared gradient a sample becomes.
_STEPS = 100
_ENOUGH = 1e-20

#: Decisions this many typical deviations from the middle are as good as any further.
_FAR = 1e3

#: Exponents below this give 0 anyway.
_LOW = -1e4

#: Multiples of thresholds that differ by less are the same.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Calibration:
    """Decisions turned to probabilities by one slope and an offset a class.

    For two classes the log-odds of class 1 are ``slope * decision + offset``, Platt's scaling. For
    several the probabilities are the softmax of ``slope * decisions + offset``: a temperature of
    ``1 / slope`` and what a class gains or loses. The slope is never negative: where decisions say
    less than nothing, the probabilities are the shares of the classes (of smoothed targets).

    Attributes
    ----------
    slope : float
    offset : float64 array of shape (n_functions,)
        n_functions is 1 for two classes, else the number of classes.

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. Advances in large margin classifiers, 61-74 (his smoothed
    targets are used for several classes too). Guo, C. et al. (2017). On calibration of modern
    neural networks. ICML, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> decisions = np.array([[-2.0], [-1.0], [-0.5], [0.5], [1.5], [2.5]])
    >>> calibration = Calibration.fit(decisions, np.array([0, 0, 1, 0, 1, 1]), 2)
    >>> calibration.apply(np.array([[-1.0], [3.0]])).round(2)
    array([[0.66, 0.34],
           [0.16, 0.84]])
    """

    slope: float
    offset: Floats

    @classmethod
    def fit(cls, decisions: Floats, codes: NDArray[np.integer], n_classes: int) -> Calibration:
        """Learn slope and offsets by the greatest likelihood of smoothed targets.

        The smoothed targets keep them finite where the decisions part the classes perfectly, and
        where there is one class.

        Parameters
        ----------
        decisions : float64 array of shape (n_samples, n_functions)
            For samples that had no part in the fit of what decided, out of fold. One function
            for two classes (positive says class 1), else one a class.
        codes : int array of shape (n_samples,)
            Numbers of classes from 0 on.
        n_classes : int

        Returns
        -------
        Calibration

        Raises
        ------
        ValueError
            If shapes do not fit, or a decision is not finite.
        """
        n, n_functions = len(codes), 1 if n_classes == 2 else n_classes
        if n == 0 or decisions.shape != (n, n_functions):
            raise ValueError(
                f"decisions of shape ({n}, {n_functions}) are expected for {n} samples of "
                f"{n_classes} classes, got {decisions.shape}"
            )
        if not np.isfinite(decisions).all():
            raise ValueError("decisions must be finite")
        targets = _smoothed_targets(codes, n_classes)
        middle, typical, inputs = _standardised(decisions)
        if n_functions == 1:
            # The softmax of (0, z) is that of log-odds z.
            inputs = np.hstack([np.zeros_like(inputs), inputs])
        slope, offsets = _newton(inputs, targets)
        if slope <= 0.0:
            slope, offsets = 0.0, np.log(targets.mean(axis=0))
        slope /= typical
        if n_functions == 1:
            return cls(slope, np.array([offsets[1] - offsets[0] - slope * middle]))
        return cls(slope, offsets - offsets.mean())

    def apply(self, decisions: Floats) -> Floats:
        """Probabilities of the classes; each sample's are a function of its decisions alone.

        Parameters
        ----------
        decisions : float64 array of shape (n_samples, n_functions)

        Returns
        -------
        float64 array of shape (n_samples, n_classes)
            Each row sums to 1, to rounding.
        """
        with np.errstate(over="ignore", under="ignore"):
            if len(self.offset) == 1:
                odds = np.clip(self.slope * decisions[:, 0] + self.offset[0], _LOW, -_LOW)
                small = np.exp(-np.abs(odds))
                likely, unlikely = 1.0 / (1.0 + small), small / (1.0 + small)
                return np.stack(
                    [np.where(odds > 0, unlikely, likely), np.where(odds > 0, likely, unlikely)],
                    axis=1,
                )
            best = decisions.max(axis=1, keepdims=True)
            behind = np.maximum(decisions - best, -1e300)  # finite: the slope may be 0
            exponents = np.maximum(self.slope * behind, _LOW) + self.offset
            shares = np.exp(exponents - exponents.max(axis=1, keepdims=True))
            # Class by class: a sum over the last axis may depend on the shape.
            total = shares[:, 0].copy()
            for column in shares.T[1:]:
                total += column
            found: Floats = shares / total[:, None]
        return found


class _Standardised(NamedTuple):
    middle: float
    typical: float
    inputs: Floats


def smoothed_shares(codes: NDArray[np.integer], n_classes: int) -> Floats:
    """Probabilities of the classes where decisions say nothing: the means of smoothed targets.

    Parameters
    ----------
    codes : int array of shape (n_samples,)
        Those that a calibration was fitted to.
    n_classes : int

    Returns
    -------
    float64 array of shape (n_classes,)
        Nearly the shares of the classes; above 0, with sum 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.panels.calibration import smoothed_shares
    >>> smoothed_shares(np.array([0, 0, 0, 1]), 2).round(3)
    array([0.683, 0.317])
    """
    shares: Floats = _smoothed_targets(codes, n_classes).mean(axis=0)
    return shares


def most_probable(probabilities: Floats, thresholds: Floats | None = None) -> NDArray[np.int64]:
    """Class of the greatest probability, or of the greatest multiple of its threshold.

    Parameters
    ----------
    probabilities : float64 array of shape (n_samples, n_classes)
    thresholds : float64 array of shape (n_classes,) or None, default None
        Of multiples that are the same to rounding the class of the greatest probability is taken:
        where nothing is known that is the largest class.

    Returns
    -------
    int64 array of shape (n_samples,)
        The lowest of equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.panels.calibration import most_probable
    >>> probabilities = np.array([[0.9, 0.1], [0.7, 0.3], [0.8, 0.2]])
    >>> most_probable(probabilities, np.array([0.8, 0.2])).tolist()
    [0, 1, 0]
    """
    if thresholds is None:
        best: NDArray[np.int64] = np.argmax(probabilities, axis=1).astype(np.int64)
        return best
    worth = probabilities / thresholds
    leading = worth >= (1.0 - _SAME) * worth.max(axis=1, keepdims=True)
    found: NDArray[np.int64] = np.argmax(np.where(leading, probabilities, -1.0), axis=1)
    return found.astype(np.int64)


def _smoothed_targets(codes: NDArray[np.integer], n_classes: int) -> Floats:
    """Return Platt's targets of each sample, near 1 for its own class."""
    counts = np.bincount(codes, minlength=n_classes)
    targets: Floats = np.repeat(1.0 / (counts[codes] + n_classes)[:, None], n_classes, axis=1)
    targets[np.arange(len(codes)), codes] *= counts[codes] + 1.0
    return targets


def _standardised(decisions: Floats) -> _Standardised:
    """Decisions less their median, in units of a typical deviation, cut where they are wild."""
    if decisions.shape[1] > 1:
        # A class that was not trained on says nothing: no more than the least likely of others.
        absent = decisions <= ABSENT / 2
        least = np.where(absent, np.inf, decisions).min(axis=1, keepdims=True)
        decisions = np.where(absent, np.where(np.isfinite(least), least, 0.0), decisions)
    middle = float(np.median(decisions))
    deviations = np.abs(decisions - middle)
    typical = float(np.median(deviations)) or float(deviations.mean())
    if typical == 0.0:
        return _Standardised(0.0, 1.0, np.zeros_like(decisions))
    inputs = np.clip((decisions - middle) / typical, -_FAR, _FAR)
    return _Standardised(middle, typical, inputs)


def _loss(slope: float, offsets: Floats, inputs: Floats, targets: Floats) -> tuple[float, Floats]:
    """Mean negative log-likelihood, and the probabilities."""
    scores = slope * inputs + offsets
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    total = shares.sum(axis=1, keepdims=True)
    loss = float(np.mean(np.log(total[:, 0]) - (targets * scores).sum(axis=1)))
    return loss, shares / total


def _newton(inputs: Floats, targets: Floats) -> tuple[float, Floats]:
    """Minimise a convex function of the slope and the offsets, the last of which stays 0."""
    n, n_classes = inputs.shape
    slope, offsets = 0.0, np.log(targets.mean(axis=0))
    offsets -= offsets[-1]
    loss, shares = _loss(slope, offsets, inputs, targets)
    for _ in range(_STEPS):
        wrong = shares - targets
        gradient = np.append((wrong * inputs).sum(), wrong[:, :-1].sum(axis=0)) / n
        if float(np.square(gradient).sum()) <= _ENOUGH:
            break
        hessian = np.empty((n_classes, n_classes))
        mean = (shares * inputs).sum(axis=1, keepdims=True)
        hessian[0, 0] = (shares * np.square(inputs - mean)).sum() / n
        hessian[0, 1:] = hessian[1:, 0] = (shares * (inputs - mean))[:, :-1].sum(axis=0) / n
        # einsum, not BLAS: the same bits for any number of its threads.
        hessian[1:, 1:] = -np.einsum("ij,ik->jk", shares[:, :-1], shares[:, :-1]) / n
        hessian[np.arange(1, n_classes), np.arange(1, n_classes)] += shares[:, :-1].sum(axis=0) / n
        hessian[np.arange(n_classes), np.arange(n_classes)] += 1e-12
        step = np.linalg.solve(hessian, gradient)
        descent = float((gradient * step).sum())
        length = 1.0
        while length > 1e-10:
            new_slope = slope - length * float(step[0])
            new_offsets = offsets.copy()
            new_offsets[:-1] -= length * step[1:]
            new_loss, new_shares = _loss(new_slope, new_offsets, inputs, targets)
            if new_loss <= loss - 1e-4 * length * descent:
                break
            length /= 2.0
        else:
            break
        slope, offsets, loss, shares = new_slope, new_offsets, new_loss, new_shares
    return slope, offsets
