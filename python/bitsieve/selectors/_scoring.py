"""Whether a named scorer can score a target at all, asked before a long search."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer

from bitsieve._errors import shorten
from bitsieve.data import Table

_N_COLUMNS = 10  # enough to fit with; the scorer sees predictions alone

_WAYS_OUT = {
    "classification": (
        "scorers for classes of any name and number are 'accuracy', 'balanced_accuracy' and "
        "'f1_macro', and 'roc_auc' for two classes ('roc_auc_ovr' for more) where the estimator "
        "gives probabilities; 'f1' needs classes called 0 and 1"
    ),
    "regression": "scorers for numbers are 'r2' and 'neg_mean_absolute_error', among others",
}


def check_scoring(estimator: Any, scoring: Any, table: Table) -> None:
    """Try a named scorer on an estimator fitted to a few columns.

    Raises
    ------
    ValueError
        Where the scorer fails: what it said, the target, and which scorers would do.
    """
    if not isinstance(scoring, str):
        return
    scorer = get_scorer(scoring)
    X, y = table.X[:, :_N_COLUMNS], table.y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = clone(estimator).fit(X, y)
        except Exception:  # not fit for so few columns: the search will tell
            return
        try:
            scorer(fitted, X, y)
        except (AttributeError, TypeError, ValueError) as error:
            reason = str(error).rstrip(".")
            raise ValueError(
                f"scoring={scoring!r} cannot score this target ({_described(table)}): {reason}; "
                f"{_WAYS_OUT[str(table.task)]}"
            ) from error


def _described(table: Table) -> str:
    if table.classes is not None:
        return f"classes {shorten(table.classes.tolist())}"
    y = np.asarray(table.y)
    return f"numbers from {y.min():g} to {y.max():g}"
