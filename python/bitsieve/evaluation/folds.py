"""The outer folds, and everything about them that would make a score dishonest."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv
from sklearn.utils.multiclass import type_of_target

from bitsieve import _core
from bitsieve._checks import is_whole, key_of
from bitsieve._errors import plural
from bitsieve._random import Random, SeedWords, Stream
from bitsieve.data.groups import (
    count_parted_groups,
    group_codes,
    group_values,
    refuse_missing_groups,
)

__all__ = ["Folds", "fold_seed", "outer_folds", "rounds_of"]

Folds = list[tuple[NDArray[np.int64], NDArray[np.int64]]]


def outer_folds(
    cv: Any,
    X: Any,
    y: NDArray[Any],
    groups: Any,
    *,
    is_classifier: bool,
    n_repeats: int | None = None,
    key: int = 0,
) -> Folds:
    """Return the outer splits as positions, after a look at each of them.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        Positions from 0, or booleans of shape (n_samples,).
    X, y, groups
        What a splitter is called with; ``y`` of shape (n_samples,).
    is_classifier : bool
        Whether an int means stratified folds. With groups it means folds of whole groups.
    n_repeats : int or None, default None
        Rounds of a number of folds, shuffled, stratified (and of whole groups) likewise, the
        first ones the same however many there are. None is one round that is not shuffled.
    key : int, default 0
        What they are drawn from.

    Returns
    -------
    list of (train, test) int64 arrays

    Raises
    ------
    ValueError
        Where cv is none of these, a part is empty or leaves the samples, a split trains on
        samples that it tests, two splits (two rounds, where the splits are rounds that test every
        sample once) are the same, groups are too few, a splitter needs groups and has none, or
        anything but a number of folds is to be repeated.

    Warns
    -----
    UserWarning
        Where groups are given, and a split trains on a part of a group and tests another.

    Examples
    --------
    >>> y = np.array([0, 1, 0, 1])
    >>> X = np.zeros((4, 1))
    >>> outer_folds([([0, 2, 3], [1])], X, y, None, is_classifier=True)
    [(array([0, 2, 3]), array([1]))]
    """
    members = None
    if groups is not None:
        members, groups = group_codes(groups, len(y)), group_values(groups, len(y))
    cv = _checked(cv)
    if n_repeats is not None and not (cv is None or is_whole(cv)):
        raise ValueError(
            f"n_repeats={n_repeats} draws rounds of a number of outer folds, but cv is a "
            f"{type(cv).__name__}; give cv as a number, or RepeatedStratifiedKFold and no n_repeats"
        )
    splitter = _splitter(cv, y, members, is_classifier)
    with warnings.catch_warnings():  # of groups without effect more is said below
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        folds = [
            (
                _positions(train, "training", number, len(y)),
                _positions(test, "test", number, len(y)),
            )
            for number, (train, test) in enumerate(splitter.split(X, y, groups))
        ]
    if not folds:
        raise ValueError("cv has no split: give at least one (train, test), better five or more")
    if n_repeats is not None:
        folds = _repeated(len(folds), y, members, is_classifier, n_repeats, key)
    rounds = rounds_of(folds, len(y))
    seen: dict[bytes, int] = {}
    for number, (train, test) in enumerate(folds):
        shared = np.intersect1d(train, test)
        if len(shared):
            raise ValueError(
                f"split {number} of cv trains on {plural(len(shared), 'sample')} that it also "
                f"tests (sample {shared[0]}): a score of samples that were trained on is not "
                "honest; take them out of the training part"
            )
        digest = _digest(train, test)
        # Single folds of several rounds may well be the same by chance.
        if digest in seen and rounds is None:
            raise ValueError(
                f"splits {seen[digest]} and {number} of cv are the same: a split that counts twice "
                "makes the interval too narrow; list each one once"
            )
        seen[digest] = number
    if rounds is not None:
        _refuse_same_rounds(folds, rounds)
    if members is not None:
        n_parted = count_parted_groups(members, folds)
        if n_parted:
            warnings.warn(
                f"cv parts {n_parted} of {plural(int(members.max()) + 1, 'group')}: samples of "
                "one group are trained on and tested in the same split, so the score is not "
                "honest; give cv as a number of folds, or GroupKFold or StratifiedGroupKFold",
                UserWarning,
                stacklevel=3,
            )
    return folds


def rounds_of(folds: Folds, n_samples: int) -> NDArray[np.int64] | None:
    """Return the round that each fold belongs to, where folds come in rounds.

    Parameters
    ----------
    folds : list of (train, test)
    n_samples : int

    Returns
    -------
    int64 array of shape (n_folds,) or None
        From 0. None where a sample is not tested exactly once in each round.

    Examples
    --------
    >>> a, b = np.array([0, 1]), np.array([2])
    >>> rounds_of([(a, b), (b, a), (b, a), (a, b)], 3)
    array([0, 0, 1, 1])
    >>> rounds_of([(a, b)], 3) is None
    True
    """
    number, found = 0, []
    tested = np.zeros(n_samples, dtype=bool)
    for _, test in folds:
        if tested.all():
            number += 1
            tested[:] = False
        if tested[test].any() or len(np.unique(test)) < len(test):
            return None
        tested[test] = True
        found.append(number)
    return np.array(found, dtype=np.int64) if tested.all() else None


def fold_seed(random_state: Any, fold: int) -> int:
    """Return the seed that a selector with a given ``random_state`` gets in an outer fold.

    Parameters
    ----------
    random_state : int, Generator or RandomState
        That of the selector; of a generator one number is drawn.
    fold : int
        Counted from 0.

    Returns
    -------
    int
        In [0, 2**32): the high half of word ``fold`` of the stream for outer folds.

    Examples
    --------
    >>> fold_seed(0, 1) == fold_seed(0, 1) != fold_seed(0, 2)
    True
    """
    return SeedWords(key_of(random_state), Stream.outer_folds).one(fold) >> 32


def _repeated(
    n_folds: int,
    y: NDArray[Any],
    members: NDArray[np.int32] | None,
    is_classifier: bool,
    n_repeats: int,
    key: int,
) -> Folds:
    """Return rounds of folds, drawn from a key."""
    strata, n_strata = np.zeros(len(y), np.int32), 1
    if is_classifier and type_of_target(y) in ("binary", "multiclass"):
        classes, codes = np.unique(y, return_inverse=True)
        strata, n_strata = codes.ravel().astype(np.int32), len(classes)
    seed = int(Random(key, Stream.outer_folds, lane=1).words(1)[0])
    if members is not None:
        n_groups = int(members.max()) + 1
        of = _core.group_folds(strata, n_strata, members, n_groups, n_folds, n_repeats, seed)
    elif n_strata > 1:
        of = _core.stratified_folds(strata, n_strata, n_folds, n_repeats, seed)
    else:
        of = _core.shuffled_folds(len(y), n_folds, n_repeats, seed)
    return [
        (np.flatnonzero(row != fold), np.flatnonzero(row == fold))
        for row in of
        for fold in range(n_folds)
    ]


def _refuse_same_rounds(folds: Folds, rounds: NDArray[np.int64]) -> None:
    seen: dict[frozenset[bytes], int] = {}
    for number in range(int(rounds.max()) + 1):
        key = frozenset(_digest(*folds[i]) for i in np.flatnonzero(rounds == number))
        if key in seen:
            raise ValueError(
                f"rounds {seen[key]} and {number} of the outer folds are the same: folds that "
                "count twice make the interval too narrow; repeat them less often, or use fewer "
                "folds, so that there is something to shuffle"
            )
        seen[key] = number


def _splitter(
    cv: Any, y: NDArray[Any], members: NDArray[np.int32] | None, is_classifier: bool
) -> Any:
    """Return what splits: for a number of folds, scikit-learn's, of whole groups with groups."""
    if members is None:
        refuse_missing_groups(cv)
    elif cv is None or is_whole(cv):
        n_folds, n_groups = 5 if cv is None else int(cv), int(members.max()) + 1
        if n_groups < n_folds:
            raise ValueError(
                f"{n_folds} outer folds of whole groups need at least as many groups, got "
                f"{n_groups}; lower cv to {n_groups} or fewer"
            )
        return (StratifiedGroupKFold if is_classifier else GroupKFold)(n_folds)
    return check_cv(cv, y, classifier=is_classifier)


