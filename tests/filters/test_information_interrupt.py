"""Ctrl-C while a long greedy selection runs: prompt, and the next one is right."""

from __future__ import annotations

import os
import textwrap

import pytest
from ctrl_c import lines_after_ctrl_c

SCRIPT = """
    import sys
    import numpy as np
    from bitsieve.filters import information_selection, mrmr

    name, n_jobs = sys.argv[1], int(sys.argv[2])
    rng = np.random.default_rng(0)
    y = np.arange(500) % 2
    X = rng.normal(size=(500, 20_000)) + 0.3 * y[:, None]
    if name == "jmi3":
        X = np.rint(X)

    def select(table, n):
        if name in ("FCQ", "MID"):
            return mrmr(table, y, n, criterion=name, n_jobs=n_jobs)
        return information_selection(table, y, n, criterion=name, n_jobs=n_jobs)

    expected = select(X[:, :50], 5)
    try:
        print("ready", flush=True)
        select(X, None)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    assert np.array_equal(select(X[:, :50], 5), expected)
    print("right", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
@pytest.mark.parametrize(("name", "n_jobs"), [("FCQ", 2), ("MID", 1), ("jmi3", 2)])
def test_interrupt(name: str, n_jobs: int) -> None:
    script = textwrap.dedent(SCRIPT)
    lines = lines_after_ctrl_c(script, name, str(n_jobs), pause=1.0)
    assert lines == ["ready", "interrupted", "right"]
