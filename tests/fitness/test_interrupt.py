"""Ctrl-C while the kernel works: prompt, and the fitness answers rightly afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

SCRIPT = """
    import sys, time, numpy as np
    from sklearn.neighbors import KNeighborsClassifier
    from bitsieve import Masks
    from bitsieve.fitness import compile

    form, n_jobs = sys.argv[1], int(sys.argv[2])
    rng = np.random.default_rng(0)
    n = 4000 if form == "streaming" else 200
    p = 2000 if form == "streaming" else 3000
    X, y = rng.normal(size=(n, p)).astype(np.float32), np.arange(n) % 2
    options = {"scoring": "f1_macro"} if form == "scorer" else {}
    fitness = compile(KNeighborsClassifier(3), X, y, cv=5, n_jobs=n_jobs, **options)
    some = rng.random((1 if form == "streaming" else 5, p)) < (0.02 if form == "streaming" else 0.5)
    expected = fitness.evaluate(some)
    if form == "compact":
        long = Masks.neighbours(some[0], p, np.arange(400_000) % p)
    else:
        long = np.repeat(rng.random((200, p)) < 0.5, 200, axis=0)
    try:
        print("ready", flush=True)
        fitness.evaluate(long)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    assert np.array_equal(fitness.evaluate(some), expected)
    assert np.array_equal(fitness.evaluate(Masks.neighbours(some[0], p, [5, 9])),
                          fitness.evaluate(some[[0, 0]] ^ np.eye(p, dtype=bool)[[5, 9]]))
    print("right", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
@pytest.mark.parametrize(
    ("form", "n_jobs"),
    [("packed", 1), ("packed", 2), ("compact", 2), ("streaming", 2), ("scorer", 1)],
)
def test_interrupt(form: str, n_jobs: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), form, str(n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        time.sleep(0.4)
        assert process.poll() is None
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n", process.communicate()[1]
        delay = time.monotonic() - sent
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (rest, process.returncode) == ("right\n", 0), errors
    # A tenth of a second between looks, and the longest piece of work; slow machines get more.
    assert delay < 2, delay
