"""How often the honest interval holds the truth, and how wide it is.

    python benchmarks/evaluation/coverage.py                # 300 sets a group, 5 outer folds
    python benchmarks/evaluation/coverage.py --folds 10
    python benchmarks/evaluation/coverage.py --repeats 2
    python benchmarks/evaluation/coverage.py --selection    # 10 of 200 columns chosen in each fold

Two Gaussian classes that differ in 5 columns, half and half or 7 to 3, and the rule of the nearest
class mean, fitted to each training part. The truth is the expected score of the folds' own rules
on new samples, from the normal distribution; the distance of the classes is set so that its mean
is the one in the row, but for 50 %, where the classes do not differ. Beside the interval stands
the corrected resampled t-interval alone. Two standard errors of a coverage of 95 % are 2.5 % at
300 sets.
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
from bitsieve.evaluation.predictions import Predictions
from bitsieve.evaluation.scored import ScoredFolds

SIZES = (20, 40, 100)
TRUTHS = (0.5, 0.7, 0.85, 0.95, 0.985)
SCORES = ("accuracy", "balanced_accuracy", "roc_auc")
INFORMATIVE, COLUMNS, CHOSEN = 5, 200, 10


class Scheme(NamedTuple):
    folds: int
    repeats: int
    selection: bool


def sampled(
    n_sets: int, y: np.ndarray, folds: list[Any], distance: float, seed: int, *, selection: bool
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Decision values, shape (n_folds, n_sets, n), NaN where not tested, and true scores a set."""
    rng = np.random.default_rng(seed)
    mean = np.zeros(COLUMNS if selection else INFORMATIVE)
    mean[:INFORMATIVE] = distance / math.sqrt(INFORMATIVE)
    X = rng.normal(size=(n_sets, len(y), len(mean)))
    X[:, y == 1] += mean
    values = np.full((len(folds), n_sets, len(y)), np.nan)
    truths: dict[str, list[np.ndarray]] = {name: [] for name in SCORES}
    for fold, (train, test) in enumerate(folds):
        parts = [X[:, train[y[train] == c]] for c in (0, 1)]
        zero, one = (part.mean(axis=1) for part in parts)
        weights = one - zero
        if selection:  # the columns of the largest t statistic
            spread = sum(part.var(axis=1) * part.shape[1] for part in parts)
            t = np.abs(weights) / np.sqrt(spread)
            weights[t < np.partition(t, -CHOSEN, axis=1)[:, [-CHOSEN]]] = 0.0
        weights /= np.linalg.norm(weights, axis=1, keepdims=True)
        limit = (weights * (zero + one)).sum(axis=1) / 2
        values[fold][:, test] = np.einsum("sp,snp->sn", weights, X[:, test]) - limit[:, None]
        apart = weights @ mean
        recalls = special.ndtr(limit), special.ndtr(apart - limit)
        truths["accuracy"].append((1 - y.mean()) * recalls[0] + y.mean() * recalls[1])
        truths["balanced_accuracy"].append((recalls[0] + recalls[1]) / 2)
        truths["roc_auc"].append(special.ndtr(apart / math.sqrt(2)))
    return values, {name: np.mean(each, axis=0) for name, each in truths.items()}


def distance_of(
    truth: float, score: str, y: np.ndarray, folds: list[Any], selection: bool
) -> float:
    """The distance of the class means at which the mean true score is the one asked for."""
    if truth == 0.5:
        return 0.0
    low, high = 0.0, 16.0
    for _ in range(14):
        middle = (low + high) / 2
        mean = sampled(100, y, folds, middle, 99, selection=selection)[1][score].mean()
        low, high = (middle, high) if mean < truth else (low, middle)
    return (low + high) / 2


def fold_scores(score: str, values: np.ndarray, y: np.ndarray, folds: list[Any]) -> np.ndarray:
    """Scores of shape (n_folds, n_sets)."""
    found = []
    for fold, (_, test) in enumerate(folds):
        zero, one = (values[fold][:, test[y[test] == c]] for c in (0, 1))
        if score == "roc_auc":
            found.append((one[:, :, None] > zero[:, None, :]).mean(axis=(1, 2)))
        elif score == "accuracy":
            found.append(np.concatenate([zero <= 0, one > 0], axis=1).mean(axis=1))
        else:
            found.append(((zero <= 0).mean(axis=1) + (one > 0).mean(axis=1)) / 2)
    return np.array(found)


def group(n: int, share: float, truth: float, score: str, n_sets: int, scheme: Scheme) -> Any:
    """Coverage and mean width of the t-interval and of ours, None where a fold misses a class."""
    y = np.repeat([0, 1], [n - round(n * share), round(n * share)])
    if y.sum() < scheme.folds:
        return None
    splitter = RepeatedStratifiedKFold(
        n_splits=scheme.folds, n_repeats=scheme.repeats, random_state=0
    )
    folds = list(splitter.split(y, y))
    distance = distance_of(truth, score, y, folds, scheme.selection)
    seed = int(1000 * truth) + n
    values, truths = sampled(n_sets, y, folds, distance, seed, selection=scheme.selection)
    scores = fold_scores(score, values, y, folds)
    sample = np.concatenate([test for _, test in folds])
    fold = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
    sizes = [len(test) for _, test in folds], [len(train) for train, _ in folds]
    found = []
    for one in range(n_sets):
        value = values[fold, one, sample]
        said = (value > 0).astype(int)
        predictions = Predictions(
            sample=sample,
            fold=fold,
            truth=y[sample],
            predicted=said,
            full_predicted=said,
            outputs=np.column_stack([-value, value]),
            responses=("decision_function",) * len(folds),
            classes=np.array([0, 1]),
        )
        ours = ScoredFolds(folds, predictions, get_scorer(score), score).interval(
            scores[:, one], chance=0.5, random_state=0
        )
        plain = corrected_t_interval(scores[:, one], *sizes, bounds=(0.0, 1.0))
        for low, high in (plain, ours):
            found.append((low <= truths[score][one] <= high, high - low))
    table = np.array(found, dtype=float).reshape(n_sets, 2, 2).mean(axis=0)
    return float(truths[score].mean()), table[:, 0], table[:, 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--selection", action="store_true")
    options = parser.parse_args()
    scheme = Scheme(options.folds, options.repeats, options.selection)
    print(
        f"{options.sets} sets a group, {scheme.repeats} x {scheme.folds} outer folds; coverage and "
        "mean width in percent"
    )
    print("score              classes    n  truth   t: covers  width   ours: covers  width")
    coverages = []
    for score in SCORES:
        for share in (0.5, 0.3):
            for n in SIZES:
                for truth in TRUTHS:
                    row = group(n, share, truth, score, options.sets, scheme)
                    if row is None:
                        continue
                    mean, covers, widths = row
                    coverages.append(covers)
                    print(
                        f"{score:<18} {100 * (1 - share):3.0f}:{100 * share:.0f} {n:5d} "
                        f"{100 * mean:6.1f}   {100 * covers[0]:9.1f} {100 * widths[0]:6.1f}   "
                        f"{100 * covers[1]:12.1f} {100 * widths[1]:6.1f}"
                        f"{'' if covers[1] >= 0.93 else '  below 93'}",
                        flush=True,
                    )
    each = 100 * np.array(coverages)
    print(
        f"{len(each)} groups: the t-interval covers {each[:, 0].min():.1f} % at the least and "
        f"{each[:, 0].mean():.1f} % in the mean, ours {each[:, 1].min():.1f} % and "
        f"{each[:, 1].mean():.1f} %"
    )


if __name__ == "__main__":
    main()
