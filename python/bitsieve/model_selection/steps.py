"""Steps of a model's pipeline that scikit-learn has none of."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve._checks import check_int
from bitsieve.panels import Scaling, ranker_by_name

__all__ = ["LogIntensities", "RankedFeatures"]


class LogIntensities(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Logarithms (base 2) of intensities that are raised to a floor first, as in panels.

    Attributes
    ----------
    floor_ : float
        A hundredth of the 99th percentile of the training values.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> logged = LogIntensities().fit_transform(np.array([[1.0, 64.0], [512.0, 800.0]]))
    >>> logged.round(1).tolist()
    [[3.0, 6.0], [9.0, 9.6]]
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn the floor.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        LogIntensities

        Raises
        ------
        ValueError
            If 99 % of the values are not above 0.
        """
        values = validate_data(self, X, dtype=np.float64)
        floor = Scaling.fit(values, log="always").floor
        assert floor is not None
        self.floor_ = floor
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        logged: NDArray[np.float64] = np.log2(np.maximum(values, self.floor_))
        return logged


class RankedFeatures(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """The best features of a ranker of panels, which standardises them for itself.

    Parameters
    ----------
    ranker : str, default "f"
        Any of :func:`bitsieve.panels.ranker_by_name`.
    n_features_to_select : int, default 10
        All, where there are fewer.
    depth : int, optional
        How many are ranked, at least as many as are selected.
    seed : int, default 0
        For rankers that draw.
    order : int array, optional
        Positions of the best features that are known already; nothing is ranked then.

    Attributes
    ----------
    order_ : int64 array
        Positions, best first: as many as were ranked.
    support_ : bool array of shape (n_features_in_,)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> RankedFeatures("f", n_features_to_select=2).fit(*load_iris(return_X_y=True)).order_
    array([2, 3])
    """

    def __init__(
        self,
        ranker: str = "f",
        *,
        n_features_to_select: int = 10,
        depth: int | None = None,
        seed: int = 0,
        order: NDArray[np.int64] | None = None,
    ) -> None:
        self.ranker = ranker
        self.n_features_to_select = n_features_to_select
        self.depth = depth
        self.seed = seed
        self.order = order

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Rank the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        RankedFeatures

        Raises
        ------
        ValueError
            For an unknown ranker, or what it says about X and y.
        """
        wanted = check_int("n_features_to_select", self.n_features_to_select, 1)
        values, target = validate_data(self, X, y, dtype=np.float64)
        if self.order is None:
            check_classification_targets(target)
            ranker = ranker_by_name(self.ranker)
            depth = wanted if self.depth is None else max(wanted, check_int("depth", self.depth, 1))
            Z = Scaling.fit_apply(values, log="never")[1]
            classes, codes = np.unique(target, return_inverse=True)
            if len(classes) < 2:
                raise ValueError(
                    f"y must have two classes or more, got one class: {classes.tolist()[0]!r}"
                )
            self.order_ = ranker.rank(Z, codes, min(depth, Z.shape[1]), seed=self.seed)
        else:
            self.order_ = np.asarray(self.order, dtype=np.int64)
        self.support_ = np.zeros(values.shape[1], dtype=bool)
        self.support_[self.order_[:wanted]] = True
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
