"""SIGTERM and SIGHUP stop a job as Ctrl-C does: what there is so far is written.

A handler raises a kind of KeyboardInterrupt, which every loop and kernel lets through. Handlers
stand while a command runs, and only where the command line is the program.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Stopped", "signals_held", "signals_stop", "what_stopped"]

_STOPPING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Stopped(KeyboardInterrupt):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def what_stopped(error: KeyboardInterrupt) -> tuple[str, int]:
    """Return what stopped a job, as a word, and the exit code, 128 and the signal's number.

    Examples
    --------
    >>> what_stopped(KeyboardInterrupt()), what_stopped(Stopped(15))
    (('Ctrl-C', 130), ('SIGTERM', 143))
    """
    cause: BaseException | None = error
    while cause is not None:  # what was fitted so far may be handed on by an error of its own
        if isinstance(cause, Stopped):
            return signal.Signals(cause.number).name, 128 + cause.number
        cause = cause.__cause__
    return "Ctrl-C", 130


@contextmanager
def signals_stop() -> Iterator[list[int]]:
    """Raise :class:`Stopped` where a signal asks the process to end; yield those that did.

    A signal that is ignored, as nohup has it for SIGHUP, stays so.
    """
    came: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        came.append(number)
        raise Stopped(number)

    heard = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    with _handlers(dict.fromkeys(heard, stop)):
        yield came


@contextmanager
def signals_held() -> Iterator[None]:
    """Let no signal cut short what is being written: the job is at its end anyway."""
    with _handlers(dict.fromkeys((signal.SIGINT, *_STOPPING), signal.SIG_IGN)):
        yield


@contextmanager
def _handlers(wanted: Mapping[int, Any]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # it alone may set handlers
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: set by something other than Python, which cannot be set again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
