"""The answer of a run is the search's own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int
from bitsieve.masks import Masks
from bitsieve.search.archive import Archive, Entry
from bitsieve.search.choice import Choice, part_of
from bitsieve.search.final import Deadline, Final, measure_first
from bitsieve.search.protocol import Fitness, RecommendingSearch, Scores, Search
from bitsieve.search.scoring import Scorer
from bitsieve.search.units import name_of

__all__ = ["Recommended"]


class Recommended(Choice):
    """What the search recommends counts, and its last recommendation is the answer.

    The score of a recommendation is the one that the search was told in this iteration, or before
    while it has been recommending the same mask. A mask that it recommends from elsewhere is
    scored for this, on the folds of the iteration.
    """

    def __init__(
        self,
        search: Search,
        scorer: Scorer,
        n_finalists: int,
        n_measurements: int,
    ) -> None:
        super().__init__(search, n_finalists, n_measurements)
        assert isinstance(search, RecommendingSearch)
        self._recommend = search.recommend
        self._scorer = scorer
        self._mask: Masks | None = None
        self._n_selected = 0  # of the mask
        self._score = float("nan")
        self._own = self._no_answer()  # the mask and its score, if it has features

    def _no_answer(self) -> Archive:
        return Archive(1, self.search.n_features)

    @property
    def n_final(self) -> int:
        return self.n_measurements

    @property
    def recommended(self) -> Masks | None:
        return self._mask

    def _ask(self) -> Masks | None:
        answer = self._recommend()
        if not isinstance(answer, Masks) or len(answer) > 1:
            raise ValueError(
                f"{name_of(self.search)}.recommend() must return Masks, a batch of one or of "
                f"none, got {answer!r}"
            )
        if answer.n_features != self.search.n_features:
            raise ValueError(
                f"{name_of(self.search)}.recommend() must return a mask of "
                f"{self.search.n_features} features, got {answer.n_features}"
            )
        return answer if len(answer) else None

    def look(self, scores: Scores) -> None:
        pass

    def take(
        self, masks: Masks, scores: Scores, iteration: int, evaluation: int
    ) -> tuple[float, int]:
        mask, before = self._ask(), self._mask
        if mask is None:
            self._mask, self._score, self._own = None, float("nan"), self._no_answer()
            return self._score, 0
        is_same = before is not None and mask == before
        if not is_same:
            self._n_selected = int(mask.counts()[0])
        n_selected = self._n_selected
        place = masks.find(mask)
        if place < 0 and is_same:
            return self._score, n_selected
        if place >= 0:
            score = float(scores[place])
        else:
            place = len(masks) - 1
            score = float(self._scorer.score(mask, iteration, evaluation + len(masks))[0])
            self.n_scored += 1
        own = self._own if is_same else self._no_answer()
        if n_selected > 0:  # an empty mask is no selection
            measurement = (mask.key(0), score, n_selected, iteration, evaluation + place)
            own.add(*measurement)
            self.add(*measurement)
        self._mask, self._score, self._own = mask, score, own
        return score, n_selected

    def entries(self) -> list[Entry]:
        own = self._own.ranked(1)
        if not own:
            return []
        remembered = self.archive.ranked(self.archive.capacity)
        first = [entry for entry in remembered if entry.key == own[0].key] or own
        others = [entry for entry in remembered if entry.key != own[0].key]
        return [*first, *others[: self.n_finalists - 1]]

    def measure(self, fitness: Fitness, key: int, deadline: Deadline | None) -> Final:
        return measure_first(
            self.archive, self.entries(), fitness, key, self.n_measurements, deadline
        )

    def nothing(self, n_evaluations: int) -> str:
        what = "no mask" if self._mask is None else "an empty mask"
        return (
            f"the search recommends {what} after {n_evaluations} evaluations: "
            "start it from a mask with features in it, or give it more iterations"
        )

    def state(self) -> dict[str, NDArray[Any]]:
        own = {f"recommended/{name}": array for name, array in self._own.state().items()}
        return {**super().state(), **own, "n_scored": np.array([self.n_scored])}

    def set_state(self, arrays: Mapping[str, NDArray[Any]], score: float) -> None:
        super().set_state(arrays, score)
        self.n_scored = check_int("n_scored", arrays["n_scored"][0], 0)
        self._own.set_state(part_of(arrays, "recommended"))
        self._mask, self._score = self._ask(), score
        own = self._own.ranked(1)
        count = self._n_selected = 0 if self._mask is None else int(self._mask.counts()[0])
        if (
            len(own) != min(count, 1)
            or (self._mask is None) != math.isnan(score)
            or (own and (own[0].key != self._mask.key(0) or own[0].best < score))  # type: ignore[union-attr]
        ):
            raise ValueError("what the search recommends is not what was recommended")

    def _could_measure(
        self, order: list[int], measured: NDArray[np.float64], n_ranked: int, cut: str | None
    ) -> bool:
        return (
            0 < len(order) == n_ranked
            and order == sorted(order)
            and math.isfinite(measured[0])
            and not np.isinf(measured).any()
        )
