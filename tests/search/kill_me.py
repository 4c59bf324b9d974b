"""A run in a process of its own, to be killed: ``kill_me.py CHECKPOINT OUTPUT``."""

from __future__ import annotations

import sys

import numpy as np
from toys import Planted, planted

from bitsieve.search import BinarySPSASearch, run

N_ITERATIONS = 1500


def go(checkpoint=None, sleep=0.0):
    toy = Planted(planted(100), noise=0.1, sleep=sleep)
    return run(
        BinarySPSASearch(100),
        toy,
        max_iter=N_ITERATIONS,
        random_state=11,
        checkpoint=checkpoint,
        progress=False,
    )


if __name__ == "__main__":
    # Small periods: files are being written much of the time, so that many kills hit a writing.
    from bitsieve.search import loop

    loop._CHECKPOINT_PERIOD = 0.01
    loop._CHECKPOINT_SHARE = 1.0
    result = go(sys.argv[1], sleep=0.002)
    np.savez(sys.argv[2], mask=result.mask.words, fresh=result.best_score, **result.history)
