"""Markov blankets beside pyCausalFS, in one run: processor time, and F1 against the true ones.

    pip install '.[bench]'
    pip install --no-deps --target SOMEWHERE pyCausalFS
    OMP_NUM_THREADS=1 PYTHONPATH=SOMEWHERE python benchmarks/peers/blankets.py

The rival walks over the samples in Python: ALARM takes it over a minute, CHILD three
(``--skip-slow`` leaves CHILD out). Its test of continuous data is one-sided, so that it drops what
correlates positively; its row of the Gaussian network says what that costs (``--gaussian`` targets
of the 300). pgmpy has no method for blankets of data.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import get_isa
from bitsieve.causal import FisherZ, GSquared, make_test, markov_blanket, markov_blankets
from bitsieve.causal.markov import METHODS

Graph = NDArray[np.int8]


def main() -> None:
    """Print the rows that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-slow", action="store_true")
    parser.add_argument("--gaussian", type=int, default=30, help="targets of the rival there")
    parser.add_argument("--wide", type=int, default=20_000, help="variables of the made set")
    arguments = parser.parse_args()
    print(f"{processor()}, {get_isa()}, one thread; seconds of the processor")
    lone_target(arguments.wide)
    slow = () if arguments.skip_slow else ("bn_child_5000",)
    for name in ("bn_lucas0_2000", "bn_alarm_5000", *slow):
        network(name, alphas=(0.01,), n_rival=10**6)
    network("bn_gaussian_1000x300", alphas=(0.01, 0.001), n_rival=arguments.gaussian)


def network(name: str, alphas: tuple[float, ...], n_rival: int) -> None:
    """All blankets of a network whose graph is known."""
    with np.load(Path(os.environ["BITSIEVE_TEST_DATA"]) / f"{name}.npz") as archive:
        data, graph = archive["data"], archive["graph"]
    true = [true_blanket(graph, target) for target in range(len(graph))]
    discrete = data.dtype.kind == "i"
    for alpha in alphas:
        for method in METHODS:
            for symmetric in (True, False) if method in ("hiton-mb", "mmmb") else (True,):

                def ours(
                    method: Any = method, symmetric: bool = symmetric, alpha: float = alpha
                ) -> list[set[int]]:
                    test = (GSquared if discrete else FisherZ)(data, n_jobs=1)
                    found = markov_blankets(
                        test, method=method, alpha=alpha, symmetric=symmetric, n_jobs=1
                    )
                    return [set(blanket.members) for blanket in found]

                seconds, found = least(ours, 3)
                told = method if symmetric else f"{method}, not symmetric"
                row(name, f"bitsieve {told}", alpha, seconds, found, true)
        rivals(name, data, discrete, alpha, true[:n_rival])


def rivals(name: str, data: Any, discrete: bool, alpha: float, true: list[set[int]]) -> None:
    """PyCausalFS's own functions, one target after the other."""
    try:
        from pyCausalFS.CBD.MBs.HITON.HITON_MB import HITON_MB
    except ImportError:
        print("pyCausalFS is not installed")
        return
    values = data.astype(int) if discrete else data
    start, found = time.process_time(), []
    for target in range(len(true)):
        found.append({int(x) for x in HITON_MB(values, target, alpha, discrete)[0]})
    seconds = time.process_time() - start
    row(name, f"pyCausalFS HITON_MB, {len(true)} targets", alpha, seconds, found, true)


def lone_target(p: int) -> None:
    """One target of reged0, and one of a made linear-Gaussian set of 1,000 samples."""
    with np.load(Path(os.environ["BITSIEVE_TEST_DATA"]) / "reged0.npz") as archive:
        X, y = archive["X"].astype(float), archive["y"]
    for method in METHODS:

        def ours(method: Any = method) -> Any:
            test = make_test(X, y, test="fisher-z", n_jobs=1)
            return markov_blanket(test, X.shape[1], method=method, n_jobs=1)

        seconds, found = least(ours, 3)
        size = len(found.members)
        print(f"reged0, {method}: {seconds:.3f} s, {size} members, {found.n_tests} tests")
    made, graph, target = linear_gaussian(1000, p)
    true = [true_blanket(graph, target)]
    for alpha in (0.01, 0.001):
        for method in METHODS:

            def wide(method: Any = method, alpha: float = alpha) -> list[set[int]]:
                test = FisherZ(made, n_jobs=1)
                found = markov_blanket(test, target, method=method, alpha=alpha, n_jobs=1)
                return [set(found.members)]

            seconds, members = least(wide, 1)
            row(f"made 1000 x {p}, one target", f"bitsieve {method}", alpha, seconds, members, true)


def linear_gaussian(n: int, p: int) -> tuple[NDArray[np.float64], Any, int]:
    """Return data, parents of each variable, and a target of three parents and two children.

    Each variable is the sum of noise and of up to three earlier ones, which were put to one
    standard deviation, times 0.4 to 1 of either sign.
    """
    rng = np.random.default_rng(0)
    X, parents = np.empty((n, p)), []
    children: list[list[int]] = [[] for _ in range(p)]
    for v in range(p):
        some = np.sort(rng.choice(v, min(v, int(rng.integers(0, 4))), replace=False)) if v else []
        parents.append([int(u) for u in some])
        X[:, v] = rng.normal(size=n)
        for u in parents[v]:
            X[:, v] += rng.choice([-1, 1]) * rng.uniform(0.4, 1) * X[:, u] / X[:, u].std()
            children[u].append(v)
    fitting = (v for v in range(p) if len(parents[v]) == 3 and len(children[v]) == 2)
    return X, parents, next(fitting)


def true_blanket(graph: Any, target: int) -> set[int]:
    """Return it of a matrix (graph[i, j] = 1 where i is a parent of j) or of lists of parents."""
    if isinstance(graph, list):
        parents = graph
    else:
        parents = [np.flatnonzero(column).tolist() for column in graph.T]
    children = [v for v, some in enumerate(parents) if target in some]
    return {*parents[target], *children, *(u for c in children for u in parents[c])} - {target}


def row(
    name: str, who: str, alpha: float, seconds: float, found: list[set[int]], true: list[set[int]]
) -> None:
    """Print time and mean F1; of two empty sets it is 1."""
    f1 = [
        2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0
        for a, b in zip(found, true, strict=False)
    ]
    told = f"{seconds:.3f} s, mean F1 {np.mean(f1):.3f}"
    print(f"{name}, alpha {alpha:g}, {who}: {told}", flush=True)


def least(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the least processor time of a call, and what it gave."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        found = call()
        times.append(time.process_time() - start)
    return min(times), found


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(": ")[1] for x in lines if x.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
