"""A fixed panel on samples from elsewhere, whose classes are known: the external test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_choice, check_number
from bitsieve._errors import plural, shorten
from bitsieve.data import Table
from bitsieve.evaluation.interval import Interval, auc_interval, binomial_interval, mean_interval

if TYPE_CHECKING:
    from bitsieve.panels import Panel, PanelPrediction

__all__ = ["ExternalResult", "external_result"]

_SCORES = ("accuracy", "balanced_accuracy")


@dataclass(frozen=True, eq=False)
class ExternalResult:
    """How a panel did on samples that had no part in making it.

    Attributes
    ----------
    n_samples : int
    classes : array of shape (n_classes,)
        Of the panel.
    truth : int64 array of shape (n_samples,)
        Positions in `classes`.
    prediction : PanelPrediction
    missing : tuple of str
        Features of the panel that were not measured.
    confusion : int64 array of shape (n_classes, n_classes)
        Samples of each class (rows) that were predicted as each class (columns).
    scoring : str
    score : float
    interval : Interval
        Clopper and Pearson's for the accuracy; for the balanced accuracy their combination over
        the classes. Samples are taken as independent.
    accuracy, accuracy_interval
        Whatever `scoring` is.
    recalls : float64 array of shape (n_classes,)
        Share of each class that was predicted rightly, NaN for a class without samples.
    recall_intervals : tuple of n_classes Interval or None
    auc : float
        Area under the ROC curve of the second of two classes; NaN for more, or for one alone.
    auc_interval : Interval or None
    level : float
        Of confidence.
    """

    n_samples: int
    classes: NDArray[Any]
    truth: NDArray[np.int64]
    prediction: PanelPrediction
    missing: tuple[str, ...]
    confusion: NDArray[np.int64]
    scoring: str
    score: float
    interval: Interval
    accuracy: float
    accuracy_interval: Interval
    recalls: NDArray[np.float64]
    recall_intervals: tuple[Interval | None, ...]
    auc: float
    auc_interval: Interval | None
    level: float

    def sentences(self) -> list[str]:
        """Return the numbers in words, one sentence each."""
        sure = f"{100 * self.level:g} % interval"

        def percent(value: float, interval: Interval | None) -> str:
            assert interval is not None
            return (
                f"{100 * value:.1f} % ({sure} {100 * interval[0]:.1f} to {100 * interval[1]:.1f})"
            )

        wrong = self.n_samples - int(np.trace(self.confusion))
        low, high = self.accuracy_interval
        said = [
            f"Error on {plural(self.n_samples, 'sample')}: "
            f"{percent(1.0 - self.accuracy, Interval(1.0 - high, 1.0 - low))}, {wrong} wrong."
        ]
        if self.scoring == "balanced_accuracy":
            turned = Interval(1.0 - self.interval[1], 1.0 - self.interval[0])
            said.append(f"Balanced error: {percent(1.0 - self.score, turned)}.")
        for place, label in enumerate(self.classes):
            if self.recall_intervals[place] is not None:
                right, count = self.confusion[place, place], int(self.confusion[place].sum())
                shown = percent(self.recalls[place], self.recall_intervals[place])
                said.append(f"Of {label}, {right} of {count} were predicted as such: {shown}.")
        if self.auc_interval is not None:
            low, high = self.auc_interval
            said.append(
                f"Area under the ROC curve: {self.auc:.3f} ({sure} {low:.3f} to {high:.3f})."
            )
        return said

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for a record."""
        return {
            "n_samples": self.n_samples,
            "scoring": self.scoring,
            "score": self.score,
            "interval": list(self.interval),
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "level": self.level,
            "confusion": self.confusion.tolist(),
            "classes": self.classes.tolist(),
            "recalls": [None if np.isnan(one) else float(one) for one in self.recalls],
            "auc": None if np.isnan(self.auc) else self.auc,
            "auc_interval": None if self.auc_interval is None else list(self.auc_interval),
            "missing": list(self.missing),
        }


