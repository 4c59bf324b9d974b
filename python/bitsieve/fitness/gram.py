"""What compiled models share that see the table through Gram matrices alone."""

from __future__ import annotations

import numpy as np

from bitsieve.fitness.compiled import CompiledFitness, refusal_of_data
from bitsieve.fitness.options import Problem
from bitsieve.fitness.scoring import Reads

__all__ = ["GramCompiledFitness", "refusal_of_gram"]

# float32 sums of squares must stay far from overflow. (Underflow is within the error bounds.)
_LARGEST_SQUARE = 1e36


class GramCompiledFitness(CompiledFitness):
    """A compiled model whose time grows with the pairs of samples; see :class:`CompiledFitness`."""

    pairs_of_samples = True


def refusal_of_gram(
    problem: Problem, reads: tuple[Reads, ...], *, weights: bool = False
) -> str | None:
    """Return why no model of Gram matrices can serve, or None if one can.

    Parameters
    ----------
    problem : Problem
    reads : tuple of {"classes", "probabilities", "decisions", "numbers"}
        What the model gives scorers to read.
    weights : bool, default=False
        Whether the model takes ``sample_weight``.

    Returns
    -------
    str or None
        That of :func:`refusal_of_data`, or that squares of values overflow.
    """
    reason = refusal_of_data(problem, reads, weights=weights)
    if reason is not None:
        return reason
    most = problem.table.max_abs
    if float(np.dot(most, most)) > _LARGEST_SQUARE:
        return "values whose squares overflow in float32 have no kernel"
    return None
