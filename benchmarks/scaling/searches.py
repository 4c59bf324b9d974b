"""What the searches cost beside the measurements that they ask for.

    OMP_NUM_THREADS=1 python benchmarks/scaling/searches.py /folder/of/npz/chowdary.npz [SEARCH ...]

A search runs on a compiled fitness that notes how long each measurement takes; the rest of an
iteration is the search, its loop and the record of the run, with the caches as cold as the fitness
leaves them. The same iterations are run several times, and the least of each counts, the
measurement's and the rest's, so that a busy machine does not. One thread.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import bitsieve
from bitsieve import fitness
from bitsieve.search import (
    BinarySPSASearch,
    FixedSizeMaskSearch,
    SequentialSearch,
    StochasticLocalMaskSearch,
    run,
)

_TURNS = 5


def sls(n, **options):
    return StochasticLocalMaskSearch(n, **options)


# Name, search over n features, iterations, folds anew in each.
SEARCHES = {
    "sls, half noise (sls4fs)": (lambda n: sls(n), 300, False),
    "sls, greedy from no feature": (lambda n: sls(n, p_noise=0.0), 150, False),
    "sls, greedy from half": (lambda n: sls(n, p_noise=0.0, start="random"), 150, False),
    "sequential, forward": (lambda n: SequentialSearch(n, size=15), 15, False),
    "sequential, floating": (lambda n: SequentialSearch(n, size=15, floating=True), 30, False),
    "fixed size, all swaps of 20": (
        lambda n: FixedSizeMaskSearch(n, size=20, start=np.arange(n) < 20),
        3,
        False,
    ),
    "BSPSA": (lambda n: BinarySPSASearch(n), 150, True),
    "BSPSA, 20 features": (lambda n: BinarySPSASearch(n, n_features_to_select=20), 150, True),
}
# A measurement by ridge takes a hundred times as long: a tenth of the iterations.
MODELS = {
    "1-NN": (KNeighborsClassifier(1), 1),
    "GaussianNB": (GaussianNB(), 1),
    "ridge": (RidgeClassifier(), 10),
}


class Timed:
    """A fitness that notes of each measurement how long it took, and the time since the last."""

    def __init__(self, inner):
        self.inner, self.n_features, self.resample = inner, inner.n_features, inner.resample
        self.rows, self.ended = [], 0.0

    def evaluate(self, masks, seeds=0):
        began = time.perf_counter()
        scores = self.inner.evaluate(masks, seeds)
        ended = time.perf_counter()
        self.rows.append((ended - began, began - self.ended))
        self.ended = ended
        return scores


def a_run(inner, make, n_iterations):
    """Seconds of each measurement but the first, and before it: shape (n, 2)."""
    search, timed = make(inner.n_features), Timed(inner)
    run(
        search,
        timed,
        choose="recommended" if hasattr(search, "recommend") else "remeasured",
        max_iter=n_iterations,
        n_finalists=1 if hasattr(search, "recommend") else 10,
        n_final_measurements=1,
        random_state=0,
        progress=False,
    )
    return np.array(timed.rows[1:n_iterations])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table")
    parser.add_argument("searches", nargs="*", help="those whose names hold one of these words")
    given = parser.parse_args()
    with np.load(given.table) as archive:
        X, y = archive["X"], archive["y"]
    print(f"bitsieve {bitsieve.__version__}, {platform.machine()}, {bitsieve.get_isa()}")
    print(f"{X.shape[0]} x {X.shape[1]}, 5-fold, ms an iteration, least of {_TURNS} each\n")
    print(f"{'':<30}" + "".join(f"{name:>30}" for name in MODELS))
    print(f"{'':<30}" + f"{'measured':>12}{'search':>10}{'':>8}" * len(MODELS))
    warnings.simplefilter("ignore")
    for name, (make, n_iterations, resample) in SEARCHES.items():
        if given.searches and not any(word in name for word in given.searches):
            continue
        print(f"{name:<30}", end="", flush=True)
        for model, divisor in MODELS.values():
            n = max(3, n_iterations // divisor)
            inner = fitness.compile(model, X, y, cv=5, resample=resample, n_jobs=1)
            turns = [a_run(inner, make, n) for _ in range(_TURNS)]
            measured, rest = 1e3 * np.min(turns, axis=0).sum(axis=0) / n
            share = rest / (measured + rest)
            print(f"{measured:>12.3f}{rest:>10.3f}{share:>8.1%}", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
