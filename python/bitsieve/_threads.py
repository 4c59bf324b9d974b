"""How many threads a call may use."""

from __future__ import annotations

import os

from bitsieve._checks import is_whole


def _limit(variable: str) -> int | None:
    text = os.environ.get(variable, "").split(",")[0].strip()
    if not text:
        return None
    try:
        return max(1, int(text))
    except ValueError:
        raise ValueError(f"{variable} must be a whole number, got {text!r}") from None


def _inside_worker() -> bool:
    """Tell whether this process works for a loky or Dask pool, whose workers share the cores."""
    import multiprocessing

    return (
        multiprocessing.current_process().name.startswith(("LokyProcess", "Dask"))
        or "DASK_WORKER_NAME" in os.environ
    )


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` stands for.

    Parameters
    ----------
    n_jobs : int or None
        ``None``: all cores this process may use, within ``OMP_NUM_THREADS`` and
        ``BITSIEVE_NUM_THREADS``; one inside a loky or Dask worker. A positive number is taken
        as it is; -1 means all cores, -2 all but one, as in joblib.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If ``n_jobs`` is zero or not a whole number.
    """
    import joblib

    if n_jobs is None:
        if _inside_worker():
            return 1
        limits = [_limit("OMP_NUM_THREADS"), _limit("BITSIEVE_NUM_THREADS"), joblib.cpu_count()]
        return min(int(limit) for limit in limits if limit is not None)
    if not is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
    if n_jobs < 0:
        return max(1, int(joblib.cpu_count()) + 1 + int(n_jobs))
    return int(n_jobs)
