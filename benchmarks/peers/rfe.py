"""Recursive elimination beside scikit-learn's RFE and RFECV, in one run.

    OMP_NUM_THREADS=1 python benchmarks/peers/rfe.py FOLDER           # a folder of NAME.npz files
    OMP_NUM_THREADS=1 python benchmarks/peers/rfe.py FOLDER --whole   # an hour: no extrapolation

SVC(kernel="linear") and RidgeClassifier on standardised columns, down to one feature, by tenths of
all features and feature by feature; and the cross-validated size on five folds, by tenths. Beside
the data that are named a made table of three classes, 111 x 11,340. Processor time.

"~" marks what is extrapolated: feature by feature scikit-learn makes FITS fits, evenly spread over
the sizes, each on the first columns, and the time of all is the trapezoids between them. Where all
steps were made the last column has the share of features with the same rank. bitsieve solves an SVM
to 1e-10; LIBSVM's own tolerance leaves the order of small coefficients to chance, so that ranks are
compared with a further run of scikit-learn at tol=1e-10.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import RFE, RFECV
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC

import bitsieve
from bitsieve import RecursiveFeatureElimination

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


def made() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(111) % 3
    X = rng.normal(size=(111, 11_340))
    X[:, :200] += 0.5 * rng.normal(size=(3, 200))[y]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def compare(shape: str, estimator: Any, X: Any, y: Any, *, whole: bool) -> None:
    is_svm = isinstance(estimator, SVC)
    close = clone(estimator).set_params(tol=1e-10) if is_svm else estimator

    def eliminate(size: Any, step: float) -> tuple[float, Any]:
        selector = RecursiveFeatureElimination(
            estimator, n_features_to_select=size, step=step, n_jobs=1
        )
        return took(lambda: selector.fit(X, y))

    for step in (0.1, 1):
        seconds, ours = eliminate(1, step)
        if step == 1 and not whole:
            row(shape, estimator, "step 1", sampled(estimator, X, y), seconds, "", "~")
            continue
        rfe = RFE(estimator, n_features_to_select=1, step=step)
        their_seconds = took(lambda rfe=rfe: rfe.fit(X, y))[0]
        if is_svm:
            rfe = clone(rfe).set_params(estimator=close).fit(X, y)
        same = f"{np.mean(ours.ranking_ == rfe.ranking_):.4f}"
        row(shape, estimator, f"step {step}", their_seconds, seconds, same)
    seconds, ours = eliminate("auto", 0.1)
    rfecv = RFECV(estimator, step=0.1, cv=5)
    their_seconds = took(lambda: rfecv.fit(X, y))[0]
    sizes = f"sizes {ours.n_features_}, {rfecv.n_features_}"
    row(shape, estimator, "RFECV step 0.1", their_seconds, seconds, sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", default=["singh"])
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{processor()}, {bitsieve.get_isa()}, processor time")
    print(
        f"{'data':17} {'model':16} {'what':14} {'sklearn s':>10} {'ours s':>8} {'ratio':>7}  same"
    )
    tables = {name: read(args.folder / f"{name}.npz") for name in args.data}
    for name, (X, y) in {**tables, "made": made()}.items():
        for estimator in (SVC(kernel="linear"), RidgeClassifier()):
            compare(f"{name} {X.shape[0]}x{X.shape[1]}", estimator, X, y, whole=args.whole)


def row(
    shape: str, estimator: Any, what: str, theirs: float, ours: float, same: str, sign: str = ""
) -> None:
    name = type(estimator).__name__
    print(
        f"{shape:17} {name:16} {what:14} {sign + format(theirs, '.2f'):>10} {ours:8.3f} "
        f"{theirs / ours:7.1f}  {same}",
        flush=True,
    )


if __name__ == "__main__":
    main()
