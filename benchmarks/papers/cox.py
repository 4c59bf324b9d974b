"""Stochastic gates for survival on METABRIC with 500 columns of noise added.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/cox.py --quick          # one round of folds, no rival: minutes
    python benchmarks/papers/cox.py                  # 5 x 5 folds
    python benchmarks/papers/cox.py --repeats 3 4    # these rounds alone, into the same rows

1904 patients, 9 features, time and event. Columns of standard normal noise are added, the same for
all folds. Each training part chooses its own ``lam`` by the partial likelihood over 3 folds inside
it and is then trained as a whole; the test part is predicted once. Beside it, on the same folds of
the first round, penalised Cox regression of lifelines, its penalty chosen on one of those 3 folds.

Asked: does the noise stay out, and does the concordance with it stay within a standard error of the
one without it? Rows are appended to ``--rows``, one JSON object each; those that are there are not
computed again. Folds are stratified by event. All of it runs on one thread, in full batches.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve.gates import STGCox
from bitsieve.gates.losses import CoxPartialLikelihood
from bitsieve.gates.survival import EventKFold, concordance_index

Floats = NDArray[np.float64]
LAMS = (0.003, 0.006, 0.012)
PENALTIES = (0.03, 0.1, 0.3)
N_NOISE = 500
SMALL = 1e-3  # coefficients of lifelines, whose L1 penalty is a smooth one
TRAINING: dict[str, Any] = {"learning_rate": 0.05, "max_epochs": 150}


class Gates:
    """STGCox of one ``lam``."""

    def __init__(self, lam: float, hidden: tuple[int, ...]) -> None:
        self.model = STGCox(lam=lam, hidden_layer_sizes=hidden, random_state=0, **TRAINING)

    def fit(self, X: Floats, y: Floats) -> Gates:
        """Train."""
        self.model.fit(X, y)
        self.selected = np.asarray(self.model.support_)
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the logarithms of risks."""
        return self.model.predict(X)


class Lifelines:
    """CoxPHFitter of one penalty, on standardised features."""

    def __init__(self, penalty: float, l1_ratio: float) -> None:
        self.penalty, self.l1_ratio = penalty, l1_ratio

    def fit(self, X: Floats, y: Floats) -> Lifelines:
        """Train."""
        import pandas as pd
        from lifelines import CoxPHFitter

        self.mean, self.spread = X.mean(axis=0), X.std(axis=0)
        frame = pd.DataFrame((X - self.mean) / self.spread).add_prefix("x")
        frame["event"], frame["time"] = y.T
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitter = CoxPHFitter(penalizer=self.penalty, l1_ratio=self.l1_ratio)
            self.coef = fitter.fit(frame, "time", "event").params_.to_numpy()
        self.selected = np.abs(self.coef) > SMALL
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the logarithms of risks."""
        return ((X - self.mean) / self.spread) @ self.coef


Maker = Callable[[float], Any]
MODELS: dict[str, tuple[Maker, tuple[float, ...], int]] = {
    "STGCox": (lambda lam: Gates(lam, ()), LAMS, 1),
    "STGCox, 32 hidden": (lambda lam: Gates(lam, (32,)), LAMS, 1),
    "lifelines ridge": (lambda penalty: Lifelines(penalty, 0.0), PENALTIES, 1),
    "lifelines lasso": (lambda penalty: Lifelines(penalty, 1.0), PENALTIES, 1),
}


def deviance(y: Floats, log_risk: Floats) -> float:
    """Minus the partial likelihood's logarithm, for each event."""
    outputs = torch.from_numpy(log_risk)[None, :, None]
    return float(CoxPartialLikelihood().of_draws(outputs, torch.from_numpy(y), None)[0])


def choose(make: Maker, grid: tuple[float, ...], n_folds: int, X: Floats, y: Floats) -> float:
    """Return the value of the grid with the least deviance on folds of a training part."""
    folds = list(EventKFold(3, shuffle=True, random_state=0).split(X, y))[:n_folds]
    found = [
        np.mean([deviance(y[b], make(value).fit(X[a], y[a]).predict(X[b])) for a, b in folds])
        for value in grid
    ]
    return grid[int(np.argmin(found))]


def measure(name: str, X: Floats, y: Floats, train: Any, test: Any) -> dict[str, Any]:
    """Return a row: what was chosen on a training part, and how its test part came out."""
    began = time.process_time()
    make, grid, n_folds = MODELS[name]
    value = choose(make, grid, n_folds, X[train], y[train])
    model = make(value).fit(X[train], y[train])
    return {
        "value": value,
        "concordance": concordance_index(y[test], model.predict(X[test])),
        "features": np.flatnonzero(model.selected[:9]).tolist(),
        "n_noise": int(model.selected[9:].sum()),
        "seconds": time.process_time() - began,
    }


