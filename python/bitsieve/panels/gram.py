"""What classifiers on a Gram matrix share: its check, the fitted linear form, absent classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ABSENT",
    "ROUNDING",
    "LinearFitted",
    "Present",
    "check_gram",
    "constant_fit",
    "present_classes",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

#: Decision for a class that had no training sample: finite, and below any other.
ABSENT = -1e30

#: A spread below this share of the sum of squares is rounding.
ROUNDING = 1e-12


class Present(NamedTuple):
    """Counts of the classes, and which have samples."""

    counts: Floats
    there: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LinearFitted:
    """A linear classifier that was fitted to a Gram matrix.

    Attributes
    ----------
    dual : float64 array of shape (n_samples, n_functions)
        Coefficients of the training samples; those of the features are ``Z.T @ dual``.
    intercept : float64 array of shape (n_functions,)
    tuned : float or None
        What was chosen while fitting: the intensity of LDA's shrinkage, the penalty of ridge.
    """

    dual: Floats
    intercept: Floats
    tuned: float | None = None

    def decide(self, cross: Floats, diagonal: Floats) -> Floats:
        """Decisions for samples.

        Parameters
        ----------
        cross : float64 array of shape (n_test, n_samples)
            Inner products with the training samples.
        diagonal : float64 array of shape (n_test,)
            Their squared lengths, which no linear classifier needs.

        Returns
        -------
        float64 array of shape (n_test, n_functions)
        """
        decisions: Floats = cross @ self.dual
        decisions += self.intercept
        return decisions


def check_gram(K: Floats, codes: Codes, n_classes: int, n_features: int) -> Floats:
    """Return K as it is, and refuse what no classifier could be fitted to.

    Raises
    ------
    ValueError
        If K is no finite square matrix of float64, codes do not fit it, or there are fewer than
        two classes.
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size or K.dtype != np.float64:
        raise ValueError(f"K must be a square matrix of float64, got {K.shape} of {K.dtype}")
    if codes.shape != (len(K),) or codes.min() < 0 or codes.max() >= n_classes:
        raise ValueError(
            f"codes must hold a class from 0 to {n_classes - 1} for each of {len(K)} samples"
        )
    if n_classes < 2 or n_features < 1:
        raise ValueError(
            f"at least 2 classes and 1 feature are expected, got {n_classes} and {n_features}"
        )
    if not np.isfinite(K.sum()):
        raise ValueError("K must be finite, and its sum too")
    return K


def present_classes(codes: Codes, n_classes: int) -> Present:
    counts = np.bincount(codes, minlength=n_classes)
    return Present(counts.astype(np.float64), counts > 0)


def constant_fit(n: int, present: Present, tuned: float | None = None) -> LinearFitted:
    """The one class that has samples, whatever comes."""
    there = present.there
    if len(there) == 2:
        intercept = np.array([1.0 if there[1] else -1.0])
    else:
        intercept = np.where(there, 0.0, ABSENT)
    return LinearFitted(np.zeros((n, len(intercept))), intercept, tuned)
