"""Linear classifiers on the Gram matrix of a panel: discriminant analysis and the SVM.

All (ridge.py has one more) are fitted from K = Z Z', n x n, whatever the number of features: the
coefficients of the features are Z' times the dual ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bitsieve import _core
from bitsieve._checks import check_number
from bitsieve.panels.gram import (
    ABSENT,
    ROUNDING,
    LinearFitted,
    Present,
    check_gram,
    constant_fit,
    present_classes,
)

__all__ = [
    "LinearSVM",
    "ShrunkenLDA",
    "ledoit_wolf_intensity",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

#: Least share of the mean variance that is added to the diagonal of the covariance.
_FLOOR = 1e-9

#: Within so much the conditions of optimality of an SVM hold, in units of its decisions; LIBSVM's
#: own is 1e-3.
TOLERANCE = 1e-5


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

    Parameters
    ----------
    shrinkage : float or None, default None
        In [0, 1]: the intensity, in place of Ledoit and Wolf's.

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

    shrinkage: float | None = None
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
        present = present_classes(codes, n_classes)
        # Rows are samples: M averages over a class, and H = I - M[:, codes]' centres within them.
        M = np.zeros((n, n_classes))
        M[np.arange(n), codes] = 1.0 / present.counts[codes]
        A = K @ M
        B = M.T @ A
        near = A[:, codes]
        within = K - near - near.T + B[codes][:, codes]
        # The covariance of one feature is what it is shrunk to.
        if self.shrinkage is not None:
            intensity = check_number("shrinkage", self.shrinkage, 0, 1, closed="both")
        else:
            intensity = 1.0 if n_features == 1 else ledoit_wolf_intensity(within, n_features)
        trace, whole = float(within.trace()), float(K.trace())
        mean = (trace if trace > ROUNDING * whole else 0.0) / (n * n_features)
        total = (whole - float(K.sum()) / n) / (n * n_features)
        if total <= ROUNDING * whole / (n * n_features):
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
        present = present_classes(codes, n_classes)
        if present.there.sum() < 2:
            return constant_fit(len(K), present)
        wanted = np.arange(1 if n_classes == 2 else 0, n_classes)
        signs = np.where(codes == wanted[:, None], 1, -1).astype(np.int8)
        dual, intercept, _ = _core.dual_svm(np.ascontiguousarray(K), signs, self.C, TOLERANCE)
        # The fit of a class without samples is 0 everywhere.
        intercept[~present.there[wanted]] = ABSENT
        return LinearFitted(np.ascontiguousarray(dual.T), intercept)


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Solve with a positive definite matrix."""
    _, found, failed = lapack.dposv(matrix, right, lower=1)
    if failed:
        # Rounding took the least eigenvalue below zero.
        found = np.linalg.lstsq(matrix, right, rcond=None)[0]
    solution: Floats = np.ascontiguousarray(found)
    return solution


def _finished(dual: Floats, scores: Floats, present: Present, tuned: float | None) -> LinearFitted:
    """One function a class as they are, or the difference of two."""
    if len(scores) > 2:
        scores[~present.there] = ABSENT
        return LinearFitted(dual, scores, tuned)
    if not present.there.all():
        return constant_fit(len(dual), present, tuned)
    return LinearFitted(dual[:, 1:] - dual[:, :1], scores[1:] - scores[:1], tuned)
