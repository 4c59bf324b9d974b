"""scikit-learn's scorers on outputs of a model, where the core has no score or no value."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring

from bitsieve.data import Table
from bitsieve.fitness.scoring import READS, Reads, response_of
from bitsieve.fitness.splits import Split

__all__ = ["OutputScorer"]

_MAX_KNOWN = 10_000  # scores of splits


class OutputScorer:
    """scikit-learn's own scorer on a model's outputs, where it has no compiled score or no value.

    Parameters
    ----------
    estimator : scikit-learn estimator
    scoring : str, callable or None
        One that :func:`refusal_of_scoring` takes.
    table : Table

    Attributes
    ----------
    reads : {"classes", "probabilities", "decisions", "numbers"}
        What the outputs must hold.

    Notes
    -----
    Scorers of scikit-learn ask an estimator for its answers, and look at X no further. To its own
    functions the order of the samples means nothing: they are given them by class and output, and
    equal ones, of whatever mask and split, are scored once. Of predicted classes few are new.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.data import Table
    >>> table = Table(np.eye(4), ["a", "b", "a", "b"])
    >>> scorer = OutputScorer(KNeighborsClassifier(1), "rand_score", table)
    >>> split = (np.array([0, 1]), np.array([2, 3]))
    >>> scorer.score([split], classes=np.array([0, 0], np.int32))
    array([0.])
    """

    def __init__(self, estimator: Any, scoring: Any, table: Table) -> None:
        self._scorer = check_scoring(estimator, scoring=scoring)
        self._table = table
        self._known: dict[Any, float] = {}
        response = "predict" if scoring is None else response_of(estimator, self._scorer)
        assert response is not None
        self.reads: Reads = "numbers" if table.codes is None else READS[response]
        function = getattr(self._scorer, "_score_func", None)
        self._is_ordered = not getattr(function, "__module__", "sklearn.").startswith("sklearn.")

    def score(
        self,
        splits: Sequence[Split],
        *,
        classes: NDArray[np.int32] | None = None,
        values: NDArray[np.float64] | None = None,
        reads: Reads | None = None,
        scores: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the score of each split for the outputs of one mask.

        Parameters
        ----------
        splits : sequence of (ndarray, ndarray)
            Training and test samples.
        classes : ndarray of shape (n_tests,), optional
            Positions in the table's classes of what is predicted for the test samples, split by
            split.
        values : ndarray of shape (n_tests, n_values), optional
        reads : {"probabilities", "decisions", "numbers"}, optional
            What the values are, by default what the scorer reads.
        scores : ndarray of shape (n_splits,), optional
            Scores so far; only those that are NaN are made.

        Returns
        -------
        ndarray of shape (n_splits,)

        Raises
        ------
        ValueError
            What the scorer says of outputs that it refuses.
        """
        out = np.full(len(splits), np.nan) if scores is None else scores.copy()
        kind = self.reads if reads is None else reads
        if self.reads == "classes" and classes is not None:
            values = None
        begin = 0
        for s, (train, test) in enumerate(splits):
            rows = slice(begin, begin + len(test))
            begin += len(test)
            if np.isnan(out[s]):
                parts = [None if a is None else a[rows] for a in (classes, values)]
                out[s] = self._of_split(train, test, parts[0], parts[1], kind)
        return out

    def _of_split(self, train: Any, test: Any, classes: Any, values: Any, kind: Reads) -> float:
        codes = self._table.codes
        truth = self._table.y if codes is None else codes
        assert truth is not None
        columns = [truth[test]]
        columns += [] if values is None else list(values.T)
        columns += [] if classes is None else [classes]
        if not self._is_ordered:
            order = np.lexsort(columns[::-1])
            test = test[order]
            classes = None if classes is None else classes[order]
            values = None if values is None else values[order]
            columns = [column[order] for column in columns]
        trained = None if codes is None else np.unique(codes[train])
        held = () if trained is None else tuple(trained.tolist())
        key = (kind, held, *(column.tobytes() for column in columns))
        value = self._known.get(key)
        if value is None:
            value = self._ask(trained, test, classes, values, kind)
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = value
        return value

    def _ask(self, trained: Any, test: Any, classes: Any, values: Any, kind: Reads) -> float:
        table = self._table
        assert table.y is not None
        fitted: Any
        if trained is None:
            fitted = _Numbers(values[:, 0])
        else:
            assert table.classes is not None
            if classes is None:  # the first of equals
                classes = trained[np.argmax(values[:, trained], axis=1)]
            known, predicted = table.classes[trained], table.classes[classes]
            if kind == "probabilities" and values is not None:
                fitted = _Probabilities(known, predicted, values[:, trained])
            elif kind == "decisions" and values is not None:
                fitted = _Decisions(known, predicted, _as_decisions(values, trained))
            else:
                fitted = _Classes(known, predicted)
        return _as_number(self._scorer(fitted, None, table.y[test]))


def _as_number(score: Any) -> float:
    """Return a score as float; as in scikit-learn an array of one number is one."""
    number = score.item() if getattr(score, "size", 0) == 1 else score
    if not isinstance(number, Number):
        raise ValueError(f"scoring must return a number, got {score} ({type(score)}) instead")
    return float(number)  # type: ignore[arg-type]


def _as_decisions(values: NDArray[np.float64], trained: NDArray[Any]) -> NDArray[np.float64]:
    """Return decision values as scikit-learn has them: a vector where there are two classes."""
    if values.shape[1] == 1:
        return values[:, 0]
    chosen: NDArray[np.float64] = values[:, trained]
    return chosen[:, 1] - chosen[:, 0] if chosen.shape[1] == 2 else chosen


class _Answered(BaseEstimator):  # type: ignore[misc]
    """A fitted estimator that has already answered, for scorers that ask one."""

    _predicted: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        return self._predicted

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _Numbers(RegressorMixin, _Answered):  # type: ignore[misc]
    def __init__(self, predicted: NDArray[np.float64]) -> None:
        self._predicted = predicted


class _Classes(ClassifierMixin, _Answered):  # type: ignore[misc]
    def __init__(self, classes: NDArray[Any], predicted: NDArray[Any]) -> None:
        self.classes_ = classes
        self._predicted = predicted


class _Probabilities(_Classes):
    def __init__(self, classes: Any, predicted: Any, values: NDArray[np.float64]) -> None:
        super().__init__(classes, predicted)
        self._values = values

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self._values


class _Decisions(_Classes):
    def __init__(self, classes: Any, predicted: Any, values: NDArray[np.float64]) -> None:
        super().__init__(classes, predicted)
        self._values = values

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self._values
