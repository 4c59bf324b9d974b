"""Ctrl-C in a long score: prompt, and the next call answers rightly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

SCRIPT = """
    import sys, numpy as np
    from bitsieve import filters
    score = getattr(filters, sys.argv[1])
    X = np.random.default_rng(0).normal(size=(3000, 4000)).astype(np.float32)
    y = np.arange(3000) % 2
    few = X[:, :50].copy()
    expected = score(few, y)
    try:
        print("ready", flush=True)
        while True:
            score(X, y, n_jobs=int(sys.argv[2]))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    assert np.array_equal(score(few, y), expected)
    print("right", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
@pytest.mark.parametrize(("score", "n_jobs"), [("auc", 1), ("kruskal_wallis", 2), ("t_test", 2)])
def test_interrupt(score: str, n_jobs: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), score, str(n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        time.sleep(0.2)
        assert process.poll() is None
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n", process.communicate()[1]
        delay = time.monotonic() - sent
        # The rest may lie in the buffer of readline already, where communicate does not look.
        rest, errors = process.stdout.read(), process.stderr.read()
        process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (rest, process.returncode) == ("right\n", 0), errors
    assert delay < 2, delay
