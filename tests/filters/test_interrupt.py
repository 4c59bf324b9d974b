"""Ctrl-C in a long filter: it stops, and a pool of threads comes down with it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CHILD = """
import os, signal, sys, threading
import numpy as np
from joblib import Parallel, delayed
from bitsieve import filters

rng = np.random.default_rng(0)
X, y = rng.random((4000, 8000), dtype=np.float32), rng.integers(0, 2, 4000)
filters.relieff(X[:50], y[:50])
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    if sys.argv[1] == "main":
        while True:
            filters.multisurf(X, y, n_jobs=2)
    else:
        while True:
            Parallel(n_jobs=2, prefer="threads")(
                delayed(filters.multisurf)(X, y, n_jobs=1) for _ in range(2)
            )
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
@pytest.mark.parametrize("where", ["main", "pool"])
def test_ctrl_c_stops_a_kernel(where: str) -> None:
    done = subprocess.run([sys.executable, "-c", CHILD, where], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("stopped\n", 0), done.stderr
