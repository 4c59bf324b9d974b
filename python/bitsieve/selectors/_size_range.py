"""The range of sizes that ``n_features_to_select`` asks of a sequential search."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from bitsieve._checks import is_number, is_whole
from bitsieve._errors import plural
from bitsieve.selectors._space import Space

__all__ = ["size_range", "warn_of_size"]

_BUDGETS = ("max_evaluations", "max_time")


def size_range(given: Any, space: Space, *, adds: bool, by_tol: bool) -> tuple[int, int]:
    """Return the range of sizes of a search over units, forced ones not counted.

    Parameters
    ----------
    given : "auto", int, float or (int, int)
        What the user gave as ``n_features_to_select``.
    space : Space
    adds : bool
        Whether the search goes forward.
    by_tol : bool
        Whether "auto" ends where a step gains too little.

    Raises
    ------
    ValueError
        For what is no size, and for sizes that cannot be.
    """
    n = space.n_forced + space.n_units
    least = 0 if space.n_forced else 1
    if isinstance(given, str) and given == "auto":
        if by_tol:
            # As many steps as scikit-learn makes at most: to all features but one, or to one.
            return (least, max(1, space.n_units - 1)) if adds else (least, space.n_units)
        half = n // 2 if adds else n - n // 2
        size = min(max(half - space.n_forced, least), space.n_units)
        return size, size
    if isinstance(given, tuple):
        if len(given) != 2 or not all(is_whole(end) for end in given) or given[0] > given[1]:
            raise ValueError(
                f"n_features_to_select must be a pair (lo, hi) of whole numbers, got {given!r}"
            )
        return space.size(given[0], least=least), space.size(given[1], least=least)
    size = given
    if is_number(given) and not is_whole(given) and 0 < given <= 1:
        size = int(n * given)
        if size == 0:
            raise ValueError(f"n_features_to_select={given} of {n} features is none")
    elif not is_whole(given):
        raise ValueError(
            "n_features_to_select must be 'auto', a whole number, a fraction in (0, 1] or a "
            f"pair (lo, hi), got {given!r}"
        )
    size = space.size(int(size), least=least)
    return size, size


def warn_of_size(
    given: Any,
    space: Space,
    *,
    asked: tuple[int, int],
    reached: int,
    reasons: Mapping[str, object],
    rules: Mapping[str, object],
) -> None:
    """Warn where a budget ended a search short of the sizes asked for, or before its own rule did.

    Parameters
    ----------
    given : object
        What the user gave as ``n_features_to_select``.
    space : Space
    asked : (int, int)
        The range of sizes of the search, forced units not counted.
    reached : int
        The size of the selection, counted as these.
    reasons : mapping of str to object
        Why the search stopped.
    rules : mapping of str to object
        Parameters that were to end it within the range; None for those that were not given.

    Warns
    -----
    ConvergenceWarning
        Of scikit-learn.
    """
    budgets = [f"{name}={reasons[name]}" for name in _BUDGETS if name in reasons]
    open_rules = [f"{name}={rule}" for name, rule in rules.items() if rule is not None]
    if not budgets or reasons.keys() & rules.keys():
        return
    low, high = (size + space.n_forced for size in asked)
    if not asked[0] <= reached <= asked[1]:
        short = f"not at n_features_to_select={given!r}"
        if not is_whole(given) and not isinstance(given, tuple):
            aim = low if low == high else f"{low} to {high}"
            short = f"not at the {aim} of n_features_to_select={given!r}"
    elif open_rules and low < high:
        short = f"before {' or '.join(open_rules)} did"
    else:
        return
    warnings.warn(
        f"{' and '.join(budgets)} ended the search at "
        f"{plural(reached + space.n_forced, 'feature')}, {short}: allow it more, or begin nearer "
        "with start",
        ConvergenceWarning,
        stacklevel=4,
    )
