"""Numbers for the inputs of the clauses: the same on every machine and in every version."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitsieve._random import Random, Stream

__all__ = ["normals", "order", "table", "uniforms"]


def uniforms(seed: int, *shape: int) -> NDArray[np.float64]:
    """Numbers in [0, 1) of a shape."""
    return Random(seed, Stream.tests).uniform(shape)


def normals(seed: int, *shape: int) -> NDArray[np.float64]:
    """Standard normal numbers of a shape, each one that float32 holds."""
    return _as_float32_holds(Random(seed, Stream.tests).normal(shape))


def order(seed: int, n: int) -> NDArray[np.int64]:
    """A permutation of n."""
    return Random(seed, Stream.tests).permutation(n)


def table(
    n_samples: int, n_features: int, n_classes: int = 2, seed: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A table of noise, some features of which move with the class; the classes are uneven."""
    X = normals(seed, n_samples, n_features)
    y = (uniforms(seed + 1, n_samples) ** 1.3 * n_classes).astype(np.int64)
    y[:n_classes] = np.arange(n_classes)
    y = y[order(seed + 2, n_samples)]
    moved = np.arange(0, n_features, 3)
    X[:, moved] += y[:, None] * (0.5 + np.arange(len(moved)) % 8 / 2.0)
    return _as_float32_holds(X), y


def _as_float32_holds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values.astype(np.float32).astype(np.float64)
