"""A slow and obvious twin of nearest centroids in units of the spread within the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def scores(X: Array, codes: Array, split: tuple[Array, Array], shrink: float = 0.0) -> Array:
    """Discriminant scores of the test samples, (n_test, n_classes), with the shares as priors."""
    (train, test), X = split, X.astype(np.float64)
    classes, n = np.unique(codes[train]), len(train)
    sizes = np.array([(codes[train] == c).sum() for c in classes])
    means = np.array([X[train][codes[train] == c].mean(axis=0) for c in classes])
    within = sum(
        ((X[train][codes[train] == c] - mean) ** 2).sum(axis=0)
        for c, mean in zip(classes, means, strict=True)
    )
    spread = np.sqrt(within / (n - len(classes)))
    if shrink:
        centre = X[train].mean(axis=0)
        unit = np.sqrt(1 / sizes - 1 / n)[:, None] * (spread + np.median(spread))
        apart = (means - centre) / unit
        means = centre + unit * np.sign(apart) * np.maximum(np.abs(apart) - shrink, 0)
    distances = [(((X[test] - mean) / spread) ** 2).sum(axis=1) for mean in means]
    return 2 * np.log(sizes / n) - np.stack(distances, axis=1)
