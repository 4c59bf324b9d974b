"""Ctrl-C in a long score: prompt, and the next call answers rightly."""

from __future__ import annotations

import os
import textwrap

import pytest
from ctrl_c import lines_after_ctrl_c

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
    script = textwrap.dedent(SCRIPT)
    lines = lines_after_ctrl_c(script, score, str(n_jobs), pause=0.2)
    assert lines == ["ready", "interrupted", "right"]
