"""Checks of what users pass, worded alike everywhere: they return it or say what is wrong."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal, TypeAlias, TypeGuard, TypeVar

import numpy as np

__all__ = [
    "SEEDS",
    "RandomState",
    "check_choice",
    "check_flag",
    "check_int",
    "check_number",
    "is_number",
    "is_whole",
    "key_of",
    "seed",
]

T = TypeVar("T")
Closed: TypeAlias = Literal["neither", "left", "right", "both"]

#: What users may pass as ``random_state``.
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

#: Seeds lie in [0, SEEDS).
SEEDS = 2**64

_FEW = 3  # choices that are told as "a, b or c"; more are "one of a, b, c"


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


def check_int(
    name: str, value: object, least: int, most: int | None = None, *, instead: str = ""
) -> int:
    """Return a whole number from ``least`` to ``most``, or say what was expected and what came.

    Parameters
    ----------
    name : str
        Of the parameter.
    value : object
    least : int
    most : int, optional
        None for no limit.
    instead : str, default ""
        What else the parameter may be, such as ``"or None"``, for the message alone.

    Raises
    ------
    ValueError
        If it is no whole number, or one outside.

    Examples
    --------
    >>> check_int("max_iter", 0, 1, instead="or None")
    Traceback (most recent call last):
    ValueError: max_iter must be a whole number from 1 on or None, got 0
    >>> check_int("n_bins", 256, 2, 255)
    Traceback (most recent call last):
    ValueError: n_bins must be a whole number from 2 to 255, got 256
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        upwards = "on" if most is None else f"to {most}"
        expected = f"a whole number from {least} {upwards} {instead}".rstrip()
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    return int(value)


def check_number(
    name: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    closed: Closed = "neither",
    unit: str = "",
    instead: str = "",
    hint: str = "",
) -> float:
    """Return a real number of an interval, or say what was expected and what came.

    Parameters
    ----------
    name : str
        Of the parameter.
    value : object
    low, high : float
        Ends of the interval. One that is infinite is no number unless it is ``closed``.
    closed : {"neither", "left", "right", "both"}, default "neither"
        Which ends belong to it.
    unit : str, default ""
        What the number counts, such as ``"seconds"``, for the message alone.
    instead : str, default ""
        What else the parameter may be, such as ``"or None"``, for the message alone.
    hint : str, default ""
        What helps, for the end of the message alone.

    Raises
    ------
    ValueError
        If it is no real number (True and NaN are none), or one outside.

    Examples
    --------
    >>> check_number("level", 0.95, 0, 1)
    0.95
    >>> check_number("level", 95, 0, 1, hint="0.95 asks for a 95 % interval")
    Traceback (most recent call last):
    ValueError: level must be a number in (0, 1), got 95; 0.95 asks for a 95 % interval
    >>> check_number("sample_size", 1.5, 0, 1, closed="right")
    Traceback (most recent call last):
    ValueError: sample_size must be a number in (0, 1], got 1.5
    >>> check_number("max_time", 0, 0, closed="right", unit="seconds", instead="or None")
    Traceback (most recent call last):
    ValueError: max_time must be a number of seconds above 0 or None, got 0
    >>> check_number("beta", float("inf"), 0, closed="left")
    Traceback (most recent call last):
    ValueError: beta must be a finite number from 0 on, got inf
    """
    left, right = closed in ("left", "both"), closed in ("right", "both")
    if (
        is_number(value)
        and (value >= low if left else value > low)
        and (value <= high if right else value < high)
    ):
        with suppress(OverflowError):  # a whole number beyond all floats
            return float(value)
    expected = "a number" if high < math.inf or right else "a finite number"
    if unit:
        expected += f" of {unit}"
    if high < math.inf:
        expected += f" in {'[' if left else '('}{low:g}, {high:g}{']' if right else ')'}"
    elif low > -math.inf:
        expected += f" from {low:g} on" if left else f" above {low:g}"
    expected = f"{expected} {instead}".rstrip()
    raise ValueError(f"{name} must be {expected}, got {value!r}{'; ' if hint else ''}{hint}")


def check_choice(name: str, value: T, choices: Iterable[str | None], *, instead: str = "") -> T:
    """Return one of some names, or say which there are and what came.

    Parameters
    ----------
    name : str
        Of the parameter.
    value : object
    choices : iterable of str or None
    instead : str, default ""
        What else the parameter may be, such as ``"or a function"``, for the message alone.

    Raises
    ------
    ValueError
        If it is none of them.

    Examples
    --------
    >>> check_choice("unit", "hartley", ("bits", "nats"))
    Traceback (most recent call last):
    ValueError: unit must be 'bits' or 'nats', got 'hartley'
    >>> check_choice("relevance", "mi", ("f", "ks"), instead="or a function")
    Traceback (most recent call last):
    ValueError: relevance must be 'f', 'ks' or a function, got 'mi'
    """
    choices = tuple(choices)
    if (value is None or isinstance(value, str)) and value in choices:
        return value
    told = [repr(choice) for choice in choices]
    if instead or len(told) > _FEW:
        expected = f"{'one of ' if len(told) > _FEW else ''}{', '.join(told)} {instead}".rstrip()
    else:
        expected = " or ".join(filter(None, [", ".join(told[:-1]), told[-1]]))
    raise ValueError(f"{name} must be {expected}, got {value!r}")


def check_flag(name: str, value: object, *, optional: bool = False) -> bool | None:
    """Return True or False (None where it is ``optional``), or say what came.

    Raises
    ------
    ValueError
        If it is anything else; numbers are no flags.

    Examples
    --------
    >>> check_flag("resume", 1)
    Traceback (most recent call last):
    ValueError: resume must be True or False, got 1
    """
    if value is None and optional:
        return None
    if not isinstance(value, (bool, np.bool_)):
        expected = "True, False or None" if optional else "True or False"
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    return bool(value)


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
