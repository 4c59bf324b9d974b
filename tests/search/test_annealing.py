"""Simulated annealing: by hand, against exhaustive search, and beside a walk that only improves."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from bitsieve.masks import Masks
from bitsieve.search import AnnealingMaskSearch, RandomMaskSearch, run


class Pairwise:
    """Features and pairs of them are worth something: local optima abound."""

    resample = False

    def __init__(self, n_features: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.n_features = n_features
        drawn = random.normal(size=(n_features, n_features))
        self.worth = np.triu(drawn) + np.triu(drawn, 1).T

    def score(self, members: np.ndarray) -> float:
        return float(self.worth[np.ix_(members, members)].sum())

    def evaluate(self, masks: Masks, seeds: object = 0) -> np.ndarray:
        return np.array([self.score(np.flatnonzero(m)) for m in masks.to_bool()])


def annealed(fitness: Pairwise, seed: int, **options: object) -> tuple[np.ndarray, float]:
    search = AnnealingMaskSearch(fitness.n_features, **options)
    found = run(search, fitness, choose="recommended", random_state=seed)
    return np.flatnonzero(found.support), float(found.best_score)


def test_finds_the_best_of_a_size() -> None:
    hits = 0
    for seed in range(8):
        fitness = Pairwise(14, seed)
        best = max(fitness.score(np.array(c)) for c in combinations(range(14), 4))
        members, score = annealed(fitness, seed, size=4, n_steps=1500)
        assert len(members) == 4
        assert score == pytest.approx(fitness.score(members))
        hits += score == pytest.approx(best)
    assert hits >= 7


def test_beats_as_many_random_masks_of_any_size() -> None:
    for seed in range(3):
        fitness = Pairwise(40, seed)
        _, score = annealed(fitness, seed, n_steps=1000)
        drawn = run(RandomMaskSearch(40), fitness, max_evaluations=1051, random_state=seed)
        assert score > drawn.best_score


def test_first_temperature_and_its_fall() -> None:
    search = AnnealingMaskSearch(5, size=2, n_steps=3, n_probes=4, p_accept=0.25, cooling=0.01)
    search.tell(search.ask(), np.array([1.0]))
    assert math.isnan(search.temperature)
    search.tell(search.ask(), np.array([0.0, -2.0, 4.0, 1.0]))  # losses 1 and 3
    first = 2.0 / math.log(4.0)
    fall = []
    while not search.stop():
        fall.append(search.temperature)
        search.tell(search.ask(), np.array([1.0]))
    assert fall == pytest.approx([first, 0.1 * first, 0.01 * first])


def test_accepts_a_mean_loss_as_often_as_said() -> None:
    n_taken = 0
    for seed in range(2000):
        search = AnnealingMaskSearch(9, size=3, seed=seed, n_steps=1, n_probes=2, p_accept=0.3)
        search.tell(search.ask(), np.array([5.0]))
        search.tell(search.ask(), np.array([4.0, 4.0]))
        search.tell(search.ask(), np.array([4.0]))
        n_taken += search.n_accepted
    assert abs(n_taken / 2000 - 0.3) < 0.04  # four standard errors


def test_cold_is_a_walk_uphill() -> None:
    fitness = Pairwise(12, 3)
    search = AnnealingMaskSearch(12, size=4, n_steps=200, p_accept=1e-300, cooling=1e-12)
    n_better = 0
    while not search.stop():
        masks = search.ask()
        n_taken, best = search.n_accepted, search.recommend()
        search.tell(masks, fitness.evaluate(masks))
        if search.n_accepted > n_taken:  # then it was better than all before
            assert fitness.evaluate(search.recommend()) > fitness.evaluate(best)
            n_better += 1
    assert n_better


def test_masks_keep_the_size_or_a_feature() -> None:
    for size in (None, 1, 3):
        search = AnnealingMaskSearch(4, size=size, n_steps=150, n_probes=20)
        while not search.stop():
            masks = search.ask()
            counts = masks.counts()
            assert (counts > 0).all() if size is None else (counts == size).all()
            search.tell(masks, np.zeros(len(masks)))  # flat: all are taken
        assert search.n_accepted == 150


def test_nowhere_to_go() -> None:
    for search in (AnnealingMaskSearch(3, size=3), AnnealingMaskSearch(1)):
        assert search.evaluations_left() == (1, "at most")
        search.tell(search.ask(), np.array([1.0]))
        assert search.stop() == {"cooled": 0}
        assert search.evaluations_left() == (0, "at most")
        assert search.recommend().counts().tolist() == [search.n_features]


def test_counts_what_is_left() -> None:
    search = AnnealingMaskSearch(6, size=2, n_steps=7, n_probes=5)
    left = []
    while not search.stop():
        left.append(search.evaluations_left()[0])
        masks = search.ask()
        search.tell(masks, np.zeros(len(masks)))
    assert left == [13, 12, 7, 6, 5, 4, 3, 2, 1]


def test_refuses() -> None:
    for options, message in (
        ({"size": 7}, "size"),
        ({"size": 2, "start": [True] * 6}, "start must have 2"),
        ({"start": [False] * 6}, "no features"),
        ({"p_accept": 1.0}, "p_accept"),
        ({"cooling": 0.0}, "cooling"),
        ({"n_steps": 0}, "n_steps"),
    ):
        with pytest.raises(ValueError, match=message):
            AnnealingMaskSearch(6, **options)
