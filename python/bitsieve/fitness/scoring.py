"""From out-of-fold predictions to a scorer's number."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score, balanced_accuracy_score, check_scoring

BuiltIn = Literal["accuracy", "balanced_accuracy"]


def built_in(estimator: Any, scoring: Any) -> BuiltIn | None:
    """Return the score that the kernels count themselves, or None for any other scorer."""
    scorer = check_scoring(estimator, scoring=scoring)
    if scoring is None:
        return "accuracy"  # a classifier's own score method
    function = getattr(scorer, "_score_func", None)
    if getattr(scorer, "_kwargs", None) or getattr(scorer, "_sign", 0) != 1:
        return None
    if function is accuracy_score:
        return "accuracy"
    if function is balanced_accuracy_score:
        return "balanced_accuracy"
    return None


def needs_predictions_only(scoring: Any) -> bool:
    """Tell whether a scorer asks an estimator for predictions and nothing else.

    scikit-learn's scorers do. A callable of the user's own may look at the estimator or at the
    columns of X.
    """
    return scoring is None or isinstance(scoring, str) or hasattr(scoring, "_score_func")


class Predicted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier that has already answered, for scorers that ask one.

    Parameters
    ----------
    probabilities : ndarray of shape (n_test, n_classes)
        For the classes of the training set.
    classes : ndarray of shape (n_classes,)
    """

    def __init__(self, probabilities: NDArray[np.float64], classes: NDArray[Any]) -> None:
        self.probabilities = probabilities
        self.classes = classes
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        # argmax takes the first of equals: a tied vote goes to the lowest class.
        answer: NDArray[Any] = self.classes[np.argmax(self.probabilities, axis=1)]
        return answer

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self.probabilities

    def __sklearn_is_fitted__(self) -> bool:
        return True
