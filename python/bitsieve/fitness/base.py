"""What every fitness offers, whoever computes it."""

from __future__ import annotations

import abc
import hashlib
import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._version import __version__
from bitsieve.data import Table
from bitsieve.fitness.describe import describe
from bitsieve.fitness.splits import FixedSplits, FreshFolds, Split
from bitsieve.masks import Masks


class Fitness(abc.ABC):
    """A cross-validated score for masks; greater is better.

    Made by :func:`bitsieve.fitness.compile`.

    Attributes
    ----------
    n_features, n_samples : int
    n_splits : int
        Columns of :meth:`evaluate_splits`.
    kernel : str or None
        The compiled kernel that serves the estimator; None where scikit-learn does.
    resample : bool
        Whether the folds come from the seeds.
    n_evaluations : int
        Masks evaluated so far.
    """

    kernel: str | None = None

    def __init__(
        self,
        table: Table,
        splits: FreshFolds | FixedSplits,
        arguments: dict[str, Any],
        n_jobs: int,
    ) -> None:
        self.table = table
        self._splits = splits
        self._arguments = arguments
        self._n_jobs = n_jobs
        self._counter = threading.Lock()
        self._fingerprint: str | None = None
        self.n_evaluations = 0
        self.resample = isinstance(splits, FreshFolds)
        self.n_features = table.n_features
        self.n_samples = table.n_samples
        if isinstance(splits, FreshFolds):
            self.n_splits = splits.n_folds * splits.n_repeats
        else:
            self.n_splits = len(splits.pairs)

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
        mean: NDArray[np.float64] = self.evaluate_splits(masks, seeds).mean(axis=1)
        return mean

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
        return type(self)(self.table, self._splits.fresh, self._arguments, self._n_jobs)

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
            describe(self._arguments["estimator"]),
            describe(self._arguments["sample_weight"]),
            describe(self._arguments["scoring"]),
            self._splits.digest(),
        ]
        for part in parts:
            digest.update(part.encode())
            digest.update(b"\0")
        self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def __reduce__(self) -> tuple[Any, ...]:
        # Splits that were drawn without a seed, or came from a generator, travel as they are.
        return _rebuild, (type(self), self.table, self._splits, self._arguments)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self._arguments['estimator']!r}, "
            f"{self.n_samples} x {self.n_features}, {self._splits.describe()}, "
            f"kernel={self.kernel!r}>"
        )

    def _check_masks(self, masks: Masks | ArrayLike) -> Masks:
        batch = masks if isinstance(masks, Masks) else Masks.from_bool(masks)
        if batch.n_features != self.n_features:
            raise ValueError(
                f"masks speak of {batch.n_features} features, the table has {self.n_features}"
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


def check_seed(seed: int | np.integer[Any]) -> int:
    """Return a seed as int, or raise a ValueError."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ValueError(f"a seed must be a whole number, got {seed!r}")
    if not 0 <= int(seed) < 2**64:
        raise ValueError(f"a seed must lie in [0, 2**64), got {seed}")
    return int(seed)


def _rebuild(
    kind: type[Fitness],
    table: Table,
    splits: FreshFolds | FixedSplits,
    arguments: dict[str, Any],
) -> Fitness:
    from bitsieve._threads import effective_n_jobs

    return kind(table, splits, arguments, effective_n_jobs(arguments["n_jobs"]))
