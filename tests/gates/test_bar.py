"""The bar of a training: on a terminal, silent in a pipe."""

from __future__ import annotations

import io
import sys

import pytest

torch = pytest.importorskip("torch")

from trainings import make, same  # noqa: E402

from bitsieve.gates.progress import TrainingBar  # noqa: E402


class Terminal(io.StringIO):
    def isatty(self):
        return True


def go(show=None, validated=True, **options):
    with TrainingBar(show, 3, **options) as bar:
        return make(validated=validated).run(3, bar=bar)


def test_silent_in_a_pipe(capsys):
    go()
    assert capsys.readouterr() == ("", "")


def test_bar_on_a_terminal_changes_nothing(monkeypatch):
    pytest.importorskip("rich")
    for in_steps, validated in ((False, True), (True, False)):
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "120")
        shown = go(in_steps=in_steps, validated=validated)
        text = screen.getvalue()
        assert ("step " if in_steps else "epoch ") in text
        assert "loss " in text
        assert ("validation loss " in text) == validated
        assert " features" in text
        same(shown, go(False, validated=validated))


def test_no_bar_where_none_is_wanted(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    go(False)
    assert screen.getvalue() == ""
