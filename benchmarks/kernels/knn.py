"""The compiled k-nearest-neighbor fitnesses beside scikit-learn and numpy, in one run.

    python benchmarks/kernels/knn.py [--rounds 20] [--only shapes]

Real sets are read from the folder that BITSIEVE_TEST_DATA names. One thread each unless said;
every timed call gets masks that were not used before. Times are medians; ratios are of medians.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve import Masks
from bitsieve.fitness import compile
from bitsieve.search import BinarySPSASearch, run


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    folder = os.environ.get("BITSIEVE_TEST_DATA")
    path = Path(folder or "") / f"{name}.npz"
    if not folder or not path.exists():
        print(f"  ({name} skipped: BITSIEVE_TEST_DATA does not name a folder that holds it)")
        return None
    with np.load(path) as data:
        X = data["X"].astype(np.float64)
        y = np.unique(data["y"], return_inverse=True)[1]
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1), y


def half_masks(rounds: int) -> None:
    """10 x 5-fold 1-NN of random half masks, n = 111, p = 11,340."""
    rng = np.random.default_rng(0)
    n, p = 111, 11_340
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, p))
    X[:, :200] += 0.5 * y[:, None]
    estimator = KNeighborsClassifier(1)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    fitness = compile(estimator, X, y, cv=cv, n_jobs=1)
    single = X.astype(np.float32)
    ours, rival, product = [], [], []
    with threadpool_limits(1):
        for round_ in range(rounds):
            mask = rng.random(p) < 0.5
            masks = Masks.from_bool(mask)
            ours.append(seconds(lambda masks=masks: fitness.evaluate(masks)))
            mask = rng.random(p) < 0.5

            def gram(mask: NDArray[np.bool_] = mask) -> object:
                columns = single[:, mask]
                return columns @ columns.T

            product.append(seconds(gram))
            if round_ % 4 == 0:
                mask = rng.random(p) < 0.5
                score = []

                def validate(mask: NDArray[np.bool_] = mask, score: list[float] = score) -> None:
                    score.append(cross_val_score(estimator, X[:, mask], y, cv=cv).mean())

                rival.append(seconds(validate))
                assert np.isclose(fitness.evaluate(mask[None])[0], score[0], atol=1e-12)
    a, b, c = (float(np.median(times)) * 1e3 for times in (ours, rival, product))
    # The triangle that must be computed, at two 16-lane multiply-adds a cycle.
    adds = n * (n + 1) / 2 * p / 2
    print(f"half masks, n = {n}, p = {p}, 10 x 5-fold 1-NN, one thread each")
    print(f"  bitsieve {a:.3f} ms   cross_val_score {b:.0f} ms   ratio {b / a:.0f}")
    print(f"  numpy float32 A = X[:, m]; A @ A.T alone {c:.3f} ms   ratio {c / a:.2f}")
    print(f"  {adds / a / 1e6:.0f} G multiply-adds/s of the triangle")


def kinds(rounds: int) -> None:
    """Batches of random half masks of each kind of model, n = 111, p = 11,340, 10 x 5-fold."""
    rng = np.random.default_rng(0)
    n, p, size = 111, 11_340, 2 * rounds
    X, codes = rng.normal(size=(n, p)), rng.integers(0, 3, n)
    numbers = X[:, 0] + rng.normal(size=n)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    splits = list(cv.split(X, codes))
    one = KNeighborsClassifier(1)
    models = {
        "1-NN": one,
        "5-NN": KNeighborsClassifier(5),
        "5-NN by distance": KNeighborsClassifier(5, weights="distance"),
        "5-NN regression": KNeighborsRegressor(5),
        "5-NN regression by distance": KNeighborsRegressor(5, weights="distance"),
        "standard, 1-NN": make_pipeline(StandardScaler(), one),
        "min-max, 1-NN": make_pipeline(MinMaxScaler(), one),
        "robust, 1-NN": make_pipeline(RobustScaler(), one),
        "standard, 5-NN by distance": make_pipeline(
            StandardScaler(), KNeighborsClassifier(5, weights="distance")
        ),
    }
    print(f"batches of {size} half masks, n = {n}, p = {p}, 10 x 5-fold, one thread each")
    with threadpool_limits(1):
        for name, model in models.items():
            y = numbers if "regression" in name else codes
            scoring = "r2" if "regression" in name else "accuracy"
            fitness = compile(model, X, y, scoring=scoring, cv=splits, n_jobs=1)
            fresh = compile(
                model, X, y, scoring=scoring, cv=5, n_repeats=10, resample=True, n_jobs=1
            )
            fitness.evaluate(rng.random((1, p)) < 0.5)
            ours, anew, rival = [], [], []
            for round_ in range(3):
                masks = rng.random((size, p)) < 0.5
                ours.append(seconds(lambda f=fitness, m=masks: f.evaluate(m)) / size)
                again = rng.random((size, p)) < 0.5
                anew.append(
                    seconds(lambda f=fresh, m=again, s=round_: f.evaluate(m, seeds=s)) / size
                )
                if round_ == 0:
                    columns = X[:, masks[0]]
                    rival.append(
                        seconds(
                            lambda c=columns, e=model, t=y, s=scoring: cross_val_score(
                                e, c, t, cv=splits, scoring=s
                            )
                        )
                    )
            a, b, c = min(ours), min(anew), min(rival)
            print(
                f"  {name}: {a * 1e3:.2f} ms a mask, fresh folds {b * 1e3:.2f} ms   "
                f"cross_val_score {c * 1e3:.0f} ms   ratio {c / a:.0f}",
                flush=True,
            )


def shapes() -> None:
    """Where the kernel would lose to scikit-learn, if anywhere: 5-fold, one thread each."""
    print("ratio to cross_val_score, 5-fold, random half masks, one thread each (ms a mask)")
    rng = np.random.default_rng(5)
    for n, p in [
        *((n, p) for n in (100, 1000) for p in (20, 1000, 20_000)),
        (10_000, 20),
        (10_000, 1000),
    ]:
        X, codes = rng.normal(size=(n, p)), rng.integers(0, 3, n)
        numbers = X[:, 0] + rng.normal(size=n)
        cells = []
        for name, model in {
            "1-NN": KNeighborsClassifier(1),
            "5-NN by distance": KNeighborsClassifier(5, weights="distance"),
            "5-NN regression": KNeighborsRegressor(5),
            "standard, 1-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
            "standard, 5-NN regression": make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
        }.items():
            y = numbers if "regression" in name else codes
            scoring = "r2" if "regression" in name else "accuracy"
            fitness = compile(model, X, y, scoring=scoring, cv=5, n_jobs=1)
            few = 1 if n > 1000 else 4
            ours, rival = [], []
            with threadpool_limits(1):
                for _ in range(2):
                    masks = rng.random((few, p)) < 0.5
                    masks[:, 0] = True
                    ours.append(seconds(lambda f=fitness, m=masks: f.evaluate(m)) / few)
                    columns = X[:, masks[0]]
                    rival.append(
                        seconds(
                            lambda c=columns, e=model, t=y, s=scoring: cross_val_score(
                                e, c, t, cv=5, scoring=s
                            )
                        )
                    )
            a, b = min(ours), min(rival)
            which = "" if fitness.kernel else ", no kernel"
            cells.append(f"{name} {b / a:.1f} ({a * 1e3:.2f}{which})")
        print(f"  {n:,} x {p:,}: {'   '.join(cells)}", flush=True)


def small_batches(rounds: int) -> None:
    """2 x 5-fold of 64 random half masks at 60 x 200, where what surrounds the kernel counts."""
    rng = np.random.default_rng(0)
    n, p, size = 60, 200, 64
    X, y = rng.normal(size=(n, p)), rng.integers(0, 4, n)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    print(f"batches of {size} half masks, n = {n}, p = {p}, 2 x 5-fold, one thread each")
    with threadpool_limits(1):
        for k in (1, 5):
            estimator = KNeighborsClassifier(k)
            fitness = compile(estimator, X, y, cv=cv, n_jobs=1)
            ours, rival = [], []
            for round_ in range(20 * rounds):
                masks = Masks.from_bool(rng.random((size, p)) < 0.5)
                ours.append(seconds(lambda f=fitness, m=masks: f.evaluate(m)) / size)
                if round_ % 80 == 0:
                    columns = X[:, rng.random(p) < 0.5]
                    rival.append(
                        seconds(lambda c=columns, e=estimator: cross_val_score(e, c, y, cv=cv))
                    )
            print(
                f"  k = {k}: bitsieve {np.median(ours) * 1e6:.1f} us a mask (least "
                f"{min(ours) * 1e6:.1f})   cross_val_score {np.median(rival) * 1e3:.1f} ms   "
                f"ratio {np.median(rival) / np.median(ours):.0f}"
            )


def one_flips(rounds: int) -> None:
    """All p one-flip neighbors of a 30-feature mask on chowdary, 5-fold."""
    data = load("chowdary")
    if data is None:
        return
    X, y = data
    rng = np.random.default_rng(1)
    p = X.shape[1]
    near = {f"{k}-NN": KNeighborsClassifier(k) for k in (1, 3, 5)}
    scaled = {f"standard, {name}": make_pipeline(StandardScaler(), m) for name, m in near.items()}
    for name, model in (near | scaled).items():
        fitness = compile(model, X, y, cv=5, n_jobs=1)
        times = []
        for _ in range(rounds):
            base = np.zeros(p, dtype=bool)
            base[rng.choice(p, 30, replace=False)] = True
            masks = Masks.neighbors(base, p)
            times.append(seconds(lambda masks=masks, fitness=fitness: fitness.evaluate(masks)))
        print(
            f"all {p} one-flip neighbors of a 30-feature mask, {name}: "
            f"{np.median(times) * 1e3:.1f} ms (least {min(times) * 1e3:.1f})"
        )
        few = base ^ np.eye(p, dtype=bool)[:100]
        each = seconds(lambda f=fitness, m=few: f.evaluate(m)) / 100
        print(f"  mask by mask {each * p * 1e3:.0f} ms")


def many_samples() -> None:
    """All one-flip neighbors of a mask where no matrix of all pairs is kept."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 2000))
    fitness = compile(KNeighborsClassifier(1), X, (X[:, 0] > 0).astype(int), cv=5, n_jobs=1)
    base, few = rng.random((2, 2000)) < 0.5, 8
    took = seconds(lambda: fitness.evaluate(Masks.neighbors(base[0], 2000)))
    single = base[1] ^ np.eye(2000, dtype=bool)[:few]
    each = seconds(lambda: fitness.evaluate(single)) / few
    print(
        f"all 2000 one-flip neighbors of a 3,000 x 2,000 mask, 1 thread: {took:.2f} s, "
        f"{each * 2000 / took:.0f} times sooner than mask by mask"
    )


