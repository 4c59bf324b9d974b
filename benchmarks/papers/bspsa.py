"""Binary SPSA with 1-NN against Aksakalli and Malekipirbazari (2016), with one set of defaults.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/bspsa.py                     # 7 sets, 5 seeds, with honest errors
    python benchmarks/papers/bspsa.py --no-honest --sets sonar,tox_171 --folds independent

Aksakalli and Malekipirbazari (2016), Tables 5 and 8, column 1-NN. Their protocol: features
z-scored once over the whole set, 10 x 5-fold stratified cross-validation on fresh folds, 1000
iterations below 100 features and 3000 from there on, stop after a quarter of them without a new
best. Three errors are ours, in percent, means over the seeds:

observed      the lowest error the search saw; the number to compare with theirs
re-measured   the chosen mask on fresh folds of the same samples; still optimistic
honest        outer 5-fold, scaling and selection repeated inside each fold; the one that counts,
              beside the error of all features on the same outer folds
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import shlex
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from paper004 import ROWS, UNSCORED, Row, load, standardise
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bitsieve
from bitsieve import BinarySPSA, fitness
from bitsieve.evaluation import nested_cross_validate
from bitsieve.masks import Masks

RESULTS = Path(__file__).resolve().parents[1] / "results"
SCORED = [name for name in ROWS if name not in UNSCORED]
HEADER = (
    f"{'':<12}{'paper':>15}{'observed':>15}{'re-meas.':>10}{'honest':>15}{'its full':>10}"
    f"{'full: paper':>13}{'ours':>7}{'size: paper':>13}{'ours':>7}"
    f"{'eval.: paper':>14}{'ours':>7}{'min/run':>9}"
)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--sets", default=",".join(SCORED), help="names with commas between")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to N - 1 (default 5)")
    parser.add_argument("--folds", choices=["common", "independent"], help="default: the package's")
    parser.add_argument(
        "--gain", help="auto, paper, half-difference or a number; default: the package's"
    )
    parser.add_argument("--no-honest", action="store_true", help="leave the honest error out")
    parser.add_argument(
        "--honest-seeds", type=int, help="seeds with an honest error (default: all of them)"
    )
    parser.add_argument("--n-jobs", type=int, help="threads (default: all)")
    parser.add_argument(
        "--out",
        type=Path,
        help="JSON lines, a new file in benchmarks/results/ by default; runs that are in it "
        "already are not made again (one file for one set of options)",
    )
    options = parser.parse_args(argv)
    options.sets = options.sets.split(",")
    unknown = [name for name in options.sets if name not in ROWS]
    if unknown:
        parser.error(f"unknown sets {', '.join(unknown)}; known are {', '.join(ROWS)}")
    if options.honest_seeds is None:
        options.honest_seeds = options.seeds
    if options.no_honest:
        options.honest_seeds = 0
    return options


def selector(options: argparse.Namespace, seed: int | None) -> BinarySPSA:
    """Return the package's defaults, but for what the command line changes."""
    chosen: dict[str, Any] = {}
    if options.folds is not None:
        chosen["folds"] = options.folds
    if options.gain is not None:
        named = options.gain in ("auto", "paper", "half-difference")
        chosen["gain"] = options.gain if named else float(options.gain)
    return BinarySPSA(
        KNeighborsClassifier(1), random_state=seed, n_jobs=options.n_jobs, progress=False, **chosen
    )


