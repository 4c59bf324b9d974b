"""Which samples train and which test: fixed once, or drawn anew from a seed.

Neither kind knows what is predicted.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core

__all__ = ["FixedSplits", "FreshFolds", "Index", "Split"]

Index = NDArray[np.intp]
Split = tuple[Index, Index]


@dataclass(frozen=True)
class FreshFolds:
    """K-fold splits, repeated, that a seed determines.

    Attributes
    ----------
    n_samples, n_folds, n_repeats : int
    strata : ndarray of int32, shape (n_samples,), or None
        Numbers from 0; each fold gets its share of the samples of each.
    groups : ndarray of int32, shape (n_samples,), or None
        Samples that share their fold, numbered from 0.
    """

    n_samples: int
    n_folds: int
    n_repeats: int
    strata: NDArray[np.int32] | None = None
    groups: NDArray[np.int32] | None = None

    resample: ClassVar[bool] = True

    @property
    def n_splits(self) -> int:
        return self.n_folds * self.n_repeats

    @property
    def n_groups(self) -> int:
        """Return the number of groups; without groups each sample is one."""
        return self.n_samples if self.groups is None else int(self.groups.max()) + 1

    def folds(self, seed: int) -> NDArray[np.int32]:
        """Return the test fold of each sample in each repeat, shape (n_repeats, n_samples)."""
        strata = np.zeros(self.n_samples, np.int32) if self.strata is None else self.strata
        n_strata = int(strata.max()) + 1
        if self.groups is not None:
            return _core.group_folds(
                strata, n_strata, self.groups, self.n_groups, self.n_folds, self.n_repeats, seed
            )
        if self.strata is not None:
            return _core.stratified_folds(strata, n_strata, self.n_folds, self.n_repeats, seed)
        return _core.shuffled_folds(self.n_samples, self.n_folds, self.n_repeats, seed)

    def splits(self, seed: int) -> list[Split]:
        """Return (train, test) index pairs, folds fastest, as scikit-learn's repeated splitters."""
        out = []
        for row in self.folds(seed):
            for fold in range(self.n_folds):
                test = row == fold
                out.append((np.flatnonzero(~test), np.flatnonzero(test)))
        return out

    def smallest_training_set(self) -> int:
        """Return a lower bound of the number of training samples of any split."""
        if self.groups is not None:  # every fold has a group
            return int(np.sort(np.bincount(self.groups))[: self.n_folds - 1].sum())
        sizes = np.bincount(self.folds(0)[0], minlength=self.n_folds)
        return self.n_samples - int(sizes.max())

    def describe(self) -> str:
        kind = "shuffled" if self.strata is None else "stratified"
        kind += "" if self.groups is None else " group"
        return f"fresh {kind} {self.n_repeats} x {self.n_folds}-fold"

    def digest(self) -> str:
        if self.groups is None:
            return self.describe()
        return f"{self.describe()} {hashlib.sha256(self.groups.tobytes()).hexdigest()}"


@dataclass(frozen=True)
class FixedSplits:
    """Splits that a splitter gave once.

    Attributes
    ----------
    pairs : list of (ndarray, ndarray)
        Training and test indices.
    fresh : FreshFolds or None
        The same kind of folds drawn from a seed, where that has a meaning.
    text : str
        What made them, for ``repr``.
    """

    pairs: list[Split]
    fresh: FreshFolds | None
    text: str

    resample: ClassVar[bool] = False

    @property
    def n_splits(self) -> int:
        return len(self.pairs)

    def splits(self, seed: int = 0) -> list[Split]:
        return [(train.copy(), test.copy()) for train, test in self.pairs]

    def smallest_training_set(self) -> int:
        return min(len(train) for train, _ in self.pairs)

    def repeats_samples(self) -> bool:
        """Tell whether a training or test set lists a sample twice (bootstrap splitters do)."""
        return any(len(np.unique(part)) != len(part) for pair in self.pairs for part in pair)

    def trains_on_tests(self) -> bool:
        """Tell whether a sample is in both parts of a split."""
        return any(len(np.intersect1d(train, test)) > 0 for train, test in self.pairs)

    def describe(self) -> str:
        return self.text

    def digest(self) -> str:
        digest = hashlib.sha256()
        for pair in self.pairs:
            for part in pair:
                digest.update(str(len(part)).encode())
                digest.update(part.astype(np.int64).tobytes())
        return digest.hexdigest()
