"""Rows of a training: bounded, and a function of the number of epochs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from bitsieve.gates import history as module
from bitsieve.gates.history import History


def kept(n, capacity):
    """Which epochs are there: every one, then each second, fourth, ... and the last."""
    stride = 1
    while n // stride > capacity:
        stride *= 2
    return [e for e in range(1, n + 1) if e % stride == 0 or e == n]


def test_rows_are_those_of_the_rule(monkeypatch):
    monkeypatch.setattr(module, "CAPACITY", 8)
    history = History()
    for epoch in range(1, 300):
        history.append({"epoch": epoch, "loss": epoch / 2, "n_selected": 3})
        assert history.columns["epoch"] == kept(epoch, 8)
        assert history.columns["loss"] == [e / 2 for e in history.columns["epoch"]]
        assert len(history) <= 9
    assert np.isnan(history.columns["penalty"]).all()


def test_one_that_goes_on_has_the_same_rows(monkeypatch):
    monkeypatch.setattr(module, "CAPACITY", 8)
    for stop in range(1, 80):
        one, other = History(), History()
        for epoch in range(1, 100):
            one.append({"epoch": epoch, "weight": 0.1 * epoch})
        for epoch in range(1, stop):
            other.append({"epoch": epoch, "weight": 0.1 * epoch})
        resumed = History()
        resumed.set_state(other.state())
        for epoch in range(stop, 100):
            resumed.append({"epoch": epoch, "weight": 0.1 * epoch})
        for name, column in one.state().items():
            assert column.tobytes() == resumed.state()[name].tobytes()


def test_columns_of_another_length_are_refused():
    state = History().state()
    with pytest.raises(ValueError, match="not of one length"):
        History().set_state({**state, "loss": np.ones(3)})
