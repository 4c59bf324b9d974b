"""Short names of estimators, as the command line takes them, and what it asks of features.

A new estimator joins by adding one line to :data:`ESTIMATORS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from bitsieve.data import Table
from bitsieve.selectors._space import Space

__all__ = ["ESTIMATORS", "check_features", "estimator_by_name"]


def _neighbors(k: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_neighbors=k)


def _bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _bernoulli_bayes() -> Any:
    from sklearn.naive_bayes import BernoulliNB

    return BernoulliNB()


def _centroid() -> Any:
    from sklearn.neighbors import NearestCentroid

    return NearestCentroid()


def _diagonal_discriminant() -> Any:
    from bitsieve.estimators import DiagonalLDA

    return DiagonalLDA()


def _ridge() -> Any:
    from sklearn.linear_model import RidgeClassifier

    return RidgeClassifier()


def _discriminant() -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis()


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _linear_svm() -> Any:
    from sklearn.svm import SVC

    return SVC(kernel="linear")


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_split=10, random_state=0)


#: Estimator name to a function that makes one.
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "1nn": lambda: _neighbors(1),
    "3nn": lambda: _neighbors(3),
    "5nn": lambda: _neighbors(5),
    "centroid": _centroid,
    "nb": _bayes,
    "bernoulli": _bernoulli_bayes,
    "dlda": _diagonal_discriminant,
    "lda": _discriminant,
    "ridge": _ridge,
    "logistic": _logistic,
    "svm": _linear_svm,
    "tree": _tree,
}

_KNN = re.compile(r"knn:(\d+)", re.IGNORECASE)


def estimator_by_name(name: str) -> Any:
    """Return a new scikit-learn classifier.

    Parameters
    ----------
    name : str
        One of :data:`ESTIMATORS`, or ``knn:K`` with a number of neighbors K of at least 1. Upper
        and lower case are alike.

    Returns
    -------
    classifier

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.

    Examples
    --------
    >>> from bitsieve.selectors.named import estimator_by_name
    >>> estimator_by_name("knn:7").n_neighbors
    7
    """
    make = ESTIMATORS.get(name.lower())
    if make is not None:
        return make()
    neighbors = _KNN.fullmatch(name)
    if neighbors and int(neighbors[1]) >= 1:
        return _neighbors(int(neighbors[1]))
    raise ValueError(
        f"unknown estimator {name!r}; known are {', '.join(ESTIMATORS)} and knn:K "
        "(K neighbors, such as knn:7)"
    )


def check_features(table: Table, forced: Any, forbidden: Any, groups: Any) -> None:
    """Refuse features that no search can be over.

    Parameters
    ----------
    table : Table
        Its names are those of messages.
    forced, forbidden, groups
        As ``forced_features``, ``forbidden_features`` and ``feature_groups`` of a search.

    Raises
    ------
    ValueError
        Where a feature is both forced and forbidden or a group only partly either of them, where
        nothing is left to search, and for what is no feature.

    Examples
    --------
    >>> table = Table([[1.0, 2.0], [2.0, 1.0]], [0, 1], names=["a", "b"])
    >>> check_features(table, [0], None, None)
    >>> check_features(table, [0], [0], None)
    Traceback (most recent call last):
        ...
    ValueError: feature 'a' cannot be both in forced_features and in forbidden_features
    """
    Space(table, forced=forced, forbidden=forbidden, groups=groups)
