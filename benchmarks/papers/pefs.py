"""PEFS against Saito, Shirakawa and Akimoto (2018), Figure 1 and Table 2.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/pefs.py --quick     # few iterations, points and samples: minutes
    python benchmarks/papers/pefs.py --full      # 100,000 iterations, ten trainings a point: days

Test error against the share of selected features: PEFS for eps from 0 to 1; ReliefF and mRMR, whose
best 10 to 100 % train the paper's network; LASSO, a linear model. 80 % of the samples to train on.
Rivals train on batches of lambda N samples, as many as PEFS looks at in a step. ErFS, the paper's
wrapper, is not here: its column is left open. Rows are kept in a CSV file, and those that it holds
are not made again: an interrupted run goes on.

``--quick`` is no reproduction: its theta moves faster than 1/d, so that it can settle at all.
"""

from __future__ import annotations

import argparse
import csv
import platform
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from paper004 import data_folder
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import bitsieve
from bitsieve import filters
from bitsieve.gates import PEFSClassifier, STGClassifier

RESULTS = Path(__file__).resolve().parents[1] / "results"
SETS = ("pcmac", "usps", "adult")
FIELDS = ("set", "method", "point", "training", "mode", "share", "error", "seconds", "steps")
#: Table 2: hours of PEFS over hours without feature selection.
PUBLISHED_COST = {"pcmac": 0.748 / 0.675, "usps": 0.659 / 0.451, "adult": 0.601 / 0.458}
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Mode:
    """How much is done."""

    name: str
    steps: dict[str, int]
    trainings: int
    eps: tuple[float, ...]
    shares: tuple[float, ...]
    factors: tuple[int, ...]
    saga: int
    most_samples: int | None
    instances: int | None
    settles: float | None  # theta's rate is at least this over the steps
    hidden: tuple[int, ...] = (200, 200, 200)
    n_draws: int = 2
    batch: int = 128


QUICK = Mode(
    "quick",
    {"pcmac": 400, "usps": 1000, "adult": 1000},
    1,
    (0.0, 0.1, 0.3, 1.0),
    (0.1, 0.3, 1.0),
    (1, 10),
    20,
    2500,
    300,
    20.0,
)
FULL = Mode(
    "full",
    dict.fromkeys(SETS, 100_000),
    10,
    tuple(round(0.1 * i, 1) for i in range(11)),
    tuple(round(0.1 * i, 1) for i in range(1, 11)),
    tuple(range(1, 11)),
    500,
    None,
    None,
    None,
)


class Split:
    """The samples of a set, split as the paper does, standardised on the training part."""

    def __init__(self, name: str, mode: Mode, seed: int) -> None:
        with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as archive:
            X, y = archive["X"], np.unique(archive["y"], return_inverse=True)[1]
        rows, test = train_test_split(
            np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed
        )
        if mode.most_samples is not None:
            rows, test = rows[: mode.most_samples], test[: mode.most_samples]
        self.raw, self.y, self.y_test = X[rows], y[rows], y[test]
        scaler = StandardScaler().fit(self.raw)
        self.X: Matrix = scaler.transform(self.raw).astype(np.float32)
        self.X_test: Matrix = scaler.transform(X[test]).astype(np.float32)
        self.seed = seed
        self._orders: dict[str, tuple[NDArray[np.int64], float]] = {}

    def order(self, method: str, mode: Mode) -> tuple[NDArray[np.int64], float]:
        """The features from the best to the worst by a filter, and its seconds."""
        if method not in self._orders:
            began = time.process_time()
            if method == "ReliefF":
                scores = filters.relieff(
                    self.X, self.y, n_instances=mode.instances, random_state=self.seed
                )
                order = np.argsort(-scores, kind="stable")
            else:
                order = filters.mrmr(self.X, self.y, n_features=None)
            self._orders[method] = np.asarray(order), time.process_time() - began
        return self._orders[method]


