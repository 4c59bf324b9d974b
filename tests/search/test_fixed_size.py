"""Search at a given size: its path beside a plain twin, its optima beside every subset, kicks."""

from __future__ import annotations

import tracemalloc
from functools import partial
from itertools import combinations, pairwise

import numpy as np
import pytest
from each import each
from twin_fixed_size import walk, walk_by_pairs

from bitsieve import Masks
from bitsieve.search import ExhaustiveMaskSearch, FixedSizeMaskSearch, run
from bitsieve.testing import check_search


def first(n_features, size):
    return np.arange(n_features) < size


class Table:
    """A number drawn for each mask by its hash, or any function of a frozen set."""

    resample = False

    def __init__(self, n_features, score):
        self.n_features, self.score, self.n_evaluations = n_features, score, 0

    def evaluate(self, masks, seeds=0):
        self.n_evaluations += len(masks)
        return np.array(
            [self.score(frozenset(masks.indices_of(i).tolist())) for i in range(len(masks))]
        )


def drawn(seed, n_values):
    """A score that is a function of the mask, one of so many values: many tie."""

    def score(mask):
        return float(np.random.default_rng([seed, *sorted(mask)]).integers(n_values))

    return score


class Interacting:
    """The same for a batch at once."""

    resample = False

    def __init__(self, seed, n_features):
        rng = np.random.default_rng(seed)
        self.n_features, self.n_evaluations = n_features, 0
        self.single = rng.normal(size=n_features)
        self.both = np.triu(2.0 * rng.normal(size=(n_features, n_features)), 1)

    def evaluate(self, masks, seeds=0):
        self.n_evaluations += len(masks)
        has = masks.to_bool().astype(float)
        return has @ self.single + ((has @ self.both) * has).sum(axis=1)


def path(search, score):
    """The masks that the search has at hand, one after the other, and its answer."""
    fitness, found = Table(search.n_features, score) if callable(score) else score, []
    while not search.stop():
        at_hand = frozenset(search.state()["mask"].tolist())
        if not found or found[-1] != at_hand:
            found.append(at_hand)
        masks = search.ask()
        search.tell(masks, fitness.evaluate(masks))
    return found, frozenset(search.recommend().indices_of(0).tolist()), fitness.n_evaluations


@each("n_asked", [1, 3, 7, 500_000])
@each("n_values", [4, 10_000])
@each(("p", "size"), [(6, 1), (7, 3), (9, 4), (5, 5), (4, 3)])
def test_swaps_are_those_of_a_loop(p, size, n_values, n_asked):
    rng = np.random.default_rng([p, n_values])
    for seed, priority in enumerate((None, rng.normal(size=p), rng.integers(2, size=p))):
        score = drawn(seed, n_values)
        expected = [mask for mask, _ in walk(score, p, range(size), priority=priority)]
        search = FixedSizeMaskSearch(
            p, size=size, start=first(p, size), priority=priority, n_asked=n_asked
        )
        got, answer, n_evaluations = path(search, score)
        assert got == expected
        assert answer == expected[-1]
        assert n_evaluations == 1 + len(expected) * size * (p - size)
        assert search.stop() == {"optimum": len(expected) - 1}


@each("n_asked", [1, 4, 500_000])
@each("k", [1, 2, 3, 20])
def test_best_pairs_are_those_of_a_loop(k, n_asked):
    p, size = 9, 4
    for seed in range(6):
        score = drawn(seed, [5, 10_000][seed % 2])
        expected = [mask for mask, _ in walk_by_pairs(score, p, range(size), k)]
        search = FixedSizeMaskSearch(
            p, size=size, start=first(p, size), moves="best_pairs", n_paired=k, n_asked=n_asked
        )
        got, answer, _ = path(search, score)
        assert got == expected
        assert answer == expected[-1]


def test_best_pairs_measure_a_pass_of_adds_and_few_pairs():
    p, size, k = 400, 12, 5
    weights = np.random.default_rng(2).normal(size=p)
    search = FixedSizeMaskSearch(p, size=size, start=first(p, size), moves="best_pairs", n_paired=k)
    n = 0
    while not search.stop():
        masks = search.ask()
        n += len(masks)
        search.tell(masks, masks.to_bool() @ weights)
    assert n == 1 + (1 + search.n_moves) * (p - size + size + k * k)
    # Where features do not interact the best pair is that of the best add and the best drop.
    assert set(search.recommend().indices_of(0)) == set(np.argsort(-weights)[:size])


