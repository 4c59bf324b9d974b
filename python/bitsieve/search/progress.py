"""The progress bar: on a terminal, never in a pipe."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from types import TracebackType
from typing import Any

from bitsieve.search.limits import Limits

__all__ = ["ProgressBar"]

_PERIOD = 0.1  # seconds between two drawings


def _is_wanted() -> bool:
    is_main = (
        threading.current_thread() is threading.main_thread()
        and multiprocessing.current_process().name == "MainProcess"
    )
    return is_main and bool(getattr(sys.stderr, "isatty", lambda: False)())


class ProgressBar:
    """Iterations, best score, features and speed on standard error; ten times a second at most.

    Parameters
    ----------
    show : bool or None
        None shows it where standard error is a terminal and this is the main thread of the main
        process: workers would draw over one another.
    limits : Limits
        What the bar is a part of: iterations, else evaluations, else time.
    """

    def __init__(self, show: bool | None, limits: Limits) -> None:
        self._next = float("inf")
        self._bar: Any = None
        self._limits = limits
        if _is_wanted() if show is None else show:
            self._bar = self._make()

    def _make(self) -> Any:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        except ImportError:
            return None
        return Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
        )

    def __enter__(self) -> ProgressBar:
        if self._bar is not None:
            limits = self._limits
            total = limits.max_iter or limits.max_evaluations or limits.max_time
            self._bar.start()
            self._task = self._bar.add_task("search", total=total, text="")
            self._next = 0.0
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Write a line above the bar; nothing where there is no bar."""
        if self._bar is not None:
            self._bar.console.print(text)

    def is_due(self, now: float) -> bool:
        """Whether a drawing at ``now`` would be seen."""
        return now >= self._next

    def draw(
        self,
        *,
        iterations: int,
        evaluations: int,
        seconds: float,
        best: float,
        n_selected: int,
        speed: float,
    ) -> None:
        """Draw the state of the run; ``speed`` is evaluations a second."""
        self._next = time.perf_counter() + _PERIOD
        limits = self._limits
        done: float = iterations
        if not limits.max_iter:
            done = evaluations if limits.max_evaluations else seconds
        self._bar.update(
            self._task,
            completed=done,
            text=f"iteration {iterations:,}  best score {best:.4f}  {n_selected:,} features  "
            f"{speed:,.0f} evaluations/s",
        )
        self._bar.refresh()
