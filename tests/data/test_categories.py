"""Columns of text: what they become, and what a table knows of them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from each import each

from bitsieve.data import Table, read_table

MIXED = (
    "age,grade,smoker,weight,y\n"
    "40,low,True,1.5,u\n52,,False,2.5,v\n,high,True,0.5,u\n47,low,False,,v\n61,high,True,3.5,v\n"
)


@pytest.fixture
def write(tmp_path):
    def writer(text, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return writer


# -- what is read ----------------------------------------------------------------------------------


@each("name", ["t.csv", "t.csv.gz"])
def test_text_is_numbered_and_flagged(write, name):
    table = read_table(write(MIXED, name), target="y", categorical="ordinal", missing="keep")
    assert table.names == ["age", "grade", "smoker", "weight"]
    nan = np.nan
    wanted = [
        [40, 1, 1, 1.5],
        [52, nan, 0, 2.5],
        [nan, 0, 1, 0.5],
        [47, 1, 0, nan],
        [61, 0, 1, 3.5],
    ]
    np.testing.assert_array_equal(table.X, wanted)
    assert table.discrete.tolist() == [False, True, True, False]
    assert table.discrete_columns == [1, 2]
    assert table.n_missing == 3
    assert "(2 of categories, 3 values missing)" in repr(table)


def test_one_column_a_value_is_flagged_as_well(write):
    table = read_table(write(MIXED), target="y", categorical="onehot", missing="keep")
    assert table.names == ["age", "grade=high", "grade=low", "grade=missing", "smoker", "weight"]
    assert table.X[:, 1:4].tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert table.discrete.tolist() == [False, True, True, True, True, False]
    assert table.n_missing == 2


def test_booleans_with_gaps(write):
    path = write("a,b,y\nTrue,x,u\n,x,v\nFalse,z,u\n")
    table = read_table(path, target="y", categorical="ordinal", missing="keep")
    np.testing.assert_array_equal(table.X, [[1, 0], [np.nan, 0], [0, 1]])
    assert table.discrete.tolist() == [True, True]


def test_numbers_alone_have_no_flags(write):
    table = read_table(write("a,b,y\n1,2,u\n2,2,v\n"), target="y", categorical="ordinal")
    assert table.discrete is None
    assert table.discrete_columns == []


def test_missing_text_is_refused_unless_kept(write):
    with pytest.raises(ValueError, match=r"2 values missing in text columns 'a', 'b'; .*'keep'"):
        read_table(write("a,b,y\nx,,u\n,z,v\nw,z,u\n"), target="y", categorical="ordinal")


def test_numbers_with_commas_are_no_categories(write):
    path = write("a;b;y\n1,5;x;u\n2;z;v\n0,25;x;u\n")
    with pytest.raises(
        ValueError, match=r"1 column \('a'\) .*'0,25'; write numbers with a decimal"
    ):
        read_table(path, target="y", categorical="ordinal", delimiter=";")
    table = read_table(path, target="y", categorical="ordinal", delimiter=";", decimal=",")
    np.testing.assert_array_equal(table.X, [[1.5, 0], [2, 1], [0.25, 0]])


@each("values", [np.arange(21), np.arange(6) + 0.5])
@each("how", ["ordinal", "onehot"])
def test_a_mark_among_measurements_is_no_category(write, values, how):
    lines = [f"{v},{'uv'[k % 2]}" for k, v in enumerate([*values, "x"])]
    with pytest.raises(ValueError, match=r"1 column \('a'\) holds numbers, .* such as 'x'; leave"):
        read_table(write("a,y\n" + "\n".join(lines) + "\n"), target="y", categorical=how)


@pytest.mark.parametrize(
    "values",
    [["0", "1", "2", "3+"], ["250.83", "428", "250", "401", "V27", "V45", "E909"]],
    ids=["a few numbers", "codes"],
)
def test_codes_that_are_mostly_numbers_are_categories_and_said_so(write, values):
    lines = [f"{v},{'uv'[k % 2]}" for k, v in enumerate(values)]
    with pytest.warns(UserWarning, match=r"1 column \('a'\) holds numbers, .*taken as categories"):
        table = read_table(
            write("a,y\n" + "\n".join(lines) + "\n"), target="y", categorical="ordinal"
        )
    assert table.X[:, 0].tolist() == [sorted(values).index(v) for v in values]


def test_many_columns_of_text(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.choice(["AA", "AG", "GG"], (12, 3000))
    path = tmp_path / "snp.csv"
    rows = [[f"rs{j}" for j in range(3000)], *values.tolist()]
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    table = read_table(path, index=None, categorical="ordinal", orient="samples")
    wanted = np.column_stack([np.unique(v, return_inverse=True)[1] for v in values.T])
    np.testing.assert_array_equal(table.X, wanted)
    assert table.discrete.all()


# -- what a table knows ----------------------------------------------------------------------------


def test_flags_are_copied_and_fixed():
    flags = np.array([True, False])
    table = Table([[0, 1.5], [1, 2.5]], discrete=flags)
    flags[:] = False
    assert table.discrete.tolist() == [True, False]
    with pytest.raises(ValueError, match="read-only"):
        table.discrete[0] = False
    assert Table([[0, 1.5], [1, 2.5]], discrete=[False, False]).discrete is None


@each("given", [[0, 1], [True], ["a", "b"], [[True, False]]])
def test_flags_must_fit(given):
    with pytest.raises(ValueError, match=r"one flag \(True or False\) a column of X, 2 in all"):
        Table([[0, 1.5], [1, 2.5]], discrete=given)


def test_flags_are_part_of_what_a_table_is():
    X = [[0, 1.5], [1, 2.5], [0, 3.5]]
    plain, flagged = Table(X), Table(X, discrete=[True, False])
    assert plain.fingerprint() != flagged.fingerprint()
    assert flagged.fingerprint() == Table(X, discrete=[True, False]).fingerprint()
    frame = flagged.to_frame()
    assert [str(dtype) for dtype in frame.dtypes] == ["category", "float64"]
    assert frame[0].tolist() == [0, 1, 0]
