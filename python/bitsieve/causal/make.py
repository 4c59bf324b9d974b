"""A test of independence by its name, for whatever data there are."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import RandomState, check_choice, check_int, check_number
from bitsieve._threads import effective_n_jobs
from bitsieve.causal._compiled import MOST_KEPT, CompiledTest
from bitsieve.causal.discrete_tests import ChiSquared, GSquared
from bitsieve.causal.fisher import FisherZ
from bitsieve.causal.permutation import PermutationTest
from bitsieve.data import Table
from bitsieve.data.inputs import Inputs, check_input
from bitsieve.discrete import MAX_LEVELS, DiscreteTable, Discretization

__all__ = ["TestName", "make_test"]

TestName: TypeAlias = Literal["auto", "g2", "chi2", "fisher-z", "permutation"]

_MOST_LEVELS = 64  # distinct values of a numeric column that is taken as levels unasked
_ALWAYS = 10  # so many always are


def make_test(
    X: Any,
    y: Any = None,
    *,
    test: TestName = "auto",
    discretization: Discretization = "auto",
    n_bins: int = 10,
    discrete_features: Any = "auto",
    min_samples_per_cell: float = 5.0,
    n_permutations: int = 999,
    stop_after_hits: int | None = None,
    random_state: RandomState = 0,
    cache_size: int = MOST_KEPT,
    n_jobs: int | None = None,
) -> CompiledTest:
    """Return a test of independence of the columns of X and, as the last variable, of y.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        Feature f is variable f. Text, categories and booleans of a data frame are levels.
    y : array-like of shape (n_samples,), optional
        Classes or numbers, variable n_features; those of a Table by default. Without any there
        are only the features.
    test : {"auto", "g2", "chi2", "fisher-z", "permutation"}, default "auto"
        ``"auto"`` is G-squared where columns are text or categories or said to be levels, where
        at least half of the columns hold few whole numbers (a tenth of the samples and 64 at most,
        10 always, are few; constant columns do not count), or where y has more than two classes.
        Else it is Fisher's z, with the two classes of y as 0 and 1.
        ``"permutation"`` gives the test that ``"auto"`` would choose p-values by permutation.
    discretization : str, default "auto"
        How ``"g2"`` and ``"chi2"`` cut columns that are continuous, y among them where it is one
        (by ``"auto"`` where the method is ``"mdl"``, for which y must be classes):
        :meth:`bitsieve.discrete.DiscreteTable.of`.
    n_bins : int, default 10
        See there.
    discrete_features : "auto", bool, bool mask, positions or names, default "auto"
        Columns that hold levels whatever they look like.
    min_samples_per_cell : float, default 5.0
        See :class:`GSquared`.
    n_permutations, stop_after_hits, random_state
        See :class:`PermutationTest`.
    cache_size : int, default 65536
        Results that are remembered.
    n_jobs : int or None, default None
        Threads.

    Returns
    -------
    GSquared, ChiSquared, FisherZ or PermutationTest

    Raises
    ------
    ValueError
        If X or y are not fit for use or for the test, or a parameter is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> type(make_test(X, X[:, 0] > 0)).__name__  # two classes beside numbers
    'FisherZ'
    >>> type(make_test(X > 0, X[:, 0] > 0)).__name__
    'GSquared'
    >>> make_test(X, X[:, 0] > 0, test="chi2").table.n_levels
    array([3, 3, 3, 2], dtype=int32)
    """
    check_choice("test", test, ("auto", "g2", "chi2", "fisher-z", "permutation"))
    # Whether or not the test that is chosen has a use for them.
    check_number("min_samples_per_cell", min_samples_per_cell, 0, closed="left")
    check_int("n_permutations", n_permutations, 1)
    n_threads = effective_n_jobs(n_jobs)
    if y is None and isinstance(X, Table):
        y = X.y
    has_target = y is not None
    found = check_input(
        X, y, target=has_target, categories=True, discrete_features=discrete_features
    )
    kind = test
    if test in ("auto", "permutation"):
        kind = _choose(found, has_target, n_threads)
    base: CompiledTest
    if kind == "fisher-z":
        base = FisherZ(_as_numbers(found, has_target), n_jobs=n_jobs)
    else:
        table = DiscreteTable.of(
            X,
            y if discretization == "mdl" else None,
            discretization=discretization,
            n_bins=n_bins,
            discrete_features=discrete_features,
            n_jobs=n_jobs,
        )
        if has_target:
            method: Discretization = "auto" if discretization == "mdl" else discretization
            table = _with_target(table, found, method, n_bins, n_jobs)
        base = (ChiSquared if kind == "chi2" else GSquared)(
            table, min_samples_per_cell=min_samples_per_cell, cache_size=cache_size, n_jobs=n_jobs
        )
    names = found.names
    base.names = names if names is None or not has_target else [*names, _target_name(names)]
    if test != "permutation":
        return base
    return PermutationTest(
        base,
        n_permutations=n_permutations,
        stop_after_hits=stop_after_hits,
        random_state=random_state,
        cache_size=cache_size,
    )


def _target_name(names: list[str]) -> str:
    name = "target"
    while name in names:
        name += "_"
    return name


def _choose(found: Inputs, has_target: bool, n_threads: int) -> Literal["g2", "fisher-z"]:
    """G-squared where columns are said to be levels, or half of them hold few whole numbers.

    Constant columns are as good as either and do not decide.
    """
    if has_target and len(found.classes) > 2:
        return "g2"
    if found.discrete.any():
        return "g2"
    most = max(_ALWAYS, min(_MOST_LEVELS, found.n_samples // 10))
    n_levels = _core.encode_levels(found.X, most=most, n_threads=n_threads)[1]
    n_few, n_many = int((n_levels > 1).sum()), int((n_levels < 1).sum())
    return "g2" if n_few and n_few >= n_many else "fisher-z"


def _as_numbers(found: Inputs, has_target: bool) -> NDArray[np.float64]:
    """X and the target, which must be numbers or two classes."""
    if found.coded:
        which = found.coded[0]
        name = which if found.names is None else repr(found.names[which])
        raise ValueError(
            f"test='fisher-z' needs numbers, but column {name} holds text or categories; "
            "leave it out, or use test='g2'"
        )
    if not has_target:
        return np.ascontiguousarray(found.X, dtype=np.float64)
    if len(found.classes) > 2:
        raise ValueError(
            f"test='fisher-z' needs a numeric target or two classes, got {len(found.classes)} "
            "classes; use test='g2'"
        )
    target = found.codes if len(found.classes) else found.y
    return np.column_stack([found.X, target]).astype(np.float64, copy=False)


def _with_target(
    table: DiscreteTable,
    found: Inputs,
    method: Discretization,
    n_bins: int,
    n_jobs: int | None,
) -> DiscreteTable:
    """Add the target to a table of levels, as the last one."""
    n_classes = len(found.classes)
    if n_classes > MAX_LEVELS:
        raise ValueError(f"y has {n_classes} classes; {MAX_LEVELS} can be told apart")
    if n_classes:
        target = found.codes.astype(np.uint8)[:, None]
    else:
        y = found.y[:, None]
        target = DiscreteTable.of(y, discretization=method, n_bins=n_bins, n_jobs=n_jobs).codes
    return DiscreteTable(np.column_stack([table.codes, target]), n_jobs=n_jobs)
