"""How often the honest interval holds the truth, and how wide it is.

    python benchmarks/evaluation/coverage.py                # 300 sets a group, 5 outer folds
    python benchmarks/evaluation/coverage.py --folds 10
    python benchmarks/evaluation/coverage.py --repeats 1 2 10
    python benchmarks/evaluation/coverage.py --selection    # 10 of 200 columns chosen in each fold
    python benchmarks/evaluation/coverage.py --sets 400 --selection --repeats 1 2 10 --nested \\
        --scores accuracy --shares 0.5 --sizes 40 100 200 --truths 0.5 0.7 0.9 0.985

Two Gaussian classes that differ in 5 columns, half and half or 7 to 3, and the rule of the nearest
class mean, fitted to each training part. Two truths are held against each interval: the expected
score of the folds' own rules on new samples, from the normal distribution ("own"), and its mean
over all sets of the group, the score of the procedure whatever samples it is given ("all"). The
distance of the classes is set so that the latter is the one in the row, but for 50 %, where the
classes do not differ. Each number of rounds is a line of its own, with the width relative to the
first one's; the rounds of a line are the first ones of the next. ``t`` is the corrected resampled
t-interval alone; ``--nested`` adds the interval by nested cross-validation. Two standard errors of
a coverage of 95 % are 2.5 % at 300 sets.
"""

from __future__ import annotations

import argparse
import math
from typing import Any, NamedTuple

import numpy as np
from scipy import special
from sklearn.metrics import get_scorer
from sklearn.model_selection import RepeatedStratifiedKFold

from bitsieve.evaluation import corrected_t_interval
from bitsieve.evaluation.folds import rounds_of
from bitsieve.evaluation.pairs import PairSplit, pairs_of
from bitsieve.evaluation.predictions import Predictions
from bitsieve.evaluation.scored import ScoredFolds

SCORES = ("accuracy", "balanced_accuracy", "roc_auc")
INFORMATIVE, COLUMNS, CHOSEN = 5, 200, 10
BATCH = 50  # sets drawn at once


class Scheme(NamedTuple):
    folds: int
    repeats: list[int]
    selection: bool
    nested: bool


def drawn(n_sets: int, y: np.ndarray, distance: float, seed: int, *, selection: bool) -> Any:
    """Samples of shape (n_sets, n, columns) and the difference of the class means."""
    rng = np.random.default_rng(seed)
    mean = np.zeros(COLUMNS if selection else INFORMATIVE)
    mean[:INFORMATIVE] = distance / math.sqrt(INFORMATIVE)
    X = rng.normal(size=(n_sets, len(y), len(mean)))
    X[:, y == 1] += mean
    return X, mean


