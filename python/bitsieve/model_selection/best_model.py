"""What a finished search predicts and selects: all of it by the model that was best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve.data import Table

__all__ = ["BestModel"]


def _best_has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(getattr(self, "best_estimator_", None), name)


class BestModel:
    """The methods of a search that answer by its best model."""

    scoring: str | Callable[..., float]

    # Of a fit.
    best_estimator_: Pipeline
    support_: NDArray[np.bool_]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes by the best model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features_in_)

        Returns
        -------
        array of shape (n_samples,)
        """
        values = self._checked(X)
        return np.asarray(self.best_estimator_.predict(values))

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict probabilities of the classes, where the best model has them.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features_in_)

        Returns
        -------
        float64 array of shape (n_samples, n_classes)
        """
        values = self._checked(X)
        return np.asarray(self.best_estimator_.predict_proba(values))

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the decisions of the best model, where it has them.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features_in_)

        Returns
        -------
        float64 array of shape (n_samples,) or (n_samples, n_classes)
        """
        values = self._checked(X)
        return np.asarray(self.best_estimator_.decision_function(values))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the best model by ``scoring``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_in_)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        scorer = check_scoring(GaussianNB(), scoring=self.scoring)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(scorer(self.best_estimator_, self._checked(X), y, **given))

    def refit(
        self, X: Any, y: Any, *, groups: ArrayLike | None = None, random_state: Any = None
    ) -> NDArray[np.bool_]:
        """Select on other samples by the ranker and the size of the best model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_in_)
        y : array-like of shape (n_samples,)
        groups, random_state : ignored
            Nothing is split or drawn.

        Returns
        -------
        bool array of shape (n_features_in_,)
        """
        table = Table(self._checked(X), y, task="classification")
        if isinstance(self.best_estimator_["select"], str):
            return np.ones(table.n_features, dtype=bool)
        steps = clone(self.best_estimator_[:2]).fit(table.X, table.codes)
        support: NDArray[np.bool_] = steps[-1].support_
        return support

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_
