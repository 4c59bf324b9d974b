"""A run between two turns, how a turn is taken, and how it is stored.

A turn is whole or it never was: the state of a search is its state after the last tell, so a run
that is killed while its masks are being scored asks for the same masks again.
"""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import whole
from bitsieve._errors import duration
from bitsieve.masks import Masks
from bitsieve.search.archive import Archive
from bitsieve.search.checkpoint import CheckpointStore
from bitsieve.search.final import Deadline, Final, unmeasured
from bitsieve.search.history import History
from bitsieve.search.limits import Limits
from bitsieve.search.progress import ProgressBar
from bitsieve.search.protocol import Fitness, Scores, Search
from bitsieve.search.result import RunResult
from bitsieve.search.scoring import Folds, Scorer, is_fresh
from bitsieve.search.turn import Callback, Turn

__all__ = ["Loop"]

logger = logging.getLogger("bitsieve")

_CHECKPOINT_PERIOD = 1.0  # seconds between two writings
_CHECKPOINT_SHARE = 10.0  # and at least so many times as long as the last writing took
_ARCHIVE_FACTOR = 4  # masks remembered for each finalist


class Loop:
    """State of a run between two turns, and how to take one."""

    def __init__(
        self,
        search: Search,
        fitness: Fitness,
        key: int,
        folds: Folds,
        limits: Limits,
        n_finalists: int,
        n_measurements: int,
        store: CheckpointStore | None,
    ) -> None:
        self.search = search
        self.key = key
        self.limits = limits
        self.n_finalists = n_finalists
        # Evaluations of the final measurement; a fitness of fixed folds alone has none.
        again = is_fresh(fitness) or callable(getattr(fitness, "resampled", None))
        self._n_final = (n_finalists + 1) * n_measurements if again else 0
        self.store = store
        self.scorer = Scorer(fitness, key, folds)
        self.archive = Archive(_ARCHIVE_FACTOR * n_finalists, search.n_features)
        self.history = History()
        self.n_evaluations = 0
        self.best_iteration = -1
        self.stop_reason: dict[str, object] = {}
        self.resumed_at = 0
        self.evaluations_before = 0
        self.seconds_before = 0.0
        self.started = time.perf_counter()
        self._warm: tuple[float, int] | None = None  # when the first turn of a session ended
        self._has_spoken = False
        self._is_whole = True  # False while a turn is being taken
        self._next_save = 0.0

    @property
    def seconds(self) -> float:
        return self.seconds_before + time.perf_counter() - self.started

    @property
    def cost(self) -> float:
        """Seconds an evaluation, without those of the first turn where there are others."""
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
        """Seconds to keep for one more turn and for the final measurement.

        The search leaves a quarter of the time to the measurement, or as much as that takes.
        """
        if self.limits.max_time is None:
            return 0.0
        cost = self.cost
        return cost * n_masks + min(cost * self._n_final, 0.25 * self.limits.max_time)

    def _tell_how_long(self, n_masks: int, bar: ProgressBar) -> None:
        """Say once, after the first turn and the first second, what the whole run will take."""
        elapsed = time.perf_counter() - self.started
        if self._has_spoken or elapsed < 1.0:
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
        if total == float("inf"):
            return
        text = f"at most about {duration(total)} for this search"
        logger.info(text, extra={"search_seconds": total})
        bar.say(text)

    # -- turns ---------------------------------------------------------------------------------

    def turn_until_stopped(self, callbacks: tuple[Callback, ...], bar: ProgressBar) -> None:
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
                    raise ValueError(
                        f"max_evaluations={limit} is fewer than the {len(masks)} masks of one "
                        "iteration"
                    )
                reasons = {"max_evaluations": int(limit)}
                break
            turn = self._take(masks, bool(callbacks))
            reasons = self._call(callbacks, turn) if turn is not None else {}
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
            stalled=n - 1 - self.best_iteration,
        )
        reasons.update(self.search.stop())
        return reasons

    def _take(self, masks: Masks, wants_turn: bool) -> Turn | None:
        iteration = len(self.history)
        scores = self.scorer.score(masks, iteration, self.n_evaluations)
        candidates = self._candidates(scores, self.search.eligible())

        self._is_whole = False
        self.search.tell(masks, scores)
        score, n_selected = float("nan"), 0
        counts = None if masks.is_compact else masks.counts()
        for rank, i in enumerate(candidates):
            mask, row = (masks, i) if counts is not None else (masks[i], 0)
            count = int(counts[i] if counts is not None else mask.counts()[0])
            value = float(scores[i])
            if rank == 0:
                score, n_selected = value, count
            if count == 0:
                continue  # an empty mask is no selection
            if self.archive.add(mask.key(row), value, count, iteration, self.n_evaluations + i):
                self.best_iteration = iteration
        self.n_evaluations += len(masks)
        best = self.archive.best
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
        if not wants_turn:
            return None
        return Turn(
            iteration=iteration,
            n_evaluations=self.n_evaluations,
            masks=masks,
            scores=scores,
            score=score,
            best_mask=None if best is None else self.archive.masks([best]),
            best_observed=best_observed,
            n_selected=n_selected,
            n_selected_best=n_selected_best,
            seconds=seconds,
        )

    def _candidates(self, scores: Scores, eligible: NDArray[np.bool_]) -> list[int]:
        """The eligible masks that can matter, the best first; ties to the lowest index."""
        rows = np.flatnonzero(eligible)
        if len(rows) == 1:
            return [int(rows[0])]
        order = np.argsort(-scores[rows], kind="stable")[: self.archive.capacity]
        best_first: list[int] = rows[order].tolist()
        return best_first

    @staticmethod
    def _call(callbacks: tuple[Callback, ...], turn: Turn) -> dict[str, object]:
        # All of them are called: none may miss an iteration because another one stops the run.
        answers = [callback(turn) for callback in callbacks]
        for answer in answers:
            if answer:
                return {"callback": answer if isinstance(answer, str) else True}
        return {}

    def _draw(self, bar: ProgressBar) -> None:
        best = self.archive.best
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
        """Write what there is; in the midst of a turn nothing, the last file stays."""
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
        arrays.update((f"archive/{k}", v) for k, v in self.archive.state().items())
        meta: dict[str, Any] = {
            "seed": self.key,
            "search": scalars,
            "n_evaluations": self.n_evaluations,
            "best_iteration": self.best_iteration,
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
        same key, and gives what it would have given without the file. All of its turns are in the
        file already, so nothing is written.
        """
        history = _part(arrays, "history")
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
        self.search.set_state({**meta["search"], **_part(arrays, "search")})
        self.archive.set_state(_part(arrays, "archive"))
        self.n_evaluations = self.evaluations_before = whole(
            "n_evaluations", meta["n_evaluations"], 1
        )
        self.best_iteration = whole("best_iteration", meta["best_iteration"], -1)
        self.seconds_before = float(meta["seconds"])
        self.resumed_at = len(self.history)
        self._check_restored(history)
        self._next_save = time.perf_counter() + _CHECKPOINT_PERIOD
        if meta.get("limits") != self.limits.as_dict():
            return None
        if "callback" in meta["stop_reason"] and not has_callbacks:
            return None
        self.stop_reason = dict(meta["stop_reason"])
        stored = _part(arrays, "final")
        ranked = unmeasured(self.archive, self.n_finalists).finalists
        cut = meta.get("final_cut")
        if not (cut is None or isinstance(cut, str)):
            raise ValueError(f"final_cut is {cut!r}")
        order: list[int] = stored["order"].tolist()
        # A limit of time may have left out the last of them.
        is_whole = len(order) == len(ranked) if cut is None else 0 < len(order) <= len(ranked)
        if (
            not is_whole
            or sorted(order) != list(range(len(order)))
            or not np.isfinite(stored["measured"]).all()
        ):
            raise ValueError("the finalists are not those of the archive")
        finalists = [
            replace(ranked[place], measured_score=float(score))
            for place, score in zip(order, stored["measured"], strict=True)
        ]
        best_score = float(meta["best_score"])
        n_evaluations = whole("n_final_evaluations", meta["n_final_evaluations"], 0)
        if not math.isfinite(best_score):
            raise ValueError(f"best_score is {best_score}")
        return Final(finalists, order, best_score, n_evaluations, cut)

    def _check_restored(self, history: Mapping[str, NDArray[Any]]) -> None:
        """Whether the parts of a file speak of one run."""
        best, entries = self.archive.best, self.archive.ranked(self.archive.capacity)
        newest = [entry.iteration for entry in entries]
        newest += [] if best is None else [best.iteration]
        score = history["best_observed"][-1] if len(self.history) else float("nan")
        if not (
            len(self.history) > 0
            and self.n_evaluations == history["n_evaluations"][-1]
            and self.best_iteration == (-1 if best is None else best.iteration)
            and (np.isnan(score) if best is None else score == best.best)
            and max(newest, default=-1) < len(self.history)
            and self.seconds_before >= history["seconds"][-1]
            and math.isfinite(self.seconds_before)
        ):
            raise ValueError("history, archive and counts do not belong together")

    # -- results -------------------------------------------------------------------------------

    def partial_result(self) -> RunResult | None:
        if self.archive.best is None or not len(self.history):
            return None
        self.stop_reason = {"interrupted": True}
        return self.result(unmeasured(self.archive, self.n_finalists))

    def result(self, final: Final) -> RunResult:
        best = self.archive.best
        assert best is not None
        written = self.store is not None and not self.store.failed
        return RunResult(
            mask=final.finalists[0].mask,
            best_score=final.best_score,
            best_observed_score=best.best,
            n_evaluations=self.n_evaluations,
            n_final_evaluations=final.n_evaluations,
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


def _part(arrays: Mapping[str, NDArray[Any]], room: str) -> dict[str, NDArray[Any]]:
    prefix = f"{room}/"
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