def plain_numpy_iteration(
    X: NDArray[np.float32], y: NDArray[np.int64], masks: NDArray[np.bool_], seed: int
) -> None:
    """One iteration of BSPSA as one would write it in numpy: three masks, 10 x 5-fold 1-NN."""
    n = len(y)
    rng = np.random.default_rng(seed)
    folds = np.argsort(rng.random((10, n)), axis=1) % 5
    for mask in masks:
        columns = X[:, mask]
        squares = (columns * columns).sum(axis=1)
        distances = squares[:, None] + squares[None] - 2 * columns @ columns.T
        for fold in folds:
            hidden = np.where(fold[:, None] == fold[None], np.inf, distances)
            np.mean(y[hidden.argmin(axis=1)] == y)


def paper_runs() -> None:
    """A whole run as in Aksakalli and Malekipirbazari (2016) on large sets, 2 threads.

    3,000 iterations, 9,000 evaluations.
    """
    for name in ("tox_171", "chowdary"):
        data = load(name)
        if data is None:
            continue
        X, y = data
        rng = np.random.default_rng(2)
        single = X.astype(np.float32)
        masks = rng.random((3, X.shape[1])) < 0.5
        plain_numpy_iteration(single, y, masks, 0)
        rounds = 30
        begin = time.perf_counter()
        for k in range(rounds):
            plain_numpy_iteration(single, y, masks, k)
        plain = time.perf_counter() - begin
        for gain in ("auto", "paper"):
            fitness = compile(
                KNeighborsClassifier(1), X, y, cv=5, n_repeats=10, resample=True, n_jobs=2
            )
            search = BinarySPSASearch(X.shape[1], preset="large", gain=gain)
            start = time.perf_counter()
            result = run(search, fitness, max_iter=3000, random_state=0, progress=False)
            took = time.perf_counter() - start
            print(
                f"{name} ({gain} gain): {result.n_evaluations} evaluations in {took:.2f} s on 2 "
                f"threads; plain numpy about {plain / rounds * 3000:.0f} s; observed error "
                f"{100 * (1 - result.best_observed_score):.2f} %, re-measured "
                f"{100 * (1 - result.best_score):.2f} %"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", help="one of the parts, by the name of its function")
    options = parser.parse_args()
    rounds = options.rounds
    print(f"bitsieve {bitsieve.__version__}, {bitsieve.get_isa()}, {processor()}")
    parts: dict[str, Callable[[], object]] = {
        "half_masks": lambda: half_masks(rounds),
        "kinds": lambda: kinds(rounds),
        "shapes": shapes,
        "small_batches": lambda: small_batches(rounds),
        "one_flips": lambda: one_flips(rounds),
        "many_samples": many_samples,
        "paper_runs": paper_runs,
    }
    for name, part in parts.items():
        if options.only in (None, name):
            part()


if __name__ == "__main__":
    main()