def test_only_swaps_find_what_other_sizes_do_not_show():
    target = frozenset({7, 8, 9})

    def score(mask):  # masks of another size tell nothing
        return float(len(mask & target)) if len(mask) == 3 else 0.0

    for moves, expected in (("swaps", target), ("best_pairs", frozenset({0, 1, 2}))):
        search = FixedSizeMaskSearch(10, size=3, start=first(10, 3), moves=moves, n_paired=1)
        assert path(search, score)[1] == expected


def test_swaps_go_where_forward_selection_is_nested():
    def score(mask):  # the best feature alone is in no good pair but with 1, and 1 and 2 are best
        return {
            frozenset({0}): 3.0, frozenset({1}): 1.0, frozenset({2}): 1.0,
            frozenset({0, 1}): 4.0, frozenset({0, 2}): 3.5, frozenset({1, 2}): 5.0,
        }.get(mask, 0.0)  # fmt: skip

    forward: frozenset[int] = frozenset()
    for _ in range(2):
        forward = max((forward | {f} for f in range(6) if f not in forward), key=score)
    assert forward == {0, 1}
    start = np.isin(np.arange(6), list(forward))
    assert path(FixedSizeMaskSearch(6, size=2, start=start), score)[1] == {1, 2}


def test_one_max_at_a_size_takes_a_swap_for_each_wrong_feature():
    p, size = 80, 8
    for seed in range(10):
        truth = np.zeros(p, dtype=bool)
        truth[np.random.default_rng(seed).choice(p, size, replace=False)] = True
        search = FixedSizeMaskSearch(p, size=size)
        search.set_seed(seed)
        wrong = size - int((search.ask().to_bool()[0] & truth).sum())
        while not search.stop():
            masks = search.ask()
            search.tell(masks, (masks.to_bool() & truth).sum(axis=1).astype(float))
        assert (search.recommend().to_bool()[0] == truth).all()
        assert search.n_moves == wrong > 0


@each("p", [10, 15])
def test_interacting_pairs_against_every_subset(p):
    plain = kicked = 0
    n_seeds = 12
    for seed in range(n_seeds):
        fitness = Interacting(seed, p)
        every = ExhaustiveMaskSearch(p, min_size=3, max_size=3)
        best = run(every, fitness, choose="recommended", random_state=0).mask
        for n_kicks in (0, 30):
            search = FixedSizeMaskSearch(p, size=3, start=first(p, 3), n_kicks=n_kicks, kick_size=2)
            path(search, fitness)
            answer = search.recommend()
            near = fitness.evaluate(Masks.swaps(answer))
            assert near.max() <= fitness.evaluate(answer)[0] + 1e-12  # an optimum among neighbors
            plain += n_kicks == 0 and answer == best
            kicked += n_kicks > 0 and answer == best
    assert kicked == n_seeds
    assert plain < n_seeds  # some starts lead to a local optimum


def test_no_part_of_a_ranking_is_empty():
    """Of 20 features that may come and 4 that may leave, in parts of 10 and of 4."""
    for n_asked, sizes in ((10, [1, 10, 10, 4, 4]), (4, [1, 4, 4, 4, 4, 4, 4, 4])):
        search = FixedSizeMaskSearch(
            24, size=4, start=first(24, 4), moves="best_pairs", n_paired=2, n_asked=n_asked
        )
        found = []
        while not search.stop():
            masks = search.ask()
            found.append(len(masks))
            search.tell(masks, np.zeros(len(masks)))
        assert found == sizes


def test_a_fraction_of_the_size_is_rounded_to_the_nearest_number_of_swaps():
    for fraction, n_swaps in ((0.01, 1), (0.27, 3), (0.33, 3), (0.37, 4), (1.0, 10)):
        search = FixedSizeMaskSearch(24, size=10, n_kicks=1, kick_size=fraction)
        assert search.state()["kick_size"] == n_swaps


@each("kick_size", [1, 3, 0.1, 0.5, 1.0])
def test_a_kick_swaps_as_many_as_it_says(kick_size):
    p, size, n_kicks = 24, 10, 200
    n = kick_size if isinstance(kick_size, int) else round(kick_size * size)
    search = FixedSizeMaskSearch(
        p, size=size, start=first(p, size), n_kicks=n_kicks, kick_size=kick_size
    )
    counts = np.zeros(p)
    while not search.stop():
        if search.state()["phase"] == "measure" and search.n_kicks:
            mask = search.ask().to_bool()[0]
            assert mask.sum() == size
            assert (mask ^ first(p, size)).sum() == 2 * n
            counts += mask ^ first(p, size)
        search.tell(search.ask(), np.zeros(len(search.ask())))  # no mask is better: all are kicks
    assert search.n_kicks == n_kicks
    for part, of in ((counts[:size], size), (counts[size:], p - size)):
        rate = n / of
        assert abs(part - n_kicks * rate).max() <= 5 * np.sqrt(n_kicks * rate * (1 - rate)) + 1e-9


