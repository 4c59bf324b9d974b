"""Sequential selection beside scikit-learn and mlxtend, in one run.

    python benchmarks/peers/sequential.py                 # two minutes
    python benchmarks/peers/sequential.py --only small    # 100 x 2,000 alone
    python benchmarks/peers/sequential.py --features 200  # more of it for the rivals

Rows: forward to 10 of a made table of 100 x 2,000; forward to 30 of chowdary (104 x 22,283), plain
and floating; backward from 2,400 (warpAR10P, 130 samples) to 1. All 5-fold, from the arrays to
the fitted selector. The rivals run on the first ``--features`` of the same table, to three
features (backward: three are removed); they must select what ours selects there. Their time on the
whole is **extrapolated**: their time for an evaluation, times the number of evaluations. An
evaluation costs them nearly the same whatever the features, so this holds well for forward
selection; backward it is too low. *Search* is what the search and its loop take for an iteration,
measured with a fitness that does nothing, as a share of a whole iteration.

One thread each, processor time, the least of ``--repeats``. Real data are read from the folder that
BITSIEVE_TEST_DATA names.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from mlxtend.feature_selection import SequentialFeatureSelector as Mlxtend
from numpy.typing import NDArray
from sklearn.feature_selection import SequentialFeatureSelector as ScikitLearn
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import Masks, SequentialFeatureSelector
from bitsieve.search import SequentialSearch, run

Table = tuple[NDArray[np.float64], NDArray[Any]]

#: Data set, model, options, the least seconds asked for.
ROWS: list[tuple[str, Any, dict[str, Any], float]] = [
    ("small", KNeighborsClassifier(1), {"n_features_to_select": 10}, 0.05),
    ("chowdary", KNeighborsClassifier(1), {"n_features_to_select": 30}, 0.4),
    ("chowdary", KNeighborsClassifier(1), {"n_features_to_select": 30, "floating": True}, 2.0),
    ("chowdary", GaussianNB(), {"n_features_to_select": 30}, 0.4),
    ("chowdary", GaussianNB(), {"n_features_to_select": 30, "floating": True}, 2.0),
    ("chowdary", RidgeClassifier(), {"n_features_to_select": 30}, 1.5),
    ("chowdary", RidgeClassifier(), {"n_features_to_select": 30, "floating": True}, 7.5),
    (
        "warpAR10P",
        KNeighborsClassifier(1),
        {"n_features_to_select": 1, "direction": "backward"},
        4.0,
    ),
]


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((x.partition(": ")[2] for x in lines if x.startswith("model name")), "unknown")


def load(name: str) -> Table:
    if name == "small":
        rng = np.random.default_rng(0)
        y = np.arange(100) % 2
        X = rng.normal(size=(100, 2000))
        X[y == 1, :10] += 0.8
        return X, y
    folder = Path(os.environ.get("BITSIEVE_TEST_DATA", "."))
    with np.load(folder / f"{name}.npz", allow_pickle=False) as archive:
        return np.array(archive["X"], dtype=np.float64), archive["y"]


def least(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The least processor time, and what the last call returned."""
    took = []
    for _ in range(repeats):
        began = time.process_time()
        found = call()
        took.append(time.process_time() - began)
    return min(took), found


def ours(estimator: Any, table: Table, **options: Any) -> SequentialFeatureSelector:
    return SequentialFeatureSelector(estimator, n_jobs=1, random_state=0, **options).fit(*table)


class Nothing:
    """A fitness that costs nothing: what is left is the search and its loop."""

    resample = False

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.scores = np.random.default_rng(0).random(n_features)

    def evaluate(self, masks: Masks, seeds: Any = 0) -> NDArray[np.float64]:
        return self.scores[: len(masks)]


def of_the_search(n_features: int, options: dict[str, Any], repeats: int) -> float:
    """Seconds an iteration without a fitness."""
    size = options["n_features_to_select"]
    direction = options.get("direction", "forward")
    floating = options.get("floating", False)

    def alone() -> Any:
        search = SequentialSearch(n_features, size=size, direction=direction, floating=floating)
        return run(
            search, Nothing(n_features), choose="recommended", random_state=0, progress=False
        )

    seconds, result = least(alone, repeats)
    return seconds / result.n_iterations


def rivals(
    estimator: Any, table: Table, options: dict[str, Any], n_features: int
) -> dict[str, float]:
    """Seconds an evaluation of each, on a part of the table where all select the same."""
    X, y = table
    part = (np.ascontiguousarray(X[:, :n_features]), np.unique(y, return_inverse=True)[1])
    adds = options.get("direction", "forward") == "forward"
    floating = options.get("floating", False)
    size = 3 if adds else n_features - 3
    found = {}
    if not floating:
        model = ScikitLearn(
            estimator, n_features_to_select=size, direction="forward" if adds else "backward"
        )
        seconds, fitted = least(lambda: model.fit(*part), 1)
        mine = ours(estimator, part, **{**options, "n_features_to_select": size})
        assert np.array_equal(fitted.support_, mine.support_)
        found["scikit-learn"] = seconds / mine.n_evaluations_
    if adds:  # where masks tie, features go in another order there
        peer = Mlxtend(
            estimator, k_features=size, forward=adds, floating=floating, scoring="accuracy", cv=5
        )
        seconds, fitted = least(lambda: peer.fit(*part), 1)
        strict = {**options, "n_features_to_select": size}
        strict["floating"] = "mlxtend" if floating else False
        mine = ours(estimator, part, **strict)
        assert list(fitted.k_feature_idx_) == mine.get_support(indices=True).tolist()
        found["mlxtend"] = seconds / mine.n_evaluations_
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=sorted({row[0] for row in ROWS}))
    parser.add_argument("--features", type=int, default=40, help="of the rivals' part")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-rivals", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"{processor()}, {bitsieve.get_isa()}, 1 thread; bitsieve {bitsieve.__version__}, "
        f"scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    )
    print(
        f"{'table':<10} {'model':<21} {'way':<13} {'seconds':>8} {'asked':>6} {'masks':>10} "
        f"{'search':>7}  rivals, extrapolated"
    )
    for name, estimator, options, bound in ROWS:
        if given.only not in (None, name):
            continue
        table = load(name)
        with threadpool_limits(1):
            seconds, fitted = least(
                lambda t=table, e=estimator, o=options: ours(e, t, **o), given.repeats
            )
            share = of_the_search(table[0].shape[1], options, given.repeats)
            share *= fitted.n_iter_ / seconds
            each = {} if given.no_rivals else rivals(estimator, table, options, given.features)
        way = options.get("direction", "forward")
        way += ", fl." if options.get("floating") else ""
        whole = ", ".join(
            f"{rival} {cost * fitted.n_evaluations_:,.0f} s ({cost * 1e3:.1f} ms each, "
            f"{cost * fitted.n_evaluations_ / seconds:,.0f} times)"
            for rival, cost in each.items()
        )
        print(
            f"{name:<10} {type(estimator).__name__:<21} {way:<13} {seconds:8.3f} {bound:6.2f} "
            f"{fitted.n_evaluations_:10,} {share:7.1%}  {whole}",
            flush=True,
        )


if __name__ == "__main__":
    main()
