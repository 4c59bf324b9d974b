"""What the program answers on fixed inputs, by name.

Each case returns arrays (or text) by name. Inputs come from Philox, so that no version of numpy
changes them. A case of compiled code alone is ``exact``; the others take sums or logarithms from
numpy, SciPy or scikit-learn, whose last bits differ between processors and versions.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core

Found = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A name, what computes it, and whether every bit of it is compiled code's own."""

    name: str
    compute: Callable[[], Found]
    exact: bool


def uniform(key: int, *shape: int) -> NDArray[np.float64]:
    """Numbers in [0, 1) from the words of a Philox stream, by shifts alone."""
    words = _core.philox(key, _core.Stream.tests, 0, int(np.prod(shape)))
    return ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)


def table(
    n: int = 60, p: int = 90, n_classes: int = 3
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features of which the first ten tell the classes, and the classes."""
    y = (np.arange(n) * n_classes) // n
    X = uniform(1, n, p) + uniform(2, n, p)
    X[:, :10] += 0.4 * y[:, None] * uniform(3, 10)
    return X, y


def levels(n: int = 60, p: int = 90) -> NDArray[np.int64]:
    """Whole numbers from 0 to 3, some of them ties of every distance."""
    return np.floor(4 * uniform(4, n, p)).astype(np.int64)


def masks(n_masks: int, p: int, share: float = 0.3) -> NDArray[np.bool_]:
    """Random masks, the first empty and the second full."""
    batch = uniform(5, n_masks, p) < share
    batch[0], batch[1] = False, True
    return batch


def _knn(X: Any, y: Any, k: int, **options: Any) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    from bitsieve.fitness import compile

    return compile(KNeighborsClassifier(k), X, y, **options)


def _scores(X: Any, y: Any) -> Callable[[], Found]:
    def compute() -> Found:
        from bitsieve import Masks

        found = {}
        batch = masks(40, X.shape[1])
        near = Masks.neighbors(batch[2], n_features=X.shape[1])
        for k in (1, 3, 5):
            fixed = _knn(X, y, k, cv=5)
            fresh = _knn(X, y, k, cv=4, n_repeats=3, resample=True)
            balanced = _knn(X, y, k, cv=3, resample=True, scoring="balanced_accuracy")
            found[f"fixed {k}"] = fixed.evaluate_splits(batch)
            found[f"fresh {k}"] = fresh.evaluate_splits(batch, np.arange(40))
            found[f"balanced {k}"] = balanced.evaluate_splits(batch, 7)
            found[f"flips {k}"] = fresh.evaluate_splits(near, 11)
        found["splits"] = np.concatenate([test for _, test in fresh.splits(5)])
        return found

    return compute


def _groups() -> Found:
    X, y = table()
    fitness = _knn(X, y, 1, cv=3, groups=np.arange(60) % 20, resample=True, n_repeats=2)
    return {"scores": fitness.evaluate_splits(masks(20, 90), np.arange(20))}


def _scored_by_name() -> Found:
    X, y = table()
    found = {}
    for scoring in ("roc_auc_ovr", "neg_log_loss", "f1_macro"):
        fitness = _knn(X, y, 5, cv=3, scoring=scoring)
        found[scoring] = fitness.evaluate_splits(masks(6, 90))
    return found


def _search(**options: Any) -> Callable[[], Found]:
    def compute() -> Found:
        from sklearn.neighbors import KNeighborsClassifier

        from bitsieve import BinarySPSA

        X, y = table()
        parameters = {"cv": 5, "n_repeats": 2, "max_iter": 80, "random_state": 3} | options
        found = BinarySPSA(KNeighborsClassifier(1), progress=False, **parameters).fit(X, y)
        history = {k: v for k, v in found.history_.items() if k != "seconds"}
        return {
            "support": found.support_,
            "scores": found.scores_,
            "ranking": found.ranking_,
            "best": [found.best_score_, found.best_observed_score_, found.observed_score_],
            "evaluations": [found.n_evaluations_, found.n_final_evaluations_, found.n_iter_],
            **{f"history {name}": values for name, values in history.items()},
            "finalists": np.array(
                [[f.measured_score, f.observed_score, f.mean_score] for f in found.finalists_]
            ),
            "masks": np.vstack([f.mask.to_bool() for f in found.finalists_]),
        }

    return compute


def _spsa_state() -> Found:
    from bitsieve.search import BinarySPSASearch

    found = {}
    for gain in ("auto", "paper", 0.3):
        search = BinarySPSASearch(70, seed=11, gain=gain)  # type: ignore[arg-type]
        for step in range(60):
            asked = search.ask()
            search.tell(asked, uniform(step, len(asked)))
        found |= {f"{gain} {name}": value for name, value in search.state().items()}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def _filters(kinds: str) -> Callable[[], Found]:
    def compute() -> Found:
        from bitsieve.filters.named import FILTERS

        X, y = table()
        numbers = X[:, 0] + 0.5 * uniform(6, 60)
        found: dict[str, Any] = {}
        for name, method in FILTERS.items():
            target: Any = numbers if method.target == "numbers" else y
            columns: Any = X
            if kinds == "levels":
                columns = levels()
            elif kinds == "two":
                target = (y > 0).astype(int)
            elif kinds == "numbers":
                if method.target not in ("either", "numbers"):
                    continue
                target = numbers
            try:
                ranked = method.rank(columns, target, n_features=12, random_state=5)
            except ValueError as error:  # a method for two classes, or for numbers
                found[name] = type(error).__name__
                continue
            found[name] = ranked.scores
            if ranked.order is not None:
                found[f"{name} order"] = ranked.order
            if ranked.p_values is not None:
                found[f"{name} p"] = ranked.p_values
        return found

    return compute


def _missing() -> Found:
    from bitsieve import filters

    X, y = table()
    X[uniform(7, *X.shape) < 0.05] = np.nan
    names = ("relieff", "surf", "surf_star", "multisurf", "multisurf_star", "swrf_star")
    return {name: getattr(filters, name)(X, y) for name in names}


def _discretized() -> Found:
    from bitsieve.filters import discretize

    X, y = table()
    found = {}
    for method in ("mdl", "equal_width", "equal_frequency", "mean_sd"):
        options = {"y": y} if method == "mdl" else {}
        found[method], found[f"{method}, levels"] = discretize(X, method=method, **options)
    return found


def _ensemble() -> Found:
    from bitsieve import EnsembleRanker, RankAggregation

    X, y = table()
    ensemble = EnsembleRanker("relieff", n_bootstraps=5, random_state=0).fit(X, y)
    combined = RankAggregation(["relieff", "mrmr", "f"], method="borda").fit(X, y)
    return {
        "frequency": ensemble.frequency_,
        "ensemble": ensemble.ranking_,
        "combined": combined.ranking_,
    }


def _nested() -> Found:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from bitsieve import BinarySPSA
    from bitsieve.evaluation import nested_cross_validate

    X, y = table()
    selector = BinarySPSA(
        KNeighborsClassifier(1), cv=4, n_repeats=1, max_iter=30, random_state=0, progress=False
    )
    result = nested_cross_validate(
        make_pipeline(StandardScaler(), selector), None, X, y, cv=5, random_state=8
    )
    return {
        "scores": result.scores,
        "full": result.full_scores,
        "claims": np.vstack([result.observed_scores, result.remeasured_scores]),
        "interval": np.array(result.interval),
        "supports": result.supports,
        "seeds": result.seeds,
    }


#: What differs from run to run, or with who computes, and says nothing of the answer.
_VOLATILE = re.compile(
    r"seconds|created|environment|command|repeat|path|files|^out$|^kernel$|^fallback_reason$"
)


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _steady(v) for k, v in value.items() if not _VOLATILE.search(k)}
    if isinstance(value, list):
        return [_steady(v) for v in value]
    return value


def _files(command: str, *options: str) -> Callable[[], Found]:
    def compute() -> Found:
        X, y = table(40, 30, 2)
        with tempfile.TemporaryDirectory() as folder:
            csv = Path(folder, "table.csv")
            header = [f"gene {j}" for j in range(30)] + ["outcome"]
            rows = [",".join(header)]
            for values, label in zip(X, y, strict=True):
                rows.append(",".join([*(repr(float(v)) for v in values), "ab"[label]]))
            csv.write_text("\n".join(rows) + "\n")
            out = Path(folder, "out")
            arguments = [command, "table.csv", "-t", "outcome", "--out", "out", "-q", "--seed", "5"]
            code = "import bitsieve.cli; bitsieve.cli.main()"
            done = subprocess.run(
                [sys.executable, "-c", code, *arguments, *options],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise RuntimeError(done.stderr)
            found: dict[str, Any] = {
                file.name: file.read_text() for file in sorted(out.glob("*.csv"))
            }
            record = _steady(json.loads((out / "run.json").read_text()))
            if command == "select":
                rows = [row.split(",") for row in found["selection.csv"].splitlines()]
                found["selection.csv"] = "".join(",".join(row[:5]) + "\n" for row in rows)
                found["statistics"] = "".join(",".join(row[5:]) + "\n" for row in rows)
                found["substitutes"] = json.dumps(record.pop("substitutes"), sort_keys=True)
            found["run.json"] = json.dumps(record, sort_keys=True)
            return found

    return compute


def _microarray() -> Found:
    from bitsieve.datasets import make_microarray

    made = make_microarray(30, 200, random_state=4)
    return {"X": made.X, "y": made.y}


X_, Y_ = table()

#: Every case; a case joins by a line, and ``freeze.py`` records what it answers.
CASES = [
    Case("scores, measurements", _scores(X_, Y_), exact=True),
    Case("scores, float32", _scores(X_.astype(np.float32), Y_), exact=True),
    Case("scores, whole numbers", _scores(levels(), Y_), exact=True),
    Case("scores, groups", _groups, exact=False),
    Case("scores by name", _scored_by_name, exact=False),
    Case("search, free", _search(), exact=True),
    Case("search, sized", _search(n_features_to_select=8, start=None), exact=True),
    Case("search, few of many", _search(n_features_to_select=8), exact=True),
    Case("search, fixed folds", _search(resample=False, gain="paper", start=0.5), exact=True),
    Case("search, independent", _search(folds="independent", admit_perturbed=True), exact=True),
    Case("search, state", _spsa_state, exact=True),
    Case("filters, measurements", _filters("measurements"), exact=False),
    Case("filters, two classes", _filters("two"), exact=False),
    Case("filters, levels", _filters("levels"), exact=False),
    Case("filters, numbers", _filters("numbers"), exact=False),
    Case("filters, missing", _missing, exact=False),
    Case("levels", _discretized, exact=False),
    Case("rankings combined", _ensemble, exact=False),
    Case("nested cross-validation", _nested, exact=False),
    Case("microarray", _microarray, exact=False),
    Case("files of select", _files("select", "--method", "bspsa", "--max-iter", "30"), exact=False),
    Case("files of rank", _files("rank", "-m", "relieff", "-m", "f", "--plot"), exact=False),
]


def answer(case: Case) -> Found:
    """Compute a case with its warnings off."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.compute()
