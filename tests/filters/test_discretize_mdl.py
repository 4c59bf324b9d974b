"""Fayyad and Irani's cut points: against a twin, by hand, and by what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from scipy import sparse
from twin_discretize import codes as twin_codes
from twin_discretize import mdl

from bitsieve import CFS, FCBF, Discretizer, filters
from bitsieve.filters import cut_points, discretize


def table(n, p, n_classes, seed, *, decimals=None, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    X = rng.normal(size=(n, p)) + y[:, None] * rng.choice([0.0, 0.7, 2.0], p)
    X[:, ::3] = np.abs(X[:, ::3] - 1.0)  # classes on both sides: several cuts
    if decimals is not None:
        X = np.round(X, decimals)
    return X.astype(dtype), y


# -- against the twin ------------------------------------------------------------------------------


@each("n", [2, 3, 5, 17, 64, 100, 301])
@pytest.mark.parametrize(("n_classes", "decimals"), [(2, None), (2, 1), (3, 0), (7, 1)])
@each("dtype", [np.float32, np.float64])
def test_equals_the_twin(n, n_classes, decimals, dtype):
    X, y = table(n, 13, n_classes, n, decimals=decimals, dtype=dtype)
    found = cut_points(X, y)
    for f in range(X.shape[1]):
        assert found[f].tolist() == mdl(X[:, f], y), f
    levels, n_levels = discretize(X, y)
    assert levels.dtype == np.uint8
    assert levels.flags.c_contiguous
    assert n_levels.dtype == np.int32
    np.testing.assert_array_equal(n_levels, [len(c) + 1 for c in found])
    for f in range(X.shape[1]):
        np.testing.assert_array_equal(levels[:, f], twin_codes(X[:, f], found[f]))


@each("p", [1, 63, 64, 65, 130])
def test_equals_the_twin_across_blocks_of_columns(p):
    X, y = table(60, p, 2, p)
    assert [c.tolist() for c in cut_points(X, y)] == [mdl(X[:, f], y) for f in range(p)]


def test_the_paper_counts_samples_and_weka_distinct_values():
    X, y = table(200, 40, 3, 1, decimals=0)
    samples, distinct = cut_points(X, y), cut_points(X, y, cut_cost="distinct")
    assert [c.tolist() for c in samples] == [mdl(X[:, f], y, "samples") for f in range(40)]
    assert [c.tolist() for c in distinct] == [mdl(X[:, f], y, "distinct") for f in range(40)]
    assert sum(map(len, samples)) < sum(map(len, distinct))
    by_default = Discretizer().fit(X, y).cut_points_
    assert [c.tolist() for c in by_default] == [c.tolist() for c in samples]


def test_each_score_takes_either_rule():
    """Weka's is the default of what Weka has, the paper's of mutual information."""
    X, y = table(200, 40, 3, 1, decimals=0)
    names = ("information_gain", "gain_ratio", "symmetrical_uncertainty", "gini", "fcbf", "cfs")
    for rule in ("samples", "distinct"):
        codes, _ = discretize(X, y, cut_cost=rule)
        for name in names:
            score = getattr(filters, name)
            cut = score(X, y, cut_cost=rule)
            np.testing.assert_array_equal(cut, score(codes, y, discretization=None))
            if rule == "distinct":
                np.testing.assert_array_equal(cut, score(X, y))
                np.testing.assert_array_equal(cut, score(sparse.csr_array(X), y))
        for selector in (FCBF, CFS):
            found = selector(cut_cost=rule).fit(X, y).order_
            np.testing.assert_array_equal(found, selector(discretization=None).fit(codes, y).order_)
    paper = filters.mutual_information(discretize(X, y)[0], y)
    np.testing.assert_array_equal(filters.mutual_information(X, y, discretization="mdl"), paper)


# -- by hand ---------------------------------------------------------------------------------------


def test_cuts_lie_half_way_and_belong_to_the_level_below():
    X = np.array([[1.0], [2.0], [1.5], [8.0], [9.0], [8.5]])
    y = ["a", "a", "a", "b", "b", "b"]
    assert cut_points(X, y)[0].tolist() == [5.0]
    codes, _ = discretize(np.append(X, [[5.0]], axis=0), [*y, "a"], method="user", bins=[5.0])
    assert codes.ravel().tolist() == [0, 0, 0, 1, 1, 1, 0]


def test_a_level_of_one_class_is_cut_no_further():
    x = np.arange(60.0)
    y = np.where(x < 20, 0, np.where(x < 40, 1, 2))
    assert cut_points(x[:, None], y)[0].tolist() == [19.5, 39.5]


def test_nothing_is_cut_where_nothing_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 50)), np.arange(100) % 2
    X[:, 0] = 3.0  # constant
    n_levels = discretize(X, y)[1]
    assert n_levels[0] == 1
    assert np.mean(n_levels == 1) > 0.9


def test_equal_values_of_different_classes_are_never_parted():
    x = np.repeat([0.0, 1.0, 2.0], 30)
    y = np.concatenate([np.zeros(30), np.arange(30) % 2, np.ones(30)]).astype(int)
    cuts = cut_points(x[:, None], y)[0]
    assert set(cuts.tolist()) <= {0.5, 1.5}
    assert cuts.size


def test_of_equally_good_cuts_the_lowest_is_taken():
    x = np.arange(80.0)
    y = (x >= 20) & (x < 60)  # the cuts at 19.5 and 59.5 mirror each other
    assert cut_points(x[:, None], y)[0].tolist() == [19.5, 59.5]
    # With 12 of 24 the second cut is worth less than its description: only the first is left.
    few = np.arange(10.0)
    label = np.isin(few, [0, 1, 2, 7, 8, 9]).astype(int)
    twin = mdl(few, label)
    assert cut_points(few[:, None], label)[0].tolist() == twin


def test_neighboring_numbers_are_parted():
    low = np.float64(1.0)
    high = np.nextafter(low, 2.0)
    X = np.repeat([low, high], 20)[:, None]
    y = np.repeat([0, 1], 20)
    codes, n_levels = discretize(X, y)
    assert n_levels.tolist() == [2]
    np.testing.assert_array_equal(codes[:, 0], y)


def test_huge_numbers_and_signed_zeros():
    big = np.finfo(np.float64).max
    X = np.column_stack([np.repeat([-big, big], 20), np.tile([0.0, -0.0], 20)])
    codes, n_levels = discretize(X, np.repeat([0, 1], 20))
    assert n_levels.tolist() == [2, 1]
    assert codes[:, 0].tolist() == [0] * 20 + [1] * 20


def test_three_hundred_classes():
    x = np.repeat(np.arange(200.0), 20)
    codes, n_levels = discretize(x[:, None], x.astype(int))
    assert n_levels.tolist() == [200]
    np.testing.assert_array_equal(codes[:, 0], x)


# -- what must not matter --------------------------------------------------------------------------


def test_order_of_samples_names_of_labels_and_threads():
    X, y = table(150, 90, 4, 3, decimals=1)
    codes, n_levels = discretize(X, y, n_jobs=1)
    order = np.random.default_rng(0).permutation(150)
    names = np.array(["delta", "alpha", "gamma", "beta"])
    for other_X, other_y, back in (
        (X[order], y[order], np.argsort(order)),
        (X, names[y], slice(None)),
        (X, y.astype(str), slice(None)),
        (np.asfortranarray(X), y, slice(None)),
    ):
        again, counts = discretize(other_X, other_y)
        np.testing.assert_array_equal(again[back], codes)
        np.testing.assert_array_equal(counts, n_levels)
    for n_jobs in (2, 3, 7):
        np.testing.assert_array_equal(discretize(X, y, n_jobs=n_jobs)[0], codes)


def test_scale_and_shift_do_not_matter():
    X, y = table(120, 30, 3, 5)
    codes = discretize(X, y)[0]
    np.testing.assert_array_equal(discretize(X * 1024.0 - 4096.0, y)[0], codes)
    reverse, n_levels = discretize(-X, y)
    # Ties between cuts may fall to the other side; without ties levels are mirrored.
    np.testing.assert_array_equal(n_levels - 1 - reverse, codes)


# -- missing values and limits ---------------------------------------------------------------------


def test_missing_values_are_refused_or_a_level_of_their_own():
    X, y = table(80, 6, 2, 7)
    holes = X.copy()
    holes[::9, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"Input X contains NaN: 9 values in 1 column \(number 2\)"
    ):
        discretize(holes, y)
    codes, n_levels = discretize(holes, y, missing="level")
    there = ~np.isnan(holes[:, 2])
    cuts = mdl(holes[there, 2], y[there])
    assert cut_points(holes, y, missing="level")[2].tolist() == cuts
    assert n_levels[2] == len(cuts) + 2
    assert set(codes[~there, 2]) == {len(cuts) + 1}
    np.testing.assert_array_equal(codes[there, 2], twin_codes(holes[there, 2], cuts))
    others = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(codes[:, others], discretize(X, y)[0][:, others])


def test_a_column_of_missing_values_alone():
    X, y = table(30, 2, 2, 8)
    X[:, 1] = np.nan
    codes, n_levels = discretize(X, y, missing="level")
    assert n_levels[1] == 2
    assert set(codes[:, 1]) == {1}


def test_more_than_255_levels_are_refused():
    x = np.repeat(np.arange(300.0), 20)
    with pytest.raises(ValueError, match=r"255 levels at most, but 1 column \(number 0\) would"):
        discretize(x[:, None], x.astype(int))


def test_y_is_needed_and_must_be_classes():
    X, y = table(30, 2, 2, 9)
    with pytest.raises(ValueError, match="method='mdl' needs y"):
        discretize(X)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        discretize(X, X[:, 0])
    with pytest.raises(ValueError, match="two classes or more"):
        discretize(X, np.zeros(30))
    with pytest.raises(ValueError, match="30 samples but y has 29"):
        discretize(X, y[1:])
    with pytest.raises(ValueError, match="cut_cost must be 'distinct' or 'samples', got 'n'"):
        discretize(X, y, cut_cost="n")
