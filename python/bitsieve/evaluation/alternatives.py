"""What else a selection might have been: other predictors, scored on the same test parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from bitsieve.evaluation.interval import Interval
from bitsieve.evaluation.predictions import FoldOutputs, Predictions, outputs_of, score_of
from bitsieve.evaluation.support import is_selecting, steps_of

__all__ = ["Alternative", "ScoredAlternative", "full_set_of", "names_in_all", "score_alternatives"]

#: Names that stand for the chosen kind of predictor with every feature, best first.
FULL_SET = ("all features: chosen", "all features")


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another predictor that the selector made of the same training parts.

    Attributes
    ----------
    name : str
        Its key in the selector's ``alternatives_``.
    scores : float64 array of shape (n_folds,)
        On each outer test part; greater is better.
    predictions : Predictions
        What it said of the samples, row by row those of the selection.
    n_features : int64 array of shape (n_folds,)
        How many features it needs in each fold.
    difference : float
        Mean score of the selection minus mean score of the alternative, on the same folds.
    interval : Interval
        Confidence interval of the difference, paired as :attr:`NestedResult.full_interval` is.
    standard_error : float
        Of the difference: the corrected resampled one of the folds' differences. NaN for a
        single fold.
    own_interval : Interval
        Confidence interval of the mean of :attr:`scores`.
    """

    name: str
    scores: NDArray[np.float64]
    predictions: Predictions
    n_features: NDArray[np.int64]
    difference: float
    interval: Interval
    standard_error: float
    own_interval: Interval

    @property
    def score(self) -> float:
        """Mean of the scores."""
        return float(self.scores.mean())

    @property
    def predicted(self) -> NDArray[Any]:
        """What it predicts, aligned with the predictions of the selection."""
        return self.predictions.predicted

    @property
    def comparison(self) -> Literal["selection", "alternative", "no difference shown"]:
        """Which of the two predicts better, where the interval lies on one side of 0."""
        if self.interval.low > 0.0 and self.difference > 1e-9:
            return "selection"
        if self.interval.high < 0.0 and self.difference < -1e-9:
            return "alternative"
        return "no difference shown"


class ScoredAlternative(NamedTuple):
    """An alternative in one fold."""

    score: float
    n_features: int
    outputs: FoldOutputs


def score_alternatives(
    fitted: Any,
    scorer: Callable[..., float],
    X: Any,
    y: Any,
    methods: Sequence[str],
) -> dict[str, ScoredAlternative]:
    """Score what a fitted selector holds in ``alternatives_`` on a test part.

    Parameters
    ----------
    fitted : fitted selector or Pipeline
        A mapping ``alternatives_`` of its last step: names and fitted predictors of the columns
        that reach that step, each with ``predict`` and, where it does not take every feature, a
        boolean ``support``.
    scorer : callable (estimator, X, y) -> float
    X, y : test part
    methods : sequence of str
        Outputs that are wanted beside predictions.

    Returns
    -------
    dict
        Empty where there are none.
    """
    last = steps_of(fitted)[-1][1]
    others: Mapping[str, Any] = getattr(last, "alternatives_", {}) if is_selecting(last) else {}
    if not others:
        return {}
    if isinstance(fitted, Pipeline) and len(fitted.steps) > 1:
        X = fitted[:-1].transform(X)
    found = {}
    for name, model in others.items():
        outputs = outputs_of(model, X, methods)
        support = getattr(model, "support", None)
        n_features = len(last.get_support()) if support is None else int(np.sum(support))
        score = score_of(scorer, model, outputs, X, y)
        found[str(name)] = ScoredAlternative(score, n_features, outputs)
    return found


def full_set_of(names: Sequence[str]) -> str | None:
    """Return the alternative that stands for all features, None without one.

    Examples
    --------
    >>> full_set_of(["limit 10", "all features: svm", "all features: chosen"])
    'all features: chosen'
    >>> full_set_of(["limit 10", "all features: svm"])
    'all features: svm'
    """
    for name in FULL_SET:
        if name in names:
            return name
    return next((name for name in names if name.startswith("all features")), None)


def names_in_all(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names that every fold has, in the order of the first.

    Examples
    --------
    >>> names_in_all([{"limit 10": 1, "limit 50": 2}, {"limit 10": 3}])
    ['limit 10']
    """
    return [name for name in rows[0] if all(name in row for row in rows)]
