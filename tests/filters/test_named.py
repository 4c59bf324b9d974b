"""Short names of methods: what they stand for, and that what is said of each is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from scipy import sparse

from bitsieve import filters
from bitsieve.data import Table
from bitsieve.filters.named import FILTERS, NamedFilter, Ranked, filter_by_name

PAGE = Path(__file__).resolve().parents[2] / "docs" / "filters.md"

METHODS = each("method", FILTERS.values())


def _counts(numbers: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.8, size=(50, 9)).astype(float), np.arange(50) % 2
    X[y == 1, 3] += 2
    return X, X @ rng.normal(size=9) + 0.25 if numbers else y


@METHODS
def test_scores_are_the_functions(method: NamedFilter) -> None:
    X, y = _counts(method.target == "numbers")
    options = dict(method.options)
    ranked = method.rank(X, y, n_features=4)
    assert ranked.scores.shape == (9,)
    assert ranked.scores.dtype == np.float64
    if method.greedy:
        known = {"n_features": 4} if method.takes("n_features") else {}
        order, values = method.function(X, y, return_scores=True, **known, **options)
        np.testing.assert_array_equal(ranked.order, order)
        np.testing.assert_array_equal(ranked.scores[order], values)
        assert np.isnan(np.delete(ranked.scores, order)).all()
        np.testing.assert_array_equal(ranked.keys[order], np.arange(1, len(order) + 1))
    else:
        assert ranked.order is None
        np.testing.assert_array_equal(ranked.scores, method.function(X, y, **options))
        np.testing.assert_array_equal(ranked.keys, -ranked.scores)
    assert (ranked.p_values is not None) == method.has_p_values


def _accepts(method: NamedFilter, X: Any, y: Any) -> bool:
    try:
        method.rank(X, y, n_features=3)
    except ValueError:
        return False
    return True


@METHODS
def test_what_a_method_takes(method: NamedFilter) -> None:
    X, y = _counts()
    _, numbers = _counts(numbers=True)
    words = np.array(["a", "b"])[y]
    assert _accepts(method, X, numbers) == (method.target != "classes")
    assert _accepts(method, X, words) == (method.target != "numbers")
    fit = numbers if method.target == "numbers" else y
    assert _accepts(method, sparse.csr_array(X), fit) == method.takes_sparse
    assert _accepts(method, sparse.csc_matrix(X), fit) == method.takes_sparse
    gaps = X.copy()
    gaps[2, 2] = np.nan
    assert _accepts(method, gaps, fit) == method.takes_nan
    assert _accepts(method, Table(gaps, missing="keep"), fit) == method.takes_nan
    text = pd.DataFrame(X).assign(grade=words)
    assert _accepts(method, text, fit) == method.takes_categories
    if method.target == "none":
        np.testing.assert_array_equal(method.rank(X, None).scores, method.rank(X, y).scores)


@each("name", [name for name, m in FILTERS.items() if m.counts_levels])
def test_missing_values_as_a_level(name: str) -> None:
    X, y = _counts()
    X[2, 2] = np.nan
    filled = np.where(np.isnan(X), 99, X)  # above all others
    gaps = Table(X, y, missing="keep", discrete=np.arange(9) == 2)
    found = FILTERS[name].rank(gaps, None, n_features=3, missing="level")
    wanted = FILTERS[name].rank(Table(filled, y, discrete=gaps.discrete), None, n_features=3)
    np.testing.assert_array_equal(found.scores, wanted.scores)


@each("name", [name for name, m in FILTERS.items() if m.takes_categories])
def test_categories_of_a_table_are_those_of_a_frame(name: str) -> None:
    method = FILTERS[name]
    X, y = _counts(method.target == "numbers")
    grades = np.array(["high", "low", "none"])[np.random.default_rng(1).integers(0, 3, 50)]
    frame = pd.DataFrame(X / 7).assign(grade=grades)
    codes = np.unique(grades, return_inverse=True)[1]
    table = Table(np.column_stack([X / 7, codes]), y, discrete=np.arange(10) == 9)
    found = method.rank(table, None, n_features=4, random_state=0)
    wanted = method.rank(frame, y, n_features=4, random_state=0)
    np.testing.assert_array_equal(found.scores, wanted.scores)


@METHODS
def test_a_table_brings_its_target(method: NamedFilter) -> None:
    X, y = _counts(method.target == "numbers")
    table = method.rank(Table(X, y), None, n_features=3)
    np.testing.assert_array_equal(table.scores, method.rank(X, y, n_features=3).scores)
    by_itself = method.function(Table(X, y), **method.options)
    np.testing.assert_array_equal(by_itself, method.function(X, y, **method.options))


@METHODS
def test_options_go_where_they_are_known(method: NamedFilter) -> None:
    X, y = _counts(method.target == "numbers")
    first = method.rank(X, y, n_features=3, n_jobs=1, random_state=0)
    again = method.rank(X, y, n_features=3, n_jobs=2, random_state=0)
    np.testing.assert_array_equal(first.scores, again.scores)
    few = method.rank(X, y, n_features=3, n_neighbors=2, random_state=0)
    if method.takes("n_neighbors") and method.name != "mi":  # for its "knn" alone
        assert not np.array_equal(first.scores, few.scores)
    else:
        np.testing.assert_array_equal(first.scores, few.scores)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("relieff", "relieff"),
        ("ReliefF", "relieff"),
        ("MultiSURF*", "multisurf-star"),
        ("surf_star", "surf-star"),
        ("mRMR MIQ", "mrmr-miq"),
        ("signal_to_noise", "s2n"),
        ("t_test", "t"),
        ("anova", "f"),
        ("Kruskal-Wallis", "kruskal"),
        ("information gain", "infogain"),
        ("gram_schmidt", "gs"),
    ],
)
def test_spelling_is_free(given: str, name: str) -> None:
    assert filter_by_name(given).name == name


def test_every_function_has_a_name() -> None:
    named = {method.source.partition(":")[2] for method in FILTERS.values()}
    others = {
        *("as_codes", "benjamini_hochberg", "cut_points", "discretize", "rank_aggregation"),
        *("conditional_mutual_information", "entropy", "joint_mutual_information"),
    }
    assert named == set(filters.__all__) - others
    for name in named - {"information_selection"}:  # its criteria are the names
        assert filter_by_name(name).source == f"bitsieve.filters:{name}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("relif", "unknown method 'relif': did you mean 'relief' or 'relieff' or 'rrelieff'"),
        ("xyzzy", r"unknown method 'xyzzy': there are 'relief', .* \(all: relief, relieff, "),
        ("", "unknown method ''"),
    ],
)
def test_unknown_names(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        filter_by_name(name)


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(ImportError, match=r"cannot import 'nothing' from bitsieve\.filters"):
        NamedFilter("x", "bitsieve.filters:nothing", "").rank([[1.0], [2.0]], [0, 1])


def test_keys_put_what_was_not_taken_last() -> None:
    ranked = Ranked(np.array([np.nan, 0.5, 0.75]), np.array([2, 1]))
    np.testing.assert_array_equal(ranked.keys, [np.nan, 2, 1])


@pytest.mark.skipif(not PAGE.is_file(), reason="needs the source tree")
def test_the_page_lists_all_methods() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("<!-- methods -->")[2].partition("<!-- /methods -->")[0]
    rows = {
        row[1].strip("` "): row
        for line in table.splitlines()
        if line.startswith("| `") and (row := re.split(r"(?<!\\)\|", line))
    }
    assert list(rows) == list(FILTERS)
    for name, method in FILTERS.items():
        row = [cell.strip() for cell in rows[name]]
        assert row[2].startswith(f"`{method.source.partition(':')[2]}`")
        assert ("(greedy)" in row[2]) == method.greedy
        assert row[3].replace("\\|", "|") == method.about
        assert row[4] == method.target
        assert row[6] == ("yes" if method.takes_nan else "level" if method.counts_levels else "")
        marks = [method.has_p_values, method.takes_categories, method.takes_sparse]
        assert [mark == "yes" for mark in (row[5], *row[7:9])] == marks
