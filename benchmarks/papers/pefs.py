"""PEFS against Saito, Shirakawa and Akimoto (2018), Figure 1 and Table 2.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/pefs.py --quick     # few iterations, points and samples: minutes
    python benchmarks/papers/pefs.py --full      # 100,000 iterations, ten trainings a point: days

Test error against the share of selected features: PEFS for eps from 0 to 1; ReliefF and mRMR, whose
best 10 to 100 % train the paper's network; LASSO, a linear model. 80 % of the samples to train on.
Rivals train on batches of lambda N samples, as many as PEFS looks at in a step. ErFS, the paper's
wrapper, is not here: its column is left open. Rows are kept in a CSV file, and those that it holds
are not made again: an interrupted run goes on. The cost of PEFS is measured apart, in short
trainings of it and of the network of all features in turn, the least of several (pefs-cost.csv).

``--quick`` is no reproduction: its theta moves faster than 1/d, so that it can settle at all.
"""

from __future__ import annotations

import argparse
import csv
import math
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
FIELDS = (
    "set",
    "method",
    "point",
    "training",
    "mode",
    "share",
    "error",
    "seconds",
    "steps",
    "rate",
)
#: Steps of the trainings that are timed, whole epochs of them.
COST_STEPS = 200
COST_FIELDS = ("set", "mode", "steps", "times", "plain", "pefs")
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
    dict.fromkeys(SETS, 1000),
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
                most = max(share for share in mode.shares if share < 1.0)
                n = max(1, round(most * self.X.shape[1]))
                order = filters.mrmr(self.X, self.y, n_features=n)
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


def rate_of(split: Split, mode: Mode, steps: int) -> float:
    """Theta's rate: 1/d as in the paper, or what lets it settle in so many steps."""
    rate = 1.0 / split.X.shape[1]
    return rate if mode.settles is None else max(rate, mode.settles / steps)


def pefs(split: Split, eps: float, mode: Mode, steps: int, seed: int, rate: float) -> Any:
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
    split: Split, method: str, point: float, mode: Mode, steps: int, seed: int, rate: float
) -> dict[str, Any]:
    d = split.X.shape[1]
    began = time.process_time()
    extra = 0.0
    if method == "PEFS":
        model = pefs(split, point, mode, steps, seed, rate)
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
        f"{float(row['rate']):.6g}" if row["rate"] != "" else "",
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


def cost(split: Split, mode: Mode, rate: float, times: int = 5) -> dict[str, Any]:
    """Milliseconds a step of the network of all features and of PEFS at theta = 1/2, in turn."""
    steps = max(1, round(COST_STEPS * mode.batch * mode.n_draws / len(split.y))) * -(
        -len(split.y) // (mode.batch * mode.n_draws)
    )

    def plain() -> None:
        model = network(split, np.arange(split.X.shape[1]), mode, steps, 0)
        assert model.n_iter_ * -(-len(split.y) // (mode.batch * mode.n_draws)) == steps

    def masked() -> None:
        assert pefs(split, 0.0, mode, steps, 0, rate).n_iter_ == steps

    least = [float("inf")] * 2
    for _ in range(times):
        for i, call in enumerate((plain, masked)):
            began = time.process_time()
            call()
            least[i] = min(least[i], time.process_time() - began)
    plain_ms, pefs_ms = (1000.0 * seconds / steps for seconds in least)
    return {"steps": steps, "times": times, "plain": plain_ms, "pefs": pefs_ms}


def costs(
    measured: dict[str, dict[str, Any]], rows: list[dict[str, Any]], names: Sequence[str]
) -> str:
    """Processor time of PEFS over that of the network of all features, at batch lambda N."""
    lines = [
        f"{'cost of PEFS':<14}{'paper':>7}{'ours':>7}{'ms a step':>11}{'without':>9}"
        f"{'whole trainings, by eps':>25}"
    ]
    for name in names:
        of = [row for row in rows if row["set"] == name]
        plain = [float(row["seconds"]) for row in of if row["method"] == "all features"]
        whole = [
            f"{float(row['seconds']) / np.mean(plain):.2f}"
            for row in of
            if row["method"] == "PEFS" and plain and int(row["training"]) == 0
        ]
        told = f"{name:<14}{PUBLISHED_COST[name]:>7.2f}"
        if name in measured:
            ms, without = float(measured[name]["pefs"]), float(measured[name]["plain"])
            told += f"{ms / without:>7.2f}{ms:>11.2f}{without:>9.2f}"
        else:
            told += f"{'-':>7}{'-':>11}{'-':>9}"
        lines.append(f"{told}  {' '.join(whole):>23}")
    return "\n".join(lines)


def stored(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def store(path: Path, fields: Sequence[str], row: dict[str, Any]) -> None:
    is_new = not path.is_file()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


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
    rows = stored(out)
    cost_path = out.with_name(f"{out.stem}-cost.csv")
    measured = {row["set"]: row for row in stored(cost_path) if row["mode"] == mode.name}
    known = {key_of(row) for row in rows}
    began, left = time.perf_counter(), 0
    splits = {name: Split(name, mode, 0) for name in options.sets}
    rates = {name: rate_of(splits[name], mode, steps_of[name]) for name in options.sets}
    for method, point in points(mode):
        for name in options.sets:
            for number in range(1 if method == "LASSO" else trainings):
                row = {
                    "set": name,
                    "method": method,
                    "point": point,
                    "training": number,
                    "mode": mode.name,
                    "steps": steps_of[name],
                    "rate": rates[name] if method == "PEFS" else "",
                }
                if key_of(row) in known:
                    continue
                if options.time is not None and time.perf_counter() - began > options.time:
                    left += 1
                    continue
                row.update(
                    measure(splits[name], method, point, mode, steps_of[name], number, rates[name])
                )
                store(out, FIELDS, row)
                rows.append(row)
    for name in options.sets:
        if name not in measured and (
            options.time is None or time.perf_counter() - began <= options.time
        ):
            row = {"set": name, "mode": mode.name, **cost(splits[name], mode, rates[name])}
            store(cost_path, COST_FIELDS, row)
            measured[name] = row
    told = [
        row
        for row in rows
        if row["mode"] == mode.name
        and row["set"] in splits
        and int(row["steps"]) == steps_of[row["set"]]
        and (row["rate"] == "" or math.isclose(float(row["rate"]), rates[row["set"]]))
    ]
    for name in options.sets:
        print(curves(told, name) + "\n")
    print(costs(measured, told, options.sets))
    if left:
        print(f"\n{left} rows were not begun in time: run again with the same --out to go on")


if __name__ == "__main__":
    main()
