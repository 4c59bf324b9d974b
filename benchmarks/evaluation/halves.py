"""How stable a filter looks over outer folds and over disjoint halves, and what the interval holds.

    python benchmarks/evaluation/halves.py          # 60 tables a row: a minute on one core

Two Gaussian classes of 40 samples that differ in 15 of 300 columns, by so many standard deviations
as the row says; the 20 columns of greatest F are selected. Nogueira's index is given as the mean
over the tables: of 5 outer folds, of 20 splits into disjoint halves, and of pairs of tables of 80
and of 40 samples that were drawn anew, which is what is meant by other samples. The interval is
that of the 20 splits; it is asked whether it holds the mean over 80 other splits of the same table,
and the mean over all tables.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import StratifiedKFold

from bitsieve.evaluation import selection_stability, stability
from bitsieve.filters import f_test

SAMPLES, COLUMNS, INFORMATIVE, CHOSEN = 80, 300, 15, 20


def table(distance: float, samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of which the first tell the classes."""
    y = np.arange(samples) % 2
    X = np.random.default_rng(seed).normal(size=(samples, COLUMNS))
    X[:, :INFORMATIVE] += distance * y[:, None]
    return X, y


def anew(selector: SelectKBest, distance: float, samples: int, tables: int) -> float:
    """Return the mean agreement of selections from pairs of tables."""
    supports = [
        selector.fit(*table(distance, samples, 10_000 + seed)).get_support()
        for seed in range(2 * tables)
    ]
    return stability(supports, sampling="halves").nogueira.value


def main() -> None:
    """Print a row a distance."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=60)
    tables = parser.parse_args().tables
    selector = SelectKBest(f_test, k=CHOSEN)
    print(f"Nogueira's index, {tables} tables a row")
    print(
        "| distance | 5 outer folds | other samples, 80 | 20 halves | other samples, 40 "
        "| holds the same table's | holds the tables' |\n" + "| --- " * 7 + "|"
    )
    for distance in (0.0, 0.5, 0.7, 1.0):
        folds, halves, again, ends = [], [], [], []
        for seed in range(tables):
            X, y = table(distance, SAMPLES, seed)
            splits = StratifiedKFold(5).split(X, y)
            supports = [selector.fit(X[train], y[train]).get_support() for train, _ in splits]
            folds.append(stability(supports).nogueira.value)
            options = {"seeds": 0, "halves": 20}
            found = selection_stability(selector, X, y, random_state=seed, **options).halves
            options["halves"] = 80
            more = selection_stability(selector, X, y, random_state=seed + 1000, **options).halves
            halves.append(found.nogueira.value)
            again.append(more.nogueira.value)
            ends.append(found.interval)
        low, high = np.array(ends).T
        same = np.mean((low <= again) & (again <= high))
        whole = np.mean((low <= np.mean(again)) & (np.mean(again) <= high))
        print(
            f"| {distance:g} | {np.mean(folds):.2f} | {anew(selector, distance, 80, tables):.2f} "
            f"| {np.mean(halves):.2f} | {anew(selector, distance, 40, tables):.2f} "
            f"| {100 * same:.0f} % | {100 * whole:.0f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
