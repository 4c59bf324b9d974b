"""Exhaustive search: every subset once, and the best of them."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from each import each

from bitsieve import Masks
from bitsieve.search import ExhaustiveMaskSearch, run
from bitsieve.testing import check_search


def asked(search):
    while not search.stop():
        masks = search.ask()
        yield masks
        search.tell(masks, np.zeros(len(masks)))


def subsets(search):
    return [tuple(m.indices_of(i)) for m in asked(search) for i in range(len(m))]


@each("n_asked", [1, 7, 64, 5000])
@each("p", [1, 2, 5, 9])
def test_all_sizes_come_in_gray_code_order(p, n_asked):
    found = subsets(ExhaustiveMaskSearch(p, n_asked=n_asked))
    assert len(found) == len(set(found)) == 2**p - 1
    steps = [set(a) ^ set(b) for a, b in zip([(), *found], found, strict=False)]
    assert all(len(step) == 1 for step in steps)


@each("n_asked", [1, 5, 1000])
@each(("p", "least", "most"), [(7, 2, 4), (6, 6, 6), (9, 1, 2), (70, 2, 2), (5, 1, 4)])
def test_sizes_come_in_colexicographic_order(p, least, most, n_asked):
    expected = [
        c
        for size in range(least, most + 1)
        for c in sorted(combinations(range(p), size), key=lambda c: c[::-1])
    ]
    search = ExhaustiveMaskSearch(p, min_size=least, max_size=most, n_asked=n_asked)
    assert search.n_subsets == len(expected)
    assert subsets(search) == expected


def test_neighbors_of_a_base_stay_compact():
    masks = next(asked(ExhaustiveMaskSearch(5000, min_size=2, max_size=2)))
    assert masks.is_compact
    assert len(masks.indices) == 2 * 1024
    search = ExhaustiveMaskSearch(5000, min_size=2, max_size=2)
    search.set_state({**search.state(), "done": 1024 * 12201, "score": 0.0, "best": [0, 1]})
    masks = search.ask()  # one large feature is common to all of these
    assert len(masks.indices) == 1024
    assert masks.counts().tolist() == [2] * 1024


@each("ties", [False, True])
@each(("least", "most"), [(1, 8), (2, 5)])
def test_the_best_is_that_of_a_loop_over_all(least, most, ties):
    p, rng = 8, np.random.default_rng(4)
    table = rng.integers(6, size=2**p) if ties else rng.permutation(2**p)
    scores = {
        c: float(table[sum(1 << f for f in c)])
        for size in range(least, most + 1)
        for c in combinations(range(p), size)
    }
    best = min(scores, key=lambda c: (-scores[c], len(c), c))
    for n_asked in (3, 1024):
        search = ExhaustiveMaskSearch(p, min_size=least, max_size=most, n_asked=n_asked)
        while not search.stop():
            masks = search.ask()
            search.tell(
                masks, np.array([scores[tuple(masks.indices_of(i))] for i in range(len(masks))])
            )
        assert tuple(search.recommend().indices_of(0)) == best


def test_of_equal_subsets_in_several_asks_the_smaller_is_recommended():
    search = ExhaustiveMaskSearch(3, n_asked=2)
    wanted = {(0, 1): 4.0, (2,): 4.0, (1, 2): 4.0}  # in the first ask, the last and the second
    for _ in range(4):
        masks = search.ask()
        sets = [tuple(masks.indices_of(i).tolist()) for i in range(len(masks))]
        search.tell(masks, np.array([wanted.get(one, 0.0) for one in sets]))
    assert search.stop()
    assert search.recommend().indices_of(0).tolist() == [2]


def test_as_many_ties_as_subsets():
    search = ExhaustiveMaskSearch(12)
    for masks in asked(search):
        assert search.eligible().shape == (len(masks),)
    assert search.recommend().indices_of(0).tolist() == [0]


class Trap:
    """The more features the better, but for the one mask that is best."""

    resample = False

    def __init__(self, n_features):
        self.n_features = n_features

    def evaluate(self, masks, seeds=0):
        counts = masks.counts()
        return np.where(masks.to_bool()[:, :3].all(axis=1) & (counts == 3), 100.0, counts)


def test_finds_what_a_climber_cannot():
    result = run(ExhaustiveMaskSearch(11), Trap(11), choose="recommended", random_state=0)
    assert result.mask.indices_of(0).tolist() == [0, 1, 2]
    assert result.n_evaluations == 2**11 - 1
    assert result.stop_reason == {"subsets": 2047}


def test_contract_on_a_small_table():
    check_search(ExhaustiveMaskSearch, n_features=6, sizes=(1, 2, 9))
    check_search(lambda p: ExhaustiveMaskSearch(p, n_asked=5), n_features=6, sizes=(1, 2))
    check_search(
        lambda p: ExhaustiveMaskSearch(p, min_size=min(2, p), max_size=min(3, p), n_asked=4),
        n_features=7,
        sizes=(1, 2, 64),
        variants=[
            lambda p: ExhaustiveMaskSearch(p, min_size=2, max_size=3, n_asked=5),
            lambda p: ExhaustiveMaskSearch(p, min_size=2, max_size=4, n_asked=4),
            lambda p: ExhaustiveMaskSearch(p, min_size=1, max_size=3, n_asked=4),
        ],
    )


@each(
    ("options", "words"),
    [
        ({"n_features": 26}, "subsets of 1 to 26 of 26 features are too many"),
        ({"n_features": 20000, "max_size": 3}, "give max_size=1 at most, fewer features"),
        ({"n_features": 20000, "min_size": 2, "max_size": 3}, "give fewer features"),
        ({"n_features": 20000}, "33,554,432 at most"),
        ({"n_features": 5, "max_size": 6}, "max_size=6"),
        ({"n_features": 5, "min_size": 4, "max_size": 3}, "min_size=4 and max_size=3"),
        ({"n_features": 5, "min_size": 0}, "min_size"),
        ({"n_features": 5, "n_asked": 0}, "n_asked"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(ValueError, match=words):
        ExhaustiveMaskSearch(**options)


def test_of_many_features_few_subsets_are_allowed():
    search = ExhaustiveMaskSearch(25)
    assert search.n_subsets == 2**25 - 1
    search = ExhaustiveMaskSearch(20000, max_size=1)
    assert search.n_subsets == 20000
    with pytest.raises(ValueError, match="one score a mask"):
        search.tell(search.ask(), np.zeros(3))
    with pytest.raises(ValueError, match="finite"):
        search.tell(search.ask(), np.full(1024, np.nan))


@each(
    "wrong",
    [
        {"done": 3},
        {"done": 8},
        {"score": 0.0},
        {"done": 4, "score": 1.0, "best": np.array([2, 1])},
        {"done": 4, "score": np.inf, "best": np.array([1])},
        {"done": 4, "score": 1.0, "best": np.array([3])},
        {"n_asked": 5},
    ],
)
def test_states_that_are_none(wrong):
    search = ExhaustiveMaskSearch(3, n_asked=4)
    with pytest.raises(ValueError, match="state"):
        search.set_state({**search.state(), **wrong})


def test_masks_are_of_all_features():
    search = ExhaustiveMaskSearch(130, min_size=130, max_size=130)
    assert search.ask() == Masks.full(130)
    assert comb(130, 130) == search.n_subsets
