"""A bar on a terminal, silence in a pipe."""

from __future__ import annotations

import io
import sys
import threading
import time

import pytest
from toys import Planted, planted

from bitsieve.search import BinarySPSASearch, run
from bitsieve.search.limits import Limits
from bitsieve.search.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def go(**options):
    toy = Planted(planted(20), sleep=0.002)
    return run(BinarySPSASearch(20), toy, max_iter=100, random_state=0, **options)


def test_silent_in_a_pipe(capsys):
    go()
    out, err = capsys.readouterr()
    assert (out, err) == ("", "")


def test_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    go()
    text = screen.getvalue()
    assert "iteration" in text
    assert "features" in text
    assert "best score" in text
    assert "evaluations/s" in text


def test_progress_false_is_silent_on_a_terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    go(progress=False)
    assert screen.getvalue() == ""


def test_workers_are_silent(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    assert screen.getvalue() == ""


def test_at_most_ten_drawings_a_second(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys, "stderr", Terminal())
    drawings = []
    with ProgressBar(True, Limits(max_iter=10)) as bar:
        bar._bar.refresh = lambda: drawings.append(time.perf_counter())
        end = time.perf_counter() + 0.55
        while time.perf_counter() < end:
            if bar.is_due(time.perf_counter()):
                bar.draw(
                    iterations=1, evaluations=3, seconds=0.1, best=0.5, n_selected=2, speed=30.0
                )
    assert 2 <= len(drawings) <= 6


def test_same_result_with_and_without_a_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert go(progress=True).best_score == go(progress=False).best_score
