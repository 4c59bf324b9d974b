"""A search over units is the search itself, seen through masks of features."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest
from each import each
from toys import Planted
from unit_searches import Forward, Moves, around

from bitsieve import Masks
from bitsieve.search import BinarySPSASearch, RecommendingSearch, SeededSearch, UnitSearch, run
from bitsieve.testing import check_search


def widened(units: np.ndarray, unit_of: np.ndarray, forced: np.ndarray) -> np.ndarray:
    """The twin: a feature is in where its unit is, or where it is forced."""
    wide = np.zeros((len(units), len(unit_of)), dtype=bool)
    for f, unit in enumerate(unit_of):
        wide[:, f] = forced[f] if unit < 0 else units[:, unit]
    return wide


def spaces() -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p = int(rng.choice([1, 2, 3, 63, 64, 65, 130, 200]))
        m = int(rng.integers(1, p + 1)) if seed % 3 else p  # every third: no groups
        unit_of = rng.integers(-1 if seed % 2 else 0, m, p) if m < p else np.arange(p)
        drawn = np.unique(unit_of[unit_of >= 0])
        unit_of = np.where(unit_of < 0, -1, np.searchsorted(drawn, unit_of))
        if not len(drawn):
            unit_of[0] = 0
        if m == p and seed % 2 and p > 2:  # a feature each, and some are fixed
            unit_of = np.full(p, -1)
            free = np.sort(rng.permutation(p)[: max(1, p // 2)])
            unit_of[free] = np.arange(len(free)) if seed % 4 == 1 else rng.permutation(len(free))
        found.append((unit_of, (unit_of < 0) & (rng.random(p) < 0.5)))
    return found


class Asks:
    """Hands out what it is told to."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features


def test_masks_are_those_of_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    for cells in (1 << 24, 100):  # all at once, and a mask or a few at a time
        monkeypatch.setattr("bitsieve.search.units._CELLS", cells)
        for number, (unit_of, forced) in enumerate(spaces()):
            m = int(unit_of.max()) + 1
            rng = np.random.default_rng(number)
            search = UnitSearch(Asks(m), unit_of, forced)  # type: ignore[arg-type]
            units = rng.random((int(rng.integers(0, 9)), m)) < 0.4
            dense = search.widen(Masks.from_bool(units))
            np.testing.assert_array_equal(dense.to_bool(), widened(units, unit_of, forced))
            assert dense == Masks.from_bool(dense.to_bool())  # no bit past the last feature
            base = rng.random(m) < 0.5
            near = search.widen(Masks.neighbors(base, m))
            assert near.is_compact
            flipped = base ^ np.eye(m, dtype=bool)
            np.testing.assert_array_equal(near.to_bool(), widened(flipped, unit_of, forced))
            ends = np.r_[0, np.cumsum(rng.integers(0, 4, 6))]
            moves = Masks.from_flips(base, ends, rng.integers(0, m, ends[-1]))
            moved = search.widen(moves)
            assert moved.is_compact
            np.testing.assert_array_equal(
                moved.to_bool(), widened(moves.to_bool(), unit_of, forced)
            )
            np.testing.assert_array_equal(moved.counts(), moved.to_bool().sum(axis=1))


class Agreement:
    """A fitness of units and of features alike: how many units are as planted."""

    resample = False

    def __init__(self, truth: np.ndarray, first: np.ndarray) -> None:
        self.truth, self.first = truth, first  # the first feature of each unit
        self.n_features = len(truth)

    def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
        units = masks.to_bool()[:, self.first]
        return (units == self.truth[self.first]) @ np.linspace(1.0, 2.0, len(self.first))


