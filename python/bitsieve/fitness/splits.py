"""Which samples train and which test: fixed once, or drawn anew from a seed."""

from __future__ import annotations

import hashlib
import numbers
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import key_of
from bitsieve._errors import plural, shorten
from bitsieve.data.groups import group_codes, group_values

Index = NDArray[np.intp]
Split = tuple[Index, Index]


@dataclass(frozen=True)
class FreshFolds:
    """K-fold splits, repeated, that a seed determines.

    Attributes
    ----------
    n_folds, n_repeats : int
    codes : ndarray of int32, shape (n_samples,)
        Classes to stratify by; all zero where there are none.
    stratified : bool
    groups : ndarray of int32, shape (n_samples,), or None
        Samples that share their fold, numbered from 0.
    """

    n_folds: int
    n_repeats: int
    codes: NDArray[np.int32]
    stratified: bool
    groups: NDArray[np.int32] | None = None

    resample: ClassVar[bool] = True

    @property
    def n_splits(self) -> int:
        return self.n_folds * self.n_repeats

    @property
    def n_groups(self) -> int:
        """Return the number of groups; without groups each sample is one."""
        return len(self.codes) if self.groups is None else int(self.groups.max()) + 1

    def folds(self, seed: int) -> NDArray[np.int32]:
        """Return the test fold of each sample in each repeat, shape (n_repeats, n_samples)."""
        n = len(self.codes)
        n_classes = int(self.codes.max()) + 1
        if self.groups is not None:
            return _core.group_folds(
                self.codes, n_classes, self.groups, self.n_groups,
                self.n_folds, self.n_repeats, seed,
            )  # fmt: skip
        if self.stratified:
            return _core.stratified_folds(self.codes, n_classes, self.n_folds, self.n_repeats, seed)
        return _core.shuffled_folds(n, self.n_folds, self.n_repeats, seed)

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
        return len(self.codes) - int(sizes.max())

    def describe(self) -> str:
        kind = "stratified" if self.stratified else "shuffled"
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


def make_splits(
    cv: Any,
    X: Any,
    y: Any,
    *,
    codes: NDArray[np.int32] | None,
    classes: NDArray[Any] | None,
    n_repeats: int,
    resample: bool,
    groups: Any,
    random_state: Any,
) -> FreshFolds | FixedSplits:
    """Return the splits that ``cv`` stands for.

    A number of folds means stratified folds for classes and plain ones for numbers, of whole
    groups where there are groups. Fixed and unrepeated they are scikit-learn's, unshuffled;
    repeated or fresh ones are drawn from the seed.

    Raises
    ------
    ValueError
        If the splitter cannot be redrawn and ``resample`` asks for it, if there are more folds
        than members of the largest class or than groups, if a splitter needs groups and has
        none, or if a split is empty.
    """
    if not isinstance(n_repeats, numbers.Integral) or isinstance(n_repeats, bool) or n_repeats < 1:
        raise ValueError(f"n_repeats must be a whole number of at least 1, got {n_repeats!r}")
    n_repeats = int(n_repeats)
    members = None
    if groups is not None:
        members, groups = group_codes(groups, len(y)), group_values(groups, len(y))
    elif _splits_groups(cv):
        raise ValueError(
            f"{_name(cv)} splits by groups, and none were given: pass groups, one value a sample"
        )
    fresh = _as_fresh(cv, codes, len(y), n_repeats, members)
    if fresh is not None:
        _check_folds(fresh, classes)
    if resample:
        if fresh is None:
            raise ValueError(
                f"resample=True draws fresh folds from the seed, which {_name(cv)} does not allow; "
                f"give cv as a number of folds, a StratifiedKFold or a KFold, or set "
                f"resample=False and n_repeats=1"
            )
        if members is not None and fresh.groups is None:
            _warn_of_parted_groups(cv, "")
        return fresh
    fixed = _fixed(cv, X, y, codes, fresh, n_repeats, groups, random_state)
    if members is not None:
        parted = {
            g
            for train, test in fixed.pairs
            for g in np.intersect1d(members[train], members[test]).tolist()
        }
        if parted:
            of = f" ({len(parted)} of {plural(int(members.max()) + 1, 'group')} are parted)"
            _warn_of_parted_groups(cv, of)
    return fixed


