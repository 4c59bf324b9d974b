"""A fit in a process of its own, to be killed: ``fit_me.py CHECKPOINT OUTPUT``."""

from __future__ import annotations

import sys

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import BinarySPSA
from bitsieve.datasets import make_microarray


def fit(checkpoint: str | None = None) -> BinarySPSA:
    """Fit the compiled 1-NN with a checkpoint every few iterations' time."""
    made = make_microarray(90, 3000, n_informative=10, random_state=3)
    selector = BinarySPSA(
        KNeighborsClassifier(1),
        max_iter=20_000,
        patience=None,
        n_jobs=1,
        random_state=5,
        checkpoint=checkpoint,
        progress=False,
    )
    return selector.fit(made.X, made.y)


if __name__ == "__main__":
    fitted = fit(sys.argv[1])
    np.savez(
        sys.argv[2],
        support=fitted.support_,
        best_score=fitted.best_score_,
        **{f"history_{name}": column for name, column in fitted.history_.items()},
    )
