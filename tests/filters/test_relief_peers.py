"""Where other packages go wrong: each case beside the plain twin, which follows the papers.

Measured faults: a constant column, or any with few distinct values, changes the differences of
all others (skrebate); a sample becomes its own hit where a class has at most k (skrebate,
scikit-feature, mafese); wrong priors of classes (skrebate, scikit-feature, ITMO_FS); distances of
features of different scales (scikit-feature, ITMO_FS); NaN for a constant column (ITMO_FS);
unstable ties (skrebate) and duplicates dropped as if they were the sample itself (CORElearn).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin_relief as twin
from each import each

from bitsieve import filters


def continuous(n: int = 40, p: int = 12, seed: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, 0] += y
    return X, y


def check(X: Any, y: Any, k: int = 10, discrete: Any = None, atol: float = 1e-12) -> Any:
    given = {} if discrete is None else {"discrete_features": discrete}
    found = filters.relieff(X, y, n_neighbors=k, **given)
    np.testing.assert_allclose(found, twin.relieff(X, y, k=k, discrete=discrete), atol=atol, rtol=0)
    return found


def test_offset_and_scale() -> None:
    X, y = continuous()
    wanted = check(X, y)
    check(1e9 + 1e6 * X, y, atol=1e-9)
    np.testing.assert_allclose(filters.relieff(1e9 + 1e6 * X, y), wanted, rtol=0, atol=1e-9)


def test_one_constant_column() -> None:
    X, y = continuous()
    without = filters.relieff(X, y)
    X = np.column_stack([X, np.full(len(X), 2.0)])
    found = check(X, y)
    np.testing.assert_allclose(found[:-1], without, rtol=0, atol=1e-12)
    assert found[-1] == 0.0


def test_thirty_continuous_and_thirty_binary() -> None:
    X, y = continuous(50, 30)
    binary = np.random.default_rng(4).integers(0, 2, (50, 30))
    X = np.hstack([X, binary])
    found = check(X, y)
    # For values of two kinds the difference is the same whatever they are called.
    discrete = np.arange(60) >= 30
    np.testing.assert_allclose(check(X, y, discrete=discrete), found, rtol=0, atol=1e-12)


def test_three_levels_full_of_ties() -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (60, 15)).astype(float)
    y = rng.integers(0, 2, 60)
    discrete = np.ones(15, dtype=bool)
    pairs = twin.distances(twin.differences(X, y, discrete=discrete))
    assert len(np.unique(pairs)) < 20  # ties abound
    check(X, y, discrete=discrete)
    check(X, y)  # as numbers: 0, one half, 1
    np.testing.assert_array_equal(  # names of levels do not matter
        filters.relieff(X, y, discrete_features=discrete),
        filters.relieff(7.0 - 3.0 * X, y, discrete_features=discrete),
    )


def test_four_unbalanced_classes() -> None:
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1, 2, 3], [60, 30, 20, 15])
    X = rng.normal(size=(125, 8)) + 0.4 * y[:, None] * (np.arange(8) < 2)
    check(X, y)
    check(X, y, k=1)


@each("size", [1, 2, 5, 10])
def test_a_class_no_larger_than_k(size: int) -> None:
    X, _ = continuous(30, 6)
    y = np.r_[np.zeros(30 - size, dtype=int), np.ones(size, dtype=int)]
    check(X, y, k=10)


def test_k_larger_than_every_class_is_all_of_them() -> None:
    X, y = continuous()
    everyone = check(X, y, k=40)
    np.testing.assert_array_equal(filters.relieff(X, y, n_neighbors=10**9), everyone)
    weighted = filters.relieff(X, y, n_neighbors=10**9, weighting="exponential", sigma=5.0)
    wanted = twin.relieff(X, y, k=40, sigma=5.0)
    np.testing.assert_allclose(weighted, wanted, rtol=0, atol=1e-12)


def test_duplicates_are_neighbors_and_the_sample_itself_is_none() -> None:
    # A sample, its duplicate in the same class, and one of the other class further on.
    X = np.array([[0.0], [0.0], [1.0], [0.6]])
    y = ["a", "a", "b", "b"]
    # Hits: 0, 0, 0.4, 0.4. Misses: 0.6, 0.6, 1 (the lower of two equal), 0.6.
    assert filters.relieff(X, y, n_neighbors=1)[0] == pytest.approx((2.8 - 0.8) / 4)
    # The same with every sample there twice: each has a hit at no distance.
    doubled = filters.relieff(np.repeat(X, 2, axis=0), np.repeat(y, 2), n_neighbors=1)
    assert doubled[0] == pytest.approx(2.8 / 4)


def test_equal_distances_go_to_the_lowest_index() -> None:
    # Samples 1 and 2 are as far from sample 0 as one another; they differ in the features.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    y = ["a", "b", "b", "a"]
    found = filters.relieff(X, y, n_neighbors=1)
    # Rows 0 and 3 take miss 1, rows 1 and 2 take miss 0 and have one another for hits.
    np.testing.assert_allclose(found, [(1 + 1 + 1 + 0 - 2) / 4, (0 + 0 + 0 + 1 - 2) / 4])
    swapped = filters.relieff(X[[0, 2, 1, 3]], y, n_neighbors=1)
    np.testing.assert_allclose(swapped, [(0 + 0 + 0 + 1 - 2) / 4, (1 + 1 + 1 + 0 - 2) / 4])


def test_text_labels_of_every_make() -> None:
    X, y = continuous()
    wanted = filters.relieff(X, y)
    words = np.array(["healthy", "ill"])[y]
    pandas = pytest.importorskip("pandas")
    for labels in (
        words,
        words.astype(object),
        words.tolist(),
        pandas.Series(words),
        pandas.Series(words).astype("category"),
    ):
        np.testing.assert_array_equal(filters.relieff(X, labels), wanted)


def test_float32_is_not_rounded_further() -> None:
    X, y = continuous()
    single = X.astype(np.float32)
    check(single, y)
    np.testing.assert_array_equal(
        filters.relieff(single, y), filters.relieff(single.astype(np.float64), y)
    )


def test_more_than_ten_classes_stay_classes() -> None:
    rng = np.random.default_rng(8)
    y = np.arange(48) % 12
    X = rng.normal(size=(48, 5)) + y[:, None] * np.array([1.0, 0, 0, 0, 0])
    assert check(X, y, k=2).argmax() == 0
