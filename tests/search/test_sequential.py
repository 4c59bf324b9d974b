"""SequentialSearch beside a plain twin, and what its options do."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.dummy import DummyClassifier
from twin_sequential import (
    Set,
    backward,
    best_of,
    floating_backward,
    floating_forward,
    forward,
    plus_l_minus_r,
    shrunk,
)

from bitsieve import Masks
from bitsieve.search import RunResult, SequentialSearch, run


class _Table:
    """A score for every mask of a few features, from a table; ties where it is coarse."""

    resample = False

    def __init__(self, n_features: int, seed: int, n_levels: int | None = None) -> None:
        self.n_features = n_features
        rng = np.random.default_rng(seed)
        values = rng.normal(size=2**n_features) + 0.3 * np.log2(2 + np.arange(2**n_features))
        if n_levels is not None:
            values = np.floor(values * n_levels) / n_levels
        self.values = values
        self.n_asked = 0

    def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
        self.n_asked += len(masks)
        return self.values[masks.to_bool() @ 2 ** np.arange(self.n_features)]

    def score(self, features: Set) -> float:
        return float(self.values[sum(2**f for f in features)])


class _Weights:
    """The sum of weights, of a compact batch without writing it down."""

    resample = False

    def __init__(self, weights: np.ndarray) -> None:
        self.n_features, self.weights = len(weights), weights

    def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
        if not masks.is_compact:
            return masks.to_bool() @ self.weights
        base = Masks.from_words(masks.base[None], self.n_features).to_bool()[0]
        sign = np.where(base[masks.indices], -1.0, 1.0)
        return float(base @ self.weights) + sign * self.weights[masks.indices]


def _walk(search: SequentialSearch, fitness: Any) -> list[Set]:
    """The masks that it came by, the start first."""
    found = [frozenset(np.flatnonzero(search.walked.start).tolist())]
    while not search.stop():
        masks = search.ask()
        before = len(search.walked.flips)
        search.tell(masks, fitness.evaluate(masks))
        if len(search.walked.flips) > before:
            now = search.walked.mask_after(len(search.walked.flips))
            found.append(frozenset(np.flatnonzero(now).tolist()))
    return found


def _run(fitness: Any, **options: Any) -> RunResult:
    search = SequentialSearch(fitness.n_features, **options)
    return run(search, fitness, choose="recommended", random_state=0, progress=False)


def _chosen(path: list[Set], score: Any, low: int, high: int) -> Set:
    """The best of the wanted sizes, of equal ones the smallest, of these the earliest."""
    wanted = [s for s in path if low <= len(s) <= high and len(s) > 0]
    return max(wanted, key=lambda s: (score(s), -len(s), -path.index(s)))


WAYS: dict[str, tuple[dict[str, Any], Any]] = {
    "forward": ({}, forward),
    "backward": ({"direction": "backward"}, backward),
    "floating forward": ({"floating": True}, floating_forward),
    "floating backward": ({"floating": True, "direction": "backward"}, floating_backward),
    "plus 3 minus 2": (
        {"plus_l_minus_r": (3, 2)},
        lambda score, p, size: plus_l_minus_r(score, p, size, 3, 2),
    ),
    "plus 4 minus 1": (
        {"plus_l_minus_r": (4, 1)},
        lambda score, p, size: plus_l_minus_r(score, p, size, 4, 1),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@each("n_levels", [None, 2])
@each("seed", range(20))
def test_goes_the_way_of_its_twin(way: str, seed: int, n_levels: int | None) -> None:
    options, twin = WAYS[way]
    table = _Table(8, seed, n_levels)
    for low, high in ((1, 8), (3, 3), (5, 7), (8, 8), (1, 1)):
        search = SequentialSearch(8, size=(low, high), **options)
        got = _walk(search, table)
        wanted = twin(table.score, 8, low if "direction" in options else high)
        assert got == wanted
        expected = _chosen(got, table.score, low, high)
        assert frozenset(search.recommend().indices_of(0).tolist()) == expected
        for size in search.walked.sizes():
            best = best_of([s for s in got if len(s) == size], table.score)
            assert frozenset(np.flatnonzero(search.walked.mask_of(size)).tolist()) == best
            assert search.walked.score_of(size, np.nan) == table.score(best)


def test_some_way_goes_back() -> None:
    """What the twin is compared on is not forward selection by another name."""
    backs = [
        sum(len(b) < len(a) for a, b in pairwise(path))
        for path in (floating_forward(_Table(8, seed).score, 8, 8) for seed in range(20))
    ]
    assert sum(n > 0 for n in backs) >= 10


def test_a_step_that_gains_as_much_as_tol_is_made() -> None:
    weights = _Weights(np.array([0.25, 1.0, 0.125, 0.5]))
    result = _run(weights, size=4, tol=0.25)
    assert result.mask.indices_of(0).tolist() == [0, 1, 3]
    assert result.stop_reason == {"tol": 0.25}


@each("seed", [964, 1030])  # of tables where it would go, by the second step back
def test_by_the_strict_rule_the_feature_that_came_last_stays(seed: int) -> None:
    way = _walk(SequentialSearch(7, size=7, floating="mlxtend"), _Table(7, seed, None))
    last: Set = frozenset()
    for before, after in pairwise(way):
        last = after - before or last
        assert last <= after, f"{sorted(before)} became {sorted(after)}"


@each("direction", ["forward", "backward"])
@each("n_levels", [None, 2])
@each("seed", [*range(8), 964])
def test_by_the_strict_rule_each_size_is_that_of_mlxtend(
    direction: Any, n_levels: int | None, seed: int
) -> None:
    peers = pytest.importorskip("mlxtend.feature_selection")
    table, size = _Table(7, seed, n_levels), 7 if direction == "forward" else 1
    selector = peers.SequentialFeatureSelector(
        DummyClassifier(),
        k_features=size,
        forward=direction == "forward",
        floating=True,
        scoring=lambda fitted, X, y: table.score(frozenset(X[0].astype(int).tolist())),
        cv=0,
    ).fit(np.tile(np.arange(7.0), (4, 1)), [0, 1, 0, 1])  # values say which features there are
    search = SequentialSearch(7, size=size, direction=direction, floating="mlxtend")
    _walk(search, table)
    for k, theirs in selector.subsets_.items():
        assert np.flatnonzero(search.walked.mask_of(k)).tolist() == list(theirs["feature_idx"])
        assert search.walked.score_of(k, np.nan) == theirs["avg_score"]


def test_one_feature_is_taken_back_only_where_another_size_was_not_all_measured() -> None:
    """Forward from none, the best of one feature is known; backward, one may always come back."""
    table = _Table(4, 0)
    table.values[:] = 0.0  # nothing is ever better
    _walk(SequentialSearch(4, size=2, floating=True), table)
    assert table.n_asked == 4 + 3 + 2
    table.n_asked = 0
    _walk(SequentialSearch(4, size=2, floating=True, direction="backward"), table)
    assert table.n_asked == 1 + 4 + 1 + 3 + 2


def test_features_that_stay_weigh_more_than_those_that_go_late() -> None:
    search = SequentialSearch(4, size=2, direction="backward")
    _walk(search, _Weights(np.array([2.0, 4.0, 1.0, 3.0])))
    np.testing.assert_allclose(search.feature_scores(), [2 / 3, 2.0, 1 / 3, 2.0])


def test_only_the_strict_rule_needs_a_step_back_to_gain() -> None:
    table = _Table(4, 0)
    table.values[:] = 0.0
    for features, score in (((0,), 1), ((0, 1), 2), ((0, 1, 2), 3), ((1, 2), 3)):
        table.values[sum(2**f for f in features)] = score
    search = SequentialSearch(4, size=4, floating="mlxtend")
    assert [len(features) for features in _walk(search, table)] == [0, 1, 2, 3, 4]
    # Steps of 4, 3, 2 and 1, and two that look back: from three, all but the newest of them, and
    # from four.
    assert table.n_asked == 10 + 2 + 3
    search = SequentialSearch(4, size=4, floating=True)
    assert [sorted(features) for features in _walk(search, table)[:5]] == [
        [], [0], [0, 1], [0, 1, 2], [1, 2],
    ]  # fmt: skip


@each("options", [options for options, _ in WAYS.values()])
def test_solves_one_max(options: dict[str, Any]) -> None:
    weights = np.where(np.arange(60) % 3 == 0, 1.0, -1.0)
    result = _run(_Weights(weights), size=(1, 60), **options)
    np.testing.assert_array_equal(result.support, weights > 0)
    assert _run(_Weights(weights), size=20, **options).support.tolist() == (weights > 0).tolist()


class _Trap:
    """Feature 0 is the best alone and in no best set of two or more: a nesting trap."""

    n_features, resample = 4, False
    scores = {  # noqa: RUF012
        (0,): 0.6, (1,): 0.5, (2,): 0.5, (3,): 0.1,
        (0, 1): 0.65, (0, 2): 0.64, (0, 3): 0.62, (1, 2): 0.9, (1, 3): 0.55, (2, 3): 0.5,
        (0, 1, 2): 0.92, (0, 1, 3): 0.7, (0, 2, 3): 0.7, (1, 2, 3): 1.0, (0, 1, 2, 3): 0.95,
    }  # fmt: skip

    def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
        return np.array([self.scores[tuple(masks.indices_of(i))] for i in range(len(masks))])


def test_floating_escapes_a_nesting_trap() -> None:
    assert _run(_Trap(), size=3).mask.indices_of(0).tolist() == [0, 1, 2]
    for options in ({"floating": True}, {"plus_l_minus_r": (2, 1)}):
        assert _run(_Trap(), size=3, **options).mask.indices_of(0).tolist() == [1, 2, 3]
    # The strict rule goes back only to what is better than the mask at hand, too.
    assert _run(_Trap(), size=3, floating="mlxtend").mask.indices_of(0).tolist() == [0, 1, 2]


def test_tol_stops_before_the_step_that_gains_too_little() -> None:
    fitness = _Weights(np.array([0.1, 0.8, 0.4, 0.2]))
    assert _run(fitness, size=(1, 4), tol=0.3).mask.indices_of(0).tolist() == [1, 2]
    result = _run(fitness, size=(1, 4), tol=2.0)  # the first step is always made
    assert result.mask.indices_of(0).tolist() == [1]
    assert result.stop_reason == {"tol": 2.0}
    assert _run(fitness, size=(1, 3), tol=0.01).mask.indices_of(0).tolist() == [1, 2, 3]
    back = _run(fitness, size=(1, 4), tol=-0.25, direction="backward")
    assert back.mask.indices_of(0).tolist() == [1, 2]
    two = _run(fitness, size=(1, 4), tol=0.5, step=2)  # both of a step are taken back
    assert two.mask.indices_of(0).tolist() == [1, 2]


def test_patience_counts_sizes_without_a_better_one() -> None:
    weights = np.array([3.0, 2.0, 1.0, -1.0, -2.0, -3.0, -4.0, -5.0])
    for patience, met in ((1, 4), (3, 6)):
        search = SequentialSearch(8, size=(1, 8), patience=patience)
        result = run(
            search, _Weights(weights), choose="recommended", random_state=0, progress=False
        )
        assert result.mask.indices_of(0).tolist() == [0, 1, 2]
        assert search.walked.sizes() == list(range(1, met + 1))
        assert result.stop_reason == {"patience": patience}
    late = _run(_Weights(-weights), size=(6, 8), patience=1)  # the range is gone through first
    assert late.mask.counts().tolist() == [6]


def test_several_at_a_time_are_the_best_single_ones() -> None:
    table = _Table(8, 3)
    search = SequentialSearch(8, size=7, step=3)
    path = _walk(search, table)
    assert [len(s) for s in path] == [0, 3, 6, 7]
    now: Set = frozenset()
    for size, count in ((3, 3), (6, 3), (7, 1)):
        others = [f for f in range(8) if f not in now]
        ranked = sorted(others, key=lambda f: -table.score(now | {f}))
        now = now | frozenset(ranked[:count])
        assert path[[0, 3, 6, 7].index(size)] == now
        assert search.walked.score_of(size, np.nan) == table.score(now)
    back = _walk(SequentialSearch(8, size=2, step=4, direction="backward"), table)
    assert [len(s) for s in back] == [8, 4, 2]


def test_starts_where_it_is_told() -> None:
    weights = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    start = np.array([False, False, True, False, True])
    assert _run(_Weights(weights), size=3, start=start).mask.indices_of(0).tolist() == [0, 2, 4]
    less = _run(_Weights(weights), size=1, start=start, direction="backward")
    assert less.mask.indices_of(0).tolist() == [2]
    there = _run(_Weights(weights), size=2, start=start)
    assert there.mask.indices_of(0).tolist() == [2, 4]
    assert there.n_evaluations == 1
    # Floating also takes back what it began with, where that is better than anything seen.
    trap = _run(_Trap(), size=3, start=np.array([True, False, True, False]), floating=True)
    assert trap.mask.indices_of(0).tolist() == [1, 2, 3]


def test_the_empty_mask_is_one_like_others_where_something_is_always_in() -> None:
    weights = np.array([-1.0, -2.0, -3.0])
    assert _run(_Weights(weights), size=(1, 3)).mask.counts().tolist() == [1]
    for direction in ("forward", "backward"):
        search = SequentialSearch(3, size=(0, 3), direction=direction, scores_empty=True)
        _walk(search, _Weights(weights))
        assert search.recommend().counts().tolist() == [0]
        assert search.walked.sizes() == [0, 1, 2, 3]


@each("options", [options for options, _ in WAYS.values() if "floating" not in options])
@each("step", [1, 3])
def test_counts_its_evaluations_beforehand(options: dict[str, Any], step: int) -> None:
    if "plus_l_minus_r" in options and step > 1:
        return
    for size in (1, 4, 8, 9):
        table = _Table(9, size)
        search = SequentialSearch(9, size=size, step=step, **options)
        expected = search.steps.n_evaluations(int(search.walked.start.sum()))
        _walk(search, table)
        assert table.n_asked == expected


def test_feature_scores_tell_the_order() -> None:
    weights = np.array([1.0, 4.0, 2.0, 3.0, 0.5])
    for options in ({"size": (2, 2)}, {"size": 2, "direction": "backward"}):
        search = SequentialSearch(5, **options)
        _walk(search, _Weights(weights))
        scores = search.feature_scores()
        assert (scores >= 1.0).tolist() == [False, True, False, True, False]
        if options["size"] == 2:  # those that went: the later the better
            assert np.argsort(-scores[[0, 2, 4]]).tolist() == [1, 0, 2]
        else:
            assert scores[1] > scores[3]


def test_a_million_features_in_bounded_memory() -> None:
    p = 1_000_000
    fitness = _Weights(np.random.default_rng(0).normal(size=p))
    best = np.sort(np.argsort(-fitness.weights)[:4])
    search = SequentialSearch(p, size=4, floating=True)
    tracemalloc.start()
    result = run(search, fitness, choose="recommended", random_state=0, progress=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.mask.indices_of(0).tolist() == best.tolist()
    assert peak < 120 * p  # bytes a feature: a few numbers, not a mask for each
    assert sum(np.asarray(v).nbytes for v in search.state().values()) < 2 * p


@each(
    ("options", "word"),
    [
        ({"size": 0}, "size"),
        ({"size": 7}, "size"),
        ({"size": (4, 3)}, "size"),
        ({"size": (1, 2, 3)}, "size"),
        ({"direction": "up"}, "direction"),
        ({"step": 0}, "step"),
        ({"floating": "yes"}, "floating"),
        ({"floating": 1}, "floating"),
        ({"floating": "mlxtend", "step": 2}, "step"),
        ({"plus_l_minus_r": (2, 2)}, "plus_l_minus_r"),
        ({"plus_l_minus_r": 2}, "plus_l_minus_r"),
        ({"plus_l_minus_r": (2, 1), "floating": True}, "floating"),
        ({"plus_l_minus_r": (2, 1), "step": 2}, "step"),
        ({"tol": "0.1"}, "tol"),
        ({"patience": 0}, "patience"),
        ({"start": [0, 1]}, "start"),
        ({"start": np.ones(6, bool), "size": 3}, "start has 6"),
        ({"start": np.eye(6, dtype=bool)[0], "size": 2, "direction": "backward"}, "start has 1"),
    ],
)
def test_says_what_is_wrong(options: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        SequentialSearch(6, **options)


def test_a_state_of_no_search_is_refused() -> None:
    search = SequentialSearch(6, size=3)
    for _ in range(2):
        search.tell(search.ask(), np.arange(float(len(search.ask()))))
    state = search.state()
    damaged = {
        "flips": np.array([9]),
        "sizes": np.array([1, 3]),
        "scores": np.array([np.nan, 1.0]),
        "places": np.array([5, 9]),
        "phase": "done",
        "reason": "size",
        "newest": 9,
        "score": np.inf,
        "at_once": 2,
    }
    for name, value in damaged.items():
        with pytest.raises(ValueError, match=r"\w"):
            SequentialSearch(6, size=3).set_state({**state, name: value})
    with pytest.raises(ValueError, match="lacks flips"):
        SequentialSearch(6, size=3).set_state({k: v for k, v in state.items() if k != "flips"})
    assert shrunk(frozenset({1, 2})) == [frozenset({2}), frozenset({1})]
