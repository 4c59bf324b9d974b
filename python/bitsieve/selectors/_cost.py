"""What a search will take where no kernel serves, said before it starts."""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any

import numpy as np

from bitsieve._errors import duration
from bitsieve._threads import effective_n_jobs
from bitsieve.masks import Masks

__all__ = ["tell_cost"]

logger = logging.getLogger("bitsieve")

_SHORT = 0.5  # seconds of a first evaluation that is made once more: it loads modules
_LONG = 60.0  # seconds of a whole search that are worth a warning


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
    for _ in range(2):
        began = time.perf_counter()
        fitness.evaluate(mask)
        seconds = time.perf_counter() - began
        if seconds > _SHORT:
            break
    total = seconds * n_evaluations / max(1, min(effective_n_jobs(n_jobs), n_evaluations))
    text = (
        f"no kernel serves this estimator ({fitness.fallback_reason}): {bound} {n_evaluations:,} "
        f"evaluations by scikit-learn, {seconds:.2g} s each, about {duration(total)} for the "
        "search"
    )
    logger.info(text, extra={"search_seconds": total, "search_bound": bound})
    if total >= _LONG:
        warnings.warn(text, UserWarning, stacklevel=4)
