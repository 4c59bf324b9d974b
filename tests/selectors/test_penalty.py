"""A fitness that charges for features: what it is told, and that nothing of it is reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bitsieve import Masks
from bitsieve.fitness import compile
from bitsieve.search import BinarySPSASearch, run
from bitsieve.selectors._penalty import SizePenalized, without_penalty
from bitsieve.testing import check_fitness
from bitsieve.testing._draws import table


def _compiled(penalty: float, n_jobs: int = 1, **options: Any) -> SizePenalized:
    X, y = table(60, 12)
    options = {"cv": 3, "resample": True, "n_repeats": 2, **options}
    return SizePenalized(compile(KNeighborsClassifier(1), X, y, n_jobs=n_jobs, **options), penalty)


def test_it_is_the_fitness_less_a_price_for_each_feature() -> None:
    paid = _compiled(0.01)
    fitness = paid.fitness
    masks = Masks.from_bool(np.random.default_rng(0).random((9, 12)) < 0.5)
    seeds = np.arange(9, dtype=np.uint64)
    price = 0.01 * masks.to_bool().sum(axis=1)
    np.testing.assert_array_equal(
        paid.evaluate(masks, seeds), fitness.evaluate(masks, seeds) - price
    )
    np.testing.assert_array_equal(
        paid.evaluate_splits(masks, seeds), fitness.evaluate_splits(masks, seeds) - price[:, None]
    )
    np.testing.assert_array_equal(paid.evaluate(masks.to_bool(), 3), paid.evaluate(masks, 3))
    assert paid.fingerprint() != fitness.fingerprint()
    assert paid.fingerprint() != _compiled(0.02).fingerprint()
    assert paid.fingerprint() == _compiled(0.01).fingerprint()


def test_keeps_the_contract_of_a_fitness() -> None:
    check_fitness(
        lambda n_jobs: _compiled(0.01, n_jobs),
        others=[lambda n_jobs: _compiled(0.02), lambda n_jobs: _compiled(0.01, cv=4)],
        skip=["mean_over_splits"],  # but for the last bit
    )
    masks = Masks.from_bool(np.random.default_rng(0).random((50, 12)) < 0.5)
    paid = _compiled(0.01)
    np.testing.assert_allclose(
        paid.evaluate(masks, 3), paid.evaluate_splits(masks, 3).mean(axis=1), rtol=1e-14
    )


def test_everything_else_is_the_fitness_own() -> None:
    X, y = table(60, 12)
    knn = _compiled(0.1)
    assert (knn.kernel, knn.fallback_reason, knn.n_declined) == ("knn", None, 0)
    tree = SizePenalized(compile(DecisionTreeClassifier(), X, y, cv=3, n_jobs=1), 0.1)
    assert tree.kernel is None
    assert "DecisionTreeClassifier" in tree.fallback_reason
    assert not hasattr(tree, "n_declined")
    X[:, 5] = X[:, 6]
    singular = SizePenalized(compile(RidgeClassifier(alpha=0.0), X, y, cv=3, n_jobs=1), 0.1)
    singular.evaluate(Masks.from_indices([[5, 6]], 12))
    assert singular.n_declined == singular.fitness.n_declined == 1
    fixed = SizePenalized(compile(KNeighborsClassifier(1), X, y, cv=3), 0.1)
    assert fixed.resample is False
    fresh = fixed.resampled()
    assert (type(fresh), fresh.penalty, fresh.resample) == (SizePenalized, 0.1, True)

    class Toy:
        n_features, resample = 3, False

        def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
            return np.zeros(len(masks))

    toy = SizePenalized(Toy(), 0.5)
    for name in ("fingerprint", "resampled", "evaluate_splits", "kernel"):
        assert not hasattr(toy, name)
    assert toy.evaluate(Masks.full(3)).tolist() == [-1.5]
    Toy.resampled = lambda self: None  # type: ignore[attr-defined]
    assert toy.resampled() is None


def test_compact_masks_are_counted_as_they_stand() -> None:
    p = 20_000

    class Toy:
        n_features, resample = p, False

        def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
            return np.zeros(len(masks))

    near = Masks.neighbors(np.arange(p) % 2 == 0, p)
    scores = SizePenalized(Toy(), 0.5).evaluate(near)
    np.testing.assert_array_equal(scores, -0.5 * (p // 2 + np.where(np.arange(p) % 2, 1, -1)))
    assert near._words is None  # 50 MB that nobody asked for


@pytest.mark.parametrize("penalty", [-0.1, float("nan"), float("inf"), "0.1", None, True])
def test_penalties_that_cannot_be(penalty: Any) -> None:
    with pytest.raises(ValueError, match="size_penalty must be a finite number from 0 on"):
        _compiled(penalty)


def test_a_result_without_the_penalty_has_the_scores_of_the_fitness() -> None:
    gains = np.linspace(-0.5, 1.0, 12)

    class Linear:
        n_features, resample = 12, False

        def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
            return masks.to_bool() @ gains

    told = run(BinarySPSASearch(12), SizePenalized(Linear(), 0.25), max_iter=300, random_state=0)
    found = without_penalty(told, 0.25)
    np.testing.assert_array_equal(found.support, gains > 0.25)  # what is worth its price
    assert found.best_score == pytest.approx(gains[found.support].sum(), rel=1e-12)
    for one in found.finalists:
        score = pytest.approx(gains[one.mask.to_bool()[0]].sum(), rel=1e-12)
        assert (one.observed_score, one.mean_score, one.measured_score) == (score, score, score)
    assert found.best_observed_score == found.history["best_observed"][-1] == found.best_score
    sizes = told.history["n_selected"]
    np.testing.assert_allclose(found.history["score"], told.history["score"] + 0.25 * sizes)
    assert without_penalty(told, 0.0) is told
