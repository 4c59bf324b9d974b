"""Masks under any sizes and contents: what went in comes out, whatever the form."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bitsieve import Masks

p_features = st.integers(1, 200)


@st.composite
def bool_masks(draw: st.DrawFn, least: int = 0) -> np.ndarray:
    shape = (draw(st.integers(least, 6)), draw(p_features))
    return draw(hnp.arrays(np.bool_, shape))


@st.composite
def neighborhoods(draw: st.DrawFn) -> tuple[np.ndarray, list[int]]:
    base = draw(hnp.arrays(np.bool_, draw(p_features)))
    return base, draw(st.lists(st.integers(0, len(base) - 1), max_size=12))


@given(bool_masks())
def test_every_form_is_the_same_batch(array: np.ndarray) -> None:
    m, p = array.shape
    masks = Masks.from_bool(array)
    np.testing.assert_array_equal(masks.to_bool(), array)
    np.testing.assert_array_equal(masks.counts(), array.sum(axis=1))
    assert Masks.from_words(masks.words, p) == masks
    assert Masks.from_indices([masks.indices_of(i) for i in range(m)], p) == masks
    assert pickle.loads(pickle.dumps(masks)) == masks


@given(bool_masks(least=2))
def test_keys_are_equal_where_masks_are(array: np.ndarray) -> None:
    masks = Masks.from_bool(array)
    assert (masks.key(0) == masks.key(1)) == bool(np.array_equal(array[0], array[1]))


@given(neighborhoods(), st.data())
def test_compact_is_its_expansion(case: tuple[np.ndarray, list[int]], data: st.DataObject) -> None:
    base, flips = case
    p = len(base)
    compact = Masks.neighbors(base, p, flips=np.array(flips, dtype=np.int64))
    expected = np.array([base ^ (np.arange(p) == f) for f in flips], dtype=bool).reshape(-1, p)
    which = data.draw(st.lists(st.integers(0, len(flips) - 1), max_size=5)) if flips else []
    part = compact[np.array(which, dtype=np.int64)]
    assert compact.is_compact
    assert part.is_compact
    np.testing.assert_array_equal(part.to_bool(), expected[which])
    assert compact == Masks.from_bool(expected)
    assert pickle.loads(pickle.dumps(compact)) == compact


@settings(max_examples=50)
@given(bool_masks(least=1), st.data())
def test_parts_join_to_the_whole(array: np.ndarray, data: st.DataObject) -> None:
    masks = Masks.from_bool(array)
    cut = data.draw(st.integers(0, len(masks)))
    assert Masks.concatenate([masks[:cut], masks[cut:]]) == masks