def test_a_kick_starts_from_the_best_mask_and_keeps_it():
    fitness = Interacting(3, 20)
    search = FixedSizeMaskSearch(20, size=5, start=first(20, 5), n_kicks=8, kick_size=2)
    best, value = None, -np.inf
    while not search.stop():
        if search.state()["phase"] == "measure" and search.n_kicks:
            kicked = frozenset(search.ask().indices_of(0))
            assert len(kicked & best) == 3
        masks = search.ask()
        scores = fitness.evaluate(masks)
        search.tell(masks, scores)
        if scores.max() > value:
            best, value = frozenset(masks.indices_of(int(scores.argmax())).tolist()), scores.max()
        assert search.recommend().indices_of(0).tolist() == sorted(best)


def test_priority_decides_between_equal_swaps_and_limits_what_comes():
    p, size = 8, 3
    priority = np.array([5.0, 7.0, 6.0, 0.0, 2.0, 4.0, 3.0, 1.0])

    def score(mask):  # any mask but the first is better, and all of them are equal
        return float(mask != {0, 1, 2})

    start = first(p, size)
    assert path(FixedSizeMaskSearch(p, size=size, start=start), score)[1] == {1, 2, 3}
    search = FixedSizeMaskSearch(p, size=size, start=start, priority=priority)
    assert path(search, score)[1] == {1, 2, 5}  # 0 has the lowest of those inside, 5 the highest

    weights = np.arange(p, dtype=float)
    search = FixedSizeMaskSearch(p, size=size, start=start, priority=priority, n_candidates=5)
    got, answer, n = path(search, lambda mask: float(sum(weights[f] for f in mask)))
    pool = set(np.argsort(-priority)[:5].tolist())
    twin = walk(
        lambda m: float(sum(weights[f] for f in m)), p, range(3), priority=priority, pool=pool
    )
    assert got == [mask for mask, _ in twin]
    assert answer == {2, 5, 6}
    assert n == 1 + len(got) * size * 2


def test_a_swap_must_gain_more_than_tol():
    weights = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    for tol, expected in ((0.0, 4), (7.9, 4), (8.0, 0), (100.0, 0)):
        search = FixedSizeMaskSearch(5, size=1, start=first(5, 1), tol=tol)
        answer = path(search, lambda mask: float(sum(weights[f] for f in mask)))[1]
        assert answer == {expected}
    # A gain that is no more than tol is no answer either, in the midst of a pass.
    search = FixedSizeMaskSearch(5, size=1, start=first(5, 1), tol=8.0, n_asked=2)
    while not search.stop():
        masks = search.ask()
        search.tell(masks, masks.to_bool() @ weights)
        assert search.recommend().indices_of(0).tolist() == [0]


def test_all_features_leave_nothing_to_swap():
    search = FixedSizeMaskSearch(4, size=4, n_kicks=3)
    masks = search.ask()
    assert masks.to_bool().all()
    search.tell(masks, np.array([0.5]))
    assert search.stop() == {"optimum": 0}
    assert search.recommend().to_bool().all()


def test_keeps_the_contract_with_kicks_and_parts():
    priority = np.random.default_rng(5).normal(size=70)
    options = {"n_kicks": 3, "n_asked": 70}
    kinds = [
        lambda p: FixedSizeMaskSearch(p, size=min(3, p), **options),
        lambda p: FixedSizeMaskSearch(
            p, size=min(3, p), priority=priority[:p], n_candidates=30, **options
        ),
        lambda p: FixedSizeMaskSearch(p, size=min(9, p), moves="best_pairs", n_paired=4, **options),
    ]
    for make in kinds:
        check_search(make, n_iterations=30, variants=[k for k in kinds if k is not make])
    given = {"size": 3, "n_kicks": 1}
    others = [
        {"size": 4}, {"n_kicks": 2}, {"kick_size": 3}, {"tol": 0.1}, {"n_asked": 9},
        {"n_paired": 7}, {"moves": "best_pairs"}, {"start": first(70, 3)}, {"priority": priority},
        {"priority": priority, "n_candidates": 9},
    ]  # fmt: skip
    check_search(
        partial(FixedSizeMaskSearch, **given),
        sizes=(),
        variants=[partial(FixedSizeMaskSearch, **{**given, **other}) for other in others],
    )


