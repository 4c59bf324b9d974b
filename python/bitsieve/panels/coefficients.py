"""Coefficients of scikit-learn's linear models, from the Gram matrix of their training samples.

With X in n rows and K = X X' the coefficients of all features are ``w = X' a``: a model here gives
the dual ones, a, and a score for the samples of a test part.

::

    SVC                             the dual problem of each pair of classes, compiled
    Ridge, RidgeClassifier          (K + alpha I)^-1 of the centred samples
    SVR, NuSVC, NuSVR (linear)      scikit-learn on K
    LinearSVC, LogisticRegression   scikit-learn on Z, n x n, with Z Z' = K
"""

from __future__ import annotations

import itertools
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bitsieve import _core
from bitsieve.data import Table
from bitsieve.fitness.inner_products import RULES, rule_of
from bitsieve.fitness.scoring import refusal_of_scoring
from bitsieve.fitness.views import is_lost

__all__ = ["DualFit", "GramModel", "gram_model"]

Floats = NDArray[np.float64]

#: Within so much the conditions of optimality of an SVM hold, in units of its decisions. LIBSVM's
#: 1e-3 leaves the order of small coefficients to chance.
TOLERANCE = 1e-10

_GIVEN_UP = 1e-3  # what LIBSVM would have been content with
_MOST_SAMPLES = 4096  # matrices of 128 MB, a few in each fold
_MOST_SVM_VALUE = 1e150
# Up to so many samples a solve of the matrix is faster than a fit of fewer columns; with a penalty
# of so much of its trace nine digits of the answer are sure.
_FEW_SAMPLES, _LEAST_PENALTY = 300, 1e-6
#: Of a factor, columns whose squared length is less of the largest are rounding.
_RANK = 1e-13


class DualFit(NamedTuple):
    """A fitted model.

    Attributes
    ----------
    dual : float64 array of shape (n_train, n_functions)
        The coefficients are ``X_train' dual``.
    answers : callable
        ``answers(K)``, with the inner products of test and training samples, gives what a scorer
        asks for: a fitted model, and X for it.
    """

    dual: Floats
    answers: Callable[[Floats], tuple[Any, Any]]


class GramModel(ABC):
    """A linear model that is fitted from the Gram matrix of its samples.

    Parameters
    ----------
    model : scikit-learn estimator
        One for which :func:`gram_model` has no words.

    Attributes
    ----------
    kernel : str
        What solves it.
    centres : bool
        Whether the Gram matrix is to be that of centred features, which gives the same answer.
    on_columns : bool
        Whether scikit-learn is to fit the columns, once they are no more than samples.
    uses_python : bool
        Whether scikit-learn does the work, which threads cannot share.
    """

    kernel: str
    centres = True
    on_columns = True
    uses_python = True

    def __init__(self, model: Any) -> None:
        self.model = model

    @abstractmethod
    def fit(self, K: Floats, y: NDArray[Any]) -> DualFit | None:
        """Fit to a training part.

        Parameters
        ----------
        K : float64 array of shape (n_train, n_train)
        y : array of shape (n_train,)

        Returns
        -------
        DualFit or None
            None where the matrix does not determine the answer well enough.
        """

    def prefers_columns(self, n_columns: int, K: Floats) -> bool:
        """Tell whether scikit-learn is to fit the columns that are left."""
        return self.on_columns and n_columns <= len(K)

    def seeded(self) -> Any:
        """An unfitted copy that draws the same every time."""
        model = copy(self.model)
        if getattr(model, "random_state", 0) is None:
            model.random_state = 0
        if getattr(model, "dual", None) == "auto":  # as on more columns than samples
            model.dual = True
        return model


class _PairsOfClasses(GramModel):
    """SVC(kernel="linear"): a function for each pair of classes, as LIBSVM has them."""

    kernel = "dual_svm"
    on_columns = False
    uses_python = False

    def fit(self, K: Floats, y: NDArray[Any]) -> DualFit | None:
        classes, codes = np.unique(y, return_inverse=True)
        pairs = list(itertools.combinations(range(len(classes)), 2))
        dual = np.zeros((len(K), len(pairs)))
        intercepts = np.empty(len(pairs))
        for number, (one, other) in enumerate(pairs):
            rows = np.flatnonzero((codes == one) | (codes == other))
            part = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
            signs = np.where(codes[rows] == one, 1, -1).astype(np.int8)[None]
            found, intercept, violation = _core.dual_svm(
                np.ascontiguousarray(part), signs, float(self.model.C), TOLERANCE
            )
            if violation[0] > _GIVEN_UP:
                return None
            dual[rows, number], intercepts[number] = found[0], intercept[0]

        def answers(near: Floats) -> tuple[Any, Any]:
            return _Voted(self.model, classes, near @ dual + intercepts), None

        return DualFit(dual, answers)


