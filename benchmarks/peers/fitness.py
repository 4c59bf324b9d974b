"""Compiled fitness beside scikit-learn, model by model, in one run.

    python benchmarks/peers/fitness.py                  # all four tables: ten minutes
    python benchmarks/peers/fitness.py --only masks --models NB,ridge
    python benchmarks/peers/fitness.py --intelex /venv/bin/python   # and scikit-learn-intelex

* *masks*: 256 new random half masks of 111 x 11,340, three classes, 10 x 5-fold. scikit-learn's
  ``cross_val_score`` runs on some of the same masks (``--sample``), and the scores are compared.
* *flips*: all one-flip neighbors of a 30-feature mask of chowdary (22,283 features), 5-fold;
  scikit-learn's time is that of three of them, times their number.
* *swaps*: all 445,260 swaps of a 20-feature mask there, of models that have a pass for one-flip
  neighbors; *one by one* is the time of some of the same masks written out, times their number.
* *shapes*: seconds of one half mask, 5-fold, over numbers of samples and features. A model that no
  kernel serves there is left blank: it is scikit-learn's.

One thread each, processor time. *Limit* is the share of what the processor could do of the named
work: a float32 or float64 product by BLAS, or a copy of memory, measured first. Seconds of a bound
are for a processor that makes a masked float32 Gram matrix of 111 x 5,670 in 1.25 ms; the bound is
scaled by that product's time here. Data of ``flips`` are read from the folder that
BITSIEVE_TEST_DATA names, as those of ``swaps``. The other Python of ``--intelex`` needs
scikit-learn-intelex alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import Masks
from bitsieve.fitness import compile

Floats = NDArray[np.float64]
Splits = list[tuple[Any, Any]]
#: What a kernel does most: products in float32 or float64, additions in float32.
Work = Literal["float32", "float64", "bytes"]

N, P, CLASSES, REPEATS, FOLDS = 111, 11_340, 3, 10, 5
GRAM_SECONDS = 1.25e-3  # of 111 x 5,670 in float32, where the bounds were set


@dataclass(frozen=True)
class Shape:
    """What a unit of work depends on."""

    n: int
    k: float
    splits: int
    repeats: int
    classes: int


def _gram(s: Shape) -> float:
    return s.n**2 * s.k / 2


def _gram_a_split(s: Shape) -> float:
    return s.splits * s.n**2 * s.k / 2


def _sums_of_four(s: Shape) -> float:
    """Bytes of float32 terms, read once for four features."""
    return 4 * s.repeats * s.n * s.classes * s.k / 4


@dataclass(frozen=True)
class Model:
    """A row: what it is, how many times faster it is to be, and its work."""

    name: str
    estimator: Any
    ratio: float | None = None
    work: Work = "float64"
    units: Callable[[Shape], float] = _gram
    is_counts: bool = False
    neighbors_seconds: float | None = None  # bound for all neighbors of a mask
    swaps: bool = False  # whether it has a row of swaps
    splits: int | None = None  # that scikit-learn runs of all, where a fit takes seconds


def scaled(model: Any, scaler: Any = None) -> Any:
    return make_pipeline(StandardScaler() if scaler is None else scaler, model)


MODELS = (
    Model("GaussianNB", GaussianNB(), 1000, "bytes", _sums_of_four, neighbors_seconds=0.01,
          swaps=True),
    Model("BernoulliNB", BernoulliNB(binarize=0.5), None, "bytes", _sums_of_four),
    Model("MultinomialNB", MultinomialNB(), None, "bytes", _sums_of_four, is_counts=True),
    Model("ComplementNB", ComplementNB(), None, "bytes", _sums_of_four, is_counts=True),
    Model("RidgeClassifier", RidgeClassifier(), 300, neighbors_seconds=0.05, swaps=True),
    Model(
        "RidgeClassifier balanced", RidgeClassifier(class_weight="balanced"), neighbors_seconds=0.15
    ),
    Model("Ridge", Ridge()),
    Model("LinearRegression", LinearRegression()),
    Model("KernelRidge", KernelRidge()),
    Model(
        "LDA lsqr",
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
        neighbors_seconds=0.2,
        splits=1,
    ),
    Model("NearestCentroid", NearestCentroid(), 500, "float32"),
    Model("NearestCentroid shrunken", NearestCentroid(shrink_threshold=0.2), None, "float32"),
    Model("1-NN", KNeighborsClassifier(1), None, "float32", swaps=True),
    Model("5-NN distance", KNeighborsClassifier(5, weights="distance"), None, "float32",
          swaps=True),
    Model("3-NN numbers", KNeighborsRegressor(3), None, "float32"),
    Model("5-NN numbers distance", KNeighborsRegressor(5, weights="distance"), None, "float32"),
    Model("SVC linear", SVC(kernel="linear"), 10),
    Model("SVC rbf", SVC()),
    Model("LinearSVC", LinearSVC(random_state=0), 20),
    Model(
        "scaler + 1-NN",
        scaled(KNeighborsClassifier(1)),
        30,
        "float32",
        _gram_a_split,
        neighbors_seconds=0.1,
        swaps=True,
    ),
    Model(
        "scaler + 5-NN distance",
        scaled(KNeighborsClassifier(5, weights="distance")),
        None,
        "float32",
        _gram_a_split,
    ),
    Model("scaler + NearestCentroid", scaled(NearestCentroid()), None, "float32"),
    Model("scaler + BernoulliNB", scaled(BernoulliNB()), None, "bytes", _sums_of_four),
    Model("min-max + MultinomialNB", scaled(MultinomialNB(), MinMaxScaler()), None, "bytes",
          _sums_of_four),
    Model(
        "scaler + RidgeClassifier",
        scaled(RidgeClassifier()),
        30,
        "float64",
        _gram_a_split,
        neighbors_seconds=0.15,
    ),
    Model("scaler + SVC linear", scaled(SVC(kernel="linear")), None, "float64", _gram_a_split),
    Model("scaler + LinearSVC", scaled(LinearSVC(random_state=0)), None, "float64", _gram_a_split),
    Model("robust + RidgeClassifier", scaled(RidgeClassifier(), RobustScaler()), None, "float64",
          _gram_a_split),
)  # fmt: skip

# One of these runs in scikit-learn-intelex's own environment, which has no bitsieve.
INTELEX = """
import sys, json, time, pickle, warnings
warnings.filterwarnings("ignore")
import sklearnex
sklearnex.patch_sklearn(verbose=False)
import numpy as np
from threadpoolctl import threadpool_limits
from daal4py import daalinit
daalinit(1)
import sklearn.svm, sklearn.linear_model, sklearn.neighbors, sklearn.naive_bayes, sklearn.pipeline
import sklearn.preprocessing, sklearn.kernel_ridge, sklearn.discriminant_analysis
from sklearn.linear_model import *
from sklearn.svm import *
from sklearn.neighbors import *
from sklearn.naive_bayes import *
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import *
from sklearn.kernel_ridge import *
from sklearn.discriminant_analysis import *
from sklearn.model_selection import cross_val_score
given = np.load(sys.argv[1], allow_pickle=True)
X, y, splits, masks = given["X"], given["y"], list(given["splits"]), given["masks"]
estimator = eval(sys.argv[2])
with threadpool_limits(1):
    cross_val_score(estimator, X[:, masks[0]], y, cv=splits[:1])
    start = time.process_time()
    for mask in masks:
        cross_val_score(estimator, X[:, mask], y, cv=splits)
    print(json.dumps((time.process_time() - start) / len(masks)))