def network(split: Split, columns: NDArray[Any], mode: Mode, steps: int, seed: int) -> Any:
    """The paper's network behind no gate, trained on batches of lambda N."""
    batch = mode.batch * mode.n_draws
    per_epoch = -(-len(split.y) // batch)
    model = STGClassifier(
        gate="none",
        lam=0.0,
        hidden_layer_sizes=mode.hidden,
        batch_norm=True,
        batch_size=batch,
        max_epochs=max(1, round(steps / per_epoch)),
        standardize=False,
        device="cpu",
        random_state=seed,
    )
    return model.fit(split.X[:, columns], split.y)


def pefs(split: Split, eps: float, mode: Mode, steps: int, seed: int) -> Any:
    rate = None
    if mode.settles is not None:
        rate = max(1.0 / split.X.shape[1], mode.settles / steps)
    model = PEFSClassifier(
        eps=eps,
        hidden_layer_sizes=mode.hidden,
        n_draws=mode.n_draws,
        batch_size=mode.batch,
        max_iter=steps,
        gate_learning_rate=rate,
        standardize=False,
        device="cpu",
        random_state=seed,
    )
    return model.fit(split.X, split.y)


def points(mode: Mode) -> Iterator[tuple[str, float]]:
    """Method and place on its curve."""
    yield "all features", 1.0
    for eps in mode.eps:
        yield "PEFS", eps
    for factor in mode.factors:
        yield "LASSO", float(factor)
    for method in ("mRMR", "ReliefF"):
        for share in mode.shares:
            if share < 1.0:
                yield method, share


def measure(
    split: Split, method: str, point: float, mode: Mode, steps: int, seed: int
) -> dict[str, Any]:
    d = split.X.shape[1]
    began = time.process_time()
    extra = 0.0
    if method == "PEFS":
        model = pefs(split, point, mode, steps, seed)
        n, error = model.n_features_, 1.0 - model.score(split.X_test, split.y_test)
    elif method == "LASSO":
        # A sum of losses over 1/factor times the absolute weights is C = 1 / factor.
        model = LogisticRegression(
            C=1.0 / point, l1_ratio=1.0, solver="saga", max_iter=mode.saga, random_state=seed
        ).fit(split.X, split.y)
        chosen = (np.abs(model.coef_) > 1e-5).any(axis=0)
        n, error = int(chosen.sum()), 1.0 - model.score(split.X_test, split.y_test)
    else:
        columns = np.arange(d)
        if method != "all features":
            order, extra = split.order(method, mode)
            columns = order[: max(1, round(point * d))]
            began = time.process_time()
        model = network(split, columns, mode, steps, seed)
        n = len(columns)
        error = 1.0 - model.score(split.X_test[:, columns], split.y_test)
    took = time.process_time() - began + extra
    return {"share": n / d, "error": error, "seconds": took}


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        row["set"],
        row["method"],
        float(row["point"]),
        int(row["training"]),
        row["mode"],
        int(row["steps"]),
    )


def curves(rows: list[dict[str, Any]], name: str) -> str:
    """The points of Figure 1 of a set."""
    lines = [f"{name:<14}{'point':>7}{'features':>10}{'error':>18}{'seconds':>9}{'runs':>6}"]
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for row in rows:
        if row["set"] == name:
            groups.setdefault((row["method"], float(row["point"])), []).append(row)
    for (method, point), of in groups.items():
        errors = np.array([float(row["error"]) for row in of])
        share = np.mean([float(row["share"]) for row in of])
        seconds = np.mean([float(row["seconds"]) for row in of])
        told = f"{errors.mean():.2%} +- {errors.std():.2%}" if len(of) > 1 else f"{errors[0]:.2%}"
        lines.append(f"{method:<14}{point:>7g}{share:>10.1%}{told:>18}{seconds:>9.1f}{len(of):>6}")
    lines.append(f"{'ErFS':<14}{'-':>7}{'-':>10}{'-':>18}{'-':>9}{'0':>6}")
    return "\n".join(lines)


