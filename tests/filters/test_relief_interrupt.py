"""Ctrl-C in the middle of distances, of limits and of cuts: prompt, and what follows is right."""

from __future__ import annotations

import os

import pytest
from interrupted import interrupt

SETUP = """
    from bitsieve import filters

    X = np.random.default_rng(0).random({shape}, dtype=np.float32)
    y = np.arange(len(X)) % 2

    def few():
        return filters.{call}(X[:200], y[:200])[0]

    def long():
        filters.{call}(X, y)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_interrupt() -> None:
    cases = [("relieff", (9000, 60)), ("multisurf", (3000, 3000)), ("discretize", (1_000_000, 16))]
    interrupt(*(SETUP.format(call=call, shape=shape) for call, shape in cases))