def load(n_noise: int) -> tuple[Floats, Floats, list[str]]:
    """Return features and noise, event and time, and the features' names."""
    with np.load(Path(os.environ["BITSIEVE_TEST_DATA"]) / "metabric_survival.npz") as archive:
        X, y = archive["X"], np.column_stack((archive["event"], archive["time"]))
        known = "names" in archive.files
        names = archive["names"].tolist() if known else [f"x{j}" for j in range(X.shape[1])]
    noise = np.random.default_rng(0).normal(size=(len(X), n_noise))
    return np.hstack((X.astype(np.float64), noise)), y.astype(np.float64), names


def report(rows: list[dict[str, Any]], names: list[str]) -> None:
    """Print a line a model, and the verdict."""
    for name in MODELS:
        mine = {(r["repeat"], r["fold"], r["noise"]): r for r in rows if r["model"] == name}
        pairs = sorted({(r, f) for r, f, noise in mine if (r, f, not noise) in mine})
        for noise in (False, True):
            some = [row for (_, _, n), row in mine.items() if n == noise]
            if not some:
                continue
            c = np.array([row["concordance"] for row in some])
            counts = np.array([row["n_noise"] for row in some])
            share = np.mean([np.isin(np.arange(9), row["features"]) for row in some], axis=0)
            error = c.std(ddof=1) / np.sqrt(len(c)) if len(c) > 1 else np.nan
            print(
                f"{name:18s} {'500 columns of noise' if noise else 'without noise':20s} "
                f"{len(c):2d} folds: concordance {c.mean():.4f} +- {error:.4f}; "
                f"{share.sum():.1f} of 9 features; "
                + (
                    f"noise {counts.mean():.2f} a fold (none in {(counts == 0).sum()}, at most "
                    f"{counts.max()}); "
                    if noise
                    else ""
                )
                + f"{np.mean([row['seconds'] for row in some]):.1f} s"
            )
            if name == "STGCox":
                print("   ", ", ".join(f"{n} {s:.0%}" for n, s in zip(names, share, strict=True)))
                values = [row["value"] for row in some]
                print("    lam:", {value: values.count(value) for value in LAMS})
        if len(pairs) > 1:
            one, other = (
                np.array([mine[(r, f, n)]["concordance"] for r, f in pairs]) for n in (True, False)
            )
            difference, root = one - other, np.sqrt(len(pairs))
            print(
                f"    with minus without noise: {difference.mean():+.4f}; standard error of the "
                f"concordance {other.std(ddof=1) / root:.4f}, of the difference "
                f"{difference.std(ddof=1) / root:.4f}"
            )


def main() -> None:
    """Compute what is missing and print what is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round of folds, no rivals")
    parser.add_argument("--repeats", type=int, nargs="*", default=list(range(5)))
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--max-time", type=float, default=np.inf, help="seconds; then report")
    default = Path(tempfile.gettempdir()) / "bitsieve_metabric.jsonl"
    parser.add_argument("--rows", type=Path, default=default)
    args = parser.parse_args()
    if args.quick:
        args.repeats, args.models = args.repeats[:1], ["STGCox"]
    torch.set_num_threads(1)
    print(f"# {' '.join(sys.argv)}; {platform.processor() or platform.machine()}, {args.rows}")
    X, y, names = load(N_NOISE)
    text = args.rows.read_text() if args.rows.exists() else ""
    done = {
        (r["model"], r["repeat"], r["fold"], r["noise"])
        for r in map(json.loads, text.split("\n")[:-1])
    }
    started = time.monotonic()
    for repeat in args.repeats:
        folds = list(EventKFold(5, shuffle=True, random_state=repeat).split(X, y))
        for name in args.models:
            if repeat > 0 and name != "STGCox":
                continue  # rivals: the first round alone
            for fold, (train, test) in enumerate(folds):
                for noise in (False, True):
                    if (name, repeat, fold, noise) in done:
                        continue
                    if time.monotonic() - started > args.max_time:
                        continue
                    row = {"model": name, "repeat": repeat, "fold": fold, "noise": noise}
                    row |= measure(name, X if noise else X[:, :9], y, train, test)
                    with args.rows.open("a") as file:
                        file.write(json.dumps(row) + "\n")
    report([json.loads(line) for line in args.rows.read_text().splitlines()], names)


if __name__ == "__main__":
    main()
