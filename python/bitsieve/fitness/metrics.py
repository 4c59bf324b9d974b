"""Scores that scikit-learn has not, for its ``make_scorer`` and for compiled fitnesses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import balanced_accuracy_score, make_scorer

__all__ = ["balanced_error_rate", "cost_scorer", "mean_cost"]


def balanced_error_rate(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the mean over the classes of the share of their samples that is misclassified.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)

    Returns
    -------
    float
        One less the balanced accuracy; 0 is best.

    Examples
    --------
    As a score, where greater is better:

    >>> from sklearn.metrics import make_scorer
    >>> scoring = make_scorer(balanced_error_rate, greater_is_better=False)
    >>> balanced_error_rate([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """
    return float(1 - balanced_accuracy_score(y_true, y_pred))


def mean_cost(
    y_true: ArrayLike, y_pred: ArrayLike, *, costs: ArrayLike, labels: ArrayLike
) -> float:
    """Return the mean of what the predictions cost.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
    costs : array-like of shape (n_classes, n_classes)
        ``costs[i, j]`` is the cost of predicting ``labels[j]`` for a sample of ``labels[i]``.
    labels : array-like of shape (n_classes,)
        The classes in the order of the rows and columns.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If costs and labels do not fit together, or a class is not among the labels.

    Examples
    --------
    A case that is missed costs ten false alarms:

    >>> mean_cost([1, 1, 0, 0], [0, 1, 1, 0], costs=[[0, 1], [10, 0]], labels=[0, 1])
    2.75
    """
    matrix, names = _checked(costs, labels)
    place = {label: k for k, label in enumerate(names)}
    rows: list[NDArray[np.intp]] = []
    for classes in (y_true, y_pred):
        given = np.asarray(classes).tolist()
        unknown = next((label for label in given if label not in place), None)
        if unknown is not None:
            raise ValueError(
                f"labels must name every class in the order of costs: {unknown!r} is not among "
                f"{names}"
            )
        rows.append(np.array([place[label] for label in given], dtype=np.intp))
    return float(matrix[rows[0], rows[1]].mean())


def cost_scorer(costs: ArrayLike, labels: ArrayLike) -> Any:
    """Return a scorer of the mean cost, negated: greater is better.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes)
        ``costs[i, j]`` is the cost of predicting ``labels[j]`` for a sample of ``labels[i]``.
    labels : array-like of shape (n_classes,)
        The classes in the order of the rows and columns.

    Returns
    -------
    scorer
        For ``scoring`` here and in scikit-learn.

    Raises
    ------
    ValueError
        If costs and labels do not fit together.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.fitness import compile, cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)  # class 0 is malignant
    >>> scoring = cost_scorer([[0, 10], [1, 0]], labels=[0, 1])
    >>> fitness = compile(KNeighborsClassifier(3), X, y, scoring=scoring)
    >>> fitness.evaluate([[True] * 30]).round(3)
    array([-0.539])
    """
    matrix, names = _checked(costs, labels)
    return make_scorer(mean_cost, greater_is_better=False, costs=matrix, labels=names)


def _checked(costs: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], list[Any]]:
    matrix, names = np.array(costs, dtype=np.float64), np.asarray(labels)
    if names.ndim != 1 or len(set(names.tolist())) != len(names) or len(names) == 0:
        raise ValueError(f"labels must list each class once, got {names.tolist()}")
    if matrix.shape != (len(names), len(names)):
        raise ValueError(
            f"costs must have a row and a column for each of {len(names)} labels, got shape "
            f"{matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite numbers")
    return matrix, names.tolist()
