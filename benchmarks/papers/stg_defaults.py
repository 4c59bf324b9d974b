"""Stochastic gates as they come, on ten sets: is the panel any good?

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/stg_defaults.py                                # the half to choose by
    python benchmarks/papers/stg_defaults.py --sets ionosphere,singh,vehicle,gravier,mnist_3v8

Five stratified folds (accuracy on what was held out, nested cross-validation); how much the panels
of two folds agree (mean Jaccard index); processor seconds of a fit, one thread. `STGClassifier(10)`
and `STGClassifier()`, lam="auto", with every other parameter at its default, beside the ten
features with the greatest F score and a logistic regression. Rows are appended to ``--rows``; those
that are there are not computed again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import sys
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from paper004 import data_folder
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bitsieve
from bitsieve.gates import STGClassifier

CHOSEN_ON = "breast_cancer,sonar,khan,madelon,tox_171"
SIZE = 10


def load(name: str) -> tuple[Any, Any]:
    """Return X and classes, without samples that have missing values."""
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True)
    with np.load(data_folder() / f"{name}.npz") as archive:
        X, y = archive["X"].astype(np.float64), archive["y"]
    whole = np.isfinite(X).all(axis=1)
    return X[whole], y[whole]


def gates(size: int | None, X: Any, y: Any, train: Any, test: Any) -> tuple[float, list[int]]:
    """Return the accuracy of gates and what they select."""
    model = STGClassifier(size, random_state=0).fit(X[train], y[train])
    return model.score(X[test], y[test]), np.flatnonzero(model.support_).tolist()


def filtered(X: Any, y: Any, train: Any, test: Any) -> tuple[float, list[int]]:
    """Return the accuracy of the best by F score behind a logistic regression."""
    model = make_pipeline(
        StandardScaler(), SelectKBest(f_classif, k=SIZE), LogisticRegression(max_iter=1000)
    ).fit(X[train], y[train])
    return model.score(X[test], y[test]), np.flatnonzero(model[1].get_support()).tolist()


METHODS = {
    f"STGClassifier({SIZE})": lambda *data: gates(SIZE, *data),
    "STGClassifier()": lambda *data: gates(None, *data),
    f"F score, first {SIZE}, logistic regression": filtered,
}


def main() -> None:
    """Compute what is missing and print what is there."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--sets", default=CHOSEN_ON, help="names with commas between")
    parser.add_argument("--folds", type=int, default=5, help="of the five, how many")
    default = Path(__file__).resolve().parents[1] / "results" / "stg_defaults.jsonl"
    parser.add_argument("--rows", type=Path, default=default)
    args = parser.parse_args()
    args.rows.parent.mkdir(parents=True, exist_ok=True)
    print(f"# {' '.join(sys.argv)}; {platform.processor() or platform.machine()}")
    print(f"bitsieve {bitsieve.__version__}, {bitsieve.get_isa()}")
    rows = [json.loads(x) for x in args.rows.read_text().splitlines()] if args.rows.exists() else []
    for name in args.sets.split(","):
        X, y = load(name)
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))[: args.folds]
        for method, measure in METHODS.items():
            mine = [r for r in rows if (r["set"], r["method"]) == (name, method)]
            for fold in range(len(folds)):
                if any(r["fold"] == fold for r in mine):
                    continue
                began = time.process_time()
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    accuracy, features = measure(X, y, *folds[fold])
                mine.append(
                    {
                        "set": name,
                        "method": method,
                        "fold": fold,
                        "accuracy": accuracy,
                        "features": features,
                        "seconds": time.process_time() - began,
                        "warned": [str(w.message) for w in told],
                    }
                )
                with args.rows.open("a") as file:
                    file.write(json.dumps(mine[-1]) + "\n")
            panels = [set(r["features"]) for r in mine]
            pairs = list(itertools.combinations(panels, 2))
            agreed = np.mean([len(a & b) / max(1, len(a | b)) for a, b in pairs]) if pairs else 1.0
            print(
                f"{name:14} {method:42} {np.mean([r['accuracy'] for r in mine]):.3f} on "
                f"{len(mine)} folds, {np.mean([len(p) for p in panels]):.1f} features, Jaccard "
                f"{agreed:.2f}, {np.mean([r['seconds'] for r in mine]):.1f} s, warned "
                f"{sum(bool(r['warned']) for r in mine)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
