"""Additive models asked as a search asks them: masks by themselves, and pairs, each near the last.

Sums of the last mask are kept and changed by what flips; the answer must be that of a fitness that
keeps none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each, each_isa
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bitsieve import DiagonalLDA
from bitsieve.fitness import compile

N, P = 48, 120
MODELS = [
    GaussianNB(),
    make_pipeline(StandardScaler(), GaussianNB()),
    BernoulliNB(binarize=2.0),
    CategoricalNB(min_categories=12),
    MultinomialNB(),
    ComplementNB(),
    DiagonalLDA(),
]


def _table(kind: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    y = rng.permutation(np.arange(N) % 3)
    if kind == "counts":
        return rng.integers(0, 9, (N, P)).astype(float), y
    X = rng.normal(size=(N, P)) + 0.3 * (y[:, None] == np.arange(P) % 5)
    if kind == "scales":
        X = X * rng.lognormal(0, 3, P) + rng.normal(size=P) * 100
    return X, y


def _walk(n_steps: int, seed: int) -> list[Any]:
    """Pairs a few flips apart; every tenth is far from the last, one is of a feature or two."""
    rng = np.random.default_rng(seed)
    mask = rng.random(P) < 0.5
    out = []
    for step in range(n_steps):
        mask = rng.random(P) < 0.5 if step % 10 == 9 else mask.copy()
        mask[rng.integers(0, P, 2)] ^= True
        mask[5] = True
        other = mask.copy()
        other[rng.integers(0, P, 3)] ^= True
        other[5] = True
        out.append(np.stack([mask, other]))
    single = np.arange(P) == 5
    out[n_steps // 2] = np.stack([single, single ^ (np.arange(P) == 7)])
    return out


def _case(model: Any) -> Any:
    name = model.steps[-1][1] if hasattr(model, "steps") else model
    discrete = isinstance(name, BernoulliNB | CategoricalNB | MultinomialNB | ComplementNB)
    return model, ("counts",) if discrete else ("plain", "scales", "counts")


@each_isa
@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:40])
def test_a_walk_has_the_bits_of_masks_that_nothing_was_kept_for(isa: str, model: Any) -> None:
    model, kinds = _case(model)
    for kind in kinds:
        X, y = _table(kind)
        splits = compile(model, X, y, cv=4, n_repeats=2, n_jobs=1).splits()
        for scoring, n_jobs in (("accuracy", 1), ("accuracy", 2), ("f1_macro", 1)):
            fitness: Any = compile(model, X, y, cv=splits, scoring=scoring, n_jobs=n_jobs)
            assert fitness.kernel is not None
            for step, pair in enumerate(_walk(40, 3)):
                got = fitness.evaluate_splits(pair if step % 3 else pair[:1])
                if step % 4 == 1:
                    anew = compile(model, X, y, cv=splits, scoring=scoring, n_jobs=1)
                    expected = np.concatenate([anew.evaluate_splits(pair[:1])])
                    np.testing.assert_array_equal(got[:1], expected)
                if step % 4 == 3:
                    fitness.evaluate(np.random.default_rng(step).random((9, P)) < 0.5)
            if n_jobs == 1:  # of two threads each keeps its own, and which asks what is chance
                assert fitness._core.counters()["near_masks"] > 30


@each("model", [GaussianNB(), GaussianNB(var_smoothing=1e-2), MultinomialNB(), DiagonalLDA()])
def test_the_end_of_a_walk_is_scikit_learns(model: Any, one_blas_thread: None) -> None:
    X, y = _table("counts")
    fitness: Any = compile(model, X, y, cv=4, n_jobs=1)
    for pair in _walk(12, 5)[8:]:
        got = fitness.evaluate_splits(pair)
        expected = [cross_val_score(model, X[:, mask], y, cv=fitness.splits()) for mask in pair]
        np.testing.assert_array_equal(got, expected)


def test_only_masks_of_the_same_splits_and_near_ones_serve() -> None:
    X, y = _table("plain")
    fitness: Any = compile(BernoulliNB(binarize=0.0), X, y, cv=4, resample=True, n_jobs=1)
    mask = np.arange(P) < 60
    near = mask ^ (np.arange(P) == 3)

    def taken(asked: Any, seed: int) -> int:
        before = fitness._core.counters()["near_masks"]
        fitness.evaluate(asked[None], seed)
        return int(fitness._core.counters()["near_masks"] - before)

    assert taken(mask, 1) == 0
    assert taken(near, 1) == 1
    assert taken(mask, 2) == 0  # other splits
    assert taken(near, 2) == 1
    assert taken(~mask, 2) == 0  # too far
    # What was taken off stays in the bound, until the sums are made anew.
    tried = [taken(~mask if step % 2 else ~near, 2) for step in range(400)]
    assert sum(tried) in range(380, 400)


def test_a_smoothing_that_hardly_moves_is_near() -> None:
    X, y = _table("plain")
    spread = np.argsort(X.var(axis=0))
    mask = np.ones(P, bool)
    for model, expected in ((GaussianNB(), 6), (GaussianNB(var_smoothing=1e-2), 0)):
        fitness: Any = compile(model, X, y, cv=4, n_jobs=1)
        for step in range(8):  # the widest features leave, one by one; the first asks pay a survey
            mask = np.ones(P, bool)
            mask[spread[P - 1 - step :]] = False
            got = fitness.evaluate_splits(mask[None])
            anew = compile(model, X, y, cv=4, n_jobs=1)
            np.testing.assert_array_equal(got, anew.evaluate_splits(mask[None]))
        taken = fitness._core.counters()["near_masks"]
        assert taken >= expected - 2 if expected else taken <= 2
