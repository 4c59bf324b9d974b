"""Peak memory of a search above its loaded input.

    python benchmarks/scaling/memory.py

For chowdary (104 x 22,283, where BITSIEVE_TEST_DATA names a folder that holds it) and for a made
200 x 500,000 float32 table, both read from NPZ. Each runs in a process of its own; the peak is the
operating system's count of resident memory. The limit is two float32 tables and 50 MB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, resource, sys
import numpy as np
import sklearn.neighbors, sklearn.model_selection, scipy.stats, pandas, joblib
import bitsieve.search, bitsieve.selectors, bitsieve.fitness
from bitsieve import BinarySPSA
from bitsieve.data import read_table

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

table = read_table(sys.argv[1])
X, y = table.X, table.y
loaded, peak_loaded = resident(), peak()
BinarySPSA(sklearn.neighbors.KNeighborsClassifier(1), max_iter=int(sys.argv[2]),
           random_state=0, progress=False).fit(X, y)
print(json.dumps({"loaded": loaded, "peak_loaded": peak_loaded, "peak": peak(),
                  "table": X.shape[0] * X.shape[1] * 4, "shape": X.shape, "dtype": str(X.dtype)}))
"""


def measure(name: str, path: Path, iterations: int) -> None:
    command = [sys.executable, "-c", CHILD, str(path), str(iterations)]
    out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    above = out["peak"] - out["loaded"]
    limit = 2 * out["table"] + 50e6
    print(
        f"{name} {out['shape']} {out['dtype']}: loaded {out['loaded'] / 1e6:.0f} MB (peak while "
        f"reading {out['peak_loaded'] / 1e6:.0f}), peak {out['peak'] / 1e6:.0f} MB, above the "
        f"input {above / 1e6:.0f} MB = {above / out['table']:.2f} float32 tables; "
        f"limit {limit / 1e6:.0f} MB"
    )


def main() -> None:
    folder = os.environ.get("BITSIEVE_TEST_DATA")
    if folder and (Path(folder) / "chowdary.npz").exists():
        measure("chowdary", Path(folder) / "chowdary.npz", 200)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "made.npz"
        make = (
            "import sys, numpy as np; from bitsieve.datasets import make_microarray; "
            "m = make_microarray(200, 500_000, random_state=0); np.savez(sys.argv[1], X=m.X, y=m.y)"
        )
        subprocess.run([sys.executable, "-c", make, str(path)], check=True)
        measure("made", path, 20)


if __name__ == "__main__":
    main()
