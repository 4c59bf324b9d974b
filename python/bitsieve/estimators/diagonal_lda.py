"""Diagonal linear discriminant analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve._checks import check_number

__all__ = ["DiagonalLDA"]


class DiagonalLDA(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear discriminant analysis with a diagonal covariance matrix, pooled over the classes.

    Gaussian classes of independent features with one variance a feature in all classes. A plain
    classifier that is hard to beat on expression data, where there are too few samples to learn
    how features vary together.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), optional
        Probabilities of the classes, which sum to 1; by default their shares of the training
        samples.
    var_smoothing : float, default=1e-9
        Above 0. What is added to the variance of a feature within the classes, as a portion of its
        variance over all training samples. Without it a feature that is constant within each
        class would divide by zero.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    priors_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
    variances_ : ndarray of shape (n_features,)
        Within the classes, smoothed; 0 for a feature that is constant over all training samples,
        which says nothing and is left out.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where ``X`` has names.

    See Also
    --------
    sklearn.naive_bayes.GaussianNB : A variance a class.
    sklearn.neighbors.NearestCentroid : Without variances where all priors are alike.

    Notes
    -----
    The discriminant score of class c is

    .. math:: \\log \\pi_c - \\frac12 \\sum_f (x_f - \\bar x_{cf})^2 / s_f^2,

    where :math:`s_f^2` is the sum of squares within the classes over n - C. Scaling a feature
    changes nothing.

    References
    ----------
    S. Dudoit, J. Fridlyand and T. P. Speed (2002). Comparison of discrimination methods for the
    classification of tumors using gene expression data. Journal of the American Statistical
    Association 97, 77-87.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from bitsieve import DiagonalLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(DiagonalLDA(), X, y).mean().round(3)
    np.float64(0.96)
    """

    def __init__(self, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def fit(self, X: ArrayLike, y: ArrayLike | Sequence[Any]) -> DiagonalLDA:
        """Learn means and variances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        DiagonalLDA

        Raises
        ------
        ValueError
            If there are not two classes, no more samples than classes, or if parameters are not
            as told above.
        """
        smoothing = check_number("var_smoothing", self.var_smoothing, 0.0)
        values, target = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        n_samples, n_classes = len(codes), len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                f"y must have two classes or more, got one class: {self.classes_.tolist()[0]!r}"
            )
        if n_samples <= n_classes:
            raise ValueError(
                f"X must have more samples than classes, got {n_samples} samples of {n_classes} "
                "classes; a variance within the classes needs one with two samples"
            )
        counts = np.bincount(codes)
        self.priors_ = counts / n_samples
        if self.priors is not None:
            self.priors_ = self._checked_priors(n_classes)
        self.means_ = np.stack([values[codes == c].mean(axis=0) for c in range(n_classes)])
        within = np.square(values - self.means_[codes]).sum(axis=0) / (n_samples - n_classes)
        variances = within + smoothing * values.var(axis=0)
        self.variances_ = np.where(np.ptp(values, axis=0) > 0, variances, 0.0)
        return self

    def _checked_priors(self, n_classes: int) -> NDArray[np.float64]:
        priors = np.asarray(self.priors)
        if priors.shape != (n_classes,) or priors.dtype.kind not in "iuf":
            raise ValueError(
                f"priors must be {n_classes} numbers, one a class in sorted order, "
                f"got {self.priors!r}"
            )
        if not (np.isfinite(priors) & (priors > 0)).all() or not np.isclose(priors.sum(), 1):
            raise ValueError(f"priors must be above 0 and sum to 1, got {self.priors!r}")
        return priors.astype(np.float64)

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        used = self.variances_ > 0
        scale = np.sqrt(self.variances_[used])
        Z, means = values[:, used] / scale, self.means_[:, used] / scale
        distances = [np.square(Z - mean).sum(axis=1) for mean in means]
        scores: NDArray[np.float64] = np.log(self.priors_) - 0.5 * np.stack(distances, axis=1)
        return scores

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the discriminant scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes the score of the second less that of the first.
        """
        scores = self._scores(X)
        if len(self.classes_) > 2:
            return scores
        return np.asarray(scores[:, 1] - scores[:, 0])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the greatest score, the first of equals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        apart = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(apart - np.log(np.exp(apart).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return posterior probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))
