"""What a score costs beside accuracy, with a compiled kNN and with scikit-learn, in one run.

    python benchmarks/kernels/scores.py [--rounds 9] [--threads 1] [--rivals 2]

10 x 5-fold, random half masks and the one-flip neighbors of one. Each batch is of masks that were
not used before; times are the least a mask (a batch may last half a millisecond, and others on the
machine only add), ratios are to accuracy on the same masks. Scores of a few masks are compared with
cross_val_score, which makes the rival's time.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import Masks
from bitsieve.fitness import Fitness, compile

TWO = ("roc_auc", "neg_log_loss", "f1_macro", "matthews_corrcoef", "average_precision")
MANY = ("roc_auc_ovr", "roc_auc_ovo", "neg_log_loss", "f1_macro", "matthews_corrcoef")
# What no compiled score knows: scikit-learn's scorer on the compiled outputs.
LEFT = "adjusted_rand_score"


def processor() -> str:
    """Name of the processor, where the system tells."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "?")


def data(n: int, p: int, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p))
    X[:, : p // 20] += 0.5 * y[:, None]
    return X, y


def per_mask(fitnesses: dict[str, Fitness], batches: list[Masks]) -> dict[str, float]:
    """Least seconds a mask; each batch goes to all in turn, so that they share its luck."""
    times: dict[str, list[float]] = {name: [] for name in fitnesses}
    for masks in batches:
        for name, fitness in fitnesses.items():
            start = time.perf_counter()
            fitness.evaluate(masks)
            times[name].append((time.perf_counter() - start) / len(masks))
    return {name: min(took) for name, took in times.items()}


def table(n: int, p: int, k: int, n_classes: int, arguments: argparse.Namespace) -> None:
    X, y = data(n, p, n_classes)
    rng = np.random.default_rng(1)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    estimator = KNeighborsClassifier(k)
    names = ["accuracy", *(TWO if n_classes == 2 else MANY)]
    fitnesses = {
        name: compile(estimator, X, y, scoring=name, cv=cv, n_jobs=arguments.threads)
        for name in [*names, LEFT]
    }
    rounds = range(arguments.rounds)
    size = 256 if p < 1000 else 64
    half = [Masks.from_bool(rng.random((size, p)) < 0.5) for _ in rounds]
    near = [Masks.neighbors(rng.random(p) < 0.5, p) for _ in rounds]
    shared = {name: fitnesses[name] for name in names}
    batch, flips = per_mask(shared, half), per_mask(shared, near)
    left = per_mask({LEFT: fitnesses[LEFT]}, [masks[:32] for masks in half[:2]])
    print(f"\n{n} x {p:,}, k = {k}, {n_classes} classes, {arguments.threads} thread(s)")
    print("| scoring | random masks, us | ratio | one-flip, us | ratio | scikit-learn, ms |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in [*names, LEFT]:
        took, far = [], 0.0
        for row in rng.random((arguments.rivals, p)) < 0.5:
            start = time.perf_counter()
            scores = cross_val_score(estimator, X[:, row], y, scoring=name, cv=cv)
            took.append(time.perf_counter() - start)
            ours = fitnesses[name].evaluate_splits(row[None])[0]
            far = max(far, float(np.abs(ours - scores).max()))
        if far > 1e-12:
            raise AssertionError(f"{name} differs from scikit-learn's by {far}")
        rival = f"{min(took) * 1e3:.0f}"
        if name == LEFT:
            print(f"| {name} (not compiled) | {left[name] * 1e6:.0f} | | | | {rival} |")
            continue
        print(
            f"| {name} | {batch[name] * 1e6:.1f} | {batch[name] / batch['accuracy']:.2f} | "
            f"{flips[name] * 1e6:.1f} | {flips[name] / flips['accuracy']:.2f} | {rival} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rivals", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"bitsieve {bitsieve.__version__}, {processor()}, {bitsieve.get_isa()}")
    with threadpool_limits(1):
        for n, p in ((60, 200), (111, 5000)):
            for k in (1, 5):
                table(n, p, k, 2, arguments)
        for k in (1, 5):
            table(111, 5000, k, 4, arguments)


if __name__ == "__main__":
    main()
