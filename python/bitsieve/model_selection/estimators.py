"""Classifiers of models by name, with the ranges of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve.estimators import DiagonalLDA, KernelRidgeClassifier
from bitsieve.model_selection.dimensions import Choice, Dimension, Real, Whole
from bitsieve.panels import Classifier, LinearSVM, ShrunkenLDA, predicted_codes

__all__ = ["ESTIMATORS", "GramClassifier", "NamedEstimator"]


class GramClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier of panels, fitted from inner products, as a scikit-learn estimator.

    Features are centred and all divided by one number, the root of their mean variance, so that
    the cost of a support vector machine means the same in any unit; of standardised ones it is 1.

    Parameters
    ----------
    classifier : ShrunkenLDA, LinearSVM or RidgeLOO, optional
        By default ``ShrunkenLDA()``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    center_ : ndarray of shape (n_features,)
        Means of the training samples.
    scale_ : float
    coef_ : ndarray of shape (n_features, n_functions)
    intercept_ : ndarray of shape (n_functions,)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from bitsieve.model_selection import GramClassifier
    >>> from bitsieve.panels import ShrunkenLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(GramClassifier(ShrunkenLDA(shrinkage=0.01)), X, y).mean().round(2)
    np.float64(0.98)
    """

    def __init__(self, classifier: Classifier | None = None) -> None:
        self.classifier = classifier

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the classifier to the Gram matrix of the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        GramClassifier

        Raises
        ------
        ValueError
            If there are not two classes.
        """
        values, target = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must have two classes or more, got one class: {self.classes_.tolist()[0]!r}"
            )
        self.center_ = values.mean(axis=0)
        Z = values - self.center_
        self.scale_ = float(np.sqrt(np.square(Z).mean())) or 1.0
        Z /= self.scale_
        classifier = ShrunkenLDA() if self.classifier is None else self.classifier
        fitted: Any = classifier.fit(Z @ Z.T, codes, len(self.classes_), n_features=Z.shape[1])
        self.coef_, self.intercept_ = Z.T @ fitted.dual, fitted.intercept
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the decisions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes that of the second.
        """
        decisions = self._decisions(X)
        return decisions[:, 0] if len(self.classes_) == 2 else decisions

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the greatest decision, the first of equals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        codes = predicted_codes(self._decisions(X))
        return np.asarray(self.classes_[codes])

    def _decisions(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        decisions: NDArray[np.float64] = (values - self.center_) / self.scale_ @ self.coef_
        decisions += self.intercept_
        return decisions


@dataclass(frozen=True)
class NamedEstimator:
    """A classifier and what is searched of it.

    Attributes
    ----------
    name : str
    dimensions : tuple of Dimension
    kernels_of : mapping of str to tuple of str
        Of a parameter that only some kernels have, these; with others it is not searched.
    """

    name: str
    dimensions: tuple[Dimension, ...]
    _make: Callable[[Mapping[str, Any], int], Any]
    kernels_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def make(self, parameters: Mapping[str, Any], n_features: int) -> Any:
        """Return a new classifier.

        Parameters
        ----------
        parameters : mapping
            A value for each dimension that counts.
        n_features : int
            That it will see.
        """
        return self._make(parameters, n_features)


def _kernel_ridge(parameters: Mapping[str, Any], n_features: int) -> Any:
    given = dict(parameters)
    if "gamma" in given:
        given["gamma"] /= n_features
    return KernelRidgeClassifier(**given)


#: By name. ``gamma`` of kernels is a multiple of one over the number of features.
ESTIMATORS: Mapping[str, NamedEstimator] = MappingProxyType(
    {
        one.name: one
        for one in (
            NamedEstimator(
                "lda",
                (Real("shrinkage", 1e-3, 1.0),),
                lambda given, _: GramClassifier(ShrunkenLDA(**given)),
            ),
            NamedEstimator(
                "svm", (Real("C", 1e-3, 1e2),), lambda given, _: GramClassifier(LinearSVM(**given))
            ),
            NamedEstimator(
                "ridge", (Real("alpha", 1e-2, 1e4),), lambda given, _: RidgeClassifier(**given)
            ),
            NamedEstimator(
                "kridge",
                (
                    Choice("kernel", ("linear", "poly", "rbf")),
                    Real("alpha", 1e-4, 1e2),
                    Real("gamma", 1e-2, 1e2),
                    Whole("degree", 1, 4),
                ),
                _kernel_ridge,
                {"gamma": ("poly", "rbf"), "degree": ("poly",)},
            ),
            NamedEstimator(
                "nb", (Real("var_smoothing", 1e-9, 1.0),), lambda given, _: GaussianNB(**given)
            ),
            NamedEstimator(
                "dlda", (Real("var_smoothing", 1e-9, 1.0),), lambda given, _: DiagonalLDA(**given)
            ),
            NamedEstimator(
                "knn",
                (Whole("n_neighbors", 1, 30), Choice("weights", ("uniform", "distance"))),
                lambda given, _: KNeighborsClassifier(**given),
            ),
        )
    }
)
