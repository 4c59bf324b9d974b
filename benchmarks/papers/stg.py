"""Stochastic gates against Yamada, Lindenbaum, Negahban and Kluger (2020): figures 3 and 6.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/stg.py madelon --folds 0      # one fold: minutes
    python benchmarks/papers/stg.py madelon mnist          # all of it
    python benchmarks/papers/stg.py --max-time 0           # print what is there

madelon: 2,600 samples, 500 features, 20 of them informative or repeated. Figure 3a is accuracy on
five folds for several sizes, beside a random forest and a logistic regression with an L1 penalty
that rank the features and are refitted on the first of them. Figure 3b is, over lambda, the share
of the gates' weight that is on the 20 (IFWR), and how many are selected.

mnist: 1,984 images of 3 and 8, 784 pixels. Figure 6a is the 13 pixels over nine images (written as
a picture beside the rows), 6b is stochastic gates against hard-concrete ones over lambda.

All settings are the defaults of the estimator but ``lam`` or the size. (The defaults were chosen on
five sets of `stg_defaults.py`, two folds of madelon among them, and confirmed on five others.) Rows
are appended to ``--rows``, one JSON object each; those that are there are not computed again. All
of it runs on one thread.
"""

from __future__ import annotations

import argparse
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
import sklearn
import torch
from numpy.typing import NDArray
from paper004 import data_folder
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import bitsieve
from bitsieve.gates import STGClassifier

RESULTS = Path(__file__).resolve().parents[1] / "results"
Indices = NDArray[np.int64]
Row = dict[str, Any]

#: Columns of madelon with a copy of |r| = 0.99, and two that belong to none (|r| = 0.69).
INFORMATIVE = [
    28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455, 472, 475, 493
]  # fmt: skip
SIZES = (5, 10, 15, 20)
LAMS = {
    "madelon": (0.002, 0.003, 0.005, 0.007, 0.01, 0.015),
    "mnist": (0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.01),
}
LAM = 0.007  # of madelon: a hundredth of the loss of knowing nothing
N_PIXELS = 13  # of the paper


def load(name: str) -> tuple[NDArray[np.float64], Indices]:
    """Return X and classes."""
    file = {"madelon": "madelon", "mnist": "mnist_3v8"}[name]
    with np.load(data_folder() / f"{file}.npz") as archive:
        return archive["X"].astype(np.float64), archive["y"]


def folds_of(X: NDArray[np.float64], y: Indices) -> list[tuple[Indices, Indices]]:
    """Return five stratified folds."""
    return list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))


