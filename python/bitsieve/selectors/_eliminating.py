"""The runs of a recursive elimination: on all samples, and inside each fold."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from threadpoolctl import threadpool_limits

from bitsieve._errors import duration
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.fitness.pipelines import parts_of
from bitsieve.fitness.processes import in_processes
from bitsieve.panels.coefficients import GramModel, gram_model
from bitsieve.panels.recursive import (
    ColumnElimination,
    Eliminated,
    Elimination,
    GramElimination,
    eliminate,
)

__all__ = ["Plan", "Split", "name_of_weights", "plan_of"]

logger = logging.getLogger("bitsieve")

_SHORT = 0.5  # seconds of a first fit that is made once more: it loads modules
_LONG = 60.0  # seconds of a whole elimination that are worth a warning

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Plan:
    """What every run of one selector shares.

    Attributes
    ----------
    estimator : scikit-learn estimator
    model : GramModel or None
        None where scikit-learn fits the columns.
    reason : str or None
        Why it does.
    scaler : scikit-learn scaler or None
        Of a pipeline that was taken apart.
    scoring : str, callable or None
    getter : str or callable
    table : Table
    weights : array of shape (n_samples,) or None
    left : int64 array
        Features that are not forbidden.
    forced : bool array of shape (n_features,)
    """

    estimator: Any
    model: GramModel | None
    reason: str | None
    scaler: Any
    scoring: Any
    getter: Any
    table: Table
    weights: NDArray[Any] | None
    left: NDArray[np.int64]
    forced: NDArray[np.bool_]

    def on_all(self, sizes: list[int]) -> tuple[Eliminated, Elimination]:
        """Eliminate on all samples."""
        everything = np.arange(self.table.n_samples)
        with _same_bits(fast=self.model is not None):
            machine = self._machine((everything, everything[:0]))
            return eliminate(machine, sizes, forced=self.forced, largest_scored=0), machine

    def on_folds(
        self, splits: list[Split], sizes: list[int], largest: int, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Eliminate on every training part, and score on the test parts.

        Returns
        -------
        float64 array of shape (n_splits, n_scored_sizes)
            From the largest size to the least.
        """
        import joblib

        n_jobs = min(effective_n_jobs(n_jobs), len(splits))
        with _same_bits(fast=False):  # of the process; threads share it
            if self.model is None or self.model.uses_python:
                calls = (joblib.delayed(_on_fold)(self, split, sizes, largest) for split in splits)
                found = in_processes(calls, n_jobs)
            else:  # loops that leave Python's lock, and the table need not be copied
                found = self._in_threads(splits, sizes, largest, n_jobs)
            return np.array(found, dtype=np.float64)

    def _in_threads(
        self, splits: list[Split], sizes: list[int], largest: int, n_jobs: int
    ) -> list[NDArray[np.float64]]:
        """Eliminate on folds in threads, all of which have ended whatever ends this."""
        stop = Event()
        with ThreadPoolExecutor(n_jobs) as pool:
            runs = [pool.submit(_on_fold, self, split, sizes, largest, stop) for split in splits]
            try:
                return [run.result() for run in runs]
            except BaseException:
                # A thread that is in a kernel while the process ends takes it down.
                stop.set()
                raise

    def tell_cost(self, sizes: list[int], n_runs: int, n_jobs: int | None) -> None:
        """Say what the fits of scikit-learn will take, before they begin.

        Warns
        -----
        UserWarning
            Where it is a minute or more.
        """
        n_fits = n_runs * len(sizes)
        if self.model is not None or n_fits < 10:
            return
        X, y = self.table.X[:, self.left], self.table.y
        options = {} if self.weights is None else {name_of_weights(self.estimator): self.weights}
        for _ in range(2):
            began = time.perf_counter()
            clone(self.estimator).fit(X, y, **options)
            seconds = time.perf_counter() - began
            if seconds > _SHORT or seconds * n_fits < _LONG:
                break
        workers = max(1, min(effective_n_jobs(n_jobs), n_runs))
        total = seconds * n_runs * sum(sizes) / sizes[0] / workers
        text = (
            f"no kernel serves this estimator ({self.reason}): {n_fits:,} fits by scikit-learn, "
            f"the first {seconds:.2g} s, about {duration(total)} in all; a larger step takes less"
        )
        logger.info(text, extra={"elimination_seconds": total})
        if total >= _LONG:
            warnings.warn(text, UserWarning, stacklevel=4)

    def _machine(self, split: Split) -> Elimination:
        train, test = split
        y = self.table.y
        assert y is not None
        scorer = self._scorer()
        if self.model is not None:
            return GramElimination(
                self.model,
                self.table.X,
                y,
                train,
                test,
                self.left,
                scorer=scorer,
                scaler=self.scaler,
            )
        return ColumnElimination(
            self.estimator,
            self.table.X,
            y,
            train,
            test,
            self.left,
            scorer=scorer,
            getter=self.getter,
            weights=self.weights,
            name_of_weights=name_of_weights(self.estimator),
        )

    def _scorer(self) -> Any:
        fast = self.model is not None and is_classifier(self.estimator)
        if fast and self.scoring in (None, "accuracy"):
            return _accuracy  # scikit-learn's checks of what it is given take as long as a fit
        return check_scoring(self.estimator, scoring=self.scoring)


