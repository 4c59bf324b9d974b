"""Classification by kernel ridge regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

__all__ = ["KernelRidgeClassifier"]


class KernelRidgeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel ridge regression of classes coded as -1 and 1.

    What ``RidgeClassifier`` is to ``Ridge``, this is to ``KernelRidge``: a regression for each
    class against the others, one alone of two classes, and the class of the greatest value. It is
    also known as the least-squares support vector machine without a bias.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty, above 0.
    kernel : str or callable, default="linear"
        "linear", "rbf", "poly", or what else ``KernelRidge`` takes.
    gamma : float, optional
        Of "rbf", "poly" and others; by default one over the number of features.
    degree : float, default=3
        Of "poly".
    coef0 : float, default=1
        Of "poly" and "sigmoid".
    class_weight : dict or "balanced", optional
        Weights of the classes; "balanced" gives each of them the same weight in all.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    regressor_ : sklearn.kernel_ridge.KernelRidge
        Fitted to -1 and 1, with ``dual_coef_`` of shape (n_samples,), or of more than two classes
        (n_samples, n_classes).
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where ``X`` has names.

    See Also
    --------
    sklearn.linear_model.RidgeClassifier : Linear, with an intercept that is not penalised.

    Notes
    -----
    As in ``KernelRidge`` there is no intercept. ``kernel="poly", degree=1`` is the linear kernel
    with a penalised one.

    References
    ----------
    C. Saunders, A. Gammerman and V. Vovk (1998). Ridge regression learning algorithm in dual
    variables. International Conference on Machine Learning, 515-521.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from bitsieve import KernelRidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(KernelRidgeClassifier(kernel="rbf", alpha=0.1), X, y).mean().round(3)
    np.float64(0.973)
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | Sequence[Any],
        sample_weight: ArrayLike | None = None,
    ) -> KernelRidgeClassifier:
        """Fit a regression for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        KernelRidgeClassifier

        Raises
        ------
        ValueError
            If there are not two classes, or if a parameter is one that ``KernelRidge`` refuses.
        """
        values, target = validate_data(self, X, y, accept_sparse=("csr", "csc"))
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                f"y must have two classes or more, got one class: {self.classes_.tolist()[0]!r}"
            )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, values)
        if self.class_weight is not None:
            of_classes = compute_sample_weight(self.class_weight, target)
            weights = of_classes if weights is None else weights * of_classes
        targets = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
        self.regressor_ = KernelRidge(
            alpha=self.alpha,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
        ).fit(values, targets[:, 1] if n_classes == 2 else targets, weights)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the values of the regressions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes that of the second.
        """
        check_is_fitted(self)
        values = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False)
        return np.asarray(self.regressor_.predict(values))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the greatest value, the first of equals.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decisions = self.decision_function(X)
        codes = decisions.argmax(axis=1) if decisions.ndim == 2 else (decisions > 0).astype(int)
        return np.asarray(self.classes_[codes])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
