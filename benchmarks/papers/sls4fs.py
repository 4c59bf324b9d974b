"""Stochastic local search against Mengshoel, Yu, Riege and Flogard (2021), Tables 1 and 2.

    export BITSIEVE_TEST_DATA=/folder/of/npz
    python benchmarks/papers/sls4fs.py                          # 1 s a search, 2 seeds: minutes
    python benchmarks/papers/sls4fs.py --time 100 --seeds 5     # the paper's time: hours

Their protocol: one split, two thirds to train on, accuracy on the other third, the best subset that
was measured until the time is up. That accuracy is chosen on the third that it is measured on: the
honest one, of the best row of each set, is on a quarter of the samples that its search never saw.

The clock starts before the filter. A measurement that is under way when the time is up is lost;
those of a neighborhood before it count. RFE has no best so far: it is run to its end, on
standardised features, two steps of a quarter of them.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from paper002 import PUBLISHED, SETS, estimator_of, imputed, load
from scipy.stats import rankdata
from sklearn.feature_selection import RFE, chi2
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler, minmax_scale
from sklearn.svm import LinearSVC

import bitsieve
from bitsieve import fitness
from bitsieve.masks import Masks
from bitsieve.search import SequentialSearch, StochasticLocalMaskSearch, best_of_scores

RESULTS = Path(__file__).resolve().parents[1] / "results"
Indices = NDArray[np.int64]

LOCAL: dict[str, dict[str, Any]] = {
    "AdaptiveNoise": {"preset": "adaptivenoise"},
    "AdaptiveSLS": {"preset": "adaptivesls"},
    "SoftSLS": {"preset": "softsls"},
    "SLS4FS chi2": {"start": "chi2"},
    "SLS4FS P_r = 0.1": {"start": "chi2", "p_restart": 0.1},
    "SLS4FS zeros": {"start": "zeros"},
    "SLS4FS adaptive": {
        "start": "chi2", "p_noise": 0.0, "adapt_restart": 0.32, "adapt_noise": 0.32
    },
}  # fmt: skip


class TimeIsUp(Exception):
    """Raised between two measurements."""


class Clock:
    """A fitness until the time is up, and the best mask with features that it measured."""

    def __init__(self, inner: Any, seconds: float) -> None:
        self.inner, self.seconds = inner, seconds
        self.started = time.perf_counter()
        self.n_evaluations = 0
        self.best, self.mask = -np.inf, None
        self.trace: list[tuple[float, float]] = []  # when it got better, and how good it was
        self._chunk = 1

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.started

    def evaluate(self, masks: Masks) -> NDArray[np.float64]:
        """Scores, measured by pieces that take a small part of the time."""
        parts, at = [], 0
        while at < len(masks):
            is_whole = at == 0 and self._chunk >= len(masks)
            piece = masks if is_whole else masks[at : at + self._chunk]
            began = self.elapsed
            parts.append(self.inner.evaluate(piece))
            if self.elapsed > self.seconds:
                raise TimeIsUp
            self._look(piece, parts[-1])
            at += len(piece)
            took = self.elapsed - began
            if took < 0.02 * self.seconds:
                self._chunk *= 2
            elif took > 0.05 * self.seconds:
                self._chunk = max(1, self._chunk // 2)
        return np.concatenate(parts)

    def _look(self, masks: Masks, scores: NDArray[np.float64]) -> None:
        self.n_evaluations += len(masks)
        real = np.where(masks.counts() > 0, scores, -np.inf)
        row = int(np.argmax(real))
        if real[row] > self.best:
            self.best, self.mask = float(real[row]), masks[row].to_bool()[0]
            self.trace.append((self.elapsed, self.best))


def make_search(row: str, X: NDArray[np.float64], y: Indices, train: Indices) -> Any:
    """Return the search of a row of Table 2; a filter sees the training part alone."""
    n = X.shape[1]
    if row in ("forward", "backward"):
        return SequentialSearch(n, size=n if row == "forward" else 1, direction=row)  # type: ignore[arg-type]
    options = dict(LOCAL[row])
    if options.get("start") == "chi2":
        scores = np.nan_to_num(chi2(minmax_scale(X[train]), y[train])[0])
        options["start"] = best_of_scores(scores)
    return StochasticLocalMaskSearch(n, **options)


def search_of(
    row: str, name: str, X: NDArray[np.float64], y: Indices, seed: int, seconds: float
) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """Run a row of Table 2 on one split; what it found, and its features."""
    split = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=seed)
    train, test = next(split.split(X, y))
    X = imputed(X, train)
    estimator = estimator_of(name)
    scored = fitness.compile(estimator, X, y, cv=[(train, test)], scoring="accuracy", n_jobs=1)
    full = float(scored.evaluate(Masks.full(X.shape[1]))[0])
    clock = Clock(scored, seconds)
    if row == "RFE":
        ranker = RFE(LinearSVC(dual=False, tol=1e-2), n_features_to_select=0.5, step=0.25)
        ranker.fit(StandardScaler().fit_transform(X[train]), y[train])
        clock.seconds = np.inf
        clock.evaluate(Masks.from_bool(ranker.support_))
    else:
        search = make_search(row, X, y, train)
        if hasattr(search, "set_seed"):
            search.set_seed(seed)
        try:
            while not search.stop():
                masks = search.ask()
                search.tell(masks, clock.evaluate(masks))
        except TimeIsUp:
            pass
    mask = clock.mask
    if mask is None:  # not a measurement in time: all features
        clock.best, mask = full, np.ones(X.shape[1], dtype=bool)
    marks = [[t, s] for t, s in clock.trace]
    record = {
        "accuracy": clock.best,
        "full": full,
        "size": int(mask.sum()),
        "evaluations": clock.n_evaluations,
        "took": clock.elapsed,
        "trace": marks,
        "kernel": scored.kernel,
    }
    return record, mask


def measure(row: str, name: str, seed: int, seconds: float, honest: bool) -> dict[str, Any]:
    """Return the record of a run; an honest one has a quarter of the samples set apart."""
    X, y = load(name)
    if not honest:
        return search_of(row, name, X, y, seed, seconds)[0]
    outer = StratifiedShuffleSplit(1, test_size=1 / 4, random_state=10_000 + seed)
    train, test = next(outer.split(X, y))
    record, mask = search_of(row, name, X[train], y[train], seed, seconds)
    X = imputed(X, train)
    for key, chosen in (("honest", mask), ("honest_full", np.ones_like(mask))):
        fitted = estimator_of(name).fit(X[train][:, chosen], y[train])
        record[key] = float(fitted.score(X[test][:, chosen], y[test]))
    return record


def at_time(record: dict[str, Any], seconds: float) -> float:
    """Return the best accuracy so far; that of all features before there is one."""
    before = [score for when, score in record["trace"] if when <= seconds]
    return before[-1] if before else float(record["full"])


def mean_and_sd(values: Any) -> str:
    return f"{np.mean(values):.2f} +- {np.std(values):.2f}"


def table(found: dict[tuple[str, str, int], dict[str, Any]], options: Any) -> str:
    """One line a row of Table 2."""
    runs = [(name, seed) for name in options.sets for seed in range(options.seeds)]
    scores = np.array([[found[row, *run]["accuracy"] for row in PUBLISHED] for run in runs])
    ranks = np.array([rankdata(-line) for line in scores])
    of_means = rankdata(-scores.mean(axis=0), method="min").astype(int)
    shares = (0.1, 0.3, 1.0)
    lines = [
        f"{'':<18}{'paper':>7}{'R':>4}{'mean':>8}{'R':>4}{'mean rank':>14}{'size':>8}"
        f"{'evaluations':>13}" + "".join(f"{f'at {s:.0%}':>9}" for s in shares)
    ]
    theirs = rankdata(-np.array(list(PUBLISHED.values())), method="min").astype(int)
    for i, row in enumerate(PUBLISHED):
        records = [found[row, *run] for run in runs]
        size = np.mean(
            [r["size"] / load(name)[0].shape[1] for r, (name, _) in zip(records, runs, strict=True)]
        )
        lines.append(
            f"{row:<18}{PUBLISHED[row]:>7.3f}{theirs[i]:>4}{scores[:, i].mean():>8.3f}"
            f"{of_means[i]:>4}{mean_and_sd(ranks[:, i]):>14}{size:>8.0%}"
            f"{np.mean([r['evaluations'] for r in records]):>13,.0f}"
            + "".join(
                f"{np.mean([at_time(r, s * options.time) for r in records]):>9.3f}" for s in shares
            )
        )
    return "\n".join(lines)


def best_rows(
    found: dict[tuple[str, str, int], dict[str, Any]],
    options: Any,
    get: Callable[..., dict[str, Any]],
) -> str:
    """The best row of each set, and what its subsets are worth on samples that are new."""
    lines = [
        f"{'':<18}{'best row':<18}{'accuracy':>15}{'all features':>14}{'features':>10}"
        f"{'honest':>15}{'its full':>10}"
    ]
    for name in options.sets:

        def mean(row: str, key: str, name: str = name) -> NDArray[np.float64]:
            return np.array([found[row, name, s][key] for s in range(options.seeds)])

        row = max(PUBLISHED, key=lambda row: mean(row, "accuracy").mean())
        honest = [get(row, name, seed, True) for seed in range(options.seeds)]
        lines.append(
            f"{name:<18}{row:<18}{_spread(mean(row, 'accuracy')):>15}"
            f"{mean(row, 'full').mean():>14.3f}{mean(row, 'size').mean():>10.0f}"
            f"{_spread([r['honest'] for r in honest]):>15}"
            f"{np.mean([r['honest_full'] for r in honest]):>10.3f}"
        )
    return "\n".join(lines)


def _spread(values: Any) -> str:
    return f"{np.mean(values):.3f} +- {np.std(values):.3f}"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--sets", default=",".join(SETS), help="names with commas between")
    parser.add_argument("--seeds", type=int, default=2, help="splits and searches (default 2)")
    parser.add_argument("--time", type=float, default=1.0, help="seconds a search (default 1)")
    parser.add_argument(
        "--out",
        type=Path,
        help="JSON lines, a new file in benchmarks/results/ by default; runs that are in it "
        "already are not made again",
    )
    options = parser.parse_args(argv)
    options.sets = options.sets.split(",")
    unknown = [name for name in options.sets if name not in SETS]
    if unknown:
        parser.error(f"unknown sets {', '.join(unknown)}; known are {', '.join(SETS)}")
    return options


def main(argv: Sequence[str] | None = None) -> None:
    options = arguments(argv)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    out = options.out or RESULTS / f"sls4fs-{stamp}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    print(shlex.join(["python", *(sys.argv if argv is None else ["sls4fs.py", *argv])]))
    print(
        f"bitsieve {bitsieve.__version__}, {platform.machine()}, {bitsieve.get_isa()}, "
        f"{options.time:g} s a search, {options.seeds} seeds"
    )
    print(f"records: {out}\n", flush=True)
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    if out.is_file():
        for text in out.read_text(encoding="utf-8").splitlines():
            record = json.loads(text)
            known[tuple(record[key] for key in ("row", "set", "seed", "time", "is_honest"))] = (
                record
            )

    def get(row: str, name: str, seed: int, honest: bool = False) -> dict[str, Any]:
        place = (row, name, seed, options.time, honest)
        if place not in known:
            record = dict(zip(("row", "set", "seed", "time", "is_honest"), place, strict=True))
            record.update(measure(row, name, seed, options.time, honest))
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            known[place] = record
        return known[place]

    found = {
        (row, name, seed): get(row, name, seed)
        for name in options.sets
        for seed in range(options.seeds)
        for row in PUBLISHED
    }
    print(table(found, options))
    print("\n" + best_rows(found, options, get))


if __name__ == "__main__":
    main()
