"""Every compiled fitness keeps the contract, and the general one; a new one joins by a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from bitsieve import DiagonalLDA, _core
from bitsieve.fitness import compile
from bitsieve.testing import check_fitness
from bitsieve.testing._draws import table

FRESH = {"resample": True, "n_repeats": 2}
# Another model of each kind: its fingerprint must differ.
OTHER: dict[type, dict[str, Any]] = {
    KNeighborsClassifier: {"n_neighbors": 2},
    KNeighborsRegressor: {"n_neighbors": 2},
    GaussianNB: {"var_smoothing": 0.1},
    LinearDiscriminantAnalysis: {"priors": [0.2, 0.3, 0.5]},
    NearestCentroid: {"shrink_threshold": 0.5},
    DiagonalLDA: {"var_smoothing": 0.1},
    LogisticRegression: {"C": 2.0},
    Ridge: {"alpha": 2.0},
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
    ("centroid", NearestCentroid(priors="empirical"), {"scoring": "f1_macro", **FRESH}),
    ("centroid", NearestCentroid(shrink_threshold=0.4), {"groups": True}),
    ("diagonal_lda", DiagonalLDA(), {}),
    ("diagonal_lda", DiagonalLDA(), {"scoring": "neg_log_loss", **FRESH}),
    ("gaussian_bayes", GaussianNB(), {}),
    ("gaussian_bayes", GaussianNB(), {"scoring": "neg_log_loss", **FRESH}),
    ("gaussian_bayes", GaussianNB(priors=[0.2, 0.3, 0.5]), {"scoring": "f1_macro", "groups": True}),
    ("lda", LinearDiscriminantAnalysis("lsqr", shrinkage=0.1), {}),
    (
        "lda",
        LinearDiscriminantAnalysis("eigen", shrinkage=0.5),
        {"scoring": "f1_weighted", **FRESH},
    ),
    ("lda", LinearDiscriminantAnalysis(), {"scoring": "f1_macro", "groups": True}),
    (
        "lda",
        make_pipeline(StandardScaler(), LinearDiscriminantAnalysis("lsqr", shrinkage=0.2)),
        FRESH,
    ),
    (None, LogisticRegression(), {"resample": True, "cv": 2}),
    (None, Ridge(), {"scoring": "r2", "cv": 2}),
]


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
    # Without a kernel nearly all of the time is scikit-learn's.
    return pytest.param(case, id=_name(case), marks=[] if case[0] else pytest.mark.slow)


@pytest.mark.parametrize("case", [_case(case) for case in FITNESSES])
def test_keeps_the_contract(case: Any) -> None:
    kernel, estimator, options = case
    # scikit-learn takes milliseconds a mask: fewer of them, of fewer features.
    quick = kernel is not None
    X, codes = table(60, 70 if quick else 8, 3)
    y = codes if kernel or is_classifier(estimator) else X[:, 0] - X[:, 3] + codes
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
        threads=(1, 2, 3) if kernel else (1,),
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
