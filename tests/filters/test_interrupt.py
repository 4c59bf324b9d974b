"""Ctrl-C in a long filter: it stops soon, and a pool of threads comes down with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

CHILD = """
import sys
import numpy as np
from joblib import Parallel, delayed
from bitsieve import filters

rng = np.random.default_rng(0)
X, y = rng.random((4000, 8000), dtype=np.float32), rng.integers(0, 2, 4000)
filters.relieff(X[:50], y[:50])
print("started", flush=True)
try:
    if sys.argv[1] == "main":
        filters.multisurf(X, y, n_jobs=2)
    else:
        Parallel(n_jobs=2, prefer="threads")(
            delayed(filters.multisurf)(X, y, n_jobs=1) for _ in range(2)
        )
    print("done", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
@pytest.mark.parametrize("where", ["main", "pool"])
def test_ctrl_c_stops_a_kernel(where: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "started\n"
    time.sleep(0.3)
    sent = time.perf_counter()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert out == "stopped\n", (out, err)
    assert child.returncode == 0, err
    if where == "main":
        assert time.perf_counter() - sent < 20  # of more than a minute on a slow machine
