"""Ctrl-C in the middle of distances, of limits and of cuts: prompt, and what follows is right."""

from __future__ import annotations

import os
import textwrap

import pytest
from ctrl_c import lines_after_ctrl_c

SCRIPT = """
    import numpy as np
    from bitsieve import filters
    X = np.random.default_rng(0).random({shape}, dtype=np.float32)
    y = np.arange(len(X)) % 2
    few = X[:200]
    expected = filters.{call}(few, y[:200])
    print("ready", flush=True)
    try:
        while True:
            filters.{call}(X, y)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    assert np.array_equal(filters.{call}(few, y[:200])[0], expected[0])
    print("right", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
@pytest.mark.parametrize(
    ("call", "shape"),
    [("relieff", (9000, 60)), ("multisurf", (3000, 3000)), ("discretize", (1_000_000, 16))],
)
def test_interrupt(call: str, shape: tuple[int, int]) -> None:
    script = textwrap.dedent(SCRIPT).format(call=call, shape=shape)
    assert lines_after_ctrl_c(script, pause=0.3) == ["ready", "interrupted", "right"]
