"""Ridge regression on classes, from the Gram matrix of a panel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bitsieve.panels.gram import (
    ABSENT,
    ROUNDING,
    LinearFitted,
    check_gram,
    constant_fit,
    present_classes,
)

__all__ = ["RidgeLOO"]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

#: Features a sample up to which a factor is cheaper than the Gram matrix.
_NARROW = 0.6

#: Penalties of ridge, in units of the mean eigenvalue of the centred Gram matrix.
_PENALTIES = 10.0 ** np.linspace(3.0, -3.0, 13)


@dataclass(frozen=True)
class RidgeLOO:
    """Ridge regression on targets of -1 and 1, its penalty chosen by leave-one-out.

    The penalty is the one of 13, from 1000 down to 1/1000 times the mean eigenvalue of the centred
    Gram matrix, with the least squared error over samples and classes, each sample predicted by
    the fit without it; of equal ones the greatest. It equals scikit-learn's
    ``RidgeClassifierCV(alphas=...)``.

    Attributes
    ----------
    name, label : str
    is_linear : bool
        True.

    References
    ----------
    Rifkin, R. and Lippert, R. (2007). Notes on regularized least squares. MIT-CSAIL-TR-2007-025,
    section 3.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.1], [-0.9, 0.0]])
    >>> fitted = RidgeLOO().fit(Z @ Z.T, np.array([1, 1, 0, 0]), 2, n_features=2)
    >>> (fitted.decide(Z @ Z.T, np.zeros(4)) > 0).ravel().tolist()
    [True, True, False, False]
    """

    name: str = "ridge"
    label: str = "ridge"
    is_linear: bool = True

    def fit(self, K: Floats, codes: Codes, n_classes: int, *, n_features: int) -> LinearFitted:
        """Fit from the Gram matrix; arguments and errors are those of :meth:`ShrunkenLDA.fit`."""
        check_gram(K, codes, n_classes, n_features)
        n = len(K)
        present = present_classes(codes, n_classes)
        if present.there.sum() < 2:
            return constant_fit(n, present)
        wanted = [1] if n_classes == 2 else range(n_classes)
        targets = np.where(codes[:, None] == np.asarray(wanted), 1.0, -1.0)
        level = targets.mean(axis=0)
        rows = K.mean(axis=0)
        centred = K - rows - rows[:, None] + rows.mean()
        trace = float(centred.trace())
        if trace <= ROUNDING * float(K.trace()):
            dual, chosen = np.zeros_like(targets), None
        else:
            values, vectors = _spectrum(centred, n_features)
            penalties = _PENALTIES * (trace / n)
            kept = values / (values + penalties[:, None])
            turned = vectors.T @ (targets - level)
            left = 1.0 - 1.0 / n - np.square(vectors) @ kept.T
            errors = np.empty(len(penalties))
            for place, share in enumerate(kept):
                residuals = targets - level - vectors @ (share[:, None] * turned)
                errors[place] = np.square(residuals / left[:, place, None]).sum()
            chosen = float(penalties[np.argmin(errors)])
            dual = vectors @ (turned / (values + chosen)[:, None])
            dual -= dual.mean(axis=0)
        intercept = level - rows @ dual
        if n_classes > 2:
            intercept[~present.there] = ABSENT
        return LinearFitted(dual, intercept, chosen)


def _spectrum(gram: Floats, n_features: int) -> tuple[Floats, Floats]:
    """Eigenvalues and vectors of a Gram matrix; those of eigenvalue 0 may be left out."""
    if n_features > _NARROW * len(gram):
        values, vectors = np.linalg.eigh(gram)
        return np.maximum(values, 0.0), vectors
    # Few features: those of a factor, whose own Gram matrix is as small as they are few.
    lower, order, rank, _ = lapack.dpstrf(gram, lower=1)
    factor = np.empty((len(gram), rank))
    factor[order - 1] = np.tril(lower[:, :rank])
    values, turned = np.linalg.eigh(factor.T @ factor)
    there = values > ROUNDING * values[-1]
    values = values[there]
    return values, factor @ (turned[:, there] / np.sqrt(values))
