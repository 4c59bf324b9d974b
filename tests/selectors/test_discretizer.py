"""Discretizer: scikit-learn's contract, cuts from training samples only, values it never saw."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from bitsieve import CFS, Discretizer
from bitsieve.filters import cut_points, discretize


def test_check_estimator():
    for discretizer in (
        Discretizer(),
        Discretizer("equal_width", n_bins=4),
        Discretizer("equal_frequency", missing="level"),
        Discretizer("mean_sd"),
    ):
        check_estimator(discretizer, on_skip=None)


@each("method", ["mdl", "equal_width", "equal_frequency", "mean_sd"])
def test_gives_what_the_function_gives(method):
    X, y = load_breast_cancer(return_X_y=True)
    discretizer = Discretizer(method, n_bins=6)
    codes, n_levels = discretize(X, y, method=method, n_bins=6)
    found = discretizer.fit_transform(X, y)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, codes)
    np.testing.assert_array_equal(discretizer.n_levels_, n_levels)
    for one, other in zip(
        discretizer.cut_points_, cut_points(X, y, method=method, n_bins=6), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_test_samples_move_no_cut():
    X, y = load_breast_cancer(return_X_y=True)
    discretizer = Discretizer().fit(X[:300], y[:300])
    before = [c.copy() for c in discretizer.cut_points_]
    codes = discretizer.transform(X[300:])
    for f in range(X.shape[1]):
        expected = np.searchsorted(before[f], X[300:, f], side="left")
        np.testing.assert_array_equal(codes[:, f], expected)
        np.testing.assert_array_equal(discretizer.cut_points_[f], before[f])


def test_labels_that_mean_nothing_predict_nothing():
    # Cut on all samples, noise would look predictive; cut inside the folds it does not.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3000)), np.arange(60) % 2
    model = make_pipeline(Discretizer(), CFS(discretization=None), CategoricalNB(min_categories=9))
    honest = cross_val_score(model, X, y, cv=5, error_score="raise").mean()
    leaky = cross_val_score(model[1:], Discretizer().fit_transform(X, y), y, cv=5).mean()
    assert leaky > 0.8
    assert abs(honest - 0.5) < 0.2


def test_values_out_of_range_belong_to_the_end_levels():
    X = np.linspace(0, 1, 11)[:, None]
    discretizer = Discretizer("equal_width", n_bins=4).fit(X)
    assert discretizer.transform([[-1e300], [1e300]]).ravel().tolist() == [0, 3]
    assert discretizer.transform([[0.5]]).tolist() == [[1]]


def test_missing_values():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="NaN"):
        Discretizer().fit(X, y).transform([[np.nan] * 4])
    discretizer = Discretizer(missing="level").fit(X, y)
    cuts = [len(c) for c in discretizer.cut_points_]
    assert discretizer.transform([[np.nan] * 4]).tolist() == [[c + 1 for c in cuts]]
    assert discretizer.n_levels_.tolist() == [c + 2 for c in cuts]
    assert get_tags(discretizer).input_tags.allow_nan


@each("library", ["pandas", "polars"])
def test_frames_keep_their_names(library):
    frames = pytest.importorskip(library)
    X, y = load_iris(return_X_y=True, as_frame=True)
    given = X if library == "pandas" else frames.DataFrame(X.to_dict("list"))
    discretizer = Discretizer().set_output(transform=library)
    out = discretizer.fit_transform(given, y)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == list(X.columns)
    np.testing.assert_array_equal(discretizer.get_feature_names_out(), X.columns)
    np.testing.assert_array_equal(out.to_numpy(), discretize(X.to_numpy(), y)[0])


def mixed(library="pandas"):
    columns = {
        "size": np.repeat([1.0, 9.0], 20),
        "ward": ["b", "a", "c", "b"] * 10,
        "sick": [True, False] * 20,
    }
    if library == "pandas":
        return pd.DataFrame(columns)
    return pytest.importorskip(library).DataFrame(columns)


@each("library", ["pandas", "polars"])
def test_categories_keep_their_numbers(library):
    frame, y = mixed(library), np.repeat([0, 1], 20)
    discretizer = Discretizer().fit(frame, y)
    assert discretizer.n_levels_.tolist() == [2, 3, 2]
    codes = discretizer.transform(frame)
    assert codes[:4].tolist() == [[0, 1, 1], [0, 0, 0], [0, 2, 1], [0, 1, 0]]
    # A part that lacks "a" must not be numbered anew.
    np.testing.assert_array_equal(discretizer.transform(frame[2:4]), codes[2:4])
    other = frame[:1].copy() if library == "pandas" else frame[:1].clone()
    if library == "pandas":
        other["ward"] = "z"
    else:
        other = other.with_columns(ward=pytest.importorskip("polars").lit("z"))
    with pytest.raises(ValueError, match="column 'ward' holds 'z', but in fit it held only 'a'"):
        discretizer.transform(other)


def test_booleans_as_text_and_as_numbers():
    frame = pd.DataFrame({"text": ["True", "False"] * 10, "flag": [False, True] * 10})
    codes = Discretizer("equal_width").fit_transform(frame)
    np.testing.assert_array_equal(codes, np.tile([[1, 0], [0, 1]], (10, 1)))


def test_missing_labels_are_a_level():
    frame = pd.DataFrame({"ward": pd.Categorical(["a", "b", None, "b"] * 5)})
    with pytest.raises(ValueError, match="NaN"):
        Discretizer("equal_width").fit(frame)
    discretizer = Discretizer("equal_width", missing="level").fit(frame)
    assert discretizer.transform(frame)[:4].ravel().tolist() == [0, 1, 2, 1]


def test_in_a_pipeline_and_a_grid_search():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(Discretizer("equal_width"), CategoricalNB(min_categories=30))
    search = GridSearchCV(
        model,
        {"discretizer__method": ["mdl", "equal_frequency"], "discretizer__n_bins": [3, 20]},
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.93


def test_clones_pickles_and_stores_only():
    X = load_iris().data
    bins = [[1.0], [], [2.0, 3.0], [0.5]]
    discretizer = clone(Discretizer("user", bins=bins)).fit(X)
    assert discretizer.bins == bins
    again = pickle.loads(pickle.dumps(discretizer))
    np.testing.assert_array_equal(again.transform(X), discretizer.transform(X))
    assert discretizer.n_levels_.tolist() == [2, 1, 3, 2]


def test_tags():
    assert get_tags(Discretizer()).target_tags.required
    assert not get_tags(Discretizer("mean_sd")).target_tags.required


def test_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        Discretizer().transform(X)
    with pytest.raises(ValueError, match="requires y to be passed"):
        Discretizer().fit(X)
    with pytest.raises(
        ValueError, match=r"encode must be 'ordinal', got 'onehot'; .*OneHotEncoder"
    ):
        Discretizer(encode="onehot").fit(X, y)
    with pytest.raises(ValueError, match="method must be one of"):
        Discretizer("bayes").fit(X, y)
    with pytest.raises(ValueError, match="expecting 4 features"):
        Discretizer().fit(X, y).transform(X[:, :3])
