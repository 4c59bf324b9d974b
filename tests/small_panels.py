"""Small panels that tests predict with."""

from __future__ import annotations

import numpy as np

from bitsieve.panels import Calibration, Member, Panel, Scaling, classifier_by_name

NAMES = [f"gene {j}" for j in range(40)]


def table(seed=0, n=50, p=40, count=2):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(count), rng.integers(0, count, n - count)])
    means = np.random.default_rng(99).normal(size=(count, p))
    raw = rng.normal(size=(n, p)) + means[codes]
    return 100 * np.exp(raw), codes


def member(X, codes, count, features, classifier, log="auto", selector="f"):
    features = np.asarray(features)
    scaling = Scaling.fit(X, log=log).restricted(features)
    Z = scaling.apply(X[:, features])
    K = Z @ Z.T
    fitted = classifier_by_name(classifier).fit(K, codes, count, n_features=len(features))
    decisions = fitted.decide(K, np.diagonal(K))
    one = Member.of(
        fitted, Z, features=features, scaling=scaling, classifier=classifier, selector=selector,
        calibration=Calibration.fit(decisions, codes, count),
    )  # fmt: skip
    return one, decisions


def made(count=2, classes=None, names=NAMES, n=50):
    X, codes = table(count=count, n=n)
    rng = np.random.default_rng(1)
    members = [
        member(X, codes, count, rng.permutation(40)[:size], name, log)[0]
        for name, size, log in (
            ("lda", 7, "always"), ("svm", 1, "never"), ("ridge", 33, "always"), ("knn", 5, "never"),
            ("3nn", 2, "always"),
        )
    ]  # fmt: skip
    labels = np.array([f"class {c}" for c in range(count)]) if classes is None else classes
    return Panel.of(members, labels, 40, names), X
