"""Samples that stand twice: found, named, and not looked for where equal rows are usual."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from bitsieve._errors import DuplicateSamplesWarning
from bitsieve.data.copies import find_copies, warn_of_copies


def _sets(X: np.ndarray) -> list[list[int]]:
    """The slow and obvious twin."""
    seen: dict[tuple[float, ...], list[int]] = {}
    for i, row in enumerate(np.where(np.isnan(X), -7.5, X) + 0.0):
        seen.setdefault(tuple(row.tolist()), []).append(i)
    return sorted(each for each in seen.values() if len(each) > 1)


def test_copies_are_the_twins() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 25)).round(1)
        X[:, 10:] *= rng.random(15) < 0.3  # columns of zeros
        X[rng.integers(0, 60, 9)] = X[rng.integers(0, 60, 9)]
        X[3, 0] = X[7, 0] = np.nan
        X[7] = X[3]
        X[8] = X[9] = 0.0
        X[9, 4] = -0.0
        for given in (X, np.asfortranarray(X), pd.DataFrame(X), X.astype(np.float32)):
            found = find_copies(given)
            assert found is not None
            assert found.sets == _sets(X)
        sparse = find_copies(scipy.sparse.csr_matrix(X))
        assert sparse is not None
        assert sparse.sets == _sets(X)


def test_groups_that_hold_the_copies_are_no_danger() -> None:
    X = np.random.default_rng(0).normal(size=(30, 12))
    twice = np.r_[X, X]
    groups = np.tile(np.arange(30, dtype=np.int32), 2)
    assert find_copies(twice, groups) is None
    groups[31] = 40
    found = find_copies(twice, groups)
    assert found is not None
    assert found.sets == [[1, 31]]


@pytest.mark.parametrize(("n_columns", "n_levels", "found"), [(9, 40, 0), (10, 20, 0), (10, 21, 1)])
def test_tables_of_few_levels_hold_equal_rows_by_nature(
    n_columns: int, n_levels: int, found: int
) -> None:
    X = np.stack([np.random.default_rng(j).permutation(42) % n_levels for j in range(n_columns)], 1)
    X = np.c_[np.r_[X, X[:1]], np.ones((43, 30))]
    assert (find_copies(X) is not None) == bool(found)


def test_the_warning_says_which_and_what_to_do() -> None:
    X = np.random.default_rng(0).normal(size=(30, 12))
    with pytest.warns(DuplicateSamplesWarning) as caught:
        copies = warn_of_copies(np.r_[X, X[:5], X[:1]])
    assert copies is not None
    text = str(caught[0].message)
    assert caught[0].filename == __file__
    assert "6 of 36 samples are copies" in text
    assert "0 = 30 = 35, 1 = 31, 2 = 32 and 2 more sets, counted from 0" in text
    assert "groups= (--groups on the command line)" in text
    assert "s0 = s30 = s35, s1" in copies.text([f"s{i}" for i in range(36)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (X, [["a", "b"], ["a", "b"]], np.ones((4, 20)), [1.0, 2.0]):
            assert warn_of_copies(other) is None


def test_missing_values_of_pandas_are_missing() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 12))).astype("Float64")
    frame.iloc[4] = frame.iloc[9]
    frame.iloc[[4, 9], 0] = pd.NA
    found = find_copies(frame)
    assert found is not None
    assert found.sets == [[4, 9]]
