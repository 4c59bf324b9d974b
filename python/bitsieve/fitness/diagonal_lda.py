"""Cross-validated diagonal linear discriminant analysis by the compiled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitsieve import _core
from bitsieve.fitness.compiled import CompiledFitness, refusal_of_data
from bitsieve.fitness.options import Problem
from bitsieve.fitness.refusals import refusal_of_priors

__all__ = ["KERNEL", "DiagonalLDAFitness"]


class DiagonalLDAFitness(CompiledFitness):
    """:class:`bitsieve.DiagonalLDA`; see :class:`Fitness`.

    The score of a class is a sum over the features, so the masks of a batch share the terms of
    each feature. Classes that float32 sums leave open are compared in float64; probabilities and
    decision values are float64 throughout. A scaler before it changes nothing, and is left out.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bitsieve import DiagonalLDA
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(DiagonalLDA(), *load_iris(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[True, True, True, True]]).round(3)
    ('diagonal_lda', array([0.96]))
    """

    kernel = "diagonal_lda"
    _core_class = _core.DiagonalFitness
    _least_classes = 2

    def _settings(self) -> dict[str, Any]:
        model = self.problem.model
        priors = None if model.priors is None else np.asarray(model.priors, dtype=np.float64)
        return {
            "priors": "shares" if priors is None else "given",
            "given": priors,
            "smoothing": float(model.var_smoothing),
            "halved": True,
            "decisions": self._scorer.reads == "decisions",
        }


class _Kernel:
    name = "diagonal_lda"
    estimators = ("bitsieve.estimators.diagonal_lda.DiagonalLDA",)
    make = DiagonalLDAFitness
    takes_scaler = True

    def refusal(self, problem: Problem) -> str | None:
        model, table = problem.model, problem.table
        if table.codes is None or table.classes is None:
            return "a target without classes has no kernel"
        if isinstance(model.var_smoothing, (bool, str)) or not 0 < model.var_smoothing < np.inf:
            return "var_smoothing that is not above 0 has no kernel"
        if problem.scaler is not None and table.X.dtype.kind == "f" and table.X.itemsize < 8:
            return f"a scaler that computes in {table.X.dtype} has no kernel; give float64"
        return refusal_of_priors(model.priors, len(table.classes)) or refusal_of_data(
            problem, ("classes", "probabilities", "decisions")
        )


KERNEL = _Kernel()
