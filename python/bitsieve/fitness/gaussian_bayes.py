"""Cross-validated Gaussian naive Bayes by the compiled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitsieve import _core
from bitsieve.fitness.compiled import CompiledFitness, refusal_of_data
from bitsieve.fitness.options import Problem
from bitsieve.fitness.pipelines import scaler_options
from bitsieve.fitness.refusals import refusal_of_priors, refusal_of_single

__all__ = ["KERNEL", "GaussianBayesFitness"]


class GaussianBayesFitness(CompiledFitness):
    """scikit-learn's ``GaussianNB``, behind a scaler too; see :class:`Fitness`.

    The log-likelihood of a class is a sum over the features, so the masks of a batch share the
    terms of each feature. What depends on the mask is the smoothing: ``var_smoothing`` is a
    fraction of the largest variance among the *selected* features in the training part. Classes
    that float32 sums leave open are compared in float64, and probabilities are float64 throughout,
    at the mask's own smoothing. A scaler fitted inside the folds changes the smoothing alone,
    feature by feature, since its scale is common to all classes.

    Masks whose smoothing lies below the rounding of their values (all selected features constant,
    or far from zero for their spread) are scikit-learn's.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(GaussianNB(), *load_iris(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[True, True, True, True]]).round(3)
    ('gaussian_bayes', array([0.953]))
    """

    kernel = "gaussian_bayes"
    _core_class = _core.GaussianBayesFitness

    def _settings(self) -> dict[str, Any]:
        model = self.problem.model
        priors = None if model.priors is None else np.asarray(model.priors, dtype=np.float64)
        return {
            "var_smoothing": float(model.var_smoothing),
            "priors": priors,
            "scaler": scaler_options(self.problem.scaler),
        }


class _Kernel:
    name = "gaussian_bayes"
    estimators = ("sklearn.naive_bayes.GaussianNB",)
    make = GaussianBayesFitness
    takes_scaler = True

    def refusal(self, problem: Problem) -> str | None:
        model, table = problem.model, problem.table
        if table.codes is None or table.classes is None:
            return "a target without classes has no kernel"
        if not model.var_smoothing > 0:
            return "var_smoothing=0 has no kernel"
        return (
            refusal_of_priors(model.priors, len(table.classes), zeros=True)
            or refusal_of_single(table.X)
            or refusal_of_data(problem, ("classes", "probabilities"), weights=True)
        )


KERNEL = _Kernel()
