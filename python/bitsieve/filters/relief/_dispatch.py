"""Which code scores a problem of the Relief family: the compiled core, or the general path.

The core takes complete tables and linear differences. All else goes the general way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.filters.relief._exact import ExactSides
from bitsieve.filters.relief._general import general_scores
from bitsieve.filters.relief._neighbors import Method
from bitsieve.filters.relief._problem import Problem

__all__ = ["relief_scores"]

Floats = NDArray[np.float64]

# More levels of a discrete feature than these are not for the core, which makes a column of each.
_LEVELS = 256
# So few differences that the weights of SWRF* need not be content with the core's distances.
_FEW = 1 << 22


def relief_scores(problem: Problem, method: Method) -> Floats:
    """Score all features of a problem."""
    few = len(problem.rows) * problem.n_samples * problem.n_features <= _FEW
    if not _suits_core(problem) or (few and method.name == "swrf_star"):
        return general_scores(problem, method)
    everyone = len(problem.rows) == problem.n_samples
    regression = method.name == "rrelieff"
    weights = method.rank_weights
    same = bool((weights == 1.0).all())
    scores: Floats = _core.relief(
        problem.X,
        algorithm=method.name,
        codes=None if regression else problem.codes,
        n_classes=problem.n_classes,
        target=problem.y if regression else None,
        rows=None if everyone else problem.rows,
        n_neighbors=max(1, len(weights)),
        rank_weights=None if same else weights,
        discrete=_flags(problem),
        feature_weights=_weights(problem),
        precision=problem.precision,
        decide=ExactSides(problem, method.name) if method.rank_weights.size == 0 else None,
        n_threads=problem.n_threads,
    )
    return scores


def _suits_core(problem: Problem) -> bool:
    if problem.ramp is not None or problem.incomplete:
        return False
    nominal = np.flatnonzero(problem.discrete)
    if nominal.size == 0:
        return True
    return not (problem.X.max(axis=0)[nominal] >= _LEVELS).any()


def _flags(problem: Problem) -> NDArray[np.uint8] | None:
    return problem.discrete.astype(np.uint8) if problem.discrete.any() else None


def _weights(problem: Problem) -> Floats | None:
    weights = problem.feature_weights
    return None if bool((weights == 1.0).all()) else weights
