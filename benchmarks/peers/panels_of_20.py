"""Panels of 20 features by swaps and by floating search, beside filters and binary SPSA.

    python benchmarks/peers/panels_of_20.py                       # what is not on record yet
    python benchmarks/peers/panels_of_20.py --sets khan --limit 120
    python benchmarks/peers/panels_of_20.py --report              # the table alone

Everything is learnt on the training part of each outer fold, 2 x 5 stratified ones, the same for
all: means and scales, the filter, the search, the classifier. A row is one method on one fold: its
panel, the wrong predictions of the classifier that was searched with (1-NN) and of a shrunken LDA
on the same panel, and the score that the search itself saw. Rows go to a file of JSON lines, one
written at a time, and what stands there is not done again. The table has the error over all folds
and the mean Jaccard index of the panels of two folds of a repeat.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

import bitsieve
from bitsieve import MRMR, BinarySPSA, FixedSizeSearch, ReliefF, SequentialFeatureSelector
from bitsieve.data import read_table

SIZE, N_REPEATS, N_FOLDS = 20, 2, 5
SETS = ("tox_171", "khan", "chowdary")


def nearest() -> KNeighborsClassifier:
    return KNeighborsClassifier(1)


def shrunken() -> LinearDiscriminantAnalysis:
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5)


def swaps(**options: Any) -> FixedSizeSearch:
    estimator = options.pop("estimator", nearest())
    options = {"n_repeats": 1, **options}
    return FixedSizeSearch(estimator, n_features_to_select=SIZE, random_state=0, **options)


class Floating:
    """Floating forward search from the best ten of a filter."""

    def __init__(self, start: Any, n_repeats: int = 1) -> None:
        self.start, self.n_repeats = start, n_repeats

    def fit(self, X: Any, y: Any) -> SequentialFeatureSelector:
        best = self.start.fit(X, y).get_support()
        return SequentialFeatureSelector(
            nearest(),
            n_features_to_select=SIZE,
            floating=True,
            start=best,
            n_repeats=self.n_repeats,
            random_state=0,
        ).fit(X, y)


#: Rivals, and the searches with their defaults.
METHODS = {
    "ReliefF": lambda: ReliefF(n_features_to_select=SIZE),
    "mRMR": lambda: MRMR(n_features_to_select=SIZE),
    "binary SPSA": lambda: BinarySPSA(nearest(), n_features_to_select=SIZE, random_state=0),
    "floating from ReliefF 10": lambda: Floating(ReliefF(n_features_to_select=SIZE // 2)),
    "floating from mRMR 10": lambda: Floating(MRMR(n_features_to_select=SIZE // 2)),
    "floating from mRMR 10, 5 repeats": lambda: Floating(
        MRMR(n_features_to_select=SIZE // 2), n_repeats=5
    ),
    "swaps from ReliefF": lambda: swaps(start="relieff"),
    "swaps from mRMR": lambda: swaps(start="mrmr"),
    "swaps from random": lambda: swaps(start="random"),
    "swaps from ReliefF, 200 candidates": lambda: swaps(start="relieff", n_candidates=200),
    "swaps from mRMR, 200 candidates": lambda: swaps(start="mrmr", n_candidates=200),
    "swaps from ReliefF, tol 0.01": lambda: swaps(start="relieff", tol=0.01),
    "swaps from mRMR, tol 0.01": lambda: swaps(start="mrmr", tol=0.01),
    "swaps from ReliefF, 5 repeats": lambda: swaps(start="relieff", n_repeats=5),
    "swaps from mRMR, 5 repeats": lambda: swaps(start="mrmr", n_repeats=5),
    "swaps from ReliefF, 200 candidates, 5 repeats": lambda: swaps(
        start="relieff", n_candidates=200, n_repeats=5
    ),
    "swaps from mRMR, 200 candidates, 5 repeats": lambda: swaps(
        start="mrmr", n_candidates=200, n_repeats=5
    ),
    "swaps of LDA from mRMR, 200 candidates, 5 repeats": lambda: swaps(
        estimator=shrunken(), start="mrmr", n_candidates=200, n_repeats=5
    ),
    "best pairs from ReliefF": lambda: swaps(start="relieff", moves="best_pairs"),
    "best pairs from ReliefF, 5 repeats": lambda: swaps(
        start="relieff", moves="best_pairs", n_repeats=5
    ),
    "best pairs from mRMR, 5 repeats": lambda: swaps(start="mrmr", moves="best_pairs", n_repeats=5),
}


def measured(X: Any, y: Any, train: Any, test: Any, method: str) -> dict[str, Any]:
    """Return what one method gives on one fold."""
    centre, scale = X[train].mean(axis=0), X[train].std(axis=0)
    scale[scale == 0] = 1.0
    fitted, held_out = (X[train] - centre) / scale, (X[test] - centre) / scale
    began = time.perf_counter()
    selector = METHODS[method]().fit(fitted, y[train])
    seconds = time.perf_counter() - began
    panel = np.flatnonzero(selector.get_support())
    row = {"panel": panel.tolist(), "seconds": seconds, "n_test": len(test)}
    for name, make in (("1-NN", nearest), ("LDA", shrunken)):
        predicted = make().fit(fitted[:, panel], y[train]).predict(held_out[:, panel])
        row[name] = int((predicted != y[test]).sum())
    for name in ("observed_score_", "n_swaps_", "n_evaluations_"):
        if hasattr(selector, name):
            row[name.strip("_")] = float(getattr(selector, name))
    return row


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows on record; a line that was cut short is none."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def overlap(panels: dict[int, list[int]]) -> list[float]:
    """Return the Jaccard index of each pair of panels."""
    return [
        len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in combinations(panels.values(), 2)
    ]


def report(rows: list[dict[str, Any]], sets: list[str], methods: list[str]) -> None:
    """Print the table of what is on record, of the folds that all of the methods have."""
    print("| set | method | folds | 1-NN error | LDA error | Jaccard | seen by the search | s |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in sets:
        of_set = [r for r in rows if r["set"] == name]
        places = [{(r["repeat"], r["fold"]) for r in of_set if r["method"] == m} for m in methods]
        common = set.intersection(*[folds for folds in places if folds] or [set()])
        for method in methods:
            own = [r for r in of_set if r["method"] == method]
            own = [r for r in own if (r["repeat"], r["fold"]) in common]
            if not own:
                continue
            n = sum(r["n_test"] for r in own)
            errors = [100.0 * sum(r[c] for r in own) / n for c in ("1-NN", "LDA")]
            pairs = [
                value
                for repeat in range(N_REPEATS)
                for value in overlap({r["fold"]: r["panel"] for r in own if r["repeat"] == repeat})
            ]
            stable = f"{np.mean(pairs):.2f}" if pairs else ""
            seen = [1.0 - r["observed_score"] for r in own if "observed_score" in r]
            told = f"{100.0 * np.mean(seen):.1f} %" if seen else ""
            seconds = np.median([r["seconds"] for r in own])
            print(
                f"| {name} | {method} | {len(own)} | {errors[0]:.1f} % | {errors[1]:.1f} % | "
                f"{stable} | {told} | {seconds:.2g} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--repeats", type=int, default=N_REPEATS, help="of the outer folds")
    parser.add_argument("--limit", type=float, default=700.0, help="seconds; begins no row beyond")
    parser.add_argument("--record", default="benchmarks/results/panels_of_20.jsonl")
    parser.add_argument("--report", action="store_true", help="only the table of what there is")
    options = parser.parse_args()
    path, began = Path(options.record), time.perf_counter()
    known = {(r["set"], r["repeat"], r["fold"], r["method"]) for r in rows_of(path)}
    print(f"{platform.processor() or platform.machine()}, {bitsieve.get_isa()}", flush=True)
    for name in () if options.report else options.sets:
        table = read_table(Path(os.environ["BITSIEVE_TEST_DATA"]) / f"{name}.npz")
        X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y)
        for repeat in range(options.repeats):
            folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
            for fold, (train, test) in enumerate(folds.split(X, y)):
                for method in options.methods:
                    place = (name, repeat, fold, method)
                    if place in known or time.perf_counter() - began > options.limit:
                        continue
                    row = measured(X, y, train, test, method)
                    named = dict(zip(("set", "repeat", "fold", "method"), place, strict=True))
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with path.open("a") as file:
                        file.write(json.dumps({**named, **row}) + "\n")
    report(rows_of(path), options.sets, options.methods)


if __name__ == "__main__":
    main()
