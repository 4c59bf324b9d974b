"""Errors of every feature and of every pair of features by any estimator."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.causal._tables_of_pairs import TableOfPairs
from bitsieve.masks import Masks

__all__ = ["FitnessPairErrors"]


class ScoresOfMasks(Protocol):
    """What is asked of a fitness; this room does not import ``bitsieve.fitness``."""

    n_features: int
    kernel: str | None

    def evaluate(self, masks: Masks, seeds: int = 0) -> NDArray[np.float64]:
        """Score each mask."""
        ...


class FitnessPairErrors(TableOfPairs):
    """One less the scores of single features and of pairs, by any estimator of a fitness.

    With ``scoring="balanced_accuracy"`` it is the mean over the folds of their balanced error
    rates, where :class:`PairErrors` has the balanced error rate of all predictions; the two differ
    where folds have other numbers of samples of a class. Rows are asked for as the neighbors of a
    mask of one feature, so that a kernel answers them in one pass where it has one. Where no kernel
    serves the estimator, scikit-learn fits it once a pair and fold.

    Parameters
    ----------
    fitness : Fitness
        Of :func:`bitsieve.fitness.compile`; with a score that is 1 at best.
    seed : int, default 0
        Of the folds, where they are fresh ones.

    Attributes
    ----------
    n_features : int

    Raises
    ------
    ValueError
        If that is no fitness.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from bitsieve.causal import FitnessPairErrors
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(
    ...     LinearDiscriminantAnalysis(),
    ...     *load_iris(return_X_y=True),
    ...     cv=5,
    ...     scoring="balanced_accuracy",
    ... )
    >>> errors = FitnessPairErrors(fitness)
    >>> errors.single.round(3)
    array([0.267, 0.453, 0.047, 0.04 ])
    >>> errors.row(3).round(3)
    array([0.047, 0.033, 0.04 , 0.04 ])
    """

    def __init__(self, fitness: ScoresOfMasks, *, seed: int = 0) -> None:
        if not callable(getattr(fitness, "evaluate", None)) or not hasattr(fitness, "n_features"):
            raise ValueError(
                "fitness must be one of bitsieve.fitness.compile(estimator, X, y, "
                f'scoring="balanced_accuracy"), got {type(fitness).__name__}'
            )
        self.fitness = fitness
        self.seed = seed
        self.n_features = int(fitness.n_features)
        self._single: NDArray[np.float64] | None = None

    def _errors(self, masks: Masks) -> NDArray[np.float64]:
        return 1.0 - self.fitness.evaluate(masks, seeds=self.seed)

    @property
    def single(self) -> NDArray[np.float64]:
        """Of each feature alone, (n_features,)."""
        if self._single is None:
            self._single = self._errors(Masks.neighbors(self._base(), self.n_features))
            self._single.flags.writeable = False
        return self._single

    def _base(self, *features: int) -> NDArray[np.bool_]:
        base = np.zeros(self.n_features, dtype=bool)
        base[list(features)] = True
        return base

    def of(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the errors of pairs of features.

        Parameters
        ----------
        pairs : array-like of int, shape (n_pairs, 2)

        Returns
        -------
        float64 array of shape (n_pairs,)

        Raises
        ------
        ValueError
            If pairs have another shape, or are not positions of features.
        """
        asked = self._pairs(pairs)
        out = np.empty(len(asked))
        same = asked[:, 0] == asked[:, 1]
        out[same] = self.single[asked[same, 0]] if same.any() else 0.0
        if not same.all():
            out[~same] = self._errors(
                Masks.from_indices(np.sort(asked[~same], axis=1), self.n_features)
            )
        return out

    def _rows(self, features: NDArray[np.int64], first: int) -> NDArray[np.float64]:
        out = np.empty((len(features), self.n_features - first))
        for row, feature in zip(out, features.tolist(), strict=True):
            others = np.arange(first, self.n_features)
            others = others[others != feature]
            if len(others):
                near = Masks.neighbors(self._base(feature), self.n_features, others)
                row[others - first] = self._errors(near)
            if feature >= first:
                row[feature - first] = self.single[feature]
        return out

    def _matrix(self) -> NDArray[np.float64]:
        out = np.diag(self.single)
        for j in range(self.n_features - 1):
            out[j, j + 1 :] = self._rows(np.array([j]), j + 1)[0]
            out[j + 1 :, j] = out[j, j + 1 :]
        return out
