"""Signals that ask the program to end: heard, held while files are written, left as they were."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest
import typer

import bitsieve.cli
from bitsieve.cli.errors import one_line_errors
from bitsieve.cli.signals import Stopped, signals_held, signals_stop, what_stopped

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")


def test_they_stop_as_ctrl_c_does() -> None:
    for name in ("SIGTERM", "SIGHUP"):
        number = signal.Signals[name]
        before = signal.signal(number, signal.SIG_DFL)  # under nohup it would be ignored
        try:
            with pytest.raises(KeyboardInterrupt) as caught, signals_stop():
                os.kill(os.getpid(), number)
            assert isinstance(caught.value, Stopped)
            assert what_stopped(caught.value) == (name, 128 + number)
            assert signal.getsignal(number) == signal.SIG_DFL
        finally:
            signal.signal(number, before)


def test_one_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals_stop():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_they_wait_while_files_are_written() -> None:
    with signals_stop(), signals_held():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_sets_no_handler() -> None:
    before, seen = signal.getsignal(signal.SIGTERM), []

    def work() -> None:
        with signals_stop(), signals_held():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_one_that_comes_while_the_command_line_is_read(monkeypatch, capsys) -> None:
    def interrupted(*_: object, **__: object) -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt:
            return 130  # as typer does
        raise AssertionError

    monkeypatch.setattr(bitsieve.cli, "app", interrupted)
    with pytest.raises(SystemExit) as stop:
        bitsieve.cli.main(["select"])
    assert stop.value.code == 143
    assert capsys.readouterr().err.startswith("bitsieve: error: stopped by SIGTERM before")


def test_one_that_cuts_an_import_short(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "bitsieve.report.outcome", None)  # ImportError
    with pytest.raises(typer.Exit) as stop, one_line_errors():
        raise Stopped(signal.SIGHUP)
    assert stop.value.exit_code == 129
    assert capsys.readouterr().err.startswith("bitsieve: error: stopped by SIGHUP before")


def test_the_signal_is_known_behind_an_error_that_hands_on_what_was_fitted() -> None:
    class Interrupted(KeyboardInterrupt):
        pass

    for number, told in ((signal.SIGTERM, ("SIGTERM", 143)), (None, ("Ctrl-C", 130))):
        first = KeyboardInterrupt() if number is None else Stopped(number)
        with pytest.raises(Interrupted) as raised:
            raise Interrupted from first
        assert what_stopped(raised.value) == told
