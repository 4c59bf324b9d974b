"""Which interval a score gets, and what shows that two sets of features differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from bitsieve.evaluation.interval import (
    NO_BOUNDS,
    NO_INTERVAL,
    Interval,
    auc_interval,
    binomial_interval,
    corrected_standard_error,
    corrected_t_interval,
    difference_interval,
    effective_size,
    joined,
    mean_interval,
    score_range,
)
from bitsieve.evaluation.pairs import PairSplit, nested_interval, sample_losses
from bitsieve.evaluation.predictions import Predictions
from bitsieve.evaluation.resampling import recomputes, resampled_interval

__all__ = ["ScoredFolds"]

_Kind = Literal["accuracy", "balanced_accuracy", "roc_auc"]
_KINDS: dict[Any, _Kind] = {
    accuracy_score: "accuracy",
    balanced_accuracy_score: "balanced_accuracy",
    roc_auc_score: "roc_auc",
}


class ScoredFolds:
    """Outer folds, what they predicted and how that was scored.

    Parameters
    ----------
    folds : sequence of (train, test)
        Positions of samples.
    predictions : Predictions
    scorer : callable (estimator, X, y) -> float
    name : str
        Of the scorer.
    groups : array-like of shape (n_samples,) or None, default None
        Samples of one group are not independent.
    level : float, default 0.95
    """

    def __init__(
        self,
        folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
        predictions: Predictions,
        scorer: Callable[..., float],
        name: str,
        *,
        groups: ArrayLike | None = None,
        level: float = 0.95,
    ) -> None:
        self._predictions, self._scorer, self._level = predictions, scorer, level
        self._folds, self._name, self._groups = folds, name, groups
        self._kind, self._bounds = _kind_of(scorer, name, predictions), score_range(name)
        self._test_sizes = [len(test) for _, test in folds]
        self._train_sizes = [len(train) for train, _ in folds]
        self._samples, self._row = np.unique(predictions.sample, return_inverse=True)
        self._units = self._samples if groups is None else np.asarray(groups)[self._samples]
        self._n_tests = len(predictions) / len(self._samples)
        ratio = float(np.mean(np.divide(self._test_sizes, self._train_sizes)))
        # Of the variance of one round of folds; single folds and overlapping ones give less.
        self._excess = ratio * len(folds) / self._n_tests

    def interval(self, scores: ArrayLike, *, chance: float, random_state: int) -> Interval:
        """Return the interval of the mean score of the selection.

        The union of the corrected resampled t-interval, which knows how the folds differ, and
        one that knows how many samples were predicted, and so has width where the folds agree:

        * accuracy: the exact binomial interval of the pooled predictions, each sample once;
        * balanced accuracy: the exact intervals of the classes' recalls, combined;
        * ROC AUC of two classes: :func:`auc_interval`;
        * others: a stratified bootstrap of the predictions, wherever the scorer gives the scores
          of the folds again from the stored predictions; else at least as far from the mean as
          the exact upper limit for no wrong answer among n is of the way to chance.

        Parameters
        ----------
        scores : array-like of shape (n_folds,)
        chance : float
            Mean score of a prediction from no feature.
        random_state : int
            Key of the bootstrap.

        Returns
        -------
        Interval
            NaN where a fold's score is not finite, where a scorer that cannot be recomputed was
            asked once, and where such a one gives the same number for everything.
        """
        values = np.asarray(scores, dtype=np.float64)
        if not np.all(np.isfinite(values)):
            return NO_INTERVAL
        score = float(values.mean())
        folds = self._of_folds(values)
        kind = self._kind_by(values)
        if kind == "accuracy":
            own: Interval | None = self._accuracy()
        elif kind == "balanced_accuracy":
            own = self._balanced_accuracy()
        elif kind == "roc_auc":
            own = self._auc(score)
        else:
            own = self._resampled(values, score, chance, random_state)
        if own is None:
            own = self._at_least(score, abs(score - chance), folds)
        return joined(score, folds, own, bounds=self._bounds_by(values))

    def nested(
        self,
        scores: ArrayLike,
        pairs: Sequence[PairSplit],
        predicted: Sequence[NDArray[Any]],
        rounds: NDArray[np.int64],
    ) -> Interval:
        """Return the interval by nested cross-validation, never narrower than the exact one.

        Parameters
        ----------
        scores : array-like of shape (n_folds,)
        pairs : sequence of PairSplit
        predicted : sequence of n_pairs arrays
            What each pair's rule predicts of its test part.
        rounds : int64 array of shape (n_folds,)
        """
        found = self._predictions
        of_sample = dict(zip(found.sample.tolist(), found.truth.tolist(), strict=True))
        parts = self._by_class()
        weights = dict.fromkeys(np.unique(found.truth).tolist(), 1.0)
        if self._kind == "balanced_accuracy":
            # Then the mean loss of all samples is the mean over the classes.
            weights = {
                one: len(self._samples) / (len(parts) * len(rows))
                for one, rows in zip(weights, parts, strict=True)
            }
        outer = [
            sample_losses(found.truth[rows], found.predicted[rows], weights)
            for rows in (found.fold == fold for fold in range(len(self._test_sizes)))
        ]
        inner: dict[tuple[int, int], NDArray[np.float64]] = {}
        for pair, said in zip(pairs, predicted, strict=True):
            truth = np.array([of_sample[one] for one in pair.test.tolist()])
            losses = sample_losses(truth, said, weights)
            n_first = self._test_sizes[pair.first]
            inner[pair.second, pair.first] = losses[:n_first]
            inner[pair.first, pair.second] = losses[n_first:]
        _, (low, high) = nested_interval(outer, inner, rounds, level=self._level)
        own = self._accuracy() if self._kind == "accuracy" else self._balanced_accuracy()
        around = Interval(1.0 - high, 1.0 - low)
        score = float(np.asarray(scores, dtype=np.float64).mean())
        return joined(score, around, own, bounds=(0.0, 1.0))

    def difference(
        self,
        scores: ArrayLike,
        other_scores: ArrayLike,
        other_predicted: NDArray[Any] | None,
        *,
        chance: float,
    ) -> Interval:
        """Return the interval of the mean difference between the selection and something else.

        The union of the corrected resampled t-interval of the folds' differences and, for
        accuracy and balanced accuracy, the interval of the difference of paired proportions; for
        other scores at least what :meth:`interval` grants a scorer that cannot be recomputed.

        Parameters
        ----------
        scores, other_scores : array-likes of shape (n_folds,)
        other_predicted : array of shape (n_predictions,) or None
            What the other one, such as all features, predicts; None leaves it to the scores.
        chance : float

        Returns
        -------
        Interval
            Above 0 where the selection predicts better. NaN as for :meth:`interval`.
        """
        first, second = np.asarray(scores, float), np.asarray(other_scores, float)
        differences = first - second
        if not np.all(np.isfinite(differences)):
            return NO_INTERVAL
        difference = float(differences.mean())
        folds = self._of_folds(differences)
        is_paired = self._kind_by(first) in ("accuracy", "balanced_accuracy")
        if is_paired and other_predicted is not None:
            own = self._paired(other_predicted)
        else:
            reach = max(abs(first.mean() - chance), abs(second.mean() - chance), abs(difference))
            own = self._at_least(difference, float(reach), folds)
        low, high = self._bounds_by(np.append(first, second))
        return joined(difference, folds, own, bounds=(low - high, high - low))

    def of(self, predictions: Predictions) -> ScoredFolds:
        """Return the same folds and scorer with other predictions of the same samples."""
        return ScoredFolds(
            self._folds,
            predictions,
            self._scorer,
            self._name,
            groups=self._groups,
            level=self._level,
        )

    def standard_error(self, values: ArrayLike) -> float:
        """Return the corrected resampled standard error of the mean of the folds' values."""
        return corrected_standard_error(values, self._test_sizes, self._train_sizes)

    def _kind_by(self, scores: NDArray[np.float64]) -> _Kind | None:
        """Return the kind of score; an estimator's own score may be another than the accuracy."""
        if self._kind != "accuracy":
            return self._kind
        found = self._predictions
        right = np.bincount(found.fold, found.predicted == found.truth) / self._test_sizes
        return "accuracy" if np.allclose(right, scores, rtol=1e-6, atol=1e-9) else None

    def _bounds_by(self, scores: NDArray[np.float64]) -> tuple[float, float]:
        """Return the range of the scorer; another one may have its name."""
        low, high = self._bounds
        is_known = low - 1e-9 <= scores.min() and scores.max() <= high + 1e-9
        return self._bounds if is_known else NO_BOUNDS

    def _of_folds(self, values: NDArray[np.float64]) -> Interval:
        return corrected_t_interval(values, self._test_sizes, self._train_sizes, level=self._level)

    def _per_sample(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean over the predictions of each sample."""
        counts = np.bincount(self._row)
        found: NDArray[np.float64] = np.bincount(self._row, values.astype(np.float64)) / counts
        return found

    def _by_class(self) -> list[NDArray[np.int64]]:
        """Return positions among the tested samples, one array a class that is there."""
        truth = np.empty(len(self._samples), dtype=self._predictions.truth.dtype)
        truth[self._row] = self._predictions.truth
        return [np.flatnonzero(truth == one) for one in np.unique(truth)]

    def _accuracy(self) -> Interval:
        found = self._predictions
        return self._proportion(self._per_sample(found.predicted == found.truth))

    def _balanced_accuracy(self) -> Interval:
        found = self._predictions
        right = self._per_sample(found.predicted == found.truth)
        classes = self._by_class()
        return mean_interval(
            [right[rows].mean() for rows in classes],
            [self._proportion(right[rows], rows) for rows in classes],
        )

    def _proportion(
        self, right: NDArray[np.float64], rows: NDArray[np.int64] | None = None
    ) -> Interval:
        size = self._size(right, rows)
        return binomial_interval(float(right.mean()) * size, size, level=self._level)

    def _paired(self, other_predicted: NDArray[Any]) -> Interval:
        found = self._predictions
        first, second = found.predicted == found.truth, other_predicted == found.truth
        only_first, only_second = (
            self._per_sample(first & ~second),
            self._per_sample(second & ~first),
        )
        parts = self._by_class()
        if self._kind == "accuracy":
            parts = [np.arange(len(self._samples))]
        estimates, intervals = [], []
        for rows in parts:
            one, other = only_first[rows], only_second[rows]
            size = self._size(one - other, rows)
            estimates.append(float(np.mean(one - other)))
            intervals.append(
                difference_interval(
                    float(one.mean()) * size, float(other.mean()) * size, size, level=self._level
                )
            )
        return mean_interval(estimates, intervals)

    def _auc(self, score: float) -> Interval:
        found = self._predictions
        assert found.classes is not None
        second = found.truth == found.classes[1]
        counts = [
            (int(np.sum(~second[found.fold == fold])), int(np.sum(second[found.fold == fold])))
            for fold in range(len(found.responses))
        ]
        return auc_interval(
            score,
            counts,
            n_tests=self._n_tests / self._worth(second),
            excess=self._excess,
            level=self._level,
        )

    def _worth(self, second: NDArray[np.bool_]) -> float:
        """Return the worth of a sample of two classes, below 1 where there are groups.

        That of the class where it is less, from the part of the other class in the fold that
        each sample is rightly placed against.
        """
        found, n = self._predictions, len(self._samples)
        if found.outputs is None or len(np.unique(self._units)) == n:
            return len(np.unique(self._units)) / n
        placed = np.empty(len(found))
        for fold in range(len(found.responses)):
            rows = np.flatnonzero(found.fold == fold)
            for own in (False, True):
                mine, others = rows[second[rows] == own], rows[second[rows] != own]
                value, against = found.outputs[mine, 1], np.sort(found.outputs[others, 1])
                below, upto = (np.searchsorted(against, value, side) for side in ("left", "right"))
                placed[mine] = (below + upto) / (2 * len(others))
        each = self._per_sample(placed)
        return min(self._size(each[rows], rows) / len(rows) for rows in self._by_class())

    def _resampled(
        self, scores: NDArray[np.float64], score: float, chance: float, random_state: int
    ) -> Interval | None:
        found = self._predictions
        if found.truth.ndim != 1 or not recomputes(self._scorer, found, scores):
            return None
        best = self._bounds[1]
        # As in auc_interval: models err alike where there is little to learn.
        share = 1.0
        if math.isfinite(best) and best > chance:
            share = min(max((best - score) / (best - chance), 0.0), 1.0)
        return resampled_interval(
            self._scorer,
            found,
            score=score,
            units=self._units[self._row],
            spread=math.sqrt(1.0 + share * self._excess),
            level=self._level,
            random_state=random_state,
        )

    def _at_least(self, value: float, reach: float, folds: Interval) -> Interval:
        """Return the least interval around a value that only the folds tell about."""
        if math.isnan(folds.low):
            return NO_INTERVAL
        half = reach * (1.0 - (0.5 - self._level / 2.0) ** (1.0 / len(np.unique(self._units))))
        return Interval(value - half, value + half)

    def _size(self, values: NDArray[np.float64], rows: NDArray[np.int64] | None) -> float:
        units = self._units if rows is None else self._units[rows]
        return effective_size(values, units, level=self._level)


def _kind_of(scorer: Any, name: str, predictions: Predictions) -> _Kind | None:
    """Return the score that a scorer is, None where it is none that has an interval of its own."""
    if predictions.classes is None or predictions.truth.ndim != 1:
        return None
    if type(scorer).__name__ == "_PassthroughScorer":
        # The estimator's own score, the accuracy unless the folds' scores say otherwise.
        return "accuracy" if name == "accuracy" else None
    if getattr(scorer, "_sign", None) != 1 or getattr(scorer, "_kwargs", None):
        return None
    kind = _KINDS.get(getattr(scorer, "_score_func", None))
    if kind == "roc_auc" and len(predictions.classes) != 2:
        return None
    return kind
