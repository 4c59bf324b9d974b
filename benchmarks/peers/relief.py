"""The Relief family beside fast-select and skrebate, in one run.

    pip install '.[bench]'
    python benchmarks/peers/relief.py              # four shapes, two methods, a fresh process too
    python benchmarks/peers/relief.py --skrebate   # and skrebate at 100 x 10,000: a minute more
    python benchmarks/peers/relief.py --large      # MultiSURF on 2,350 x 230,000 alone

Uniform noise in float64, two classes, ten neighbors, all samples; public functions from arrays to
scores, the checks of the input included. Rival and bitsieve take turns, each call that counts on a
new table, after one of its own on another; times are the least of the rounds. "Fresh" is a process
of its own from the first import of the package to the scores (a rival that compiles does so in
each). Every row asserts that both give the same scores.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = tuple[NDArray[np.float64], NDArray[np.int64]]

SHAPES = ((100, 10_000), (200, 20_000), (1000, 5000), (5000, 1000))

FRESH = """
import sys, time
import numpy as np
who, method, n, p = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(0)
X, y = rng.random((n, p)), rng.integers(0, 2, n)
start = time.perf_counter()
if who == "bitsieve":
    from bitsieve import filters
    getattr(filters, method)(X, y)
else:
    import fast_select
    if method == "relieff":
        fast_select.ReliefF(n_neighbors=10, n_jobs=-1).fit(X, y)
    else:
        fast_select.MultiSURF(n_jobs=-1).fit(X, y)
print(time.perf_counter() - start)
"""

LARGE = """
import json, resource, time
import numpy as np
from bitsieve import filters
n, p = 2350, 230_000
rng = np.random.default_rng(0)
X = np.empty((n, p), dtype=np.float32)
for rows in range(0, n, 50):
    X[rows : rows + 50] = rng.random((min(50, n - rows), p), dtype=np.float32)
y = rng.integers(0, 3, n)
for c in range(3):
    X[y == c, c * 10 : c * 10 + 10] += 0.3
start = time.perf_counter()
scores = filters.multisurf(X, y)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
top = np.sort(np.argsort(-scores, kind="stable")[:30])
print(json.dumps({"seconds": seconds, "peak": peak, "input": X.nbytes,
                  "planted_in_top_30": int((top < 30).sum())}))
"""


def least(
    calls: dict[str, Callable[[Table], Any]], make: Callable[[int], Table], rounds: int
) -> dict[str, float]:
    """Return the least time of each call, warm, each time on a table that it has not seen."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    known = make(0)
    for round_ in range(rounds):
        for number, (name, call) in enumerate(calls.items()):
            fresh_table = make(1 + round_ * len(calls) + number)
            call(known)
            start = time.perf_counter()
            call(fresh_table)
            times[name].append(time.perf_counter() - start)
    return {name: min(values) for name, values in times.items()}


def fresh(who: str, method: str, shape: tuple[int, int]) -> float:
    """Return the seconds of a process of its own."""
    command = [sys.executable, "-c", FRESH, who, method, *map(str, shape)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def compare(method: str, shape: tuple[int, int], rounds: int, with_skrebate: bool) -> None:
    """Print one row."""
    import fast_select

    from bitsieve import filters

    def make(seed: int) -> Table:
        rng = np.random.default_rng(seed)
        return rng.random(shape), rng.integers(0, 2, shape[0])

    def rival(table: Table) -> Any:
        if method == "relieff":
            return fast_select.ReliefF(n_neighbors=10, n_jobs=-1).fit(*table)
        return fast_select.MultiSURF(n_jobs=-1).fit(*table)

    def ours(table: Table) -> NDArray[np.float64]:
        return getattr(filters, method)(*table)

    table = make(0)
    off = np.abs(rival(table).feature_importances_ - ours(table)).max()
    assert off < 2e-6, f"scores differ by {off}"
    times = least({"rival": rival, "ours": ours}, make, rounds)
    cold = {who: fresh(who, method, shape) for who in ("fast_select", "bitsieve")}
    rival_time, our_time = times["rival"], times["ours"]
    print(
        f"{method:9} {shape[0]:5} x {shape[1]:6}: bitsieve {our_time * 1e3:7.1f} ms, "
        f"fast-select {rival_time * 1e3:7.1f} ms, ratio {rival_time / our_time:5.1f}; "
        f"fresh process {cold['bitsieve']:.2f} s and {cold['fast_select']:.2f} s, "
        f"fast-select fresh / bitsieve warm {cold['fast_select'] / our_time:.0f}; "
        f"largest difference {off:.1e}",
        flush=True,
    )
    if with_skrebate:
        import skrebate

        slow = skrebate.ReliefF if method == "relieff" else skrebate.MultiSURF
        options = {"n_neighbors": 10} if method == "relieff" else {}
        start = time.perf_counter()
        found = slow(n_jobs=-1, **options).fit(*table).feature_importances_
        seconds = time.perf_counter() - start
        print(
            f"          skrebate {seconds:.1f} s, ratio {seconds / times['ours']:.0f}, largest "
            f"difference {np.abs(found - ours(table)).max():.1e}",
            flush=True,
        )


def large() -> None:
    """Print time and memory of MultiSURF on a table as users have them, in its own process."""
    done = subprocess.run([sys.executable, "-c", LARGE], check=True, capture_output=True, text=True)
    out = json.loads(done.stdout)
    print(
        f"multisurf  2350 x 230000, three classes, float32: {out['seconds']:.1f} s, peak memory "
        f"{out['peak'] / 1e9:.2f} GB for an input of {out['input'] / 1e9:.2f} GB; "
        f"{out['planted_in_top_30']} of 30 planted features among the best 30"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--skrebate", action="store_true")
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    if arguments.large:
        large()
        return
    for shape in SHAPES:
        for method in ("relieff", "multisurf"):
            compare(method, shape, arguments.rounds, arguments.skrebate and shape == SHAPES[0])


if __name__ == "__main__":
    main()
