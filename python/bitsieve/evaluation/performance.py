"""How the classes are told apart: what a reader of a classifier asks for, each with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._errors import closest
from bitsieve.evaluation.calibration import Calibration, calibration_of
from bitsieve.evaluation.folds import Folds
from bitsieve.evaluation.interval import (
    Interval,
    auc_interval,
    binomial_interval,
    corrected_t_interval,
    effective_size,
    joined,
    mean_interval,
)
from bitsieve.evaluation.predictions import Predictions

__all__ = ["ClassPerformance", "Measure", "class_performance"]


class Measure(NamedTuple):
    """A number and its confidence interval.

    Attributes
    ----------
    value : float
    interval : Interval
    """

    value: float
    interval: Interval


@dataclass(frozen=True, eq=False)
class ClassPerformance:
    """Performance of a classifier on samples that it had not seen, class by class.

    A sample that was predicted several times, in repeated outer folds, counts once, with the mean
    of its predictions.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Sorted.
    positive : object or None
        The class that sensitivity and AUC speak of; None for more than two classes.
    n_samples, n_rounds : float
        Samples that were tested, and how often on average.
    confusion : float64 array of shape (n_classes, n_classes)
        Samples of each class (rows) that were predicted as each class (columns), mean over the
        rounds: whole numbers for one round. It sums up to the number of samples.
    accuracy, balanced_accuracy : Measure
    recalls : tuple of n_classes Measure
        Share of the samples of each class that was predicted rightly.
    auc : Measure or None
        Area under the ROC curve: mean over the folds, so that only samples of one fold are
        compared. Of the positive class; for more than two the mean of one class against the
        rest, whose interval has the means of the ends. None without outputs of the classifier,
        and where no fold tests two classes.
    aucs : tuple of n_classes Measure or None
        One class against the rest.
    brier : float
        Mean squared error of the probabilities: of the positive class, or for more than two
        classes Brier's own sum over the classes. NaN without probabilities.
    brier_chance : float
        That of the shares of the classes for everyone.
    calibrations : tuple of Calibration
        Of the positive class, or of each of several against the rest. Empty without
        probabilities.
    level : float
        Of confidence.
    """

    classes: NDArray[Any]
    positive: Any
    n_samples: int
    n_rounds: float
    confusion: NDArray[np.float64]
    accuracy: Measure
    balanced_accuracy: Measure
    recalls: tuple[Measure, ...]
    auc: Measure | None
    aucs: tuple[Measure | None, ...]
    brier: float
    brier_chance: float
    calibrations: tuple[Calibration, ...]
    level: float

    @property
    def sensitivity(self) -> Measure | None:
        """Recall of the positive class; None for more than two classes."""
        return None if self.positive is None else self.recalls[self._place]

    @property
    def specificity(self) -> Measure | None:
        """Recall of the other class; None for more than two classes."""
        return None if self.positive is None else self.recalls[1 - self._place]

    @property
    def calibration(self) -> Calibration | None:
        """Calibration of the positive class; None for more than two, or without probabilities."""
        return self.calibrations[0] if self.positive is not None and self.calibrations else None

    @property
    def _place(self) -> int:
        return int(np.flatnonzero(self.classes == self.positive)[0])


def class_performance(
    predictions: Predictions,
    folds: Folds,
    *,
    positive: Any = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> ClassPerformance:
    """Return how out-of-fold predictions tell the classes apart.

    Parameters
    ----------
    predictions : Predictions
        Of a classifier.
    folds : list of (train, test)
        The outer folds that made them.
    positive : object, optional
        One of two classes: what is looked for, such as the disease. The second of the sorted ones
        by default.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together are worth less than as many others.
    level : float, default 0.95

    Returns
    -------
    ClassPerformance
        Every interval is the union of the corrected resampled t-interval of the folds, where each
        of them has the number, and of an exact one: Clopper and Pearson's for shares, their
        combination for the balanced accuracy, Newcombe's fifth for the AUC.

    Raises
    ------
    ValueError
        For predictions of numbers, and a positive class that is not one of two.

    References
    ----------
    As for :func:`bitsieve.evaluation.nested_cross_validate`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from bitsieve.evaluation import class_performance, nested_cross_validate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = nested_cross_validate(
    ...     SelectKBest(k=2), GaussianNB(), X, y, scoring="roc_auc", random_state=0)
    >>> found = class_performance(result.predictions, result.folds, positive=0)
    >>> found.confusion.tolist()
    [[192.0, 20.0], [20.0, 337.0]]
    >>> round(found.sensitivity.value, 3), round(found.auc.value, 3)
    (0.906, 0.982)
    """
    classes = predictions.classes
    if classes is None or predictions.truth.ndim != 1:
        raise ValueError("class performance needs predictions of classes, not of numbers")
    if positive is not None and (len(classes) != 2 or positive not in classes):
        raise ValueError(
            f"positive must be one of two classes, got {positive!r}: "
            f"{closest(str(positive), [str(one) for one in classes])}"
        )
    if len(classes) == 2 and positive is None:
        positive = classes[1]
    return _Measured(predictions, folds, groups, level).performance(positive)


class _Measured:
    """Predictions, folds and weights, from which every measure is taken."""

    def __init__(
        self, predictions: Predictions, folds: Folds, groups: ArrayLike | None, level: float
    ) -> None:
        assert predictions.classes is not None
        self.found, self.level, self.classes = predictions, level, predictions.classes
        self.sizes = [len(test) for _, test in folds], [len(train) for train, _ in folds]
        self.samples, self.row = np.unique(predictions.sample, return_inverse=True)
        self.units = self.samples if groups is None else np.asarray(groups)[self.samples]
        counts = np.bincount(self.row)
        self.weights = 1.0 / counts[self.row]
        self.n_tests = len(predictions) / len(self.samples)
        ratio = float(np.mean(np.divide(*self.sizes)))
        self.excess = ratio * len(folds) / self.n_tests
        self.codes = np.searchsorted(self.classes, predictions.truth)
        self.code = np.zeros(len(self.samples), dtype=np.int64)
        self.code[self.row] = self.codes
        self.right = predictions.predicted == predictions.truth

    def performance(self, positive: Any) -> ClassPerformance:
        found, classes = self.found, self.classes
        k = len(classes)
        confusion = np.zeros((k, k))
        said = np.searchsorted(classes, found.predicted)
        np.add.at(confusion, (self.codes, said), self.weights)
        per_sample = np.asarray(np.bincount(self.row, self.right * self.weights), np.float64)
        exact = [self._share(per_sample[self.code == c], self.code == c) for c in range(k)]
        recalls = [float(per_sample[self.code == c].mean()) for c in range(k)]
        of_folds = np.array([self._by_fold(self.right, self.codes == c) for c in range(k)])
        aucs: list[Measure | None] = [self._auc(c) for c in range(k)]
        known = [one for one in aucs if one is not None]
        auc = None
        if positive is not None:
            auc = aucs[int(np.flatnonzero(classes == positive)[0])]
        elif known:
            ends = np.mean([one.interval for one in known], axis=0)
            auc = Measure(float(np.mean([one.value for one in known])), Interval(*ends.tolist()))
        brier, brier_chance, calibrations = self._calibrated(positive)
        everyone = np.ones(len(self.codes), dtype=bool)
        return ClassPerformance(
            classes=classes,
            positive=positive,
            n_samples=len(self.samples),
            n_rounds=self.n_tests,
            confusion=np.round(confusion, 9),
            accuracy=self._measure(
                float(per_sample.mean()),
                self._by_fold(self.right, everyone),
                self._share(per_sample, np.ones(len(per_sample), dtype=bool)),
            ),
            balanced_accuracy=self._measure(
                float(np.mean(recalls)), of_folds.mean(axis=0), mean_interval(recalls, exact)
            ),
            recalls=tuple(
                self._measure(recalls[c], of_folds[c], exact[c]) for c in range(k)
            ),
            auc=auc,
            aucs=tuple(aucs),
            brier=brier,
            brier_chance=brier_chance,
            calibrations=calibrations,
            level=self.level,
        )  # fmt: skip

    def _measure(self, value: float, of_folds: NDArray[np.float64], exact: Interval) -> Measure:
        folds = corrected_t_interval(of_folds, *self.sizes, level=self.level)
        return Measure(value, joined(value, folds, exact, bounds=(0.0, 1.0)))

    def _by_fold(self, values: NDArray[Any], rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the mean over the rows of each fold, NaN where it has none."""
        n_folds = len(self.sizes[0])
        counts = np.bincount(self.found.fold[rows], minlength=n_folds)
        sums = np.bincount(self.found.fold[rows], values[rows].astype(float), minlength=n_folds)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def _share(self, right: NDArray[np.float64], rows: NDArray[np.bool_]) -> Interval:
        size = effective_size(right, self.units[rows], level=self.level)
        return binomial_interval(float(right.mean()) * size, size, level=self.level)

    def _auc(self, c: int) -> Measure | None:
        found = self.found
        if found.outputs is None or np.isnan(found.outputs[:, c]).any():
            return None
        own, value = self.codes == c, found.outputs[:, c]
        areas, counts = [], []
        for fold in range(len(found.responses)):
            inside = found.fold == fold
            mine, others = value[inside & own], np.sort(value[inside & ~own])
            if len(mine) and len(others):
                below, upto = (np.searchsorted(others, mine, side) for side in ("left", "right"))
                areas.append(float((below + upto).sum()) / (2 * len(mine) * len(others)))
                counts.append((len(others), len(mine)))
        if not areas:
            return None
        worth = min(
            effective_size(np.zeros(int(rows.sum())), self.units[rows]) / int(rows.sum())
            for rows in (self.code == c, self.code != c)
        )
        area = float(np.mean(areas))
        exact = auc_interval(
            area, counts, n_tests=self.n_tests / worth, excess=self.excess, level=self.level
        )
        everywhere = len(areas) == len(found.responses)
        of_folds = np.array(areas) if everywhere else np.full(len(found.responses), np.nan)
        return self._measure(area, of_folds, exact)

    def _calibrated(self, positive: Any) -> tuple[float, float, tuple[Calibration, ...]]:
        found, nothing = self.found, (float("nan"), float("nan"), ())
        if found.outputs is None or any(one != "predict_proba" for one in found.responses):
            return nothing
        which = range(len(self.classes))
        if positive is not None:
            which = [int(np.flatnonzero(self.classes == positive)[0])]  # type: ignore[assignment]
        each = tuple(
            calibration_of(
                found.outputs[:, c],
                self.codes == c,
                self.weights,
                label=self.classes[c],
                level=self.level,
            )
            for c in which
        )
        return sum(one.brier for one in each), sum(one.brier_chance for one in each), each
