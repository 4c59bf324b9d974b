"""The solvers' Gram matrices have the bits of their twin, whatever way they were made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tables
import twin_solver
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import bitsieve
from bitsieve import Masks, _core
from bitsieve.data import Table
from bitsieve.fitness import compile

Array = np.ndarray[Any, Any]
EMPTY, STATE, PAIR_FIRST, PAIR_SECOND, TABLES, DOUBLES = range(6)


def _isas() -> list[str]:
    before, names = bitsieve.get_isa(), []
    for name in bitsieve.available_isas():
        bitsieve.set_isa(name)
        if _core.has_fma():
            names.append(name)
    bitsieve.set_isa(before)
    return names


ISAS = _isas()


@pytest.fixture(autouse=True)
def _restore_isa():
    before = bitsieve.get_isa()
    yield
    bitsieve.set_isa(before)


def _solver(X: Array) -> _core.SolverGram:
    return _core.SolverGram(Table(X).core)


def _words(masks: Array) -> Array:
    return Masks.from_bool(masks).words


def _alone(X: Array, masks: Array) -> Array:
    """Each mask by an object of its own."""
    return np.concatenate([_solver(X).matrices(_words(mask[None]))[0] for mask in masks])


@each("isa", ISAS)
@each("kind", [k for k in tables.KINDS if k != "long"])
@each(("n", "p"), [(5, 1), (17, 66)])
def test_equals_twin(isa: str, kind: str, n: int, p: int) -> None:
    bitsieve.set_isa(isa)
    X = tables.table(kind, np.random.default_rng(n), n, p)
    masks = tables.masks(np.random.default_rng(1), p)[[0, 1, -2, -1] if n > 5 else slice(None)]
    made, fixed, _ = _solver(X).matrices(_words(masks))
    for mask, gram, is_fixed in zip(masks, made, fixed, strict=True):
        expected, expected_fixed = twin_solver.gram(X, mask)
        assert is_fixed == expected_fixed
        np.testing.assert_array_equal(gram, expected)


def test_both_ways_occur_and_both_are_close_to_exact_sums() -> None:
    rng = np.random.default_rng(0)
    n, p = 21, 150
    X = rng.normal(size=(n, p)) * np.where(np.arange(p) < 75, 1.0, 1e6) + 1e7
    masks = np.stack([np.arange(p) < 75, np.arange(p) >= 75, np.ones(p, bool)])
    made, fixed, _ = _solver(X).matrices(_words(masks))
    assert fixed.tolist() == [False, True, True]
    Z = (X - twin_solver.centred(X)[1]).astype(np.longdouble)
    for mask, gram in zip(masks, made, strict=True):
        exact = Z[:, mask] @ Z[:, mask].T
        norms = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
        assert np.max(np.abs(gram - exact) / norms) < 1e-12


def test_samples_that_are_zero_do_not_count_as_too_coarse() -> None:
    X = np.array([[0.0, 1e-9], [0.0, 3e-9], [2.0, 1e-9], [-2.0, 3e-9]])
    masks = np.array([[True, False], [False, True], [True, True]])
    made, fixed, _ = _solver(X).matrices(_words(masks))
    # The first two samples are zero in the first column; in the second all are below the unit.
    assert fixed.tolist() == [True, False, False]
    np.testing.assert_array_equal(made[0], np.outer([0, 0, 2, -2], [0, 0, 2, -2]))
    np.testing.assert_allclose(np.diag(made[1]), 1e-18, rtol=1e-6)
    np.testing.assert_allclose(np.diag(made[2])[:2], 1e-18, rtol=1e-6)


@each("n_threads", [1, 3])
@each(("kind", "n", "p"), [("float64", 33, 130), ("scales", 20, 70)])
def test_walks_and_batches_give_the_bits_of_single_masks(
    n_threads: int, kind: str, n: int, p: int
) -> None:
    rng = np.random.default_rng(3)
    X = tables.table(kind, rng, n, p)
    solver = _solver(X)
    seen = set()
    base = rng.random(p) < 0.5
    for step in range(60):
        if step < 20:  # a walk
            base = base ^ (rng.random(p) < 0.03)
            masks = base[None]
        elif step < 40:  # pairs about a middle
            sign = rng.random(p) < 0.5
            masks = np.stack([base ^ sign, base ^ ~sign, base])
        else:
            masks = rng.random((int(rng.integers(1, 9)), p)) < rng.random()
        made, _, origins = solver.matrices(_words(masks), n_threads)
        seen |= set(origins.tolist())
        np.testing.assert_array_equal(made, _alone(X, masks))
    assert seen >= {EMPTY, STATE}


def test_the_second_of_a_pair_is_a_difference() -> None:
    rng = np.random.default_rng(5)
    n, p = 12, 200
    X = rng.normal(size=(n, p))
    middle, far = rng.random(p) < 0.5, rng.permutation(p)[:60]
    masks = np.tile(middle, (4, 1))  # the last two hold the state in the middle
    masks[0, far[:30]] ^= True
    masks[1, far[30:]] ^= True
    solver = _solver(X)
    for _ in range(40):
        made, _, origins = solver.matrices(_words(masks))
        if PAIR_SECOND in origins:
            break
    assert {PAIR_FIRST, PAIR_SECOND} <= set(origins.tolist())
    np.testing.assert_array_equal(made, _alone(X, masks))


def test_where_integers_are_too_coarse_they_are_not_made_again() -> None:
    rng = np.random.default_rng(6)
    n, p = 12, 80
    X = rng.normal(size=(n, p)) * np.where(np.arange(p) < 60, 1.0, 1e7)
    small, large = np.arange(p) < 50, np.arange(p) >= 55
    solver = _solver(X)
    for masks, expected in (
        (np.stack([small, large]), None),
        (np.stack([small, small ^ large, large]), DOUBLES),  # the last two are fine nevertheless
        (np.stack([large, small]), None),
        (small[None], DOUBLES),
        (large[None], None),
    ):
        made, fixed, origins = solver.matrices(_words(masks))
        assert fixed.tolist() == masks[:, -1].tolist()
        assert (set(origins.tolist()) == {DOUBLES}) == (expected == DOUBLES)
        np.testing.assert_array_equal(made, _alone(X, masks))


@each("isa", ISAS)
@each(("n", "p"), [(9, 200), (33, 67), (16, 33), (2, 5000)])
def test_tables_of_a_batch_give_the_bits_of_single_masks(isa: str, n: int, p: int) -> None:
    bitsieve.set_isa(isa)
    rng = np.random.default_rng(p)
    X = 1e6 + rng.normal(size=(n, p))
    masks = rng.random((80, p)) < np.where(np.arange(p) % 7 == 0, 0.0, 0.6)
    for n_threads in (1, 3):
        made, _, origins = _solver(X).matrices(_words(masks), n_threads)
        assert set(origins.tolist()) == {TABLES}
        some = np.r_[0, 1, 78, 79]
        np.testing.assert_array_equal(made[some], _alone(X, masks[some]))


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(tables.KINDS)))
def test_no_bit_depends_on_path_batch_threads_or_instruction_set(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 40)), int(rng.integers(1, 90))
    X = tables.table(kind, rng, n, p)
    masks = rng.random((int(rng.integers(1, 50)), p)) < rng.random()
    bitsieve.set_isa(ISAS[0])
    alone = _alone(X, masks)
    solver = _solver(X)
    for isa in ISAS:
        bitsieve.set_isa(isa)
        order = rng.permutation(len(masks))
        for part in np.array_split(order, int(rng.integers(1, 4))):
            made = solver.matrices(_words(masks[part]), int(rng.integers(1, 4)))[0]
            np.testing.assert_array_equal(made, alone[part])


@each("kind", ["float64", "offset", "scales", "counts"])
def test_raw_values(kind: str) -> None:
    rng = np.random.default_rng(2)
    n, p = 19, 90
    X = tables.table(kind, rng, n, p).astype(np.float64)
    masks = tables.masks(rng, p)
    made, sums = _solver(X).raw(_words(masks))
    for mask, gram, row_sums in zip(masks, made, sums, strict=True):
        chosen = X[:, mask].astype(np.longdouble)
        exact = chosen @ chosen.T
        norms = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
        assert np.all(np.abs(gram - exact) <= 5e-12 * norms)  # half the unit a feature
        np.testing.assert_array_equal(gram, gram.T)
        scale = np.abs(chosen).sum(axis=1)
        assert np.all(np.abs(row_sums - chosen.sum(axis=1)) <= 1e-14 * scale)


def test_without_a_fused_multiply_add_it_refuses() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    solver = _solver(X)
    for isa in set(bitsieve.available_isas()) - set(ISAS):
        bitsieve.set_isa(isa)
        with pytest.raises(ValueError, match="no fused multiply-add"):
            solver.matrices(_words(np.ones((1, 3), bool)))


def test_too_many_samples_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(_core.matrix_samples + 1, 2))
    with pytest.raises(ValueError, match="too many samples"):
        _solver(X)


@pytest.mark.slow
def test_a_batch_beyond_what_is_kept_is_prepared_in_parts() -> None:
    """Of 500 samples sums of 134 masks are kept: each part is planned and read by itself."""
    if not _core.has_fma():
        pytest.skip("solvers need a fused multiply-add")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 560)), rng.normal(size=500)
    masks = rng.random((160, 560)) < 0.95
    fitness = compile(Ridge(alpha=5.0), X, y, cv=3, n_jobs=2)
    found = fitness.evaluate_splits(masks)
    for part in (slice(0, 12), slice(128, 160)):
        alone = compile(Ridge(alpha=5.0), X, y, cv=3, n_jobs=1)
        np.testing.assert_array_equal(alone.evaluate_splits(masks[part]), found[part])
    near = Masks.from_flips(masks[0], np.arange(161) * 2, rng.integers(0, 560, 320))
    expected = fitness.evaluate_splits(near.to_bool())
    np.testing.assert_array_equal(fitness.evaluate_splits(near), expected)
