"""Levels of whole numbers, and the table of bit planes, straight from the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each, each_isa

from bitsieve import _core


def encoded(X: Any, most: int = 256, n_threads: int = 1) -> tuple[Any, Any]:
    return _core.encode_levels(np.ascontiguousarray(X), most=most, n_threads=n_threads)


@pytest.mark.parametrize("kind", ["f4", "f8", "u1", "i1", "i2", "i4", "i8"])
@each("shape", [(1, 1), (2, 3), (15, 64), (16, 65), (33, 130)])
def test_codes_are_places_among_the_distinct_values(kind: str, shape: tuple[int, int]) -> None:
    X = np.random.default_rng(0).integers(0, 100, shape).astype(kind)
    for n_threads in (1, 3):
        codes, n_levels = encoded(X, n_threads=n_threads)
        for j in range(shape[1]):
            levels, places = np.unique(X[:, j], return_inverse=True)
            assert n_levels[j] == len(levels)
            np.testing.assert_array_equal(codes[:, j], places)


def test_wide_and_negative_numbers() -> None:
    columns = [
        [-3, 5, -3, 0],
        [-128, 127, 0, 127],
        [1_000_000, -1_000_000, 0, 7],
        [255, 0, 254, 255],
        [-2_000_000_000, 2_000_000_000, 0, 0],
    ]
    codes, n_levels = encoded(np.array(columns, dtype=float).T)
    np.testing.assert_array_equal(n_levels, [3, 3, 4, 3, 3])
    np.testing.assert_array_equal(codes[:, 2], [3, 0, 1, 2])
    np.testing.assert_array_equal(codes[:, 4], [0, 2, 1, 1])


def test_all_levels_of_a_byte() -> None:
    X = np.random.default_rng(1).permutation(256).astype(np.uint8)[:, None]
    codes, n_levels = encoded(X)
    assert n_levels[0] == 256
    np.testing.assert_array_equal(codes, X)


@each("row", [0, 3, 15, 16, 19])
@each("value", [0.5, 1e-300, 2.0**53, -1e30, np.nan, np.inf])
def test_what_is_no_whole_number_below_2_to_the_53(row: int, value: float) -> None:
    X = np.zeros((20, 70))
    X[row, [2, 69]] = value
    codes, n_levels = encoded(X)
    assert set(np.flatnonzero(n_levels == -1)) == {2, 69}
    assert (np.delete(n_levels, [2, 69]) == 1).all()
    assert (np.delete(codes, [2, 69], axis=1) == 0).all()


def test_integers_of_64_bits() -> None:
    X = np.array([[0, 0], [2**32, 1], [0, 2**53]])
    codes, n_levels = encoded(X)
    np.testing.assert_array_equal(n_levels, [2, -1])
    np.testing.assert_array_equal(codes[:, 0], [0, 1, 0])


def test_too_many_levels() -> None:
    X = np.column_stack([np.arange(20), np.arange(20) % 4, 1000 * np.arange(20)]).astype(float)
    codes, n_levels = encoded(X, most=10)
    np.testing.assert_array_equal(n_levels, [0, 4, 0])
    np.testing.assert_array_equal(codes[:, 1], np.arange(20) % 4)


@each("bound", [1, 2, 3, 8, 9, 256])
@pytest.mark.parametrize("n", [1, 7, 8, 63, 64, 65, 200])
@each_isa
def test_levels_that_do_not_occur_change_nothing(n: int, bound: int, isa: str) -> None:
    rng = np.random.default_rng(n + bound)
    codes = (rng.integers(0, bound, (n, 70)) // 2 * 2).astype(np.uint8)
    y = rng.integers(0, 3, n).astype(np.int32)
    table = _core.DiscreteTable(codes, np.full(70, bound, dtype=np.int32), 2)
    exact = [np.unique(c, return_inverse=True) for c in codes.T]
    compact = np.stack([places for _, places in exact], axis=1).astype(np.uint8)
    n_levels = np.array([len(levels) for levels, _ in exact], dtype=np.int32)
    other = _core.DiscreteTable(compact, n_levels, 1)
    for correction in ("none", "miller_madow", "dirichlet"):
        np.testing.assert_array_equal(
            table.mutual_information(y, 3, correction=correction),
            other.mutual_information(y, 3, correction=correction),
        )
        np.testing.assert_array_equal(table.entropies(correction), other.entropies(correction))


def test_many_samples_and_a_few_features() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 5, (20_001, 4)).astype(np.uint8)
    y = ((codes[:, 1] + rng.integers(0, 2, 20_001)) % 5).astype(np.int32)
    table = _core.DiscreteTable(codes, np.full(4, 5, dtype=np.int32), 2)
    for j in range(4):
        counts = np.zeros((5, 5))
        np.add.at(counts, (codes[:, j], y), 1)
        p = counts / counts.sum()
        outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
        expected = (p[p > 0] * np.log(p[p > 0] / outer[p > 0])).sum()
        found = table.mutual_information(y, 5, np.array([j]))
        np.testing.assert_allclose(found, [expected], rtol=1e-9, atol=1e-12)


@each("bound", [3, 12])
def test_codes_beyond_their_levels_are_refused(bound: int) -> None:
    codes = np.zeros((70, 3), dtype=np.uint8)
    codes[66, 1] = bound
    with pytest.raises(ValueError, match=rf"feature 1 has {bound} and {bound} levels"):
        _core.DiscreteTable(codes, np.full(3, bound, dtype=np.int32), 1)


def test_the_core_refuses_what_does_not_fit() -> None:
    codes = np.zeros((4, 2), dtype=np.uint8)
    levels = np.ones(2, dtype=np.int32)
    table = _core.DiscreteTable(codes, levels, 1)
    y = np.zeros(4, dtype=np.int32)
    for call, message in (
        (lambda: _core.DiscreteTable(codes, levels[:1], 1), "n_levels must have one value"),
        (lambda: _core.DiscreteTable(codes, 0 * levels, 1), r"n_levels must lie in \[1, 256\]"),
        (lambda: table.mutual_information(y[:3], 1), "target must have one code a sample"),
        (lambda: table.mutual_information(y + 1, 1), "codes in"),
        (lambda: table.mutual_information(y, 1, np.array([2])), "features must lie in"),
        (lambda: table.entropies("jackknife"), "correction must be"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    for wrong in (codes.astype(float), codes[::2], codes.tolist()):
        with pytest.raises(TypeError):
            _core.DiscreteTable(wrong, levels, 1)
