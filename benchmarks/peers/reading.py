"""Reading plain text tables beside pandas, in one run.

    python benchmarks/peers/reading.py [--rounds 5]

The rival is ``pandas.read_csv(path, sep="\\t", index_col=0)`` with its C engine: a frame, where
ours is a checked table of samples. Seconds are the least of the rounds by the clock, and the least
of processor time, which others on the machine disturb less. pandas before version 3 rounds numbers
correctly only with ``float_precision="round_trip"``, which is then a row of its own.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from bitsieve.data import read_table


def write(path: Path, n_rows: int, n_columns: int, form: str, row: str) -> None:
    rng = np.random.default_rng(0)
    pattern = "\t".join([form] * n_columns)
    with open(path, "w") as file:
        file.write("\t".join(["id", *(f"c{j}" for j in range(n_columns))]) + "\n")
        for i in range(n_rows):
            file.write(f"{row}{i}\t{pattern % tuple(rng.normal(8, 2, n_columns))}\n")


def least(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, tuple[float, float]]:
    """Least seconds by the clock and of processor time, the calls in turns."""
    found = dict.fromkeys(calls, (float("inf"), float("inf")))
    for _ in range(rounds):
        for name, call in calls.items():
            clock, processor = time.perf_counter(), time.process_time()
            call()
            took = time.perf_counter() - clock, time.process_time() - processor
            found[name] = min(found[name][0], took[0]), min(found[name][1], took[1])
    return found


def to_numpy(path: Path) -> object:
    return pd.read_csv(path, sep="\t", index_col=0).to_numpy()


def processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "?")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{processor_name()}; pandas {pd.__version__}")
    with tempfile.TemporaryDirectory() as scratch:
        for title, n_rows, n_columns, form, orient in (
            ("genes in rows", 20_000, 200, "%.4f", "features"),
            ("genes in rows, all digits", 20_000, 200, "%.17g", "features"),
            ("genes in rows", 4000, 1000, "%.4f", "features"),
            ("samples in rows", 500, 20_000, "%.4f", "samples"),
            ("samples in rows", 200, 1500, "%.4f", "samples"),
        ):
            path = Path(scratch) / "table.tsv"
            write(path, n_rows, n_columns, form, "g" if orient == "features" else "s")
            calls: dict[str, Callable[[], object]] = {
                "read_table": partial(read_table, path, orient=orient),
                "pandas": partial(pd.read_csv, path, sep="\t", index_col=0),
                "pandas, to_numpy": partial(to_numpy, path),
            }
            if int(pd.__version__.partition(".")[0]) < 3:
                calls["pandas, round_trip"] = partial(
                    pd.read_csv, path, sep="\t", index_col=0, float_precision="round_trip"
                )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = least(calls, rounds)
            print(f"\n{n_rows:,} x {n_columns:,}, {title}, {path.stat().st_size / 1e6:.0f} MB")
            ours = found["read_table"]
            for name, (clock, processor) in found.items():
                ratio = f"{ours[0] / clock:5.2f} {ours[1] / processor:5.2f}  ours by it"
                print(f"  {name:20s} {clock:7.3f} s {processor:7.3f} s processor  {ratio}")


if __name__ == "__main__":
    main()
