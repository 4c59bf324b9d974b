"""The rivals' own short forms beside independent and obvious ones; raises where they differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from honest.folds import Part, lda, svm
from honest.models import ShrunkenLDA
from honest.results import nogueira
from honest.rivals import PENALTIES, THRESHOLDS, Centroids, Lasso

__all__ = ["check"]


def check() -> None:
    """Shrunken LDA beside its primal form, RFE and SVM beside scikit-learn on features, mRMR
    beside mrmr-selection, stability by its definition."""
    for seed in range(5):
        for n_classes in (2, 3, 5):
            part = _part(seed, n_classes)
            _check_lda(part)
            _check_svm(part)
            _check_rfe(part)
            _check_mrmr(part)
            _check_centroids(part)
            _check_lasso(part)
    # Two panels of 2 among 4 that share 1: Kuncheva's index, (1 - 2 2 / 4) / (2 - 2 2 / 4) = 0.
    assert abs(nogueira([[0, 1], [1, 2]], 4)) < 1e-12
    assert nogueira([[0, 1], [0, 1]], 4) == 1


def _part(seed: int, n_classes: int) -> Part:
    rng = np.random.default_rng(seed)
    codes = np.arange(40) % n_classes
    X = rng.normal(size=(60, 150)) + 0.0
    X[:40, :20] += rng.normal(size=(n_classes, 20))[codes]
    return Part(X[:40], codes, X[40:], n_classes)


def _check_lda(part: Part) -> None:
    Z, codes, n = part.Z, part.codes, part.codes.size
    for features in (np.arange(150), np.arange(8)):
        A, B = Z[:, features], part.Z_test[:, features]
        means = np.array([A[codes == c].mean(axis=0) for c in range(part.n_classes)])
        covariance, _ = ledoit_wolf(A - means[codes], assume_centered=True)
        weights = np.linalg.solve(covariance, means.T)
        priors = np.log(np.bincount(codes) / n)
        expected = B @ weights - 0.5 * np.sum(means.T * weights, axis=0) + priors
        K, K_test, p = part.grams(features)
        found = ShrunkenLDA.fit(K, codes, part.n_classes, p).decide(K_test)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)
        assert np.array_equal(lda(part, features), expected.argmax(axis=1))


def _check_svm(part: Part) -> None:
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    expected = model.fit(part.X_train, part.codes).predict(part.X_test)
    assert np.array_equal(svm(part, None), expected)


def _check_rfe(part: Part) -> None:
    labels = [part.codes == c for c in range(part.n_classes)][part.n_classes == 2 :]
    active, ranked = np.arange(150), []
    for keep in (120, 100, 80, 64, 51, 50, 40, 32, 25, 20, 16, 12, 10, 8, 6, 5):
        models = [SVC(kernel="linear").fit(part.Z[:, active], label) for label in labels]
        weight = np.sum([model.coef_[0] ** 2 for model in models], axis=0)
        order = np.argsort(-weight, kind="stable")
        ranked.append(active[order[keep:]])
        active = np.sort(active[order[:keep]])
    found = part.order("rfe")
    assert set(found[:5]) == set(active)
    # libsvm stops at a tolerance, so neighbours in rank may change places.
    same = [set(found[5:20]) == set(np.concatenate(ranked[-6:]))]
    same.append(np.mean(found[5:] == np.concatenate(ranked[::-1])) > 0.9)
    assert all(same)


def _check_mrmr(part: Part) -> None:
    from mrmr import mrmr_classif

    table = pd.DataFrame(part.Z)
    expected = mrmr_classif(
        table, pd.Series(part.codes), K=15, show_progress=False, n_jobs=1, relevance="f"
    )
    assert list(part.order("mrmr")[:15]) == list(expected)


def _check_centroids(part: Part) -> None:
    found = Centroids(part)
    for threshold in THRESHOLDS:
        for priors in (False, True):
            model = NearestCentroid(
                shrink_threshold=threshold or None, priors="empirical" if priors else "uniform"
            ).fit(part.Z, part.codes)
            features = np.flatnonzero(np.ptp(model.centroids_, axis=0) > 1e-12)
            assert np.array_equal(found.shrink(threshold)[1], features)
            if not features.size:  # all classes tie, to the last bit
                continue
            if priors:  # predict leaves the spread out where classes are equal in size
                scores = model.decision_function(part.Z_test)
                expected = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
            else:
                expected = model.predict(part.Z_test)
            assert np.array_equal(found.predict(part.Z_test, threshold, priors=priors), expected)


def _check_lasso(part: Part) -> None:
    """What is minimised comes within half a percent of what all features reach at leisure."""
    wide = np.tile(part.Z, 3) + 0.5 * np.random.default_rng(0).normal(size=(40, 450))
    sign = np.where(part.codes == part.n_classes - 1, 1.0, -1.0)

    def objective(weights: np.ndarray, intercept: float, C: float) -> float:
        loss = np.logaddexp(0, -sign * (wide @ weights + intercept)).sum()
        return float(C * loss + np.abs(weights).sum() + abs(intercept))

    for C in PENALTIES:
        found = Lasso.fit(wide, part.codes, part.n_classes, C)
        model = LogisticRegression(
            l1_ratio=1.0, C=C, solver="liblinear", tol=1e-7, max_iter=10_000, random_state=0
        ).fit(wide, sign)
        best = objective(model.coef_[0], model.intercept_[0], C)
        assert objective(found.weights[-1], found.intercept[-1], C) <= 1.005 * best