@each("units", ["all", "fixed", "groups"])
def test_it_walks_as_the_inner_search_alone(units: str) -> None:
    for kind, choose in ((BinarySPSASearch, "remeasured"), (Forward, "recommended"),
                         (Moves, "remeasured")):  # fmt: skip
        search = around(kind, 67, units)
        unit_of, forced = np.array(search.state()["units/unit_of"]), search._forced
        m = search.n_units
        first = np.array([np.flatnonzero(unit_of == u)[0] for u in range(m)])
        truth = np.arange(67) % 3 == 1
        options: dict[str, Any] = {"max_iter": 40, "random_state": 5, "choose": choose}
        wide = run(search, Agreement(truth, first), **options)
        bare = run(kind(m), Agreement(truth[first], np.arange(m)), **options)
        np.testing.assert_array_equal(wide.history["score"], bare.history["score"])
        np.testing.assert_array_equal(wide.support, widened(bare.support[None], unit_of, forced)[0])
        assert wide.stop_reason == bare.stop_reason
        assert wide.n_evaluations == bare.n_evaluations
        for a, b in zip(wide.finalists, bare.finalists, strict=True):
            np.testing.assert_array_equal(
                a.mask.to_bool(), widened(b.mask.to_bool(), unit_of, forced)
            )


@pytest.mark.parametrize("units", ["all", "fixed", "groups"])
@pytest.mark.parametrize("kind", [BinarySPSASearch, Forward, Moves])
def test_keeps_the_contract(kind: Any, units: str) -> None:
    variants = [partial(around, kind, units=other) for other in {"fixed", "groups"} - {units}]
    variants.append(lambda p: around(kind, p, units, **_OTHER[kind]))
    check_search(partial(around, kind, units=units), variants=variants)


_OTHER: dict[Any, dict[str, Any]] = {
    BinarySPSASearch: {"c": 0.06}, Forward: {"size": 2}, Moves: {"n_moves": 4},
}  # fmt: skip


def test_it_offers_what_the_inner_search_offers() -> None:
    spsa, forward, moves = (around(kind, 9, "fixed") for kind in (BinarySPSASearch, Forward, Moves))
    assert isinstance(spsa, SeededSearch)
    assert isinstance(moves, SeededSearch)
    assert isinstance(forward, RecommendingSearch)
    assert not isinstance(forward, SeededSearch)
    assert not isinstance(spsa, RecommendingSearch)
    assert not hasattr(forward, "feature_scores")
    assert not spsa.stops_itself
    assert forward.stops_itself
    assert not moves.stops_itself
    silent = BinarySPSASearch(4)
    silent.feature_scores = None  # type: ignore[method-assign, assignment]
    assert not hasattr(UnitSearch(silent, np.arange(4)), "feature_scores")
    for made in (copy.deepcopy(forward), pickle.loads(pickle.dumps(forward))):
        masks = made.ask()
        made.tell(masks, np.arange(len(masks)))
        assert made.inner.mask.sum() == made.recommend().counts()[0] - 1 == 1
    assert forward.inner.mask.sum() == 0  # type: ignore[attr-defined]


def test_features_are_weighed_as_their_units_forced_ones_most() -> None:
    search = around(BinarySPSASearch, 10, "groups")
    run(search, Planted(np.arange(10) < 5), max_iter=30, random_state=0)
    scores, inner = search.feature_scores(), search.inner.feature_scores()  # type: ignore[attr-defined]
    unit_of = np.array(search.state()["units/unit_of"])
    free = unit_of >= 0
    np.testing.assert_array_equal(scores[free], inner[unit_of[free]])
    assert scores[5] > inner.max()
    assert scores[9] < inner.min()


def test_checkpoints_of_other_units_and_other_searches_are_others() -> None:
    states = [around(kind, 9, units).state() for kind in (Forward, Moves)
              for units in ("all", "fixed", "groups")]  # fmt: skip
    seen = {repr(sorted((k, np.asarray(v).tobytes()) for k, v in s.items())) for s in states}
    assert len(seen) == 6
    search = around(Forward, 9, "fixed")
    for state, what in zip(states, ("unit_of", None, "unit_of", "search", "search", "search"),
                           strict=True):  # fmt: skip
        if what is None:
            search.set_state(state)
            continue
        with pytest.raises(ValueError, match=f"search over units with another {what}"):
            search.set_state(state)
    with pytest.raises(ValueError, match="the state lacks units/search"):
        search.set_state(Forward(7).state())


