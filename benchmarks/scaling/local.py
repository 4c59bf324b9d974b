"""What stochastic local search costs beside the measurements that it asks for.

    python benchmarks/scaling/local.py /folder/of/npz/chowdary.npz

The search is run on nearest neighbors; then the same masks are measured again without it, in turns.
The difference is the search, its loop and the record of the run. Processor time of one thread.
"""

from __future__ import annotations

import platform
import sys
import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import bitsieve
from bitsieve import fitness
from bitsieve.search import StochasticLocalMaskSearch, run

_STEPS, _TURNS = 300, 5


class Noted:
    """A fitness that hands on what it is asked, and keeps it where it is to."""

    resample = False

    def __init__(self, inner, asked=None):
        self.inner, self.n_features, self.asked = inner, inner.n_features, asked

    def evaluate(self, masks, seeds=0):
        if self.asked is not None:
            self.asked.append(masks)
        return self.inner.evaluate(masks)


def walk(inner, options, asked=None):
    """Run a search."""
    search = StochasticLocalMaskSearch(inner.n_features, **options)
    noted = Noted(inner, asked)
    run(search, noted, choose="recommended", max_iter=_STEPS, random_state=0, progress=False)


def measured(inner, options):
    """Milliseconds a step with the search, and without it."""
    asked = []
    walk(inner, options, asked)
    with_search, without = [], []
    for _ in range(_TURNS):
        began = time.process_time()
        walk(inner, options)
        ended = time.process_time()
        for masks in asked:
            inner.evaluate(masks)
        with_search.append(ended - began)
        without.append(time.process_time() - ended)
    return 1e3 * np.array([min(with_search), min(without)]) / _STEPS


def main():
    with np.load(sys.argv[1]) as archive:
        X, y = archive["X"], archive["y"]
    inner = fitness.compile(KNeighborsClassifier(1), X, y, cv=5, n_jobs=1)
    print(f"bitsieve {bitsieve.__version__}, {platform.machine()}, {bitsieve.get_isa()}")
    print(f"{X.shape[0]} x {X.shape[1]}, 1-NN, 5-fold, {_STEPS} steps, least of {_TURNS}\n")
    print(f"{'':<44}{'ms a step':>11}{'without':>10}{'search':>9}")
    for text, options in {
        "greedy from no feature": {"p_noise": 0.0},
        "greedy from a random mask": {"p_noise": 0.0, "start": "random"},
        "half noise (sls4fs)": {},
    }.items():
        both, alone = measured(inner, options)
        print(f"{text:<44}{both:>11.2f}{alone:>10.2f}{(both - alone) / both:>9.1%}", flush=True)


if __name__ == "__main__":
    main()