def external_result(
    panel: Panel,
    table: Table,
    *,
    scoring: str = "accuracy",
    max_missing: float = 0.1,
    level: float = 0.95,
) -> ExternalResult:
    """Predict the samples of a table by a fixed panel, and compare with their classes.

    The number is honest as long as the table had no part in anything: it is opened once, after
    the panel was fixed, and nothing is changed because of it.

    Parameters
    ----------
    panel : Panel
    table : Table
        With a target; made or read with ``to_predict=True`` it may hold one sample or one class.
    scoring : {"accuracy", "balanced_accuracy"}, default "accuracy"
    max_missing : float, default 0.1
        As for :func:`bitsieve.panels.predict_table`.
    level : float, default 0.95

    Returns
    -------
    ExternalResult

    Raises
    ------
    ValueError
        If the table has no target, or one with classes that the panel does not know; or as
        :func:`bitsieve.panels.predict_table` says.

    References
    ----------
    Clopper and Pearson (1934), Zou and Donner (2008), Newcombe (2006), as in
    :mod:`bitsieve.evaluation.interval`.

    Examples
    --------
    >>> from bitsieve.data import Table
    >>> from bitsieve.evaluation import external_result
    >>> from bitsieve.panels import Panel
    >>> panel = Panel.from_json('''{
    ...   "format": "bitsieve panel", "schema": 1, "version": "0.1.0",
    ...   "classes": ["sick", "well"], "thresholds": null, "n_features_in": 9, "columns": [4],
    ...   "feature_names": ["tp53"],
    ...   "members": [{
    ...     "selector": "f", "classifier": "lda", "features": [4], "log_floor": null,
    ...     "center": [5.0], "scale": [2.0], "coefficients": [[1.0]], "intercept": [0.0],
    ...     "calibration": {"slope": 1.0, "offset": [0.0]}}]}''')
    >>> table = Table([[9.0], [2.0], [7.0], [6.0]], ["well", "sick", "well", "sick"],
    ...               names=["tp53"])
    >>> print(external_result(panel, table).sentences()[0])
    Error on 4 samples: 25.0 % (95 % interval 0.6 to 80.6), 1 wrong.
    """
    from bitsieve.panels import predict_table

    check_choice("scoring", scoring, _SCORES)
    check_number("level", level, 0, 1, hint="0.95 asks for a 95 % interval")
    truth = _codes_of(table, panel.classes)
    found = predict_table(panel, table, max_missing=max_missing)
    n_classes, n = len(panel.classes), len(truth)
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(confusion, (truth, found.prediction.codes), 1)
    counts, right = confusion.sum(axis=1), np.diagonal(confusion)
    there = counts > 0
    recalls = np.divide(right, counts, out=np.full(n_classes, np.nan), where=there)
    intervals = tuple(
        binomial_interval(float(r), float(c), level=level) if c else None
        for r, c in zip(right, counts, strict=True)
    )
    accuracy = float(right.sum() / n)
    exact = binomial_interval(float(right.sum()), float(n), level=level)
    score, interval = accuracy, exact
    if scoring == "balanced_accuracy":
        score = float(recalls[there].mean())
        interval = mean_interval(recalls[there], [one for one in intervals if one is not None])
        interval = Interval(max(0.0, interval.low), min(1.0, interval.high))
    auc, of_auc = float("nan"), None
    if n_classes == 2 and there.all():
        auc = _auc(found.prediction.probabilities[:, 1], truth == 1)
        of_auc = auc_interval(auc, [counts.tolist()], level=level)
    return ExternalResult(
        n_samples=n,
        classes=panel.classes,
        truth=truth,
        prediction=found.prediction,
        missing=found.missing,
        confusion=confusion,
        scoring=scoring,
        score=score,
        interval=interval,
        accuracy=accuracy,
        accuracy_interval=exact,
        recalls=recalls,
        recall_intervals=intervals,
        auc=auc,
        auc_interval=of_auc,
        level=level,
    )


def _codes_of(table: Table, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Positions of a table's labels in the panel's classes."""
    if table.y is None:
        raise ValueError("the classes of the samples are needed to say how well they are predicted")
    labels = table.y.tolist()
    known: Sequence[Any] = classes.tolist()
    if not (_are_numbers(labels) and _are_numbers(known)):
        # A file tells text and numbers apart by what it holds: 1 and "1" are one class.
        labels, known = [str(one) for one in labels], [str(one) for one in known]
    places = {label: place for place, label in enumerate(known)}
    other = sorted({str(one) for one in labels if one not in places})
    if other:
        raise ValueError(
            f"the target holds {'classes' if len(other) > 1 else 'a class'} that the panel does "
            f"not know: {shorten(other)}; it knows {shorten(classes.tolist())}"
        )
    return np.array([places[one] for one in labels], dtype=np.int64)


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(one, (bool, int, float)) for one in values)


def _auc(values: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Share of the pairs of both classes that stand in the right order, ties half."""
    mine, others = values[positive], np.sort(values[~positive])
    below, upto = (np.searchsorted(others, mine, side) for side in ("left", "right"))
    return float((below + upto).sum()) / (2 * len(mine) * len(others))
