"""Checks of numbers that users pass, worded alike in every room."""

from __future__ import annotations

import secrets
from typing import TypeAlias, TypeGuard

import numpy as np

__all__ = ["SEEDS", "RandomState", "is_number", "is_whole", "key_of", "seed", "whole"]

#: What users may pass as ``random_state``.
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

#: Seeds lie in [0, SEEDS).
SEEDS = 2**64


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer of Python or numpy; True and False are none.

    Examples
    --------
    >>> import numpy as np
    >>> is_whole(np.int8(3)), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number of Python or numpy; True and False are none.

    Examples
    --------
    >>> import numpy as np
    >>> is_number(3), is_number(np.float32(0.5)), is_number(True), is_number("3")
    (True, True, False, False)
    """
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def whole(name: str, value: object, least: int, *, instead: str = "") -> int:
    """Return a whole number from ``least`` on, or say what was expected and what came.

    Parameters
    ----------
    name : str
        Of the parameter.
    value : object
    least : int
    instead : str, default ""
        What else the parameter may be, such as ``"or None"``, for the message alone.

    Raises
    ------
    ValueError
        If it is no whole number, or a smaller one.

    Examples
    --------
    >>> whole("max_iter", 0, 1, instead="or None")
    Traceback (most recent call last):
    ValueError: max_iter must be a whole number from 1 on or None, got 0
    """
    if not is_whole(value) or value < least:
        expected = f"a whole number from {least} on {instead}".rstrip()
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    return int(value)


def seed(name: str, value: object, *, instead: str = "") -> int:
    """Return a seed in [0, 2**64), or say what was expected and what came.

    Raises
    ------
    ValueError
        If it is no whole number, or one outside.

    Examples
    --------
    >>> seed("seed", 2**64 - 1) == 2**64 - 1
    True
    """
    if not is_whole(value):
        expected = f"a whole number in [0, 2**64) {instead}".rstrip()
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    if not 0 <= value < SEEDS:
        raise ValueError(f"{name} must lie in [0, 2**64), got {value}")
    return int(value)


def key_of(random_state: object) -> int:
    """Return the key that ``random_state`` stands for; None asks the operating system for one.

    Parameters
    ----------
    random_state : int, numpy Generator or RandomState, or None

    Returns
    -------
    int
        In [0, 2**64).

    Raises
    ------
    ValueError
        If it is none of these, or an integer outside [0, 2**64).

    Examples
    --------
    >>> key_of(7)
    7
    """
    if random_state is None:
        return secrets.randbits(64)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, SEEDS, dtype=np.uint64))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, SEEDS, dtype=np.uint64))
    expected = "or None, or a numpy Generator or RandomState"
    return seed("random_state", random_state, instead=expected)
