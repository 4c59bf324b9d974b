"""Folds, median and generator of the core under any sizes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bitsieve import Masks, _core

seeds = st.integers(0, 2**64 - 1)


@settings(max_examples=50)
@given(seeds, seeds, st.integers(0, 2**40), st.integers(0, 6), st.integers(0, 30))
def test_a_stream_has_no_memory(seed: int, stream: int, block: int, skip: int, n: int) -> None:
    whole = _core.philox(seed, stream, block, 4 * skip + n)
    np.testing.assert_array_equal(whole[4 * skip :], _core.philox(seed, stream, block + skip, n))


@given(
    hnp.arrays(np.int32, st.integers(2, 60), elements=st.integers(0, 5)),
    st.integers(2, 10),
    st.integers(1, 3),
    seeds,
)
def test_stratified_folds_are_level(
    codes: np.ndarray, n_splits: int, n_repeats: int, seed: int
) -> None:
    n_splits = min(n_splits, len(codes))
    folds = _core.stratified_folds(codes, 6, n_splits, n_repeats, seed)
    for row in folds:
        sizes = np.bincount(row, minlength=n_splits)
        assert len(sizes) == n_splits
        assert sizes.max() - sizes.min() <= 1
        for code in np.unique(codes):
            members = np.bincount(row[codes == code], minlength=n_splits)
            assert members.max() - members.min() <= 1


@given(st.integers(2, 80), st.integers(2, 10), seeds)
def test_shuffled_folds_are_level(n: int, n_splits: int, seed: int) -> None:
    n_splits = min(n_splits, n)
    (row,) = _core.shuffled_folds(n, n_splits, 1, seed)
    assert np.bincount(row, minlength=n_splits).tolist() == [
        n // n_splits + (f < n % n_splits) for f in range(n_splits)
    ]


@given(
    st.tuples(st.integers(0, 9), st.integers(1, 130)).flatmap(
        lambda shape: st.tuples(hnp.arrays(np.bool_, shape), hnp.arrays(np.bool_, shape[1]))
    )
)
def test_median_is_the_majority(case: tuple[np.ndarray, np.ndarray]) -> None:
    masks, anchor = case
    votes, m = masks.sum(axis=0), len(masks)
    expected = np.where(2 * votes == m, anchor, 2 * votes > m)
    words = _core.hamming_median(
        np.ascontiguousarray(Masks.from_bool(masks).words), Masks.from_bool(anchor).words[0].copy()
    )
    np.testing.assert_array_equal(Masks.from_words(words[None], len(anchor)).to_bool()[0], expected)
