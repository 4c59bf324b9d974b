"""What the Relief family takes, and what it says to the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each

from bitsieve import filters
from bitsieve.data import Table
from bitsieve.data.mixed import code_categories, has_categories
from bitsieve.filters.relief import _dispatch

CLASSIFIERS = (
    "relief",
    "relieff",
    "surf",
    "surf_star",
    "multisurf",
    "multisurf_star",
    "swrf_star",
    "turf",
)
X = np.random.default_rng(0).normal(size=(20, 4))
Y = np.arange(20) % 2
MIXED = pd.DataFrame(
    {
        "age": np.linspace(20.0, 60.0, 20),
        "stage": pd.Categorical(["i", "ii", "iv", None] * 5),
        "ward": ["east", "west"] * 10,
        "smokes": [True, False, False, True] * 5,
    }
)


@each("name", CLASSIFIERS)
def test_numbers_are_for_rrelieff(name: str) -> None:
    y = np.linspace(0.0, 1.0, 20)
    message = r"holds numbers such as .*; rrelieff scores features against numbers, or bin y"
    with pytest.raises(ValueError, match=message):
        getattr(filters, name)(X, y)


@each("name", [*CLASSIFIERS, "rrelieff"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_instances": 0}, "n_instances must be a whole number from 1 on or None, got 0"),
        ({"n_instances": 21}, "n_instances is 21, but X has 20 samples"),
        ({"n_instances": 0.5}, "n_instances must be a whole number from 1 on or None, got 0.5"),
        ({"n_instances": 3, "random_state": -1}, r"random_state must lie in \[0, 2\*\*64\)"),
        ({"missing": "mean"}, "missing must be 'probabilistic', 'ignore' or 'error'"),
        ({"diff": "square"}, "diff must be 'linear' or 'ramp', got 'square'"),
        ({"ramp": (0.2, 0.1)}, "0 <= low < high <= 1, got"),
        ({"ramp": 0.2}, r"ramp must be two shares of the range \(low, high\), got 0.2"),
        ({"precision": "int8"}, "precision must be 'exact', 'int16' or 'uint8'"),
        ({"feature_weights": [1.0, 2.0]}, r"one number a feature, 4 in all, got shape \(2,\)"),
        ({"feature_weights": [1, -2, 1, 1]}, r"but 1 column \(number 1\) got -2; 0 leaves"),
        ({"feature_weights": [1, np.nan, 1, 1]}, r"but 1 column \(number 1\) got nan"),
        ({"feature_weights": [0, 0, 0, 0]}, "feature_weights are all 0"),
        ({"feature_weights": "heavy"}, "feature_weights must hold numbers, got 'heavy'"),
        ({"discrete_features": ["age"]}, "names 'age', but the columns of X have no names"),
        ({"discrete_features": [4]}, r"positions in \[0, 4\), got 4"),
        ({"discrete_features": [1.0]}, r"positions in \[0, 4\), got 1.0"),
        ({"discrete_features": [True, False]}, "has 2 flags, but X has 4 features"),
        ({"discrete_features": [[0]]}, "must be 'auto', flags, positions or names"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
    ],
)
def test_options_out_of_range(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(filters, name)(X, Y, **options)


@each("name", ["relieff", "rrelieff", "turf"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number from 1 on, got 0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be a whole number from 1 on, got 2.0"),
        ({"weighting": "rank"}, "weighting must be 'equal' or 'exponential', got 'rank'"),
        ({"sigma": 0.0}, "sigma must be a finite number above 0, got 0.0"),
        ({"weighting": "exponential", "sigma": 0.01}, "even the nearest neighbor has no weight"),
    ],
)
def test_neighbors_out_of_range(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(filters, name)(X, Y, **options)


def test_tables_and_targets_that_do_not_fit() -> None:
    for bad, message in (
        ((X, Y[:-1]), "X has 20 samples but y has 19 labels"),
        ((X, np.zeros(20)), "classification needs two classes or more, but y has 1 class"),
        ((X, None), "y is needed"),
        ((X[0], Y), "Expected 2D array"),
        ((X[:1], Y[:1]), "n_samples=1"),
    ):
        with pytest.raises(ValueError, match=message):
            filters.relieff(*bad)
    with pytest.raises(ValueError, match="a regression target must hold numbers"):
        filters.rrelieff(X, np.array(["a", "b"])[Y])


def test_two_samples_and_one_feature() -> None:
    assert filters.relieff([[1.0], [2.0]], [0, 1]).tolist() == [1.0]
    assert filters.rrelieff([[1.0], [2.0]], [0.0, 1.5]).tolist() == [1.0]
    assert filters.multisurf([[1.0], [2.0]], [0, 1]).tolist() == [0.0]  # none nearer than the mean


def test_nothing_varies() -> None:
    for name in (*CLASSIFIERS[:-1], "rrelieff"):
        assert getattr(filters, name)(np.ones((20, 3)), Y).tolist() == [0.0] * 3


def test_a_table_brings_target_and_names() -> None:
    table = Table(X, Y, names=list("abcd"))
    np.testing.assert_array_equal(filters.relieff(table), filters.relieff(X, Y))
    named = filters.relieff(table, discrete_features=["b"])
    np.testing.assert_array_equal(named, filters.relieff(X, Y, discrete_features=[1]))


def test_columns_of_categories_are_discrete() -> None:
    coded = np.column_stack([MIXED["age"], [0, 1, 2, np.nan] * 5, [0, 1] * 10, [1.0, 0, 0, 1] * 5])
    wanted = filters.relieff(coded, Y, discrete_features=[1, 2, 3])
    np.testing.assert_allclose(filters.relieff(MIXED, Y), wanted, rtol=0, atol=1e-12)
    # What the user calls discrete comes on top.
    more = filters.relieff(MIXED, Y, discrete_features=["age"])
    wanted = filters.relieff(coded, Y, discrete_features=[True] * 4)
    np.testing.assert_allclose(more, wanted, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="names 'stag', which X does not have; did you mean 'stag"):
        filters.relieff(MIXED, Y, discrete_features=["stag"])


def test_polars_frames() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "age": MIXED["age"].tolist(),
            "stage": polars.Series([None if v != v else v for v in MIXED["stage"]]).cast(
                polars.Categorical
            ),
            "ward": MIXED["ward"].tolist(),
            "smokes": MIXED["smokes"].tolist(),
        }
    )
    np.testing.assert_allclose(
        filters.relieff(frame, Y), filters.relieff(MIXED, Y), rtol=0, atol=1e-12
    )


def test_nothing_is_guessed_from_distinct_values() -> None:
    levels = np.arange(20.0) % 3
    table = np.column_stack([levels, X[:, 1]])
    assert not np.array_equal(
        filters.relieff(table, Y), filters.relieff(table, Y, discrete_features=[0])
    )


@each("diff", ["linear", "ramp"])
def test_a_range_beyond_all_numbers(diff: Any) -> None:
    wide = X.copy()
    wide[:, 2] *= 1.7e308 / np.abs(X[:, 2]).max()
    with pytest.raises(ValueError, match="column 2 spans more than float64 can hold; divide it"):
        filters.relieff(wide, Y, diff=diff)


def test_numbers_written_as_text_are_no_categories() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "dose": [f"{v:.2f}".replace(".", ",") for v in X[:, 1]]})
    message = r"1 column \('dose'\) holds numbers written as text; turn them into numbers"
    with pytest.raises(ValueError, match=message):
        filters.relieff(frame, Y)
    meant = filters.relieff(frame, Y, discrete_features=["dose"])
    as_categories = filters.relieff(frame.astype({"dose": "category"}), Y)
    np.testing.assert_array_equal(meant, as_categories)


def test_the_users_frame_is_not_touched() -> None:
    before = MIXED.copy()
    filters.relieff(MIXED, Y)
    coded, discrete = code_categories(MIXED)
    assert discrete == [1, 2, 3]
    assert coded is not MIXED
    pd.testing.assert_frame_equal(MIXED, before)
    assert has_categories(MIXED)
    assert not has_categories(MIXED[["age", "smokes"]])
    assert not has_categories(X)


@each("options", [{"diff": "ramp"}, {"missing": "ignore"}])
def test_the_users_array_is_not_touched(options: dict[str, Any]) -> None:
    """One column is its own transpose, so that a view of it would do as the working copy."""
    X = np.full((6, 1), 3.0)
    if "missing" in options:
        X[2] = np.nan
    before = X.copy()
    assert filters.relieff(X, [0, 1] * 3, **options).tolist() == [0.0]
    np.testing.assert_array_equal(X, before)
    X.flags.writeable = False
    assert filters.swrf_star(X, [0, 1] * 3, **options).tolist() == [0.0]


def test_text_columns_of_pandas_with_missing_values() -> None:
    frame = pd.DataFrame({"a": [0.0, 0.2, 0.8, 1.0], "b": ["x", None, "y", "y"]})
    wanted = filters.relieff(frame, [0, 0, 1, 1], n_neighbors=1)
    for dtype in ("string", "str", "object", "category"):
        again = frame.astype({"b": dtype})
        found = filters.relieff(again, [0, 0, 1, 1], n_neighbors=1)
        np.testing.assert_array_equal(found, wanted)


def test_targets_beyond_all_numbers() -> None:
    X = np.arange(8.0).reshape(4, 2) % 3
    with pytest.raises(ValueError, match=r"y spans more than float64 can hold; divide it by"):
        filters.rrelieff(X, [-1.7e308, 0.0, 1.0, 1.7e308])


def test_only_proportions_of_feature_weights_count(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).random((10, 3)), [0, 1] * 5
    monkeypatch.setattr(_dispatch, "_FEW", 0)
    for name in ("relieff", "multisurf", "swrf_star"):
        score = getattr(filters, name)
        wanted = score(X, y, feature_weights=[1.0, 2.0, 0.5])
        for scale in (2.0**1022, 2.0**-1060):
            weights = np.array([1.0, 2.0, 0.5]) * scale
            np.testing.assert_array_equal(score(X, y, feature_weights=weights), wanted)


@pytest.mark.filterwarnings("error")
def test_a_tiny_sigma_is_refused_without_a_warning() -> None:
    with pytest.raises(ValueError, match=r"sigma=1e-200 is so small that even the nearest"):
        filters.relieff([[0.0], [1.0]], [0, 1], weighting="exponential", sigma=1e-200)


def test_objects_of_text_and_of_numbers() -> None:
    frame = pd.DataFrame(
        {
            "text": np.array(["u", "v", None, "u"] * 5, dtype=object),
            "number": np.array([1, 2.5, None, 4] * 5, dtype=object),
            "flag": np.array([True, False, None, True] * 5, dtype=object),
        }
    )
    _, discrete = code_categories(frame)
    assert discrete == [0, 2]
    assert np.isfinite(filters.relieff(frame, Y)).all()
    frame["number"] = frame["number"].astype(object)
    frame.loc[3, "number"] = "four"
    with pytest.raises(ValueError, match="holds text or other values, such as 'four'"):
        filters.relieff(frame, Y)
