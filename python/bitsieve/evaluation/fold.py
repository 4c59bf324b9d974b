"""One outer fold: select, fit and score; the test part is used for scoring only."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from bitsieve._errors import DuplicateSamplesWarning
from bitsieve._random import with_seed
from bitsieve.evaluation.alternatives import ScoredAlternative, full_set_of, score_alternatives
from bitsieve.evaluation.folds import fold_seed
from bitsieve.evaluation.grouping import group_params
from bitsieve.evaluation.predictions import (
    RESPONSES,
    FoldOutputs,
    outputs_of,
    response_methods,
    score_of,
)
from bitsieve.evaluation.rows import take_rows
from bitsieve.evaluation.support import is_selecting, steps_of, support_of, without_selection

__all__ = ["FoldScores", "Procedure"]


class FoldScores(NamedTuple):
    """What one outer fold found."""

    honest: float
    full: float  # NaN where there is no predictor with all features
    chance: float
    observed: float
    remeasured: float
    support: NDArray[np.bool_]
    outputs: FoldOutputs
    full_predicted: NDArray[Any] | None
    seconds: float
    stopped_early: int | None  # after so many iterations
    is_cut: bool
    claimed_by: str | None  # the scorer of the claims, where the selector chose it itself
    alternatives: dict[str, ScoredAlternative]


@dataclass(frozen=True)
class Procedure:
    """What is repeated in every outer fold.

    Attributes
    ----------
    selector : selector or Pipeline
        Unfitted.
    estimator : estimator or None
        What predicts from the selected features; None for a selector that predicts itself.
    scorer : callable (estimator, X, y) -> float
    n_features : int
        Columns of X.
    """

    selector: Any
    estimator: Any
    scorer: Callable[..., float]
    n_features: int

    def run(
        self,
        X: Any,
        y: Any,
        groups: Any,
        *,
        fold: int,
        train: NDArray[np.int64],
        test: NDArray[np.int64],
        seed: int,
        beside: bool = True,
    ) -> FoldScores:
        """Select, fit and score one outer fold, ``beside`` it the full set and alternatives."""
        start = time.perf_counter()
        scorer, itself = self.scorer, self.estimator is None
        X_train, y_train = take_rows(X, train), take_rows(y, train)
        X_test, y_test = take_rows(X, test), take_rows(y, test)
        dummy = _dummy(self.selector if itself else self.estimator).fit(X_train, y_train)

        fitted = with_seed(_of_fold(clone(self.selector), fold), seed)
        params = {} if groups is None else group_params(fitted, take_rows(groups, train))
        with warnings.catch_warnings():  # said of all samples, once
            warnings.simplefilter("ignore", DuplicateSamplesWarning)
            warnings.filterwarnings("ignore", message="The least populated class")
            fitted.fit(X_train, y_train, **params)
        support = support_of(fitted, self.n_features)
        model: Any = dummy
        if support.any() and itself:
            model = fitted
        elif support.any():
            predictor = with_seed(clone(self.estimator), seed)
            predictor.fit(fitted.transform(X_train), y_train)
            model = Pipeline([("selector", fitted), ("estimator", predictor)])

        # A selector that predicts itself is asked for its outputs whatever the scorer needs.
        methods = RESPONSES if itself else response_methods(scorer)
        outputs = outputs_of(model, X_test, methods)
        alternatives: dict[str, ScoredAlternative] = {}
        if beside:
            alternatives = score_alternatives(fitted, scorer, X_test, y_test, methods)
        full, full_predicted = float("nan"), None
        name = full_set_of(list(alternatives)) if itself else None
        if name is not None:
            full, full_predicted = alternatives[name].score, alternatives[name].outputs.predicted
        everything = self._of_all_features(fitted, seed) if beside and name is None else None
        if everything is not None:
            params = (
                {}
                if groups is None or not itself
                else group_params(everything, take_rows(groups, train))
            )
            everything.fit(X_train, y_train, **params)
            full_outputs = outputs_of(everything, X_test, methods)
            full = score_of(scorer, everything, full_outputs, X_test, y_test)
            full_predicted = full_outputs.predicted

        search = steps_of(fitted)
        claims = [step for _, step in search if hasattr(step, "best_score_")]
        observed = remeasured = float("nan")
        claimed_by = None
        if claims:
            claimed_by = getattr(claims[-1], "scoring_", None)
            best = float(claims[-1].best_score_)
            observed = float(getattr(claims[-1], "best_observed_score_", best))
            # One that tells no other score than it chose by measured nothing again; nor did a
            # selector that predicts itself.
            again = hasattr(claims[-1], "best_observed_score_")
            remeasured = best if again and not (itself and observed == best) else float("nan")
        return FoldScores(
            honest=score_of(scorer, model, outputs, X_test, y_test),
            full=full,
            chance=float(scorer(dummy, X_test, y_test)),
            observed=observed,
            remeasured=remeasured,
            support=support,
            outputs=outputs,
            full_predicted=full_predicted,
            seconds=time.perf_counter() - start,
            stopped_early=_early(search),
            is_cut=any(getattr(step, "final_cut_", None) is not None for _, step in search),
            claimed_by=claimed_by if isinstance(claimed_by, str) else None,
            alternatives=alternatives,
        )

    def _of_all_features(self, fitted: Any, seed: int) -> Any:
        """Return an unfitted predictor with all features, None where there is none."""
        if self.estimator is not None:
            everything = with_seed(clone(self.estimator), seed)
        else:
            make = getattr(steps_of(fitted)[-1][1], "without_selection", None)
            everything = None if make is None else make()
        preparation = without_selection(self.selector)
        if everything is None or preparation is None:
            return everything
        return Pipeline([*preparation.steps, ("estimator", everything)])


def _early(steps: list[tuple[str, Any]]) -> int | None:
    """Return the iterations of a search that was stopped early, None without one."""
    early = [step.n_iter_ for _, step in steps if getattr(step, "stopped_early_", False)]
    return int(early[-1]) if early else None


def _of_fold(selector: Any, fold: int) -> Any:
    """Give every selecting step that has a random_state an independent one for this fold."""
    for _, step in steps_of(selector):
        own = step.get_params(deep=False).get("random_state") if is_selecting(step) else None
        if own is not None:
            step.set_params(random_state=fold_seed(own, fold))
    return selector


def _dummy(estimator: Any) -> Any:
    return DummyRegressor() if is_regressor(estimator) else DummyClassifier(strategy="prior")