def _checked(cv: Any) -> Any:
    """Return cv where scikit-learn can make something of it."""
    is_text = isinstance(cv, (str, bytes))
    if cv is None or (hasattr(cv, "split") and not is_text):
        return cv
    if is_whole(cv):
        if cv < 2:
            raise ValueError(f"cv must be at least 2 outer folds, got {cv}; 5 is usual")
    elif hasattr(cv, "__iter__") and not is_text:
        cv = list(cv)
        for number, split in enumerate(cv):
            if not hasattr(split, "__len__") or len(split) != 2:
                raise ValueError(f"split {number} of cv must be (train, test), got {split!r}")
    else:
        raise ValueError(
            "cv must be a number of outer folds from 2 on, a splitter such as StratifiedKFold(5), "
            f"or a list of (train, test), got {cv!r}"
        )
    return cv


def _digest(train: NDArray[np.int64], test: NDArray[np.int64]) -> bytes:
    """Return what is the same for two splits of the same samples, whatever their order."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(np.int64(len(train)).tobytes())
    digest.update(np.sort(train).tobytes())
    digest.update(np.sort(test).tobytes())
    return digest.digest()


def _positions(part: Any, name: str, number: int, n_samples: int) -> NDArray[np.int64]:
    """Return the samples of one part of a split as positions from 0."""
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n_samples,):
        rows = np.flatnonzero(rows)
    if rows.size == 0:
        raise ValueError(
            f"split {number} of cv has an empty {name} part: leave it out, or use fewer folds"
        )
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"split {number} of cv: the {name} part must be positions of samples, one dimension "
            f"of whole numbers, but it has shape {rows.shape} and type {rows.dtype}"
        )
    low, high = int(rows.min()), int(rows.max())
    if low < 0 or high >= n_samples:
        raise ValueError(
            f"split {number} of cv: the {name} part names sample {low if low < 0 else high}, but "
            f"the {n_samples} samples are numbered from 0 to {n_samples - 1}"
        )
    return rows.astype(np.int64)
