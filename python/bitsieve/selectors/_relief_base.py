"""What the selectors of the Relief family share: the options, and the function that scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve import filters
from bitsieve.data.mixed import has_categories
from bitsieve.filters.relief import RAMP
from bitsieve.selectors._ranked import RankSelector

__all__ = ["KNeighbors", "Radius", "ReliefSelector"]


class ReliefSelector(RankSelector):
    """A ranking by the function that ``_score_with`` names, with the options of the instance."""

    _score_with: str
    missing: Any

    @property
    def _allows_nan(self) -> bool:
        return bool(self.missing != "error")

    def _score(self, X: Any, y: Any) -> NDArray[np.float64]:
        own = ("n_features_to_select", "threshold")
        options = {k: v for k, v in self.get_params(deep=False).items() if k not in own}
        scores: NDArray[np.float64] = getattr(filters, self._score_with)(X, y, **options)
        return scores

    def transform(self, X: Any) -> Any:
        """Keep the selected columns.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray or DataFrame of shape (n_samples, n_selected)
            A frame with columns of categories or text stays a frame, others become arrays unless
            ``set_output`` says otherwise.
        """
        if not has_categories(X):
            return super().transform(X)
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        names = [X.columns[j] for j in np.flatnonzero(self.support_)]
        return X[names]


class KNeighbors(ReliefSelector):
    """Those that look for a number of neighbors."""

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        n_neighbors: int = 10,
        n_instances: int | None = None,
        weighting: str = "equal",
        sigma: float = 20.0,
        discrete_features: Any = "auto",
        missing: str = "probabilistic",
        diff: str = "linear",
        ramp: tuple[float, float] = RAMP,
        feature_weights: ArrayLike | None = None,
        precision: str = "exact",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.n_instances = n_instances
        self.weighting = weighting
        self.sigma = sigma
        self.discrete_features = discrete_features
        self.missing = missing
        self.diff = diff
        self.ramp = ramp
        self.feature_weights = feature_weights
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs


class Radius(ReliefSelector):
    """Those that need no number of neighbors."""

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        n_instances: int | None = None,
        discrete_features: Any = "auto",
        missing: str = "probabilistic",
        diff: str = "linear",
        ramp: tuple[float, float] = RAMP,
        feature_weights: ArrayLike | None = None,
        precision: str = "exact",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_instances = n_instances
        self.discrete_features = discrete_features
        self.missing = missing
        self.diff = diff
        self.ramp = ramp
        self.feature_weights = feature_weights
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
