"""Cut points and what is chosen by levels, whatever the table."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bitsieve.filters import as_codes, cut_points, discretize, fcbf, symmetrical_uncertainty

numbers = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.integers(-3, 3)
methods = st.sampled_from(["mdl", "equal_width", "equal_frequency", "mean_sd"])


@st.composite
def tables(draw, elements=numbers):
    n, p = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.float64, (n, p), elements=elements))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))
    y[:2] = 0, 1
    return X, y


@given(tables(), methods, st.integers(2, 12))
def test_levels_are_intervals(table, method: str, n_bins: int) -> None:
    X, y = table
    codes, n_levels = discretize(X, y, method=method, n_bins=n_bins)
    cuts = cut_points(X, y, method=method, n_bins=n_bins)
    for f in range(X.shape[1]):
        assert np.all(np.diff(cuts[f]) > 0)
        assert n_levels[f] == len(cuts[f]) + 1
        np.testing.assert_array_equal(codes[:, f], np.searchsorted(cuts[f], X[:, f], side="left"))
        ascending = np.argsort(X[:, f], kind="stable")
        assert np.all(np.diff(codes[ascending, f].astype(int)) >= 0)
        if method in ("mdl", "equal_frequency"):
            assert set(codes[:, f]) == set(range(n_levels[f])), "no level is empty"
        if X[:, f].min() == X[:, f].max():
            assert n_levels[f] == 1


@given(tables(), methods, st.randoms(use_true_random=False))
def test_the_order_of_samples_and_labels_does_not_matter(table, method: str, random) -> None:
    X, y = table
    order = np.array(random.sample(range(len(y)), len(y)))
    names = np.array(random.sample(["a", "b", "c", "d"], 4))
    codes = discretize(X, y, method=method, n_bins=5)[0]
    again = discretize(X[order], names[y][order], method=method, n_bins=5)[0]
    np.testing.assert_array_equal(again, codes[order])


@given(tables(st.integers(-1000, 1000)))
def test_whole_numbers_keep_their_order(table) -> None:
    X, _ = table
    codes, n_levels = as_codes(X, max_levels=255)
    for f in range(X.shape[1]):
        values, expected = np.unique(X[:, f], return_inverse=True)
        np.testing.assert_array_equal(codes[:, f], expected.ravel())
        assert n_levels[f] == len(values)


@settings(max_examples=60)
@given(tables(st.integers(0, 3)))
def test_what_is_taken_is_predominant_and_what_is_not_is_covered(table) -> None:
    X, y = table
    order, scores = fcbf(X, y, discretization=None, return_scores=True)
    with_class = symmetrical_uncertainty(X, y, discretization=None)
    assert np.all(np.diff(scores) <= 1e-9)
    varies = [len(set(X[:, f])) > 1 for f in range(X.shape[1])]
    for f in range(X.shape[1]):
        if not varies[f]:
            assert f not in order
            continue
        with_f = symmetrical_uncertainty(X, X[:, f], discretization=None)
        better = [g for g in order if g != f and with_class[g] >= with_class[f] - 1e-9]
        if f in order:
            earlier = order[: order.tolist().index(f)]
            assert all(with_f[g] < with_class[f] for g in earlier)
        elif with_class[f] > 1e-9:
            assert any(with_f[g] >= with_class[f] - 1e-6 for g in better)
