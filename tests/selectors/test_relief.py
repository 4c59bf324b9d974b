"""The selectors of the Relief family: scikit-learn's contract, and the scores of the functions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import bitsieve
from bitsieve import filters

_CLASSES = {
    "relief": "Relief",
    "relieff": "ReliefF",
    "surf": "SURF",
    "surf_star": "SURFStar",
    "multisurf": "MultiSURF",
    "multisurf_star": "MultiSURFStar",
    "swrf_star": "SWRFStar",
    "turf": "TuRF",
}


@each("function", _CLASSES)
def test_the_scores_are_those_of_the_function(function: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    selector = getattr(bitsieve, _CLASSES[function])(n_features_to_select=2, missing="ignore")
    selector.fit(X, y)
    wanted = getattr(filters, function)(X, y, missing="ignore")
    np.testing.assert_array_equal(selector.scores_, wanted)
    assert selector.support_.sum() == 2
    assert list(selector.get_feature_names_out()) == list(X.columns[selector.support_])
    assert (selector.ranking_[selector.support_] <= 2).all()


@each(
    "name",
    [*_CLASSES.values(), "RReliefF", "MRMR", "InformationSelector", "FCBF", "GramSchmidt"],
)
def test_the_number_of_features_comes_first(name: str) -> None:
    assert getattr(bitsieve, name)(3).n_features_to_select == 3


def test_every_option_reaches_the_function() -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.array([1.0, 0.0, 2.0, 1.0])
    options: dict[str, Any] = {
        "n_neighbors": 3,
        "weighting": "exponential",
        "sigma": 2.0,
        "diff": "ramp",
        "ramp": (0.1, 0.2),
        "feature_weights": weights,
        "n_instances": 31,
        "random_state": 5,
        "n_jobs": 1,
    }
    found = bitsieve.ReliefF(**options).fit(X, y).scores_
    np.testing.assert_array_equal(found, filters.relieff(X, y, **options))
    for name in ("n_neighbors", "weighting", "diff", "feature_weights", "n_instances"):
        others = {key: value for key, value in options.items() if key != name}
        assert not np.array_equal(found, filters.relieff(X, y, **others))


def test_regression_target() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = bitsieve.RReliefF(n_features_to_select=3).fit(X, y)
    np.testing.assert_array_equal(selector.scores_, filters.rrelieff(X, y))
    with pytest.raises(ValueError, match="rrelieff scores features against numbers"):
        bitsieve.ReliefF().fit(X, y + 0.5 * np.arange(len(y)) / len(y))


def test_frames_with_categories_and_gaps() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 20)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=40),
            "grade": pd.Categorical(np.where(rng.random(40) < 0.9, y, "other")),
            "smokes": rng.random(40) < 0.5,
        }
    )
    frame.loc[3, "noise"] = np.nan
    frame.loc[5, "grade"] = None
    selector = bitsieve.MultiSURF(n_features_to_select=1).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["grade"]
    for output in ("default", "pandas"):
        kept = selector.set_output(transform=output).transform(frame)
        pd.testing.assert_frame_equal(kept, frame[["grade"]])
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(frame.rename(columns={"grade": "degree"}))


def test_threshold_keeps_what_scores_above_it() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.ones((150, 1))])
    selector = bitsieve.ReliefF(threshold=0.0).fit(X, y)
    assert selector.support_.tolist() == [True, True, True, True, False]


def test_nan_is_allowed_unless_it_is_an_error() -> None:
    assert get_tags(bitsieve.ReliefF()).input_tags.allow_nan
    assert not get_tags(bitsieve.ReliefF(missing="error")).input_tags.allow_nan
    X, y = load_iris(return_X_y=True)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="or pass missing='probabilistic' or 'ignore'"):
        bitsieve.ReliefF(missing="error").fit(X, y)


def test_in_a_pipeline_and_a_grid() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(bitsieve.ReliefF(n_neighbors=5), KNeighborsClassifier())
    grid = GridSearchCV(pipeline, {"relieff__n_features_to_select": [1, 2, 4]}, cv=3)
    assert grid.fit(X, y).best_score_ > 0.9


def test_polars_frames_with_categories() -> None:
    polars = pytest.importorskip("polars")
    y = np.repeat(["no", "yes"], 20)
    frame = polars.DataFrame({"noise": np.arange(40) % 7, "grade": y.tolist()})
    selector = bitsieve.ReliefF(n_features_to_select=1).fit(frame, y)
    kept = selector.transform(frame)
    assert kept.columns == ["grade"]
    assert kept["grade"].to_list() == y.tolist()


@each("function", [*_CLASSES, "rrelieff"])
def test_functions_score_for_select_k_best(function: str) -> None:
    X, y = load_iris(return_X_y=True)
    score = getattr(filters, function)
    best = SelectKBest(score, k=2).fit(X, y)
    np.testing.assert_array_equal(best.scores_, score(X, y))
    assert pickle.loads(pickle.dumps(best)).scores_.tolist() == best.scores_.tolist()
