"""The Hamming median against a majority vote in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

from bitsieve import Masks, _core


def _twin(masks: np.ndarray, anchor: np.ndarray) -> np.ndarray:
    """Majority of the masks; a tie goes to the anchor's bit."""
    votes = masks.sum(axis=0)
    return np.where(2 * votes == len(masks), anchor, 2 * votes > len(masks))


def _median(masks: np.ndarray, anchor: np.ndarray) -> np.ndarray:
    words = _core.hamming_median(
        Masks.from_bool(masks).words, Masks.from_bool(anchor).words[0].copy()
    )
    return Masks.from_words(words[None, :], len(anchor)).to_bool()[0]


@each("p", [1, 63, 64, 65, 300])
@each("m", [0, 1, 2, 3, 4, 7, 8, 15, 16, 63, 64, 65])
@each("density", [0.1, 0.5, 0.9])
def test_majority(p: int, m: int, density: float) -> None:
    rng = np.random.default_rng([p, m])
    masks, anchor = rng.random((m, p)) < density, rng.random(p) < 0.5
    np.testing.assert_array_equal(_median(masks, anchor), _twin(masks, anchor))


def test_ties_go_to_the_anchor() -> None:
    anchor = np.array([True, False])
    split = np.array([[True, True], [False, False]])
    np.testing.assert_array_equal(_median(split, anchor), anchor)
    np.testing.assert_array_equal(_median(split, ~anchor), ~anchor)
    # Without masks all is a tie; with one there is none.
    np.testing.assert_array_equal(_median(split[:0], anchor), anchor)
    np.testing.assert_array_equal(_median(split[:1], anchor), split[0])


@each("m", [5, 6])
def test_nothing_is_nearer_to_all(m: int) -> None:
    rng = np.random.default_rng(m)
    masks, anchor = rng.random((m, 8)) < 0.5, rng.random(8) < 0.5
    every = (np.arange(256)[:, None] >> np.arange(8)) & 1 == 1
    totals = (every[:, None, :] != masks).sum(axis=(1, 2))
    assert (_median(masks, anchor) != masks).sum() == totals.min()


def test_one_flip_neighbors_have_their_base_as_median() -> None:
    base = np.random.default_rng(2).random(70) < 0.5
    masks = Masks.neighbors(base, 70).to_bool()
    np.testing.assert_array_equal(_median(masks, base), base)


def test_shapes_are_checked() -> None:
    words = np.zeros((2, 3), np.uint64)
    with pytest.raises(ValueError, match=r"shape \(n_masks, n_words\), anchor \(n_words,\)"):
        _core.hamming_median(words, np.zeros(2, np.uint64))
    with pytest.raises(ValueError, match="shape"):
        _core.hamming_median(words[0], words[0])
