"""The unsupervised cuts, levels that are there already, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.preprocessing import KBinsDiscretizer
from twin_discretize import codes as twin_codes
from twin_discretize import equal_frequency

from bitsieve.data import Table
from bitsieve.filters import as_codes, cut_points, discretize


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(203, 70)) * 10 + 3


# -- methods ---------------------------------------------------------------------------------------


@each("n_bins", [2, 3, 10, 16, 17, 40, 255])
@each("dtype", [np.float32, np.float64])
def test_equal_width_equals_scikit_learn(X, n_bins, dtype):
    X = X.astype(dtype)
    codes, n_levels = discretize(X, method="equal_width", n_bins=n_bins)
    bins = KBinsDiscretizer(n_bins, encode="ordinal", strategy="uniform").fit(X.astype(np.float64))
    np.testing.assert_array_equal(codes, bins.transform(X.astype(np.float64)))
    assert set(n_levels) == {n_bins}
    np.testing.assert_allclose(
        cut_points(X, method="equal_width", n_bins=n_bins)[5], bins.bin_edges_[5][1:-1]
    )


@each("n_bins", [2, 3, 7, 29])
def test_equal_frequency_gives_equal_counts(X, n_bins):
    codes = discretize(X, method="equal_frequency", n_bins=n_bins)[0]
    for f in range(X.shape[1]):
        counts = np.bincount(codes[:, f], minlength=n_bins)
        assert counts.max() - counts.min() <= 1
        assert np.all(np.diff(X[np.argsort(codes[:, f], kind="stable"), f][[0, -1]]) > 0)


@each("n_bins", [2, 3, 5, 12])
@pytest.mark.parametrize("decimals", [0, -1, 3])
def test_equal_frequency_equals_the_twin(X, n_bins, decimals):
    X = np.round(X, decimals)
    found = cut_points(X, method="equal_frequency", n_bins=n_bins)
    codes, n_levels = discretize(X, method="equal_frequency", n_bins=n_bins)
    for f in range(X.shape[1]):
        assert found[f].tolist() == equal_frequency(X[:, f], n_bins)
        np.testing.assert_array_equal(codes[:, f], twin_codes(X[:, f], found[f]))
        assert len(set(codes[:, f])) == n_levels[f], "no level is empty"


def test_equal_frequency_between_neighboring_numbers():
    """Half way between them is one of them, and never may the greater be at the cut."""
    one = np.nextafter(1.0, 2.0)
    two = np.nextafter(one, 2.0)
    for low, high in ((1.0, one), (one, two)):
        codes, n_levels = discretize([[low], [high]], method="equal_frequency", n_bins=2)
        assert codes.ravel().tolist() == [0, 1]
        assert n_levels.tolist() == [2]


@each("n_sd", [0.5, 1.0, 2.0])
@each("dtype", [np.float32, np.float64])
def test_mean_sd_is_pengs_three_levels(X, n_sd, dtype):
    X = X.astype(dtype)
    codes, n_levels = discretize(X, method="mean_sd", n_sd=n_sd)
    wide = X.astype(np.float64)
    mean, sd = wide.mean(axis=0), wide.std(axis=0, ddof=1)
    expected = 1 + (wide > mean + n_sd * sd).astype(int) - (wide < mean - n_sd * sd)
    np.testing.assert_array_equal(codes, expected)
    assert set(n_levels) == {3}


def test_mean_sd_puts_the_border_in_the_middle():
    x = np.array([-2.0, 0.0, 0.0, 0.0, 2.0])  # the standard deviation is 1.414...
    cuts = cut_points(x[:, None], method="mean_sd", n_sd=2 / np.sqrt(2))[0]
    assert cuts[1] == 2.0
    assert discretize(x[:, None], method="mean_sd", n_sd=2 / np.sqrt(2))[0].tolist() == [[1]] * 5


def test_mean_sd_does_not_depend_on_the_order_of_samples():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, (101, 300)).astype(float) * 0.1
    order = rng.permutation(101)
    for one, other in zip(
        cut_points(X, method="mean_sd"), cut_points(X[order], method="mean_sd"), strict=True
    ):
        assert one.tolist() == other.tolist()


def test_user_bins_for_all_columns_or_each():
    X = [[0.0, 10.0], [1.0, 20.0], [1.5, 30.0]]
    codes, n_levels = discretize(X, method="user", bins=[1.0, 15.0])
    assert codes.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert n_levels.tolist() == [3, 3]
    codes, n_levels = discretize(X, method="user", bins=[[], [25.0]])
    assert codes.tolist() == [[0, 0], [0, 0], [0, 1]]
    assert n_levels.tolist() == [1, 2]


@each("method", ["equal_width", "equal_frequency", "mean_sd"])
def test_constant_columns_have_one_level(method):
    X = np.column_stack([np.full(20, 0.1), np.arange(20.0)])
    codes, n_levels = discretize(X, method=method)
    assert n_levels[0] == 1
    assert n_levels[1] > 1
    assert not codes[:, 0].any()


@pytest.mark.parametrize("method", ["equal_width", "equal_frequency", "mean_sd"])
def test_missing_values_move_no_cut(X, method):
    holes = np.vstack([X, np.full((9, X.shape[1]), np.nan)])
    codes, n_levels = discretize(holes, method=method, missing="level")
    whole, counts = discretize(X, method=method)
    np.testing.assert_array_equal(codes[:-9], whole)
    np.testing.assert_array_equal(n_levels, counts + 1)
    np.testing.assert_array_equal(codes[-9:], np.tile(counts, (9, 1)))


@pytest.mark.parametrize("method", ["equal_width", "equal_frequency", "mean_sd"])
def test_threads_and_layout_do_not_matter(X, method):
    codes = discretize(X, method=method, n_jobs=1)[0]
    np.testing.assert_array_equal(discretize(X, method=method, n_jobs=3)[0], codes)
    np.testing.assert_array_equal(discretize(np.asfortranarray(X), method=method)[0], codes)
    np.testing.assert_array_equal(discretize(pd.DataFrame(X), method=method)[0], codes)
    np.testing.assert_array_equal(discretize(X.tolist(), method=method)[0], codes)


def test_extremes_of_the_numbers():
    big = np.finfo(np.float64).max
    X = np.array([[-big], [0.0], [big]])
    assert discretize(X, method="equal_width", n_bins=4)[0].ravel().tolist() == [0, 1, 3]
    assert discretize(X, method="equal_frequency", n_bins=3)[0].ravel().tolist() == [0, 1, 2]
    # The deviation of the second column is the greatest number, its squares are none.
    X = np.column_stack([[1.0, 2.0, 3.0], X, [big, big, -big]])
    wanted = discretize(np.column_stack([[1.0, 2.0, 3.0], X[:, 1:] / big]), method="mean_sd")[0]
    assert discretize(X, method="mean_sd")[0].tolist() == wanted.tolist()
    low, high = cut_points(X, method="mean_sd")[2]
    assert (low, high) == (pytest.approx(big * (1 / 3 - 2 / np.sqrt(3)), rel=1e-12), np.inf)


# -- levels that are there -------------------------------------------------------------------------


def test_whole_numbers_are_numbered_in_order():
    X = np.array([[-7, 2**40], [1000, 0], [-7, 5], [3, 5]])
    codes, n_levels = as_codes(X)
    assert codes.tolist() == [[0, 2], [2, 0], [0, 1], [1, 1]]
    assert n_levels.tolist() == [3, 3]


@each("dtype", [np.uint8, np.int64, np.float32, bool])
def test_codes_stay_codes(dtype):
    X = np.random.default_rng(0).integers(0, 2, (50, 9)).astype(dtype)
    codes, n_levels = as_codes(X)
    np.testing.assert_array_equal(codes, X)
    assert set(n_levels) == {2}


def test_continuous_columns_are_never_counted_one_level_a_value():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    with pytest.raises(ValueError, match=r"whole numbers, but 3 columns \(numbers 0, 1, 2\) hold"):
        as_codes(X)
    with pytest.raises(ValueError, match=r"first: discretization='mdl' \(or 'equal_width'"):
        as_codes(X)
    counts = pd.DataFrame({"a": rng.integers(0, 3, 40), "b": rng.permutation(40) * 7})
    with pytest.raises(ValueError, match=r"20 distinct values to be taken as levels, but .*'b'"):
        as_codes(counts)
    assert as_codes(counts, max_levels=40)[1].tolist() == [3, 40]
    assert as_codes(counts, discrete_features=["b"])[1].tolist() == [3, 40]


def test_the_limits_of_levels():
    X = (np.arange(600) % 256)[:, None]
    with pytest.raises(ValueError, match="255 distinct values"):
        as_codes(X, discrete_features=[0])
    with pytest.raises(ValueError, match=r"64 distinct values .* or name it in discrete_features"):
        as_codes(X)
    assert as_codes(X[:255], discrete_features=[True])[1].tolist() == [255]
    holed = np.where(np.arange(600) < 2, np.nan, np.arange(600) % 255)[:, None]
    assert len(np.unique(holed)) == 256
    with pytest.raises(ValueError, match=r"255 levels at most, but .* would have up to 256"):
        as_codes(holed, discrete_features=[0], missing="level")
    with pytest.raises(ValueError, match="max_levels must be a whole number from 1 to 255"):
        as_codes(X, max_levels=256)


def test_categories_text_and_booleans_of_a_frame_pass_through():
    frame = pd.DataFrame(
        {
            "size": np.linspace(0, 1, 12),
            "colour": pd.Categorical(["red", "blue", "red", "green"] * 3),
            "sick": [True, False] * 6,
            "ward": ["b", "a", "c"] * 4,
        }
    )
    codes, n_levels = discretize(frame, method="equal_width", n_bins=4)
    assert n_levels.tolist() == [4, 3, 2, 3]
    assert codes[:4, 1].tolist() == [2, 0, 2, 1]
    assert codes[:3, 2].tolist() == [1, 0, 1]
    assert codes[:3, 3].tolist() == [1, 0, 2]
    assert as_codes(frame.drop(columns="size"))[1].tolist() == [3, 2, 3]


def test_named_columns_pass_through():
    X = np.column_stack([np.linspace(0, 1, 30), np.arange(30) % 7])
    expected = np.arange(30) % 7
    for which in ([1], [False, True], np.array([1])):
        codes, n_levels = discretize(X, method="equal_width", n_bins=3, discrete_features=which)
        assert n_levels.tolist() == [3, 7]
        np.testing.assert_array_equal(codes[:, 1], expected)
    with pytest.raises(ValueError, match="discrete_features"):
        discretize(X, method="equal_width", discrete_features=[2])
    with pytest.raises(ValueError, match="whole numbers, but 1 column"):
        discretize(X, method="equal_width", discrete_features=[0])


def test_a_table_brings_its_own_target():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    table = Table(X, np.repeat(["a", "b"], 20), names=["g"])
    assert discretize(table)[1].tolist() == [2]


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "chimerge"}, "method must be one of 'mdl', 'equal_width', .*got 'chimerge'"),
        ({"method": None}, "method must be one of .*got None"),
        (
            {"method": "equal_width", "n_bins": 1},
            "n_bins must be a whole number from 2 to 255, got 1",
        ),
        (
            {"method": "equal_width", "n_bins": 256},
            "a whole number from 2 to 255, got 256",
        ),
        ({"method": "equal_width", "n_bins": 2.5}, "n_bins must be a whole number"),
        ({"method": "equal_width", "bins": [1.0]}, "bins are used by method='user' alone"),
        ({"method": "user"}, "method='user' needs bins"),
        ({"method": "user", "bins": [2.0, 1.0]}, r"ascending order, got \[2.0, 1.0\]"),
        ({"method": "user", "bins": [[1.0], [np.nan]]}, "bins of column 1 must be finite"),
        ({"method": "user", "bins": [[1.0]] * 3}, "3 columns, but X has 2 columns"),
        ({"method": "user", "bins": np.arange(255.0)}, "255 levels at most"),
        (
            {"method": "mean_sd", "n_sd": 0},
            "n_sd must be a finite number of standard",
        ),
        (
            {"method": "mean_sd", "n_sd": "1"},
            "n_sd must be a finite number of standard",
        ),
        ({"method": "mean_sd", "missing": "drop"}, "missing must be 'error' or 'level'"),
    ],
)
def test_parameters_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        discretize([[0.0, 1.0], [1.0, 2.0]], **arguments)


@each("bins", [1.0, "a", ["a"], [[1.0], ["a"]], [[1.0], [[2.0], [3.0, 4.0]]]])
def test_bins_that_are_no_cut_points(bins):
    with pytest.raises(ValueError, match=r"^bins must be cut points, numbers in ascending order"):
        discretize(np.eye(3, 2), method="user", bins=bins)


def test_bins_may_come_from_an_iterator():
    codes, _ = discretize([[0.0], [1.0], [2.0]], method="user", bins=iter([0.5, 1.5]))
    assert codes.tolist() == [[0], [1], [2]]


@each("method", ["equal_width", "equal_frequency"])
def test_cuts_of_wide_tables_are_those_of_their_parts(method):
    """Columns are cut by blocks; where a block ends does not matter."""
    X = np.random.default_rng(8).normal(size=(9, 3001))
    whole = cut_points(X, method=method, n_bins=200)
    parts = [
        cut
        for f in range(0, 3001, 500)
        for cut in cut_points(X[:, f : f + 500], method=method, n_bins=200)
    ]
    assert len(whole) == len(parts) == 3001
    for cut, part in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(cut, part)


@each("exponent", [-1060, -700, -300, 300, 700, 1010])
def test_mean_sd_of_tiny_and_of_huge_numbers(exponent):
    """Squares of neither vanish or overflow: levels are those of the numbers of usual size."""
    X = np.random.default_rng(5).normal(size=(40, 5))
    if exponent < -1000:
        X = np.round(X * 64)  # so that no digit is lost among the denormal numbers
    wanted, _ = discretize(X, method="mean_sd")
    assert set(np.unique(wanted)) == {0, 1, 2}
    found, _ = discretize(np.ldexp(X, exponent), method="mean_sd")
    np.testing.assert_array_equal(found, wanted)
