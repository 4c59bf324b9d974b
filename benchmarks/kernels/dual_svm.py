"""Support vector machines on one Gram matrix beside scikit-learn's SVC, in one run.

    python benchmarks/kernels/dual_svm.py [--rounds 30] [--samples 82]

Tables of ``make_microarray``, standardised; panels are the best features by F, random ones, or all.
A fit is of all classes, one versus the rest. SVC gets the matrix, its own tolerance of 1e-3, and no
checks of parameters or values; the compiled solver goes to 1e-5 and, in the column before, to 1e-3.
Seconds are the least of the rounds. *Apart* is the greatest difference of decisions from SVC at
1e-5, stopped after 100,000 steps, which a few random features may need. Then recursive feature
elimination, which is these fits and products of matrices.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import _core
from bitsieve.datasets import make_microarray
from bitsieve.filters import f_test
from bitsieve.panels.elimination import elimination_order
from bitsieve.panels.linear import LinearSVM

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def processor() -> str:
    """Name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(": ")[2] for x in lines if x.startswith("model name")), "unknown")


def seconds(call: Callable[[], object], rounds: int) -> float:
    """Least seconds of the rounds."""
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - start)
    return least


def one_versus_rest(K: Floats, signs: NDArray[np.int8]) -> Floats:
    """Decisions of SVC for the samples themselves, a row a class."""
    found = np.empty(signs.shape)
    for row, y in zip(found, signs, strict=True):
        model = SVC(kernel="precomputed", tol=1e-5, max_iter=100_000).fit(K, y)
        row[:] = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
    return found


def fits(K: Floats, signs: NDArray[np.int8]) -> None:
    """SVC as a loop over classes would call it."""
    for y in signs:
        SVC(kernel="precomputed").fit(K, y)


def table(n: int, p: int, n_classes: int, rounds: int) -> tuple[Floats, Codes]:
    """Print a line a panel."""
    data = make_microarray(n, p, n_classes=n_classes, class_sep=1.0, random_state=0)
    X, codes = data.X.astype(np.float64), np.unique(data.y, return_inverse=True)[1]
    Z = np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))
    wanted = np.arange(1 if n_classes == 2 else 0, n_classes)
    signs = np.where(codes == wanted[:, None], 1, -1).astype(np.int8)
    best = np.argsort(-f_test(Z, codes), kind="stable")
    drawn = np.random.default_rng(0).permutation(p)
    print(f"\n{n} x {p:,}, {n_classes} classes: microseconds a fit")
    print("  panel           SVC    1e-3    1e-5  LinearSVM  SVC/LinearSVM  apart")
    panels = {f"best {k}": best[:k] for k in (5, 20, 50, 200)}
    panels |= {f"random {k}": drawn[:k] for k in (5, 20, 50)}
    for name, features in (panels | {"all": np.arange(p)}).items():
        A = np.ascontiguousarray(Z[:, features])
        K = A @ A.T
        fit = partial(LinearSVM().fit, K, codes, n_classes, n_features=len(features))
        took = [
            seconds(partial(fits, K, signs), rounds),
            seconds(partial(_core.dual_svm, K, signs, 1.0, 1e-3), rounds),
            seconds(partial(_core.dual_svm, K, signs, 1.0, 1e-5), rounds),
            seconds(fit, rounds),
        ]
        fitted = fit()
        ours = fitted.decide(K, np.diagonal(K)).T
        apart = np.abs(ours - one_versus_rest(K, signs)).max()
        svc, coarse, fine, whole = (1e6 * s for s in took)
        print(
            f"  {name:10s} {svc:8.0f} {coarse:7.0f} {fine:7.0f} {whole:10.0f} {svc / whole:14.1f}"
            f"  {apart:.0e}"
        )
    return Z, codes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--samples", type=int, default=82)
    arguments = parser.parse_args()
    print(f"{processor()}, instruction set {bitsieve.get_isa()}, one thread")
    n, rounds = arguments.samples, arguments.rounds
    with (
        threadpool_limits(1),
        sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
    ):
        Z, codes = table(n, 12_600, 2, rounds)
        took = seconds(partial(elimination_order, Z, codes), 3)
        print(f"  elimination of all {1e3 * took:.0f} ms")
        table(n, 2_308, 4, rounds)


if __name__ == "__main__":
    main()