def rankings(model: str, X: NDArray[np.float64], y: Indices) -> Indices:
    """Return the features, best first, by a rival."""
    if model == "random forest":
        forest = RandomForestClassifier(500, random_state=0, n_jobs=1).fit(X, y)
        return np.argsort(-forest.feature_importances_, kind="stable")
    # LASSO: the order in which features come in as the penalty falls.
    X = StandardScaler().fit_transform(X)
    came, worth = np.full(X.shape[1], np.inf), np.zeros(X.shape[1])
    for step, C in enumerate(np.geomspace(2e-3, 0.05, 30)):
        lasso = LogisticRegression(C=C, penalty="l1", solver="liblinear", tol=1e-3, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            worth = np.abs(lasso.fit(X, y).coef_[0])
        came = np.where((worth > 0) & np.isinf(came), step, came)
        if np.isfinite(came).sum() >= max(SIZES):
            break
    return np.lexsort((-worth, came))


def rival(model: str, X: NDArray[np.float64], y: Indices, train: Indices, test: Indices) -> Row:
    """Return a rival's accuracies and features by size, refitted on the first of its ranking."""
    order = rankings(model, X[train], y[train])
    found: Row = {"accuracy": {}, "features": {}}
    for size in SIZES:
        some = np.sort(order[:size])
        scale = StandardScaler().fit(X[train][:, some])
        if model == "random forest":
            refitted: Any = RandomForestClassifier(500, random_state=0, n_jobs=1)
        else:
            refitted = LogisticRegression()
        refitted.fit(scale.transform(X[train][:, some]), y[train])
        found["accuracy"][str(size)] = refitted.score(scale.transform(X[test][:, some]), y[test])
        found["features"][str(size)] = some.tolist()
    return found


def gates(
    X: NDArray[np.float64], y: Indices, train: Indices, test: Indices, **settings: Any
) -> tuple[Row, STGClassifier]:
    """Return what gates of some settings found and how good it is, and the fitted model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a large lambda closes every gate
        model = STGClassifier(**settings, random_state=0).fit(X[train], y[train])
    row = {
        "accuracy": model.score(X[test], y[test]),
        "features": np.flatnonzero(model.support_).tolist(),
    }
    return row, model


def ratio(model: STGClassifier) -> float:
    """Return the share of the gates' weight, clip(mu + 1/2, 0, 1), that is on the 20."""
    weight = np.clip(model.scores_, 0.0, 1.0)  # of one training: positions
    return float(weight[INFORMATIVE].sum() / max(weight.sum(), 1e-12))


def measure(
    name: str,
    cell: str,
    setting: Any,
    X: NDArray[np.float64],
    y: Indices,
    train: Indices,
    test: Indices,
) -> Row:
    """Return the numbers of a row."""
    if cell in ("random forest", "LASSO"):
        return rival(cell, X, y, train, test)
    if cell == "size":
        return gates(X, y, train, test, n_features_to_select=setting)[0]
    if cell == "auto":
        return gates(X, y, train, test)[0]
    if cell == "ranked":  # one training's gates as a ranking, refitted as the rivals are
        model = gates(X, y, train, test, lam=LAM)[1]
        order = np.argsort(-model.scores_, kind="stable")
        found: Row = {"accuracy": {}, "features": {}}
        for size in SIZES:
            some = np.sort(order[:size])
            refitted = gates(X[:, some], y, train, test, gate="none", lam=0.0)[0]
            found["accuracy"][str(size)] = refitted["accuracy"]
            found["features"][str(size)] = some.tolist()
        return found
    row, model = gates(X, y, train, test, lam=setting, gate=cell)
    return row | ({"ratio": ratio(model)} if name == "madelon" else {})


def plan(name: str) -> list[tuple[str, Any]]:
    """Return the cells of a set, the ones that answer most first."""
    if name == "madelon":
        return [
            *(("size", size) for size in SIZES),
            ("auto", None),
            ("random forest", None),
            ("LASSO", None),
            ("gaussian", LAM),
            ("ranked", LAM),
            *(("gaussian", lam) for lam in LAMS[name] if lam != LAM),
        ]
    return [
        ("size", N_PIXELS),
        *((gate, lam) for lam in LAMS[name] for gate in ("gaussian", "hard_concrete")),
    ]


def spread(values: Any) -> str:
    """Return mean and standard deviation."""
    return f"{np.mean(values):.3f} +- {np.std(values):.3f}"


def good(features: list[int]) -> int:
    """Return how many of them are informative."""
    return len(set(features) & set(INFORMATIVE))


def report_madelon(rows: list[Row]) -> None:
    """Print figures 3a and 3b as tables."""
    print("\nfigure 3a: accuracy on five folds; of the selected, how many are among the 20")
    for cell in ("gaussian", "auto", "size"):
        some = [
            r for r in rows if r["cell"] == cell and (cell != "gaussian" or r["setting"] == LAM)
        ]
        for setting in sorted({r["setting"] for r in some}, key=str):
            mine = [r for r in some if r["setting"] == setting]
            sizes = [len(r["features"]) for r in mine]
            share = sum(good(r["features"]) for r in mine) / max(sum(sizes), 1)
            print(
                f"  STG, {cell} {setting}: {len(mine)} folds, "
                f"{spread([r['accuracy'] for r in mine])}; {np.mean(sizes):.1f} features "
                f"({sizes}), {share:.1%} among the 20; "
                f"{np.mean([r['seconds'] for r in mine]):.1f} s"
            )
    for cell in ("ranked", "random forest", "LASSO"):
        mine = [r for r in rows if r["cell"] == cell]
        for size in map(str, SIZES if mine else ()):
            among = np.mean([good(r["features"][size]) / int(size) for r in mine])
            print(
                f"  {cell}, first {size}: {len(mine)} folds, "
                f"{spread([r['accuracy'][size] for r in mine])}; {among:.1%} among the 20; "
                f"{np.mean([r['seconds'] for r in mine]):.1f} s for all sizes"
            )
    print("figure 3b: share of the weight on the 20, and features, over lambda")
    for lam in LAMS["madelon"]:
        mine = [r for r in rows if r["cell"] == "gaussian" and r["setting"] == lam]
        if mine:
            print(
                f"  {lam}: {len(mine)} folds, IFWR {spread([r['ratio'] for r in mine])}, "
                f"{np.mean([len(r['features']) for r in mine]):.1f} features, "
                f"{np.mean([good(r['features']) for r in mine]):.1f} among the 20, "
                f"accuracy {spread([r['accuracy'] for r in mine])}"
            )


def report_mnist(rows: list[Row], picture: Path) -> None:
    """Print figures 6a and 6b as tables, and draw 6a."""
    mine = [r for r in rows if r["cell"] == "size"]
    if mine:
        print(
            f"\nfigure 6a: {N_PIXELS} pixels, {len(mine)} folds, accuracy "
            f"{spread([r['accuracy'] for r in mine])} (paper 0.922); "
            f"{np.mean([r['seconds'] for r in mine]):.1f} s"
        )
        draw(mine[0]["features"], picture)
        print(f"  {picture}")
    print("figure 6b: accuracy and features over lambda")
    for lam in LAMS["mnist"]:
        for cell in ("gaussian", "hard_concrete"):
            mine = [r for r in rows if (r["cell"], r["setting"]) == (cell, lam)]
            if mine:
                print(
                    f"  {lam} {cell}: {len(mine)} folds, {spread([r['accuracy'] for r in mine])}, "
                    f"{np.mean([len(r['features']) for r in mine]):.1f} features"
                )


def draw(pixels: list[int], path: Path) -> None:
    """Draw nine images with the pixels over them."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt
    except ImportError:
        print("  no picture without matplotlib")
        return
    X, y = load("mnist")
    chosen = np.random.default_rng(0).permutation(len(X))[:9]
    figure, axes = plt.subplots(3, 3, figsize=(5, 5.4))
    for axis, i in zip(axes.flat, chosen, strict=True):
        axis.imshow(X[i].reshape(28, 28), cmap="gray")
        row, column = np.divmod(np.array(pixels), 28)
        axis.scatter(column, row, s=14, c="red", marker="s")
        axis.set_title(str(y[i]), fontsize=8)
        axis.set_axis_off()
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> None:
    """Compute what is missing and print what is there."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("sets", nargs="*", default=["madelon", "mnist"])
    parser.add_argument("--folds", type=int, nargs="*", default=list(range(5)))
    parser.add_argument("--cells", nargs="*", help="these alone, by name")
    parser.add_argument("--max-time", type=float, default=np.inf, help="seconds; then report")
    parser.add_argument("--rows", type=Path, default=RESULTS / "stg.jsonl")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.rows.parent.mkdir(parents=True, exist_ok=True)
    print(f"# {' '.join(sys.argv)}; {platform.processor() or platform.machine()}, {args.rows}")
    print(
        f"bitsieve {bitsieve.__version__}, torch {torch.__version__}, scikit-learn "
        f"{sklearn.__version__}; {bitsieve.get_isa()}; processor seconds, one thread"
    )
    text = args.rows.read_text() if args.rows.exists() else ""
    done = {
        (r["set"], r["cell"], r["setting"], r["fold"])
        for r in map(json.loads, text.split("\n")[:-1])
    }
    started = time.monotonic()
    for name in args.sets:
        X, y = load(name)
        folds = folds_of(X, y)
        for cell, setting in plan(name):
            for fold in args.folds:
                late = time.monotonic() - started > args.max_time
                left_out = args.cells is not None and cell not in args.cells
                if late or left_out or (name, cell, setting, fold) in done:
                    continue
                began = time.process_time()
                row = {"set": name, "cell": cell, "setting": setting, "fold": fold}
                row |= measure(name, cell, setting, X, y, *folds[fold])
                row["seconds"] = time.process_time() - began
                with args.rows.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    rows = [json.loads(line) for line in args.rows.read_text().splitlines()]
    if "madelon" in args.sets:
        report_madelon([r for r in rows if r["set"] == "madelon"])
    if "mnist" in args.sets:
        report_mnist([r for r in rows if r["set"] == "mnist"], args.rows.with_suffix(".png"))


if __name__ == "__main__":
    main()
