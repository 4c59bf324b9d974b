"""Ctrl-C in a long score: prompt, and the next call answers rightly."""

from __future__ import annotations

import os

import pytest
from interrupted import interrupt

SETUP = """
    from bitsieve import filters

    X = np.random.default_rng(0).normal(size=(3000, 4000)).astype(np.float32)
    y = np.arange(3000) % 2
    part = X[:, :50].copy()

    def few():
        return filters.{score}(part, y)

    def long():
        filters.{score}(X, y, n_jobs={n_jobs})
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_interrupt() -> None:
    cases = [("auc", 1), ("kruskal_wallis", 2), ("t_test", 2)]
    interrupt(*(SETUP.format(score=score, n_jobs=n_jobs) for score, n_jobs in cases))
