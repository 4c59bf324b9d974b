"""Honest errors of whole procedures: rows by `run`, tables by `report`, twins by `check`.

export BITSIEVE_TEST_DATA=/folder/of/npz OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
python benchmarks/peers/honest run --out FOLDER [--sets a,b] [--procedures "F + sLDA;forest"]
python benchmarks/peers/honest report --out FOLDER
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> None:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from honest.auto import AUTO
    from honest.checks import check
    from honest.costly import COSTLY
    from honest.report import page, report
    from honest.rivals import RIVALS
    from honest.run import run
    from honest.sets import N_REPEATS, SETS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "report", "page", "check"])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/honest"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--procedures", default="")
    parser.add_argument("--repeats", type=int, default=N_REPEATS)
    parser.add_argument("--against", default="auto;auto <= 50")
    options = parser.parse_args()
    if options.command == "run":
        wanted = options.procedures.split(";") if options.procedures else None
        procedures = [p for p in [*AUTO, *RIVALS, *COSTLY] if wanted is None or p.name in wanted]
        run(options.out, procedures, options.sets.split(","), options.repeats)
    elif options.command == "check":
        check()
    else:
        make = page if options.command == "page" else report
        print(make(options.out, options.sets.split(","), options.against.split(";")))


if __name__ == "__main__":
    main()
