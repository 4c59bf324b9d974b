"""Masks: round trips, tails, the compact form, what is refused and in which words."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from each import each

from bitsieve import Masks

# Around the borders of a word, where tails go wrong.
SIZES = [1, 2, 63, 64, 65, 127, 128, 129, 1000]


def _random(m: int, p: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, m, p]).random((m, p)) < 0.5


def _twin_words(array: np.ndarray) -> np.ndarray:
    """Pack by numpy: bytes of little-endian bits, padded to whole words."""
    m, p = array.shape
    padded = np.zeros((m, (p + 63) // 64 * 64), dtype=bool)
    padded[:, :p] = array
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


@each("p", SIZES)
@each("m", [0, 1, 5])
def test_bool_round_trip_and_words(m: int, p: int) -> None:
    array = _random(m, p)
    masks = Masks.from_bool(array)
    assert (len(masks), masks.n_features, masks.is_compact) == (m, p, False)
    assert masks.words.dtype == np.uint64
    np.testing.assert_array_equal(masks.words, _twin_words(array))
    np.testing.assert_array_equal(masks.to_bool(), array)
    np.testing.assert_array_equal(masks.counts(), array.sum(axis=1))
    assert masks.counts().dtype == np.int64


@each("p", SIZES)
def test_words_and_indices_round_trip(p: int) -> None:
    array = _random(4, p)
    masks = Masks.from_bool(array)
    assert Masks.from_words(masks.words, p) == masks
    lists = [masks.indices_of(i) for i in range(4)]
    for row, indices in zip(array, lists, strict=True):
        assert indices.dtype == np.int64
        np.testing.assert_array_equal(indices, np.flatnonzero(row))
    assert Masks.from_indices(lists, p) == masks


def test_indices_may_repeat_and_come_in_any_order() -> None:
    expected = [[True, False, True]]
    assert Masks.from_indices([[2, 0, 2]], 3).to_bool().tolist() == expected
    assert Masks.from_indices([(2, 0)], 3).to_bool().tolist() == expected
    assert Masks.from_indices(iter([np.array([0, 2], np.uint8)]), 3).to_bool().tolist() == expected


@each("p", SIZES)
def test_empty_and_full_keep_tail_bits_zero(p: int) -> None:
    empty, full = Masks.empty(p), Masks.full(p)
    assert (len(empty), len(full)) == (1, 1)
    assert empty.counts().tolist() == [0]
    assert full.counts().tolist() == [p]
    used = p % 64 or 64
    assert int(full.words[0, -1]) == 2**used - 1


def test_one_dimension_is_one_mask() -> None:
    assert Masks.from_bool([True, False]).to_bool().tolist() == [[True, False]]


@each("layout", ["fortran", "strided", "readonly", "list"])
def test_layout_of_the_input_does_not_matter(layout: str) -> None:
    array = _random(6, 70)
    given = {
        "fortran": np.asfortranarray(array),
        "strided": np.repeat(array, 2, axis=1)[:, ::2],
        "readonly": array.copy(),
        "list": array.tolist(),
    }[layout]
    if layout == "readonly":
        given.setflags(write=False)
    assert Masks.from_bool(given) == Masks.from_bool(array)


class TestCompact:
    @each("p", SIZES)
    def test_equals_its_expansion(self, p: int) -> None:
        base = _random(1, p)[0]
        masks = Masks.neighbors(base, p)
        assert masks.is_compact
        assert len(masks) == p
        expected = base ^ np.eye(p, dtype=bool)
        np.testing.assert_array_equal(masks[:].to_bool(), expected)
        np.testing.assert_array_equal(masks.counts(), expected.sum(axis=1))
        assert masks == Masks.from_bool(expected)
        assert masks.is_compact  # still, after its words were asked for

    def test_base_may_be_words(self) -> None:
        base = _random(1, 70)
        words = Masks.from_bool(base).words
        assert Masks.neighbors(words[0], 70) == Masks.neighbors(base[0], 70)
        assert Masks.neighbors(words, 70) == Masks.neighbors(base[0], 70)

    def test_chosen_flips(self) -> None:
        base = np.zeros(5, dtype=bool)
        masks = Masks.neighbors(base, 5, flips=[3, 1, 3])
        assert [masks.indices_of(i).tolist() for i in range(3)] == [[3], [1], [3]]
        assert masks.key(0) == masks.key(2)
        assert len(Masks.neighbors(base, 5, flips=[])) == 0

    @each("which", [2, -1, slice(1, 60, 7), slice(0, 0), np.array([5, 0, 5]), [64, 3]])
    def test_parts_are_those_of_the_expansion(self, which: object) -> None:
        base = _random(1, 65)[0]
        expanded = Masks.from_bool(base ^ np.eye(65, dtype=bool))
        before = Masks.neighbors(base, 65)[which]  # type: ignore[index]
        assert before.is_compact
        assert before == expanded[which]  # type: ignore[index]

    def test_lists_of_flips(self) -> None:
        rng = np.random.default_rng(4)
        for p in SIZES:
            base = _random(1, p)[0]
            # None, one, all, the same twice and thrice (once alone counts), and some.
            lists = [[], [p - 1], range(p), [0, 0], [p - 1, 0, p - 1, p - 1], rng.integers(0, p, 9)]
            indptr, indices = np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(int)
            expected = np.array(
                [
                    base ^ (np.bincount(f, minlength=p) % 2 == 1)
                    for f in map(lambda f: np.array(f, int), lists)
                ]
            )
            for form in (
                base,
                base.tolist(),
                Masks.from_bool(base),
                Masks.neighbors(~base, p)[p // 2],
            ):
                masks = Masks.from_flips(form, indptr, indices)
                if isinstance(form, Masks) and form.is_compact:
                    expected = expected ^ base ^ form.to_bool()
                assert masks.is_compact
                assert masks._words is None
                np.testing.assert_array_equal(masks.counts(), expected.sum(axis=1))
                assert [masks.find(Masks.from_bool(e)) for e in expected] == [
                    np.flatnonzero((expected == e).all(axis=1))[0] for e in expected
                ]
                assert masks._words is None  # neither wrote them down
                np.testing.assert_array_equal(masks.to_bool(), expected)

    def test_all_swaps_are_found_and_counted_without_their_words(self) -> None:
        p = 4000
        inside, outside = np.divmod(np.arange(20 * (p - 20)), p - 20)
        flips = np.column_stack([inside, 20 + outside])
        swaps = Masks.from_flips(np.arange(p) < 20, 2 * np.arange(len(flips) + 1), flips.ravel())
        assert (swaps.counts() == 20).all()
        row = 54_321
        wanted = (np.arange(p) < 20) ^ np.isin(np.arange(p), flips[row])
        assert swaps.find(Masks.from_bool(wanted)) == row
        assert swaps.find(Masks.from_bool(np.arange(p) < 20)) == -1
        assert swaps[row].to_bool()[0].tolist() == wanted.tolist()
        assert swaps._words is None

    @each("p", [2, 5, 64, 65, 130])
    def test_swaps(self, p: int) -> None:
        base = np.arange(p) % 3 == 1
        leave, come = np.flatnonzero(base), np.flatnonzero(~base)
        pairs = [(i, j) for i in leave for j in come]
        for form in (base, base.tolist(), Masks.from_bool(base)):
            swaps = Masks.swaps(form)
            assert swaps.is_compact
            expected = np.array([base ^ np.isin(np.arange(p), pair) for pair in pairs])
            np.testing.assert_array_equal(swaps.to_bool(), expected)
            assert (swaps.counts() == base.sum()).all()
        # Some, in an order of their own and twice.
        leave, come = leave[::-1], np.append(come[::2], come[0])
        swaps = Masks.swaps(base, out=leave, in_=come)
        expected = [base ^ np.isin(np.arange(p), (i, j)) for i in leave for j in come]
        np.testing.assert_array_equal(swaps.to_bool(), expected)
        for none in (
            Masks.swaps(base, out=[]),
            Masks.swaps(Masks.full(p)),
            Masks.swaps(Masks.empty(p)),
        ):
            assert (len(none), none.n_features, none.is_compact) == (0, p, True)

    def test_all_swaps_of_many_features_take_two_flips_each(self) -> None:
        swaps = Masks.swaps(np.arange(22_283) % 1000 == 3)
        assert len(swaps) == 23 * (22_283 - 23)
        held = sum(a.nbytes for a in (swaps.base, swaps.indptr, swaps.indices) if a is not None)
        assert held < 24 * len(swaps) + 10_000
        rows = np.arange(len(swaps))[::-1]
        part = swaps[rows]  # lists are gathered at once
        assert part.is_compact
        assert swaps._words is None
        assert part[0] == swaps[-1]
        assert part[77_777] == swaps[len(swaps) - 1 - 77_777]

    def test_memory_is_of_order_p(self) -> None:
        masks = Masks.neighbors(np.zeros(1_000_000, dtype=bool), 1_000_000)
        assert len(masks) == 1_000_000
        assert masks[999_999].indices_of(0).tolist() == [999_999]
        held = sum(a.nbytes for a in (masks.base, masks.indptr, masks.indices) if a is not None)
        assert held < 20_000_000

    def test_base_is_not_shared_with_the_caller(self) -> None:
        base = Masks.empty(3).words.copy()
        masks = Masks.neighbors(base, 3)
        base[:] = 7
        assert masks.counts().tolist() == [1, 1, 1]

    def test_flips_are_not_shared_with_the_caller(self) -> None:
        flips = np.array([0, 1], dtype=np.int64)
        masks = Masks.neighbors(np.zeros(3, dtype=bool), 3, flips=flips)
        indptr = np.array([0, 1, 2])
        lists = Masks.from_flips(np.zeros(3, dtype=bool), indptr, flips)
        flips[:], indptr[:] = 2, 0  # must be allowed, and must change nothing
        assert [masks.indices_of(i).tolist() for i in range(2)] == [[0], [1]]
        assert [lists.indices_of(i).tolist() for i in range(2)] == [[0], [1]]


class TestSequence:
    def test_parts(self) -> None:
        array = _random(7, 65)
        masks = Masks.from_bool(array)
        assert masks[3] == Masks.from_bool(array[3])
        assert masks[-1] == Masks.from_bool(array[-1])
        assert masks[2:5] == Masks.from_bool(array[2:5])
        assert masks[np.array([4, 4, 0])] == Masks.from_bool(array[[4, 4, 0]])
        assert [len(mask) for mask in masks] == [1] * 7
        assert Masks.concatenate(list(masks)) == masks

    def test_out_of_range(self) -> None:
        masks = Masks.from_bool(_random(2, 3))
        with pytest.raises(IndexError, match="mask 2 of 2"):
            masks[2]
        with pytest.raises(IndexError, match="mask -3 of 2"):
            masks[-3]

    def test_concatenate_mixes_forms(self) -> None:
        base = np.zeros(66, dtype=bool)
        near, full = Masks.neighbors(base, 66, flips=[65]), Masks.full(66)
        joined = Masks.concatenate([near, full])
        assert joined.counts().tolist() == [1, 66]

    def test_concatenate_refuses(self) -> None:
        with pytest.raises(ValueError, match="at least one batch"):
            Masks.concatenate([])
        with pytest.raises(ValueError, match=r"different numbers of features: \[3, 4\]"):
            Masks.concatenate([Masks.empty(3), Masks.empty(4)])

    def test_equality(self) -> None:
        masks = Masks.from_indices([[0]], 3)
        assert masks == Masks.from_bool([True, False, False])
        assert masks != Masks.from_indices([[1]], 3)
        assert masks != Masks.from_indices([[0]], 4)  # same words, another number of features
        assert masks != "masks"
        with pytest.raises(TypeError, match="unhashable"):
            hash(masks)

    def test_keys_tell_masks_apart(self) -> None:
        masks = Masks.from_bool(_random(64, 70))
        keys = {masks.key(i) for i in range(64)}
        assert len(keys) == 64
        assert masks.key(0) == Masks.from_bool(masks.to_bool()).key(0)

    def test_repr(self) -> None:
        assert repr(Masks.full(3)) == "<Masks: 1 of 3 features>"
        assert repr(Masks.neighbors([True, False], 2)) == "<Masks: compact, 2 of 2 features>"


@each("p", [1, 63, 64, 65])
@each("compact", [False, True])
@each("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle_and_copy(p: int, compact: bool, protocol: int) -> None:
    base = _random(1, p)[0]
    masks = Masks.neighbors(base, p) if compact else Masks.from_bool(base)
    for twin in (pickle.loads(pickle.dumps(masks, protocol)), copy.deepcopy(masks)):
        assert twin == masks
        assert twin.is_compact == compact
        assert not twin.words.flags.writeable


def test_immutable() -> None:
    array = _random(2, 5)
    masks = Masks.from_bool(array)
    before = masks.to_bool().copy()
    array[:] = False
    np.testing.assert_array_equal(masks.to_bool(), before)
    with pytest.raises(ValueError, match="read-only"):
        masks.words[0, 0] = 0
    words = masks.words.copy()
    taken = Masks.from_words(words, 5)
    words[:] = 0
    assert taken == masks


def test_words_are_taken_without_a_copy_where_that_is_promised() -> None:
    words = Masks.from_bool(_random(6, 130)).words.copy()
    taken = Masks.from_words(words, 130, copy=False)
    assert np.shares_memory(taken.words, words)
    assert words.flags.writeable  # the caller's own array is left as it was
    with pytest.raises(ValueError, match="read-only"):
        taken.words[0, 0] = 0
    assert taken == Masks.from_words(words, 130)
    # What is not in C order has to be copied, and what is wrong is refused all the same.
    for other in (np.asfortranarray(words), words[::-1, :], np.repeat(words, 2, axis=0)[::2]):
        near = Masks.from_words(other, 130, copy=False)
        assert near.words.flags.c_contiguous
        np.testing.assert_array_equal(near.words, other)
    with pytest.raises(ValueError, match="past feature 128"):
        Masks.from_words(np.full((1, 3), 2, np.uint64), 129, copy=False)


class TestRefusals:
    def test_no_constructor(self) -> None:
        with pytest.raises(TypeError, match=r"Masks\.from_bool, from_indices"):
            Masks()

    @each("dtype", [np.int64, np.uint8, np.float64, object])
    def test_numbers_are_not_masks(self, dtype: type) -> None:
        with pytest.raises(ValueError, match=r"boolean.*got dtype .*Masks\.from_indices.*astype"):
            Masks.from_bool(np.ones((2, 3), dtype=dtype))

    @each("shape", [(), (0,), (2, 0), (1, 2, 3)])
    def test_shape(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match="shape"):
            Masks.from_bool(np.ones(shape, dtype=bool))

    @pytest.mark.parametrize(
        ("subsets", "message"),
        [
            ([[0, 3]], r"subset 0 has indices from 0 to 3; with n_features=3 .* \[0, 2\]"),
            ([[0], [-1]], r"subset 1 has indices from -1 to -1"),
            ([[0.5]], "subset 0 must be a list of whole numbers"),
            ([["a"]], "subset 0 must be a list of whole numbers"),
            ([[True, False]], "subset 0 must be a list of whole numbers"),
            ([[[0, 1]]], "subset 0 must be a list of whole numbers"),
        ],
    )
    def test_indices(self, subsets: object, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Masks.from_indices(subsets, 3)  # type: ignore[arg-type]

    @each(
        "words",
        [np.zeros((1, 2), np.uint64), np.zeros((1, 1), np.int64), np.zeros(1, np.uint64)],
    )
    def test_words_of_another_kind(self, words: np.ndarray) -> None:
        with pytest.raises(ValueError, match=r"uint64 of shape \(n_masks, 1\) for 3 features"):
            Masks.from_words(words, 3)

    def test_words_with_bits_in_the_tail(self) -> None:
        with pytest.raises(ValueError, match="past feature 2"):
            Masks.from_words(np.array([[8]], np.uint64), 3)

    @each("n_features", [0, -1])
    def test_too_few_features(self, n_features: int) -> None:
        for make in (Masks.empty, Masks.full, lambda p: Masks.from_indices([], p)):
            with pytest.raises(ValueError, match=f"from 1 on, got {n_features}"):
                make(n_features)

    @each("n_features", [2.0, "2", True, None])
    def test_number_of_features_of_another_type(self, n_features: object) -> None:
        with pytest.raises(ValueError, match="n_features must be a whole number"):
            Masks.empty(n_features)  # type: ignore[arg-type]

    def test_flips(self) -> None:
        cases: list[tuple[Any, Any, Any, str]] = [
            (Masks.from_indices([[0], [1]], 3), [0], [], "base must be one mask, got 2"),
            (np.zeros((2, 3), bool), [0], [], "base must be one mask of 3 features"),
            ([0, 1, 1], [0], [], "boolean"),
            (True, [0], [], "at least one feature"),
            (np.zeros(3, bool), [], [], r"from 0 to the number of indices, 0, with n_masks \+ 1"),
            (np.zeros(3, bool), [1], [0], "indptr must ascend from 0 to the number of indices, 1,"),
            (np.zeros(3, bool), [0, 2], [0], "indptr must ascend"),
            (np.zeros(3, bool), [0, 2, 1, 2], [0, 1], "indptr must ascend"),
            (
                np.zeros(3, bool),
                [0.0, 1.0],
                [0],
                r"indptr must be whole .* got float64 of shape \(",
            ),
            (np.zeros(3, bool), [0, 1], [True], "indices must be whole numbers"),
            (np.zeros(3, bool), [0, 1], [[0]], r"indices must be whole .* of shape \(1, 1\)"),
            (np.zeros(3, bool), [0, 1], [3], r"from 3 to 3; with 3 features they .* \[0, 2\]"),
            (np.zeros(3, bool), [0, 1], [-1], "indices go from -1 to -1"),
            (np.zeros(3, bool), [0, 1], [2**63], r"indices must be below 2\*\*63"),
        ]
        for base, indptr, indices, message in cases:
            with pytest.raises(ValueError, match=message):
                Masks.from_flips(base, indptr, indices)

    def test_swaps(self) -> None:
        base = np.array([True, False, True])
        cases: list[tuple[Any, Any, Any, str]] = [
            (Masks.empty(3)[[0, 0]], None, None, "mask must be one mask, got 2"),
            (np.zeros((2, 3), bool), None, None, "mask must be one mask of 3 features"),
            ([0, 1, 1], None, None, "boolean"),
            (base, [1], None, "out has feature 1, which is not in the mask"),
            (base, None, [1, 2], "in_ has feature 2, which is in the mask already"),
            (base, [3], None, r"out must lie in \[0, 2\]"),
            (base, None, [-1], r"in_ must lie in \[0, 2\]"),
            (base, [0.5], None, r"out must be a list of feature indices, got float64"),
            (
                base,
                None,
                [[1]],
                r"in_ must be a list of feature indices, got int64 of shape \(1, 1",
            ),
            (base, base, None, "out must be a list of feature indices, got bool"),
        ]
        for mask, out, in_, message in cases:
            with pytest.raises(ValueError, match=message):
                Masks.swaps(mask, out=out, in_=in_)

    def test_one_mask_is_looked_for(self) -> None:
        for other in (Masks.empty(4), Masks.from_indices([[0], [1]], 3)):
            with pytest.raises(ValueError, match="mask must be one of 3 features, got <Masks"):
                Masks.empty(3).find(other)

    def test_neighbors(self) -> None:
        with pytest.raises(ValueError, match="one mask of 3 features"):
            Masks.neighbors([True, False], 3)
        with pytest.raises(ValueError, match=r"flips must lie in \[0, 2\]"):
            Masks.neighbors(np.zeros(3, dtype=bool), 3, flips=[3])
        with pytest.raises(ValueError, match="flips must be a list of feature indices"):
            Masks.neighbors(np.zeros(3, dtype=bool), 3, flips=[0.5])
        with pytest.raises(ValueError, match="boolean"):
            Masks.neighbors([0, 1, 1], 3)
