"""Ctrl-C while a long greedy selection runs: prompt, and the next one is right."""

from __future__ import annotations

import os

import pytest
from interrupted import interrupt

SETUP = """
    from bitsieve.filters import information_selection, mrmr

    name, n_jobs = {name!r}, {n_jobs}
    rng = np.random.default_rng(0)
    y = np.arange(500) % 2
    X = rng.normal(size=(500, 20_000)) + 0.3 * y[:, None]
    if name == "jmi3":
        X = np.rint(X)

    def select(table, n):
        if name in ("FCQ", "MID"):
            return mrmr(table, y, n, criterion=name, n_jobs=n_jobs)
        return information_selection(table, y, n, criterion=name, n_jobs=n_jobs)

    def few():
        return select(X[:, :50], 5)

    def long():
        select(X, None)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_interrupt() -> None:
    cases = [("FCQ", 2), ("MID", 1), ("jmi3", 2)]
    interrupt(*(SETUP.format(name=name, n_jobs=n_jobs) for name, n_jobs in cases), after=1.0)
