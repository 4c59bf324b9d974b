"""A support vector machine by its dual, plainly: the pair that violates most, until none does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bounds(y: NDArray[np.int8], C: float) -> tuple[Floats, Floats]:
    """Least and greatest coefficient of each sample."""
    return np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)


def violation(K: Floats, y: NDArray[np.int8], C: float, b: Floats) -> float:
    """How far the conditions of Karush, Kuhn and Tucker are from holding."""
    lower, upper = bounds(y, C)
    slack = y - K @ b
    most = slack[b < upper].max(initial=-np.inf)
    least = slack[b > lower].min(initial=np.inf)
    return max(0.0, float(most - least))


def objective(K: Floats, y: NDArray[np.int8], b: Floats) -> float:
    """Of the dual, to be least."""
    return float(0.5 * b @ K @ b - y @ b)


def dual_svm(K: Floats, y: NDArray[np.int8], C: float, tolerance: float) -> Floats:
    """Coefficients, signs included."""
    lower, upper = bounds(y, C)
    b = np.zeros(len(y))
    for _ in range(1_000_000):
        slack = y - K @ b
        up = int(np.argmax(np.where(b < upper, slack, -np.inf)))
        down = int(np.argmin(np.where(b > lower, slack, np.inf)))
        if not (b[up] < upper[up] and b[down] > lower[down]):
            break
        if slack[up] - slack[down] <= tolerance:
            break
        apart = max(K[up, up] + K[down, down] - 2 * K[up, down], 1e-12)
        room_up, room_down = upper[up] - b[up], b[down] - lower[down]
        step = min((slack[up] - slack[down]) / apart, room_up, room_down)
        b[up] = upper[up] if step == room_up else b[up] + step
        b[down] = lower[down] if step == room_down else b[down] - step
    return b
