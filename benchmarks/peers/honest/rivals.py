"""The rivals: whole procedures from a raw training part to predictions of a test part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from honest.folds import Fold, Model, Part, inner_counts, lda, sizes_up_to, svm

__all__ = ["RIVALS", "Outcome", "Procedure"]

F64 = NDArray[np.float64]
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


N_JOINING = 300

# From the smallest panel to the largest.
THRESHOLDS = (8.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.0)
PENALTIES = (0.02, 0.05, 0.1, 0.2, 0.5, 2.0, 10.0)


class Centroids:
    """scikit-learn's NearestCentroid for many thresholds: fitted once, shrunk for each.

    `checks.py` compares it with `NearestCentroid(shrink_threshold=...)`, whose fit does both.
    """

    def __init__(self, part: Part) -> None:
        model = NearestCentroid().fit(part.Z, part.codes)
        share = np.bincount(part.codes) / part.codes.size
        spread = model.within_class_std_dev_
        scale = np.sqrt(1 / (share * part.codes.size) - 1 / part.codes.size)
        self._unit = scale[:, None] * (spread + np.median(spread))
        self._center, self._deviations = part.Z.mean(axis=0), model.deviations_
        self._spread = np.where(spread > 0, spread, 1.0)
        self._log_priors = np.log(share)

    def shrink(self, threshold: float) -> tuple[F64, I64]:
        """Centroids of the features that stay, relative to the overall one, and those features."""
        left = np.maximum(np.abs(self._deviations) - threshold, 0) * np.sign(self._deviations)
        features = np.flatnonzero(np.any(left != 0, axis=0))
        return left[:, features] * self._unit[:, features], features

    def predict(self, Z: F64, threshold: float, *, priors: bool) -> I64:
        """Nearest centroid; with priors, distances are in units of the spread within classes."""
        centroids, features = self.shrink(threshold)
        X = Z[:, features] - self._center[features]
        if priors:
            X, centroids = X / self._spread[features], centroids / self._spread[features]
        scores = 2 * X @ centroids.T - np.sum(centroids**2, axis=1)
        return np.asarray((scores + 2 * priors * self._log_priors).argmax(axis=1))


def _centroids(priors: bool, limit: int | None = None) -> Run:
    """The threshold with most correct inner predictions, ties to the larger one."""

    def count(fold: Fold) -> I64:
        counts = np.zeros((2, len(THRESHOLDS)), dtype=np.int64)
        for part, truth in fold.inner:
            model = Centroids(part)
            for way, i in np.ndindex(counts.shape):
                predicted = model.predict(part.Z_test, THRESHOLDS[i], priors=bool(way))
                counts[way, i] += np.sum(predicted == truth)
        return counts

    def run(fold: Fold) -> Outcome:
        counts = fold.once("centroids", lambda: count(fold))[int(priors)]
        model = Centroids(fold.outer)
        sizes = [model.shrink(threshold)[1].size for threshold in THRESHOLDS]
        allowed = [i for i, n in enumerate(sizes) if limit is None or 0 < n <= limit] or [0]
        threshold = THRESHOLDS[max(allowed, key=lambda i: counts[i])]
        predicted = model.predict(fold.outer.Z_test, threshold, priors=priors)
        return Outcome(predicted, model.shrink(threshold)[1], {"threshold": threshold})

    return run


@dataclass(frozen=True)
class Lasso:
    """scikit-learn's L1 logistic regression, one class against the rest, on features that matter.

    It is fitted to the features with the steepest gradient at zero; those outside that break the
    condition of optimality join, and it is fitted again. What never joins has weight 0 anyway, so
    the answer is that of all features, to the tolerance of the solver (`checks.py`).
    """

    weights: F64
    intercept: F64

    @classmethod
    def fit(cls, Z: F64, codes: I64, n_classes: int, C: float) -> Lasso:
        labels = [(codes == c).astype(np.int64) for c in range(n_classes)][n_classes == 2 :]
        fitted = [cls._fit_one(Z, label, C) for label in labels]
        return cls(np.array([w for w, _ in fitted]), np.array([b for _, b in fitted]))

    @staticmethod
    def _fit_one(Z: F64, label: I64, C: float) -> tuple[F64, float]:
        model = LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", tol=1e-4, random_state=0)
        gradient = np.abs((label - 0.5) @ Z)
        inside = np.zeros(Z.shape[1], dtype=bool)
        joining = np.argsort(-gradient, kind="stable")[:N_JOINING]
        while joining.size:
            inside[joining] = True
            model.fit(Z[:, inside], label)
            gradient = C * np.abs((label - model.predict_proba(Z[:, inside])[:, 1]) @ Z)
            gradient[inside] = 0
            order = np.argsort(-gradient, kind="stable")[:N_JOINING]
            joining = order[gradient[order] > 1.01]
        weights = np.zeros(Z.shape[1])
        weights[inside] = model.coef_[0]
        return weights, float(model.intercept_[0])

    @property
    def features(self) -> I64:
        return np.flatnonzero(np.any(self.weights != 0, axis=0))

    def predict(self, Z: F64) -> I64:
        decisions = Z @ self.weights.T + self.intercept
        one = decisions.shape[1] == 1
        return np.asarray(decisions[:, 0] > 0 if one else decisions.argmax(axis=1)).astype(int)


def _lasso(part: Part, C: float) -> Lasso:
    return Lasso.fit(part.Z, part.codes, part.n_classes, C)


def _l1(limit: int | None = None) -> Run:
    """The C with most correct predictions in one repeat of the inner folds, ties to the smaller. A
    limit leaves out those whose panel on the whole training part is larger, as its user would."""

    def count(fold: Fold) -> list[int]:
        counts = [0] * len(PENALTIES)
        for part, truth in fold.inner[:5]:
            for i, C in enumerate(PENALTIES):
                counts[i] += int(np.sum(_lasso(part, C).predict(part.Z_test) == truth))
        return counts

    def run(fold: Fold) -> Outcome:
        def fitted(i: int) -> Lasso:
            model: Lasso = fold.once(("l1", i), lambda: _lasso(fold.outer, PENALTIES[i]))
            return model

        counts = fold.once("l1", lambda: count(fold))
        allowed = list(range(len(PENALTIES)))
        if limit is not None:
            allowed = [i for i in allowed if 0 < fitted(i).features.size <= limit] or [0]
        best = max(allowed, key=lambda i: counts[i])
        model = fitted(best)
        return Outcome(model.predict(fold.outer.Z_test), model.features, {"C": PENALTIES[best]})

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
    Procedure("centroids", _centroids(False), 3),
    Procedure("centroids <= 50", _centroids(False, 50), 3),
    Procedure("centroids, priors", _centroids(True), 3),
    Procedure("centroids, priors <= 50", _centroids(True, 50), 3),
    Procedure("forest", _estimator(_forest), 3),
    Procedure("L1 logistic", _l1(), 2),
    Procedure("L1 logistic <= 50", _l1(50), 2),
]
