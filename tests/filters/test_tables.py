"""Tables with missing values and categories: filters find what they find in data frames."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from each import each

from bitsieve import filters
from bitsieve.data import Table, read_table
from bitsieve.filters.named import FILTERS

GAPS = [[1.0, 0.0, 5.0], [np.nan, 1.0, 6.0], [3.0, np.nan, 7.0], [4.0, 0.0, np.nan]]
Y = ["u", "v", "u", "v"]
SAID = r"Input X contains NaN: 3 values in 3 columns \('a', 'b', 'c'\); fill them in .*, or drop"


@pytest.fixture
def gaps() -> Table:
    return Table(GAPS, Y, names=["a", "b", "c"], missing="keep")


def _people(n=120):
    """A small table like a census: numbers, text, gaps in both, a target of text."""
    rng = np.random.default_rng(0)
    income = rng.choice(["<=50K", ">50K"], n, p=[0.7, 0.3])
    rich = income == ">50K"
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 90, n) + 5.0 * rich,
            "workclass": rng.choice(["Private", "State-gov", "Self-emp"], n),
            "education": np.where(
                rich, rng.choice(["Masters", "HS-grad"], n), rng.choice(["HS-grad", "11th"], n)
            ),
            "hours": rng.integers(10, 60, n),
            "citizen": rng.random(n) < 0.8,
            "income": income,
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "workclass"] = None
    return frame


# -- missing values --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, m in FILTERS.items() if not m.takes_nan])
def test_filters(gaps, name):
    said = SAID.replace("'a', 'b', 'c'", ".*") if name.startswith("mrmr-fc") else SAID
    with pytest.raises(ValueError, match=said):
        FILTERS[name].rank(gaps, None)


def test_a_numeric_target(gaps):
    with pytest.raises(ValueError, match=SAID):
        filters.pearson(gaps, [0.5, 1.5, 2.25, 3.0])


@pytest.mark.parametrize("name", [name for name, m in FILTERS.items() if m.takes_nan])
def test_filters_that_take_them_find_what_they_find_in_arrays(gaps, name):
    y = [0.5, 1.5, 2.25, 3.0] if name == "rrelieff" else Y
    options = {"n_neighbors": 1, "random_state": 0}
    found = FILTERS[name].rank(gaps, y, **options)
    wanted = FILTERS[name].rank(np.array(GAPS), y, **options)
    np.testing.assert_array_equal(found.scores, wanted.scores)
    assert np.isfinite(found.scores).all()
    with pytest.raises(ValueError, match=SAID + r".*; or pass missing='probabilistic'"):
        FILTERS[name].function(gaps, y, missing="error")


# -- categories ------------------------------------------------------------------------------------

_OF_LEVELS = [
    "mutual_information", "information_gain", "gain_ratio", "symmetrical_uncertainty", "gini",
    "entropy",
]  # fmt: skip
_OF_RELIEF = ["relief", "relieff", "surf", "surf_star", "multisurf", "multisurf_star", "swrf_star"]


def _both_ways(frame, tmp_path):
    path = tmp_path / "people.csv.gz"
    frame.to_csv(path, index=False)
    table = read_table(path, target="income", categorical="ordinal", missing="keep")
    read = pd.read_csv(path)
    return table, read.drop(columns="income"), read["income"]


@pytest.mark.parametrize("name", [*_OF_RELIEF, "turf"])
def test_relief_of_a_file_is_that_of_a_frame(name, tmp_path):
    table, frame, y = _both_ways(_people(), tmp_path)
    assert table.names == list(frame.columns)
    assert table.discrete.tolist() == [False, True, True, False, True]
    assert table.n_missing == frame.isna().to_numpy().sum() > 10
    score = getattr(filters, name)
    for options in ({}, {"missing": "ignore"}):
        found = score(table, None, **options)
        np.testing.assert_array_equal(found, score(frame, y, **options))
    plain = score(table.X, y)
    assert not np.array_equal(found, plain)  # the flags tell


def test_more_discrete_features_may_be_named(tmp_path):
    table, frame, y = _both_ways(_people(), tmp_path)
    found = filters.relieff(table, None, discrete_features=["hours"])
    np.testing.assert_array_equal(found, filters.relieff(frame, y, discrete_features=["hours"]))
    assert not np.array_equal(found, filters.relieff(table, None))


def test_rrelieff(tmp_path):
    table, frame, _ = _both_ways(_people(), tmp_path)
    y = np.random.default_rng(1).random(len(frame))
    np.testing.assert_array_equal(filters.rrelieff(table, y), filters.rrelieff(frame, y))


@pytest.mark.parametrize("name", _OF_LEVELS)
@each("missing", ["error", "level"])
def test_levels_of_a_file_are_those_of_a_frame(name, missing, tmp_path):
    people = _people()
    table, frame, y = _both_ways(people.dropna() if missing == "error" else people, tmp_path)
    score = getattr(filters, name)
    if name == "entropy":
        found, wanted = score(table, missing=missing), score(frame, missing=missing)
    else:
        found, wanted = score(table, None, missing=missing), score(frame, y, missing=missing)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("discretization", ["mdl", "equal_frequency", "mean_sd"])
def test_discretised_tables(discretization, tmp_path):
    table, frame, y = _both_ways(_people(), tmp_path)
    options = {"method": discretization, "missing": "level"}
    wanted, _ = filters.discretize(frame, y, **options)
    for target in (None, y):
        codes, n_levels = filters.discretize(table, target, **options)
        np.testing.assert_array_equal(codes, wanted)
        assert n_levels[[1, 2, 4]].tolist() == [4, 3, 2]
        assert (
            codes[:, 2].tolist() == np.unique(frame["education"], return_inverse=True)[1].tolist()
        )


@pytest.mark.parametrize("select", ["mrmr", "information_selection", "fcbf", "cfs"])
def test_greedy_selection(select, tmp_path):
    table, frame, y = _both_ways(_people().dropna(), tmp_path)
    first = getattr(filters, select)(table, None, return_scores=True)
    second = getattr(filters, select)(frame, y, return_scores=True)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


# -- real data -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult(data_dir):
    path = data_dir / "formats" / "adult.csv.gz"
    if not path.is_file():
        pytest.skip(f"needs real data: {path} is not there")
    return path


def test_a_census(adult):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(adult, target="income", categorical="ordinal", missing="keep")
    frame = pd.read_csv(adult)
    y = frame.pop("income")
    assert table.names == list(frame.columns)
    assert table.discrete.tolist() == [dtype.kind == "O" for dtype in frame.dtypes]
    np.testing.assert_array_equal(np.isnan(table.X), frame.isna())
    assert table.n_missing == 6465
    part = Table(
        table.X[:700], table.y[:700], names=table.names, missing="keep", discrete=table.discrete
    )
    np.testing.assert_array_equal(
        filters.relieff(part, None), filters.relieff(frame[:700], y[:700])
    )
    found = filters.information_gain(table, None, missing="level")
    np.testing.assert_array_equal(found, filters.information_gain(frame, y, missing="level"))


def test_a_file_of_numbers_and_categories_is_scored_as_weka_does(adult, weka, tmp_path):
    wanted = weka["adult_mixed_1500"]
    frame = pd.read_csv(adult).dropna().head(1500)
    path = tmp_path / "adult.csv"
    frame.to_csv(path, index=False)
    table = read_table(path, target="income", categorical="ordinal")
    assert table.names == wanted["columns"]
    assert table.discrete_columns == wanted["nominal"]
    for name, score in (
        ("relieff10", filters.relieff),
        ("infogain", filters.information_gain),
        ("gainratio", filters.gain_ratio),
        ("su", filters.symmetrical_uncertainty),
    ):
        np.testing.assert_allclose(score(table, None), wanted[name], rtol=0, atol=1e-10)
