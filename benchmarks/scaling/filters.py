"""Peak memory of the filters above their input.

    python benchmarks/scaling/filters.py

A made table of 200 x 100,000, float32 and float64. Each filter runs in a process of its own, after
a small table has loaded all that it imports; the peak is the operating system's count of resident
memory. The last number is (input + what the filter took) / input.
"""

from __future__ import annotations

import json
import subprocess
import sys

CALLS = {
    "relieff": "filters.relieff(X, y)",
    "multisurf": "filters.multisurf(X, y)",
    "mrmr FCQ, 50": "filters.mrmr(X, y, 50, criterion='FCQ')",
    "mrmr MID, 50": "filters.mrmr(X, y, 50)",
    "jmi, 20": "filters.information_selection(X, y, 20, criterion='jmi')",
    "t_test": "filters.t_test(X, y)",
    "auc": "filters.auc(X, y)",
    "spearman": "filters.spearman(X, y)",
    "information_gain": "filters.information_gain(X, y)",
    "fcbf": "filters.fcbf(X, y)",
    "gram_schmidt, 20": "filters.gram_schmidt(X, y, 20)",
}

CHILD = """
import json, resource, sys
import numpy as np
from bitsieve import filters

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

rng = np.random.default_rng(0)
call = sys.argv[1]
def run(X, y):
    eval(call, {"filters": filters, "X": X, "y": y})
run(rng.normal(size=(20, 200)).astype(sys.argv[2]), np.arange(20) % 2)
n, p = 200, 100_000
X = np.empty((n, p), dtype=sys.argv[2])
for i in range(n):
    X[i] = rng.normal(size=p)
y = np.arange(n) % 2
before = resident()
run(X, y)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"above": max(0, peak - before), "input": X.nbytes}))
"""


def main() -> None:
    for dtype in ("float32", "float64"):
        for name, call in CALLS.items():
            command = [sys.executable, "-c", CHILD, call, dtype]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            out = json.loads(done.stdout)
            above, size = out["above"], out["input"]
            print(
                f"{name:18} {dtype}: input {size / 1e6:.0f} MB, above it {above / 1e6:.0f} MB, "
                f"peak {1 + above / size:.2f} inputs",
                flush=True,
            )


if __name__ == "__main__":
    main()
