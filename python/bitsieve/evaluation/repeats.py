"""A selection made again: on disjoint halves of the samples, and with other seeds."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from bitsieve import _core
from bitsieve._checks import RandomState, check_int, check_number, key_of
from bitsieve._errors import DuplicateSamplesWarning, plural
from bitsieve._once import said_once
from bitsieve._random import Random, Stream, with_seed
from bitsieve.data.groups import group_codes, group_values
from bitsieve.evaluation.agreement import Stability, stability
from bitsieve.evaluation.grouping import group_params
from bitsieve.evaluation.rows import n_columns, take_rows
from bitsieve.evaluation.support import is_selecting, last_selecting_step, steps_of, support_of

__all__ = ["SelectionStability", "selection_stability"]

# Lanes of the stream of outer folds; the low ones are those of the folds themselves.
_HALVES, _SEEDS = 2**32, 2**32 + 1

#: Samples of the smallest class that two halves need.
_LEAST = 4

_TITLES = {"folds": "Outer folds", "halves": "Disjoint halves", "seeds": "Other seeds"}


@dataclass(frozen=True, repr=False, eq=False)
class SelectionStability:
    """How much a selection changes with the samples and with the seed.

    Attributes
    ----------
    folds : Stability or None
        Agreement of the selections of the outer folds, where those were given.
    halves : Stability or None
        Mean agreement of the selections of two disjoint halves of the samples.
    seeds : Stability or None
        Agreement of the selections of the same samples with other seeds.
    reasons : mapping of str to str
        For each of the above that is None, why.
    held : bool
        Whether the settings of the fitted selector were held, so that only its selection was
        repeated and not its choice of settings.
    half_sizes : tuple of int
        Least and greatest number of samples of a half; empty without halves.
    random_state : int
        What splits and seeds were drawn from; pass it to repeat the measurement.
    """

    folds: Stability | None
    halves: Stability | None
    seeds: Stability | None
    reasons: Mapping[str, str]
    held: bool
    half_sizes: tuple[int, ...]
    random_state: int

    def text(self) -> str:
        """Return what was measured, and what it speaks of.

        Returns
        -------
        str
            Several lines, without a final newline.
        """
        lines = []
        for name, title in _TITLES.items():
            found: Stability | None = getattr(self, name)
            if found is not None:
                lines.append(f"{title}: {found.text()}")
            elif name in self.reasons:
                lines.append(f"{title}: not measured. {self.reasons[name]}")
        if self.half_sizes:
            least, most = self.half_sizes
            size = f"{least:,}" if least == most else f"{least:,} or {most:,}"
            lines.append(f"The two halves of a split are like two studies of {size} samples each.")
        if self.held and (self.halves is not None or self.seeds is not None):
            lines.append(
                "With the settings of the chosen panel held: that other samples might have led to "
                "another method or size is not in these numbers."
            )
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by name, as a record holds them.

        Returns
        -------
        dict
        """
        found = {name: getattr(self, name) for name in _TITLES}
        return {
            **{name: one.as_dict() for name, one in found.items() if one is not None},
            "not_measured": dict(self.reasons),
            "settings_held": self.held,
            "half_sizes": list(self.half_sizes),
            "random_state": self.random_state,
        }

    def __repr__(self) -> str:
        return self.text()


def selection_stability(
    selector: Any,
    X: Any,
    y: ArrayLike,
    *,
    halves: int = 20,
    seeds: int = 5,
    folds: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    level: float = 0.95,
) -> SelectionStability:
    """Repeat a selection on disjoint halves of the samples and with other seeds.

    The two halves of a split share no sample, so that their agreement is that of two studies of
    half the size; outer folds share most of their samples and agree more. Other seeds on the same
    samples tell how much of a panel is the luck of the search.

    Parameters
    ----------
    selector : selector or Pipeline
        Anything with ``get_support``, or a pipeline that selects. Clones of it are fitted. One
        that is fitted and has a method ``refit(X, y) -> support`` is not cloned: that method
        selects anew with the settings of the fitted one held.
    X : array-like or DataFrame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels, of which each half gets its share, or numbers.
    halves : int, default 20
        Number of splits into two halves; 0 for none.
    seeds : int, default 5
        Number of seeds, at least 2; 0 for none.
    folds : bool array-like of shape (n_folds, n_features), optional
        ``NestedResult.supports``, to stand beside the others.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together: no split parts them, and they are handed to ``fit`` where it
        takes them.
    n_jobs : int, optional
        Processes over the repetitions; one after the other by default.
    random_state : int, Generator, RandomState or None, default None
        The splits and the seeds are drawn from it. Each repetition has a seed of its own, which
        stands for the selector's ``random_state`` too, as in :func:`nested_cross_validate`.
    level : float, default 0.95
        Level of confidence.

    Returns
    -------
    SelectionStability
        ``halves`` is None, and ``reasons`` says so, where a class has too few samples; ``seeds``
        where the selector has no random state.

    Raises
    ------
    ValueError
        Where nothing selects, lengths differ or a number is out of its range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from bitsieve.evaluation import selection_stability
    >>> X, y = load_iris(return_X_y=True)
    >>> found = selection_stability(SelectKBest(k=2), X, y, random_state=0)
    >>> found.halves.nogueira, found.seeds
    (Index(value=1.0, chance=0.0), None)
    """
    check_int("halves", halves, 0)
    check_int("seeds", seeds, 0)
    if seeds == 1:
        raise ValueError("seeds must be 0 (none) or at least 2 to be compared, got 1")
    check_number("level", level, 0, 1, hint="0.95 asks for a 95 % interval")
    X, y, groups = indexable(X, y, groups)
    labels = np.asarray(y)
    if groups is not None:
        groups = group_values(groups, len(labels))
    last_selecting_step(selector)
    key = key_of(random_state)
    repeat = _repeat(selector)
    reasons: dict[str, str] = {}
    splits: NDArray[np.int32] = np.empty((0, len(labels)), dtype=np.int32)
    if halves:
        splits, why = _halves(labels, groups, halves, key)
        if why:
            reasons["halves"] = why
    n_seeds = seeds
    if seeds and not repeat.is_seeded:
        n_seeds, reasons["seeds"] = 0, repeat.unseeded
    parts = [np.flatnonzero(split == half) for split in splits for half in (0, 1)]
    numbers = [*_words(key, _HALVES, 1, len(parts)), *_words(key, _SEEDS, 0, n_seeds)]
    rows: list[Any] = [*parts, *[None] * n_seeds]
    n_features = n_columns(X)
    if n_jobs is not None:
        n_jobs = min(n_jobs, max(len(rows), 1))  # joblib would start all of them
    with said_once():
        supports = Parallel(n_jobs=n_jobs)(
            delayed(_selected)(repeat, X, y, groups, part, number, n_features)
            for part, number in zip(rows, numbers, strict=True)
        )
    sizes = [len(part) for part in parts]
    return SelectionStability(
        folds=None if folds is None else stability(folds, level=level),
        halves=stability(supports[: len(parts)], sampling="halves", level=level) if parts else None,
        seeds=stability(supports[len(parts) :], sampling="seeds", level=level) if n_seeds else None,
        reasons=reasons,
        held=repeat.held,
        half_sizes=(min(sizes), max(sizes)) if parts else (),
        random_state=key,
    )


