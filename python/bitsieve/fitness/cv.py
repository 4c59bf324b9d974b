"""From ``cv`` to splits: numbers of folds, scikit-learn's splitters, lists of (train, test)."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int, is_whole, key_of
from bitsieve._errors import plural, shorten
from bitsieve.data.groups import (
    count_parted_groups,
    group_codes,
    group_values,
    refuse_missing_groups,
)
from bitsieve.fitness.shuffled import ShuffledFolds
from bitsieve.fitness.splits import FixedSplits, FreshFolds, Index

__all__ = ["make_splits"]


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
    repeated or fresh ones are drawn from the seed. :class:`ShuffledFolds` are drawn from their own.

    Raises
    ------
    ValueError
        If the splitter cannot be redrawn and ``resample`` asks for it, if there are more folds
        than members of the largest class or than groups, if a splitter needs groups and has
        none, or if a split is empty.
    """
    check_int("n_repeats", n_repeats, 1)
    n_repeats = int(n_repeats)
    members = None
    if groups is not None:
        members, groups = group_codes(groups, len(y)), group_values(groups, len(y))
    else:
        refuse_missing_groups(cv)
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
        n_parted = count_parted_groups(members, fixed.pairs)
        if n_parted:
            of = f" ({n_parted} of {plural(int(members.max()) + 1, 'group')} are parted)"
            _warn_of_parted_groups(cv, of)
    return fixed


def _warn_of_parted_groups(cv: Any, of: str) -> None:
    warnings.warn(
        f"groups have no effect with {_name(cv)}{of}; give cv as a number of folds, or use "
        f"GroupKFold or StratifiedGroupKFold, to keep a group in one fold",
        UserWarning,
        stacklevel=4,
    )


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

    stratify = codes is not None
    n_folds: int
    if cv is None:
        n_folds = 5
    elif is_whole(cv):
        n_folds = int(cv)
        if n_folds < 2:
            raise ValueError(f"cv must be at least 2 folds, got {n_folds}")
    elif isinstance(cv, ShuffledFolds):
        n_folds, n_repeats = cv.n_folds, n_repeats * cv.n_repeats
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
    return FreshFolds(n, n_folds, n_repeats, codes if stratify else None, groups)


def _check_folds(fresh: FreshFolds, classes: NDArray[Any] | None) -> None:
    if fresh.n_folds > fresh.n_samples:
        raise ValueError(
            f"cv={fresh.n_folds} folds need at least as many samples, got {fresh.n_samples}; "
            "lower cv"
        )
    if fresh.n_folds > fresh.n_groups:
        raise ValueError(
            f"cv={fresh.n_folds} folds of whole groups need at least as many groups, got "
            f"{fresh.n_groups}; lower cv to {fresh.n_groups} or fewer"
        )
    if fresh.strata is None:
        return
    counts = np.bincount(fresh.strata)
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
    places = np.unique(np.stack([fresh.strata, fresh.groups]), axis=1)[0]
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


def _shuffled_text(fresh: FreshFolds) -> str:
    kind = "" if fresh.strata is None else " stratified"
    rounds = f" {fresh.n_repeats} x" if fresh.n_repeats > 1 else ""
    whole = "" if fresh.groups is None else " of whole groups"
    return f"shuffled{kind}{rounds} {fresh.n_folds}-fold{whole}"


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
    elif isinstance(cv, ShuffledFolds):
        assert fresh is not None
        splitter, text = None, _shuffled_text(fresh)
    else:
        splitter = check_cv(cv, y, classifier=codes is not None)
        text = type(splitter).__name__
    with warnings.catch_warnings():
        if fresh is not None:  # said already, with the classes' names
            warnings.filterwarnings("ignore", message="The least populated class")
        pairs = (
            fresh.splits(key_of(cv.random_state))
            if splitter is None and fresh is not None
            else [
                (_indices(train), _indices(test))
                for train, test in splitter.split(
                    X, y, None if fresh is not None and fresh.groups is None else groups
                )
            ]
        )
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
