"""A score for every mask.

::

    compile(estimator, X, y) --> CompiledFitness   a kernel serves the problem (KnnFitness, ...)
                            \\-> GeneralFitness    scikit-learn on masked views, in parallel

Both answer ``evaluate(masks, seeds)`` and give what ``cross_val_score`` gives on the same splits,
greater is better. The answer is a function of (mask, seed) alone: it does not depend on which
masks came before, on the batch or on the number of threads.
"""

from __future__ import annotations

from bitsieve.fitness.base import Fitness
from bitsieve.fitness.compiled import CompiledFitness
from bitsieve.fitness.compiler import compile
from bitsieve.fitness.general import GeneralFitness
from bitsieve.fitness.knn import KnnFitness
from bitsieve.fitness.metrics import balanced_error_rate, cost_scorer, mean_cost
from bitsieve.fitness.options import FitnessOptions, Problem
from bitsieve.fitness.registry import Kernel, kernels, register_kernel
from bitsieve.fitness.shuffled import ShuffledFolds

__all__ = [
    "CompiledFitness",
    "Fitness",
    "FitnessOptions",
    "GeneralFitness",
    "Kernel",
    "KnnFitness",
    "Problem",
    "ShuffledFolds",
    "balanced_error_rate",
    "compile",
    "cost_scorer",
    "kernels",
    "mean_cost",
    "register_kernel",
]
