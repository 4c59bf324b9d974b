"""Fresh folds: scikit-learn's sizes, another draw for every seed, and nobody preferred."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from each import each
from scipy.stats import chi2
from sklearn.model_selection import KFold, StratifiedKFold

from bitsieve import _core


def _codes(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _label_vectors() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    drawn = [
        rng.integers(0, n_classes, size=n) for n in (10, 23, 64, 171) for n_classes in (2, 3, 10)
    ]
    sorted_ones = [np.sort(labels) for labels in drawn[:6]]
    reversed_ones = [labels[::-1] for labels in sorted_ones]
    words = np.array(["tumour", "normal", "control", "benign"])
    strings = [words[labels % 4] for labels in drawn[3:9]]
    rare = [np.array([0] * 20 + [1]), np.array([2, 2, 2, 2, 2, 2, 0, 1, 1, 0, 0])]
    return drawn + sorted_ones + reversed_ones + strings + rare


def _class_counts(folds: np.ndarray, codes: np.ndarray, n_splits: int) -> np.ndarray:
    counts = np.zeros((n_splits, codes.max() + 1), dtype=int)
    np.add.at(counts, (folds, codes), 1)
    return counts


class TestStratified:
    @each("n_splits", [2, 3, 5, 10])
    @each("labels", _label_vectors())
    def test_class_counts_are_those_of_scikit_learn(
        self, labels: np.ndarray, n_splits: int
    ) -> None:
        codes = _codes(labels)
        if np.bincount(codes).max() < n_splits:
            return  # scikit-learn refuses: every class is smaller than the folds
        expected = np.zeros((n_splits, codes.max() + 1), dtype=int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the least populated class
            splits = list(StratifiedKFold(n_splits).split(np.zeros(len(labels)), labels))
        for f, (_, test) in enumerate(splits):
            expected[f] = np.bincount(codes[test], minlength=codes.max() + 1)
        folds = _core.stratified_folds(codes, int(codes.max()) + 1, n_splits, 3, 11)
        assert folds.shape == (3, len(labels))
        assert folds.dtype == np.int32
        for row in folds:
            np.testing.assert_array_equal(_class_counts(row, codes, n_splits), expected)

    def test_classes_that_do_not_occur_change_nothing(self) -> None:
        codes = np.array([0, 3, 0, 3, 3, 0, 3], np.int32)
        np.testing.assert_array_equal(
            _core.stratified_folds(codes, 4, 3, 2, 5), _core.stratified_folds(codes, 9, 3, 2, 5)
        )

    def test_seeds_and_repeats_are_fresh(self) -> None:
        codes = np.arange(40, dtype=np.int32) % 2
        drawn = [_core.stratified_folds(codes, 2, 5, 10, seed) for seed in (0, 1, 2**64 - 1)]
        rows = {row.tobytes() for folds in drawn for row in folds}
        assert len(rows) == 30
        np.testing.assert_array_equal(drawn[1], _core.stratified_folds(codes, 2, 5, 10, 1))

    def test_a_repeat_does_not_depend_on_how_many_there_are(self) -> None:
        codes = np.arange(40, dtype=np.int32) % 3
        many, few = (_core.stratified_folds(codes, 3, 4, r, 8) for r in (6, 2))
        np.testing.assert_array_equal(many[:2], few)

    def test_every_sample_meets_every_fold_as_often(self) -> None:
        codes = np.array([0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0], np.int32)  # 7 and 4, in 3 folds
        n_repeats = 6000
        folds = _core.stratified_folds(codes, 2, 3, n_repeats, 4)
        sizes = _class_counts(folds[0], codes, 3)
        statistic = 0.0
        for i, code in enumerate(codes):
            share = sizes[:, code] / sizes[:, code].sum()
            seen = np.bincount(folds[:, i], minlength=3)
            statistic += (((seen - n_repeats * share) ** 2) / (n_repeats * share)).sum()
        # Samples of a class share the folds, so the degrees of freedom are below 11 * 2.
        assert statistic < chi2.isf(1e-4, 11 * 2)

    def test_pairs_meet_as_often_as_without_replacement(self) -> None:
        codes = np.zeros(8, np.int32)  # sizes 3, 3, 2
        n_repeats = 6000
        folds = _core.stratified_folds(codes, 1, 3, n_repeats, 9)
        expected = (3 * 2 + 3 * 2 + 2 * 1) / (8 * 7)
        together = (folds[:, :, None] == folds[:, None, :]).mean(axis=0)
        error = np.sqrt(expected * (1 - expected) / n_repeats)
        pairs = together[np.triu_indices(8, 1)]
        assert np.abs(pairs - expected).max() < 4.5 * error

    def test_classes_are_drawn_apart(self) -> None:
        # Two classes of the same size must not be dealt in step.
        codes = np.repeat(np.arange(2, dtype=np.int32), 6)
        folds = _core.stratified_folds(codes, 2, 3, 400, 0)
        alike = (folds[:, :6] == folds[:, 6:]).mean()
        assert abs(alike - 1 / 3) < 5 * np.sqrt(1 / 3 * 2 / 3 / 2400)


class TestShuffled:
    @each(("n", "n_splits"), [(2, 2), (7, 3), (10, 10), (23, 5), (100, 7)])
    def test_sizes_are_those_of_scikit_learn(self, n: int, n_splits: int) -> None:
        expected = [len(test) for _, test in KFold(n_splits).split(np.zeros(n))]
        for row in _core.shuffled_folds(n, n_splits, 4, 1):
            assert np.bincount(row, minlength=n_splits).tolist() == expected

    def test_seeds_and_repeats_are_fresh(self) -> None:
        drawn = [_core.shuffled_folds(40, 5, 10, seed) for seed in range(3)]
        assert len({row.tobytes() for folds in drawn for row in folds}) == 30
        np.testing.assert_array_equal(drawn[2], _core.shuffled_folds(40, 5, 10, 2))
        np.testing.assert_array_equal(drawn[2][:3], _core.shuffled_folds(40, 5, 3, 2))

    def test_every_sample_meets_every_fold_as_often(self) -> None:
        n_repeats = 6000
        folds = _core.shuffled_folds(7, 3, n_repeats, 2)
        share = np.array([3, 2, 2]) / 7
        seen = np.stack([(folds == f).sum(axis=0) for f in range(3)], axis=1)
        statistic = (((seen - n_repeats * share) ** 2) / (n_repeats * share)).sum()
        assert statistic < chi2.isf(1e-4, 7 * 2)


@each("n_splits", [0, 1, 7])
def test_number_of_folds_out_of_range(n_splits: int) -> None:
    message = rf"n_splits must be from 2 to the number of samples \(6\), got {n_splits}"
    with pytest.raises(ValueError, match=message):
        _core.shuffled_folds(6, n_splits, 1, 0)
    with pytest.raises(ValueError, match=message):
        _core.stratified_folds(np.zeros(6, np.int32), 1, n_splits, 1, 0)


def test_no_repeat_is_refused() -> None:
    with pytest.raises(ValueError, match="n_repeats must be at least 1, got 0"):
        _core.shuffled_folds(6, 2, 0, 0)


@each("codes", [[0, 1, 2], [0, -1, 1]])
def test_codes_out_of_range(codes: list[int]) -> None:
    with pytest.raises(ValueError, match=r"codes must lie in \[0, n_classes\)"):
        _core.stratified_folds(np.array(codes, np.int32), 2, 2, 1, 0)


@each(
    "codes",
    [[0, 1, 0], np.array([0, 1, 0]), np.array([0.0, 1.0]), np.zeros(8, np.int32)[::2]],
)
def test_codes_of_another_kind_are_refused(codes: object) -> None:
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.stratified_folds(codes, 2, 2, 1, 0)  # type: ignore[arg-type]
