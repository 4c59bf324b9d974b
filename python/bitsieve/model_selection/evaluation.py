"""Scores of models by cross-validation; no model and no ranking is made twice."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bitsieve._checkpoint import CheckpointStore
from bitsieve.data import Table
from bitsieve.fitness.cv import make_splits
from bitsieve.fitness.processes import in_processes
from bitsieve.fitness.splits import FixedSplits
from bitsieve.model_selection.space import ALL, ModelSpace

__all__ = ["Evaluations", "inner_splits", "key_of_settings"]

Settings = Mapping[str, Any]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def key_of_settings(settings: Settings) -> str:
    """Return the name of a model, the same for the same settings."""
    return json.dumps(dict(settings), sort_keys=True)


def inner_splits(cv: Any, table: Table, groups: Any, seed: int) -> list[Split]:
    """Return the folds that models are scored on.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
    table : Table
        With classes.
    groups : array-like of shape (n_samples,) or None
    seed : int

    Returns
    -------
    list of (train, test)

    Raises
    ------
    ValueError
        If there are no such folds, or one of them trains on one class alone.
    """
    found = make_splits(
        cv,
        table.X,
        table.y,
        codes=table.codes,
        classes=table.classes,
        n_repeats=1,
        resample=False,
        groups=groups,
        random_state=seed,
    )
    assert isinstance(found, FixedSplits)
    assert table.codes is not None
    assert table.classes is not None
    for train, _ in found.pairs:
        known = np.unique(table.codes[train])
        if len(known) < 2:
            raise ValueError(
                "an inner fold trains on samples of one class alone "
                f"({table.classes[known[0]]}): the others have too few samples, or all stand "
                "in one group; merge classes, or leave out the groups"
            )
    return list(found.pairs)


class Evaluations:
    """The scores of all models so far, one a split.

    A ranking is made once for each training part; models that differ in the number of features or
    in the classifier share it.

    Parameters
    ----------
    space : ModelSpace
    X : float64 array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    splits : sequence of (train, test)
    scorer : callable (estimator, X, y) -> float
    n_jobs : int
        Processes.
    store : CheckpointStore or None
        Where scores are kept; those that are there already are taken.

    Attributes
    ----------
    models : list of dict
        Settings, in the order in which they were first asked for.
    scores : list of float64 array of shape (n_splits,)
        NaN where a model cannot be fitted or scored.
    errors : dict of str to str
        What the first of these said, by the model's name.
    """

    def __init__(
        self,
        space: ModelSpace,
        X: NDArray[np.float64],
        y: NDArray[Any],
        splits: Sequence[Split],
        scorer: Any,
        *,
        n_jobs: int,
        store: CheckpointStore | None,
    ) -> None:
        self._space, self._X, self._y, self._splits = space, X, y, splits
        self._scorer, self._n_jobs, self._store = scorer, n_jobs, store
        self.models: list[dict[str, Any]] = []
        self.scores: list[NDArray[np.float64]] = []
        self.errors: dict[str, str] = {}
        self._places: dict[str, int] = {}
        self._orders: dict[tuple[bool, str, int], NDArray[np.int64]] = {}
        self._kept: dict[str, NDArray[np.float64]] = {}
        loaded = None if store is None else store.load()
        if loaded is not None:
            meta, arrays = loaded
            self._kept = dict(zip(meta["models"], arrays["scores"], strict=True))
            self.errors = dict(meta["errors"])

    def score(self, models: Iterable[Settings]) -> list[int]:
        """Score models and return their places in ``models``, those of known ones too."""
        names = []
        for settings in models:
            name = key_of_settings(settings)
            names.append(name)
            if name not in self._places:
                self._places[name] = len(self.models)
                self.models.append(dict(settings))
        new = range(len(self.scores), len(self.models))
        try:
            found = self._scored([i for i in new if self._name(i) not in self._kept])
        except BaseException:
            for i in new:  # they are no part of what was found
                del self._places[self._name(i)]
            del self.models[len(self.scores) :]
            raise
        self.scores += [found.get(i, self._kept.get(self._name(i), np.empty(0))) for i in new]
        if self._store is not None and found:
            self._kept |= {self._name(i): scores for i, scores in found.items()}
            self._store.save(
                {"models": list(self._kept), "errors": self.errors},
                {"scores": np.array(list(self._kept.values()))},
            )
        return [self._places[name] for name in names]

    def _name(self, index: int) -> str:
        return key_of_settings(self.models[index])

    def _scored(self, wanted: list[int]) -> dict[int, NDArray[np.float64]]:
        """Return the scores of some of the models, a row each."""
        if not wanted:
            return {}
        self._rank({_ranking(self.models[i]) for i in wanted})
        calls = (
            joblib.delayed(_score)(
                self._space.pipeline(self.models[i], self._order(self.models[i], s)),
                self._X,
                self._y,
                split,
                self._scorer,
            )
            for i in wanted
            for s, split in enumerate(self._splits)
        )
        answers = in_processes(calls, self._n_jobs)
        n = len(self._splits)
        found = {}
        for place, i in enumerate(wanted):
            part = answers[n * place : n * (place + 1)]
            found[i] = np.array([score for score, _ in part])
            said = next((error for _, error in part if error is not None), None)
            if said is not None:
                self.errors[self._name(i)] = said
        return found

    def _rank(self, wanted: set[tuple[bool, str] | None]) -> None:
        keys = [
            (*one, s)
            for one in sorted(one for one in wanted if one is not None)
            for s in range(len(self._splits))
            if (*one, s) not in self._orders
        ]
        calls = (
            joblib.delayed(_order_of)(self._space, self._X, self._y, self._splits[s][0], log, name)
            for log, name, s in keys
        )
        self._orders |= dict(zip(keys, in_processes(calls, self._n_jobs), strict=True))

    def _order(self, settings: Settings, split: int) -> NDArray[np.int64] | None:
        which = _ranking(settings)
        return None if which is None else self._orders[(*which, split)]


def _ranking(settings: Settings) -> tuple[bool, str] | None:
    """Which ranking a model needs: whether of logged values, and whose."""
    if settings["selector"] == ALL:
        return None
    return settings["preprocessing"] == "log", settings["selector"]


def _order_of(
    space: ModelSpace,
    X: NDArray[np.float64],
    y: NDArray[Any],
    train: NDArray[np.intp],
    log: bool,
    selector: str,
) -> NDArray[np.int64]:
    settings = {
        "preprocessing": "log" if log else "none",
        "selector": selector,
        "n_features": 1,
        "estimator": "nb",
    }
    steps = space.pipeline(settings)[:2]
    with threadpool_limits(limits=1):
        fitted = steps.fit(X[train], y[train])
    order: NDArray[np.int64] = fitted[-1].order_
    return order


def _score(
    model: Any, X: NDArray[np.float64], y: NDArray[Any], split: Split, scorer: Any
) -> tuple[float, str | None]:
    """Return the score on a test part, or NaN and what the model said."""
    train, test = split
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of hundreds of models; the best one is fitted aloud
        try:
            return float(scorer(model.fit(X[train], y[train]), X[test], y[test])), None
        except (ArithmeticError, AttributeError, ValueError) as error:
            return float("nan"), f"{type(error).__name__}: {error}"
