"""Naive Bayes of bits, counts and categories beside scikit-learn, in one run.

    python benchmarks/kernels/discrete_bayes.py [--masks 256] [--models bernoulli,multinomial]

Batches of new random half masks, 5-fold, three classes, one thread each, processor time;
scikit-learn's is that of a few masks of the same batch. Then fresh folds for each mask,
probabilities in place of classes, and all one-flip neighbors of a mask.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import Masks
from bitsieve.fitness import compile

SHAPES = [(n, p) for n in (100, 1_000) for p in (20, 1_000, 20_000)]
SHAPES += [(10_000, 20), (10_000, 1_000)]
MODELS: dict[str, Any] = {
    "bernoulli": BernoulliNB(binarize=1.0),
    "multinomial": MultinomialNB(),
    "complement": ComplementNB(),
    "categorical": CategoricalNB(min_categories=8),
}


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def counts(n: int, p: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng([n, p])
    y = np.arange(n) % 3
    rate = rng.lognormal(size=p) * np.where(rng.random((3, p)) < 0.05, 1.5, 1.0)[y]
    return np.minimum(rng.poisson(rate), 7).astype(np.float64), y


def row(what: str, ours: float, theirs: float) -> None:
    print(f"{what:52s} {ours * 1e3:10.3f} {theirs * 1e3:10.2f} {theirs / ours:9.1f}", flush=True)


def compare(name: str, n: int, p: int, n_masks: int, **options: Any) -> None:
    model, (X, y) = MODELS[name], counts(n, p)
    rng = np.random.default_rng(1)
    fitness = compile(model, X, y, n_jobs=1, **{"cv": 5, **options})
    assert fitness.kernel == "discrete_bayes"
    fitness.evaluate(rng.random((2, p)) < 0.5)
    masks = rng.random((n_masks, p)) < 0.5
    masks[:, 0] = True
    seeds = np.arange(n_masks) if options.get("resample") else 0
    batch = Masks.from_bool(masks)
    found: list[Any] = []
    ours = seconds(lambda: found.append(fitness.evaluate(batch, seeds))) / n_masks
    few = max(1, min(n_masks, int(6e7 / (n * p * fitness.n_splits))))
    theirs = []
    for m in range(min(few, 8)):
        cv = fitness.splits(m if options.get("resample") else 0)
        scores: list[Any] = []
        columns, scoring = X[:, masks[m]], options.get("scoring")
        theirs.append(
            seconds(
                lambda s=scores, c=columns, cv=cv, scoring=scoring: s.append(
                    cross_val_score(model, c, y, cv=cv, scoring=scoring).mean()
                )
            )
        )
        assert abs(found[0][m] - scores[0]) < 2e-3, (found[0][m], scores[0])
    told = "".join(f", {key}={value}" for key, value in options.items() if key != "cv")
    row(f"{name} {n:,} x {p:,}{told}", ours, float(np.median(theirs)))


def flips(name: str, n: int, p: int) -> None:
    model, (X, y) = MODELS[name], counts(n, p)
    fitness = compile(model, X, y, cv=5, n_jobs=1)
    base = np.zeros(p, dtype=bool)
    base[np.random.default_rng(2).choice(p, 30, replace=False)] = True
    near = Masks.neighbors(base, p)
    fitness.evaluate(near)
    took = seconds(lambda: fitness.evaluate(near))
    each = seconds(lambda: cross_val_score(model, X[:, base], y, cv=5))
    row(f"{name} {n:,} x {p:,}, all flips of 30 features", took, each * p)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--masks", type=int, default=256)
    parser.add_argument("--models", default=",".join(MODELS))
    arguments = parser.parse_args()
    print(f"bitsieve {bitsieve.__version__}, {bitsieve.get_isa()}, {processor()}")
    print(f"{'ms a mask (flips: ms in all)':52s} {'bitsieve':>10s} {'sklearn':>10s} {'ratio':>9s}")
    with threadpool_limits(1):
        for name in arguments.models.split(","):
            all_rows(name, arguments.masks)


def all_rows(name: str, n_masks: int) -> None:
    for n, p in SHAPES:
        compare(name, n, p, n_masks)
    few = min(n_masks, 32)
    for n, p in ((100, 1_000), (1_000, 1_000), (10_000, 20)):
        compare(name, n, p, few, resample=True)
        compare(name, n, p, few, scoring="neg_log_loss")
    repeated = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    compare(name, 111, 11_340, n_masks, cv=repeated)
    for n, p in ((100, 1_000), (111, 20_000), (1_000, 1_000)):
        flips(name, n, p)


if __name__ == "__main__":
    main()
