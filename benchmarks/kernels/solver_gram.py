"""The solvers' float64 Gram matrices and moments beside numpy's products and the limits.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/kernels/solver_gram.py [--quick]

Milliseconds of the processor a mask, one thread, least of the rounds. *numpy* multiplies the mask's
columns, centred before, which it must copy for each mask. The clock comes of the same run: numpy's
product of large matrices is taken to reach 32 floating-point operations a cycle (AVX-512 with two
units; 16 for AVX2). Limits, for the upper triangle alone:

* a mask by itself takes a multiply-add and an integer addition of a vector for 8 (4) pairs and a
  feature, so a cycle on AVX-512 (two units for both), two thirds of one on AVX2 (three);
* a batch by tables takes an addition for 8 pairs and 4 features, and of those two a cycle, since
  each loads from the first cache (a vector of AVX2 is half as wide).

*share* is the limit's time beside ours: of a mask by itself, or of tables, whichever was planned.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import Masks, _core
from bitsieve.data import Table

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ORIGINS = ("nothing", "state", "pair", "pair", "tables", "float64")


def processor() -> str:
    """Name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(": ")[2] for x in lines if x.startswith("model name")), "unknown")


def seconds(call: Callable[[], object], rounds: int) -> float:
    """Least seconds of the processor of the rounds."""
    least = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        call()
        least = min(least, time.process_time() - start)
    return least


def clock() -> float:
    """Cycles a second, from a product of matrices."""
    A = np.random.default_rng(0).normal(size=(1500, 1500))
    per_cycle = 32 if "avx512" in bitsieve.available_isas() else 16
    return 2 * 1500**3 / seconds(lambda: A @ A, 5) / per_cycle


def limit(n: int, features: float, tabled: bool) -> float:
    """Least cycles a mask."""
    wide = bitsieve.get_isa() == "avx512"
    vectors = n * (n + 1) / 2 / (8 if wide else 4)
    if tabled:
        return vectors * features / 4 / 2
    return vectors * features * (1 if wide else 2 / 3)


def batches(kind: str, rng: np.random.Generator, p: int, size: int) -> list[Bools]:
    """Batches one after the other, of which the last is timed."""
    half = rng.random(p) < 0.5
    if kind in ("new half masks", "new 1 % masks"):
        return [
            rng.random((size, p)) < (0.5 if kind == "new half masks" else 0.01) for _ in range(2)
        ]
    if kind == "one flip from the last":
        return [half[None] ^ (np.arange(p) < k) for k in range(6)]
    out = []  # perturbations of a point, as binary SPSA has them
    for _ in range(40):
        sign = rng.random(p) < 0.5
        near = half ^ (rng.random(p) < 0.01)
        free = rng.random(p) < 0.3
        out.append(np.stack([np.where(free, sign, near), np.where(free, ~sign, near)]))
    return out


def gram_rows(n: int, p: int, size: int, rounds: int, hertz: float, *, raw: bool) -> None:
    """Print a line a kind of batch."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    if raw:
        X = np.exp2(4 + 3 * rng.normal(size=p) + X)
    centred = X - X.mean(axis=0)
    table = Table(X).core
    print(f"\n{n} x {p:,}" + (", raw expression values" if raw else ""))
    print("  batch                     masks  from      fixed   numpy    ours  ratio  share")
    kinds = ["new half masks", "new 1 % masks", "one flip from the last", "pairs"]
    for kind in kinds[: 2 if raw else 4]:
        took, numpys = float("inf"), float("inf")
        for round_ in range(rounds):
            chosen = batches(kind, np.random.default_rng(round_), p, size)
            solver = _core.SolverGram(table)
            solver.unit()
            for masks in chosen[:-1]:
                solver.matrices(Masks.from_bool(masks).words)
            words = Masks.from_bool(chosen[-1]).words
            start = time.process_time()
            _, fixed, origins = solver.matrices(words)
            took = min(took, (time.process_time() - start) / len(words))
            some = chosen[-1][:4]
            start = time.process_time()
            for mask in some:
                part = centred[:, mask]
                part @ part.T
            numpys = min(numpys, (time.process_time() - start) / len(some))
        tabled = ORIGINS[origins[0]] == "tables"
        features = float(chosen[-1].any(axis=0).sum() if tabled else chosen[-1].sum(axis=1).mean())
        share = limit(n, features, tabled) / hertz / took
        shown = f"{share:6.0%}" if ORIGINS[origins[0]] in ("nothing", "tables") else "     -"
        print(
            f"  {kind:24s} {len(words):6d}  {ORIGINS[origins[-1]]:8s} {fixed.mean():6.0%}"
            f" {1e3 * numpys:7.3f} {1e3 * took:7.3f} {numpys / took:6.1f} {shown}"
        )


def moment_rows(n: int, p: int, rounds: int, hertz: float) -> None:
    """Print what the moments of all features cost, for 5 folds, beside numpy's five products."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    splits = list(KFold(5).split(X))
    lists: dict[str, Any] = {}
    for name, part in zip(("train", "test"), zip(*splits, strict=True), strict=True):
        lists[name] = np.concatenate(part).astype(np.int64)
        lists[f"{name}_begin"] = np.r_[0, np.cumsum([len(k) for k in part])].astype(np.int64)
    mask = Masks.from_bool(np.arange(p) < 1).words[0].copy()
    ours = seconds(
        partial(
            _core.training_moments,
            Table(X).core,
            target=y,
            n_classes=0,
            weights=np.empty(0),
            mask=mask,
            keep=True,
            **lists,
        ),
        rounds,
    )

    def products() -> None:
        for train, _ in splits:
            Z = X[train] - X[train].mean(axis=0)
            Z.T @ Z

    theirs = seconds(products, rounds)
    lanes = 8 if bitsieve.get_isa() == "avx512" else 4
    least = 2 * n * 0.8 * p * (p + 1) / 2 / lanes / 2 / hertz  # sums over the folds, twice
    print(f"  {n:6,} x {p:5,} {1e3 * theirs:9.2f} {1e3 * ours:9.2f} {least / ours:6.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with threadpool_limits(1):
        hertz = clock()
        print(f"{processor()}, {bitsieve.get_isa()}, one thread, {hertz / 1e9:.2f} GHz by numpy")
        rounds = 1 if quick else 3
        gram_rows(111, 11_340, 256, rounds, hertz, raw=False)
        gram_rows(111, 11_340, 256, rounds, hertz, raw=True)
        gram_rows(1000, 2_000 if quick else 20_000, 16, rounds, hertz, raw=False)
        print("\nMoments of all features, 5 folds, milliseconds: numpy, ours, share of the limit")
        for p in (20, 200 if quick else 1000):
            moment_rows(10_000, p, rounds, hertz)


if __name__ == "__main__":
    main()
