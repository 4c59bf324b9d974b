"""The ridge family beside scikit-learn: random half masks, one-flip neighbors, and small shapes.

    python benchmarks/kernels/ridge.py [--rounds 3]

One thread each, processor time; every timed call gets masks that were not used before. Real sets
are read from the folder that BITSIEVE_TEST_DATA names. The limit beside our time counts the
multiply-adds that a mask needs at the rate of numpy's float64 product (BLAS) in the same run: the
upper triangle of a Gram matrix, an inverse and the solves of the splits.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, cross_val_score
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import Masks
from bitsieve.fitness import compile

N, P, BATCH = 111, 11_340, 256
SHAPES = [(n, p) for n in (100, 1_000) for p in (20, 1_000, 20_000)] + [
    (10_000, 20),
    (10_000, 1_000),
]


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def product_rate() -> float:
    """Multiply-adds a second of numpy's float64 product."""
    A, B = np.random.default_rng(0).normal(size=(2, 512, 4096))
    return 512 * 512 * 4096 / min(seconds(lambda: A @ B.T) for _ in range(5))


def half_masks(rounds: int) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    X = rng.normal(size=(N, P))
    X[:, :200] += 0.5 * codes[:, None]
    numbers = X[:, 0] + rng.normal(size=N)
    rate = product_rate()
    left, trained = N / 5, 4 * N / 5
    gram = N * N / 2 * P / 2
    print(f"batches of {BATCH} half masks, n = {N}, p = {P}, 10 x 5-fold")
    print(f"  numpy's product: {rate / 1e9:.1f} G multiply-adds/s")
    cases: list[tuple[Any, float]] = [
        (RidgeClassifier(), N**3 / 2 + 50 * left**3 / 6),
        (RidgeClassifier(class_weight="balanced"), 50 * trained**3 / 6),
        (Ridge(), N**3 / 2 + 50 * left**3 / 6),
        (LinearRegression(), N**3 / 2 + 50 * left**3 / 6),
        (KernelRidge(kernel="rbf"), N**3 / 2 + 50 * left**3 / 6),
    ]
    for estimator, solves in cases:
        of_classes = isinstance(estimator, RidgeClassifier)
        y = codes if of_classes else numbers
        kind = RepeatedStratifiedKFold if of_classes else RepeatedKFold
        cv = kind(n_splits=5, n_repeats=10, random_state=0)
        fitness = compile(estimator, X, y, cv=cv, n_jobs=1)
        assert fitness.kernel == "ridge"
        fitness.evaluate(rng.random((2, P)) < 0.5)
        ours, rival = [], []
        for _ in range(rounds):
            masks = Masks.from_bool(rng.random((BATCH, P)) < 0.5)
            ours.append(seconds(lambda f=fitness, m=masks: f.evaluate(m)) / BATCH)
            mask = rng.random(P) < 0.5
            scores: list[float] = []

            def validate(
                estimator: Any = estimator,
                mask: NDArray[np.bool_] = mask,
                y: Any = y,
                cv: Any = cv,
                scores: list[float] = scores,
            ) -> None:
                scores.append(cross_val_score(estimator, X[:, mask], y, cv=cv).mean())

            rival.append(seconds(validate))
            assert np.isclose(fitness.evaluate(mask[None])[0], scores[0], rtol=1e-9, atol=1e-12)
        a, b = min(ours), min(rival)
        least = (gram + solves) / rate
        print(
            f"  {estimator!s:40} {a * 1e3:.2f} ms   cross_val_score {b * 1e3:.0f} ms   "
            f"ratio {b / a:.0f}   limit {least * 1e3:.2f} ms ({least / a:.0%})"
        )


def one_flips(rounds: int) -> None:
    folder = os.environ.get("BITSIEVE_TEST_DATA")
    path = Path(folder or "") / "chowdary.npz"
    if not folder or not path.exists():
        print("  (chowdary skipped: BITSIEVE_TEST_DATA does not name a folder that holds it)")
        return
    with np.load(path) as data:
        X = data["X"].astype(np.float64)
        y = np.unique(data["y"], return_inverse=True)[1]
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    n, p = X.shape
    rng = np.random.default_rng(0)
    fitness = compile(RidgeClassifier(), X, y, cv=5, n_jobs=1)
    ours, alone = [], []
    for _ in range(3 * rounds):
        near = Masks.neighbors(np.isin(np.arange(p), rng.choice(p, 30, replace=False)), p)
        ours.append(seconds(lambda near=near: fitness.evaluate_splits(near)))
        some = near[rng.choice(p, 200, replace=False)]
        words = Masks.from_words(some.words, p)
        alone.append(seconds(lambda words=words: fitness.evaluate_splits(words)) / 200)
    # M x for all samples, and the blocks of the splits; each multiply-add once a feature.
    least = p * (n * n + n * n / 5) / product_rate()
    a = min(ours)
    print(f"all {p} one-flip neighbors of 30 features, chowdary ({n} samples), 5-fold ridge")
    print(
        f"  in one pass {a * 1e3:.1f} ms   one by one {min(alone) * p * 1e3:.0f} ms   "
        f"limit {least * 1e3:.1f} ms ({least / a:.0%})"
    )


def shapes() -> None:
    print("half masks, 5-fold, by shape: ms a mask, cross_val_score / ours")
    rng = np.random.default_rng(0)
    models = [
        RidgeClassifier(),
        RidgeClassifier(class_weight="balanced"),
        LinearRegression(),
        KernelRidge(kernel="rbf"),
    ]
    for n, p in SHAPES:
        X = rng.normal(size=(n, p))
        codes, numbers = rng.integers(0, 2, n), X[:, 0] + rng.normal(size=n)
        row = []
        for estimator in models:
            y = codes if isinstance(estimator, RidgeClassifier) else numbers
            fitness = compile(estimator, X, y, cv=5, n_jobs=1)
            if fitness.kernel != "ridge":
                row.append("refused")
                continue
            count = 2 if n * p > 1e6 else 20
            masks = Masks.from_bool(rng.random((count, p)) < 0.5)
            fitness.evaluate(masks[:1])
            ours = seconds(lambda f=fitness, m=masks: f.evaluate(m)) / count
            columns = X[:, rng.random(p) < 0.5]
            rival = seconds(lambda e=estimator, c=columns, y=y: cross_val_score(e, c, y, cv=5))
            row.append(f"{ours * 1e3:.2f} ({rival / ours:.1f}x)")
        print(f"  {n:6} x {p:6}  " + "   ".join(row))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"{processor()}, {bitsieve.get_isa()}")
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        half_masks(rounds)
        one_flips(rounds)
        shapes()


if __name__ == "__main__":
    main()
