"""BinarySPSA as scikit-learn sees it, beyond the contract of all selectors: tags, grids, frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from bitsieve import BinarySPSA

_QUICK: dict[str, Any] = {"cv": 2, "n_repeats": 1, "max_iter": 4, "random_state": 0}


def test_the_users_estimator_is_not_touched() -> None:
    estimator = KNeighborsClassifier(1)
    BinarySPSA(estimator, **_QUICK).fit(*load_iris(return_X_y=True))
    assert not hasattr(estimator, "n_features_in_")


def test_tags() -> None:
    tags = get_tags(BinarySPSA(KNeighborsClassifier(1)))
    assert tags.target_tags.required
    assert not tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert tags.classifier_tags is not None
    assert tags.transformer_tags is not None


@each("library", ["pandas", "polars"])
def test_frames_in_and_out(library: str) -> None:
    frames = pytest.importorskip(library)
    X, y = load_iris(return_X_y=True, as_frame=True)
    X_given = X if library == "pandas" else frames.DataFrame(X.to_dict("list"))
    if not hasattr(StandardScaler().fit(X_given), "feature_names_in_"):
        pytest.skip(f"this scikit-learn sees no names in frames of this {library}")
    selector = BinarySPSA(KNeighborsClassifier(1), **_QUICK).set_output(transform=library)
    out = selector.fit(X_given, y).transform(X_given)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == list(selector.get_feature_names_out())
    assert selector.feature_names_in_.tolist() == list(X.columns)
    plain = BinarySPSA(KNeighborsClassifier(1), **_QUICK).fit(X.to_numpy(), y)
    np.testing.assert_array_equal(plain.support_, selector.support_)
    assert plain.best_score_ == selector.best_score_


def test_inside_a_pipeline_and_a_grid_search() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(
        StandardScaler(), BinarySPSA(KNeighborsClassifier(1), **_QUICK), KNeighborsClassifier(5)
    )
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85
    search = GridSearchCV(
        pipeline,
        {"binaryspsa__max_iter": [2, 8], "binaryspsa__estimator__n_neighbors": [1, 3]},
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.85
    chosen = search.best_estimator_.named_steps["binaryspsa"]
    assert chosen.n_iter_ == search.best_params_["binaryspsa__max_iter"]


def test_labels_of_any_type_give_the_same_selection() -> None:
    X, y = load_iris(return_X_y=True)
    numbers = BinarySPSA(KNeighborsClassifier(1), **_QUICK).fit(X, y)
    text = BinarySPSA(KNeighborsClassifier(1), **_QUICK).fit(X, np.array(["a", "b", "c"])[y])
    series = BinarySPSA(KNeighborsClassifier(1), **_QUICK).fit(X, pd.Series(y).astype("category"))
    assert text.classes_.tolist() == ["a", "b", "c"]
    for other in (text, series):
        np.testing.assert_array_equal(other.history_["score"], numbers.history_["score"])


def test_regression_and_scorers_go_through_scikit_learn() -> None:
    X, y = load_diabetes(return_X_y=True)
    selector = BinarySPSA(Lasso(), scoring="neg_mean_squared_error", n_jobs=1, **_QUICK).fit(X, y)
    assert selector.kernel_ is None
    assert -6000 < selector.best_score_ < -2500
    assert not hasattr(selector, "classes_")


def test_any_classifier() -> None:
    X, y = load_iris(return_X_y=True)
    selector = BinarySPSA(GaussianNB(), n_jobs=1, **_QUICK).fit(X, y)
    assert selector.best_score_ > 0.85


def test_metadata_routing_of_groups() -> None:
    import sklearn
    from sklearn.model_selection import GroupKFold

    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) % 10
    selector = BinarySPSA(
        KNeighborsClassifier(1),
        cv=GroupKFold(5), n_repeats=1, resample=False, max_iter=4, random_state=0,
    )  # fmt: skip
    direct = clone(selector).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), selector.set_fit_request(groups=True))
        pipeline.fit(X, y, groups=groups)
    assert direct.n_iter_ == pipeline[-1].n_iter_ == 4
