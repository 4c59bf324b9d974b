"""The folds that sizes of an elimination are compared on, and what scores them there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring

from bitsieve._checks import is_whole
from bitsieve._scorers import check_scorer
from bitsieve.data import Table
from bitsieve.fitness.cv import make_splits

__all__ = ["Split", "check_unused", "splits_of"]

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def splits_of(cv: Any, table: Table, groups: Any, estimator: Any, scoring: Any) -> list[Split]:
    """Return the folds that sizes are compared on.

    Raises
    ------
    ValueError
        Where ``cv`` stands for none, a training part has one class alone, or the scorer has no
        value on some test part.
    """
    made = make_splits(
        5 if cv is None else cv,
        table.X,
        table.y,
        codes=table.codes,
        classes=table.classes,
        n_repeats=1,
        resample=False,
        groups=groups,
        random_state=0,
    )
    splits: list[Split] = made.splits(0)
    assert table.y is not None
    check_scorer(
        estimator,
        scoring,
        table.X,
        table.y,
        [test for _, test in splits],
        is_classifier=is_classifier(estimator),
        folds=f"cv ({made.describe()})",
    )
    for number, (train, _) in enumerate(splits):
        if table.codes is not None and len(np.unique(table.codes[train])) < 2:
            raise ValueError(
                f"cv: the training part of split {number} has samples of one class alone; "
                "shuffle the folds, or give fewer"
            )
    return splits


def check_unused(cv: Any, table: Table, groups: Any, estimator: Any, scoring: Any) -> None:
    """Refuse bad folds and scorers of a fit that measures nothing by them.

    The default of ``cv`` is not held to the data, which may be few.
    """
    if not (cv is None or (is_whole(cv) and cv == 5)):
        with warnings.catch_warnings():  # no class is too small for what is not split
            warnings.simplefilter("ignore")
            splits_of(cv, table, groups, estimator, scoring)
    elif scoring is not None:
        check_scoring(estimator, scoring=scoring)
        assert table.y is not None
        check_scorer(
            estimator,
            scoring,
            table.X,
            table.y,
            (),
            is_classifier=is_classifier(estimator),
            folds="cv",
        )
