"""Every compiled fitness keeps the contract, and the general one; a new one joins by a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from bitsieve import DiagonalLDA, KernelRidgeClassifier, _core
from bitsieve.fitness import compile
from bitsieve.testing import check_fitness
from bitsieve.testing._draws import table

FRESH = {"resample": True, "n_repeats": 2}
# Another model of each kind: its fingerprint must differ.
OTHER: dict[type, dict[str, Any]] = {
    KNeighborsClassifier: {"n_neighbors": 2},
    KNeighborsRegressor: {"n_neighbors": 2},
    GaussianNB: {"var_smoothing": 0.1},
    BernoulliNB: {"alpha": 0.5},
    MultinomialNB: {"fit_prior": False},
    ComplementNB: {"alpha": 0.5},
    CategoricalNB: {"min_categories": 21},
    NearestCentroid: {"shrink_threshold": 0.5},
    DiagonalLDA: {"var_smoothing": 0.1},
    LinearDiscriminantAnalysis: {"priors": [0.2, 0.3, 0.5]},
    LogisticRegression: {"C": 2.0},
    Ridge: {"alpha": 2.0},
    RidgeClassifier: {"alpha": 2.0},
    LinearRegression: {"fit_intercept": False},
    KernelRidge: {"alpha": 0.1},
    KernelRidgeClassifier: {"alpha": 0.1},
    Lasso: {"alpha": 0.3},
    SVC: {"C": 2.0},
    LinearSVC: {"C": 2.0},
}

# Name of the kernel, estimator, options of compile.
FITNESSES: list[tuple[str | None, Any, dict[str, Any]]] = [
    ("knn", KNeighborsClassifier(1), {}),
    ("knn", KNeighborsClassifier(3), FRESH),
    ("knn", KNeighborsClassifier(1), {"scoring": "balanced_accuracy", "groups": True}),
    ("knn", KNeighborsClassifier(3), {"scoring": "f1_macro"}),
    ("knn", KNeighborsClassifier(3, weights="distance"), FRESH),
    ("knn", KNeighborsRegressor(3), {}),
    ("knn", make_pipeline(StandardScaler(), KNeighborsClassifier(1)), {"scoring": "f1_macro"}),
    ("knn", make_pipeline(StandardScaler(), KNeighborsClassifier(3)), FRESH),
    ("knn", make_pipeline(RobustScaler(), KNeighborsRegressor(3, weights="distance")), {}),
    ("knn", KNeighborsRegressor(3, weights="distance"), {"scoring": "r2", **FRESH}),
    ("centroid", NearestCentroid(), {}),
    ("centroid", NearestCentroid(), {"scoring": "balanced_accuracy", **FRESH}),
    ("factor", SVC(), {}),
    ("factor", LinearSVC(C=1e-3, random_state=0), {"scoring": "balanced_accuracy", **FRESH}),
    ("centroid", NearestCentroid(priors="empirical"), {"scoring": "f1_macro", **FRESH}),
    ("centroid", NearestCentroid(shrink_threshold=0.4), {"groups": True}),
    ("centroid", make_pipeline(StandardScaler(), NearestCentroid()), {}),
    ("centroid", make_pipeline(RobustScaler(), NearestCentroid(shrink_threshold=0.4)), FRESH),
    ("diagonal_lda", DiagonalLDA(), {}),
    ("diagonal_lda", DiagonalLDA(), {"scoring": "neg_log_loss", **FRESH}),
    ("lda", LinearDiscriminantAnalysis("lsqr", shrinkage=0.1), {}),
    ("lda", LinearDiscriminantAnalysis("eigen", shrinkage=0.5), {"scoring": "f1_macro", **FRESH}),
    ("lda", LinearDiscriminantAnalysis(), {"scoring": "f1_macro", "groups": True}),
    ("lda", make_pipeline(StandardScaler(), LinearDiscriminantAnalysis("lsqr", 0.2)), FRESH),
    ("gaussian_bayes", GaussianNB(), {}),
    ("gaussian_bayes", GaussianNB(), {"scoring": "neg_log_loss", **FRESH}),
    ("gaussian_bayes", GaussianNB(priors=[0.2, 0.3, 0.5]), {"scoring": "f1_macro", "groups": True}),
    ("gaussian_bayes", make_pipeline(StandardScaler(), GaussianNB()), {"scoring": "neg_log_loss"}),
    ("gaussian_bayes", make_pipeline(RobustScaler(), GaussianNB()), FRESH),
    ("discrete_bayes", BernoulliNB(binarize=0.7), FRESH),
    ("discrete_bayes", make_pipeline(RobustScaler(), BernoulliNB(binarize=0.7)), FRESH),
    ("discrete_bayes", MultinomialNB(), {"scoring": "neg_log_loss"}),
    ("discrete_bayes", make_pipeline(MinMaxScaler(), MultinomialNB()), {"scoring": "neg_log_loss"}),
    ("discrete_bayes", MultinomialNB(class_prior=[0.2, 0.3, 0.5]), {"groups": True, **FRESH}),
    ("discrete_bayes", ComplementNB(), {"scoring": "f1_macro"}),
    ("discrete_bayes", CategoricalNB(min_categories=20), {"scoring": "neg_log_loss", **FRESH}),
    (None, LogisticRegression(), {"resample": True, "cv": 2}),
    ("ridge", RidgeClassifier(), {}),
    ("ridge", RidgeClassifier(), {"scoring": "f1_macro", **FRESH}),
    ("ridge", RidgeClassifier(class_weight="balanced"), {"groups": True}),
    ("ridge", Ridge(), {"scoring": "r2", **FRESH}),
    ("ridge", make_pipeline(StandardScaler(), RidgeClassifier()), {}),
    ("ridge", make_pipeline(RobustScaler(), Ridge()), {"scoring": "r2", **FRESH}),
    ("ridge", LinearRegression(), {}),
    ("ridge", KernelRidge(kernel="rbf"), {"scoring": "neg_mean_absolute_error"}),
    ("ridge", KernelRidgeClassifier(kernel="rbf"), {"scoring": "f1_macro", **FRESH}),
    (None, Lasso(0.1, random_state=0), {"scoring": "r2", "cv": 2}),
]


SLOW = (None, "factor")


def _name(case: Any) -> str:
    _, estimator, options = case
    steps = [step for _, step in estimator.steps] if _is_pipeline(estimator) else [estimator]
    named = [type(step).__name__ for step in steps]
    return ", ".join([*named, *map(str, options.values())])


def _is_pipeline(estimator: Any) -> bool:
    return isinstance(estimator, Pipeline)


def _another(estimator: Any) -> Any:
    other = clone(estimator)
    model = other[-1] if _is_pipeline(other) else other
    model.set_params(**OTHER[type(model)])
    return other


def _case(case: Any) -> Any:
    # Nearly all of the time is scikit-learn's.
    return pytest.param(case, id=_name(case), marks=pytest.mark.slow if case[0] in SLOW else [])


@pytest.mark.parametrize("case", [_case(case) for case in FITNESSES])
def test_keeps_the_contract(case: Any) -> None:
    kernel, estimator, options = case
    # scikit-learn takes milliseconds a mask: fewer of them, of fewer features.
    quick = kernel not in SLOW
    X, codes = table(60, 150 if kernel == "factor" else 70 if quick else 8, 3)
    X = np.abs(X) if kernel == "discrete_bayes" else X  # counts and categories
    y = X[:, 0] - X[:, 3] + codes if is_regressor(estimator) else codes
    groups = np.arange(60) // 2 if options.get("groups") else None

    def make(n_jobs: int, X: Any = X, y: Any = y, model: Any = estimator, **others: Any) -> Any:
        given = {"cv": 3, **options, "groups": groups, **others}
        fitness = compile(model, X, y, n_jobs=n_jobs, **given)
        assert fitness.kernel == kernel or model is not estimator or not _core.has_fma()
        return fitness

    changed = X.copy()
    changed[3, 4] += 1.0
    check_fitness(
        make,
        # Processes of scikit-learn take seconds to start: test_general.py has them.
        threads=(1, 2, 3) if quick else (1,),
        n_masks=8 if quick else 2,
        others=[
            lambda n: make(n, X=changed),
            lambda n: make(n, y=y[::-1].copy()),
            lambda n: make(n, cv=4),
            lambda n: make(n, scoring="f1_micro" if is_classifier(estimator) else "neg_max_error"),
            lambda n: make(n, model=_another(estimator)),
            lambda n: make(n, resample=True, n_repeats=5),
        ],
        estimator=estimator,
        X=X,
        y=y,
        scoring=options.get("scoring"),
    )
