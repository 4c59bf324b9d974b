"""The runs of a recursive elimination: on all samples, and inside each fold."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
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
from bitsieve.panels.columns import ColumnElimination
from bitsieve.panels.matrix import GramElimination
from bitsieve.panels.recursive import Eliminated, Elimination, eliminate
from bitsieve.selectors._cost import say_cost, seconds_of
from bitsieve.selectors._elimination_folds import Split
from bitsieve.selectors._elimination_store import EliminationStore, PartStore
from bitsieve.selectors._weights import name_of_weights

__all__ = ["Plan", "plan_of"]

#: So many fits are worth an estimate: by scikit-learn, and by a kernel.
_MANY_FITS, _MANY_OF_KERNELS = 10, 1000


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

    def on_all(self, sizes: list[int], store: EliminationStore | None) -> Eliminated:
        """Eliminate on all samples, or read what a finished run found.

        Parameters
        ----------
        sizes : list of int
        store : EliminationStore or None
        """
        if store is not None and store.found is not None:
            return store.found
        part = None if store is None else store.part("all", sizes, 0)
        with _same_bits(fast=self.model is not None):
            found = self._eliminate(self._everything, sizes, 0, part)
        if store is not None:
            store.take_found(found)
        return found

    def on_folds(
        self,
        splits: list[Split],
        sizes: list[int],
        largest: int,
        n_jobs: int | None,
        store: EliminationStore | None,
    ) -> NDArray[np.float64]:
        """Eliminate on every training part, and score on the test parts.

        Returns
        -------
        float64 array of shape (n_splits, n_scored_sizes)
            From the largest size to the least.
        """
        import joblib

        if store is not None and store.scores is not None:
            return store.scores
        parts: list[PartStore | None] = [None] * len(splits)
        if store is not None:
            parts = [store.part(str(fold), sizes, largest) for fold in range(len(splits))]
        runs = list(zip(splits, parts, strict=True))
        n_jobs = min(effective_n_jobs(n_jobs), len(splits))
        with _same_bits(fast=False):  # of the process; threads share it
            if self.model is None or self.model.uses_python:
                calls = (joblib.delayed(_on_fold)(self, *run, sizes, largest) for run in runs)
                found = in_processes(calls, n_jobs)
            else:  # loops that leave Python's lock, and the table need not be copied
                found = self._in_threads(runs, sizes, largest, n_jobs)
        scores = np.array(found, dtype=np.float64)
        if store is not None:
            store.take_scores(scores)
        return scores

    def _in_threads(
        self,
        runs: list[tuple[Split, PartStore | None]],
        sizes: list[int],
        largest: int,
        n_jobs: int,
    ) -> list[NDArray[np.float64]]:
        """Eliminate on folds in threads, all of which have ended whatever ends this."""
        stop = Event()
        with ThreadPoolExecutor(n_jobs) as pool:
            begun = [pool.submit(_on_fold, self, *run, sizes, largest, stop) for run in runs]
            try:
                return [run.result() for run in begun]
            except BaseException:
                # A thread that is in a kernel while the process ends takes it down.
                stop.set()
                raise

    def _eliminate(
        self,
        split: Split,
        sizes: list[int],
        largest: int,
        part: PartStore | None,
        stop: Event | None = None,
    ) -> Eliminated:
        """Eliminate on one training part, from where its file says that it has come."""
        begin = None if part is None else part.load()
        if isinstance(begin, Eliminated):
            return begin
        with nullcontext() if part is None else part.written():
            found = eliminate(
                self._machine(split),
                sizes,
                forced=self.forced,
                largest_scored=largest,
                stop=stop,
                begin=begin,
                keep=None if part is None else part.keep,
            )
        if part is not None:
            part.finish(found)
        return found

    def tell_cost(self, sizes: list[int], n_runs: int, n_jobs: int | None) -> None:
        """Say what the fits will take, before they begin, where they are many.

        Warns
        -----
        UserWarning
            Where it is a minute or more.
        """
        n_fits = n_runs * len(sizes)
        slow = self.model is None or self.model.uses_python
        if n_fits < (_MANY_FITS if slow else _MANY_OF_KERNELS):
            return
        workers = max(1, min(effective_n_jobs(n_jobs), n_runs))
        if self.model is None:
            seconds = seconds_of(self._fit_columns)
            total = seconds * n_runs * sum(sizes) / sizes[0] / workers
            who = (
                f"no kernel serves this estimator ({self.reason}): {n_fits:,} fits by scikit-learn"
            )
        else:
            seconds = self._seconds_of_a_step()
            total = seconds * n_fits / workers  # a solve takes as long with few features
            who = f"kernel {self.model.kernel!r}: {n_fits:,} fits"
            who += " of a small matrix by scikit-learn" if slow else ""
        text = (
            f"{who}, the first {seconds:.2g} s, about {duration(total)} in all; a larger step "
            "takes less"
        )
        say_cost(text, total, bound="about", stacklevel=4)

    def _fit_columns(self) -> None:
        options = {} if self.weights is None else {name_of_weights(self.estimator): self.weights}
        clone(self.estimator).fit(self.table.X[:, self.left], self.table.y, **options)

    def _seconds_of_a_step(self) -> float:
        with _same_bits(fast=True):
            machine = self._machine(self._everything)
            machine.fit()  # makes the matrix, which all later fits have
            return seconds_of(machine.fit)

    @property
    def _everything(self) -> Split:
        every = np.arange(self.table.n_samples)
        return every, every[:0]

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
    plan: Plan,
    split: Split,
    part: PartStore | None,
    sizes: list[int],
    largest: int,
    stop: Event | None = None,
) -> NDArray[np.float64]:
    python = plan.model is None or plan.model.uses_python
    with _same_bits(fast=plan.model is not None, limit=python):
        return plan._eliminate(split, sizes, largest, part, stop).scores


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
