"""The rivals: whole procedures from a raw training part to predictions of a test part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from honest.folds import Fold, Model, Part, inner_counts, lda, sizes_up_to, svm

__all__ = ["RIVALS", "Outcome", "Procedure"]

I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """Predicted codes of the test part, features needed (None: all), what was tuned to what."""

    predicted: I64
    features: I64 | None
    chosen: dict[str, Any] = field(default_factory=dict)


Run = Callable[[Fold], Outcome]


@dataclass(frozen=True)
class Procedure:
    """A named procedure; those of a lower tier are run first, over all sets."""

    name: str
    run: Run
    tier: int
    sets: tuple[str, ...] | None = None


def _all(model: Model) -> Run:
    return lambda fold: Outcome(model(fold.outer, None), None)


def _fixed(ranker: str, size: int, model: Model) -> Run:
    def run(fold: Fold) -> Outcome:
        features = fold.outer.order(ranker)[:size]
        return Outcome(model(fold.outer, features), features)

    return run


def _tuned(ranker: str, model: Model, limit: int | None = None) -> Run:
    """The size with most correct inner predictions, ties to the smaller."""

    def run(fold: Fold) -> Outcome:
        counts = inner_counts(fold, ranker, model)
        size = max(sizes_up_to(limit, fold.outer.n_features), key=lambda s: counts[s])
        features = None if size is None else fold.outer.order(ranker)[:size]
        return Outcome(model(fold.outer, features), features, {"size": size})

    return run


def _estimator(make: Callable[[Part], Any]) -> Run:
    def run(fold: Fold) -> Outcome:
        part = fold.outer
        model = make(part).fit(part.Z, part.codes)
        return Outcome(np.asarray(model.predict(part.Z_test)), None)

    return run


def _ridge(part: Part) -> Any:
    mean = np.trace(part.gram[0]) / part.codes.size
    return RidgeClassifierCV(alphas=mean * np.logspace(-3, 3, 13))


def _forest(part: Part) -> Any:
    return RandomForestClassifier(500, random_state=0, n_jobs=1)


def _nearest(part: Part) -> Any:
    return KNeighborsClassifier(1)


# L1 takes one repeat of the inner folds, all else three: a fit costs 50 times one of sLDA.
# Each knob: values from the smallest panel to the largest, a fit, and the features it uses.
THRESHOLDS = (8.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.0)
PENALTIES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 10.0)


def _centroids(part: Part, threshold: float, priors: str = "uniform") -> tuple[Any, I64]:
    model = NearestCentroid(shrink_threshold=threshold or None, priors=priors)
    model.fit(part.Z, part.codes)
    spread = np.ptp(model.centroids_, axis=0)
    return model, np.flatnonzero(spread > 1e-12)


def _pam(part: Part, threshold: float) -> tuple[Any, I64]:
    """Distances in units of the spread within classes, and priors, as Tibshirani et al. (2002)."""
    return _centroids(part, threshold, "empirical")


def _lasso(part: Part, C: float) -> tuple[Any, I64]:
    model: Any = LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", tol=1e-3, random_state=0)
    if part.n_classes > 2:
        model = OneVsRestClassifier(model)
    model.fit(part.Z, part.codes)
    parts = model.estimators_ if part.n_classes > 2 else [model]
    weights = np.concatenate([m.coef_ for m in parts])
    return model, np.flatnonzero(np.any(weights != 0, axis=0))


def _knob_counts(
    fold: Fold, fit: Callable[..., tuple[Any, I64]], values: Sequence[float], n_inner: int
) -> list[int]:
    counts = [0] * len(values)
    for part, truth in fold.inner[:n_inner]:
        for i, value in enumerate(values):
            counts[i] += int(np.sum(fit(part, value)[0].predict(part.Z_test) == truth))
    return counts


def _knob(
    fit: Callable[..., tuple[Any, I64]],
    values: Sequence[float],
    limit: int | None = None,
    n_inner: int = 15,
) -> Run:
    """The value with most correct inner predictions, ties to the smaller panel. A limit leaves
    out values whose panel on the whole training part is larger, as its user would."""

    def run(fold: Fold) -> Outcome:
        def fitted(value: float) -> Any:
            return fold.once((fit, value), lambda: fit(fold.outer, value))

        counts = fold.once((fit, values), lambda: _knob_counts(fold, fit, values, n_inner))
        allowed = range(len(values))
        if limit is not None:
            sizes = [fitted(value)[1].size for value in values]
            allowed = [i for i in allowed if 0 < sizes[i] <= limit] or [0]
        best = max(allowed, key=lambda i: counts[i])
        model, features = fitted(values[best])
        predicted = np.asarray(model.predict(fold.outer.Z_test))
        return Outcome(predicted, features, {"value": values[best]})

    return run


RIVALS = [
    Procedure("SVM, all", _all(svm), 0),
    Procedure("sLDA, all", _all(lda), 0),
    Procedure("ridge, all", _estimator(_ridge), 0),
    Procedure("1-NN, all", _estimator(_nearest), 0),
    Procedure("F 20 + SVM", _fixed("f", 20, svm), 0),
    Procedure("F + sLDA", _tuned("f", lda), 0),
    Procedure("F + sLDA <= 50", _tuned("f", lda, 50), 0),
    Procedure("ReliefF 20 + SVM", _fixed("relieff", 20, svm), 0),
    Procedure("mRMR 20 + SVM", _fixed("mrmr", 20, svm), 1),
    Procedure("mRMR + SVM", _tuned("mrmr", svm), 1),
    Procedure("mRMR + SVM <= 50", _tuned("mrmr", svm, 50), 1),
    Procedure("mRMR + sLDA", _tuned("mrmr", lda), 1),
    Procedure("mRMR + sLDA <= 50", _tuned("mrmr", lda, 50), 1),
    Procedure("RFE 20 + SVM", _fixed("rfe", 20, svm), 1),
    Procedure("RFE + SVM", _tuned("rfe", svm), 1),
    Procedure("RFE + SVM <= 50", _tuned("rfe", svm, 50), 1),
    Procedure("centroids", _knob(_centroids, THRESHOLDS), 2),
    Procedure("centroids <= 50", _knob(_centroids, THRESHOLDS, 50), 2),
    Procedure("centroids, priors", _knob(_pam, THRESHOLDS), 5),
    Procedure("centroids, priors <= 50", _knob(_pam, THRESHOLDS, 50), 5),
    Procedure("forest", _estimator(_forest), 2),
    Procedure("L1 logistic", _knob(_lasso, PENALTIES, n_inner=5), 3),
    Procedure("L1 logistic <= 50", _knob(_lasso, PENALTIES, 50, 5), 3),
]
