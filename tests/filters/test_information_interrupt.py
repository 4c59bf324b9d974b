"""Ctrl-C while a long greedy selection runs: prompt, and the next one is right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

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
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), name, str(n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        time.sleep(1.0)
        assert process.poll() is None
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n", process.communicate()[1]
        delay = time.monotonic() - sent
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (rest, process.returncode) == ("right\n", 0), errors
    assert delay < 5.0  # a tenth of a second and a chunk, on a busy machine
