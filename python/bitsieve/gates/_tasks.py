"""What a classifier and a regressor behind gates learn, and how they answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.data import Table
from bitsieve.gates.losses import CrossEntropy, Loss, SquaredError
from bitsieve.gates.problem import Problem

__all__ = ["ClassifierTask", "RegressorTask"]


class ClassifierTask:
    """Classes, by softmax and cross-entropy."""

    _TASK = "classification"
    _outputs: Any
    classes_: NDArray[Any]

    def _make_loss(self, table: Table) -> Loss:
        assert table.classes is not None
        return CrossEntropy(len(table.classes))

    def _target(self, table: Table) -> NDArray[Any]:
        assert table.codes is not None
        return table.codes.astype(np.int64)

    def _store(self, found: Any, problem: Problem) -> None:
        super()._store(found, problem)  # type: ignore[misc]
        #: Classes whose samples all weigh nothing: nothing is learnt of them.
        self._absent = _shares(problem) == 0.0

    def _class_outputs(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs; those of classes that weigh nothing are far below all others."""
        outputs: NDArray[np.float64] = self._outputs(X)
        if self._absent.any():
            outputs = outputs.copy()
            outputs[:, self._absent] = outputs.min(axis=1, keepdims=True) - 1e4
        return outputs

    def _prior(self, problem: Problem) -> NDArray[np.float64]:
        share = _shares(problem)
        log: NDArray[np.float64] = np.log(
            np.maximum(share, np.finfo(np.float64).tiny) / share.sum()
        )
        return log

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        float64 array of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        from scipy.special import softmax

        found: NDArray[np.float64] = softmax(self._class_outputs(X), axis=1)
        return found

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return how sure the classes are: logarithms of their odds.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        float64 array of shape (n_samples,) for two classes, else (n_samples, n_classes)
            Above 0 the second of two is predicted, the greatest of more.
        """
        outputs = self._class_outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each sample.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        codes = self._class_outputs(X).argmax(axis=1)  # refuses what is not fitted
        labels: NDArray[Any] = self.classes_[codes]
        return labels


def _shares(problem: Problem) -> NDArray[np.float64]:
    """Return what the samples of each class weigh together."""
    weight = None if problem.all.weight is None else problem.all.weight.cpu().numpy()
    codes = problem.all.target.cpu().numpy()
    return np.bincount(codes, weight, minlength=problem.loss.n_outputs).astype(np.float64)


class RegressorTask:
    """Numbers, by squared error."""

    _TASK = "regression"
    _outputs: Any

    def _make_loss(self, table: Table) -> Loss:
        return SquaredError()

    def _target(self, table: Table) -> NDArray[Any]:
        assert table.y is not None
        y = table.y.astype(np.float64)
        largest = float(np.abs(y).max())
        if largest > 1e150 or 0 < largest < 1e-150:
            raise ValueError(
                f"y holds values of {largest:.3g}, which cannot be standardised: bring it to "
                "another unit, between 1e-150 and 1e+150"
            )
        spread = float(y.std())
        self._y_mean = float(y.mean())
        self._y_spread = spread if spread > 1e-10 * largest else 1.0
        return ((y - self._y_mean) / self._y_spread).astype(np.float32)

    def _prior(self, problem: Problem) -> NDArray[np.float64]:
        weight = None if problem.all.weight is None else problem.all.weight.cpu().numpy()
        return np.array([np.average(problem.all.target.cpu().numpy(), weights=weight)])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted number of each sample.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        float64 array of shape (n_samples,)
        """
        found: NDArray[np.float64] = self._outputs(X)[:, 0] * self._y_spread + self._y_mean
        return found
