"""Terms of an energy chosen by cross-validation: what the selected features let predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from bitsieve.causal import Terms
from bitsieve.causal.energy import Minimum
from bitsieve.selectors._energy_parts import EnergyParts, Split

__all__ = ["LEARNT", "errors_of_terms", "first_of_the_best"]

#: What is compared where nothing else is said, all of the energy first.
LEARNT: tuple[Terms, ...] = tuple(
    Terms(
        relevance=relevance,
        predictive=predictive,
        association=association,
        local_blanket=local,
        global_blanket=overall,
    )
    for association, (local, overall), (relevance, predictive) in product(
        (1.0, 0.1, 0.0), ((1.0, 1.0), (0.0, 1.0), (0.0, 0.0)), ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0))
    )
)


def first_of_the_best(errors: NDArray[np.float64]) -> int:
    """Return the first candidate that is not clearly worse than the best.

    That is one whose mean error is greater by at most a standard error of the paired differences:
    the least of many errors on few samples is often the luckiest.

    Parameters
    ----------
    errors : ndarray of shape (n_candidates, n_splits)

    Examples
    --------
    >>> first_of_the_best(np.array([[0.5, 0.5], [0.3, 0.2], [0.2, 0.2]]))
    1
    """
    best = errors[int(np.argmin(np.round(errors.mean(axis=1), 12)))]
    behind = errors - best
    spread = np.zeros(len(errors))
    if errors.shape[1] > 1:
        spread = behind.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
    return int(np.argmax(behind.mean(axis=1) <= spread + 1e-12))


def errors_of_terms(
    candidates: Sequence[Terms],
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    *,
    splits: list[Split],
    parts_of: Callable[[NDArray[np.float64], NDArray[np.int32], bool], EnergyParts],
    minimize: Callable[[EnergyParts, Terms], Minimum],
    estimator: Any,
) -> NDArray[np.float64]:
    """Return the balanced error rate of each candidate on each test part.

    The features are selected anew inside every training part.

    Parameters
    ----------
    candidates : sequence of Terms
    X, codes : ndarray
    splits : list of (train, test)
    parts_of : callable
        Given samples, classes and whether blankets are needed.
    minimize : callable
    estimator : scikit-learn classifier
        Fitted to the selected features.

    Returns
    -------
    ndarray of shape (n_candidates, n_splits)
    """
    with_blankets = any(terms.local_blanket or terms.global_blanket for terms in candidates)
    errors = np.empty((len(candidates), len(splits)))
    for k, (train, test) in enumerate(splits):
        parts = parts_of(X[train], codes[train], with_blankets)
        known: dict[tuple[int, ...], float] = {}
        for i, terms in enumerate(candidates):
            features = np.sort(minimize(parts, terms).features)
            key = tuple(features.tolist())
            if key not in known:
                fitted = clone(estimator).fit(X[np.ix_(train, features)], codes[train])
                predicted = fitted.predict(X[np.ix_(test, features)])
                known[key] = 1.0 - balanced_accuracy_score(codes[test], predicted)
            errors[i, k] = known[key]
    return errors
