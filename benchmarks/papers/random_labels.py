"""What a search reports where there is nothing to find: random labels.

    python benchmarks/papers/random_labels.py [--seeds 4]

100 samples x 2,000 columns of noise, labels drawn by coin, 1,000 iterations of binary SPSA with
1-NN under 10 x 5 folds. The truth is 50 % error. Only the honest error says so.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import BinarySPSA
from bitsieve.evaluation import nested_cross_validate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    print("seed  observed  re-measured  honest error and its 95 % interval")
    honest = []
    for seed in range(parser.parse_args().seeds):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 2000)), rng.integers(0, 2, 100)
        knn = KNeighborsClassifier(1)
        selector = BinarySPSA(
            knn, max_iter=1000, patience=None, random_state=seed, progress=False
        ).fit(X, y)
        outer = StratifiedKFold(5, shuffle=True, random_state=seed)
        result = nested_cross_validate(selector, knn, X, y, cv=outer)
        low, high = result.interval
        honest.append(1 - result.score)
        print(
            f"{seed:4d}  {1 - selector.best_observed_score_:8.1%}  {1 - selector.best_score_:11.1%}"
            f"  {1 - result.score:.1%} ({1 - high:.1%} to {1 - low:.1%})"
        )
    spread = np.std(honest, ddof=1) / np.sqrt(len(honest))
    print(f"mean honest error {np.mean(honest):.1%} +- {spread:.1%} (standard error)")
    print(result.summary())


if __name__ == "__main__":
    main()
