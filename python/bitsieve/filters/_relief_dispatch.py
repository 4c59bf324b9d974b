"""Which code scores a problem of the Relief family: the compiled core, or the general path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitsieve.filters._relief_general import general_scores
from bitsieve.filters._relief_neighbours import Method
from bitsieve.filters._relief_problem import Problem

__all__ = ["relief_scores"]


def relief_scores(problem: Problem, method: Method) -> NDArray[np.float64]:
    """Score all features of a problem."""
    return general_scores(problem, method)
