"""Whether a scorer can score a target at all, asked before anything long starts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import plural, shorten

__all__ = ["check_scorer", "own_scoring", "refuse_undefined", "value_needs_every_class"]

_N_COLUMNS = 10  # enough to fit with; the scorer sees predictions alone

_OTHER_SCORERS = {
    True: (
        "scorers for classes of any name and number are 'accuracy', 'balanced_accuracy' and "
        "'f1_macro', and 'roc_auc' for two classes ('roc_auc_ovr' for more) where the estimator "
        "gives probabilities; 'f1' needs classes called 0 and 1"
    ),
    False: "scorers for numbers are 'r2' and 'neg_mean_absolute_error', among others",
}


def check_scorer(
    estimator: Any,
    scoring: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    tests: Iterable[NDArray[Any]],
    *,
    is_classifier: bool,
    folds: str,
) -> None:
    """Try a scorer on an estimator fitted to a few columns, and on test parts.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Cloned before it is fitted.
    scoring : str, callable or None
        A callable of the user's own is not tried: it may look at more than predictions.
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    tests : iterable of int arrays
        Positions of the samples of each test part.
    is_classifier : bool
        Whether y holds classes.
    folds : str
        What made the test parts, for the message.

    Raises
    ------
    ValueError
        Where a named scorer fails: what it said, the target, and which scorers would do. Where it
        has no value on a test part that lacks a class: which class, and the hint.
    """
    from sklearn.base import clone
    from sklearn.metrics import check_scoring, get_scorer

    is_name = isinstance(scoring, str)
    if scoring is None or is_name or hasattr(scoring, "_score_func"):
        refuse_undefined(
            check_scoring(estimator, scoring=scoring),
            scoring if is_name else str(scoring),
            y,
            tests,
            is_classifier=is_classifier,
            folds=folds,
        )
    if not is_name:
        return
    scorer, few = get_scorer(scoring), X[:, :_N_COLUMNS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = clone(estimator).fit(few, y)
        except Exception:  # not fit for so few columns: the search will tell
            return
        try:
            scorer(fitted, few, y)
        except (AttributeError, TypeError, ValueError) as error:
            reason = str(error).rstrip(".")
            target = (
                f"classes {shorten(np.unique(y).tolist())}"
                if is_classifier
                else f"numbers from {y.min():g} to {y.max():g}"
            )
            raise ValueError(
                f"scoring={scoring!r} cannot score this target ({target}): {reason}; "
                f"{_OTHER_SCORERS[is_classifier]}"
            ) from error


def own_scoring(estimator: Any) -> Any:
    """Return what a search over parameters scores by in its ``score``, None for other estimators.

    A dummy beside it must be scored alike.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeCV
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> own_scoring(GridSearchCV(SVC(), {"C": [1, 10]}, scoring="roc_auc"))
    'roc_auc'
    >>> own_scoring(RidgeCV(scoring="max_error"))  # whose own score is R squared
    """
    steps = getattr(estimator, "steps", None)
    if steps:
        return own_scoring(steps[-1][1])
    if not hasattr(estimator, "refit") or not hasattr(estimator, "score"):
        return None
    scoring, best = getattr(estimator, "scoring", None), estimator.refit
    if isinstance(scoring, (list, tuple, set, dict)):  # several, the best by one of them
        return scoring[best] if isinstance(scoring, dict) and best in scoring else best
    return scoring


def refuse_undefined(
    scorer: Any,
    name: str,
    y: NDArray[Any],
    tests: Iterable[NDArray[Any]],
    *,
    is_classifier: bool,
    folds: str,
) -> None:
    """Refuse a scorer that has no value on one of the test parts.

    Parameters
    ----------
    scorer : callable (estimator, X, y)
        Such as :func:`sklearn.metrics.check_scoring` returns.
    name : str
        Of the scorer, for the message.
    y : array of shape (n_samples,)
    tests : iterable of int arrays
        Positions of the samples of each test part.
    is_classifier : bool
        Whether y holds classes.
    folds : str
        What made the test parts, for the message.

    Raises
    ------
    ValueError
        Where a test part lacks a class (for numbers: where it is a single sample) and the score
        has no value there; it names the class, its samples, and a hint.
    """
    if y.ndim != 1:  # several targets
        return
    parts = [np.asarray(test) for test in tests]
    if not is_classifier:
        single = [test for test in parts if len(test) == 1]
        reason = _undefined(scorer, y, single[0], is_classifier=False) if single else None
        if reason is not None:
            raise ValueError(
                f"scoring={name!r} has no value for a single sample, and {folds} tests single "
                f"samples ({reason}); use fewer folds, or a mean error such as "
                "'neg_mean_absolute_error'"
            )
        return
    classes, codes = np.unique(y, return_inverse=True)
    missing = [
        np.flatnonzero(np.bincount(codes[test], minlength=len(classes)) == 0) for test in parts
    ]
    lacking = [m for m in missing if len(m)]
    reason = value_needs_every_class(scorer, y) if lacking else None
    if reason is None:
        return
    counts = np.bincount(codes)
    which = sorted({int(c) for m in lacking for c in m})
    said = [f"{classes[c]} ({plural(int(counts[c]), 'sample')})" for c in which]
    few = int(counts[which].min())
    fewer = f"use at most {few} folds" if few > 1 else "leave that class out"
    raise ValueError(
        f"scoring={name!r} has no value where a test part lacks a class ({reason}), and "
        f"{len(lacking)} of {len(parts)} test parts of {folds} lack one: {shorten(said)}; "
        f"{fewer}, or take a scorer such as 'balanced_accuracy'"
    )


def value_needs_every_class(scorer: Any, y: NDArray[Any]) -> str | None:
    """Return why a scorer has no value where one of the classes is missing, or None where it has.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> y = np.array([0, 0, 1, 1])
    >>> value_needs_every_class(get_scorer("balanced_accuracy"), y)
    >>> value_needs_every_class(get_scorer("roc_auc"), y) is None
    False
    """
    for label in np.unique(y):
        reason = _undefined(scorer, y, np.flatnonzero(y != label), is_classifier=True)
        if reason is not None:
            return reason
    return None


def _undefined(
    scorer: Any, y: NDArray[Any], test: NDArray[Any], *, is_classifier: bool
) -> str | None:
    """Return why a score has no value on some samples, None where it has or nobody can tell."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    X = np.zeros((len(y), 1))
    dummy = (DummyClassifier(strategy="prior") if is_classifier else DummyRegressor()).fit(X, y)
    found: list[str | None] = []
    for rows in (np.arange(len(y)), test):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                value = float(scorer(dummy, X[rows], y[rows]))
            except (AttributeError, TypeError, ValueError) as error:
                found.append(" ".join(str(error).split())[:120].rstrip(". "))
                continue
        told = next((str(w.message) for w in caught if "No positive class" in str(w.message)), None)
        found.append(told if np.isfinite(value) else f"it is {value}")
    everywhere, there = found
    return there if everywhere is None else None
