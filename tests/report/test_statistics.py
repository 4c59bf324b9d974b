"""Numbers of each feature against SciPy, pandas and loops."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from scipy import stats
from sklearn.model_selection import StratifiedKFold

from bitsieve.evaluation import substitutes
from bitsieve.report import feature_statistics, panel_table, statistics, write_selection_csv


def table(n_classes: int, n: int = 30, p: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    codes = rng.permutation(np.arange(n) % n_classes)
    X = 2.0 ** (5 + rng.normal(size=(n, p)) + codes[:, None] * rng.normal(size=p))
    X[:, 3] = 77.7  # constant
    support = np.arange(p) < 5
    return X, np.array(list("abcd"))[codes], support


@each("n_classes", [2, 3])
@each("floor", [None, 20.0])
def test_means_directions_and_changes(n_classes: int, floor: float | None) -> None:
    X, y, support = table(n_classes)
    folds = list(StratifiedKFold(5).split(X, y))
    found = feature_statistics(X, y, support, floor=floor, folds=folds)
    scaled = X if floor is None else np.log2(np.maximum(X, floor))
    np.testing.assert_allclose(found.means, pd.DataFrame(X).groupby(y).mean())
    log2 = pd.DataFrame(np.log2(np.maximum(X, 20.0))).groupby(y).mean()
    if floor is None:
        assert found.log2_means is None
        assert found.change_is == "fold_change"
    else:
        np.testing.assert_allclose(found.log2_means, log2)
        assert found.change_is == "log2_fold_change"
    assert found.constancy is not None
    for j in range(X.shape[1]):
        if j == 3:
            assert found.direction[j] == -1
            assert np.isnan(found.constancy[j])
            assert found.change[j] == (1.0 if floor is None else 0.0)
            continue
        means = pd.Series(scaled[:, j]).groupby(y).mean()
        high = means.idxmax()
        assert found.classes[found.direction[j]] == high
        again = [pd.Series(scaled[t, j]).groupby(y[t]).mean().idxmax() == high for t, _ in folds]
        assert found.constancy[j] == pytest.approx(np.mean(again))
        inside, outside = scaled[y == high, j].mean(), scaled[y != high, j].mean()
        expected = inside / outside if floor is None else inside - outside
        assert found.change[j] == pytest.approx(expected)
    assert len(set(found.constancy[~np.isnan(found.constancy)])) > 1


@each("n_classes", [2, 3])
@each("floor", [None, 20.0])
def test_p_q_and_rank_are_scipy_s(n_classes: int, floor: float | None) -> None:
    X, y, support = table(n_classes)
    found = feature_statistics(X, y, support, floor=floor)
    scaled = np.delete(X if floor is None else np.log2(np.maximum(X, floor)), 3, axis=1)
    parts = [scaled[y == label] for label in found.classes]
    f, p = stats.f_oneway(*parts)
    assert found.test == ("F" if n_classes == 3 else "Welch's t")
    if n_classes == 2:
        p = stats.ttest_ind(*parts, equal_var=False).pvalue
    np.testing.assert_allclose(np.delete(found.p, 3), p, rtol=1e-9)
    assert found.p[3] == 1.0
    np.testing.assert_allclose(found.q, stats.false_discovery_control(found.p))
    np.testing.assert_array_equal(np.delete(found.f_rank, 3), stats.rankdata(-f))
    assert found.f_rank[3] == len(found.p)
    assert found.constancy is None


def test_the_difference_is_in_the_units_of_the_table_unless_it_is_of_raw_intensities() -> None:
    X, y, support = table(2)
    for values in (np.log2(X), X - 50.0):  # on a log2 scale; with negative numbers
        found = feature_statistics(values, y, support)
        assert found.change_is == "mean_difference"
        means = pd.DataFrame(values).groupby(y).mean()
        np.testing.assert_allclose(found.change, np.abs(means.iloc[0] - means.iloc[1]), atol=1e-9)


def test_rounding_gives_no_direction() -> None:
    X = np.full((7, 2), 0.1)  # whose mean over 3 samples is not 0.1
    found = feature_statistics(X, list("aaabbbb"), [True, False])
    assert found.direction.tolist() == [-1, -1]
    assert found.p.tolist() == found.q.tolist() == [1.0, 1.0]
    assert found.change.tolist() == [0.0, 0.0]


def test_features_with_missing_values_have_means_alone() -> None:
    X, y, support = table(2)
    whole = feature_statistics(np.delete(X, [0, 1], axis=1), y, support[2:])
    X[4, 0] = np.nan
    X[y == "a", 1] = np.nan
    found = feature_statistics(X, y, support)
    np.testing.assert_allclose(found.means[:, 0], pd.Series(X[:, 0]).groupby(y).mean())
    assert found.direction[0] >= 0
    assert found.direction[1] == -1
    assert np.isnan(found.change[1])
    assert np.isnan(found.p[:2]).all()
    assert found.f_rank[:2].tolist() == [0, 0]
    np.testing.assert_array_equal(found.q[2:], whole.q)
    columns = found.columns([f"g{j}" for j in range(12)])
    assert columns["f_rank"][0] is columns["p"][0] is columns["mean_a"][1] is None


def test_a_class_of_one_sample_has_student_s_t() -> None:
    X, _, support = table(2)
    y = np.where(np.arange(30) == 4, "one", "rest")
    found = feature_statistics(X, y, support)
    assert found.test == "Student's t"
    p = stats.ttest_ind(X[y == "one", 0], X[y == "rest", 0]).pvalue
    assert found.p[0] == pytest.approx(p)


def test_the_table_and_the_file_hold_the_same(tmp_path: Path) -> None:
    X, y, support = table(2, p=12)
    X[:, 10] = X[:, 1] * 1.5 + 3.0
    X[:, 11] = 1e4 - X[:, 1]
    names = [f"g{j}" for j in range(10)] + ["=x;y", "\x07bell"]
    folds = list(StratifiedKFold(5).split(X, y))
    counts = np.arange(12) % 6
    options: dict[str, Any] = {"floor": None, "folds": folds}
    frame = panel_table(X, y, names, support, n_folds_selected=counts, n_folds=5, **options)
    found = feature_statistics(X, y, support, **options)
    path = write_selection_csv(tmp_path / "s.csv", names, support, counts, 5, statistics=found)
    assert frame.columns.tolist() == [
        "feature", "index", "selected", "n_folds_selected", "n_folds", "direction",
        "direction_constancy", "mean_a", "mean_b", "fold_change", "p", "q", "f_rank",
        "n_substitutes", "substitutes",
    ]  # fmt: skip
    assert frame["index"].tolist()[:7] == [4, 3, 2, 1, 0, 5, 11]
    read = pd.read_csv(path)
    assert read.columns.tolist() == frame.columns.tolist()
    for name in frame.columns[1:]:
        if name in ("substitutes", "direction"):
            continue
        np.testing.assert_allclose(read[name], frame[name].astype(float), rtol=1e-5)
    assert frame["f_rank"].dtype == frame["n_substitutes"].dtype == "Int64"
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["feature"]: row for row in csv.DictReader(file)}
    assert rows["g1"]["substitutes"] == "'=x;y (1.00); \\x07bell (-1.00)"
    assert rows["g1"]["n_substitutes"] == "2"
    assert rows["g2"]["n_substitutes"] == "0"
    assert rows["g7"]["n_substitutes"] == rows["g3"]["direction"] == ""
    assert rows["'=x;y"]["direction"] in ("a", "b")
    assert found.substitutes_record(names) == {
        "g1": [
            {"feature": "=x;y", "index": 10, "correlation": 1.0},
            {"feature": "\x07bell", "index": 11, "correlation": -1.0},
        ]
    }


def test_substitutes_are_on_the_scale_of_the_selection() -> None:
    X, y, support = table(2, n=60)
    scaled = np.log2(np.maximum(X, 20.0))
    for threshold, most in ((0.1, 3), (0.2, 50)):
        found = feature_statistics(X, y, support, floor=20.0, threshold=threshold, most=most)
        expected = substitutes(scaled, support, threshold=threshold, most=most)
        assert [one.features.tolist() for one in found.substitutes.values()] == [
            one.features.tolist() for one in expected.values()
        ]


@each(
    "options, message",
    [
        ({"support": [True]}, "a flag for each of 12 features"),
        ({"floor": -1.0}, "floor must be a finite number above 0, got -1.0"),
        ({"y": np.linspace(0, 1, 30)}, "Classes were expected"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    X, y, support = table(2)
    with pytest.raises(ValueError, match=message):
        feature_statistics(**{"X": X, "y": y, "support": support} | options)
    with pytest.raises(ValueError, match="expected a name for each of 12 features, got 1 names"):
        feature_statistics(X, y, support).columns(["a"])


def test_blocks_of_features_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, support = table(3, p=600)
    X[4, 300] = np.nan
    folds = list(StratifiedKFold(3).split(X, y))
    names = [f"g{j}" for j in range(600)]
    whole = feature_statistics(X, y, support, floor=20.0, folds=folds).columns(names)
    monkeypatch.setattr(statistics, "_BLOCK", 1)  # at least 256 features in one go
    assert feature_statistics(X, y, support, floor=20.0, folds=folds).columns(names) == whole