class _Ridge(GramModel):
    """Ridge and RidgeClassifier in closed form."""

    kernel = "ridge"
    uses_python = False

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.centres = bool(model.fit_intercept)

    def prefers_columns(self, n_columns: int, K: Floats) -> bool:
        """Tell whether scikit-learn is to fit the columns that are left."""
        sure = float(self.model.alpha) >= _LEAST_PENALTY * np.trace(K)
        return n_columns <= len(K) and not (sure and len(K) <= _FEW_SAMPLES)

    def fit(self, K: Floats, y: NDArray[Any]) -> DualFit | None:
        classes = None
        if type(self.model).__name__ == "RidgeClassifier":
            classes, codes = np.unique(y, return_inverse=True)
            wanted = np.arange(1 if len(classes) == 2 else 0, len(classes))
            targets = np.where(codes[:, None] == wanted, 1.0, -1.0)
        else:
            targets = np.asarray(y, dtype=np.float64)[:, None]
        means = targets.mean(axis=0) if self.centres else np.zeros(targets.shape[1])
        matrix = K.copy()
        matrix.flat[:: len(K) + 1] += float(self.model.alpha)
        _, dual, failed = lapack.dposv(matrix, targets - means, lower=1)
        if failed:
            return None
        dual = np.ascontiguousarray(dual)

        def answers(near: Floats) -> tuple[Any, Any]:
            decisions = near @ dual + means
            if classes is None:
                return _Numbers(decisions[:, 0]), None
            return _Decided(classes, decisions), None

        return DualFit(dual, answers)


class _OnMatrix(GramModel):
    """LIBSVM's models on a matrix of inner products."""

    kernel = "factor"

    def fit(self, K: Floats, y: NDArray[Any]) -> DualFit | None:
        fitted = self.seeded()
        fitted.kernel = "precomputed"
        fitted.fit(K, y)
        dual = np.zeros((len(K), 1))
        dual[fitted.support_, 0] = fitted.dual_coef_[0]
        return DualFit(dual, lambda near: (fitted, near))


class _OnFactor(GramModel):
    """Models that answer alike on any Z with Z Z' = K."""

    kernel = "factor"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.centres = rule_of(model).centres(model)

    def fit(self, K: Floats, y: NDArray[Any]) -> DualFit | None:
        if not self.centres and is_lost(K):
            return None
        squares, vectors = np.linalg.eigh(K)
        kept = squares > _RANK * squares[-1]
        if not kept.any():
            return None
        # Z = U s, so that U s^-1 takes coefficients of Z to dual ones, and samples to rows of Z.
        back = vectors[:, kept] / np.sqrt(squares[kept])
        fitted = self.seeded().fit(vectors[:, kept] * np.sqrt(squares[kept]), y)
        coefficients = np.atleast_2d(fitted.coef_)
        return DualFit(back @ coefficients.T, lambda near: (fitted, near @ back))


def gram_model(model: Any, table: Table, scoring: Any = None) -> GramModel | str:
    """Return what fits a model from Gram matrices, or why nothing does.

    Parameters
    ----------
    model : scikit-learn estimator
        Without what stands before it in a pipeline.
    table : Table
    scoring : str, callable or None, default None
        What fits of it are to be scored by.

    Returns
    -------
    GramModel or str

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.svm import SVC
    >>> from bitsieve.data import Table
    >>> table = Table(np.eye(4, 9), [0, 0, 1, 1])
    >>> gram_model(SVC(kernel="linear"), table).kernel
    'dual_svm'
    >>> gram_model(RandomForestClassifier(), table)
    'RandomForestClassifier has no coefficients of inner products'
    """
    name = type(model).__name__
    if not _has_rule(model):
        return f"{name} has no coefficients of inner products"
    rule = rule_of(model)
    reason = rule.refusal(model)
    if reason is None and rule.is_kernel and getattr(model, "kernel", "linear") != "linear":
        reason = f"{name} with kernel={model.kernel!r} has no coefficients"
    if reason is None and name == "KernelRidge":
        reason = "KernelRidge has no coefficients"
    if reason is None and getattr(model, "probability", False) is True:
        reason = "probability=True has no kernel"
    if reason is None:
        reason = refusal_of_scoring(model, scoring)
    if reason is None and table.n_samples > _MOST_SAMPLES:
        reason = f"more than {_MOST_SAMPLES:,} samples have no kernel"
    if reason is not None:
        return reason
    found = _choose(model, name, table)
    if isinstance(found, GramModel) and found.on_columns and table.n_features <= table.n_samples:
        return (
            f"a table of {table.n_samples:,} samples and no more than {table.n_samples:,} "
            f"features has no kernel for {name}"
        )
    return found


