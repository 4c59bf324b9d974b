"""Milliseconds of one ranking of a training part, beside the units of work it is planned with.

    python benchmarks/panels/rankers.py [--rounds 5] [--grid] [--names a,b]

Tables are drawn: normal values, of which a hundredth follow the class. 200 features are asked for.
Time is the least of the rounds, of processor time of the thread that ranks, BLAS held to one
thread; `units` is what `Ranker.cost` says. The aggregate gets the lists of its filters, as in a
race. `--grid` prints more shapes, among which the formulas of the costs were chosen.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve.panels import RANKERS, Scaling, ranker_by_name

WANTED = 200
SHAPES = ((82, 12_600, 2), (137, 5_748, 4))
GRID = tuple((n, p, c) for n in (40, 140) for p in (2_000, 22_283) for c in (2, 4))


def processor() -> str:
    """Name of the processor, and the instruction set of the compiled loops."""
    said = Path("/proc/cpuinfo")
    lines = said.read_text().splitlines() if said.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {bitsieve.get_isa()}"


def made(n: int, p: int, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A table of raw intensities and its classes."""
    rng = np.random.default_rng(n + p + n_classes)
    codes = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p))
    X[:, ::100] += 0.7 * rng.normal(size=(n_classes, len(range(0, p, 100))))[codes]
    return 2.0 ** (2 * X + rng.normal(7, 2, size=p)), codes


def least(call: Callable[[], object], rounds: int) -> float:
    """Least milliseconds of processor time."""
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        call()
        best = min(best, time.thread_time() - start)
    return 1000 * best


def rows(
    n: int, p: int, n_classes: int, names: list[str], rounds: int
) -> Iterator[tuple[str, float, float]]:
    """Name, milliseconds and units of the scaling and of each ranker."""
    X, codes = made(n, p, n_classes)
    yield "scaling", least(lambda: Scaling.fit_apply(X), rounds), float("nan")
    _, Z = Scaling.fit_apply(X)
    lists: dict[str, NDArray[np.int64]] = {}
    for name in names:
        ranker = ranker_by_name(name)
        others = {k: v for k, v in lists.items() if k != "lars" and RANKERS[k].is_filter}

        def once(ranker=ranker, others=others) -> NDArray[np.int64]:  # type: ignore[no-untyped-def]
            return ranker.rank(Z, codes, WANTED, others=others)

        if name in RANKERS:
            lists[name] = once()
        yield name, least(once, rounds), ranker.cost(n, p, n_classes, WANTED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--names", default=",".join(RANKERS))
    options = parser.parse_args()
    names = options.names.split(",")
    print(f"{processor()}; milliseconds (units)")
    print(f"{'':20s}" + "".join(f"{name:>18s}" for name in ["scaling", *names, "all"]))
    with threadpool_limits(1):
        for n, p, n_classes in GRID if options.grid else SHAPES:
            found = list(rows(n, p, n_classes, names, options.rounds))
            found.append(("all", sum(ms for _, ms, _ in found), sum(u for *_, u in found[1:])))
            cells = [f"{ms:7.1f}" + ("" if u != u else f" ({u:7.1f})") for _, ms, u in found]
            print(f"{n:4d} x {p:6,d}, {n_classes:2d}" + "".join(f"{cell:>18s}" for cell in cells))


if __name__ == "__main__":
    main()
