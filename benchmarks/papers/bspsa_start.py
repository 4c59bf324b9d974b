"""Where binary SPSA of 20 features begins, and its extensions: honest errors and agreement.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/bspsa_start.py                       # the half to choose by
    python benchmarks/papers/bspsa_start.py --sets singh,su,west  # the half to confirm by
    python benchmarks/papers/bspsa_start.py --sets khan --variants "plain,second" --size 0

1-NN, no scaler, stratified outer folds, shuffled anew in each repeat; the selection sees the
training part alone, and so does its filter. "error" is the percentage of wrong test samples;
"folds" the mean Jaccard index of two selections of the same repeat, "seeds" that of two on the same
training part (repeat 0, fold 0, seeds 0 to 3). A row of each selection goes to
benchmarks/results/bspsa_start.jsonl, and one that is there is not made again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from paper004 import load
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import BinarySPSA, RankAggregation

ROWS = Path(__file__).resolve().parents[1] / "results" / "bspsa_start.jsonl"
CHOOSE = "khan,tox_171,chowdary"
STARTS = "level,f,relieff,mrmr"
N_FOLDS, N_SEEDS = 5, 4

VARIANTS: dict[str, dict[str, Any]] = {
    "level": {"start": None},
    "f": {"filter_scores": "f"},
    "relieff": {"filter_scores": "relieff"},
    "mrmr": {"filter_scores": "mrmr"},
    # The filter's first 20, without a search.
    "f alone": {},
    "relieff alone": {},
    "mrmr alone": {},
    # Extensions, each with as many evaluations as the plain search.
    "plain": {},
    "noise 0.03": {"injected_noise": 0.03},
    "noise 0.1": {"injected_noise": 0.1},
    "noise 0.3": {"injected_noise": 0.3},
    "second": {"second_order": True},
    "halving 100": {"halving_patience": 100},
    "halving 250": {"halving_patience": 250},
}


def made(row: dict[str, Any], X: Any, y: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Select on one training part; add the support, wrong test samples and seconds to the row."""
    outer = StratifiedKFold(N_FOLDS, shuffle=True, random_state=row["repeat"])
    train, test = list(outer.split(X, y))[row["fold"]]
    knn = KNeighborsClassifier(1)
    variant = row["variant"]
    n_iter = row["max_iter"] * 3 // 5 if variant == "second" else row["max_iter"]
    selector = BinarySPSA(
        knn,
        n_features_to_select=row["size"] or None,
        max_iter=n_iter,
        random_state=row["seed"],
        n_jobs=options.n_jobs,
        progress=False,
        **VARIANTS[variant],
    )
    begin = time.perf_counter()
    if variant.endswith(" alone"):
        selector = RankAggregation([variant.split()[0]], n_features_to_select=row["size"])
    selector.fit(X[train], y[train])
    seconds = time.perf_counter() - begin
    columns = np.flatnonzero(selector.support_)
    wrong = knn.fit(X[train][:, columns], y[train]).predict(X[test][:, columns]) != y[test]
    return {
        **row,
        "wrong": int(wrong.sum()),
        "n_test": len(test),
        "observed": 1.0 - getattr(selector, "best_observed_score_", np.nan),
        "n_iter": getattr(selector, "n_iter_", 0),
        "support": columns.tolist() if row["size"] else None,
        "n_features": len(columns),
        "seconds": round(seconds, 2),
    }


def jaccard(supports: list[list[int]]) -> float:
    pairs = [(set(a), set(b)) for a, b in combinations(supports, 2)]
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs])) if pairs else np.nan


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--sets", default=CHOOSE, help="names with commas between")
    parser.add_argument("--variants", default=STARTS)
    parser.add_argument("--size", type=int, default=20, help="0: the search finds it")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--max-iter", type=int, default=3000)
    parser.add_argument("--no-seeds", action="store_true", help="leave out the seeds")
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args(argv)
    ROWS.parent.mkdir(exist_ok=True)
    lines = ROWS.read_text().splitlines() if ROWS.exists() else []
    keys = ("set", "variant", "size", "max_iter", "repeat", "fold", "seed")
    known = {tuple((row := json.loads(line))[k] for k in keys): row for line in lines}
    print(
        f"{'':<12}{'start':<15}{'error %':>9}{'folds':>8}{'seeds':>8}{'size':>8}{'observed %':>12}"
        f"{'s':>8}"
    )
    for name in options.sets.split(","):
        X, y = load(name)
        X = np.asarray(X, dtype=np.float64)
        for variant in options.variants.split(","):
            tasks = [(r, f, r) for r in range(options.repeats) for f in range(N_FOLDS)]
            tasks += [] if options.no_seeds else [(0, 0, seed) for seed in range(1, N_SEEDS)]
            rows = []
            for repeat, fold, seed in tasks:
                key = (name, variant, options.size, options.max_iter, repeat, fold, seed)
                if key not in known:
                    known[key] = made(dict(zip(keys, key, strict=True)), X, y, options)
                    with ROWS.open("a") as file:
                        file.write(json.dumps(known[key]) + "\n")
                rows.append(known[key])
            folds = [row for row in rows if row["seed"] == row["repeat"]]
            seeds = [row for row in rows if row["repeat"] == row["fold"] == 0]
            error = sum(row["wrong"] for row in folds) / sum(row["n_test"] for row in folds)
            overlap = among = np.nan
            if options.size:
                overlap = np.mean(
                    [
                        jaccard([row["support"] for row in folds if row["repeat"] == repeat])
                        for repeat in range(options.repeats)
                    ]
                )
                among = jaccard([row["support"] for row in seeds])
            size = np.mean([row.get("n_features", row["size"]) for row in folds])
            observed = np.mean([row["observed"] for row in folds])
            seconds = np.mean([row["seconds"] for row in rows])
            print(
                f"{name:<12}{variant:<15}{100 * error:>9.2f}{overlap:>8.3f}{among:>8.3f}"
                f"{size:>8.0f}{100 * observed:>12.2f}{seconds:>8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
