"""Energy-based selection of features: Table 3 of the paper for REGED, and blankets of networks.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/ebm.py --quick            # one round of 10 folds: minutes
    python benchmarks/papers/ebm.py                    # 10 x 10 folds
    python benchmarks/papers/ebm.py --part networks    # F1 against true blankets
    python benchmarks/papers/ebm.py --part terms       # what the terms are worth elsewhere

Escalante, Montes, Sucar, "An energy-based model for feature selection", 2008. **table**: on REGED0
(500 x 999) each training part selects subsets of 2, 4, 8, ... features by each row's settings, a
kernel ridge classifier is fitted to each subset, and the test part gives the area under the ROC
curve. The challenge scored the best of all subsets on its hidden test samples, so a row shows the
best size by these folds (``Fnum``: chosen by them, optimistic) and the AUC where 5 folds *inside*
the training part chose the size, the selection repeated in each (nested cross-validation: nothing
about it is optimistic). Rows with PSMS choose preprocessing, classifier and its parameters for that
size by a particle swarm inside the training part. The challenge's REGED1, REGED2, MARTI and the
hidden test samples are not public.

Rows are appended to ``--rows``, one JSON object each; those that are there are not computed again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bitsieve import (
    MRMR,
    EnergySelector,
    KernelRidgeClassifier,
    MarkovBlanket,
    ReliefF,
    UnivariateSelector,
    get_isa,
)

Floats = NDArray[np.float64]

#: Rows of Table 3: settings of the selector, whether PSMS makes the model, the paper's R0.
TABLE: dict[str, tuple[dict[str, Any], bool, float | None]] = {
    "LM": ({"terms": "lm"}, False, 0.9997),
    "MB": ({"terms": "mb"}, False, 0.9995),
    "EBM": ({"terms": "ebm", "start": "features"}, False, 0.9996),
    "EBM (LM)": ({"terms": "ebm-lm", "start": "features"}, False, 0.9995),
    "EBM - (no GMB)": ({"terms": "ebm-no-gmb", "start": "features"}, False, 0.9996),
    "EBM + PSMS": ({"terms": "ebm", "start": "features"}, True, 0.9997),
    "EBM (LM) + PSMS": ({"terms": "ebm-lm", "start": "features"}, True, 0.9996),
    # Ours.
    "EBM from pairs": ({"terms": "ebm"}, False, None),
}
NETWORKS = {"bn_alarm_5000": 0.01, "bn_child_5000": 0.01, "bn_gaussian_1000x300": 0.001}
#: Sets for --part terms: those of the first line choose a default, those of the second confirm it.
CHOOSE = ("sonar", "colon_disc", "singh", "gravier", "ionosphere", "madelon")
CONFIRM = ("breast_w", "khan", "west", "glioma", "mofn_3_7_10", "chowdary")
TERMS = ("lm", "mb", "ebm-lm", "ebm-no-gmb", "ebm", "learn")
#: Beside them, as many features of a filter.
FILTERS: dict[str, Any] = {
    "f": lambda size: UnivariateSelector("f", n_features_to_select=size),
    "mrmr": lambda size: MRMR(size),
    "relieff": lambda size: ReliefF(n_features_to_select=size),
}
COLUMNS = (*TERMS, *FILTERS)
SIZES = (5, 20)


def model() -> Any:
    """Return the final classifier of most rows."""
    return make_pipeline(StandardScaler(), KernelRidgeClassifier(kernel="linear"))


def load(name: str) -> tuple[Floats, NDArray[Any]]:
    """Return a data set."""
    with np.load(Path(os.environ["BITSIEVE_TEST_DATA"]) / f"{name}.npz") as archive:
        return archive["X"].astype(np.float64), archive["y"]


def auc(features: NDArray[np.int64], X: Floats, y: Any, X_test: Floats, y_test: Any) -> float:
    """Area under the ROC curve of the final classifier on some features."""
    columns = np.sort(features)
    fitted = model().fit(X[:, columns], y)
    return float(roc_auc_score(y_test, fitted.decision_function(X_test[:, columns])))


def selected(settings: dict[str, Any], X: Floats, y: Any) -> EnergySelector:
    """Fit a selector; 32 features are the paper's Fnum, the nested sizes are found beside them."""
    return EnergySelector(32, random_state=0, n_jobs=1, **settings).fit(X, y)


