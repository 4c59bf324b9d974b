"""Particle swarm model selection beside AutoSelector, other searches and plain defaults.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    OMP_NUM_THREADS=1 python benchmarks/papers/psms.py

Escalante, Montes and Sucar (2009), Journal of Machine Learning Research 10. Balanced error on the
test parts of five outer folds, the same for all; what chooses does so inside each training part,
by five inner folds. Beside it what the search itself said of its best model, the inner error, which
is optimistic. Rows are kept in a CSV file (results/psms.csv), and those that it holds are not made
again: an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import shlex
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import bitsieve
from bitsieve import AutoSelector, KernelRidgeClassifier, ModelSearchCV

RESULTS = Path(__file__).resolve().parents[1] / "results"
SETS = ("sonar", "ionosphere", "gravier")
SEED = 0
FIELDS = ("set", "method", "fold", "error", "inner", "seconds", "models", "model")


def _search(name: str) -> Any:
    inner = StratifiedKFold(5, shuffle=True, random_state=SEED)
    return ModelSearchCV(search=name, cv=inner, random_state=SEED)


METHODS: dict[str, Callable[[], Any]] = {
    "PSMS": lambda: _search("particle_swarm"),
    "random": lambda: _search("random"),
    "Optuna": lambda: _search("optuna"),
    "AutoSelector": lambda: AutoSelector(scoring="balanced_accuracy", n_jobs=1, random_state=SEED),
    "SVC": lambda: make_pipeline(StandardScaler(), SVC()),
    "linear SVC": lambda: make_pipeline(StandardScaler(), SVC(kernel="linear")),
    "kernel ridge": lambda: make_pipeline(StandardScaler(), KernelRidgeClassifier(kernel="rbf")),
    "GaussianNB": GaussianNB,
    "5-NN": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "forest": lambda: RandomForestClassifier(500, random_state=SEED),
}


def _table(name: str) -> tuple[Any, Any]:
    with np.load(Path(os.environ["BITSIEVE_TEST_DATA"]) / f"{name}.npz") as data:
        X, y = data["X"].astype(np.float64), data["y"]
    whole = ~np.isnan(X).any(axis=1)
    return X[whole], np.unique(y[whole], return_inverse=True)[1]


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _measure(name: str, method: str, fold: int) -> dict[str, Any]:
    X, y = _table(name)
    outer = StratifiedKFold(5, shuffle=True, random_state=SEED)
    train, test = list(outer.split(X, y))[fold]
    start = time.process_time()
    model = METHODS[method]().fit(X[train], y[train])
    seconds = time.process_time() - start
    score = balanced_accuracy_score(y[test], model.predict(X[test]))
    inner = getattr(model, "best_score_", None)
    return {
        "set": name,
        "method": method,
        "fold": fold,
        "error": f"{1 - score:.4f}",
        "inner": "" if inner is None else f"{1 - inner:.4f}",
        "seconds": f"{seconds:.1f}",
        "models": getattr(model, "n_evaluations_", ""),
        "model": json.dumps(getattr(model, "best_params_", "")),
    }


def _print(rows: list[dict[str, str]]) -> None:
    print("\n| set | method | error, % | +- | inner, % | seconds a fit |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in SETS:
        for method in METHODS:
            mine = [row for row in rows if (row["set"], row["method"]) == (name, method)]
            if len(mine) < 5:
                continue
            errors = 100 * np.array([float(row["error"]) for row in mine])
            inner = [100 * float(row["inner"]) for row in mine if row["inner"]]
            said = f"{np.mean(inner):.1f}" if inner else ""
            seconds = np.mean([float(row["seconds"]) for row in mine])
            spread = errors.std(ddof=1) / np.sqrt(len(errors))
            error = f"{errors.mean():.1f} | {spread:.1f}"
            print(f"| {name} | {method} | {error} | {said} | {seconds:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--methods", nargs="*", default=tuple(METHODS), choices=tuple(METHODS))
    parser.add_argument("--rows", type=Path, default=RESULTS / "psms.csv")
    given = parser.parse_args()
    print(shlex.join(["python", *sys.argv]), "|", platform.processor(), bitsieve.get_isa())
    given.rows.parent.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    done = {(row["set"], row["method"], int(row["fold"])) for row in _rows(given.rows)}
    for name in given.sets:
        for method in given.methods:
            for fold in range(5):
                if (name, method, fold) in done:
                    continue
                row = _measure(name, method, fold)
                new = not given.rows.exists()
                with given.rows.open("a", newline="") as file:
                    writer = csv.DictWriter(file, FIELDS)
                    if new:
                        writer.writeheader()
                    writer.writerow(row)
                print(*row.values(), flush=True)
    _print(_rows(given.rows))


if __name__ == "__main__":
    main()
