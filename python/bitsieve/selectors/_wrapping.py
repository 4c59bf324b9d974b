"""What selectors around an estimator have in common, whatever they do with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_regressor
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bitsieve.data import Table
from bitsieve.data.refusals import needs_target, refuse_what_scikit_learn_refuses
from bitsieve.fitness.taking import takes_missing

__all__ = ["WrappingSelector"]


class WrappingSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A feature selector around an estimator, ``estimator``, which a subclass may do without."""

    support_: NDArray[np.bool_]

    def _check_input(self, X: Any, y: Any) -> Table:
        """Check X and y and set what scikit-learn expects about features."""
        refuse_what_scikit_learn_refuses(X)
        if y is None:
            raise needs_target(self)
        if getattr(y, "ndim", 1) == 2:
            y = column_or_1d(y, warn=True)
        wrapped = getattr(self, "estimator", None)
        regresses = wrapped is not None and is_regressor(wrapped)
        table = Table(
            X,
            y,
            task=None if wrapped is None else "regression" if regresses else "classification",
            missing="keep" if wrapped is not None and takes_missing(wrapped) else "error",
        )
        # The table has checked the values; what is left are names and number of the features.
        validate_data(self, X, y, skip_check_array=True)
        return table

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        if hasattr(getattr(self, "estimator", None), "fit"):
            wrapped = get_tags(self.estimator)
            tags.input_tags.allow_nan = takes_missing(self.estimator)
            tags.input_tags.positive_only = wrapped.input_tags.positive_only
            tags.classifier_tags = wrapped.classifier_tags
            tags.regressor_tags = wrapped.regressor_tags
        return tags
