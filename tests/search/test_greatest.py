"""The greatest of some scores with ties, and the flip between two masks, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

from bitsieve import _core


def greatest(values, place):
    """The same in plain numpy."""
    ties = np.flatnonzero(values == values.max())
    return int(ties[int(place * len(ties))])


@each("n", [1, 2, 7, 8, 9, 15, 16, 17, 64, 333, 2229])
def test_the_greatest_and_its_ties_are_numpys(n):
    rng = np.random.default_rng(n)
    for levels in (1, 2, 5, 10**9):
        for sign in (1.0, -1.0):
            values = sign * rng.integers(0, levels, n) / levels
            for place in (0.0, 0.3, 0.5, 0.999, np.nextafter(1.0, 0.0), *rng.random(5)):
                assert _core.greatest(values, float(place)) == greatest(values, place)
        values[rng.integers(n)] = np.finfo(float).max
        assert _core.greatest(values, 0.0) == greatest(values, 0.0)


def test_zeros_of_either_sign_are_a_tie():
    values = np.array([-1.0, -0.0, 0.0])
    assert [_core.greatest(values, place) for place in (0.0, 0.5)] == [1, 2]


@each(
    "values, place, words",
    [
        (np.empty(0), 0.0, "not empty"),
        (np.ones((2, 2)), 0.0, "one-dimensional"),
        (np.array([1.0, np.nan]), 0.0, "NaN"),
        (np.ones(2), 1.0, r"\[0, 1\)"),
        (np.ones(2), -0.1, r"\[0, 1\)"),
        (np.ones(2), np.nan, r"\[0, 1\)"),
    ],
)
def test_refusals(values, place, words):
    with pytest.raises(ValueError, match=words):
        _core.greatest(values, place)


@each("p", [1, 63, 64, 65, 130, 1000])
def test_the_flip_between_two_masks_is_numpys(p):
    rng = np.random.default_rng(p)
    from_ = rng.random(p) < 0.5
    flips = rng.integers(0, p, 3 * p // 2)
    words = _core.mask_pack(from_[None])[0]
    for n_apart in (0, 1, 2, 3):
        for _ in range(30):
            to = from_.copy()
            to[rng.integers(0, p, n_apart)] ^= True
            differs = np.flatnonzero(to != from_)
            places = np.flatnonzero(flips == differs[0]) if len(differs) == 1 else []
            expected = int(places[0]) if len(places) else -1
            assert _core.mask_find_flip(words, _core.mask_pack(to[None])[0], flips) == expected


def test_masks_of_other_lengths_are_refused():
    one, two = np.zeros(1, np.uint64), np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match="as long"):
        _core.mask_find_flip(one, two, np.zeros(1, np.int64))
