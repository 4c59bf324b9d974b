"""Ctrl-C in a long kernel, in a process of its own: it stops soon, and what follows is right."""

from __future__ import annotations

import subprocess
import sys
import textwrap

# The process strikes itself, so that nothing depends on when another one is given time; and counts
# processor time, which a busy machine does not stretch as it does the clock's.
_START = """
import os, signal, threading, time
import numpy as np

def strike():
    struck.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
"""

_STRIKE = """
{setup}

struck = []
expected = few()
try:
    timer = threading.Timer({after}, strike)
    timer.start()
    while True:
        long()
except KeyboardInterrupt:
    spent = time.process_time() - struck[0]
assert np.array_equal(few(), expected), {setup!r}
print(spent)
"""


def interrupt(*setups: str, after: float = 0.4, most: float = 5.0) -> None:
    """Strike in the midst of ``long()``; ``few()`` must answer alike before and after.

    Parameters
    ----------
    *setups : str
        Sources that define both, numpy being ``np``. They run one after the other in one process.
    after : float
        Seconds after which to strike.
    most : float
        Seconds of processor time, of all threads, that may pass until it stops: a tenth of a
        second between two looks, and the longest piece of work.
    """
    texts = [textwrap.dedent(setup) for setup in setups]
    script = _START + "".join(_STRIKE.format(setup=text, after=after) for text in texts)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    spent = [float(line) for line in done.stdout.split()]
    assert len(spent) == len(setups)
    assert all(seconds < most for seconds in spent), dict(zip(texts, spent, strict=True))
