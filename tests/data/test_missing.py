"""A table is finite unless it says so."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import fitness
from bitsieve.data import Table, read_table
from bitsieve.data.validation import check_matrix

GAPS = [[1.0, 0.0, 5.0], [np.nan, 1.0, 6.0], [3.0, np.nan, 7.0], [4.0, 0.0, np.nan]]
Y = ["u", "v", "u", "v"]
SAID = r"Input X contains NaN: 3 values in 3 columns \('a', 'b', 'c'\); fill them in .*, or drop"


@pytest.fixture
def gaps() -> Table:
    return Table(GAPS, Y, names=["a", "b", "c"], missing="keep")


def test_missing_values_are_refused_unless_asked_for():
    with pytest.raises(ValueError, match=SAID):
        Table(GAPS, Y, names=["a", "b", "c"])
    with pytest.raises(ValueError, match="missing must be 'error' or 'keep', got 'level'"):
        Table(GAPS, Y, missing="level")


def test_a_table_says_what_is_missing(gaps):
    assert (gaps.n_missing, gaps.has_missing) == (3, True)
    np.testing.assert_array_equal(gaps.X, GAPS)
    assert repr(gaps).startswith("Table(4 samples x 3 features (3 values missing), classification")
    with pytest.raises(ValueError, match=SAID):
        gaps.refuse_missing()


@each("missing", ["error", "keep"])
def test_a_complete_table_says_so(missing):
    table = Table([[1.0], [2.0]], missing=missing)
    assert (table.n_missing, table.has_missing) == (0, False)
    table.refuse_missing()
    np.testing.assert_array_equal(
        table.features[0, :2], [-1, 0] if table.centre[0] == 2 else [0, 1]
    )


def test_the_array_is_kept():
    X = np.array(GAPS, dtype=np.float32)
    assert np.shares_memory(Table(X, missing="keep").X, X)


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, None], [2.0, 3.0]],
        pd.DataFrame({"a": [1, 2], "b": [None, 3.0]}),
        np.ma.masked_equal([[1.0, -1.0], [2.0, 3.0]], -1.0),
    ],
    ids=["None", "frame", "masked"],
)
def test_all_that_is_missing_becomes_nan(X):
    table = Table(X, missing="keep")
    np.testing.assert_array_equal(table.X, [[1, np.nan], [2, 3]])
    assert table.n_missing == 1


def test_many_rows_are_counted_in_parts():
    X = np.random.default_rng(0).random((3000, 800)).astype(np.float32)
    where = np.random.default_rng(1).random(X.shape) < 0.01
    X[where] = np.nan
    assert Table(X, missing="keep").n_missing == where.sum()


@each("missing", ["error", "keep"])
@each("value", [np.inf, -np.inf])
def test_infinite_values_are_always_refused(missing, value):
    X = [[1.0, value], [np.nan if missing == "keep" else 2.0, 3.0]]
    with pytest.raises(ValueError, match=r"contains infinity: 1 value in 1 column \(number 1\)"):
        Table(X, missing=missing)


@each("X", [[[np.nan], [np.nan]], [[np.nan, 2.0], [1.0, 2.0], [np.nan, np.nan]]])
def test_a_gap_does_not_make_a_column_vary(X):
    with pytest.raises(ValueError, match="X is constant"):
        Table(X, missing="keep")
    array, _ = check_matrix(X, allow_nan=True, allow_constant=True)
    np.testing.assert_array_equal(array, X)


def test_a_column_that_varies_below_its_gaps():
    assert Table([[np.nan, 1.0], [2.0, 1.0], [3.0, 1.0]], missing="keep").n_missing == 1


def test_the_target_may_not_be_missing():
    with pytest.raises(ValueError, match="Input y contains NaN"):
        Table(GAPS, [0, 1, np.nan, 1], missing="keep")


# -- whoever takes no missing values says so -------------------------------------------------------


def test_the_hot_copy(gaps):
    for ask in (lambda: gaps.feature_major, lambda: gaps.features, lambda: gaps.centre):
        with pytest.raises(ValueError, match=SAID):
            ask()


@pytest.mark.parametrize("y", [None, Y])
def test_a_compiled_fitness(gaps, y):
    with pytest.raises(ValueError, match=SAID):
        fitness.compile(KNeighborsClassifier(1), gaps, y, cv=2)


# -- what a table is besides -----------------------------------------------------------------------


def test_pickles_and_frames(gaps):
    again = pickle.loads(pickle.dumps(gaps))
    assert again.n_missing == 3
    np.testing.assert_array_equal(again.X, gaps.X)
    assert again.fingerprint() == gaps.fingerprint()
    pd.testing.assert_frame_equal(gaps.to_frame(), pd.DataFrame(GAPS, columns=["a", "b", "c"]))


def test_all_nans_are_one():
    X = np.array(GAPS)
    other = np.where(np.isnan(X), np.uint64(0xFFF8000000000001).view(np.float64), X)
    assert X.tobytes() != other.tobytes()
    one, two = Table(X, missing="keep"), Table(other, missing="keep")
    assert one.fingerprint() == two.fingerprint()
    assert one.fingerprint() != Table(np.nan_to_num(X)).fingerprint()


# -- files -----------------------------------------------------------------------------------------


@each("gap", ["", "NA", "NaN", "null"])
def test_text_files(tmp_path, gap):
    path = tmp_path / "gaps.csv"
    path.write_text(f"id,a,b,y\ns1,1,{gap},u\ns2,{gap},0.5,v\ns3,2,0.25,u\n")
    with pytest.raises(ValueError, match=r"gaps\.csv: .*2 values in 2 columns \('a', 'b'\)"):
        read_table(path, target="y")
    table = read_table(path, target="y", missing="keep")
    np.testing.assert_array_equal(table.X, [[1, np.nan], [np.nan, 0.5], [2, 0.25]])
    assert (table.n_missing, table.discrete) == (2, None)
    with pytest.raises(ValueError, match="missing must be 'error' or 'keep', got True"):
        read_table(path, target="y", missing=True)


def test_rows_of_features(tmp_path):
    path = tmp_path / "genes.tsv"
    path.write_text("gene\ts1\ts2\ts3\ny\tu\tv\tu\ntp53\t1\t\t2\negfr\t4\t5\tNA\n")
    table = read_table(path, target="y", missing="keep")
    assert table.names == ["tp53", "egfr"]
    np.testing.assert_array_equal(table.X, [[1, 4], [np.nan, 5], [2, np.nan]])


def test_wide_files(tmp_path):
    """They are read line by line, unless a field is neither a number nor missing."""
    gaps = ["", " ", "NA", " null", '"NA"', "nan", "#N/A"]
    rows, columns = [1, 3, 0, 1, 2, 3, 4], [7, 2000, 0, 8, 9, 10, 2498]
    values = np.random.default_rng(0).integers(0, 9, (5, 2500)).astype(object)
    values[rows, columns] = gaps
    tables = []
    for last in ("12345", "xyxyx"):
        path = tmp_path / "wide.csv"
        values[:, 2499] = list(last)
        lines = [["ü_id", *(f"g{j}" for j in range(2500))]]
        lines += [[f"ü_{i}", *row] for i, row in enumerate(values.tolist())]
        text = "".join(",".join(map(str, line)) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")
        tables.append(read_table(path, missing="keep", categorical="ordinal", orient="samples"))
    line_by_line, pandas = tables
    assert line_by_line.n_missing == pandas.n_missing == len(gaps)
    np.testing.assert_array_equal(line_by_line.X[:, :2499], pandas.X[:, :2499])
    assert np.isnan(line_by_line.X[rows, columns]).all()
    path.write_text(text.replace(",x\n", ",5\n").replace(",y\n", ",6\n"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"NaN: 7 values in 7 columns \('g0', 'g7', 'g8', "):
        read_table(path, orient="samples")


def test_archives(tmp_path):
    path = tmp_path / "gaps.npz"
    np.savez(path, X=np.array(GAPS, np.float32), y=Y, names=["a", "b", "c"])
    with pytest.raises(ValueError, match=rf"gaps\.npz: {SAID}"):
        read_table(path)
    table = read_table(path, missing="keep")
    assert (table.X.dtype, table.n_missing) == (np.float32, 3)
