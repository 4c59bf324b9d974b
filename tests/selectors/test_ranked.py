"""What all rankings share, on two small methods: one that scores, one that is greedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from bitsieve import MRMR, ReliefF
from bitsieve.data import Table
from bitsieve.data.inputs import check_input
from bitsieve.evaluation import nested_cross_validate
from bitsieve.selectors._ranked import RankSelector
from bitsieve.testing import check_selector


class Spread(RankSelector):
    """Range of the class means of each feature."""

    def __init__(self, *, n_features_to_select: Any = None, threshold: Any = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold

    def _score(self, X: Any, y: Any) -> Any:
        given = check_input(X, y, task="classification")
        means = [given.X[given.codes == c].mean(axis=0) for c in range(len(given.classes))]
        return np.ptp(means, axis=0)


class WithChance(Spread):
    """The same, with p-values that are made up."""

    def _score(self, X: Any, y: Any) -> Any:
        scores = super()._score(X, y)
        return scores, np.exp(-scores)


class Varies(Spread):
    """Variance: no target, NaN and CSR allowed."""

    _needs_target = False
    _allows_nan = True

    def _score(self, X: Any, y: Any) -> Any:
        from bitsieve.data.validation import check_matrix

        return np.nanvar(check_matrix(X, allow_nan=True, allow_constant=True)[0], axis=0)


class EveryOther(Spread):
    """A greedy method that takes the even features from the last to the first."""

    _decides_size = True

    def _order(self, X: Any, y: Any) -> Any:
        given = check_input(X, y, task="classification")
        order = np.arange(0, given.n_features, 2)[::-1]
        return order, np.linspace(1.0, 0.5, len(order))


def test_the_toys_keep_the_contract() -> None:
    for toy in (Spread(), WithChance(n_features_to_select=0.5), Varies(), EveryOther()):
        check_selector(toy)
    check_estimator(Spread(threshold=-1.0), on_skip=None)


def _made(scores: list[float]) -> tuple[Any, Any]:
    """Two samples a class whose means differ by exactly the scores."""
    top = np.array(scores)
    return np.array([top, top, 0 * top, 0 * top]), ["a", "a", "b", "b"]


def test_scores_ranking_and_support() -> None:
    X, y = _made([1.0, 3.0, 0.0, 3.0, 2.0])
    selector = Spread(n_features_to_select=2).fit(X, y)
    assert selector.scores_.dtype == np.float64
    assert selector.ranking_.dtype == np.int64
    assert selector.scores_.tolist() == [1, 3, 0, 3, 2]
    assert selector.ranking_.tolist() == [4, 1, 5, 2, 3]  # the lower index first
    assert selector.support_.tolist() == [False, True, False, True, False]
    assert selector.n_features_in_ == 5
    assert not hasattr(selector, "order_")
    assert not hasattr(selector, "pvalues_")
    np.testing.assert_array_equal(selector.transform(X), X[:, [1, 3]])


@each(
    ("wanted", "threshold", "kept"),
    [
        (None, None, 10),
        (1, None, 1),
        (np.int64(12), None, 12),
        (0.5, None, 6),
        (0.01, None, 1),
        (0.29, None, 3),
        (None, 3.0, 8),
        (4, 3.0, 4),
        (12, 3.0, 8),
        (None, 100.0, 0),
        (None, -1, 12),
    ],
)
def test_how_many_are_kept(wanted: Any, threshold: Any, kept: int) -> None:
    X, y = _made([float(i) for i in range(12)])
    selector = Spread(n_features_to_select=wanted, threshold=threshold).fit(X, y)
    assert selector.support_.sum() == kept
    assert selector.support_[12 - kept :].all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_features_to_select": 6},
            "n_features_to_select is 6, but X has 5 features; ask for at most as many",
        ),
        (
            {"n_features_to_select": 0},
            r"n_features_to_select must be a whole number from 1 on, a fraction in \(0, 1\) or "
            "None, got 0",
        ),
        ({"n_features_to_select": 1.0}, "a fraction in .*, got 1.0"),
        ({"n_features_to_select": True}, "got True"),
        ({"n_features_to_select": "all"}, "got 'all'"),
        ({"threshold": "mean"}, "threshold must be a number or None, got 'mean'"),
        ({"threshold": float("nan")}, "threshold must be a number or None, got nan"),
    ],
)
def test_parameters_that_make_no_sense(
    parameters: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = _made([1.0, 2.0, 3.0, 4.0, 5.0])
    monkeypatch.setattr(Spread, "_score", lambda *_: pytest.fail("computed before it refused"))
    with pytest.raises(ValueError, match=message):
        Spread(**parameters).fit(X, y)


def test_a_share_is_that_of_its_decimals() -> None:
    """0.29 times 100 is a little less than 29."""
    assert Spread(n_features_to_select=0.29)._n_wanted(100) == 29


def test_p_values_are_kept() -> None:
    X, y = _made([1.0, 3.0])
    np.testing.assert_array_equal(WithChance().fit(X, y).pvalues_, np.exp([-1.0, -3.0]))


def test_a_greedy_method() -> None:
    X, y = load_iris(return_X_y=True)
    selector = EveryOther().fit(X, y)
    assert selector.order_.tolist() == [2, 0]
    assert selector.ranking_.tolist() == [2, 3, 1, 3]
    np.testing.assert_array_equal(selector.scores_, [0.5, np.nan, 1.0, np.nan])
    assert selector.support_.tolist() == [True, False, True, False]
    few = EveryOther(n_features_to_select=1).fit(X, y)
    assert few.support_.tolist() == [False, False, True, False]
    more = EveryOther(n_features_to_select=4).fit(X, y)
    assert more.support_.tolist() == [True, False, True, False]  # never what was not taken


def test_tags() -> None:
    tags = get_tags(Spread())
    assert tags.target_tags.required
    assert not tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    tags = get_tags(Varies())
    assert not tags.target_tags.required
    assert tags.input_tags.allow_nan


def test_no_target_where_none_is_needed() -> None:
    X, _ = load_iris(return_X_y=True)
    selector = Varies(n_features_to_select=2).fit(X)
    assert selector.support_.tolist() == [True, False, True, False]
    with pytest.raises(ValueError, match="This Spread estimator requires y to be passed"):
        Spread().fit(X)


@each("library", ["pandas", "polars"])
def test_frames_in_and_out(library: str) -> None:
    frames = pytest.importorskip(library)
    X, y = load_iris(return_X_y=True, as_frame=True)
    given = X if library == "pandas" else frames.DataFrame(X.to_dict("list"))
    if not hasattr(StandardScaler().fit(given), "feature_names_in_"):
        pytest.skip(f"this scikit-learn sees no names in frames of this {library}")
    selector = Spread(n_features_to_select=2).set_output(transform=library)
    out = selector.fit(given, y).transform(given)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == list(X.columns[selector.support_])
    assert selector.feature_names_in_.tolist() == list(X.columns)


def test_a_column_for_a_target_and_labels_as_text() -> None:
    X, y = load_iris(return_X_y=True)
    plain = Spread().fit(X, y)
    for other in (np.array(["c", "a", "b"])[y], pd.Series(y).astype("category")):
        np.testing.assert_array_equal(Spread().fit(X, other).scores_, plain.scores_)


def test_a_table_is_refused_with_the_way_out() -> None:
    table = Table(np.arange(40.0).reshape(20, 2) % 7, np.arange(20) % 2, names=["a", "b"])
    for selector in (ReliefF(), MRMR()):
        with pytest.raises(ValueError, match=r"table\.to_frame\(\)"):
            selector.fit(table)
        assert selector.fit(table.to_frame(), table.y).feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"table\.to_frame\(\)"):
        nested_cross_validate(ReliefF(), KNeighborsClassifier(1), table, table.y)
