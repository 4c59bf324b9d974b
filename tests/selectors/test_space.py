"""Which features a search moves: what users name, what moves together, and what is counted."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.feature_selection import f_classif
from sklearn.naive_bayes import GaussianNB

from bitsieve import (
    BinarySPSA,
    FixedSizeSearch,
    Masks,
    SequentialFeatureSelector,
    StochasticLocalSearch,
)
from bitsieve.data import Table
from bitsieve.filters import f_test, mrmr, relieff
from bitsieve.selectors._features import feature_positions
from bitsieve.selectors._space import Space
from bitsieve.selectors._starts import start_units
from bitsieve.testing._draws import table as drawn

NAMES = [f"gene{f}" for f in range(12)]


@pytest.fixture
def table() -> Table:
    X, y = drawn(40, 12)
    return Table(X, y, names=NAMES)


@pytest.fixture
def nameless() -> Table:
    return Table(*drawn(40, 12))


@each(
    ("given", "wanted"),
    [
        (None, []),
        ([], []),
        ((), []),
        (np.array([]), []),
        ([3, 1, 3], [1, 3]),
        ((np.int8(2), 5), [2, 5]),
        (np.array([11, 0], dtype=np.uint16), [0, 11]),
        (range(2, 5), [2, 3, 4]),
        ({7, 4}, [4, 7]),
        (["gene3", "gene11"], [3, 11]),
        (np.array(["gene3", "gene0"]), [0, 3]),
        (pd.Index(["gene1"]), [1]),
        (pd.Series(["gene1", "gene0"], index=[5, 6]), [0, 1]),
        (["gene3", 5], [3, 5]),
        (np.array(["gene3", 5], dtype=object), [3, 5]),
        (np.arange(12) == 4, [4]),
        ([False] * 11 + [True], [11]),
        (Masks.from_indices([[2, 9]], 12), [2, 9]),
        ([0, 1], [0, 1]),
        (list(range(12)), list(range(12))),
    ],
)
def test_features_as_users_name_them(table: Table, given: Any, wanted: list[int]) -> None:
    found = feature_positions("forced_features", given, table)
    assert found.tolist() == wanted
    assert found.dtype == np.int64


@each(
    ("given", "said"),
    [
        ("gene3", "must be a list of names or positions, a boolean mask or None, got 'gene3'"),
        (3, "must be a list of names or positions"),
        (["gene3", "gen4"], "names 'gen4', which is no feature: did you mean 'gene4'"),
        ([3, 12], r"has position 12; with 12 features positions lie in \[0, 11\]"),
        ([-1], "has position -1"),
        (["gene3", 12], "has position 12"),
        ([2**70], "has position 1180591620717411303424"),
        ([1.0, 2.0], "must be a flat list of names or positions"),
        ([[1, 2]], "must be a flat list of names or positions"),
        ([[1, 2], [3]], "must be a flat list of names or positions"),
        ([None], "must hold names or positions, got None"),
        (["gene1", None], "must hold names or positions, got None"),
        (["gene1", True], "must hold names or positions, got True; a mask must be boolean"),
        (np.full(12, True, dtype=object), "got True; a mask must be boolean"),
        ([True, False], "is a mask of 2 features, X has 12"),
        (np.zeros((1, 12), dtype=bool), "must be a flat list of names or positions"),
        ([0, 1] * 6, "has a zero or a one for each of the 12 features, and a mask must be "),
        (np.zeros(12, dtype=int), "has a zero or a one for each of the 12 features"),
        (Masks.full(11), "must be one mask of 12 features"),
        (Masks.concatenate([Masks.full(12)] * 2), "must be one mask of 12 features"),
    ],
)
def test_what_names_no_features_is_told(table: Table, given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        feature_positions("forced_features", given, table)
    assert str(error.value).startswith("forced_features ")


def test_names_need_names(nameless: Table) -> None:
    with pytest.raises(ValueError, match="names 'gene1', but X has no names of features"):
        feature_positions("forced_features", ["gene1"], nameless)


def twin(p: int, forced: set[int], forbidden: set[int], groups: list[set[int]]) -> list[list[int]]:
    """The free units, each the list of its features, by their lowest feature."""
    alone = set(range(p)) - set().union(*groups)
    units = [sorted(g) for g in groups] + [[f] for f in alone]
    return sorted(u for u in units if not (set(u) & (forced | forbidden)))


def test_units_are_those_of_the_twin(nameless: Table) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        order = rng.permutation(12)
        cuts = np.sort(rng.choice(13, rng.integers(0, 4), replace=False))
        groups = [set(g.tolist()) for g in np.split(order, cuts)[: len(cuts)] if len(g)]
        alone = sorted(set(range(12)) - set().union(*groups))
        units = [*groups, *({f} for f in alone)]
        chosen = rng.permutation(len(units))
        always = [units[u] for u in chosen[: rng.integers(0, 3)]]
        never = [u for u in (units[c] for c in chosen[3:5]) if u not in always]
        forced, forbidden = set().union(*always), set().union(*never)
        wanted = twin(12, forced, forbidden, groups)
        if not wanted:
            continue
        lists = [sorted(g) for g in groups]
        space = Space(nameless, forced=sorted(forced), forbidden=sorted(forbidden), groups=lists)
        got = [np.flatnonzero(space.unit_of == u).tolist() for u in range(space.n_units)]
        assert got == wanted
        assert space.n_forced == len(always)
        assert np.flatnonzero(space.forced).tolist() == sorted(forced)
        assert space.is_plain == (len(wanted) == 12)
        mask = rng.random(12) < 0.7
        assert space.units_of(mask).tolist() == [bool(mask[u].all()) for u in wanted]
        scores = rng.normal(size=12)
        np.testing.assert_allclose(space.unit_scores(scores), [scores[u].mean() for u in wanted])
        assert space.size(len(always) + len(wanted)) == len(wanted)
        assert space.size(len(always) + 1) == 1


@each(
    ("options", "said"),
    [
        ({"forced": [1, 4], "forbidden": ["gene4"]}, "feature 'gene4' cannot be both in forced_"),
        ({"groups": [[1, 2], ["gene2", 5]]}, "'gene2' is in two groups, number 0 and number 1"),
        ({"groups": [[1, 2]], "forced": [1]},
         r"feature_groups\[0\] moves as one, but of it forced_features has feature 'gene1' and "
         "not feature 'gene2'"),
        ({"groups": [[3], [0, 5, 7]], "forbidden": [5]}, r"\[1\] moves as one, but of it forb"),
        ({"groups": [[1, 2], []]}, r"feature_groups\[1\] is empty"),
        ({"groups": [1, 2]}, r"must be a list of lists, but its entry 0 is 1: write \[\[...\]\]"),
        ({"groups": ["gene1", "gene2"]}, "must be a list of lists, but its entry 0 is 'gene1'"),
        ({"groups": "gene1"}, "must be a list of lists of names or positions"),
        ({"groups": 3}, "must be a list of lists of names or positions"),
        ({"groups": [["gene1", "gen"]]}, r"feature_groups\[0\] names 'gen', which is no feature"),
        ({"forced": range(12)}, "nothing is left to search: of 12 features 12 are in forced_"),
        ({"forced": range(6), "forbidden": range(6, 12)}, "6 are in forced_features and 6 in forb"),
    ],
)  # fmt: skip
def test_spaces_that_cannot_be(table: Table, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Space(table, **options)


def test_sizes_count_units_and_the_forced_ones(table: Table) -> None:
    space = Space(table, forced=[0, 1, 2], forbidden=[11], groups=[[1, 2], [5, 6, 7]])
    assert (space.n_units, space.n_forced) == (6, 2)
    assert [space.size(n) for n in (3, 8)] == [1, 6]
    assert space.size(2, least=0) == 0
    for n in (1, 2):
        with pytest.raises(ValueError, match=f"n_features_to_select={n} leaves nothing to search: "
                           "2 are forced, so it must be at least 3"):  # fmt: skip
            space.size(n)
    with pytest.raises(ValueError, match="n_features_to_select=9 is more than the 8 that there ar"):
        space.size(9)
    with pytest.raises(ValueError, match="n_features_to_select=13 is more than the 12 features"):
        Space(table).size(13)
    for n in (0, 2.5, True, "all"):
        with pytest.raises(ValueError, match="n_features_to_select must be a whole number"):
            space.size(n)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"n_features_to_select must be .*got array\(3\)"):
        space.sizes(np.array(3))


def test_masks_and_scores_of_another_shape_are_refused(table: Table) -> None:
    space = Space(table)
    for mask in (np.ones(11, dtype=bool), np.ones(12), np.ones((1, 12), dtype=bool)):
        with pytest.raises(ValueError, match=r"a mask must be boolean of shape \(12,\)"):
            space.units_of(mask)
    with pytest.raises(ValueError, match="scores must be one a feature, 12"):
        space.unit_scores(np.ones(3))


def test_filters_by_name_by_function_and_as_numbers(table: Table) -> None:
    space = Space(table, forced=[3], groups=[[0, 4]])
    X, y = table.X, table.y
    for given, wanted in (
        ("relieff", relieff(X, y)), ("ReliefF", relieff(X, y)), ("F", f_test(X, y)),
        (f_classif, f_classif(X, y)[0]), (lambda X, y: X[0], X[0]), (np.arange(12), np.arange(12)),
    ):  # fmt: skip
        found = space.filter_scores("start", given)
        np.testing.assert_allclose(found, space.unit_scores(np.asarray(wanted, dtype=float)))
    order = mrmr(X, y, 4)  # greedy: places, and the last one for what it did not take
    found = Space(table).filter_scores("start", "mrmr", n_features=4)
    assert np.argsort(-found, kind="stable")[:4].tolist() == list(order[:4])
    with pytest.raises(ValueError, match="start='relif' is no filter: did you mean 'relief'"):
        space.filter_scores("start", "relif")
    with pytest.raises(ValueError, match="filter_scores must return one score a feature, 12, but"):
        space.filter_scores("filter_scores", lambda X, y: None)
    with pytest.raises(ValueError, match=r"filter_scores must have shape \(12,\), got \(3,\)"):
        space.filter_scores("filter_scores", [1.0, 2.0, 3.0])


def test_a_filter_is_asked_once(table: Table) -> None:
    calls: list[int] = []

    def counted(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        calls.append(1)
        return f_classif(X, y)[0]

    space = Space(table)
    first = space.filter_scores("start", counted)
    first[:] = 0.0  # what is handed out is a copy
    assert space.filter_scores("start", counted).max() > 0.0
    assert calls == [1]


def test_infinite_scores_keep_their_order() -> None:
    X, _ = drawn(40, 3)
    y = np.repeat([0, 1], 20)
    X[:, 1] = y  # within a class no spread at all
    found = Space(Table(X, y)).filter_scores("start", "f")
    assert np.isfinite(found).all()
    assert found.argmax() == 1


_RULES: dict[str, Any] = {
    "forced": ["gene1"],
    "forbidden": ["gene3", "gene4"],
    "groups": [["gene8", "gene9"], [0, 2, 5]],
}
_NOT_STARTS = (
    (["gene6", "gene3"], "start has 1 feature ('gene3') of forbidden_features: leave it out"),
    ([3, 4], "start has 2 features ('gene3', 'gene4') of forbidden_features: leave them out"),
    (
        ["gene6", "gene0", "gene5"],
        "start has 2 features ('gene0', 'gene5') of a group in feature_groups and not 1 feature "
        "('gene2'): give all of them or none",
    ),
    (["gene66"], "start names 'gene66', which is no feature: did you mean"),
)


def test_a_start_is_what_moves(table: Table) -> None:
    space = Space(table, **_RULES)  # units: 0 with 2 and 5; 6; 7; 8 with 9; 10; 11
    wanted = [False, True, False, True, False, False]
    mask = np.isin(np.arange(12), [6, 8, 9])
    for given in (["gene6", "gene8", 9], [9, 8, 6], mask, Masks.from_bool(mask), [1, 6, 8, 9]):
        assert start_units("start", given, space).tolist() == wanted
    assert not start_units("start", [], space).any()
    for given, said in _NOT_STARTS:
        with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
            start_units("start", given, space)


def test_all_searches_refuse_the_same_starts() -> None:
    X, y = drawn(40, 12)
    frame = pd.DataFrame(X, columns=NAMES)
    rules = {
        "forced_features": _RULES["forced"],
        "forbidden_features": _RULES["forbidden"],
        "feature_groups": _RULES["groups"],
    }
    for kind, options in (
        (BinarySPSA, {"max_iter": 2}),
        (FixedSizeSearch, {"n_features_to_select": 3}),
        (SequentialFeatureSelector, {"n_features_to_select": 5}),
        (StochasticLocalSearch, {"max_iter": 2}),
    ):
        for given, said in _NOT_STARTS:
            selector = kind(GaussianNB(), start=given, **rules, **options)
            with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
                selector.fit(frame, y)
        selector = kind(GaussianNB(), start=["gene6", "gene8", "gene9"], **rules, **options)
        assert selector.fit(frame, y).support_[1]
