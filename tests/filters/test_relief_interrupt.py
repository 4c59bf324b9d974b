"""Ctrl-C in the middle of distances, of limits and of cuts: prompt, and what follows is right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

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
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT).format(call=call, shape=shape)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        time.sleep(0.3)
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
