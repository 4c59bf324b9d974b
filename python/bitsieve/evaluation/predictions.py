"""What the outer folds predicted of samples that they had not seen, one row a prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from bitsieve.evaluation.rows import n_rows, take_rows

__all__ = [
    "RESPONSES",
    "FoldOutputs",
    "Predictions",
    "outputs_of",
    "put_together",
    "replay",
    "response_methods",
    "score_of",
]

#: The outputs that are kept beside predictions.
RESPONSES = ("predict_proba", "decision_function")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Out-of-fold predictions: one row for each sample in each test part that holds it.

    Attributes
    ----------
    sample : int64 array of shape (n_predictions,)
        Positions of the samples. Repeated outer folds test a sample more than once.
    fold : int64 array of shape (n_predictions,)
        Which outer fold predicted, from 0.
    truth : array of shape (n_predictions,)
        The target of the sample.
    predicted : array of shape (n_predictions,)
        The class, or the number, that the estimator predicts from the selected features.
    full_predicted : array of shape (n_predictions,) or None
        What the same estimator predicts from all features; None where there is no such one.
    outputs : float64 array of shape (n_predictions, n_classes) or None
        Probabilities or decision values, a column a class, where the scorer needs them or the
        selector itself predicts. The
        decision value of the second of two classes stands in its column, and its negative in
        the first. A class that the training part lacks has probability 0 and no decision value
        (NaN).
    responses : tuple of n_folds str or None
        What the outputs of a fold are: ``"predict_proba"``, ``"decision_function"`` or None.
    classes : array of shape (n_classes,) or None
        The classes, sorted; None for a regressor.
    """

    sample: NDArray[np.int64]
    fold: NDArray[np.int64]
    truth: NDArray[Any]
    predicted: NDArray[Any]
    full_predicted: NDArray[Any] | None
    outputs: NDArray[np.float64] | None
    responses: tuple[str | None, ...]
    classes: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.sample)


class FoldOutputs(NamedTuple):
    """What one model says of the samples of one test part."""

    predicted: NDArray[Any]
    response: str | None
    values: NDArray[np.float64] | None
    classes: NDArray[Any] | None


def _has(name: str) -> Callable[[Any], bool]:
    return lambda model: bool(model.outputs.response == name)


class _Replay(BaseEstimator):  # type: ignore[misc]
    """An estimator that answers with stored outputs; its X holds their rows, shape (n, 1).

    So a scorer can score resampled predictions without a model.
    """

    def __init__(self, outputs: FoldOutputs) -> None:
        self.outputs = outputs
        if outputs.classes is not None:
            self.classes_ = outputs.classes

    def predict(self, X: NDArray[np.int64]) -> NDArray[Any]:
        """Return the stored predictions of the rows."""
        return self.outputs.predicted[X[:, 0]]

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the stored probabilities of the rows."""
        return self._respond(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the stored decision values of the rows."""
        return self._respond(X)

    def _respond(self, X: NDArray[np.int64]) -> NDArray[np.float64]:
        assert self.outputs.values is not None
        return self.outputs.values[X[:, 0]]


class _ClassifierReplay(ClassifierMixin, _Replay):  # type: ignore[misc]
    """The replay of a classifier, ``score`` included."""


class _RegressorReplay(RegressorMixin, _Replay):  # type: ignore[misc]
    """The replay of a regressor, ``score`` included."""


def replay(outputs: FoldOutputs) -> _Replay:
    """Return an estimator of the right kind that answers with stored outputs."""
    return (_RegressorReplay if outputs.classes is None else _ClassifierReplay)(outputs)


def response_methods(scorer: Any) -> tuple[str, ...]:
    """Return the methods beside ``predict`` whose outputs a scorer may ask for, best first.

    Parameters
    ----------
    scorer : callable
        What :func:`sklearn.metrics.check_scoring` returned. A function of one's own may ask for
        anything.
    """
    named: str | Sequence[str] | None = getattr(scorer, "_response_method", None)
    if named is None:
        return () if type(scorer).__name__ == "_PassthroughScorer" else RESPONSES
    named = (named,) if isinstance(named, str) else tuple(named)
    return tuple(name for name in named if name in RESPONSES)


def outputs_of(model: Any, X: Any, methods: Sequence[str]) -> FoldOutputs:
    """Return what a fitted model says of samples.

    Parameters
    ----------
    model : fitted estimator
    X : samples
    methods : sequence of str
        The first one that the model has is asked too, where it has classes.

    Returns
    -------
    FoldOutputs
        NaN for a model that does not predict.
    """
    classes = getattr(model, "classes_", getattr(model, "classes", None))
    method = next((name for name in methods if hasattr(model, name)), None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:  # a list of several targets
        classes = method = None
    predicts = hasattr(model, "predict")
    return FoldOutputs(
        np.asarray(model.predict(X)) if predicts else np.full(n_rows(X), np.nan),
        method,
        None if method is None else np.asarray(getattr(model, method)(X), dtype=np.float64),
        classes,
    )


def score_of(
    scorer: Callable[..., float], model: Any, outputs: FoldOutputs, X: Any, y: Any
) -> float:
    """Return the score of a model; a scorer of scikit-learn is not made to predict again."""
    if type(scorer).__name__ == "_Scorer" and (
        outputs.response is not None or getattr(scorer, "_response_method", None) == "predict"
    ):
        rows = np.arange(len(outputs.predicted))[:, None]
        return float(scorer(replay(outputs), rows, y))
    if type(scorer).__name__ == "_PassthroughScorer" and not hasattr(model, "score"):
        return float(replay(outputs).score(np.arange(len(outputs.predicted))[:, None], y))
    return float(scorer(model, X, y))


def put_together(
    y: Any,
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
    chosen: Sequence[FoldOutputs],
    full: Sequence[NDArray[Any] | None],
    *,
    is_classifier: bool,
) -> Predictions:
    """Return the outputs of all outer folds as one table.

    Parameters
    ----------
    y : target of n_samples
    folds : sequence of (train, test)
    chosen : sequence of n_folds FoldOutputs
        Of the selected features.
    full : sequence of n_folds arrays or None
        Predictions from all features.
    is_classifier : bool
        Whether the targets are classes.
    """
    tests = [test for _, test in folds]
    sample = np.concatenate(tests)
    classes = np.unique(np.asarray(y)) if is_classifier else None
    responses = tuple(outputs.response for outputs in chosen)
    everywhere = [one for one in full if one is not None]
    if len(everywhere) < len(folds):
        everywhere = []
    table = None
    if classes is not None and all(response is not None for response in responses):
        table = np.concatenate([_columns(outputs, classes) for outputs in chosen])
    return Predictions(
        sample=sample,
        fold=np.repeat(np.arange(len(tests)), [len(test) for test in tests]),
        truth=np.asarray(take_rows(y, sample)),
        predicted=np.concatenate([outputs.predicted for outputs in chosen]),
        full_predicted=None if not everywhere else np.concatenate(everywhere),
        outputs=table,
        responses=responses,
        classes=classes,
    )


def _columns(outputs: FoldOutputs, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the outputs of a fold with a column for each class of the whole table."""
    values, own = outputs.values, outputs.classes
    assert values is not None
    assert own is not None
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    absent = 0.0 if outputs.response == "predict_proba" else np.nan
    found = np.full((len(values), len(classes)), absent)
    if values.shape[1] == len(own):  # not so with decision values of pairs of classes
        found[:, np.searchsorted(classes, own)] = values
    else:
        found[:] = np.nan
    return found