def measure(options: argparse.Namespace, name: str, seed: int) -> dict[str, Any]:
    """Run one seed of one set; errors in percent."""
    raw, y = load(name)
    X = standardise(raw)
    begin = time.perf_counter()
    search = selector(options, seed).fit(X, y)
    minutes = (time.perf_counter() - begin) / 60.0
    full = fitness.compile(
        KNeighborsClassifier(1), X, y, cv=5, n_repeats=10, resample=True, n_jobs=options.n_jobs
    ).evaluate(Masks.full(X.shape[1]), seeds=seed)
    record = {
        "set": name,
        "seed": seed,
        "folds": search.folds,
        "gain": search.gain,
        "observed": 100.0 * (1.0 - search.best_observed_score_),
        "remeasured": 100.0 * (1.0 - search.best_score_),
        "full": 100.0 * (1.0 - float(full[0])),
        "size": int(search.support_.sum()),
        "iterations": search.n_iter_,
        "evaluations": search.n_evaluations_,
        "minutes": minutes,
    }
    if seed < options.honest_seeds:
        begin = time.perf_counter()
        nested = nested_cross_validate(
            make_pipeline(StandardScaler(), selector(options, None)),
            KNeighborsClassifier(1),
            raw,
            y,
            cv=StratifiedKFold(5, shuffle=True, random_state=seed),
            random_state=seed,
        )
        record["honest"] = 100.0 * (1.0 - nested.score)
        record["honest_full"] = 100.0 * (1.0 - nested.full_score)
        record["honest_minutes"] = (time.perf_counter() - begin) / 60.0
    return record


def recorded(out: Path, name: str, seed: int, honest: bool) -> dict[str, Any] | None:
    """Return what the file has of a run, or None."""
    if out.is_file():
        for text in out.read_text(encoding="utf-8").splitlines():
            record: dict[str, Any] = json.loads(text)
            if (record["set"], record["seed"]) == (name, seed) and (
                "honest" in record or not honest
            ):
                return record
    return None


def spread(records: list[dict[str, Any]], key: str) -> str:
    """Mean and standard error over seeds, or a dash."""
    values = [record[key] for record in records if key in record]
    if not values:
        return "-"
    if len(values) == 1:
        return f"{values[0]:.2f} (1 seed)"
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return f"{np.mean(values):.2f} +- {error:.2f}"


def line(row: Row, records: list[dict[str, Any]]) -> str:
    """One data set of the table."""

    def mean(key: str) -> float:
        values = [record[key] for record in records if key in record]
        return float(np.mean(values)) if values else math.nan

    own = "-" if math.isnan(mean("honest_full")) else f"{mean('honest_full'):.2f}"
    paper = f"{row.error:.2f} +- {row.standard_error:.2f}"
    return (
        f"{row.name:<12}{paper:>15}{spread(records, 'observed'):>15}{mean('remeasured'):>10.2f}"
        f"{spread(records, 'honest'):>15}{own:>10}"
        f"{row.full:>13.2f}{mean('full'):>7.2f}"
        f"{row.size:>13}{mean('size'):>7.0f}{row.evaluations:>14}{mean('evaluations'):>7.0f}"
        f"{mean('minutes'):>9.3f}" + ("   unscored" if row.name in UNSCORED else "")
    )


def summary(found: dict[str, list[dict[str, Any]]]) -> str:
    """On how many rows the mean observed error is as low as the published one."""
    means = {
        name: float(np.mean([record["observed"] for record in records]))
        for name, records in found.items()
        if name not in UNSCORED
    }
    within = sum(mean <= ROWS[name].limit for name, mean in means.items())
    below = sum(mean < ROWS[name].error for name, mean in means.items())
    n = len(means)
    return f"within paper + 2 standard errors on {within} of {n}, below on {below} of {n}"


def main(argv: Sequence[str] | None = None) -> None:
    options = arguments(argv)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    out = options.out or RESULTS / f"bspsa-{stamp}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    command = shlex.join(["python", *(sys.argv if argv is None else ["bspsa.py", *argv])])
    print(command)
    print(f"bitsieve {bitsieve.__version__}, {platform.machine()}, {options.seeds} seeds")
    print(f"records: {out}\n\n{HEADER}")
    found: dict[str, list[dict[str, Any]]] = {}
    for name in options.sets:
        found[name] = []
        for seed in range(options.seeds):
            record = recorded(out, name, seed, honest=seed < options.honest_seeds)
            if record is None:
                record = measure(options, name, seed)
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")
            found[name].append(record)
        print(line(ROWS[name], found[name]), flush=True)
    print(f"\n{summary(found)}")


if __name__ == "__main__":
    main()
