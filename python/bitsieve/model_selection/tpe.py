"""Models proposed by Optuna's tree-structured Parzen estimator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

from bitsieve.model_selection.dimensions import Choice, Dimension, Real
from bitsieve.model_selection.space import ModelSpace

__all__ = ["ParzenModels"]


class ParzenModels:
    """Trials of a study that maximises the score.

    Parameters
    ----------
    space : ModelSpace
    n_models : int
        Trials of a turn, each of which knows of those before it that they are running.
    key : int
        The seed; Optuna takes its 32 lowest bits.

    Raises
    ------
    ImportError
        If there is no Optuna; it says what to install.
    """

    def __init__(self, space: ModelSpace, n_models: int, key: int) -> None:
        try:
            import optuna
        except ModuleNotFoundError as error:
            raise ImportError(
                "search='optuna' needs Optuna: pip install \"bitsieve[optuna]\""
            ) from error
        self._space, self._n = space, n_models
        self._failed = optuna.trial.TrialState.FAIL
        verbosity = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # options that it calls experimental
                sampler = optuna.samplers.TPESampler(seed=key % 2**32, constant_liar=True)
                self._study = optuna.create_study(direction="maximize", sampler=sampler)
        finally:
            optuna.logging.set_verbosity(verbosity)
        self._trials: list[Any] = []

    def ask(self) -> list[dict[str, Any]]:
        self._trials = []
        found = []
        for _ in range(self._n):
            trial = self._study.ask()
            found.append(self._space.settings(partial(_suggested, trial)))
            self._trials.append(trial)
        return found

    def tell(self, scores: Sequence[float]) -> None:
        for trial, score in zip(self._trials, scores, strict=True):
            if math.isnan(score):
                self._study.tell(trial, state=self._failed)
            else:
                self._study.tell(trial, float(score))


def _suggested(trial: Any, dimension: Dimension) -> Any:
    name = dimension.name
    if isinstance(dimension, Choice):
        return trial.suggest_categorical(name, list(dimension.options))
    if isinstance(dimension, Real):
        value = trial.suggest_float(name, dimension.low, dimension.high, log=True)
        return float(f"{value:.3g}")
    return trial.suggest_int(name, dimension.low, dimension.high, log=True)
