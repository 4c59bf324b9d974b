"""scikit-learn's own solvers on a small factor of each mask's Gram matrix."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from threadpoolctl import ThreadpoolController

from bitsieve import _core
from bitsieve.fitness.base import Fitness
from bitsieve.fitness.compiled import lists_of
from bitsieve.fitness.general import _cross_validate
from bitsieve.fitness.inner_products import RULES, rule_of
from bitsieve.fitness.options import Problem
from bitsieve.fitness.output_scorer import _as_number
from bitsieve.fitness.pipelines import Parts, scaler_options
from bitsieve.fitness.processes import in_processes
from bitsieve.fitness.scoring import refusal_of_scoring
from bitsieve.fitness.splits import Split
from bitsieve.fitness.views import (
    Columns,
    is_lost,
    most_columns,
    reads_variance,
    view,
    view_of_gram,
)
from bitsieve.masks import Masks

__all__ = ["KERNEL", "FactorFitness"]

Floats = NDArray[np.float64]

_LARGEST_SQUARE = 1e300
_MOST_SAMPLES = 4096  # matrices of 128 MB, three of them in each process
_MATRIX_BYTES = 1 << 25  # of a job


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
        scores = np.empty((len(masks), self.n_splits))
        places: list[tuple[int, int]] = []

        def jobs() -> Iterator[Any]:
            for m in range(len(masks)):
                features, splits = masks.indices_of(m), self.splits(int(seeds[m]))
                for first, job in self._jobs_of(features, splits):
                    places.append((m, first))
                    yield job

        for number, part in enumerate(in_processes(jobs(), min(self._n_jobs, len(masks)))):
            m, first = places[number]
            scores[m, first : first + len(part)] = part
        return scores

    def _jobs_of(
        self, features: NDArray[np.int64], splits: list[Split]
    ) -> Iterator[tuple[int, Any]]:
        """Yield calls that score some of the splits of a mask, each with the first of them."""
        import joblib

        options, parts, table = self.problem.options, self.problem.parts, self.table
        what = (table.y, options.scoring, options.sample_weight)
        on_columns = joblib.delayed(_score_columns)
        k, n = len(features), self.n_samples
        if parts.scaler is None or k <= most_columns(parts.model, n, scaled=True):
            yield 0, on_columns(options.estimator, parts, table.X, features, splits, *what)
            return
        # A Gram matrix for each training part: a few at a time, as much memory as that takes.
        step = max(1, _MATRIX_BYTES // (8 * n * n))
        variance = reads_variance(parts.model)
        shifted = rule_of(parts.model).centres(parts.model) and not variance
        scaler = _core.FoldScaler(table.core, scaler_options(parts.scaler))
        for first in range(0, len(splits), step):
            some = splits[first : first + step]
            train, train_begin = lists_of([pair[0] for pair in some])
            test, test_begin = lists_of([pair[1] for pair in some])
            grams, sums = scaler.grams(
                features=features.astype(np.int32),
                train=train,
                train_begin=train_begin,
                test=test,
                test_begin=test_begin,
                shifted=shifted,
                n_threads=self._n_jobs,
            )
            if not shifted and any(map(is_lost, grams)):
                yield first, on_columns(options.estimator, parts, table.X, features, some, *what)
            else:
                yield first, joblib.delayed(_score_grams)(parts.model, grams, sums, k, some, *what)


def _score_columns(
    estimator: Any,
    parts: Parts,
    X: NDArray[Any],
    features: NDArray[np.int64],
    splits: list[Split],
    y: NDArray[Any],
    scoring: Any,
    weights: NDArray[Any] | None,
) -> Floats:
    """Return the score of each split for one mask."""
    if len(features) == 0:
        return _cross_validate(estimator, X, y, features, splits, scoring, weights)

    columns = X[:, features].astype(np.float64, copy=False)

    def views() -> Iterator[Columns]:
        if parts.scaler is None:
            yield from itertools.repeat(view(parts.model, columns), len(splits))
            return
        for train, _ in splits:
            scaler = clone(parts.scaler).set_params(copy=True).fit(columns[train])
            yield Columns(parts.model, scaler.transform(columns))

    return _score(parts.model, views(), splits, y, scoring, weights)


def _score_grams(
    model: Any,
    grams: Floats,
    sums: Floats,
    n_features: int,
    splits: list[Split],
    y: NDArray[Any],
    scoring: Any,
    weights: NDArray[Any] | None,
) -> Floats:
    """Return the score of each split from the Gram matrix of what was scaled for it."""
    views = (
        view_of_gram(model, G, n_features, sum_, np.diagonal(G))
        for G, sum_ in zip(grams, sums, strict=True)
    )
    return _score(model, views, splits, y, scoring, weights)


def _score(
    model: Any,
    views: Iterator[Columns],
    splits: list[Split],
    y: NDArray[Any],
    scoring: Any,
    weights: NDArray[Any] | None,
) -> Floats:
    scores = np.empty(len(splits))
    judge = _scorer(model, scoring)
    # Whatever checks scikit-learn makes were passed when the fitness was made.
    off = {"assume_finite": True, "skip_parameter_validation": True}
    with _one_blas_thread(), config_context(**off, enable_metadata_routing=False):
        for s, (train, test) in enumerate(splits):
            seen = next(views)
            fitted = seen.model(train)
            given = {} if weights is None else {"sample_weight": weights[train]}
            fitted.fit(seen.training(train), y[train], **given)
            scores[s] = _as_number(judge(fitted, seen.testing(train, test), y[test]))
    return scores


_alone = threading.RLock()  # a scorer of one's own may evaluate too


def _new_lock() -> None:
    global _alone
    _alone = threading.RLock()


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


def _refusal_of_scaling(problem: Problem) -> str | None:
    """Return why a scaler before a model has no kernel, or None."""
    if not _core.has_fma():
        return "this instruction set has no fused multiply-add, which scaled matrices need"
    try:
        _ = problem.table.max_abs
    except ValueError:
        return "a scaler of values beyond the range of float32 has no kernel"
    return None


class _FactorKernel:
    name = "factor"
    estimators = tuple(RULES)
    make = FactorFitness
    takes_scaler = True

    def refusal(self, problem: Problem) -> str | None:
        options, table = problem.options, problem.table
        n = table.n_samples
        # The shape first: no other option would help there.
        most = most_columns(problem.model, n, scaled=problem.scaler is not None)
        if table.n_features <= most:
            return f"a table of {n:,} samples and no more than {most:,} features has no kernel"
        reason = rule_of(problem.model).refusal(problem.model)
        if reason is None:
            reason = refusal_of_scoring(problem.model, options.scoring)
        if reason is not None:
            return reason
        if problem.scaler is not None:
            reason = _refusal_of_scaling(problem)
            if reason is not None:
                return reason
        if n > _MOST_SAMPLES:
            return f"more than {_MOST_SAMPLES:,} samples have no kernel"
        largest = max(float(table.X.max()), -float(table.X.min()))
        if largest > np.sqrt(_LARGEST_SQUARE / table.n_features):
            return "values whose squares overflow have no kernel"
        return None


KERNEL = _FactorKernel()