def costs(rows: list[dict[str, Any]], names: Sequence[str]) -> str:
    """Processor seconds of PEFS over those of the network of all features, at batch lambda N."""
    lines = [f"{'cost of PEFS':<14}{'paper':>7}{'all eps':>9}{'least':>8}{'greatest':>10}"]
    for name in names:
        of = [row for row in rows if row["set"] == name]
        plain = [float(row["seconds"]) for row in of if row["method"] == "all features"]
        by_eps: dict[float, list[float]] = {}
        for row in of:
            if row["method"] == "PEFS":
                by_eps.setdefault(float(row["point"]), []).append(float(row["seconds"]))
        if not plain or not by_eps:
            continue
        ratios = np.array([np.mean(took) for took in by_eps.values()]) / np.mean(plain)
        lines.append(
            f"{name:<14}{PUBLISHED_COST[name]:>7.2f}{ratios.mean():>9.2f}{ratios.min():>8.2f}"
            f"{ratios.max():>10.2f}"
        )
    return "\n".join(lines)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--sets", default=",".join(SETS), help="names with commas between")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="minutes (the default)")
    how.add_argument("--full", action="store_true", help="the paper's protocol: days")
    parser.add_argument("--steps", type=int, help="iterations of a training, for all sets")
    parser.add_argument("--trainings", type=int, help="trainings of a point")
    parser.add_argument(
        "--time", type=float, help="seconds after which no new row is begun; run again to go on"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of the rows, pefs.csv; benchmarks/results/ by default, with the time in the "
        "file's name",
    )
    options = parser.parse_args(argv)
    options.sets = options.sets.split(",")
    unknown = [name for name in options.sets if name not in SETS]
    if unknown:
        parser.error(f"unknown sets {', '.join(unknown)}; known are {', '.join(SETS)}")
    return options


def main(argv: Sequence[str] | None = None) -> None:
    options = arguments(argv)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    mode = FULL if options.full else QUICK
    trainings = options.trainings or mode.trainings
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    out = options.out / "pefs.csv" if options.out else RESULTS / f"pefs-{stamp}.csv"
    out.parent.mkdir(parents=True, exist_ok=True)
    print(shlex.join(["python", *(sys.argv if argv is None else ["pefs.py", *argv])]))
    print(
        f"bitsieve {bitsieve.__version__}, torch {torch.__version__}, one thread, "
        f"{platform.machine()}, {bitsieve.get_isa()}"
    )
    steps_of = {name: options.steps or mode.steps[name] for name in options.sets}
    print(f"{mode.name}: steps {steps_of}, {trainings} trainings a point", end="")
    if mode.most_samples is not None:
        print(
            f", at most {mode.most_samples} samples in either part, {mode.saga} passes of SAGA, "
            f"ReliefF at {mode.instances} samples, theta's rate {mode.settles:g} / steps if that "
            "is above 1/d",
            end="",
        )
    print(f"\nrows: {out}\n", flush=True)
    rows: list[dict[str, Any]] = []
    if out.is_file():
        with out.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    known = {key_of(row) for row in rows}
    began, left = time.perf_counter(), 0
    splits: dict[str, Split] = {}
    for method, point in points(mode):
        for name in options.sets:
            for number in range(1 if method == "LASSO" else trainings):
                steps = steps_of[name]
                place = (name, method, point, number, mode.name, steps)
                if place in known:
                    continue
                if options.time is not None and time.perf_counter() - began > options.time:
                    left += 1
                    continue
                if name not in splits:
                    splits[name] = Split(name, mode, 0)
                row = dict(
                    zip(("set", "method", "point", "training", "mode", "steps"), place, strict=True)
                )
                row.update(measure(splits[name], method, point, mode, steps, number))
                is_new = not out.is_file()
                with out.open("a", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, FIELDS)
                    if is_new:
                        writer.writeheader()
                    writer.writerow(row)
                rows.append(row)
    told = [row for row in rows if row["mode"] == mode.name]
    for name in options.sets:
        print(curves([row for row in told if int(row["steps"]) == steps_of[name]], name) + "\n")
    print(costs(told, options.sets))
    if left:
        print(f"\n{left} rows were not begun in time: run again with the same --out to go on")


if __name__ == "__main__":
    main()
