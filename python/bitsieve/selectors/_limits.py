"""What the limits that the user gave are to a search: its batches, its share, an end at all."""

from __future__ import annotations

from typing import Any

from bitsieve._checks import is_whole
from bitsieve.search.limits import Limits

__all__ = ["refuse_endless", "share_of_limits", "within"]

_LIMITS = ("max_iter", "max_evaluations", "max_time", "patience")


def within(max_evaluations: Any, n_masks: int) -> int:
    """Return how many masks an ask may have: so many, or what there is left to measure.

    Parameters
    ----------
    max_evaluations : int or None
        Looked at no further where it is no limit: the loop refuses that.
    n_masks : int

    Examples
    --------
    >>> within(None, 32), within(10, 32), within(0, 32)
    (32, 10, 32)
    """
    if not is_whole(max_evaluations) or max_evaluations < 1:
        return n_masks
    return min(n_masks, int(max_evaluations))


def share_of_limits(
    n_restarts: int, max_evaluations: int | None, max_time: float | None
) -> tuple[int | None, float | None]:
    """Return the limits of one restart, an equal share of those of all.

    Raises
    ------
    ValueError
        If a limit is out of its range, or leaves no evaluation to a restart.

    Examples
    --------
    >>> share_of_limits(3, 100, None)
    (33, None)
    """
    if n_restarts == 1:
        return max_evaluations, max_time
    Limits(max_evaluations, None, max_time, None)
    if max_evaluations is not None and max_evaluations < n_restarts:
        raise ValueError(
            f"max_evaluations={max_evaluations} is for all of the n_restarts={n_restarts}: give at "
            "least one to each"
        )
    return (
        None if max_evaluations is None else int(max_evaluations) // n_restarts,
        None if max_time is None else float(max_time) / n_restarts,
    )


def refuse_endless(selector: Any, search: Any, *limits: float | None) -> None:
    """Refuse a search that neither a limit nor a callback nor itself would end.

    Parameters
    ----------
    selector : SearchSelector
        Whose class and parameters the message names.
    search : Search
    *limits : float or None
        All that it has; None is no limit.

    Raises
    ------
    ValueError
    """
    if any(limit is not None for limit in limits) or selector.callbacks:
        return
    if getattr(search, "stops_itself", True):
        return
    *names, last = (name for name in _LIMITS if hasattr(selector, name))
    raise ValueError(
        f"{type(selector).__name__} never stops by itself: give {', '.join(names)} or {last}, or "
        "a callback that stops it"
    )
