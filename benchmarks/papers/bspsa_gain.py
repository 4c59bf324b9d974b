"""How the step of binary SPSA and the folds of its pairs change the error that it reaches.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/bspsa_gain.py                          # the cheap six, 3 seeds
    python benchmarks/papers/bspsa_gain.py --sets waveform --gains auto:0.06 paper --seeds 2

The defaults of BinarySPSA were chosen by this table. A gain is "paper", "half-difference", a
number (the gain a), or "auto:R" with R the step fraction; see bitsieve.search.BinarySPSASearch.
The protocol is that of bspsa.py; errors are percent, means over the seeds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
from paper004 import ROWS, load, standardise
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import fitness
from bitsieve.search import PRESETS, BinarySPSASearch, run

CHEAP = "sonar,ionosphere,vehicle,segment,warpAR10P,tox_171"
GAINS = ["paper", "half-difference", "auto:0.02", "auto:0.03", "auto:0.06", "auto:0.1", "auto:0.2"]


def search_for(gain: str, n_features: int) -> BinarySPSASearch:
    kind, _, fraction = gain.partition(":")
    if kind == "auto":
        step = float(fraction) if fraction else None
        return BinarySPSASearch(n_features, gain="auto", step_fraction=step)
    if kind in ("paper", "half-difference"):
        return BinarySPSASearch(n_features, gain=kind)  # type: ignore[arg-type]
    return BinarySPSASearch(n_features, gain=float(gain))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--sets", default=CHEAP, help="names with commas between")
    parser.add_argument("--gains", nargs="+", default=GAINS)
    parser.add_argument("--folds", default="common,independent")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--n-jobs", type=int)
    options = parser.parse_args(argv)
    print(
        f"{'':<12}{'folds':<13}{'gain':<17}{'paper':>7}{'observed':>17}{'re-measured':>13}"
        f"{'size':>7}{'iterations':>12}{'seconds':>9}"
    )
    for name in options.sets.split(","):
        raw, y = load(name)
        X = standardise(raw)
        preset = PRESETS["small" if X.shape[1] < 100 else "large"]
        score = fitness.compile(
            KNeighborsClassifier(1), X, y, cv=5, n_repeats=10, resample=True, n_jobs=options.n_jobs
        )
        for folds in options.folds.split(","):
            for gain in options.gains:
                rows = []
                for seed in range(options.seeds):
                    begin = time.perf_counter()
                    result = run(
                        search_for(gain, X.shape[1]),
                        score,
                        max_iter=preset.max_iter,
                        patience=preset.patience,
                        folds=folds,
                        random_state=seed,
                        progress=False,
                    )
                    errors = 100.0 - 100.0 * np.array(
                        [result.best_observed_score, result.best_score]
                    )
                    seconds = time.perf_counter() - begin
                    rows.append([*errors, result.support.sum(), result.n_iterations, seconds])
                mean = np.mean(rows, axis=0)
                spread = np.std(rows, axis=0, ddof=1)[0] if len(rows) > 1 else np.nan
                observed = f"{mean[0]:.2f} +- {spread / len(rows) ** 0.5:.2f}"
                print(
                    f"{name:<12}{folds:<13}{gain:<17}{ROWS[name].error:>7.2f}{observed:>17}"
                    f"{mean[1]:>13.2f}{mean[2]:>7.0f}{mean[3]:>12.0f}{mean[4]:>9.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