"""


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def limits() -> dict[Work, float]:
    """Units a second: multiply-adds of products, bytes of a copy."""
    out: dict[Work, float] = {}
    precisions: tuple[Work, ...] = ("float32", "float64")
    for name in precisions:
        A = np.random.default_rng(0).normal(size=(1200, 1200)).astype(name)
        out[name] = 1200**3 / min(seconds(partial(np.matmul, A, A)) for _ in range(5))
    from_, to = np.ones(1 << 25), np.empty(1 << 25)
    out["bytes"] = 2 * from_.nbytes / min(seconds(lambda: np.copyto(to, from_)) for _ in range(5))
    return out


def gram_seconds() -> float:
    """The product that bounds in seconds are scaled by."""
    A = np.random.default_rng(0).normal(size=(N, P // 2)).astype(np.float32)
    return min(seconds(lambda: A @ A.T) for _ in range(50))


def table(n: int, p: int, is_counts: bool) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Values, classes and numbers."""
    rng = np.random.default_rng([n, p])
    codes = rng.permutation(np.arange(n) % CLASSES)
    rates = np.where(np.arange(p) % 50 == 0, 1 + codes[:, None], 1.0)
    X = rng.poisson(rates).astype(float) if is_counts else rng.normal(size=(n, p)) + 0.5 * rates
    return X, codes, codes + rng.normal(size=n)


