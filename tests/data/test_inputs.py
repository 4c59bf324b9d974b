"""The one entry: kernels get the same from any form of X and y; refusals have one wording."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from each import each

from bitsieve._errors import MissingValues, NumericTarget, TextColumns, caused_by
from bitsieve.data import Table
from bitsieve.data.inputs import check_input
from bitsieve.filters.named import FILTERS

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 2.5], [4.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
Y = ["b", "a", "b", "a"]


def test_every_form_of_a_table_comes_out_alike() -> None:
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    forms: list[Any] = [
        X, X.tolist(), np.asfortranarray(X), X.astype(object), X[:, ::-1][:, ::-1], frame,
        polars.DataFrame(X, schema=["a", "b", "c"]), Table(X, Y, names=["a", "b", "c"]),
        *(scipy.sparse.csr_array(X).asformat(f) for f in ("csr", "csc", "lil", "dok", "dia")),
        scipy.sparse.coo_matrix(X),
    ]  # fmt: skip
    for given in forms:
        for options in ({}, {"defer": True}, {"categories": True, "distinct": "all"}):
            found = check_input(given, Y, sparse=True, **options)
            if found.is_sparse:
                assert found.X.format == "csc"
                np.testing.assert_array_equal(found.X.toarray(), X)
            else:
                assert found.X.flags.c_contiguous
                assert found.X.dtype == np.float64
                np.testing.assert_array_equal(found.X, X)
            assert found.codes.tolist() == [1, 0, 1, 0]
            assert found.classes.tolist() == ["a", "b"]
            assert not found.discrete.any()
            assert not found.has_missing
    whole = scipy.sparse.dok_array(X.astype(np.int64))  # has no array of its entries
    found = check_input(whole, Y, sparse=True, distinct="all")
    np.testing.assert_array_equal(found.X.toarray(), whole.toarray())
    whole[1, 0], whole[2, 0] = 2**53, 2**53 + 1
    with pytest.raises(ValueError, match=r"merge in float64, as those of 1 column \(number 0\)"):
        check_input(whole, Y, sparse=True, distinct="all")
    assert check_input(X, Y).X is X
    from_table = check_input(Table(X, Y, names=["a", "b", "c"]))
    assert from_table.names == ["a", "b", "c"]
    assert from_table.classes.tolist() == ["a", "b"]


def test_whole_numbers_wait_until_they_are_needed_as_floats() -> None:
    whole = np.array([[1, 2], [3, 2**53]])
    found = check_input(whole, target=False, wholes=True, distinct="all")
    assert found.X is whole
    assert found.floats().X.dtype == np.float64
    whole[0, 1] = 2**53 + 1
    with pytest.raises(ValueError, match="merge in float64"):
        check_input(whole, target=False, wholes=True, distinct="all").floats()
    with pytest.raises(ValueError, match="merge in float64"):
        check_input(whole, target=False, distinct="all")


def test_missing_values_are_told() -> None:
    gaps = X.copy()
    gaps[1, 2] = np.nan
    for given in (gaps, np.ma.masked_invalid(gaps), Table(gaps, missing="keep")):
        found = check_input(given, target=False, missing="keep")
        assert found.has_missing
        np.testing.assert_array_equal(np.isnan(found.X), np.isnan(gaps))
        with pytest.raises(MissingValues, match="Input X contains NaN: 1 value"):
            check_input(given, target=False)
    with pytest.raises(MissingValues, match="contains NaN: 1 value in 1 column"):
        check_input(gaps, Y, defer=True).refuse()
    assert not check_input(X, target=False, missing="keep").has_missing


def test_what_code_branches_on_are_types() -> None:
    with pytest.raises(NumericTarget, match="Unknown label type: continuous"):
        check_input(X, [0.5, 1.5, 2.5, 3.5], task="classification")
    with pytest.raises(TextColumns, match="X must hold numbers"):
        check_input(pd.DataFrame({"a": ["u", "v"]}), [0, 1])
    with pytest.raises(ValueError, match="decimal point") as raised:
        check_input(pd.DataFrame({"a": ["1,5", "2,5"]}), [0, 1])
    assert not caused_by(raised.value, TextColumns)


_BAD: list[tuple[Any, Any, str]] = [
    (np.empty((0, 3)), [], r"0 sample\(s\)"),
    (X[:1], Y[:1], "n_samples=1"),
    (X[:, 0], Y, "Expected 2D array"),
    (X + 1j, Y, "Complex data not supported"),
    (np.where(X == 2.5, np.inf, X), Y, "Input X contains infinity: 1 value in 1 column"),
    (X, Y[:3], "X has 4 samples but y has 3 labels"),
    (X, [np.nan, 1, 2, 1], "Input y contains NaN: 1 of 4 labels"),
    (X, [[1, 2]] * 4, "y should be a 1d array"),
]


@each("name", FILTERS)
def test_every_filter_refuses_in_the_same_words(name: str) -> None:
    method = FILTERS[name]
    for bad, y, said in _BAD:
        if method.target == "none" and "y" in said.split(" ")[:7]:
            continue
        if method.target == "numbers" and Y[0] in y:
            y = np.arange(len(y)) + 0.5
        with pytest.raises(ValueError, match=said):
            method.rank(bad, y)
