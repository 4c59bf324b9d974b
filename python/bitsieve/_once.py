"""Lines for the log that are said once, however often what they tell of is repeated."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["info_once", "said_once"]

_said: ContextVar[set[str] | None] = ContextVar("said", default=None)


@contextmanager
def said_once() -> Iterator[None]:
    """Let :func:`info_once` repeat nothing while this is open, such as over outer folds.

    Examples
    --------
    >>> with said_once():
    ...     info_once("the same in every fold")
    """
    if _said.get() is not None:  # within another one, whose end counts
        yield
        return
    token = _said.set(set())
    try:
        yield
    finally:
        _said.reset(token)


def info_once(line: str, **attributes: Any) -> None:
    """Log a line at the level INFO, unless it was said already where that is once for all.

    Parameters
    ----------
    line : str
    **attributes
        Of the log record, for handlers.

    Examples
    --------
    >>> info_once("scikit-learn evaluates each mask", fallback_reason="no compiled kernel for SVC")
    """
    said = _said.get()
    if said is None or line not in said:
        logging.getLogger("bitsieve").info("%s", line, extra=attributes)
    if said is not None:
        said.add(line)
