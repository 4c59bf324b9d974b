"""Whether a named scorer can score a target at all, asked before a long search."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring as make_scorer
from sklearn.metrics import get_scorer

from bitsieve._errors import shorten
from bitsieve._scorers import refuse_undefined
from bitsieve.data import Table
from bitsieve.fitness import Fitness

_N_SEEDS = 3
_N_COLUMNS = 10  # enough to fit with; the scorer sees predictions alone

_WAYS_OUT = {
    "classification": (
        "scorers for classes of any name and number are 'accuracy', 'balanced_accuracy' and "
        "'f1_macro', and 'roc_auc' for two classes ('roc_auc_ovr' for more) where the estimator "
        "gives probabilities; 'f1' needs classes called 0 and 1"
    ),
    "regression": "scorers for numbers are 'r2' and 'neg_mean_absolute_error', among others",
}


def check_scoring(estimator: Any, scoring: Any, table: Table, fitness: Fitness) -> None:
    """Try a named scorer on an estimator fitted to a few columns, and on the folds of a fitness.

    Raises
    ------
    ValueError
        Where the scorer fails: what it said, the target, and which scorers would do. Where it has
        no value on a test part that lacks a class: which class, and the way out.
    """
    if scoring is None or isinstance(scoring, str) or hasattr(scoring, "_score_func"):
        # Fresh folds are tried on a few seeds: how many of a class a fold gets hardly depends.
        seeds = range(_N_SEEDS if fitness.resample else 1)
        assert table.y is not None
        refuse_undefined(
            make_scorer(estimator, scoring=scoring),
            scoring if isinstance(scoring, str) else str(scoring),
            table.y,
            [test for seed in seeds for _, test in fitness.splits(seed)],
            is_classifier=table.codes is not None,
            folds=f"cv ({fitness.splits_text})",
        )
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