def splits_of(estimator: Any, codes: NDArray[np.int64], repeats: int) -> Splits:
    if is_regressor(estimator):
        return [
            pair
            for r in range(repeats)
            for pair in KFold(FOLDS, shuffle=True, random_state=r).split(codes)
        ]
    cv = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
    return list(cv.split(codes, codes))


def theirs(estimator: Any, X: Floats, y: Any, masks: Any, cv: Splits) -> tuple[float, Floats]:
    """scikit-learn's seconds a mask, and its scores."""
    scores: list[Floats] = []
    took = seconds(
        lambda: scores.extend(cross_val_score(estimator, X[:, m], y, cv=cv) for m in masks)
    )
    return took / len(masks), np.array(scores)


def intelex(python: str, estimator: Any, X: Floats, y: Any, masks: Any, cv: Splits) -> str:
    """Milliseconds a mask of scikit-learn-intelex, as text."""
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"intelex-{os.getpid()}.npz"
    pairs = np.empty((len(cv), 2), dtype=object)
    for s, (train, test) in enumerate(cv):
        pairs[s, 0], pairs[s, 1] = train, test
    np.savez(path, X=X, y=y, masks=masks, splits=pairs)
    try:
        command = [python, "-c", INTELEX, str(path), repr(estimator)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        path.unlink()
    if done.returncode:
        return (done.stderr.splitlines() or ["failed"])[-1][:20]
    return f"{1e3 * json.loads(done.stdout.splitlines()[-1]):.1f}"


def half_masks(models: Sequence[Model], arguments: argparse.Namespace) -> None:
    """The first table."""
    folds = f"{REPEATS} x {FOLDS}-fold"
    print(f"\n{arguments.masks} half masks of {N} x {P:,}, {CLASSES} classes, {folds}")
    rates, shape = limits(), Shape(N, P / 2, REPEATS * FOLDS, REPEATS, CLASSES)
    print("limits: " + ", ".join(f"{rate / 1e9:.1f} G {work}/s" for work, rate in rates.items()))
    print(f"{'milliseconds a mask':25s} {'kernel':15s}    ours  scikit-learn   ratio", end="")
    print("  wanted  intelex           limit  apart")
    for model in models:
        X, codes, numbers = table(N, P, model.is_counts)
        y = numbers if is_regressor(model.estimator) else codes
        cv = splits_of(model.estimator, codes, REPEATS)
        fitness = compile(model.estimator, X, y, cv=cv, n_jobs=1)
        rng = np.random.default_rng(7)
        # Without a kernel, and with scikit-learn's solvers, a mask does not gain by its company.
        most = {None: arguments.sample, "factor": 16}.get(fitness.kernel, arguments.masks)
        masks = rng.random((min(arguments.masks, most), P)) < 0.5
        fitness.evaluate(rng.random((min(len(masks), 8), P)) < 0.5)
        start = time.process_time()
        found = fitness.evaluate_splits(Masks.from_bool(masks))
        ours = (time.process_time() - start) / len(masks)
        sample = masks[: arguments.sample]
        some = cv[: model.splits]
        rival, scores = theirs(model.estimator, X, y, sample, some)
        rival *= len(cv) / len(some)
        apart = np.abs(found[: len(sample), : len(some)] - scores).max()
        other = ""
        if arguments.intelex and model.splits is None:
            other = intelex(arguments.intelex, model.estimator, X, y, sample[:1], cv)
        wanted = f"{model.ratio:.0f}" if model.ratio else ""
        share = f"{100 * model.units(shape) / ours / rates[model.work]:.1f} % {model.work}"
        print(
            f"{model.name:25s} {fitness.kernel or 'falls back':15s} {1e3 * ours:7.2f} "
            f"{1e3 * rival:13.1f} {rival / ours:7.1f} {wanted:>7s} {other:>8s} {share:>15s} "
            f"{apart:6.0e}",
            flush=True,
        )


def chowdary(rows: str) -> tuple[Floats, NDArray[np.int64], Floats] | None:
    """Values, classes and numbers, or None and a word about which rows go without."""
    folder = os.environ.get("BITSIEVE_TEST_DATA", "")
    path = Path(folder) / "chowdary.npz"
    if not folder or not path.exists():
        print(f"\n{rows} are left out: BITSIEVE_TEST_DATA names no folder with chowdary.npz")
        return None
    with np.load(path) as data:
        X, codes = data["X"].astype(float), np.unique(data["y"], return_inverse=True)[1]
    return X, codes, codes + np.random.default_rng(0).normal(size=len(codes))


def swaps(models: Sequence[Model], arguments: argparse.Namespace) -> None:
    """The third table."""
    data = chowdary("swaps")
    if data is None:
        return
    X, codes, _ = data
    n, p = X.shape
    base = np.isin(np.arange(p), np.random.default_rng(1).choice(p, 20, replace=False))
    batch, other = Masks.swaps(base), Masks.neighbors(np.roll(base, 1), p)
    print(f"\nall {len(batch):,} swaps of 20 of {p:,} features of chowdary, {n} samples", end="")
    print(f", {FOLDS}-fold")
    print(f"{'seconds':25s} {'kernel':15s}    ours  one by one  scikit-learn     ratio")
    sample = np.random.default_rng(2).choice(len(batch), 256, replace=False)
    for model in models:
        if not model.swaps:
            continue
        cv = splits_of(model.estimator, codes, 1)
        fitness = compile(model.estimator, X, codes, cv=cv, n_jobs=1)
        fitness.evaluate(other)
        ours = min(seconds(partial(fitness.evaluate, batch)) for _ in range(2))
        some = batch[sample].to_bool()
        alone = min(seconds(partial(fitness.evaluate, some)) for _ in range(3))
        alone *= len(batch) / len(some)
        rival = theirs(model.estimator, X, codes, some[: arguments.sample], cv)[0] * len(batch)
        print(
            f"{model.name:25s} {fitness.kernel:15s} {ours:7.2f} {alone:11.1f} {rival:13,.0f} "
            f"{rival / ours:9,.0f}",
            flush=True,
        )


def flips(models: Sequence[Model], arguments: argparse.Namespace) -> None:
    """The second table."""
    data = chowdary("flips")
    if data is None:
        return
    X, codes, numbers = data
    gram = gram_seconds()
    scale = gram / GRAM_SECONDS
    n, p = X.shape
    print(f"\nall one-flip neighbors of a 30-feature mask of chowdary, {n} x {p:,}, {FOLDS}-fold")
    print(f"a float32 Gram matrix of {N} x {P // 2:,} takes {1e3 * gram:.2f} ms here", end="")
    print(f": bounds times {scale:.2f}")
    print(f"{'seconds':25s} {'kernel':15s}    ours   bound  scaled  scikit-learn     ratio")
    base = np.isin(np.arange(p), np.random.default_rng(1).choice(p, 30, replace=False))
    near, other = Masks.neighbors(base, p), Masks.neighbors(np.roll(base, 1), p)
    for model in models:
        if model.is_counts:
            continue
        y = numbers if is_regressor(model.estimator) else codes
        cv = splits_of(model.estimator, codes, 1)
        fitness = compile(model.estimator, X, y, cv=cv, n_jobs=1)
        if fitness.kernel in (None, "factor"):
            print(f"{model.name:25s} {fitness.kernel or 'falls back':15s}       -")
            continue
        fitness.evaluate(other)
        ours = min(seconds(partial(fitness.evaluate, near)) for _ in range(3))
        rival = theirs(model.estimator, X, y, near[np.arange(3)].to_bool(), cv)[0] * p
        bound = model.neighbors_seconds
        bounds = f"{bound:7.2f} {bound * scale:7.3f}" if bound else " " * 15
        print(
            f"{model.name:25s} {fitness.kernel:15s} {ours:7.3f} {bounds} {rival:13.0f} "
            f"{rival / ours:9,.0f}",
            flush=True,
        )


SHAPES = [(n, p) for n in (100, 1000) for p in (20, 1000, 20_000)] + [(10_000, 20), (10_000, 1000)]
LARGE = 1_000_000  # numbers of a table


def shapes(models: Sequence[Model], arguments: argparse.Namespace) -> None:
    """The fourth table."""
    print(f"\nscikit-learn's time of a half mask, {FOLDS}-fold, by that of the kernel", end="")
    print("; in batches of 8 masks, of large tables 2")
    print(" " * 25 + "".join(f"{f'{n} x {p:,}':>15s}" for n, p in SHAPES))
    for model in models:
        cells = []
        for n, p in SHAPES:
            X, codes, numbers = table(n, p, model.is_counts)
            y = numbers if is_regressor(model.estimator) else codes
            cv = splits_of(model.estimator, codes, 1)
            fitness = compile(model.estimator, X, y, cv=cv, n_jobs=1)
            if fitness.kernel is None:
                cells.append("")
                continue
            rng = np.random.default_rng(7)
            is_large = n * p > LARGE
            rounds = 1 if is_large else 3
            ours = []
            for _ in range(4):  # the first ones make what is made once
                masks = rng.random((2 if is_large else 8, p)) < 0.5
                masks[:, 0] = True
                ours.append(seconds(partial(fitness.evaluate, masks)) / len(masks))
            some = cv[: model.splits]
            rival = min(theirs(model.estimator, X, y, masks[:1], some)[0] for _ in range(rounds))
            ratio = rival * len(cv) / len(some) / min(ours[1:])
            cells.append(f"{ratio:.1f}{'' if ratio >= 1 else ' SLOWER'}")
        print(f"{model.name:25s}" + "".join(f"{cell:>15s}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("masks", "flips", "swaps", "shapes"))
    parser.add_argument("--models", default="", help="parts of names, by commas")
    parser.add_argument("--masks", type=int, default=256)
    parser.add_argument("--sample", type=int, default=2, help="masks that scikit-learn scores")
    parser.add_argument("--intelex", default="", help="a Python that has scikit-learn-intelex")
    arguments = parser.parse_args()
    parts = arguments.models.lower().split(",")
    models = [model for model in MODELS if any(part in model.name.lower() for part in parts)]
    warnings.simplefilter("ignore")
    print(f"{processor()}, instruction set {bitsieve.get_isa()}, one thread; {' '.join(sys.argv)}")
    with threadpool_limits(1):
        parts_of_all = (
            ("masks", half_masks),
            ("flips", flips),
            ("swaps", swaps),
            ("shapes", shapes),
        )
        for name, part in parts_of_all:
            if arguments.only in (None, name):
                part(models, arguments)


if __name__ == "__main__":
    main()