def test_ctrl_c_keeps_the_best_of_an_unfinished_pass():
    class Struck(Interacting):
        calls = 0

        def evaluate(self, masks, seeds=0):
            self.calls += 1
            if self.calls == 4:
                raise KeyboardInterrupt
            return super().evaluate(masks)

    search = FixedSizeMaskSearch(12, size=3, start=first(12, 3), n_asked=9)
    with pytest.raises(KeyboardInterrupt) as stop:
        run(search, Struck(1, 12), choose="recommended", random_state=0)
    seen = [{0, 1, 2}] + [{0, 1, 2} - {out} | {into} for out in (0, 1) for into in range(3, 12)]
    scores = Interacting(1, 12).evaluate(Masks.from_indices(seen, 12))
    best = seen[int(scores.argmax())]
    assert set(stop.value.partial_result.mask.indices_of(0).tolist()) == best != {0, 1, 2}


def test_a_million_features_take_bounded_memory():
    p, size = 1_000_000, 20
    search = FixedSizeMaskSearch(p, size=size, start=first(p, size))
    search.tell(search.ask(), np.zeros(1))
    tracemalloc.start()
    try:
        n = 0
        for part in range(4):  # two features that leave, of twenty
            masks = search.ask()
            assert masks.is_compact
            n += len(masks)
            assert len(masks) <= 500_000
            scores = np.zeros(len(masks))
            scores[7] = part % 3
            search.tell(masks, scores)
            del masks, scores
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n == 2 * (p - size)
    assert peak < 100e6
    assert sum(np.asarray(value).nbytes for value in search.state().values()) < 10_000
    # The best of four parts: the third, the first half of what may come for the second feature.
    assert search.recommend().indices_of(0).tolist() == [0, *range(2, 20), 27]


def test_what_is_refused():
    make = partial(FixedSizeMaskSearch, 10, size=3)
    for options, message in (
        ({"size": 11}, "size must be a whole number from 1 to 10, got 11"),
        ({"start": first(10, 4)}, "start must have 3 features, got 4"),
        ({"start": np.arange(10)}, "start must be one mask of 10 features, got int64"),
        ({"start": Masks.empty(10)}, "start must have 3 features, got 0"),
        ({"moves": "all"}, "moves must be 'swaps' or 'best_pairs', got 'all'"),
        ({"n_candidates": 5}, "n_candidates needs a priority"),
        ({"priority": [1.0]}, "priority must have shape"),
        ({"tol": -1}, "tol must be a finite number from 0 on, got -1"),
        ({"kick_size": 0}, "kick_size must be a whole number from 1 on, got 0"),
        ({"kick_size": 1.5}, r"kick_size must be a number in \(0, 1\] or a whole number, got 1.5"),
        ({"n_kicks": -1}, "n_kicks must be"),
    ):
        with pytest.raises(ValueError, match=message):
            make(**options)
    search = make(start=first(10, 3), n_asked=8)
    with pytest.raises(ValueError, match="needs the masks of an ask"):
        search.tell(Masks.full(10), np.zeros(1))
    search.tell(search.ask(), np.zeros(1))
    with pytest.raises(ValueError, match="one score a mask, 7, got 6"):
        search.tell(search.ask(), np.zeros(6))
    with pytest.raises(ValueError, match="finite"):
        search.tell(search.ask(), np.full(7, np.nan))
    state = search.state()
    for name, value in (
        ("phase", "dance"), ("mask", [0, 1]), ("mask", [0, 1, 10]), ("best", [2, 1, 0]),
        ("kicks_made", 1), ("score", np.nan), ("found_out", 5), ("part", -1), ("adds", [1]),
        ("size", 4),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"state|phase|part|swap"):
            search.set_state({**state, name: value})
    with pytest.raises(ValueError, match="lacks score"):
        search.set_state({k: v for k, v in state.items() if k != "score"})


def test_neighbors_of_a_pass_are_all_swaps_and_each_once():
    p, size = 11, 4
    search = FixedSizeMaskSearch(p, size=size, start=first(p, size), n_asked=5)
    search.tell(search.ask(), np.zeros(1))
    seen = []
    while not search.stop():
        masks = search.ask()
        seen += [frozenset(masks.indices_of(i).tolist()) for i in range(len(masks))]
        assert search.eligible().all()
        search.tell(masks, np.zeros(len(masks)))
    start = frozenset(range(size))
    expected = {frozenset(c) for c in combinations(range(p), size) if len(start & set(c)) == 3}
    assert len(seen) == len(set(seen)) == size * (p - size)
    assert set(seen) == expected
    assert all(a != b for a, b in pairwise(seen))