@dataclass(frozen=True)
class _Repeat:
    """What selects anew: clones of a selector, or the method of a fitted one."""

    selector: Any
    held: bool
    takes: frozenset[str]  # what a held one's method takes beside X and y

    @property
    def is_seeded(self) -> bool:
        if self.held:
            return "random_state" in self.takes
        names = self.selector.get_params(deep=True)
        return any(name.rpartition("__")[2] == "random_state" for name in names)

    @property
    def unseeded(self) -> str:
        if self.held:
            return "With its settings held the selection takes no seed."
        return "The selector has no random_state: the same samples give the same selection."

    def support(self, X: Any, y: Any, groups: Any, seed: int, n_features: int) -> Any:
        if self.held:
            given = {"groups": groups, "random_state": seed}
            return self.selector.refit(X, y, **{k: v for k, v in given.items() if k in self.takes})
        fresh = clone(self.selector)
        for _, step in steps_of(fresh):
            own = step.get_params(deep=False).get("random_state") if is_selecting(step) else None
            if own is not None:  # else searches that share their start would pass for stable
                step.set_params(random_state=seed)
        fresh = with_seed(fresh, seed)
        params = {} if groups is None else group_params(fresh, groups)
        return support_of(fresh.fit(X, y, **params), n_features)


def _repeat(selector: Any) -> _Repeat:
    method = getattr(selector, "refit", None)
    if not callable(method):
        return _Repeat(selector, False, frozenset())
    try:
        check_is_fitted(selector)
    except NotFittedError:
        return _Repeat(selector, False, frozenset())
    return _Repeat(selector, True, frozenset(inspect.signature(method).parameters))


def _words(key: int, lane: int, first: int, count: int) -> list[int]:
    """Return seeds of 32 bits, word ``first`` of the lane and those after it."""
    words = Random(key, Stream.outer_folds, lane=lane, position=first).words(count)
    return [int(word) >> 32 for word in words]


def _halves(
    labels: NDArray[Any], groups: Any, n_splits: int, key: int
) -> tuple[NDArray[np.int32], str]:
    """Return which half each sample is in, a row a split, or no row and the reason."""
    none = np.empty((0, len(labels)), dtype=np.int32)
    seed = int(Random(key, Stream.outer_folds, lane=_HALVES).words(1)[0])
    codes: NDArray[np.int32] = np.zeros(len(labels), dtype=np.int32)
    if type_of_target(labels) in ("binary", "multiclass"):
        classes, found = np.unique(labels, return_inverse=True)
        codes = found.reshape(-1).astype(np.int32)
        counts = np.bincount(codes)
        if counts.min() < _LEAST:
            return none, (
                f"Class {classes[counts.argmin()]} has {plural(int(counts.min()), 'sample')}, but "
                f"two halves need {_LEAST} of each."
            )
    elif len(labels) < _LEAST:
        return none, f"Two halves need {_LEAST} samples."
    n_classes = int(codes.max()) + 1
    if groups is None:
        return _core.stratified_folds(codes, n_classes, 2, n_splits, seed), ""
    members = group_codes(groups, len(labels))
    n_groups = int(members.max()) + 1
    if n_groups < 2:
        return none, "Two halves of whole groups need two groups."
    drawn = _core.group_folds(codes, n_classes, members, n_groups, 2, n_splits, seed)
    whole = [
        all(len(np.unique(codes[row == half])) == n_classes for half in (0, 1)) for row in drawn
    ]
    if not any(whole):
        return none, "In no split into halves of whole groups has each half every class."
    return drawn[whole], ""


def _selected(
    repeat: _Repeat, X: Any, y: Any, groups: Any, part: Any, seed: int, n_features: int
) -> NDArray[np.bool_]:
    if part is not None:
        X, y = take_rows(X, part), take_rows(y, part)
        groups = None if groups is None else take_rows(groups, part)
    with warnings.catch_warnings():  # said where the selection itself was made
        warnings.simplefilter("ignore", DuplicateSamplesWarning)
        warnings.filterwarnings("ignore", message="The least populated class")
        support = repeat.support(X, y, groups, seed, n_features)
    return np.asarray(support, dtype=bool)
