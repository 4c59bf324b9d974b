"""Subsets of 2, 4, 8, ... and all features, their merged ranking, and how well they predict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import get_scorer, roc_auc_score

from bitsieve.filters.aggregation import rank_aggregation
from bitsieve.filters.positions import positions_of_scores

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NestedSubsets", "nested_sizes"]


def nested_sizes(n_features: int, *others: int) -> list[int]:
    """Return 2, 4, 8, ... below the number of features, that number, and others, ascending.

    Examples
    --------
    >>> nested_sizes(11, 5)
    [2, 4, 5, 8, 11]
    """
    powers = [1 << k for k in range(1, n_features.bit_length()) if 1 << k < n_features]
    return sorted({*powers, n_features, *others})


@dataclass(frozen=True, eq=False)
class NestedSubsets:
    """Subsets of ascending size, each found by itself: they need not lie in each other.

    Attributes
    ----------
    subsets : list of int64 array
        Positions of features, in each the best first.
    energies : ndarray of shape (n_subsets,)
        NaN where a subset was not searched for but taken from the ranking by equation 5.
    n_features : int
        Of all.

    References
    ----------
    Escalante, Montes, Sucar, "An energy-based model for feature selection", 2008, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> nested = NestedSubsets([np.array([2, 0]), np.array([2, 0, 1])], np.array([1.0, 2.0]), 3)
    >>> nested.ranking
    array([2, 3, 1])
    >>> nested.blanket_auc([0, 2])
    1.0
    """

    subsets: Sequence[NDArray[np.int64]]
    energies: NDArray[np.float64]
    n_features: int

    @property
    def sizes(self) -> list[int]:
        """Number of features of each subset."""
        return [len(subset) for subset in self.subsets]

    @property
    def scores(self) -> NDArray[np.float64]:
        """One over the sum of a feature's positions in the subsets, as in equation 2.

        Those that a subset lacks share the positions that are left.
        """
        lists = np.full((len(self.subsets), self.n_features), np.nan)
        for row, subset in zip(lists, self.subsets, strict=True):
            row[subset] = np.arange(1, len(subset) + 1)
        found: NDArray[np.float64] = rank_aggregation(lists, given="rankings")
        return found

    @property
    def ranking(self) -> NDArray[np.int64]:
        """Position of each feature in the merged list (the challenge's ``slist``), 1 the best."""
        return positions_of_scores(self.scores)

    def blanket_auc(self, blanket: Iterable[int]) -> float:
        """Return how well the merged list tells a known blanket from the rest (``Fscore``).

        Parameters
        ----------
        blanket : iterable of int
            Positions of the features that are in the true Markov blanket of the target.

        Returns
        -------
        float
            Area under the ROC curve: 1 where all of the blanket come first, 0.5 by chance.

        Raises
        ------
        ValueError
            If the blanket is empty, or all features, or holds what is no position.
        """
        inside = np.zeros(self.n_features, dtype=bool)
        listed = np.asarray(list(blanket))
        if listed.size:
            whole = listed.dtype.kind in "iu" and listed.ndim == 1
            if not whole or listed.min() < 0 or listed.max() >= self.n_features:
                raise ValueError(
                    f"blanket must be positions of features, from 0 to {self.n_features - 1}, "
                    f"got {listed.tolist()!r}"
                )
            inside[listed] = True
        if inside.all() or not inside.any():
            raise ValueError("blanket must have some of the features, and not all")
        return float(roc_auc_score(inside, -self.ranking))

    def score(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        X_test: ArrayLike,
        y_test: ArrayLike,
        *,
        scoring: Any = "roc_auc",
    ) -> pd.DataFrame:
        """Fit an estimator to each subset and score it on other samples (``Tscore``).

        Parameters
        ----------
        estimator : scikit-learn estimator
            Cloned for each subset.
        X, y : array-like
            What it is fitted to.
        X_test, y_test : array-like
            What it is scored on: samples that the subsets were not selected by.
        scoring : str or callable, default "roc_auc"

        Returns
        -------
        DataFrame
            A row a subset: ``n_features``, ``score``. The size of the best score is the
            challenge's ``Fnum``; chosen by the test samples themselves it is optimistic.

        Raises
        ------
        ValueError
            If X and X_test have other features than the subsets, or there are more than two
            classes and ``scoring`` is "roc_auc".
        """
        import pandas as pd

        tables = [np.asarray(table) for table in (X, X_test)]
        for name, table in zip(("X", "X_test"), tables, strict=True):
            if table.ndim != 2 or table.shape[1] != self.n_features:
                raise ValueError(
                    f"{name} must have {self.n_features} features, got shape {table.shape}"
                )
        if scoring == "roc_auc" and len(np.unique(y)) > 2:
            raise ValueError(
                "scoring='roc_auc' is of two classes: give scoring='balanced_accuracy', or "
                "'roc_auc_ovr' with an estimator of probabilities"
            )
        scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        rows = []
        for subset in self.subsets:
            features = np.sort(subset)
            fitted = clone(estimator).fit(tables[0][:, features], y)
            score = float(scorer(fitted, tables[1][:, features], y_test))
            rows.append({"n_features": len(features), "score": score})
        return pd.DataFrame(rows)
