"""The kept state is the same bits whatever the way that led to it."""

from __future__ import annotations

import numpy as np
import tables
import twin_knn
from each import each, each_isa
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import Masks
from bitsieve.fitness import KnnFitness, compile

N_FLIPS = 2000


def _fitness(kind: str, n: int, p: int, seed: int = 0) -> KnnFitness:
    rng = np.random.default_rng(seed)
    X = tables.table(kind, rng, n, p)
    fitness = compile(KNeighborsClassifier(1), X, np.arange(n) % 2, cv=2, n_jobs=1)
    assert isinstance(fitness, KnnFitness)
    return fitness


def _state(fitness: KnnFitness, mask: np.ndarray, n_threads: int = 1) -> tuple[np.ndarray, float]:
    gram, unit = fitness._core.state(Masks.from_bool(mask).words[0].copy(), n_threads)
    return gram, unit


def _twin(fitness: KnnFitness, mask: np.ndarray) -> np.ndarray:
    table = fitness.table
    return twin_knn.fixed_gram(table.features, table.n_samples, table.max_abs, mask)


@each_isa
@each("kind", ["float64", "float32", "integers", "offset", "scales", "outlier"])
@each(("n", "p"), [(5, 1), (16, 65), (33, 64), (65, 130), (111, 63)])
def test_fixed_point_gram(isa: str, kind: str, n: int, p: int) -> None:
    fitness = _fitness(kind, n, p)
    for mask in tables.masks(np.random.default_rng(1), p):
        gram, unit = _state(fitness, mask)
        assert unit == twin_knn.unit(fitness.table.max_abs)
        np.testing.assert_array_equal(gram, _twin(fitness, mask))


@each_isa
@each("kind", ["float64", "scales"])
def test_random_walk(isa: str, kind: str) -> None:
    n, p = 65, 130
    fitness = _fitness(kind, n, p)
    rng = np.random.default_rng(2)
    mask = rng.random(p) < 0.5
    for step, f in enumerate(rng.integers(0, p, N_FLIPS)):
        mask[f] ^= True
        gram, _ = _state(fitness, mask, 1 + step % 2)
        if step % 100 == 0:  # other questions in between move the state elsewhere
            fitness.evaluate(rng.random((3, p)) < 0.5)
            fitness.evaluate(Masks.neighbors(~mask, p))
    fresh, _ = _state(_fitness(kind, n, p), mask)
    np.testing.assert_array_equal(gram, fresh)
    np.testing.assert_array_equal(gram, _twin(fitness, mask))


def test_walk_on_wide_data_with_two_threads() -> None:
    """Enough work a move for threads to be woken."""
    n, p = 171, 700
    fitness = _fitness("float64", n, p)
    rng = np.random.default_rng(4)
    mask = rng.random(p) < 0.5
    for _ in range(40):
        mask[rng.integers(0, p, 50)] ^= True
        gram, _ = _state(fitness, mask, 2)
    np.testing.assert_array_equal(gram, _state(_fitness("float64", n, p), mask)[0])
    np.testing.assert_array_equal(gram, gram.T)


def test_far_jumps_and_the_empty_mask() -> None:
    p = 64
    fitness = _fitness("outlier", 17, p)
    for mask in (np.ones(p, bool), np.zeros(p, bool), np.arange(p) < 3, np.arange(p) >= 3):
        np.testing.assert_array_equal(_state(fitness, mask)[0], _twin(fitness, mask))


def test_no_sum_overflows() -> None:
    """All features at their largest: sums of squares stay below 2^60 units."""
    n, p = 5, 3000
    X = np.where(np.arange(n) % 2, 1.0, -1.0)[:, None] * np.linspace(0.999, 1.001, p)
    fitness = compile(KNeighborsClassifier(1), X, np.arange(n) % 2, cv=2)
    assert isinstance(fitness, KnnFitness)
    gram, unit = _state(fitness, np.ones(p, bool))
    assert 0 < np.abs(gram).max() < 2**60
    features = fitness.table.features[:, :n].astype(np.float64)
    np.testing.assert_allclose(gram * unit, features.T @ features, rtol=1e-9)