def plan_of(
    estimator: Any,
    table: Table,
    *,
    scoring: Any,
    getter: Any,
    weights: NDArray[Any] | None,
    left: NDArray[np.int64],
    forced: NDArray[np.bool_],
    scored: bool,
) -> Plan:
    """Choose what eliminates.

    Parameters
    ----------
    estimator : scikit-learn estimator
    table : Table
    scoring, getter, weights, left, forced
        As in :class:`Plan`.
    scored : bool
        Whether fits are to be scored.

    Returns
    -------
    Plan
    """
    parts = parts_of(estimator)
    found: GramModel | str
    if parts.reason is not None:
        found = parts.reason
    elif weights is not None:
        found = "sample_weight has no kernel"
    elif not isinstance(getter, str) or getter != "auto":
        found = "importance_getter has no kernel"
    elif table.X.dtype.kind != "f" or not np.isfinite(table.X).all():
        found = "missing values have no kernel"
    else:
        found = gram_model(parts.model, table, scoring if scored else None)
    model, reason = (None, found) if isinstance(found, str) else (found, None)
    return Plan(
        estimator, model, reason, parts.scaler, scoring, getter, table, weights, left, forced
    )


def _on_fold(
    plan: Plan, split: Split, sizes: list[int], largest: int, stop: Event | None = None
) -> NDArray[np.float64]:
    python = plan.model is None or plan.model.uses_python
    with _same_bits(fast=plan.model is not None, limit=python):
        machine = plan._machine(split)
        return eliminate(
            machine, sizes, forced=plan.forced, largest_scored=largest, stop=stop
        ).scores


@contextmanager
def _same_bits(*, fast: bool, limit: bool = True) -> Iterator[None]:
    """Keep BLAS to one thread: the bits of a product depend on how it was divided."""
    # Whatever checks scikit-learn makes of the data were passed when the table was made.
    off = {"assume_finite": True, "skip_parameter_validation": True} if fast else {}
    with config_context(enable_metadata_routing=False, **off):
        if not limit:
            yield
            return
        with threadpool_limits(limits=1):
            yield


def _accuracy(fitted: Any, X: Any, y: NDArray[Any]) -> float:
    return float(np.mean(fitted.predict(X) == y))


def name_of_weights(estimator: Any) -> str:
    """Under which name a fit takes weights; of a pipeline, for its last step."""
    names = []
    while steps := getattr(estimator, "steps", None):
        name, estimator = steps[-1]
        names.append(name)
    return "__".join([*names, "sample_weight"])
