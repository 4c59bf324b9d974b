"""Calls of scikit-learn in joblib's processes, from whatever thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

__all__ = ["in_processes"]

# The processes of loky are shared by all of a process, and their number is changed by whoever asks
# for another one. Threads that do so at once wait for each other for ever (joblib 1.5).
_shared = threading.RLock()


def _new_lock() -> None:
    global _shared
    _shared = threading.RLock()


if hasattr(os, "register_at_fork"):  # the child may find it held by a thread that it has not
    os.register_at_fork(after_in_child=_new_lock)


def in_processes(calls: Iterable[Any], n_jobs: int) -> list[Any]:
    """Make calls in parallel, as joblib is told to, and return what they return.

    Several threads may ask at once: one after the other has the processes.

    Parameters
    ----------
    calls : iterable of joblib.delayed
        Drawn as they are sent.
    n_jobs : int
        At least 1.

    Returns
    -------
    list
        In the order of the calls.

    Examples
    --------
    >>> import joblib
    >>> in_processes((joblib.delayed(abs)(i) for i in (-1, 2)), n_jobs=1)
    [1, 2]
    """
    import joblib
    from joblib.parallel import get_active_backend

    # Threads, or what users chose in their place, are nobody else's; and a thread may hold what
    # those of another caller wait for.
    is_shared = n_jobs > 1 and type(get_active_backend()[0]).__name__ == "LokyBackend"
    with _shared if is_shared else nullcontext():
        return list(joblib.Parallel(n_jobs=n_jobs)(calls))