def _choose(model: Any, name: str, table: Table) -> GramModel | str:
    many = table.classes is not None and len(table.classes) > 2
    if name == "SVC" and model.class_weight is None and model.max_iter == -1:
        if not float(model.C) <= _MOST_SVM_VALUE:
            return f"C={model.C:g} has no kernel"
        return _PairsOfClasses(model)
    if rule_of(model).is_kernel:
        if many:
            return f"{name} of more than two classes with these parameters has no kernel"
        return _OnMatrix(model)
    ridge = name in ("Ridge", "RidgeClassifier") and model.solver in ("auto", "svd", "cholesky")
    if ridge and getattr(model, "class_weight", None) is None and isinstance(model.alpha, Real):
        return _Ridge(model)
    return _OnFactor(model)


def _has_rule(model: Any) -> bool:
    kind = type(model)
    for name in RULES:
        module, _, what = name.rpartition(".")
        if kind is getattr(sys.modules.get(module), what, None):
            return True
    return False


# -- what scorers ask ------------------------------------------------------------------------------


def _estimators() -> tuple[type, type, type]:
    """Classes of scikit-learn's kind, which scorers tell by their bases."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    return BaseEstimator, ClassifierMixin, RegressorMixin


_Base, _Classifier, _Regressor = _estimators()


class _Answers(_Base):  # type: ignore[misc, valid-type]
    """A fitted estimator that has answered already."""

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _Numbers(_Regressor, _Answers):  # type: ignore[misc, valid-type]
    def __init__(self, predicted: Floats) -> None:
        self.predicted = predicted

    def predict(self, X: Any) -> Floats:
        return self.predicted


class _Decided(_Classifier, _Answers):  # type: ignore[misc, valid-type]
    """The largest of one decision a class, or the sign of a single one."""

    def __init__(self, classes: NDArray[Any], decisions: Floats) -> None:
        self.classes_ = classes
        self.decisions = decisions

    def decision_function(self, X: Any) -> Floats:
        return self.decisions[:, 0] if self.decisions.shape[1] == 1 else self.decisions

    def predict(self, X: Any) -> NDArray[Any]:
        d = self.decisions
        codes = (d[:, 0] > 0).astype(int) if d.shape[1] == 1 else d.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted


class _Voted(_Classifier, _Answers):  # type: ignore[misc, valid-type]
    """A vote of pairs of classes; in a pair the first wins where the function is positive."""

    def __init__(self, model: Any, classes: NDArray[Any], functions: Floats) -> None:
        self.model, self.classes_, self.functions = model, classes, functions

    def decision_function(self, X: Any) -> Floats:
        if len(self.classes_) == 2:
            return -self.functions[:, 0]
        return self.functions if self.model.decision_function_shape == "ovo" else self._of_classes()

    def predict(self, X: Any) -> NDArray[Any]:
        breaks = len(self.classes_) > 2 and self.model.break_ties
        votes = self._of_classes() if breaks else self._votes()[0]
        predicted: NDArray[Any] = self.classes_[votes.argmax(axis=1)]
        return predicted

    def _votes(self) -> tuple[Floats, Floats]:
        """Pairs that each class won, and the sum of its functions."""
        votes = np.zeros((len(self.functions), len(self.classes_)))
        sums = np.zeros_like(votes)
        pairs = itertools.combinations(range(len(self.classes_)), 2)
        for (one, other), values in zip(pairs, self.functions.T, strict=True):
            votes[:, one] += values > 0
            votes[:, other] += values <= 0
            sums[:, one] += values
            sums[:, other] -= values
        return votes, sums

    def _of_classes(self) -> Floats:
        """Votes, and between equal ones the sums, as scikit-learn makes decisions of them."""
        votes, sums = self._votes()
        decisions: Floats = votes + sums / (3 * (np.abs(sums) + 1))
        return decisions
