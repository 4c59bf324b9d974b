"""Ctrl-C in a long filter: it stops, and a pool of threads comes down with it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CHILD = """
import os, signal, threading
import numpy as np
from joblib import Parallel, delayed
from bitsieve import filters

rng = np.random.default_rng(0)
X, y = rng.random((4000, 8000), dtype=np.float32), rng.integers(0, 2, 4000)
filters.relieff(X[:50], y[:50])
for where in ("main", "pool"):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            if where == "main":
                filters.multisurf(X, y, n_jobs=2)
            else:
                Parallel(n_jobs=2, prefer="threads")(
                    delayed(filters.multisurf)(X, y, n_jobs=1) for _ in range(2)
                )
    except KeyboardInterrupt:
        print("stopped in the", where, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
def test_ctrl_c_stops_a_kernel() -> None:
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True)
    told = "stopped in the main\nstopped in the pool\n"
    assert (done.stdout, done.returncode) == (told, 0), done.stderr
