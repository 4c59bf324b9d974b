"""Toys, each of which breaks a clause of the search contract."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np

from bitsieve import Masks, _core


class Flip:
    """Flips a feature that the seed draws, keeps what is better, counts what each one brought."""

    rate, stops_itself = 1, True

    def __init__(self, n_features: int, limit: int = 10**9) -> None:
        self.n_features, self.limit, self.seed = n_features, limit, 0
        self.mask = np.ones(n_features, dtype=bool)
        self.total = np.zeros(n_features)
        self.best, self.step = -1e300, 0

    def set_seed(self, seed: int) -> None:
        self.seed = seed

    def drawn(self) -> int:
        return int(_core.philox(self.seed, 1, self.step, 1)[0] % self.n_features)

    def ask(self) -> Masks:
        other = self.mask ^ (np.arange(self.n_features) == self.drawn())
        return Masks.from_bool(np.stack([self.mask, other]))

    def tell(self, masks: Masks, scores: Any) -> None:
        if len(scores) != 2:
            raise ValueError(f"two scores are expected, got {len(scores)}")
        asked = masks.to_bool()
        self.total[self.drawn()] += np.sign(scores[1] - scores[0])
        if scores[1] > scores[0]:
            self.mask = asked[1]
        self.best = max(self.best, float(max(scores)))
        self.step += 1

    def stop(self) -> dict[str, object]:
        return {"limit": self.limit} if self.step >= self.limit else {}

    def eligible(self) -> Any:
        return np.array([True, False])

    def recommend(self) -> Masks:
        return Masks.from_bool(self.mask)

    def feature_scores(self) -> Any:
        return self.total.copy()

    def state(self) -> dict[str, Any]:
        return {
            "limit": self.limit, "seed": self.seed, "mask": self.mask.copy(),
            "total": self.total.copy(), "best": self.best, "step": self.step,
        }  # fmt: skip

    def set_state(self, state: Any) -> None:
        self.seed, self.step, self.best = state["seed"], int(state["step"]), state["best"]
        self.mask, self.total = state["mask"].copy(), state["total"].copy()


class AsksWider(Flip):
    def ask(self) -> Masks:
        return Masks.from_bool(np.ones((2, self.n_features + 1), bool))


class AsksNothing(Flip):
    def ask(self) -> Masks:
        return super().ask()[:0]


class OneFlag(Flip):
    def eligible(self) -> Any:
        return np.array([True])


class AskMoves(Flip):
    def ask(self) -> Masks:
        self.step += 1
        return super().ask()


class TakesAnyNumber(Flip):
    def tell(self, masks: Masks, scores: Any) -> None:
        super().tell(masks, np.resize(scores, 2) if len(scores) else np.zeros(2))


class KnowsItsBatch(Flip):
    def ask(self) -> Masks:
        self.asked = super().ask()
        return self.asked

    def tell(self, masks: Masks, scores: Any) -> None:
        super().tell(masks, scores if masks is self.asked else -scores)


class ForgetsAField(Flip):
    def set_state(self, state: Any) -> None:
        super().set_state({**state, "total": self.total})


class ForgetsTheSeed(Flip):
    def set_state(self, state: Any) -> None:
        super().set_state({**state, "seed": self.seed})


class KeepsTheirState(Flip):
    def set_state(self, state: Any) -> None:
        super().set_state(state)
        self.mask = state["mask"]


class GivesItsOwn(Flip):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "mask": self.mask}


class WritesIntoScores(Flip):
    def tell(self, masks: Masks, scores: Any) -> None:
        super().tell(masks, scores)
        scores -= scores.max()


class StateOfMasks(Flip):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "last": None}


class NamesNoParameter(Flip):
    def state(self) -> dict[str, Any]:
        return {k: v for k, v in super().state().items() if k != "limit"}


class BeginsByChance(Flip):
    numbers = itertools.count()

    def __init__(self, n_features: int, limit: int = 10**9) -> None:
        super().__init__(n_features, limit)
        self.best = -float(next(self.numbers))


class IgnoresItsSeed(Flip):
    def set_seed(self, seed: int) -> None:
        pass


class DrawsFromAll(Flip):
    def ask(self) -> Masks:
        random.random()
        return super().ask()


class StopCounts(Flip):
    def stop(self) -> dict[str, object]:
        self.step += 1
        return {}


class StopsUnsaid(Flip):
    stops_itself = False

    def stop(self) -> dict[str, object]:
        return {"enough": 1} if self.step > 2 else {}


class AsksForMore(Flip):
    def evaluations_left(self) -> tuple[int, str]:
        return 3, "at most"


class SaysNoNumber(Flip):
    def evaluations_left(self) -> tuple[Any, str]:
        return None, "about"


class DividesByZero(Flip):
    def tell(self, masks: Masks, scores: Any) -> None:
        super().tell(masks, scores)
        with np.errstate(all="ignore"):
            self.total[0] += (scores[1] - scores[0]) / np.float64(np.ptp(scores))


class ScoresInFloat32(Flip):
    def feature_scores(self) -> Any:
        return self.total.astype(np.float32)


class ScoresOfItsPast(Flip):
    asked = 0

    def feature_scores(self) -> Any:
        self.asked += 1
        return self.total + self.asked


class RecommendsAll(Flip):
    def recommend(self) -> Masks:
        return self.ask()


class RecommendsItsPast(Flip):
    told = 0

    def tell(self, masks: Masks, scores: Any) -> None:
        super().tell(masks, scores)
        self.told += 1

    def recommend(self) -> Masks:
        return Masks.from_bool(np.arange(self.n_features) == self.told % self.n_features)


class ResumesElsewhere(Flip):
    def set_state(self, state: Any) -> None:
        super().set_state(state)
        self.step += self.step > 2


BROKEN_SEARCHES: dict[str, list[Any]] = {
    "asks_masks": [AsksWider, AsksNothing],
    "eligible_masks": [OneFlag],
    "ask_again": [AskMoves],
    "takes_scores_in_order": [TakesAnyNumber, KnowsItsBatch],
    "state_is_plain": [StateOfMasks],
    "state_repeats": [ForgetsAField, ForgetsTheSeed],
    "keeps_nothing_of_the_caller": [KeepsTheirState, GivesItsOwn, WritesIntoScores],
    "state_names_parameters": [NamesNoParameter, BeginsByChance],
    "same_seed_same_path": [IgnoresItsSeed],
    "leaves_global_generators": [DrawsFromAll],
    "stop_gives_reasons": [StopCounts, StopsUnsaid],
    "keeps_to_evaluations_left": [AsksForMore, SaysNoNumber],
    "takes_any_finite_scores": [DividesByZero],
    "feature_scores_are_of_the_state": [ScoresInFloat32, ScoresOfItsPast],
    "recommends_one_mask": [RecommendsAll, RecommendsItsPast],
    "resumes_from_a_checkpoint": [ResumesElsewhere],
}
