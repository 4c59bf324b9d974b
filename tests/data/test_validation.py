"""What is refused, in which words; what is accepted, as what."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from each import each
from sklearn.utils.multiclass import type_of_target

from bitsieve.data import Table
from bitsieve.data.validation import check_target

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0], [7.0, 8.0, 8.0], [0.0, 1.0, 2.0]])
Y = ["a", "b", "a", "b"]
NAMES = ["tp53", "egfr", "brca1"]


def changed(*cells):
    """X with some cells replaced."""
    out = X.copy()
    for i, j, value in cells:
        out[i, j] = value
    return out


BAD_X = {
    "nan": (
        changed((0, 1, np.nan), (1, 1, np.nan), (2, 2, np.nan)),
        r"Input X contains NaN: 3 values in 2 columns \('egfr', 'brca1'\); .*SimpleImputer.*drop",
    ),
    "infinite": (
        changed((3, 0, -np.inf)),
        r"Input X contains infinity: 1 value in 1 column \('tp53'\); clip",
    ),
    "text": (
        [["x", "y", "z"]] * 4,
        r"3 columns \('tp53', 'egfr', 'brca1'\) hold text .*'x'.*OneHot",
    ),
    "text in an object array": (
        np.array([[1, "x", 2.5]] * 4, dtype=object),
        r"1 column \('egfr'\) holds text .* 'x'",
    ),
    "numbers as text": (
        np.array([[1, "2", 2.5]] * 4, dtype=object),
        r"\('egfr'\) holds text .* '2'",
    ),
    "dates": (np.zeros((4, 3), "M8[D]"), r"3 columns .* hold text or other values"),
    "complex": (X + 1j, r"Complex data not supported.*X\.real"),
    "sparse": (scipy.sparse.csr_matrix(X), r"Sparse input .*csr_matrix.*X\.toarray\(\)"),
    "sparse array": (scipy.sparse.coo_array(X), r"Sparse input .*coo_array.*X\.toarray\(\)"),
    "1-d": (X[0], r"Expected 2D array.*got 1D array.*reshape\(-1, 1\)"),
    "3-d": (X[None], r"got 3D array"),
    "scalar": (1.0, r"got 0D array"),
    "ragged": ([[1, 2, 3], [1, 2]], r"all rows of one length"),
    "no samples": (X[:0], r"0 sample\(s\) \(shape=\(0, 3\)\)"),
    "one sample": (X[:1], r"n_samples=1 .*minimum of 2.*X\.T"),
    "constant": (
        np.ones((4, 3)),
        r"X is constant: none of its 3 columns varies over the 4 samples",
    ),
    "masked": (np.ma.masked_greater(X, 7), r"Input X contains NaN: 2 values masked.*filled"),
    "lazy": (pl.LazyFrame(X, NAMES), r"LazyFrame.*collect"),
}


@pytest.mark.parametrize("case", BAD_X)
def test_bad_x(case):
    bad, words = BAD_X[case]
    with pytest.raises(ValueError, match=words):
        Table(bad, Y, names=NAMES)


def test_no_features():
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(4, 0\)\)"):
        Table(X[:, :0], Y)
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        Table(pd.DataFrame(index=range(4)), Y)


def test_columns_without_names_are_numbered():
    with pytest.raises(ValueError, match=r"in 1 column \(number 2\)"):
        Table(changed((0, 2, np.nan)), Y)


def test_long_lists_of_columns_are_cut():
    bad = np.full((3, 20), np.nan)
    with pytest.raises(
        ValueError, match=r"60 values in 20 columns \(numbers 0, 1, 2, 3, 4 and 15 mo"
    ):
        Table(bad, Y[:3])


def test_nan_in_a_large_table_is_found():
    big = np.ones((600, 4000))
    big[0] = 0
    big[599, 3999] = np.nan
    with pytest.raises(ValueError, match=r"NaN: 1 value in 1 column \(number 3999\)"):
        Table(big)


def test_one_varying_column_is_enough():
    data = np.ones((5000, 600))
    data[4999, 599] = 2
    assert Table(data).n_features == 600


def test_names():
    with pytest.raises(ValueError, match=r"distinct, but 1 comes more than once: 'a'; rename"):
        Table(X, Y, names=["a", "a", "b"])
    with pytest.raises(ValueError, match="expected 3 feature names, one a column of X, got 2"):
        Table(X, Y, names=["a", "b"])
    with pytest.raises(ValueError, match="expected 4 sample names, one a row of X, got 1"):
        Table(X, Y, sample_names=["a"])


BAD_Y = {
    "short": (["a", "b"], None, r"4 samples but y has 2 labels .*numbers of samples: \[4, 2\]"),
    "nan": (
        [1.0, np.nan, 2, 1],
        None,
        r"Input y contains NaN: 1 of 4 labels \(at 1, counted from 0",
    ),
    "none": (["a", None, "b", None], None, r"y contains NaN: 2 of 4 labels \(at 1, 3"),
    "pandas missing": (pd.Series(["a", pd.NA, "b", "b"]), None, r"y contains NaN: 1 of 4"),
    "nullable": (pd.Series([1, None, 2, 2], dtype="Int64"), None, r"y contains NaN: 1 of 4"),
    "polars null": (pl.Series([1, None, 2, 2]), None, r"y contains NaN: 1 of 4"),
    "infinite": ([1.0, np.inf, 2, 1], None, r"Input y contains infinity"),
    "one class": (
        ["a"] * 4,
        None,
        r"two classes or more, but y has 1 class: 'a' for all 4 samples",
    ),
    "mixed": (["a", 1, "b", 2], None, None),
    "mixed object": (
        np.array(["a", 1, "b", 2], dtype=object),
        None,
        r"y mixes int, str.*str\(label",
    ),
    "continuous": ([0.5, 1, 2, 3], "classification", r"Unknown label type: continuous.* 0\.5;"),
    "text": (Y, "regression", r"regression target must hold numbers, but y holds .*'a'"),
    "two columns": (np.ones((4, 2)), None, r"1d array, got an array of shape \(4, 2\)"),
    "complex": ([1j, 2, 3, 4], None, r"labels or real numbers, got dtype complex128"),
    "dates": (np.zeros(4, "M8[D]"), None, r"labels or real numbers"),
    "task": (Y, "ranking", r"task must be 'classification', 'regression' or None, got 'ranking'"),
}


@pytest.mark.parametrize("case", BAD_Y)
def test_bad_y(case):
    bad, task, words = BAD_Y[case]
    if words is None:  # numpy makes text of such a list, as scikit-learn would see it
        assert Table(X, bad, task=task).classes.tolist() == ["1", "2", "a", "b"]
        return
    with pytest.raises(ValueError, match=words):
        Table(X, bad, task=task)


GOOD_Y = {
    "text": Y,
    "integers": [3, -1, 3, -1],
    "booleans": np.array([True, False, True, True]),
    "whole floats": [1.0, 2.0, 1.0, 5.0],
    "object text": np.array(Y, dtype=object),
    "series": pd.Series(Y, index=[7, 8, 9, 10]),
    "polars": pl.Series(Y),
    "unsigned": np.array([0, 255, 0, 255], dtype=np.uint8),
    "continuous": [0.5, 1.5, 2, 3],
    "continuous float32": np.array([0.5, 1.5, 2, 3], dtype=np.float32),
}


@pytest.mark.parametrize("case", GOOD_Y)
def test_good_y(case):
    """Task as scikit-learn decides, classes and codes as numpy.unique has them."""
    y = GOOD_Y[case]
    table = Table(X, y)
    kind = type_of_target(np.asarray(y))
    if kind == "continuous":
        assert table.task == "regression"
        assert table.classes is None
        assert table.codes is None
        return
    assert kind in ("binary", "multiclass")
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    assert table.task == "classification"
    np.testing.assert_array_equal(table.classes, classes)
    np.testing.assert_array_equal(table.codes, codes)
    assert table.codes.dtype == np.int32


def test_more_forms_of_y():
    categories = pd.Series(pd.Categorical(Y, categories=["b", "a"]))
    assert Table(X, categories).classes.tolist() == ["a", "b"]
    assert Table(X, np.array([[1], [2], [1], [2]])).codes.tolist() == [0, 1, 0, 1]
    assert Table(X, pd.DataFrame({"y": [1, 2, 1, 2]})).codes.tolist() == [0, 1, 0, 1]
    assert Table(X, np.array([1, 2.0, True, 3], dtype=object)).classes.tolist() == [1, 2, 3]
    assert Table(X, [25.0, 346.0, 1.0, 2.0], task="regression").task == "regression"


@each(
    "dtype",
    ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">f4", ">i8", "O"],
)
def test_every_real_dtype(dtype):
    data = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).astype(dtype)
    table = Table(data)
    assert table.X.dtype in (np.float32, np.float64)
    assert table.X.dtype.isnative
    np.testing.assert_array_equal(table.X, data.astype(float))
    small = np.dtype(dtype).kind != "O" and np.can_cast(np.dtype(dtype), np.float32)
    assert (table.X.dtype == np.float32) == small


def test_objects_that_are_numbers():
    data = np.array([[1, 2.5], [np.float32(3), Decimal("0.25")], [True, np.int8(2)]], dtype=object)
    np.testing.assert_array_equal(Table(data).X, [[1, 2.5], [3, 0.25], [1, 2]])
    data[1, 1] = None
    with pytest.raises(ValueError, match=r"NaN: 1 value in 1 column \(number 1\)"):
        Table(data)


def test_float16_overflow_and_wide_doubles():
    wide = np.array([[1, 2], [3, np.longdouble("1e400")]], dtype=np.longdouble)
    with pytest.raises(ValueError, match="contains infinity"):
        Table(wide)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(make):
    frame = make({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5], "c": [True, False, True]})
    table = Table(frame, [0, 1, 1])
    assert table.names == ["a", "b", "c"]
    np.testing.assert_array_equal(table.X, [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]])
    assert table.X.flags.c_contiguous


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_with_text(make):
    frame = make({"a": [1, 2], "sex": ["f", "m"], "race": ["x", "y"]})
    with pytest.raises(ValueError, match=r"2 columns \('sex', 'race'\) hold text .* 'f'"):
        Table(frame)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_with_missing_values(make):
    frame = make({"a": [1, None, 3], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"NaN: 1 value in 1 column \('a'\)"):
        Table(frame)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_frame_of_one_type(order):
    values = np.asarray(np.random.default_rng(0).standard_normal((5, 300)), order=order)
    np.testing.assert_array_equal(Table(pd.DataFrame(values)).X, values)
    assert Table(pd.DataFrame(values)).names is None


def test_pandas_types():
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, 2], dtype="Int64"),
            "float": pd.array([1.5, 2.5], dtype="Float32"),
            "boolean": pd.array([True, False], dtype="boolean"),
            "object": np.array([1, 2.5], dtype=object),
        }
    )
    np.testing.assert_array_equal(Table(frame).X, [[1, 1.5, 1, 1], [2, 2.5, 0, 2.5]])
    frame["nullable"] = pd.array([1, None], dtype="Int64")
    with pytest.raises(ValueError, match=r"NaN: 1 value in 1 column \('nullable'\)"):
        Table(frame)
    for bad in (pd.Categorical(["x", "y"]), pd.to_datetime(["2020-01-01", "2021-01-01"]), [1j, 2]):
        frame["nullable"] = bad
        with pytest.raises(ValueError, match=r"1 column \('nullable'\) holds text or other"):
            Table(frame)
    frame["nullable"] = pd.arrays.SparseArray([0, 1])
    with pytest.raises(ValueError, match=r"sparse values in 1 column \('nullable'\).*to_dense"):
        Table(frame)
    small = pd.DataFrame({"a": np.array([1, 2], np.int8), "b": np.array([1, 2], np.float32)})
    assert Table(small).X.dtype == np.float32


def test_names_of_frames():
    assert Table(pd.DataFrame(X, columns=[5, 6, 7])).names == ["5", "6", "7"]
    assert Table(pd.DataFrame(X, columns=["a", 1, 2.5])).names == ["a", "1", "2.5"]
    assert Table(pd.DataFrame(X, columns=NAMES), names=["x", "y", "z"]).names == ["x", "y", "z"]
    with pytest.raises(ValueError, match="more than once: 'a'"):
        Table(pd.DataFrame(X, columns=["a", "b", "a"]))
    assert Table(pd.DataFrame(X, index=Y)).sample_names == Y
    assert Table(pd.DataFrame(X)).sample_names is None


def test_targets_compare_by_identity():
    one, two = check_target([0, 1], 2), check_target([0, 1], 2)
    assert one == one
    assert one != two


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, pl.DataFrame], ids=lambda m: m.__name__)
def test_decimal_commas_are_named(make):
    X = make({"a": ["1", "-2,5"]}) if make is not np.array else make([["-2,5"], ["1"]], object)
    with pytest.raises(ValueError, match=r"such as '-2,5'; .*decimal point"):
        Table(X)


def test_masked_labels_are_missing_labels() -> None:
    y = np.ma.array([0, 1, 2, 1], mask=[False, False, True, False])
    with pytest.raises(ValueError, match=r"Input y contains NaN: 1 of 4 labels \(at 2"):
        check_target(y, 4)
    assert check_target(np.ma.array([0, 1, 1, 0]), 4).codes.tolist() == [0, 1, 1, 0]


def test_many_whole_numbers_are_classes_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="y holds 40 distinct whole numbers over 80 samples"):
        assert check_target(np.repeat(np.arange(40), 2), 80).task == "classification"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_target(np.repeat(np.arange(40), 3), 120)  # three of each: classes
        check_target(np.arange(80), 80, "regression")
        check_target([f"id{i}" for i in range(80)], 80)