def _warn_of_parted_groups(cv: Any, of: str) -> None:
    warnings.warn(
        f"groups have no effect with {_name(cv)}{of}; give cv as a number of folds, or use "
        f"GroupKFold or StratifiedGroupKFold, to keep a group in one fold",
        UserWarning,
        stacklevel=4,
    )


def _splits_groups(cv: Any) -> bool:
    """Tell whether a splitter of scikit-learn's kind asks for groups."""
    routing = getattr(cv, "get_metadata_routing", None)
    if routing is None or not hasattr(cv, "split"):
        return False
    return routing().split.requests.get("groups") is True


def _indices(part: Any) -> Index:
    """Return one part of a split as indices; boolean masks are allowed, as in scikit-learn."""
    array = np.asarray(part)
    return np.flatnonzero(array) if array.dtype == np.bool_ else array.astype(np.intp)


def _name(cv: Any) -> str:
    if cv is None or isinstance(cv, numbers.Integral):
        return f"cv={cv}"
    if hasattr(cv, "split"):
        return f"cv={type(cv).__name__}"
    return f"cv (a list of {len(cv)} splits)" if hasattr(cv, "__len__") else "cv (splits)"


def _as_fresh(
    cv: Any,
    codes: NDArray[np.int32] | None,
    n: int,
    n_repeats: int,
    groups: NDArray[np.int32] | None,
) -> FreshFolds | None:
    from sklearn.model_selection import (
        GroupKFold,
        KFold,
        RepeatedKFold,
        RepeatedStratifiedKFold,
        StratifiedGroupKFold,
        StratifiedKFold,
    )

    plain = np.zeros(n, dtype=np.int32)
    stratify = codes is not None
    n_folds: int
    if cv is None:
        n_folds = 5
    elif isinstance(cv, numbers.Integral) and not isinstance(cv, bool):
        n_folds = int(cv)
        if n_folds < 2:
            raise ValueError(f"cv must be at least 2 folds, got {n_folds}")
    elif type(cv) in (KFold, StratifiedKFold):
        n_folds, stratify, groups = cv.n_splits, type(cv) is StratifiedKFold, None
    elif type(cv) in (GroupKFold, StratifiedGroupKFold):
        n_folds, stratify = cv.n_splits, type(cv) is StratifiedGroupKFold
    elif type(cv) in (RepeatedKFold, RepeatedStratifiedKFold):
        n_folds, stratify = cv.cvargs["n_splits"], type(cv) is RepeatedStratifiedKFold
        n_repeats, groups = n_repeats * cv.n_repeats, None
    else:
        return None
    if stratify and codes is None:
        raise ValueError(f"{type(cv).__name__} needs classes to stratify by, and y is numeric")
    strata = codes if stratify and codes is not None else plain
    return FreshFolds(n_folds, n_repeats, strata, stratify, groups)


