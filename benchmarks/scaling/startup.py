"""How long it takes to import the package and to print the help.

python benchmarks/scaling/startup.py
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import bitsieve": ["-c", "import bitsieve"],
    "bitsieve --help": ["-m", "bitsieve", "--help"],
}


def main() -> None:
    for name, arguments in COMMANDS.items():
        times = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        print(f"{name}: median {np.median(times):.3f} s, least {min(times):.3f} s")


if __name__ == "__main__":
    main()
