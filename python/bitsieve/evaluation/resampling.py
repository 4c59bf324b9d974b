"""An interval for any score that can be recomputed from out-of-fold predictions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context

from bitsieve._random import resampling_integers
from bitsieve.evaluation.interval import Interval
from bitsieve.evaluation.predictions import FoldOutputs, Predictions, replay

__all__ = ["N_RESAMPLES", "recomputes", "resampled_interval"]

#: Resamples with a wrong pseudo-sample a class, and again with a right one.
N_RESAMPLES = 500


def recomputes(scorer: Callable[..., float], predictions: Predictions, scores: ArrayLike) -> bool:
    """Whether the scorer gives the scores of the folds again from the stored predictions.

    It does not where it looks at the samples themselves, or at anything of the model that is not
    stored.

    Parameters
    ----------
    scorer : callable (estimator, X, y) -> float
    predictions : Predictions
    scores : array-like of shape (n_folds,)
    """
    rescore = _Rescore(scorer, predictions)
    try:
        found = [
            rescore(np.flatnonzero(predictions.fold == fold))
            for fold in range(len(predictions.responses))
        ]
    except Exception:  # a function of the user's may raise anything where a model is missing
        return False
    return bool(np.allclose(found, np.asarray(scores), rtol=1e-6, atol=1e-9))


def resampled_interval(
    scorer: Callable[..., float],
    predictions: Predictions,
    *,
    score: float,
    units: NDArray[Any],
    spread: float,
    level: float,
    random_state: int,
) -> Interval | None:
    """Stratified bootstrap of the out-of-fold predictions, which are not refitted.

    Samples (or groups of them) are drawn with replacement, from each class as many as it has. One
    pseudo-sample more stands in each class, so that the interval has width where every prediction
    is right or every one is wrong: in half the resamples a wrongly predicted one, with the
    outputs of the sample that looks least like its class, in the other half a rightly predicted
    one. Numbers get one pseudo-sample, a standard deviation above the mean: predicted as the
    mean, or exactly. As far as the outer quantiles of the two halves are from the pooled score,
    the ends are from the mean of the folds.

    Parameters
    ----------
    scorer : callable (estimator, X, y) -> float
        One that :func:`recomputes`.
    predictions : Predictions
    score : float
        Mean of the folds' scores.
    units : array of shape (n_predictions,)
        The sample, or the group, of each prediction: what is drawn.
    spread : float
        What both distances are multiplied by.
    level : float
    random_state : int
        Key of the resamples, in [0, 2**64).

    Returns
    -------
    Interval or None
        None where the score of most resamples is undefined, or all of them are the same.
    """
    drawn = _Drawn(predictions, units)
    pooled = _Rescore(scorer, predictions)(np.arange(len(predictions)))
    tails = 0.5 - level / 2.0, 0.5 + level / 2.0
    ends = [0.0]
    for right in (False, True):
        draw = resampling_integers(random_state)
        rescore = _Rescore(scorer, _with_pseudo_samples(predictions, right=right))
        found = np.array([rescore(drawn(draw)) for _ in range(N_RESAMPLES)])
        found = found[np.isfinite(found)]
        if 2 * len(found) < N_RESAMPLES or not math.isfinite(pooled):
            return None
        ends += [spread * (float(end) - pooled) for end in np.quantile(found, tails)]
    return Interval(score + min(ends), score + max(ends)) if min(ends) < max(ends) else None


class _Rescore:
    """The score of some rows of the predictions."""

    def __init__(self, scorer: Callable[..., float], predictions: Predictions) -> None:
        outputs, response = predictions.outputs, predictions.responses[0]
        if outputs is not None and response == "decision_function" and outputs.shape[1] == 2:
            outputs = outputs[:, 1]
        self._scorer, self._truth = scorer, predictions.truth
        self._model = replay(
            FoldOutputs(
                predictions.predicted,
                None if outputs is None else response,
                outputs,
                predictions.classes,
            )
        )

    def __call__(self, rows: NDArray[np.int64]) -> float:
        with (
            config_context(assume_finite=True, skip_parameter_validation=True),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # a class that no resample predicts, and the like
            return float(self._scorer(self._model, rows[:, None], self._truth[rows]))


class _Drawn:
    """Rows of a resample; the pseudo-samples stand behind the n predictions."""

    def __init__(self, predictions: Predictions, units: NDArray[Any]) -> None:
        n, classes = len(predictions), predictions.classes
        _, unit = np.unique(units, return_inverse=True)
        stratum = np.zeros(n, dtype=np.int64)
        n_pseudo = 1
        if classes is not None:
            stratum, n_pseudo = np.searchsorted(classes, predictions.truth), len(classes)
        order = np.argsort(unit, kind="stable")
        starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
        rows = np.split(order, starts[1:])
        mixed = any(len(np.unique(stratum[one])) > 1 for one in rows)
        self._rows = [*rows, *np.arange(n, n + n_pseudo)[:, None]]
        self._single = np.concatenate(self._rows) if len(rows) == n else None
        of_rows = np.array([stratum[one[0]] for one in rows])
        pseudo = len(rows) + np.arange(n_pseudo)
        # Groups that hold several classes are drawn from all groups.
        self._strata = (
            [np.arange(len(rows) + n_pseudo)]
            if mixed
            else [np.append(np.flatnonzero(of_rows == c), pseudo[c]) for c in range(n_pseudo)]
        )

    def __call__(self, draw: Callable[[int, int], NDArray[np.int64]]) -> NDArray[np.int64]:
        units: NDArray[np.int64] = np.concatenate(
            [stratum[draw(len(stratum), len(stratum))] for stratum in self._strata]
        )
        if self._single is not None:
            rows: NDArray[np.int64] = self._single[units]
            return rows
        return np.concatenate([self._rows[unit] for unit in units])


def _with_pseudo_samples(predictions: Predictions, *, right: bool) -> Predictions:
    """Return the predictions and one more of each class, or one more number."""
    truth, classes, outputs = predictions.truth, predictions.classes, predictions.outputs
    if classes is None:
        mean = float(np.mean(truth))
        more = np.array([mean + float(np.std(truth))])
        said = more if right else np.array([mean])
    else:
        more = classes
        said = classes if right else _commonest_others(predictions)
        if outputs is not None:
            likeness = np.nan_to_num(outputs, nan=0.0)
            rows = likeness.argmax(axis=0) if right else likeness.argmin(axis=0)
            outputs = np.concatenate([outputs, outputs[rows]])
    return Predictions(
        sample=predictions.sample,
        fold=predictions.fold,
        truth=np.concatenate([truth, more]),
        predicted=np.concatenate([predictions.predicted, said]),
        full_predicted=predictions.full_predicted,
        outputs=outputs,
        responses=predictions.responses,
        classes=classes,
    )


def _commonest_others(predictions: Predictions) -> NDArray[Any]:
    """Return for each class the commonest other one; ties go to the first."""
    classes = predictions.classes
    assert classes is not None
    counts = np.bincount(np.searchsorted(classes, predictions.truth), minlength=len(classes))
    others = []
    for own in range(len(classes)):
        rest = counts.copy()
        rest[own] = -1
        others.append(int(rest.argmax()))
    return np.asarray(classes[others])