def test_a_tell_needs_the_masks_of_the_last_ask() -> None:
    search = around(Moves, 9, "fixed")
    scores = np.zeros(5)
    with pytest.raises(ValueError, match="tell needs the masks of an ask before it"):
        search.tell(Masks.full(9), scores)
    masks = search.ask()
    for other in (masks[:4], masks[::-1], Masks.neighbors(masks[0].to_bool()[0], 9, range(5))):
        with pytest.raises(ValueError, match="tell needs the masks of the last ask"):
            search.tell(other, scores)
    search.tell(Masks.from_bool(masks.to_bool()), scores)
    with pytest.raises(ValueError, match="tell needs the masks of an ask before it"):
        search.tell(masks, scores)


@each(
    ("unit_of", "forced", "said"),
    [
        ([[0, 1]], None, "unit_of must be whole numbers of shape"),
        ([], None, "unit_of must be whole numbers of shape"),
        ([0.0, 1.0], None, "unit_of must be whole numbers of shape"),
        ([0, 2, 3], None, "each unit from 0 to 1 of the inner search"),
        ([0, 0], None, "each unit from 0 to 1 of the inner search"),
        ([0, 1, 2], None, "each unit from 0 to 1 of the inner search"),
        ([0, 1, -2], None, "each unit from 0 to 1 of the inner search"),
        ([0, 1, -1], [0, 0, 1], r"forced must be boolean of shape \(3,\)"),
        ([0, 1, -1], [True], r"forced must be boolean of shape \(3,\)"),
        ([0, 1, -1], [False, True, True], "feature 1 is forced, so it can be in no unit"),
    ],
)
def test_units_that_cannot_be(unit_of: Any, forced: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        UnitSearch(Forward(2), unit_of, forced)


def test_masks_of_another_number_of_units_are_refused() -> None:
    with pytest.raises(ValueError, match="Forward is over 2 units, but its masks have 3"):
        UnitSearch(Forward(2), [0, 1, -1]).widen(Masks.full(3))


def test_errors_of_a_run_name_the_search_within() -> None:
    units, fitness = [0, 1, 1, 2], Planted([True, False, False, True])
    with pytest.raises(ValueError, match=r"^Moves never stops by itself: give max_iter"):
        run(UnitSearch(Moves(3), units), fitness)
    with pytest.raises(ValueError, match="which BinarySPSASearch has not"):
        run(UnitSearch(BinarySPSASearch(3), units), fitness, max_iter=2, choose="recommended")

    class Mute(Forward):
        def recommend(self) -> Any:
            return None

    with pytest.raises(ValueError, match=r"^Mute.recommend\(\) must return Masks"):
        run(UnitSearch(Mute(3), units), fitness, max_iter=2, choose="recommended")


def test_a_million_features_in_bounded_memory() -> None:
    p = 1_000_000
    unit_of = np.where(np.arange(p) % 1000 == 7, -1, np.arange(p))
    unit_of[unit_of >= 0] = np.arange((unit_of >= 0).sum())
    single = UnitSearch(Asks(int(unit_of.max()) + 1), unit_of)  # type: ignore[arg-type]
    pairs = UnitSearch(Asks(p // 2), np.arange(p) // 2)  # type: ignore[arg-type]
    tracemalloc.start()
    try:
        for search in (single, pairs):
            m = search.n_units
            near = search.widen(Masks.neighbors(np.arange(m) % 2 == 0, m))
            assert near.is_compact  # m x p bits would be 125 GB
            assert len(near) == m
            batch = search.widen(Masks.from_words(np.zeros((200, -(-m // 64)), np.uint64), m))
            assert batch.counts().tolist() == [0] * 200
            del near, batch
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200e6, f"{peak / 1e6:.0f} MB"
