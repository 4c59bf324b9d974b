"""What a search or an elimination will take, said before it starts."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bitsieve._errors import duration
from bitsieve._threads import effective_n_jobs
from bitsieve.masks import Masks

__all__ = ["say_cost", "seconds_of", "tell_cost"]

logger = logging.getLogger("bitsieve")

_SHORT = 0.5  # seconds of a first call that is made once more: it loads modules
_LONG = 60.0  # seconds of the whole that are worth a warning


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds of a call, which is made twice where it is short.

    Examples
    --------
    >>> seconds_of(lambda: 1) < 1
    True
    """
    for _ in range(2):
        began = time.perf_counter()
        call()
        seconds = time.perf_counter() - began
        if seconds > _SHORT:
            break
    return seconds


def say_cost(text: str, total: float, *, bound: str, stacklevel: int) -> None:
    """Log what the whole will take, and warn where it is a minute or more.

    Parameters
    ----------
    text : str
    total : float
        Seconds.
    bound : {"at most", "at least", "about"}
        What the total is.
    stacklevel : int
        Of the warning, as for a caller.
    """
    logger.info(text, extra={"search_seconds": total, "search_bound": bound})
    if total >= _LONG:
        warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)


def tell_cost(
    fitness: Any, n_evaluations: int, n_selected: int, *, n_jobs: int | None, bound: str
) -> None:
    """Measure one evaluation, and say what all of them take.

    Parameters
    ----------
    fitness : bitsieve.fitness.Fitness
    n_evaluations : int
        Of the whole search.
    n_selected : int
        Features of a typical mask.
    n_jobs : int or None
    bound : {"at most", "at least", "about"}
        What the number of evaluations is.

    Warns
    -----
    UserWarning
        Where it is a minute or more.
    """
    p = fitness.n_features
    rows = np.linspace(0, p - 1, max(1, min(n_selected, p))).astype(int)
    mask = Masks.from_indices([rows], p)
    seconds = seconds_of(lambda: fitness.evaluate(mask))
    total = seconds * n_evaluations / max(1, min(effective_n_jobs(n_jobs), n_evaluations))
    text = (
        f"no kernel serves this estimator ({fitness.fallback_reason}): {bound} {n_evaluations:,} "
        f"evaluations by scikit-learn, {seconds:.2g} s each, about {duration(total)} for the "
        "search"
    )
    say_cost(text, total, bound=bound, stacklevel=4)