def ruled(
    X: np.ndarray, y: np.ndarray, train: Any, test: Any, mean: np.ndarray, *, selection: bool
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Decision values of a test part, shape (n_sets, n_test), and the rule's true scores."""
    parts = [X[:, train[y[train] == c]] for c in (0, 1)]
    zero, one = (part.mean(axis=1) for part in parts)
    weights = one - zero
    if selection:  # the columns of the largest t statistic
        spread = sum(part.var(axis=1) * part.shape[1] for part in parts)
        t = np.abs(weights) / np.sqrt(spread)
        weights[t < np.partition(t, -CHOSEN, axis=1)[:, [-CHOSEN]]] = 0.0
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    limit = (weights * (zero + one)).sum(axis=1) / 2
    values = np.einsum("sp,snp->sn", weights, X[:, test]) - limit[:, None]
    apart = weights @ mean
    recalls = special.ndtr(limit), special.ndtr(apart - limit)
    share = y.mean()
    return values, {
        "accuracy": (1 - share) * recalls[0] + share * recalls[1],
        "balanced_accuracy": (recalls[0] + recalls[1]) / 2,
        "roc_auc": special.ndtr(apart / math.sqrt(2)),
    }


def distance_of(
    truth: float, score: str, y: np.ndarray, folds: list[Any], *, selection: bool
) -> float:
    """The distance of the class means at which the mean true score is the one asked for."""
    if truth == 0.5:
        return 0.0
    low, high = 0.0, 16.0
    for _ in range(14):
        middle = (low + high) / 2
        X, mean = drawn(100, y, middle, 99, selection=selection)
        true = [ruled(X, y, *fold, mean, selection=selection)[1][score].mean() for fold in folds]
        low, high = (middle, high) if np.mean(true) < truth else (low, middle)
    return (low + high) / 2


def scored_by(score: str, values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Score of each set on a test part, shape (n_sets,)."""
    zero, one = values[:, y == 0], values[:, y == 1]
    if score == "roc_auc":
        return (one[:, :, None] > zero[:, None, :]).mean(axis=(1, 2))
    if score == "accuracy":
        return np.concatenate([zero <= 0, one > 0], axis=1).mean(axis=1)
    return ((zero <= 0).mean(axis=1) + (one > 0).mean(axis=1)) / 2


def intervals(
    folds: list[Any],
    values: list[np.ndarray],
    scores: np.ndarray,
    pairs: list[PairSplit],
    paired: list[np.ndarray],
    y: np.ndarray,
    score: str,
    rounds: np.ndarray,
) -> list[Any]:
    """The intervals of one set: of the folds alone, ours, and by nested cross-validation."""
    sample = np.concatenate([test for _, test in folds])
    value = np.concatenate(values)
    said = (value > 0).astype(int)
    predictions = Predictions(
        sample=sample,
        fold=np.repeat(np.arange(len(folds)), [len(test) for _, test in folds]),
        truth=y[sample],
        predicted=said,
        full_predicted=None,
        outputs=np.column_stack([-value, value]),
        responses=("decision_function",) * len(folds),
        classes=np.array([0, 1]),
    )
    made = ScoredFolds(folds, predictions, get_scorer(score), score)
    sizes = [len(test) for _, test in folds], [len(train) for train, _ in folds]
    found = [
        corrected_t_interval(scores, *sizes, bounds=(0.0, 1.0)),
        made.interval(scores, chance=0.5, random_state=0),
    ]
    if pairs:
        found.append(made.nested(scores, pairs, [(one > 0).astype(int) for one in paired], rounds))
    return found


def group(
    n: int, share: float, truth: float, score: str, n_sets: int, scheme: Scheme
) -> np.ndarray | None:
    """Coverage of both truths and mean width, shape (repeats, kinds, 3).

    None where a fold misses a class.
    """
    y = np.repeat([0, 1], [n - round(n * share), round(n * share)])
    if y.sum() < scheme.folds:
        return None
    most = max(scheme.repeats)
    splitter = RepeatedStratifiedKFold(n_splits=scheme.folds, n_repeats=most, random_state=0)
    folds = list(splitter.split(y, y))
    rounds = rounds_of(folds, n)
    assert rounds is not None
    pairs = pairs_of(folds, rounds) if scheme.nested and score != "roc_auc" else []
    distance = distance_of(truth, score, y, folds[: scheme.folds], selection=scheme.selection)
    held, true = [], []
    for first in range(0, n_sets, BATCH):
        size = min(BATCH, n_sets - first)
        seed = int(1000 * truth) + n + 7919 * first
        X, mean = drawn(size, y, distance, seed, selection=scheme.selection)
        own = [ruled(X, y, *fold, mean, selection=scheme.selection) for fold in folds]
        scores = np.array(
            [scored_by(score, v, y[test]) for (v, _), (_, test) in zip(own, folds, strict=True)]
        )
        paired = [
            ruled(X, y, pair.train, pair.test, mean, selection=scheme.selection)[0]
            for pair in pairs
        ]
        for one in range(size):
            for repeats in scheme.repeats:
                few = repeats * scheme.folds
                inside = [i for i, pair in enumerate(pairs) if pair.second < few]
                held.append(
                    intervals(
                        folds[:few],
                        [v[one] for v, _ in own[:few]],
                        scores[:few, one],
                        [pairs[i] for i in inside],
                        [paired[i][one] for i in inside],
                        y,
                        score,
                        rounds[:few],
                    )
                )
                true.append(np.mean([t[score][one] for _, t in own[:few]]))
    ends = np.array(held).reshape(n_sets, len(scheme.repeats), -1, 2)
    truths = np.array(true).reshape(n_sets, len(scheme.repeats), 1)
    low, high = ends[..., 0], ends[..., 1]
    overall = truths.mean(axis=0, keepdims=True)
    return np.stack(
        [
            ((low <= truths) & (truths <= high)).mean(axis=0),
            ((low <= overall) & (overall <= high)).mean(axis=0),
            (high - low).mean(axis=0),
        ],
        axis=-1,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, nargs="+", default=[1])
    parser.add_argument("--selection", action="store_true")
    parser.add_argument("--nested", action="store_true")
    parser.add_argument("--scores", nargs="+", default=SCORES, choices=SCORES)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.5, 0.3])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 40, 100])
    parser.add_argument("--truths", type=float, nargs="+", default=[0.5, 0.7, 0.85, 0.95, 0.985])
    options = parser.parse_args()
    scheme = Scheme(options.folds, options.repeats, options.selection, options.nested)
    kinds = ("t", "ours", "nested")[: 3 if options.nested else 2]
    print(
        f"{options.sets} sets a group; coverage of the folds' own rules and of all sets' mean, "
        "and mean width, in percent"
    )
    print(
        "score              classes    n  truth  rounds"
        + "".join(f"   {kind + ': own':>11}   all  width" for kind in kinds)
    )
    tables: dict[int, list[np.ndarray]] = {repeats: [] for repeats in scheme.repeats}
    for score in options.scores:
        for share in options.shares:
            for n in options.sizes:
                for truth in options.truths:
                    found = group(n, share, truth, score, options.sets, scheme)
                    if found is None:
                        continue
                    for repeats, row in zip(scheme.repeats, found, strict=True):
                        tables[repeats].append(row[: len(kinds)])
                        told = "".join(
                            f"   {100 * own:11.1f} {100 * every:5.1f} {100 * width:6.1f}"
                            for own, every, width in row
                        )
                        print(
                            f"{score:<18} {100 * (1 - share):3.0f}:{100 * share:.0f} {n:5d} "
                            f"{100 * truth:6.1f} {repeats:4d} x {scheme.folds}{told}",
                            flush=True,
                        )
    first = np.mean([row[1, 2] for row in tables[scheme.repeats[0]]])
    for repeats, rows in tables.items():
        for place, kind in enumerate(kinds):
            own, every, width = np.array([row[place] for row in rows if len(row) > place]).T
            what = f"{repeats} x {scheme.folds} {kind:<6} {len(own)} groups"
            print(
                f"{what}: covers own {own.min():.1%} at the least, {own.mean():.1%} in the mean; "
                f"all {every.min():.1%}, {every.mean():.1%}; width {width.mean() / first:.3f} of "
                f"that of ours at {scheme.repeats[0]} x {scheme.folds}"
            )


if __name__ == "__main__":
    main()
