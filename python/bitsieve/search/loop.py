"""A run between two iterations, how one is made, and how it is stored.

An iteration is whole or it never was: the state of a search is its state after the last tell, so a
run that is killed while its masks are being scored asks for the same masks again.
"""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checkpoint import CheckpointStore
from bitsieve._checks import check_int
from bitsieve._errors import TooFewEvaluations, duration
from bitsieve.masks import Masks
from bitsieve.search.choice import Choice, Choose, part_of
from bitsieve.search.final import Deadline, Final
from bitsieve.search.history import History
from bitsieve.search.iteration import Callback, Iteration
from bitsieve.search.limits import Limits
from bitsieve.search.progress import ProgressBar
from bitsieve.search.protocol import Fitness, Search
from bitsieve.search.recommended import Recommended
from bitsieve.search.remeasured import Remeasured
from bitsieve.search.result import RunResult
from bitsieve.search.scoring import Folds, Scorer, is_fresh

__all__ = ["Loop"]

logger = logging.getLogger("bitsieve")

_CHECKPOINT_PERIOD = 1.0  # seconds between two writings
_LONG_ITERATION = 10.0  # seconds of which the start of processes is no great part
_CHECKPOINT_SHARE = 10.0  # and at least so many times as long as the last writing took


class Loop:
    """State of a run between two iterations, and how to take one."""

    def __init__(
        self,
        search: Search,
        fitness: Fitness,
        key: int,
        folds: Folds,
        choose: Choose,
        limits: Limits,
        n_finalists: int,
        n_measurements: int,
        store: CheckpointStore | None,
    ) -> None:
        self.search = search
        self.key = key
        self.limits = limits
        self.store = store
        self.scorer = Scorer(fitness, key, folds)
        self.choice: Choice
        if choose == "recommended":
            self.choice = Recommended(search, self.scorer, n_finalists, n_measurements)
        else:
            self.choice = Remeasured(search, n_finalists, n_measurements)
        # Evaluations of the final measurement; a fitness of fixed folds alone has none.
        again = is_fresh(fitness) or callable(getattr(fitness, "resampled", None))
        self._n_final = self.choice.n_final if again else 0
        self.history = History()
        self.n_evaluations = 0
        self.stop_reason: dict[str, object] = {}
        self.resumed_at = 0
        self.evaluations_before = 0
        self.seconds_before = 0.0
        self.started = time.perf_counter()
        self._warm: tuple[float, int] | None = None  # when the first iteration of a session ended
        self._has_spoken = False
        self._is_whole = True  # False while an iteration is being made
        self._next_save = 0.0

    @property
    def seconds(self) -> float:
        return self.seconds_before + time.perf_counter() - self.started

    @property
    def cost(self) -> float:
        """Seconds an evaluation, without those of the first iteration where there are others."""
        now = time.perf_counter()
        since, before = self.started, self.evaluations_before
        if self._warm is not None and self.n_evaluations > self._warm[1]:
            since, before = self._warm
        elif self.n_evaluations == self.evaluations_before > 0:
            return self.seconds_before / self.evaluations_before
        return (now - since) / max(1, self.n_evaluations - before)

    @property
    def deadline(self) -> Deadline | None:
        """When the run is to end, final measurement included; None without ``max_time``."""
        if self.limits.max_time is None:
            return None
        return Deadline(self.started + self.limits.max_time - self.seconds_before, self.cost)

    def _ahead(self, n_masks: int) -> float:
        """Seconds to keep for one more iteration and for the final measurement.

        The search leaves a quarter of the time to the measurement, or as much as that takes.
        """
        if self.limits.max_time is None:
            return 0.0
        cost = self.cost
        return cost * n_masks + min(cost * self._n_final, 0.25 * self.limits.max_time)

    def _tell_how_long(self, n_masks: int, bar: ProgressBar) -> None:
        """Say once what the whole run will take: after a second, and two iterations or a long one.

        The first one starts processes and wakes threads: short, it tells little of the others.
        """
        elapsed = time.perf_counter() - self.started
        if self._has_spoken or elapsed < 1.0:
            return
        is_first = self._warm is not None and self._warm[1] == self.n_evaluations
        if is_first and elapsed < _LONG_ITERATION:
            return
        self._has_spoken = True
        limits, cost = self.limits, self.cost
        rest: list[float] = []
        if limits.max_iter is not None:
            rest.append(cost * n_masks * (limits.max_iter - len(self.history)))
        if limits.max_evaluations is not None:
            rest.append(cost * (limits.max_evaluations - self.n_evaluations))
        total = elapsed + min(rest) + cost * self._n_final if rest else float("inf")
        if limits.max_time is not None:
            total = min(total, elapsed + limits.max_time - self.seconds)
        bound, left = "at most", getattr(self.search, "evaluations_left", None)
        if left is not None:
            n_left, kind = left()
            own = elapsed + cost * (n_left + self._n_final)
            if total == float("inf") or (kind != "at least" and own < total):
                total, bound = own, kind
        if total == float("inf"):
            return
        about = "about" if bound == "about" else f"{bound} about"
        text = f"{about} {duration(total)} for this search"
        logger.info(text, extra={"search_seconds": total, "search_bound": bound})
        bar.say(text)

    # -- iterations ----------------------------------------------------------------------------

    def iterate_until_stopped(self, callbacks: tuple[Callback, ...], bar: ProgressBar) -> None:
        n_masks = 0
        while True:
            reasons = self._reasons(n_masks)
            if reasons:
                break
            masks = self.search.ask()
            n_masks = len(masks)
            limit = self.limits.max_evaluations
            if limit is not None and self.n_evaluations + len(masks) > limit:
                if not len(self.history):
                    raise TooFewEvaluations(f"max_evaluations={limit}", len(masks))
                reasons = {"max_evaluations": int(limit)}
                break
            iteration = self._take(masks, bool(callbacks))
            reasons = self._call(callbacks, iteration) if iteration is not None else {}
            now = time.perf_counter()
            if self._warm is None:
                self._warm = (now, self.n_evaluations)
            if not self._has_spoken:
                self._tell_how_long(n_masks, bar)
            if self.store is not None and now >= self._next_save:
                self.save(None)
            if bar.is_due(now):
                self._draw(bar)
            if reasons:
                break
        self.stop_reason = reasons

    def _reasons(self, n_masks: int) -> dict[str, object]:
        n = len(self.history)
        if n == 0:
            return {}
        reasons = self.limits.reached(
            iterations=n,
            evaluations=self.n_evaluations,
            seconds=self.seconds + (self._ahead(n_masks) if n > self.resumed_at else 0.0),
            stalled=n - 1 - self.choice.best_iteration,
        )
        reasons.update(self.search.stop())
        return reasons

    def _take(self, masks: Masks, wants_iteration: bool) -> Iteration | None:
        iteration = len(self.history)
        scores = self.scorer.score(masks, iteration, self.n_evaluations)
        choice = self.choice
        choice.look(scores)

        self._is_whole = False
        self.search.tell(masks, scores)
        score, n_selected = choice.take(masks, scores, iteration, self.n_evaluations)
        self.n_evaluations += len(masks)
        best = choice.archive.best
        best_observed = float("nan") if best is None else best.best
        n_selected_best = 0 if best is None else best.n_selected
        seconds = self.seconds
        self.history.append(
            (
                iteration,
                self.n_evaluations,
                score,
                best_observed,
                n_selected,
                n_selected_best,
                seconds,
            )
        )
        self._is_whole = True
        if not wants_iteration:
            return None
        return Iteration(
            iteration=iteration,
            n_evaluations=self.n_evaluations,
            masks=masks,
            scores=scores,
            score=score,
            best_mask=None if best is None else choice.archive.masks([best]),
            best_observed=best_observed,
            n_selected=n_selected,
            n_selected_best=n_selected_best,
            seconds=seconds,
            recommended=choice.recommended,
        )

    @staticmethod
    def _call(callbacks: tuple[Callback, ...], iteration: Iteration) -> dict[str, object]:
        # All of them are called: none may miss an iteration because another one stops the run.
        answers = [callback(iteration) for callback in callbacks]
        for answer in answers:
            if answer:
                return {"callback": answer if isinstance(answer, str) else True}
        return {}

    def _draw(self, bar: ProgressBar) -> None:
        best = self.choice.archive.best
        elapsed = self.seconds - self.seconds_before
        bar.draw(
            iterations=len(self.history),
            evaluations=self.n_evaluations,
            seconds=self.seconds,
            best=float("nan") if best is None else best.best,
            n_selected=0 if best is None else best.n_selected,
            speed=(self.n_evaluations - self.evaluations_before) / max(elapsed, 1e-9),
        )

    # -- checkpoints ---------------------------------------------------------------------------

    def save(self, final: Final | None) -> None:
        """Write what there is; in the midst of an iteration nothing, the last file stays."""
        if self.store is None or not self._is_whole or not len(self.history):
            return
        began = time.perf_counter()
        arrays: dict[str, NDArray[Any]] = {}
        scalars: dict[str, Any] = {}
        for name, value in self.search.state().items():
            if isinstance(value, np.ndarray):
                arrays[f"search/{name}"] = value
            else:
                scalars[name] = value.item() if isinstance(value, np.generic) else value
        arrays.update((f"history/{k}", v) for k, v in self.history.arrays().items())
        arrays.update(self.choice.state())
        meta: dict[str, Any] = {
            "seed": self.key,
            "search": scalars,
            "n_evaluations": self.n_evaluations,
            "best_iteration": self.choice.best_iteration,
            "seconds": self.seconds,
        }
        if final is not None:
            meta["limits"] = self.limits.as_dict()
            meta["stop_reason"] = self.stop_reason
            meta["best_score"] = final.best_score
            meta["n_final_evaluations"] = final.n_evaluations
            meta["final_cut"] = final.cut
            arrays["final/order"] = np.array(final.order, np.int64)
            arrays["final/measured"] = np.array([f.measured_score for f in final.finalists])
        self.store.save(meta, arrays)
        ended = time.perf_counter()
        self._next_save = ended + max(_CHECKPOINT_PERIOD, _CHECKPOINT_SHARE * (ended - began))

    def restore(
        self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], has_callbacks: bool
    ) -> Final | None:
        """Go on from a file; the final measurement if it ended under these same limits.

        A run that a callback stopped has ended only for a caller who has callbacks too.

        A file that has gone beyond these limits is left alone: the run begins anew, from the
        same key, and gives what it would have given without the file. All of its iterations are in
        the file already, so nothing is written.
        """
        history = part_of(arrays, "history")
        self.history.set_arrays(history)
        if self.limits.outrun_by(history):
            assert self.store is not None
            warnings.warn(
                f"checkpoint {self.store.path} holds {len(history['iteration'])} iterations, more "
                "than these limits allow; this run begins anew and leaves the file alone",
                RuntimeWarning,
                stacklevel=3,
            )
            self.store = None
            self.history = History()
            return None
        self.search.set_state({**meta["search"], **part_of(arrays, "search")})
        self.choice.set_state(arrays, float(history["score"][-1]))
        self.n_evaluations = self.evaluations_before = check_int(
            "n_evaluations", meta["n_evaluations"], 1
        )
        self.choice.best_iteration = check_int("best_iteration", meta["best_iteration"], -1)
        self.seconds_before = float(meta["seconds"])
        self.resumed_at = len(self.history)
        self._check_restored(history)
        self._next_save = time.perf_counter() + _CHECKPOINT_PERIOD
        if meta.get("limits") != self.limits.as_dict():
            return None
        if "callback" in meta["stop_reason"] and not has_callbacks:
            return None
        self.stop_reason = dict(meta["stop_reason"])
        n_evaluations = check_int("n_final_evaluations", meta["n_final_evaluations"], 0)
        best_score, cut = float(meta["best_score"]), meta.get("final_cut")
        return self.choice.restored(arrays, best_score, n_evaluations, cut)

    def _check_restored(self, history: Mapping[str, NDArray[Any]]) -> None:
        """Whether the parts of a file speak of one run."""
        archive = self.choice.archive
        best, entries = archive.best, archive.ranked(archive.capacity)
        newest = [entry.iteration for entry in entries]
        newest += [] if best is None else [best.iteration]
        score = history["best_observed"][-1] if len(self.history) else float("nan")
        if not (
            len(self.history) > 0
            and self.n_evaluations == history["n_evaluations"][-1]
            and self.choice.best_iteration == (-1 if best is None else best.iteration)
            and (np.isnan(score) if best is None else score == best.best)
            and max(newest, default=-1) < len(self.history)
            and self.seconds_before >= history["seconds"][-1]
            and math.isfinite(self.seconds_before)
        ):
            raise ValueError("history, archive and counts do not belong together")

    # -- results -------------------------------------------------------------------------------

    def partial_result(self) -> RunResult | None:
        final = self.choice.unmeasured() if len(self.history) else None
        if final is None:
            return None
        self.stop_reason = {"interrupted": True}
        return self.result(final)

    def result(self, final: Final) -> RunResult:
        best = self.choice.archive.best
        assert best is not None
        written = self.store is not None and not self.store.failed
        return RunResult(
            mask=final.finalists[0].mask,
            best_score=final.best_score,
            best_observed_score=best.best,
            n_evaluations=self.n_evaluations,
            n_final_evaluations=final.n_evaluations + self.choice.n_scored,
            n_iterations=len(self.history),
            history=self.history.arrays(),
            finalists=final.finalists,
            seed=self.key,
            stop_reason=self.stop_reason,
            seconds=self.seconds,
            resumed_at=self.resumed_at,
            checkpoint=str(self.store.path) if self.store is not None and written else None,
            final_cut=final.cut,
        )
