"""What a command says on the terminal: tables and sentences on stdout, warnings on stderr."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

from bitsieve._errors import duration
from bitsieve.cli.errors import give_up, in_options

__all__ = ["console_of_stdout", "how_long", "kernel_said", "plain_warnings", "rendered", "say"]


def say(line: str) -> None:
    """Write a line to stdout at once; that nobody reads must not cost the job."""
    try:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        give_up(sys.stdout)  # what is left in its buffer would fail again, in Rich's hands
    except OSError:
        pass  # a full disk is told of by whoever writes next


def console_of_stdout() -> Console:
    """Return a console as wide and as coloured as stdout takes it; a pipe gets 100 columns."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = max(console.width, 100)
    return console


def rendered(console: Console, *parts: Any) -> str:
    """Return tables and sentences as the text that the console would print.

    Examples
    --------
    >>> from rich.console import Console
    >>> rendered(Console(width=20), "a sentence", "and one more")
    'a sentence\\nand one more\\n'
    """
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return captured.get()


@contextmanager
def plain_warnings(ignore: type[Warning] | None = None) -> Iterator[None]:
    """Show each warning once, on one line of stderr, while a job runs; those to ignore never.

    Parameters are named by the options that the user typed, and what a message quotes from a file
    is shown as :func:`bitsieve.report.printable` does.
    """
    from bitsieve.report.outcome import printable  # takes numpy along, which --help does without

    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = in_options(" ".join(str(message).split()))
        if text not in seen:
            seen.add(text)
            with suppress(OSError):  # no reader
                sys.stderr.write(f"bitsieve: warning: {printable(text)}\n")

    with warnings.catch_warnings():
        warnings.showwarning = show
        if ignore is not None:
            warnings.simplefilter("ignore", ignore)
        yield


_LONG = 60.0  # seconds of a job that also a log file hears of


@contextmanager
def kernel_said(shown: bool) -> Iterator[None]:
    """Say on stdout, below the data's own line, which kernel serves the estimator, or why none.

    Parameters
    ----------
    shown : bool
        False says nothing.
    """

    def hear(record: logging.LogRecord) -> None:
        if shown and (hasattr(record, "kernel") or hasattr(record, "fallback_reason")):
            say(record.getMessage())

    with _listening(hear):
        yield


@contextmanager
def how_long(outer_folds: int) -> Iterator[None]:
    """Say on stderr how long a job will take, once its search knows after its first iterations.

    Parameters
    ----------
    outer_folds : int
        How often the search will be repeated.
    """

    is_said = False  # a search that says it before it starts says it again on its way

    def hear(record: logging.LogRecord) -> None:
        nonlocal is_said
        seconds = getattr(record, "search_seconds", None)
        if seconds is None or is_said:
            return
        whole = seconds * (1 + outer_folds)
        if whole >= _LONG or sys.stderr.isatty():
            is_said = True
            bound = getattr(record, "search_bound", "at most")
            about = "About" if bound == "about" else f"{bound.capitalize()} about"
            line = f"{about} {duration(seconds)} for this search"
            if outer_folds:
                line += f", {duration(whole)} with {outer_folds} outer folds"
            with suppress(OSError):  # no reader
                sys.stderr.write(f"{line}.\n")

    with _listening(hear):
        yield


@contextmanager
def _listening(hear: Callable[[logging.LogRecord], None]) -> Iterator[None]:
    """Hand on what is logged at the level INFO."""

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            hear(record)

    logger, listener = logging.getLogger("bitsieve"), Listener(logging.INFO)
    level = logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)
