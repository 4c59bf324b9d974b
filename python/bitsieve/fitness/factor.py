"""scikit-learn's own solvers on a small factor of each mask's Gram matrix."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from threadpoolctl import ThreadpoolController

from bitsieve.fitness.base import Fitness
from bitsieve.fitness.general import _cross_validate
from bitsieve.fitness.inner_products import RULES, rule_of
from bitsieve.fitness.options import Problem
from bitsieve.fitness.pipelines import Parts
from bitsieve.fitness.scoring import refusal_of_scoring
from bitsieve.fitness.splits import Split
from bitsieve.masks import Masks

__all__ = ["KERNEL", "FactorFitness"]

Floats = NDArray[np.float64]

_LARGEST_SQUARE = 1e300
_MOST_SAMPLES = 4096  # matrices of 128 MB, three of them in each process
# A Gram matrix is known to 1e-16 of its trace. Where the columns' means are so much of it, what
# is left of the samples' differences is too little: scikit-learn then reads the columns.
_LEAST_SHARE = 1e-6

# A kernel function is evaluated again in every fit; of so few columns that costs less than to take
# parts of a whole matrix.
_FEW = 128

_WITH_GAMMA = ("rbf", "poly", "polynomial", "sigmoid")


class FactorFitness(Fitness):
    """Estimators that see X through inner products, by scikit-learn; see :class:`Fitness`.

    Such an estimator answers alike on any Z with Z Z' = X_m X_m', and where a mask holds more
    features than there are samples Z is the smaller. One Gram matrix and one factor of it serve
    all splits of a mask. Estimators with a kernel function get its matrix, made of the Gram
    matrix, from a hundred features on. What scikit-learn takes from the shape or the variance of
    X (``gamma``, ``dual``) is given as it would be on the columns. Masks of fewer features are
    fitted on their columns. Where ``random_state`` is None it is 0, so that a score is a function
    of the mask.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from bitsieve.datasets import make_microarray
    >>> from bitsieve.fitness import compile
    >>> data = make_microarray(40, 300, random_state=0)
    >>> fitness = compile(SVC(kernel="linear"), data.X, data.y, n_jobs=1)
    >>> fitness.kernel, fitness.evaluate([np.arange(300) % 3 > 0]).shape
    ('factor', (1,))
    """

    kernel = "factor"

    def _evaluate(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        import joblib

        problem = self.problem
        jobs = (
            joblib.delayed(_score)(
                problem.options.estimator,
                problem.parts,
                self.table.X,
                self.table.y,
                masks.indices_of(m),
                self.splits(int(seeds[m])),
                problem.options.scoring,
                problem.options.sample_weight,
            )
            for m in range(len(masks))
        )
        n_jobs = min(self._n_jobs, len(masks))
        return np.array(joblib.Parallel(n_jobs=n_jobs)(jobs), dtype=np.float64)


def _score(
    estimator: Any,
    parts: Parts,
    X: NDArray[Any],
    y: NDArray[Any],
    features: NDArray[np.int64],
    splits: list[Split],
    scoring: Any,
    weights: NDArray[Any] | None,
) -> Floats:
    """Return the score of each split for one mask."""
    if len(features) == 0:
        return _cross_validate(estimator, X, y, features, splits, scoring, weights)
    # Whatever checks scikit-learn makes were passed when the fitness was made.
    off = {"assume_finite": True, "skip_parameter_validation": True}
    with _one_blas_thread(), config_context(**off, enable_metadata_routing=False):
        columns = X[:, features].astype(np.float64, copy=False)
        judge = _scorer(parts.model, scoring)
        scores = np.empty(len(splits))
        seen = _see(parts.model, columns) if parts.scaler is None else None
        for s, (train, test) in enumerate(splits):
            if parts.scaler is not None:
                scaler = clone(parts.scaler).set_params(copy=True).fit(columns[train])
                seen = _see(parts.model, scaler.transform(columns))
            assert seen is not None
            fitted = seen.model(train)
            given = {} if weights is None else {"sample_weight": weights[train]}
            fitted.fit(seen.training(train), y[train], **given)
            scores[s] = judge(fitted, seen.testing(train, test), y[test])
    return scores


_alone = threading.Lock()


def _new_lock() -> None:
    global _alone
    _alone = threading.Lock()


if hasattr(os, "register_at_fork"):  # the child may find it held by a thread that it has not
    os.register_at_fork(after_in_child=_new_lock)


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread: the bits of a product depend on how it was divided.

    The limit is of the whole process, so that one thread of it works at a time. Work is divided
    among processes.
    """
    with _alone, _pools().limit(limits=1):
        yield


def _scorer(estimator: Any, scoring: Any) -> Any:
    """Return ``scorer(fitted, X, y)``; accuracy without scikit-learn's checks of what it is given.

    They take as long as a fit.
    """
    if not is_classifier(estimator) or scoring not in (None, "accuracy"):
        return check_scoring(estimator, scoring=scoring)
    if type(estimator).predict.__qualname__ != "LinearClassifierMixin.predict":
        return lambda fitted, X, y: np.mean(fitted.predict(X) == y)

    def accuracy(fitted: Any, X: Floats, y: NDArray[Any]) -> Any:
        decisions = X @ fitted.coef_.T + fitted.intercept_
        binary = decisions.shape[1] == 1
        codes = decisions[:, 0] > 0 if binary else decisions.argmax(axis=1)
        return np.mean(fitted.classes_[codes.astype(np.intp)] == y)

    return accuracy