def _check_folds(fresh: FreshFolds, classes: NDArray[Any] | None) -> None:
    n = len(fresh.codes)
    if fresh.n_folds > n:
        raise ValueError(
            f"cv={fresh.n_folds} folds need at least as many samples, got {n}; lower cv"
        )
    if fresh.n_folds > fresh.n_groups:
        raise ValueError(
            f"cv={fresh.n_folds} folds of whole groups need at least as many groups, got "
            f"{fresh.n_groups}; lower cv to {fresh.n_groups} or fewer"
        )
    if not fresh.stratified:
        return
    counts = np.bincount(fresh.codes)
    labels = (
        [str(c) for c in classes] if classes is not None else [str(c) for c in range(len(counts))]
    )
    listed = ", ".join(
        f"{label}: {count}" for label, count in zip(labels[:8], counts, strict=False)
    )
    if counts.max() < 2:
        raise ValueError(f"no class has two members ({listed}): there is nothing to learn from")
    if fresh.n_folds > counts.max():
        raise ValueError(
            f"cv={fresh.n_folds} folds are more than any class has members ({listed}); "
            f"lower cv to {counts.max()} or fewer"
        )
    if fresh.n_folds > counts.min():
        warnings.warn(
            f"The least populated class in y has only {counts.min()} members, which is less than "
            f"n_splits={fresh.n_folds} ({listed}).",
            UserWarning,
            stacklevel=4,
        )
        return
    if fresh.groups is None:
        return
    places = np.unique(np.stack([fresh.codes, fresh.groups]), axis=1)[0]
    spread = np.bincount(places, minlength=len(counts))  # groups that hold some of a class
    if spread.max() < 2:
        raise ValueError(
            f"no class stands in two groups ({listed}): folds of whole groups then train on the "
            "other classes alone; give groups that hold several classes, or smaller ones"
        )
    few = np.flatnonzero(spread < fresh.n_folds)
    if len(few):
        held = [f"{labels[c]} in {spread[c]}" for c in few]
        warnings.warn(
            f"some classes stand in fewer groups than cv={fresh.n_folds} ({shorten(held)} of "
            f"{fresh.n_groups} groups), so some folds lack them; lower cv",
            UserWarning,
            stacklevel=4,
        )


def _fixed(
    cv: Any,
    X: Any,
    y: Any,
    codes: NDArray[np.int32] | None,
    fresh: FreshFolds | None,
    n_repeats: int,
    groups: Any,
    random_state: Any,
) -> FixedSplits:
    from sklearn.model_selection import (
        GroupKFold,
        RepeatedKFold,
        RepeatedStratifiedKFold,
        StratifiedGroupKFold,
        check_cv,
    )

    splitter = cv
    if cv is None or isinstance(cv, numbers.Integral):
        n_folds = 5 if cv is None else int(cv)
        if groups is not None and n_repeats > 1:
            # A repeat of scikit-learn's own group folds differs in ties alone.
            assert fresh is not None
            pairs = fresh.splits(key_of(random_state))
            return FixedSplits(pairs, fresh, f"{n_repeats} x {n_folds}-fold of groups")
        if groups is not None:
            splitter = (GroupKFold if codes is None else StratifiedGroupKFold)(n_folds)
        elif n_repeats == 1:
            splitter = check_cv(n_folds, y, classifier=codes is not None)
        else:
            kind = RepeatedKFold if codes is None else RepeatedStratifiedKFold
            splitter = kind(n_splits=n_folds, n_repeats=n_repeats, random_state=random_state)
        text = f"{n_repeats} x {n_folds}-fold" if n_repeats > 1 else f"{n_folds}-fold"
        text += "" if groups is None else " of groups"
    elif n_repeats > 1:
        raise ValueError(
            f"n_repeats={n_repeats} repeats a number of folds; with {_name(cv)} use a repeated "
            f"splitter, for example RepeatedStratifiedKFold, and leave n_repeats at 1"
        )
    else:
        splitter = check_cv(cv, y, classifier=codes is not None)
        text = type(splitter).__name__
    with warnings.catch_warnings():
        if fresh is not None:  # said already, with the classes' names
            warnings.filterwarnings("ignore", message="The least populated class")
        pairs = [
            (_indices(train), _indices(test))
            for train, test in splitter.split(
                X, y, None if fresh is not None and fresh.groups is None else groups
            )
        ]
    if not pairs:
        raise ValueError(f"{_name(cv)} gave no splits")
    for k, (train, test) in enumerate(pairs):
        if len(train) == 0 or len(test) == 0:
            part = "training" if len(train) == 0 else "test"
            raise ValueError(f"split {k} of {_name(cv)} has an empty {part} set")
        least, most = min(train.min(), test.min()), max(train.max(), test.max())
        if least < 0 or most >= len(y):
            raise ValueError(
                f"split {k} of {_name(cv)} lists samples from {least} to {most}; with {len(y)} "
                f"samples they must lie in [0, {len(y) - 1}]"
            )
    return FixedSplits(pairs, fresh, text)
