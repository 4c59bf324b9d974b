"""Linear classifiers on the Gram matrix of a panel.

::

    LDA      pooled within-class covariance, shrunk by the intensity of Ledoit and Wolf
    SVM      C = 1, one class against the rest
    ridge    targets -1 and 1, its penalty chosen by leave-one-out

All are fitted from K = Z Z', n x n, whatever the number of features: the coefficients of the
features are Z' times the dual ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bitsieve import _core

__all__ = [
    "ABSENT",
    "LinearFitted",
    "LinearSVM",
    "RidgeLOO",
    "ShrunkenLDA",
    "check_gram",
    "ledoit_wolf_intensity",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

#: Decision for a class that had no training sample: finite, and below any other.
ABSENT = -1e30

#: A spread below this share of the sum of squares is rounding.
_ROUNDING = 1e-12

#: Least share of the mean variance that is added to the diagonal of the covariance.
_FLOOR = 1e-9

#: Within so much the conditions of optimality of an SVM hold, in units of its decisions; LIBSVM's
#: own is 1e-3.
_TOLERANCE = 1e-5

#: Features a sample up to which a factor is cheaper than the Gram matrix.
_NARROW = 0.6

#: Penalties of ridge, in units of the mean eigenvalue of the centred Gram matrix.
_PENALTIES = 10.0 ** np.linspace(3.0, -3.0, 13)


class _Present(NamedTuple):
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


def ledoit_wolf_intensity(gram: Floats, n_features: int) -> float:
    """Share of the mean variance in the shrunken covariance, from the Gram matrix of centred rows.

    Equals the second value of scikit-learn's ``ledoit_wolf(Z, assume_centered=True)``.

    Parameters
    ----------
    gram : float64 array of shape (n_samples, n_samples)
        Z Z' of rows that are centred as they shall be.
    n_features : int

    Returns
    -------
    float
        In [0, 1].

    References
    ----------
    Ledoit, O. and Wolf, M. (2004). A well-conditioned estimator for large-dimensional covariance
    matrices. Journal of Multivariate Analysis 88, 365-411, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0, 0.5], [-1.0, 0.5], [0.0, -1.0]])
    >>> round(ledoit_wolf_intensity(Z @ Z.T, 2), 6)
    1.0
    """
    n = len(gram)
    squares = np.diagonal(gram)
    trace = float(squares.sum()) / n
    mean = trace / n_features
    second = float(np.square(gram).sum()) / n**2
    fourth = float(np.square(squares).sum()) / n
    spread = (second - 2.0 * mean * trace + n_features * mean**2) / n_features
    noise = min((fourth - second) / (n * n_features), spread)
    return 0.0 if noise <= 0.0 else noise / spread


@dataclass(frozen=True)
class ShrunkenLDA:
    """Linear discriminant analysis with a shrunken covariance.

    The pooled within-class covariance (divisor n) is moved towards its mean variance times the
    identity by the intensity of Ledoit and Wolf; the priors are the shares of the classes. With
    that intensity it equals scikit-learn's ``LinearDiscriminantAnalysis(solver="lsqr",
    shrinkage=intensity)``.

    Attributes
    ----------
    name, label : str
    is_linear : bool
        True.

    References
    ----------
    Ledoit, O. and Wolf, M. (2004), as for :func:`ledoit_wolf_intensity`; Hastie, T., Tibshirani,
    R. and Friedman, J. (2009). The elements of statistical learning, equations 4.10 and 18.20 (the
    fit from inner products).

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.1], [-0.9, 0.0]])
    >>> fitted = ShrunkenLDA().fit(Z @ Z.T, np.array([1, 1, 0, 0]), 2, n_features=2)
    >>> (fitted.decide(Z @ Z.T, np.zeros(4)) > 0).ravel().tolist()
    [True, True, False, False]
    """

    name: str = "lda"
    label: str = "shrunken LDA"
    is_linear: bool = True

    def fit(self, K: Floats, codes: Codes, n_classes: int, *, n_features: int) -> LinearFitted:
        """Fit from the Gram matrix of the training samples.

        Parameters
        ----------
        K : float64 array of shape (n_samples, n_samples)
        codes : int array of shape (n_samples,)
            Numbers of classes from 0 on; a class may have no sample.
        n_classes : int
        n_features : int
            Features that K was made of.

        Returns
        -------
        LinearFitted

        Raises
        ------
        ValueError
            As :func:`check_gram` says.
        """
        check_gram(K, codes, n_classes, n_features)
        n = len(K)
        present = _present(codes, n_classes)
        # Rows are samples: M averages over a class, and H = I - M[:, codes]' centres within them.
        M = np.zeros((n, n_classes))
        M[np.arange(n), codes] = 1.0 / present.counts[codes]
        A = K @ M
        B = M.T @ A
        near = A[:, codes]
        within = K - near - near.T + B[codes][:, codes]
        # The covariance of one feature is what it is shrunk to.
        intensity = 1.0 if n_features == 1 else ledoit_wolf_intensity(within, n_features)
        trace, whole = float(within.trace()), float(K.trace())
        mean = (trace if trace > _ROUNDING * whole else 0.0) / (n * n_features)
        total = (whole - float(K.sum()) / n) / (n * n_features)
        if total <= _ROUNDING * whole / (n * n_features):
            # Nothing tells the samples apart: the priors alone decide.
            dual = np.zeros((n, n_classes))
        else:
            # Where the classes have no spread within, the nearest mean decides.
            added = max(max(intensity, _FLOOR) * mean, _FLOOR * total)
            kept = (1.0 - intensity) / n if mean else 0.0
            within *= kept
            within.flat[:: n + 1] += added
            inner = _solve(within, A - B[codes])
            inner -= (M.T @ inner)[codes]
            dual = (M - kept * inner) / added
        scores = np.log(np.maximum(present.counts, 1.0) / n) - 0.5 * np.einsum("ic,ic->c", dual, A)
        return _finished(dual, scores, present, intensity)


@dataclass(frozen=True)
class LinearSVM:
    """Support vector machine, linear, one class against the rest.

    scikit-learn's ``SVC(kernel="linear", C=1)`` on the same features, for each class, to a
    hundredth of its tolerance.

    Parameters
    ----------
    C : float, default 1.0
        Cost of a sample on the wrong side of its margin.

    References
    ----------
    Fan, R.-E., Chen, P.-H. and Lin, C.-J. (2005). Working set selection using second order
    information for training support vector machines. Journal of Machine Learning Research 6,
    1889-1918, algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.1], [-0.9, 0.0]])
    >>> fitted = LinearSVM().fit(Z @ Z.T, np.array([1, 1, 0, 0]), 2, n_features=2)
    >>> (fitted.decide(Z @ Z.T, np.zeros(4)) > 0).ravel().tolist()
    [True, True, False, False]
    """

    C: float = 1.0
    name: str = "svm"
    label: str = "linear SVM"
    is_linear: bool = True

    def fit(self, K: Floats, codes: Codes, n_classes: int, *, n_features: int) -> LinearFitted:
        """Fit from the Gram matrix; arguments and errors are those of :meth:`ShrunkenLDA.fit`."""
        check_gram(K, codes, n_classes, n_features)
        present = _present(codes, n_classes)
        if present.there.sum() < 2:
            return _constant(len(K), present)
        wanted = np.arange(1 if n_classes == 2 else 0, n_classes)
        signs = np.where(codes == wanted[:, None], 1, -1).astype(np.int8)
        dual, intercept, _ = _core.dual_svm(np.ascontiguousarray(K), signs, self.C, _TOLERANCE)
        # The fit of a class without samples is 0 everywhere.
        intercept[~present.there[wanted]] = ABSENT
        return LinearFitted(np.ascontiguousarray(dual.T), intercept)


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
        present = _present(codes, n_classes)
        if present.there.sum() < 2:
            return _constant(n, present)
        wanted = [1] if n_classes == 2 else range(n_classes)
        targets = np.where(codes[:, None] == np.asarray(wanted), 1.0, -1.0)
        level = targets.mean(axis=0)
        rows = K.mean(axis=0)
        centred = K - rows - rows[:, None] + rows.mean()
        trace = float(centred.trace())
        if trace <= _ROUNDING * float(K.trace()):
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


def _present(codes: Codes, n_classes: int) -> _Present:
    counts = np.bincount(codes, minlength=n_classes)
    return _Present(counts.astype(np.float64), counts > 0)


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
    there = values > _ROUNDING * values[-1]
    values = values[there]
    return values, factor @ (turned[:, there] / np.sqrt(values))


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Solve with a positive definite matrix."""
    _, found, failed = lapack.dposv(matrix, right, lower=1)
    if failed:
        # Rounding took the least eigenvalue below zero.
        found = np.linalg.lstsq(matrix, right, rcond=None)[0]
    solution: Floats = np.ascontiguousarray(found)
    return solution


def _finished(dual: Floats, scores: Floats, present: _Present, tuned: float | None) -> LinearFitted:
    """One function a class as they are, or the difference of two."""
    if len(scores) > 2:
        scores[~present.there] = ABSENT
        return LinearFitted(dual, scores, tuned)
    if not present.there.all():
        return _constant(len(dual), present, tuned)
    return LinearFitted(dual[:, 1:] - dual[:, :1], scores[1:] - scores[:1], tuned)


def _constant(n: int, present: _Present, tuned: float | None = None) -> LinearFitted:
    """The one class that has samples, whatever comes."""
    there = present.there
    if len(there) == 2:
        intercept = np.array([1.0 if there[1] else -1.0])
    else:
        intercept = np.where(there, 0.0, ABSENT)
    return LinearFitted(np.zeros((n, len(intercept))), intercept, tuned)