# -- what an estimator is given of a mask ----------------------------------------------------------


@dataclass
class _Columns:
    """The columns themselves."""

    estimator: Any
    X: Floats

    def model(self, train: NDArray[np.intp]) -> Any:
        """Return an unfitted copy that answers as the estimator would on the columns."""
        # A clone is looked up parameter by parameter, which takes as long as a fit. No fit of
        # these changes a parameter but a generator.
        model = copy(self.estimator)
        state = getattr(model, "random_state", 0)  # SVR has it as an attribute alone
        if state is None:
            model.random_state = 0
        elif isinstance(state, np.random.RandomState):
            model.random_state = deepcopy(state)
        return model

    def training(self, train: NDArray[np.intp]) -> Floats:
        """Return what it is fitted to."""
        return self.X[train]

    def testing(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> Floats:
        """Return what it predicts."""
        return self.X[test]


@dataclass
class _Factor(_Columns):
    """Z with Z Z' = G, in place of more columns than samples."""

    def model(self, train: NDArray[np.intp]) -> Any:
        model = super().model(train)
        # Both solvers of liblinear give one answer; the rule is that of the columns' shape.
        if getattr(model, "dual", None) == "auto":
            model.dual = True
        return model


@dataclass
class _Kernel(_Columns):
    """The matrix of a kernel function; here ``X`` is the Gram matrix."""

    n_features: int
    sums: Floats
    squares: Floats
    _matrix: Floats | None = None
    _matrix_gamma: float | None = None

    def model(self, train: NDArray[np.intp]) -> Any:
        model = super().model(train)
        gamma = self._gamma(model.gamma, train) if model.kernel in _WITH_GAMMA else None
        if self._matrix is None or gamma != self._matrix_gamma:
            self._matrix, self._matrix_gamma = self._of(model, gamma), gamma
        model.kernel = "precomputed"
        return model

    def training(self, train: NDArray[np.intp]) -> Floats:
        assert self._matrix is not None
        return self._matrix[np.ix_(train, train)]

    def testing(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> Floats:
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

    def _gamma(self, gamma: Any, train: NDArray[np.intp]) -> float:
        """Return the number that stands for gamma on the columns of a training part."""
        if gamma is None or gamma == "auto":
            return 1 / self.n_features
        if gamma != "scale":
            return float(gamma)
        n_values = len(train) * self.n_features
        mean = self.sums[train].sum() / n_values
        variance = self.squares[train].sum() / n_values - mean**2
        return float(1 / (self.n_features * variance)) if variance > 0 else 1.0


def _most_columns(rule: Rule, n_samples: int) -> int:
    """Return up to how many columns scikit-learn is as fast on them."""
    return min(n_samples, _FEW) if rule.is_kernel else n_samples


def _see(estimator: Any, X: Floats) -> _Columns:
    """Return what an estimator is given of the columns of a mask: a rule of them alone."""
    n, k = X.shape
    rule = rule_of(estimator)
    if k <= _most_columns(rule, n):
        return _Columns(estimator, X)
    sums = squares = np.empty(0)
    if rule.is_kernel and estimator.kernel in _WITH_GAMMA and estimator.gamma == "scale":
        # Of values less one number, so that nothing is lost where all of them are large.
        shifted = X - X.mean()
        sums, squares = shifted.sum(axis=1), np.einsum("ij,ij->i", shifted, shifted)
    if rule.centres(estimator):
        centred = X - X.mean(axis=0)
        G = centred @ centred.T
    else:
        G = X @ X.T
        trace = np.trace(G)
        if trace - G.sum() / n < _LEAST_SHARE * trace:
            return _Columns(estimator, X)
    if rule.is_kernel:
        return _Kernel(estimator, G, k, sums, squares)
    return _Factor(estimator, _factor(G))


def _factor(G: Floats) -> Floats:
    """Return Z, n x n, with Z Z' = G: a Cholesky factor, up to the rank of G.

    Half of it is zeros, which liblinear passes over. Samples are taken by what is left of their
    length, so that columns past the rank are rounding of rounding, and are zero here.
    """
    lower, pivots, rank, _ = dpstrf(G, lower=1)
    lower[:, rank:] = 0
    Z = np.empty_like(G)
    Z[pivots - 1] = np.tril(lower)
    return Z


class _FactorKernel:
    name = "factor"
    estimators = tuple(RULES)
    make = FactorFitness
    takes_scaler = True

    def refusal(self, problem: Problem) -> str | None:
        options, table = problem.options, problem.table
        rule = rule_of(problem.model)
        reason = rule.refusal(problem.model)
        if reason is None:
            reason = refusal_of_scoring(problem.model, options.scoring)
        if reason is not None:
            return reason
        most = _most_columns(rule, table.n_samples)
        if table.n_features <= most:
            what = "features than samples" if most == table.n_samples else f"than {most} features"
            return f"a table of no more {what} has no kernel"
        if table.n_samples > _MOST_SAMPLES:
            return f"more than {_MOST_SAMPLES:,} samples have no kernel"
        largest = max(float(table.X.max()), -float(table.X.min()))
        if largest > np.sqrt(_LARGEST_SQUARE / table.n_features):
            return "values whose squares overflow have no kernel"
        return None


KERNEL = _FactorKernel()
