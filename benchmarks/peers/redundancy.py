"""mRMR beside mrmrs (Rust), mrmr-selection and fast-select, in one run.

    pip install '.[bench]'
    python benchmarks/peers/redundancy.py           # shapes of two minutes
    python benchmarks/peers/redundancy.py --slow    # and the rivals that take minutes

FCQ on continuous columns, MID on three levels (mean +/- one standard deviation). Rival and bitsieve
take turns, each call that counts on a new table, after one of its own on another; times are the
least of the rounds. Public functions from arrays or frames to the order, the checks of the input
included (frames are made beforehand for those that take nothing else). Every row prints how far the
orders agree from the first feature on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = tuple[NDArray[np.float64], NDArray[np.int64]]


def made(shape: tuple[int, int], seed: int) -> Table:
    """Return a table whose first fiftieth of the features tells two classes apart."""
    n, p = shape
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, : p // 50] += 0.6 * y[:, None] + 0.5 * rng.normal(size=(n, 1))
    return X, y


def least(
    calls: dict[str, Callable[[Any], Any]], make: Callable[[int], dict[str, Any]], rounds: int
) -> dict[str, float]:
    """Return the least time of each call, warm, each time on a table that it has not seen.

    A table comes in the form that each call takes, by the name of the call.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    known = make(0)
    for round_ in range(rounds):
        for number, (name, call) in enumerate(calls.items()):
            table = make(1 + round_ * len(calls) + number)[name]
            call(known[name])
            start = time.perf_counter()
            call(table)
            times[name].append(time.perf_counter() - start)
    return {name: min(values) for name, values in times.items()}


def common(a: list[int], b: list[int]) -> int:
    """Return how many features the orders share from the first on."""
    for k, (i, j) in enumerate(zip(a, b, strict=False)):
        if i != j:
            return k
    return min(len(a), len(b))


def report(name: str, shape: tuple[int, int], k: int, times: dict[str, float], agree: str) -> None:
    """Print one row."""
    ours = times["bitsieve"]
    rivals = ", ".join(
        f"{who} {t * 1e3:.1f} ms, ratio {t / ours:.1f}"
        for who, t in times.items()
        if who != "bitsieve"
    )
    print(
        f"{name}, {k} features of {shape[0]} x {shape[1]}: bitsieve {ours * 1e3:.1f} ms"
        f"{'; ' + rivals if rivals else ''}{agree}",
        flush=True,
    )


def fcq(shape: tuple[int, int], k: int, rounds: int, slow: bool) -> None:
    """FCQ beside mrmrs, and mrmr-selection where there is time."""
    import mrmrs
    import polars

    from bitsieve import filters

    names = [str(i) for i in range(shape[1])]

    def make(seed: int) -> dict[str, Any]:
        X, y = made(shape, seed)
        frame = polars.DataFrame(X, schema=names)
        return {"mrmrs": (frame, polars.Series("y", y.astype(np.float64))), "bitsieve": (X, y)}

    def rival(table: Any) -> list[int]:
        return [int(taken.name) for taken in mrmrs.mrmr(*table, k, "classification")]

    def ours(table: Any) -> list[int]:
        return filters.mrmr(*table, k, criterion="FCQ").tolist()

    first = make(0)
    agree = common(rival(first["mrmrs"]), ours(first["bitsieve"]))
    times = least({"mrmrs": rival, "bitsieve": ours}, make, rounds)
    report("FCQ", shape, k, times, f"; the first {agree} agree")
    if slow:
        import mrmr
        import pandas

        X, y = first["bitsieve"]
        table = pandas.DataFrame(X, columns=names)
        labels = pandas.Series(y)
        start = time.perf_counter()
        chosen = mrmr.mrmr_classif(table, labels, k, show_progress=False)
        seconds = time.perf_counter() - start
        agree = common([int(name) for name in chosen], ours((X, y)))
        print(
            f"  mrmr-selection {seconds:.1f} s, ratio {seconds / times['bitsieve']:.0f}; "
            f"the first {agree} agree",
            flush=True,
        )


def mid(shape: tuple[int, int], k: int, rounds: int, slow: bool) -> None:
    """MID on three levels beside fast-select where there is time."""
    from bitsieve import filters

    def make(seed: int) -> dict[str, Any]:
        X, y = made(shape, seed)
        return {"bitsieve": (np.digitize((X - X.mean(axis=0)) / X.std(axis=0), [-1.0, 1.0]), y)}

    def ours(table: Any) -> list[int]:
        return filters.mrmr(*table, k, criterion="MID").tolist()

    times = least({"bitsieve": ours}, make, rounds)
    report("MID", shape, k, times, "")
    if slow:
        import fast_select

        levels, y = make(0)["bitsieve"]
        start = time.perf_counter()
        found = fast_select.mRMR(n_features_to_select=k, method="MID").fit(levels, y)
        seconds = time.perf_counter() - start
        agree = common([int(i) for i in found.top_features_], ours((levels, y)))
        print(
            f"  fast-select {seconds:.1f} s, ratio {seconds / times['bitsieve']:.0f}; "
            f"the first {agree} agree",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--slow", action="store_true")
    arguments = parser.parse_args()
    fcq((100, 10_000), 50, arguments.rounds, arguments.slow)
    fcq((200, 20_000), 100, arguments.rounds, False)
    fcq((1000, 5000), 100, arguments.rounds, False)
    mid((100, 10_000), 50, arguments.rounds, arguments.slow)
    mid((200, 20_000), 100, arguments.rounds, False)


if __name__ == "__main__":
    main()
