"""Recursive elimination beside scikit-learn's RFE and RFECV, in one run.

    python benchmarks/peers/rfe.py FOLDER           # of NAME.npz files; a few minutes
    python benchmarks/peers/rfe.py FOLDER --whole   # every step of scikit-learn's; an hour

SVC(kernel="linear") and RidgeClassifier on standardised columns, down to one feature, by tenths and
feature by feature; and the cross-validated size on five folds, by tenths. Processor time of one
thread. Feature by feature scikit-learn makes FITS fits, evenly spread over the sizes, each on as many
columns as are left then (the first ones); the time of all of them is the trapezoids between them.
That is marked "~". Rows that are whole say whether the rankings are equal; bitsieve solves an SVM to
1e-10, scikit-learn's default is 1e-3, which leaves the order of small coefficients to chance, so that
"equal" is told of a run with tol=1e-10.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import platform  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.feature_selection import RFE, RFECV  # noqa: E402
from sklearn.linear_model import RidgeClassifier  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

import bitsieve  # noqa: E402
from bitsieve import RecursiveFeatureElimination  # noqa: E402

FITS = 24


def read(path: Path) -> tuple[Any, Any]:
    with np.load(path, allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float64), archive["y"]
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def took(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def sampled(estimator: Any, X: Any, y: Any) -> float:
    """Seconds of a fit and a sort for each size from all to 1, from FITS of them."""
    sizes = np.unique(np.linspace(1, X.shape[1], FITS).astype(int))
    seconds = []
    for size in sizes:
        features = np.arange(size)

        def fit(features: Any = features) -> None:
            fitted = clone(estimator).fit(X[:, features], y)
            np.argsort(np.square(np.atleast_2d(fitted.coef_)).sum(axis=0), kind="stable")

        seconds.append(took(fit)[0])
    return float(np.trapezoid(seconds, sizes))


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", default=["singh", "tox_171"])
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{processor()}, {bitsieve.get_isa()}, one thread, processor time")
    print(
        f"{'data':20} {'model':16} {'what':14} {'sklearn s':>10} {'ours s':>8} {'ratio':>7}  equal"
    )
    for name in args.data:
        path = args.folder / f"{name}.npz"
        if not path.is_file():
            print(f"{name}: not there")
            continue
        X, y = read(path)
        shape = f"{name} {X.shape[0]}x{X.shape[1]}"
        for estimator in (SVC(kernel="linear"), RidgeClassifier()):
            is_svm = isinstance(estimator, SVC)
            close = clone(estimator).set_params(tol=1e-10) if is_svm else estimator
            for step in (0.1, 1):
                ours_s, ours = took(
                    lambda step=step: RecursiveFeatureElimination(
                        estimator, n_features_to_select=1, step=step, n_jobs=1
                    ).fit(X, y)
                )
                if step == 1 and not args.whole:
                    row(shape, estimator, "step 1", sampled(estimator, X, y), ours_s, "", "~")
                    continue
                rfe = RFE(estimator, n_features_to_select=1, step=step)
                their_s, theirs = took(lambda rfe=rfe: rfe.fit(X, y))
                if is_svm and step < 1:
                    theirs = clone(rfe).set_params(estimator=close).fit(X, y)
                same = np.mean(ours.ranking_ == theirs.ranking_)
                row(shape, estimator, f"step {step}", their_s, ours_s, f"{same:.4f}")
            ours_s, ours = took(
                lambda: RecursiveFeatureElimination(
                    estimator, n_features_to_select="auto", step=0.1, n_jobs=1
                ).fit(X, y)
            )
            their_s, theirs = took(lambda: RFECV(estimator, step=0.1, cv=5).fit(X, y))
            same = f"sizes {ours.n_features_}, {theirs.n_features_}"
            row(shape, estimator, "RFECV step 0.1", their_s, ours_s, same)


def row(
    shape: str, estimator: Any, what: str, theirs: float, ours: float, same: str, sign: str = ""
) -> None:
    name = type(estimator).__name__
    print(
        f"{shape:20} {name:16} {what:14} {sign + format(theirs, '.2f'):>10} {ours:8.3f} "
        f"{theirs / ours:7.1f}  {same}",
        flush=True,
    )


if __name__ == "__main__":
    main()
