"""Cross-validated linear discriminant analysis by the compiled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitsieve import _core
from bitsieve.fitness.compiled import CompiledFitness, refusal_of_data
from bitsieve.fitness.options import Problem
from bitsieve.fitness.pipelines import scaler_options
from bitsieve.fitness.refusals import refusal_of_instructions, refusal_of_priors, refusal_of_single
from bitsieve.fitness.scoring import Reads

__all__ = ["KERNEL", "LdaFitness"]

# A smaller one leaves the matrix near singular, and few digits.
_LEAST_SHRINKAGE = 1e-6


class LdaFitness(CompiledFitness):
    """scikit-learn's ``LinearDiscriminantAnalysis``; see :class:`Fitness`.

    With a fixed ``shrinkage`` (solvers "lsqr" and "eigen", which then give the same answer) masks
    of more features than samples are solved on the samples, from one float64 Gram matrix a mask,
    others on their features, or on moments of the training parts where there are many samples.
    Without shrinkage, as by default, the small masks are solved whose covariance matrix has full
    rank beyond doubt; of the others scikit-learn cuts singular values off, and they are
    scikit-learn's.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(LinearDiscriminantAnalysis(), *load_iris(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[True, True, True, True]]).round(3)
    ('lda', array([0.98]))
    """

    kernel = "lda"
    _core_class = _core.LdaFitness

    def _settings(self) -> dict[str, Any]:
        model = self.problem.model
        return {
            "solver": "svd" if model.solver == "svd" else "lsqr",
            "shrinkage": 0.0 if model.shrinkage is None else float(model.shrinkage),
            "tol": float(model.tol),
            "priors": None if model.priors is None else np.asarray(model.priors, np.float64),
            "decisions": self._scorer.reads == "decisions",
            "scaler": scaler_options(self.problem.scaler),
        }


class _Kernel:
    name = "lda"
    estimators = ("sklearn.discriminant_analysis.LinearDiscriminantAnalysis",)
    make = LdaFitness
    takes_scaler = True

    def refusal(self, problem: Problem) -> str | None:
        model, table = problem.model, problem.table
        reason = refusal_of_instructions()
        if reason is not None:
            return reason
        if table.codes is None or table.classes is None:
            return "a target without classes has no kernel"
        if model.covariance_estimator is not None:
            return "a covariance_estimator has no kernel"
        if model.n_components is not None:
            return f"n_components={model.n_components} has no kernel"
        if isinstance(model.shrinkage, str):
            return f"shrinkage={model.shrinkage!r} has no kernel"
        if model.shrinkage is not None:
            if model.solver == "svd":
                return "shrinkage with solver='svd' has no kernel"
            if 0 < model.shrinkage < _LEAST_SHRINKAGE:
                return f"shrinkage below {_LEAST_SHRINKAGE:g} has no kernel"
        reason = refusal_of_priors(model.priors, len(table.classes))
        if reason is not None:
            return reason
        # Those of more than two classes lie where the data's zero is.
        reads: tuple[Reads, ...] = ("classes", "probabilities")
        if len(table.classes) == 2 or model.solver == "svd":
            reads += ("decisions",)
        return refusal_of_single(table.X) or refusal_of_data(problem, reads)


KERNEL = _Kernel()
