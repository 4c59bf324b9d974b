"""A progress bar: on a terminal, never in a pipe."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from types import TracebackType
from typing import Any

__all__ = ["TerminalBar"]

_PERIOD = 0.1  # seconds between two drawings


def _is_wanted() -> bool:
    is_main = (
        threading.current_thread() is threading.main_thread()
        and multiprocessing.current_process().name == "MainProcess"
    )
    return is_main and bool(getattr(sys.stderr, "isatty", lambda: False)())


class TerminalBar:
    """A line on standard error, drawn anew ten times a second at most.

    Parameters
    ----------
    show : bool or None
        None shows it where standard error is a terminal and this is the main thread of the main
        process: workers would draw over one another.
    name : str
        What stands before the bar.
    total : float or None
        What it is a part of; None where that is not known.
    """

    def __init__(self, show: bool | None, name: str, total: float | None) -> None:
        self._next = float("inf")
        self._bar: Any = None
        self._name, self._total = name, total
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

    def __enter__(self) -> TerminalBar:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self._name, total=self._total, text="")
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

    def show(self, completed: float, text: str) -> None:
        """Draw so much of the total, and a text beside it."""
        self._next = time.perf_counter() + _PERIOD
        self._bar.update(self._task, completed=completed, text=text)
        self._bar.refresh()
