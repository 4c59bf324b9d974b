"""Rivals that take seconds to minutes a fold, on three sets only.

`boruta` and `abess` come from PyPI: `pip install boruta abess`. Their rows are left out without.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFECV, SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from honest.folds import Fold, svm
from honest.rivals import Outcome, Procedure, Run

__all__ = ["COSTLY", "NAMES", "SETS"]

SETS = ("west", "khan", "colon_disc")


def _by(fold: Fold, selector: Any) -> Outcome:
    part = fold.outer
    selector.fit(part.Z, part.codes)
    features = np.arange(part.n_features)
    for step in selector if hasattr(selector, "steps") else [selector]:
        features = features[step.get_support()]
    return Outcome(svm(part, features), features)


def _rfecv(fold: Fold) -> Outcome:
    search = RFECV(SVC(kernel="linear"), step=0.05, min_features_to_select=5, cv=5)
    return _by(fold, make_pipeline(SelectKBest(f_classif, k=1000), search))


def _forward(fold: Fold) -> Outcome:
    search = SequentialFeatureSelector(SVC(kernel="linear"), n_features_to_select=10, cv=3)
    return _by(fold, make_pipeline(SelectKBest(f_classif, k=30), search))


def _boruta(fold: Fold) -> Outcome:
    from boruta import BorutaPy

    part = fold.outer
    forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=1, random_state=0)
    search = BorutaPy(forest, n_estimators=100, max_iter=40, random_state=0)
    search.fit(part.Z, part.codes)
    features: NDArray[np.int64] = np.flatnonzero(search.support_)
    if not features.size:  # nothing confirmed: what is tentative, else the best ranks
        features = np.flatnonzero(search.support_weak_)
    if not features.size:
        features = np.argsort(search.ranking_, kind="stable")[:5]
    return Outcome(svm(part, features), features)


def _abess(fold: Fold) -> Outcome:
    from abess import LogisticRegression, MultinomialRegression

    part = fold.outer
    kind = LogisticRegression if part.n_classes == 2 else MultinomialRegression
    model = kind(support_size=range(1, 21), cv=5, cv_score="test_loss", screening_size=500)
    model.fit(part.Z, part.codes)
    weights = np.abs(model.coef_).reshape(part.n_features, -1).sum(axis=1)
    return Outcome(np.asarray(model.predict(part.Z_test)), np.flatnonzero(weights))


RUNS: dict[str, tuple[Run, str | None]] = {
    "RFECV + SVM": (_rfecv, None),
    "forward 10 + SVM": (_forward, None),
    "abess": (_abess, "abess"),
    "Boruta + SVM": (_boruta, "boruta"),
}
NAMES = tuple(RUNS)
COSTLY = [
    Procedure(name, run, 5, SETS)
    for name, (run, package) in RUNS.items()
    if package is None or find_spec(package)
]
