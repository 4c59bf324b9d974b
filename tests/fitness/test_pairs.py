"""Complementary pairs around a slowly moving mask, as SPSA asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from each import each, each_isa
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import Masks
from bitsieve.fitness import KnnFitness, compile


def asks(p: int, n_asks: int, undecided: float, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Yield [w, w+, w-]: the last two complementary where undecided, equal to w elsewhere."""
    rng = np.random.default_rng(seed)
    mask = rng.random(p) < 0.5
    open_ = rng.random(p) < undecided
    for _ in range(n_asks):
        mask[rng.choice(p, 3)] ^= True
        open_[rng.choice(p, 3)] ^= True
        up = rng.random(p) < 0.5
        yield np.stack([mask, np.where(open_, up, mask), np.where(open_, ~up, mask)])


@each_isa
@each("kind", ["real", "whole numbers", "ties"])
@each("n_jobs", [1, 2])
def test_pairs_answer_as_single_masks(isa: str, kind: str, n_jobs: int) -> None:
    rng = np.random.default_rng(1)
    n, p = 37, 400
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, p)) + 0.3 * y[:, None]
    if kind == "whole numbers":
        X = np.round(5 * X)
    elif kind == "ties":
        X = np.sign(X)
    fitness = compile(
        KNeighborsClassifier(1), X, y, cv=4, n_repeats=3, resample=True, n_jobs=n_jobs
    )
    assert isinstance(fitness, KnnFitness)
    for k, masks in enumerate(asks(p, 40, 0.3, seed=2)):
        together = fitness.evaluate_splits(masks, k)
        fresh = compile(KNeighborsClassifier(1), X, y, cv=4, n_repeats=3, resample=True, n_jobs=1)
        alone = np.concatenate([fresh.evaluate_splits(mask[None], k) for mask in masks[::-1]])
        assert np.array_equal(together, alone[::-1])


@each("undecided", [0.2, 0.5, 1.0])
def test_a_pair_costs_one_matrix_of_half_the_undecided(undecided: float) -> None:
    rng = np.random.default_rng(3)
    n, p = 33, 2000
    X, y = rng.normal(size=(n, p)), rng.integers(0, 2, n)
    fitness = compile(KNeighborsClassifier(1), X, y, cv=3, resample=True, n_jobs=1)
    assert isinstance(fitness, KnnFitness)
    last, costs = 0, []
    for k, masks in enumerate(asks(p, 120, undecided, seed=4)):
        fitness.evaluate(masks, k)
        total = fitness._core.counters()["float_features"]
        costs.append((total - last) / (masks[1] != masks[2]).sum())
        last = total
    assert np.mean(costs[60:]) == pytest.approx(0.5, rel=0.05)
    assert np.mean(costs[:3]) > 0.75


def test_unrelated_masks_never_pay_for_a_state() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(33, 3000)), rng.integers(0, 2, 33)
    fitness = compile(KNeighborsClassifier(1), X, y, cv=3, n_jobs=1)
    assert isinstance(fitness, KnnFitness)
    for _ in range(20):
        fitness.evaluate(rng.random((3, 3000)) < 0.3)
    counters = fitness._core.counters()
    assert counters["fixed_features"] == 0
    # The masks are written down once: 0.3 of 3,000 features each.
    assert counters["float_features"] == pytest.approx(60 * 900, rel=0.05)


def test_pairs_as_masks() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(20, 90)), rng.integers(0, 2, 20)
    fitness = compile(KNeighborsClassifier(3), X, y, cv=3)
    for masks in asks(90, 10, 0.4, seed=7):
        packed = Masks.from_bool(masks)
        assert np.array_equal(fitness.evaluate(packed), fitness.evaluate(packed[::-1])[::-1])
