"""Discretizer: levels instead of numbers, as a step of a pipeline."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bitsieve.data.refusals import needs_target, refuse_what_scikit_learn_refuses
from bitsieve.discrete import CutCost, Method, Missing, find_cuts

__all__ = ["Discretizer"]


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cut every column into levels, at cut points that training samples alone decide.

    Supervised cut points look at y. Cutting a whole table before cross-validation lets the test
    folds leak into the levels; as a step of a pipeline this transformer sees training folds only.

    Parameters
    ----------
    method : {"mdl", "equal_width", "equal_frequency", "mean_sd", "user"}, default "mdl"
        See :func:`bitsieve.filters.discretize`; ``"mdl"`` alone needs y, class labels.
    n_bins : int, default 10
        Bins of ``"equal_width"`` and ``"equal_frequency"``, from 2 to 255.
    bins : sequence of float, or of n_features sequences, default None
        Cut points for ``"user"``.
    n_sd : float, default 1.0
        Reach of the middle level of ``"mean_sd"``, in standard deviations.
    cut_cost : {"samples", "distinct"}, default "samples"
        What the choice of a cut costs in ``"mdl"``: log2(N - 1) for N samples, as in Fayyad and
        Irani's paper (equation 9), or log2 of the number of cuts between distinct values, as Weka
        counts.
    encode : {"ordinal"}, default "ordinal"
        One column of level numbers for each feature.
    missing : {"error", "level"}, default "error"
        NaN is refused, or is a level of its own, above all others of its column.
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns that hold levels already; ``"auto"`` means the categorical, boolean and text
        columns of a data frame.
    n_jobs : int or None, default None
        Threads.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Ascending cut points of each column; a value equal to one lies below it.
    n_levels_ : ndarray of shape (n_features_in_,)
        Int32; levels of a column are numbered from 0 to ``n_levels_ - 1``, the one for missing
        values among them where there is one.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a data frame.

    See Also
    --------
    bitsieve.filters.discretize : the same for one table.

    Examples
    --------
    >>> X = [[1.0, 5.0], [2.0, 5.0], [8.0, 6.0], [9.0, 5.0], [1.5, 6.0], [8.5, 5.0]]
    >>> discretizer = Discretizer().fit(X, ["a", "a", "b", "b", "a", "b"])
    >>> discretizer.cut_points_
    [array([5.]), array([], dtype=float64)]
    >>> discretizer.transform([[-100.0, 5.5], [100.0, 5.5]])
    array([[0, 0],
           [1, 0]], dtype=uint8)
    """

    cut_points_: list[NDArray[np.float64]]
    n_levels_: NDArray[np.int32]

    def __init__(
        self,
        method: Method = "mdl",
        *,
        n_bins: int = 10,
        bins: Any = None,
        n_sd: float = 1.0,
        cut_cost: CutCost = "samples",
        encode: Literal["ordinal"] = "ordinal",
        missing: Missing = "error",
        discrete_features: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.n_bins = n_bins
        self.bins = bins
        self.n_sd = n_sd
        self.cut_cost = cut_cost
        self.encode = encode
        self.missing = missing
        self.discrete_features = discrete_features
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the cut points of every column.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default None
            Class labels of any type, for ``method="mdl"``; ignored otherwise.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or y are not fit for use, or a parameter is out of its range.
        """
        if self.encode != "ordinal":
            raise ValueError(
                f"encode must be 'ordinal', got {self.encode!r}; for indicator columns put "
                "sklearn.preprocessing.OneHotEncoder after the Discretizer"
            )
        if self.method is None:
            raise ValueError("method must be a name such as 'mdl' or 'equal_width', got None")
        refuse_what_scikit_learn_refuses(X)
        if self.method == "mdl" and y is None:
            raise needs_target(self)
        if getattr(y, "ndim", 1) == 2:
            y = column_or_1d(y, warn=True)
        found = find_cuts(
            X,
            y,
            method=self.method,
            n_bins=self.n_bins,
            bins=self.bins,
            n_sd=self.n_sd,
            cut_cost=self.cut_cost,
            missing=self.missing,
            discrete_features=self.discrete_features,
            n_jobs=self.n_jobs,
        )
        validate_data(self, X, skip_check_array=True)
        self._cuts = found
        self.cut_points_ = found.columns()
        self.n_levels_ = found.n_levels
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Number the level of each value.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Values beyond those seen in fit belong to the first and the last level.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Uint8, C order.

        Raises
        ------
        ValueError
            If X has other columns than in fit, a category that was not there, or missing values
            that are not allowed.
        """
        check_is_fitted(self)
        # The values are checked below; what is no table is refused in scikit-learn's words.
        table = len(getattr(X, "shape", (1, 1))) == 2
        validate_data(self, X, reset=False, skip_check_array=table)
        return self._cuts.apply(X, n_jobs=self.n_jobs).codes.copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.method == "mdl"
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = self.missing == "level"
        tags.transformer_tags.preserves_dtype = []
        return tags
