"""Cut points are learnt on some samples and applied to any."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bitsieve import filters
from bitsieve.data import Table
from bitsieve.discrete import find_cuts

METHODS = ("mdl", "equal_width", "equal_frequency", "mean_sd")


def test_levels_of_other_samples_follow_from_the_cuts_alone() -> None:
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(80, 9)), 3.0 * rng.normal(size=(31, 9))
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 0] > 1)
    for method in METHODS:
        cuts = find_cuts(X, y, method=method, n_bins=5)
        columns = cuts.columns()
        assert sum(map(len, columns)) >= 3
        for samples in (X, other, other[:1]):
            table = cuts.apply(samples)
            wanted = [np.searchsorted(c, samples[:, f]) for f, c in enumerate(columns)]
            np.testing.assert_array_equal(table.codes, np.transpose(wanted))
            np.testing.assert_array_equal(table.n_levels, [len(c) + 1 for c in columns])
        codes, n_levels = filters.discretize(X, y, method=method, n_bins=5)
        np.testing.assert_array_equal(cuts.apply(X).codes, codes)
        np.testing.assert_array_equal(cuts.n_levels, n_levels)


def test_labels_keep_their_numbers() -> None:
    frame = pd.DataFrame({"stage": ["II", "I", "III", "I"], "size": [1.0, 4.0, 9.0, 2.0]})
    cuts = find_cuts(frame, [0, 0, 1, 1], method="equal_width", n_bins=2)
    assert cuts.names == ["stage", "size"]
    table = cuts.apply(pd.DataFrame({"stage": ["III", "I"], "size": [0.0, 6.0]}))
    assert table.codes.tolist() == [[2, 0], [0, 1]]
    assert table.n_levels.tolist() == [3, 2]
    with pytest.raises(ValueError, match="column 'stage' holds 'IV', but in fit it held only"):
        cuts.apply(pd.DataFrame({"stage": ["IV"], "size": [0.0]}))


def test_missing_values_have_the_last_level_whether_they_occur_or_not() -> None:
    cuts = find_cuts([[0.0], [4.0]], method="equal_width", n_bins=2, missing="level")
    for samples, codes in (([[1.0], [np.nan]], [0, 2]), ([[3.0]], [1])):
        table = cuts.apply(samples)
        assert table.codes.ravel().tolist() == codes
        assert table.n_levels.tolist() == [3]
        assert table.missing_level.tolist() == [2]


def test_refusals() -> None:
    cuts = find_cuts([[0.0, 1.0], [4.0, 2.0]], method="mean_sd")
    with pytest.raises(ValueError, match="X has 3 features, but the cut points are of 2"):
        cuts.apply([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        cuts.apply([[1.0, np.nan]])
    with pytest.raises(ValueError, match="method='mdl' needs y"):
        find_cuts([[0.0], [1.0]])


def test_named_columns_come_in_their_order() -> None:
    frame = pd.DataFrame({"a": [0.0, 4.0], "b": [1.0, 2.0], "c": ["x", "y"]})
    named = find_cuts(frame, method="mean_sd")
    for other, said in (
        (
            frame[["b", "a", "c"]],
            "column number 0 of X is 'b', but the cut points are of 'a'",
        ),
        (frame.rename(columns={"c": "d"}), "column number 2 of X is 'd', .* in the same order"),
        (frame[["a", "c"]], "X has 2 features, but the cut points are of 3"),
        (Table(np.eye(3), names=["a", "c", "b"]), "column number 1 of X is 'c'"),
    ):
        with pytest.raises(ValueError, match=said):
            named.apply(other)
    numbers = find_cuts(frame[["a", "b"]], method="mean_sd")
    codes = numbers.apply(frame[["a", "b"]]).codes
    for same in (frame[["a", "b"]].to_numpy(), Table(frame[["a", "b"]], names=["a", "b"])):
        np.testing.assert_array_equal(numbers.apply(same).codes, codes)