def chosen_size(settings: dict[str, Any], X: Floats, y: Any) -> int:
    """Return the size with the best mean AUC over folds of a training part."""
    found: dict[int, list[float]] = {}
    for a, b in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
        for subset in selected(settings, X[a], y[a]).nested_.subsets:
            found.setdefault(len(subset), []).append(auc(subset, X[a], y[a], X[b], y[b]))
    return max(found, key=lambda size: (np.mean(found[size]), -size))


def psms(features: NDArray[np.int64], X: Floats, y: Any, X_test: Floats, y_test: Any) -> float:
    """AUC of the model that particle swarm model selection makes of some features."""
    from bitsieve import ModelSearchCV

    columns = np.sort(features)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = ModelSearchCV(selectors=["all"], scoring="roc_auc", cv=folds, random_state=0, n_jobs=1)
    search.fit(X[:, columns], y)  # the best may have probabilities and no decisions
    return float(get_scorer("roc_auc")(search, X_test[:, columns], y_test))


def table_rows(n_repeats: int, names: list[str]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield what identifies a row, and how it is computed."""
    X, y = load("reged0")
    for repeat in range(n_repeats):
        folds = StratifiedKFold(10, shuffle=True, random_state=repeat).split(X, y)
        for fold, (train, test) in enumerate(folds):
            for name in names:
                key = {"part": "table", "row": name, "repeat": repeat, "fold": fold}
                yield key, lambda name=name, a=train, b=test: table_row(name, X, y, a, b)


def table_row(name: str, X: Floats, y: Any, train: Any, test: Any) -> dict[str, Any]:
    """One training part of one row of Table 3."""
    settings, with_psms, _ = TABLE[name]
    parts = (X[train], y[train], X[test], y[test])
    began = time.perf_counter()
    nested = selected(settings, X[train], y[train]).nested_
    seconds = time.perf_counter() - began
    by_size = {len(subset): auc(subset, *parts) for subset in nested.subsets}
    size = chosen_size(settings, X[train], y[train])
    subset = next(subset for subset in nested.subsets if len(subset) == size)
    nested_auc = psms(subset, *parts) if with_psms else by_size[size]
    return {
        "by_size": by_size,
        "size": size,
        "auc": nested_auc,
        "all": auc(np.arange(X.shape[1]), *parts),
        "seconds": seconds,
    }


def network_rows() -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield each variable of the networks as the target."""
    for name in NETWORKS:
        with np.load(Path(os.environ["BITSIEVE_TEST_DATA"]) / f"{name}.npz") as archive:
            data, graph = archive["data"], archive["graph"]
        for target in range(data.shape[1]):
            key = {"part": "networks", "set": name, "target": target}
            yield key, lambda d=data, g=graph, t=target, n=name: network_row(n, d, g, t)


def network_row(name: str, data: Any, graph: Any, target: int) -> dict[str, Any]:
    """How the true blanket of a variable comes out, by blanket and by energies."""
    children = np.flatnonzero(graph[target])
    truth = {*np.flatnonzero(graph[:, target]), *children}
    truth |= {x for child in children for x in np.flatnonzero(graph[:, child])}
    others = np.delete(np.arange(data.shape[1]), target)
    inside = np.flatnonzero(np.isin(others, list(truth - {target})))
    X, y = data[:, others].astype(np.float64), data[:, target]
    found: dict[str, Any] = {"n_true": len(inside)}
    continuous = name.startswith("bn_gaussian")
    blanket = MarkovBlanket(alpha=NETWORKS[name], test="fisher-z" if continuous else "g2")
    found["blanket"] = f1(np.flatnonzero(blanket.fit(X, y).support_), inside)
    if not len(inside):
        return found
    y = (y > np.median(y)).astype(int) if continuous else y
    for terms in ("lm", "mb", "ebm-lm", "ebm"):
        # As many as the true blanket has: what a user who knew its size would ask for.
        selector = EnergySelector(
            len(inside), terms=terms, blanket=MarkovBlanket(alpha=NETWORKS[name]), n_jobs=1
        ).fit(X, y)
        found[terms] = f1(selector.features_, inside)
        found[f"{terms} fscore"] = selector.nested_.blanket_auc(inside)
    return found


def f1(found: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """F1 of a set; 1 of nothing where there is nothing."""
    if not len(found) and not len(truth):
        return 1.0
    return 2 * len(np.intersect1d(found, truth)) / (len(found) + len(truth))


def terms_rows(sets: tuple[str, ...], n_repeats: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield 5 outer folds of several sets."""
    for name in sets:
        X, y = load(name)
        keep = ~np.isnan(X).any(axis=1)
        X, y = X[keep], np.unique(y[keep], return_inverse=True)[1]
        if len(y) > 1000:
            some = np.random.default_rng(0).permutation(len(y))[:1000]
            X, y = X[some], y[some]
        for repeat in range(n_repeats):
            folds = StratifiedKFold(5, shuffle=True, random_state=repeat).split(X, y)
            for fold, (train, test) in enumerate(folds):
                for terms in COLUMNS:
                    key = {
                        "part": "terms", "set": name, "terms": terms, "repeat": repeat,
                        "fold": fold,
                    }  # fmt: skip
                    yield key, lambda X=X, y=y, a=train, b=test, t=terms: terms_row(X, y, a, b, t)


def terms_row(X: Floats, y: Any, train: Any, test: Any, terms: str) -> dict[str, Any]:
    """Balanced error of the final classifier behind each size, on the test part."""
    from sklearn.metrics import balanced_accuracy_score

    found: dict[str, Any] = {}
    for size in SIZES:
        if size >= X.shape[1]:
            continue
        began = time.perf_counter()
        if terms in FILTERS:
            selector = FILTERS[terms](size)
        else:
            selector = EnergySelector(size, terms=terms, random_state=0, n_jobs=1)
        columns = selector.fit(X[train], y[train]).get_support(indices=True)
        found[f"seconds {size}"] = time.perf_counter() - began
        said = model().fit(X[train][:, columns], y[train]).predict(X[test][:, columns])
        found[str(size)] = 1 - balanced_accuracy_score(y[test], said)
        found[f"features {size}"] = columns.tolist()
    return found


def report_table(rows: list[dict[str, Any]]) -> None:
    """Print Table 3."""
    print("row               folds  AUC (nested)       best size: AUC (Fnum)       paper   s a fit")
    for name, (_, with_psms, paper) in TABLE.items():
        mine = [r for r in rows if r["part"] == "table" and r["row"] == name]
        if not mine:
            continue
        honest = np.array([r["auc"] for r in mine])
        sizes = sorted(map(int, mine[0]["by_size"]))
        by_size = np.array([[r["by_size"][str(s)] for s in sizes] for r in mine])
        best = int(by_size.mean(axis=0).argmax())
        told = (
            f"{by_size[:, best].mean():.4f} +- {error(by_size[:, best]):.4f} ({sizes[best]:3d})"
            if not with_psms
            else " " * 24
        )
        print(
            f"{name:16s}  {len(mine):4d}   {honest.mean():.4f} +- {error(honest):.4f}   {told}   "
            f"{'' if paper is None else f'{paper:.4f}':6s}  "
            f"{np.median([r['seconds'] for r in mine]):.2f}"
            f"   sizes {np.median([r['size'] for r in mine]):.0f}"
        )
        if name == "LM":
            whole = np.array([r["all"] for r in mine])
            print(f"  all 999         {len(mine):4d}   {whole.mean():.4f} +- {error(whole):.4f}")


def error(values: Floats) -> float:
    """Standard error of a mean, as if folds were independent."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def report_networks(rows: list[dict[str, Any]]) -> None:
    """Print mean F1 and Fscore over the variables of each network."""
    for name in NETWORKS:
        mine = [r for r in rows if r["part"] == "networks" and r["set"] == name]
        if not mine:
            continue
        some = [r for r in mine if r["n_true"]]
        print(f"{name}: {len(mine)} targets; F1 of the blanket {mean(mine, 'blanket'):.3f}")
        for terms in ("lm", "mb", "ebm-lm", "ebm"):
            print(
                f"    {terms:7s} F1 {mean(some, terms):.3f}   Fscore "
                f"{mean(some, f'{terms} fscore'):.3f}"
            )


def mean(rows: list[dict[str, Any]], name: str) -> float:
    """Mean of a column over the rows that have it."""
    return float(np.mean([r[name] for r in rows if name in r]))


def report_terms(rows: list[dict[str, Any]]) -> None:
    """Print balanced errors, and how far each setting is from the best of its set and size."""
    for title, sets in (("choosing", CHOOSE), ("confirming", CONFIRM)):
        behind: dict[str, list[float]] = {}
        print(f"{title}: balanced error in %, means over outer folds ({', '.join(COLUMNS)})")
        for name in sets:
            for size in SIZES:
                errors = {}
                for terms in COLUMNS:
                    found = [
                        r[str(size)]
                        for r in rows
                        if r["part"] == "terms" and r["set"] == name and r["terms"] == terms
                        and str(size) in r
                    ]  # fmt: skip
                    if found:
                        errors[terms] = 100 * float(np.mean(found))
                if len(errors) < len(COLUMNS):
                    continue
                print(f"  {name:14s} {size:3d}  " + "  ".join(f"{errors[t]:5.1f}" for t in COLUMNS))
                for terms in COLUMNS:
                    behind.setdefault(terms, []).append(errors[terms] - min(errors.values()))
        if behind:
            print(
                f"  {'behind the best':18s} "
                + "  ".join(f"{np.mean(behind[t]):5.2f}" for t in COLUMNS)
            )


def main() -> None:
    """Compute what is missing and print what is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("table", "networks", "terms"), default="table")
    parser.add_argument("--quick", action="store_true", help="one round of folds")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--names", nargs="*", default=list(TABLE), choices=list(TABLE))
    parser.add_argument("--sets", nargs="*", default=[*CHOOSE, *CONFIRM])
    parser.add_argument("--max-time", type=float, default=np.inf, help="seconds; then report")
    default = Path(tempfile.gettempdir()) / "bitsieve_ebm.jsonl"
    parser.add_argument("--rows", type=Path, default=default)
    args = parser.parse_args()
    print(f"# {' '.join(sys.argv)}; {platform.machine()}, {get_isa()}, {args.rows}", flush=True)
    started = time.monotonic()
    jobs: Iterator[tuple[dict[str, Any], Any]]
    if args.part == "table":
        jobs = table_rows(1 if args.quick else args.repeats, args.names)
    elif args.part == "networks":
        jobs = network_rows()
    else:
        jobs = terms_rows(tuple(args.sets), 1 if args.quick else 3)
    done = {json.dumps(key_of(row), sort_keys=True) for row in read(args.rows)}
    for key, compute in jobs:
        if json.dumps(key, sort_keys=True) in done:
            continue
        if time.monotonic() - started > args.max_time:
            break
        with args.rows.open("a") as file:
            file.write(json.dumps({**key, **compute()}) + "\n")
    rows = read(args.rows)
    {"table": report_table, "networks": report_networks, "terms": report_terms}[args.part](rows)


def key_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return what identifies a row."""
    names = ("part", "row", "set", "target", "terms", "repeat", "fold")
    return {name: row[name] for name in names if name in row}


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows that are there; a last line that was cut off does not count."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


if __name__ == "__main__":
    main()
