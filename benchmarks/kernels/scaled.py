"""Scalers inside the folds: what they learn, and the Gram matrices of what they scale.

    python benchmarks/kernels/scaled.py [--rounds 5]

One thread each; processor time, the least of some rounds, each with a mask of its own. The limit
beside a Gram matrix is what numpy's float64 product (BLAS) does in a second on this processor.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import Masks, _core
from bitsieve.fitness import compile
from bitsieve.fitness.pipelines import scaler_options

N, P, CLASSES = 111, 11_340, 3


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


def lists(parts: list[NDArray[np.intp]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    begin = np.cumsum([0, *map(len, parts)])
    return np.concatenate(parts).astype(np.int64), begin.astype(np.int64)


def product_rate() -> float:
    """Multiply-adds a second of a float64 product by BLAS."""
    A = np.random.default_rng(0).normal(size=(1200, 1200))
    return A.shape[0] ** 3 / min(seconds(lambda: A @ A) for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    y = np.arange(N) % CLASSES
    X = rng.normal(size=(N, P)) * rng.lognormal(size=P) + rng.normal(size=P)
    X[:, :200] += 0.5 * y[:, None]
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    splits = list(cv.split(X, y))
    train, train_begin = lists([train for train, _ in splits])
    test, test_begin = lists([test for _, test in splits])
    given: dict[str, Any] = {
        "train": train,
        "train_begin": train_begin,
        "test": test,
        "test_begin": test_begin,
    }

    def mask() -> NDArray[np.bool_]:
        return rng.random(P) < 0.5

    def features() -> NDArray[np.int32]:
        return np.flatnonzero(mask()).astype(np.int32)

    print(f"{processor()}, {bitsieve.get_isa()}; n = {N}, half of p = {P}, 10 x 5-fold")
    table = compile(KNeighborsClassifier(1), X, y, n_jobs=1).table.core
    print("what a scaler learns of 50 training parts")
    for scaler in (StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()):
        core = _core.FoldScaler(table, scaler_options(scaler))
        core.measure(features=features(), **given)
        chosen = [features() for _ in range(rounds)]
        ours = min(
            seconds(lambda c=core, f=each: c.measure(features=f, **given)) for each in chosen
        )
        parts = [X[:, mask()][train] for train, _ in splits[::10]]
        rival = 10 * seconds(lambda s=scaler, parts=parts: [s.fit(part) for part in parts])
        print(
            f"  {type(scaler).__name__}: {ours * 1e3:.1f} ms, scikit-learn {rival * 1e3:.0f} ms, "
            f"ratio {rival / ours:.0f}"
        )

    rate = product_rate()
    core = _core.FoldScaler(table, scaler_options(StandardScaler()))
    took, learnt, wanted = [], [], []
    for _ in range(rounds):
        chosen = features()
        learnt.append(seconds(lambda f=chosen: core.measure(features=f, **given)))
        took.append(seconds(lambda f=chosen: core.grams(features=f, **given)) - learnt[-1])
        wanted.append(
            sum(len(a) * (len(a) + 1) / 2 + len(a) * len(b) for a, b in splits) * len(chosen)
        )
    best = int(np.argmin(took))
    print(f"float64 Gram matrices of all splits: {took[best] * 1e3:.1f} ms")
    print(
        f"  {wanted[best] / took[best] / 1e9:.1f} G multiply-adds/s of those with a training sample"
        f"; numpy's product {rate / 1e9:.1f}: {100 * wanted[best] / took[best] / rate:.0f} %"
    )

    print("pipelines, a new half mask each")
    for model, target in (
        (KNeighborsClassifier(1), y),
        (RidgeClassifier(), y),
        (Ridge(), X[:, 0] + y),
    ):
        estimator = make_pipeline(StandardScaler(), model)
        fitness = compile(estimator, X, target, cv=splits, n_jobs=1)
        named = f"  StandardScaler + {type(model).__name__}"
        if fitness.kernel is None:
            print(f"{named}: {fitness.fallback_reason}")
            continue
        fitness.evaluate(Masks.from_bool(mask()))
        fresh = [Masks.from_bool(mask()) for _ in range(rounds)]
        ours = min(seconds(lambda f=fitness, m=m: f.evaluate(m)) for m in fresh)
        columns = X[:, mask()]
        rival = min(
            seconds(lambda e=estimator, c=columns, t=target: cross_val_score(e, c, t, cv=splits))
            for _ in range(2)
        )
        print(
            f"{named} ({fitness.kernel}): {ours * 1e3:.1f} ms, cross_val_score "
            f"{rival * 1e3:.0f} ms, ratio {rival / ours:.0f}"
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
