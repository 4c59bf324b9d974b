"""Ctrl-C in a long filter: it stops soon, and a pool of threads comes down with it."""

from __future__ import annotations

import os

import pytest
from ctrl_c import lines_after_ctrl_c

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
    assert lines_after_ctrl_c(CHILD, where, pause=0.3) == ["started", "stopped"]
