"""What an estimator that sees X through inner products is given in place of X."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from bitsieve.fitness.inner_products import rule_of

__all__ = ["Columns", "factor", "is_lost", "most_columns", "reads_variance", "view", "view_of_gram"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

# A kernel function is evaluated again in every fit; of so few columns that costs less than to take
# parts of a whole matrix.
_FEW = 128
# A matrix and its factor for each fit take as long as a ridge on so many columns a sample.
_SCALED = 5
# A Gram matrix is known to 1e-16 of its trace. Where the columns' means are so much of it, what
# is left of the samples' differences is too little: scikit-learn then reads the columns.
_LEAST_SHARE = 1e-6

_WITH_GAMMA = ("rbf", "poly", "polynomial", "sigmoid")


@dataclass
class Columns:
    """The columns themselves.

    Attributes
    ----------
    estimator : scikit-learn estimator
    X : ndarray of shape (n_samples, n_columns)
    """

    estimator: Any
    X: Floats

    def model(self, train: Index) -> Any:
        """Return an unfitted copy that answers as the estimator would on the columns."""
        # A clone is looked up parameter by parameter, which takes as long as a fit. No fit of
        # these changes a parameter but a generator.
        model = copy(self.estimator)
        state = getattr(model, "random_state", 0)  # SVR has it as an attribute alone
        if state is None:
            model.random_state = 0
        elif not isinstance(state, int | np.integer):  # a generator, which a fit would move
            model.random_state = deepcopy(state)
        return model

    def training(self, train: Index) -> Floats:
        """Return what it is fitted to."""
        return self.X[train]

    def testing(self, train: Index, test: Index) -> Floats:
        """Return what it predicts."""
        return self.X[test]


@dataclass
class _Factor(Columns):
    """Z with Z Z' = G, in place of more columns than samples."""

    def model(self, train: Index) -> Any:
        model = super().model(train)
        # Both solvers of liblinear give one answer; the rule is that of the columns' shape.
        if getattr(model, "dual", None) == "auto":
            model.dual = True
        return model


@dataclass
class _Kernel(Columns):
    """The matrix of a kernel function; here ``X`` is the Gram matrix."""

    n_features: int
    sums: Floats
    squares: Floats
    _matrix: Floats | None = None
    _matrix_gamma: float | None = None

    def model(self, train: Index) -> Any:
        model = super().model(train)
        gamma = self._gamma(model.gamma, train) if model.kernel in _WITH_GAMMA else None
        if self._matrix is None or gamma != self._matrix_gamma:
            self._matrix, self._matrix_gamma = self._of(model, gamma), gamma
        model.kernel = "precomputed"
        return model

    def training(self, train: Index) -> Floats:
        assert self._matrix is not None
        return self._matrix[np.ix_(train, train)]

    def testing(self, train: Index, test: Index) -> Floats:
        assert self._matrix is not None
        return self._matrix[np.ix_(test, train)]

    def _of(self, model: Any, gamma: float | None) -> Floats:
        G, kernel = self.X, model.kernel
        if kernel == "linear":
            return G
        diagonal = np.diagonal(G)
        if kernel == "cosine":
            norms = np.sqrt(diagonal)
            norms[norms == 0] = 1
            cosines: Floats = G / norms / norms[:, None]
            return cosines
        assert gamma is not None
        if kernel == "rbf":
            squares = np.maximum(diagonal + diagonal[:, None] - 2 * G, 0)
            near: Floats = np.exp(-gamma * squares)
            return near
        inner = gamma * G + model.coef0
        made: Floats = np.tanh(inner) if kernel == "sigmoid" else inner**model.degree
        return made

    def _gamma(self, gamma: Any, train: Index) -> float:
        """Return the number that stands for gamma on the columns of a training part."""
        if gamma is None or gamma == "auto":
            return 1 / self.n_features
        if gamma != "scale":
            return float(gamma)
        n_values = len(train) * self.n_features
        mean = self.sums[train].sum() / n_values
        variance = self.squares[train].sum() / n_values - mean**2
        return float(1 / (self.n_features * variance)) if variance > 0 else 1.0


def most_columns(estimator: Any, n_samples: int, *, scaled: bool = False) -> int:
    """Return up to how many columns scikit-learn is as fast on them as on what replaces them.

    Parameters
    ----------
    estimator : scikit-learn estimator
        One that has a rule.
    n_samples : int
    scaled : bool, default=False
        Whether each training part has a Gram matrix of its own.

    Returns
    -------
    int
    """
    if rule_of(estimator).is_kernel:
        return min(n_samples, _FEW)
    return _SCALED * n_samples if scaled else n_samples


def reads_variance(estimator: Any) -> bool:
    """Tell whether an estimator takes a parameter from the variance of what it is fitted to."""
    if not rule_of(estimator).is_kernel:
        return False
    return estimator.kernel in _WITH_GAMMA and estimator.gamma == "scale"


def is_lost(G: Floats) -> bool:
    """Tell whether the differences of samples are lost in the rounding of a Gram matrix."""
    trace = np.trace(G)
    return bool(trace - G.sum() / len(G) < _LEAST_SHARE * trace)


def view(estimator: Any, X: Floats) -> Columns:
    """Return what an estimator is given of columns; a function of them alone.

    Parameters
    ----------
    estimator : scikit-learn estimator
        One that has a rule.
    X : ndarray of shape (n_samples, n_columns)

    Returns
    -------
    Columns
    """
    n, k = X.shape
    if k <= most_columns(estimator, n):
        return Columns(estimator, X)
    sums = squares = np.empty(0)
    if reads_variance(estimator):
        # Of values less one number, so that nothing is lost where all of them are large.
        shifted = X - X.mean()
        sums, squares = shifted.sum(axis=1), np.einsum("ij,ij->i", shifted, shifted)
    centres = rule_of(estimator).centres(estimator)
    Z = X - X.mean(axis=0) if centres else X
    G = Z @ Z.T
    if not centres and is_lost(G):
        return Columns(estimator, X)
    return view_of_gram(estimator, G, k, sums, squares)


def view_of_gram(
    estimator: Any, G: Floats, n_features: int, sums: Floats, squares: Floats
) -> Columns:
    """Return what an estimator is given of a Gram matrix.

    Parameters
    ----------
    estimator : scikit-learn estimator
        One that has a rule.
    G : ndarray of shape (n_samples, n_samples)
        Of the columns, less any row where the rule allows it.
    n_features : int
        Columns that it was made of.
    sums, squares : ndarray of shape (n_samples,)
        Of each sample's values, less any number, and of their squares. They are looked at where
        the estimator reads the variance.

    Returns
    -------
    Columns
    """
    if rule_of(estimator).is_kernel:
        return _Kernel(estimator, G, n_features, sums, squares)
    return _Factor(estimator, factor(G))


def factor(G: Floats) -> Floats:
    """Return Z, n x n, with Z Z' = G: a Cholesky factor, up to the rank of G.

    Half of it is zeros, which liblinear passes over. Samples are taken by what is left of their
    length, so that columns past the rank are rounding of rounding, and are zero here.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Symmetric, with no negative eigenvalue but for rounding.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0]])
    >>> Z = factor(X @ X.T)
    >>> (Z @ Z.T).round(9).tolist()
    [[9.0, 0.0, 11.0], [0.0, 0.0, 0.0], [11.0, 0.0, 25.0]]
    """
    lower, pivots, rank, _ = dpstrf(G, lower=1)
    lower[:, rank:] = 0
    Z = np.empty_like(G)
    Z[pivots - 1] = np.tril(lower)
    return Z
