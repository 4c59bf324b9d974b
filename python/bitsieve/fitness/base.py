"""What every fitness offers, whoever computes it."""

from __future__ import annotations

import abc
import hashlib
import threading
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import seed as _seed
from bitsieve._threads import effective_n_jobs
from bitsieve._version import __version__
from bitsieve.fitness.options import Problem
from bitsieve.fitness.splits import FixedSplits, Split
from bitsieve.masks import Masks


class Fitness(abc.ABC):
    """A cross-validated score for masks; greater is better.

    Made by :func:`bitsieve.fitness.compile`. A subclass adds :meth:`_evaluate` and the name of its
    ``kernel``; :func:`bitsieve.fitness.register_kernel` lets ``compile`` make it.

    Parameters
    ----------
    problem : Problem
        Options, table and splits.

    Attributes
    ----------
    problem : Problem
    table : Table
    n_features, n_samples : int
    n_splits : int
        Columns of :meth:`evaluate_splits`.
    kernel : str or None
        The compiled kernel that serves the estimator; None where scikit-learn does.
    fallback_reason : str or None
        Why scikit-learn does, in a line; None where a kernel serves.
    resample : bool
        Whether the folds come from the seeds.
    n_evaluations : int
        Masks evaluated so far.
    pairs_of_samples : bool
        Of the class: whether an evaluation compares all pairs of samples, so that its time grows
        with the square of their number.
    """

    pairs_of_samples: ClassVar[bool] = False
    kernel: str | None = None
    fallback_reason: str | None = None

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.table = problem.table
        self._splits = problem.splits
        self._n_jobs = effective_n_jobs(problem.options.n_jobs)
        self._counter = threading.Lock()
        self._fingerprint: str | None = None
        self.n_evaluations = 0
        self.resample = problem.splits.resample
        self.n_features = problem.table.n_features
        self.n_samples = problem.table.n_samples
        self.n_splits = problem.splits.n_splits

    @abc.abstractmethod
    def _evaluate(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the scores, shape (n_masks, n_splits)."""

    def evaluate_splits(
        self, masks: Masks | ArrayLike, seeds: int | ArrayLike = 0
    ) -> NDArray[np.float64]:
        """Score each mask on each split.

        Parameters
        ----------
        masks : Masks or array of bool, shape (n_masks, n_features)
            Lists of indices go through :meth:`Masks.from_indices`.
        seeds : int or array of int, shape (n_masks,), default=0
            Determine the folds where they are fresh; ignored where they are fixed.

        Returns
        -------
        ndarray of float64, shape (n_masks, n_splits), C order

        Raises
        ------
        ValueError
            If masks or seeds have another shape or type.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from bitsieve.fitness import compile
        >>> fitness = compile(KNeighborsClassifier(1), *load_iris(return_X_y=True), cv=5)
        >>> fitness.evaluate_splits(np.array([[False, False, True, True]])).round(3)
        array([[0.967, 0.967, 0.967, 0.933, 1.   ]])
        """
        batch = self._check_masks(masks)
        keys = self._check_seeds(seeds, len(batch))
        with self._counter:
            self.n_evaluations += len(batch)
        if len(batch) == 0:
            return np.empty((0, self.n_splits))
        return self._evaluate(batch, keys)

    def evaluate(self, masks: Masks | ArrayLike, seeds: int | ArrayLike = 0) -> NDArray[np.float64]:
        """Score each mask: the mean of :meth:`evaluate_splits` over the splits.

        Parameters
        ----------
        masks, seeds
            As in :meth:`evaluate_splits`.

        Returns
        -------
        ndarray of float64, shape (n_masks,)

        Raises
        ------
        ValueError
            If masks or seeds have another shape or type.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from bitsieve import Masks
        >>> from bitsieve.fitness import compile
        >>> fitness = compile(KNeighborsClassifier(1), *load_iris(return_X_y=True), cv=5)
        >>> fitness.evaluate(Masks.from_indices([[2, 3], []], 4)).round(3)
        array([0.967, 0.333])
        """
        return mean_over_splits(self.evaluate_splits(masks, seeds))

    def splits(self, seed: int = 0) -> list[Split]:
        """Return the (train, test) index pairs of a seed, so that anyone can check.

        Parameters
        ----------
        seed : int, default=0
            Ignored where the splits are fixed.

        Returns
        -------
        list of (ndarray, ndarray)
            As ``cv`` of scikit-learn's functions takes it.

        Raises
        ------
        ValueError
            If the seed is not a whole number in [0, 2**64).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from bitsieve.fitness import compile
        >>> fitness = compile(
        ...     KNeighborsClassifier(1), *load_iris(return_X_y=True), cv=5, resample=True
        ... )
        >>> [len(test) for _, test in fitness.splits(seed=7)]
        [30, 30, 30, 30, 30]
        """
        return self._splits.splits(check_seed(seed))

    @property
    def splits_text(self) -> str:
        """What makes the splits, in words."""
        return self._splits.describe()

    def resampled(self) -> Fitness | None:
        """Return the same model under fresh folds from seeds, or None where that has no meaning."""
        if self.resample:
            return self
        assert isinstance(self._splits, FixedSplits)
        if self._splits.fresh is None:
            return None
        return type(self)(replace(self.problem, splits=self._splits.fresh), *self._arguments())

    def _arguments(self) -> tuple[Any, ...]:
        """Return what the constructor takes after the problem."""
        return ()

    def seconds_per_evaluation(self) -> float | None:
        """Estimate what the evaluation of one mask takes, or None where only a trial could tell.

        Returns
        -------
        float or None
            Seconds for a mask of half of the features, with the fitness' own threads.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from bitsieve.fitness import compile
        >>> fitness = compile(KNeighborsClassifier(1), *load_iris(return_X_y=True), cv=5)
        >>> fitness.seconds_per_evaluation() < 1
        True
        """
        return None

    def fingerprint(self) -> str:
        """Return a digest of data, estimator, scorer, splits and version.

        Returns
        -------
        str
            Hexadecimal; equal for fitnesses that answer alike. Taken once, at the first call.
        """
        if self._fingerprint is not None:
            return self._fingerprint
        digest = hashlib.sha256()
        parts = [
            __version__,
            self.table.fingerprint(),
            *self.problem.options.descriptions(),
            self._splits.digest(),
        ]
        for part in parts:
            digest.update(part.encode())
            digest.update(b"\0")
        self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def __reduce__(self) -> tuple[Any, ...]:
        # Splits that were drawn without a seed, or came from a generator, travel as they are.
        return type(self), (self.problem, *self._arguments())

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.problem.options.estimator!r}, "
            f"{self.n_samples} x {self.n_features}, {self._splits.describe()}, "
            f"kernel={self.kernel!r}>"
        )

    def _check_masks(self, masks: Masks | ArrayLike) -> Masks:
        batch = masks if isinstance(masks, Masks) else Masks.from_bool(masks)
        if batch.n_features != self.n_features:
            raise ValueError(
                f"masks have {batch.n_features} features, the table has {self.n_features}"
            )
        return batch

    @staticmethod
    def _check_seeds(seeds: int | ArrayLike, n_masks: int) -> NDArray[np.uint64]:
        if isinstance(seeds, (int, np.integer)):
            return np.full(n_masks, check_seed(seeds), dtype=np.uint64)
        array = np.asarray(seeds)
        if array.dtype.kind not in "iu" or array.shape != (n_masks,):
            raise ValueError(
                f"seeds must be one whole number or one a mask ({n_masks}), got {array.dtype} of "
                f"shape {array.shape}"
            )
        if array.dtype.kind == "i" and array.size and array.min() < 0:
            raise ValueError(f"seeds must not be negative, got {array.min()}")
        return np.ascontiguousarray(array, dtype=np.uint64)


def mean_over_splits(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``scores.mean(axis=1)``, bit for bit, and sooner where splits are few.

    Examples
    --------
    >>> mean_over_splits(np.array([[0.5, 1.0], [0.0, 0.25]]))
    array([0.75 , 0.125])
    """
    n_splits = scores.shape[1]
    if not 0 < n_splits < 8:  # from 8 on numpy adds in pairs
        mean: NDArray[np.float64] = scores.mean(axis=1)
        return mean
    total = scores[:, 0] + 0.0
    for k in range(1, n_splits):
        total += scores[:, k]
    total /= n_splits
    return total


def check_seed(seed: int | np.integer[Any]) -> int:
    """Return a seed as int, or raise a ValueError."""
    return _seed("a seed", seed)
