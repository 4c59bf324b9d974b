"""Cross-validated ridge regression, least squares and kernel ridge by the compiled kernels."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.data import Table
from bitsieve.fitness.compiled import CompiledFitness, refusal_of_data
from bitsieve.fitness.options import Problem
from bitsieve.fitness.pipelines import scaler_options
from bitsieve.fitness.refusals import refusal_of_instructions, refusal_of_single
from bitsieve.fitness.scoring import Reads

__all__ = ["KERNEL", "RidgeFitness"]

_SOLVERS = ("auto", "svd", "cholesky")  # those that solve to rounding
_KERNELS = {"linear": "linear", "rbf": "rbf", "poly": "polynomial", "polynomial": "polynomial"}
_OF_KERNELS = ("KernelRidge", "KernelRidgeClassifier")
_OF_CLASSES = ("RidgeClassifier", "KernelRidgeClassifier")
_MOST_DEGREE = 64
_MOST_TOLERANCE = 1e-6  # of LinearRegression: masks whose singular values it might cut are declined


class RidgeFitness(CompiledFitness):
    """scikit-learn's ridge family; see :class:`Fitness`.

    ``Ridge``, ``RidgeClassifier``, ``LinearRegression``, and ``KernelRidge`` and
    :class:`bitsieve.KernelRidgeClassifier` with a linear, radial or polynomial kernel. One inverse
    matrix of a mask, of the samples or of its features, whichever are fewer, gives what is left
    over of the test samples of every split by a solve as large as the test part.
    ``class_weight="balanced"`` weighs each training part in its own way and takes a solve a split
    as large as the training part.

    Masks whose matrix is so near to singular that nine digits of a prediction are not sure are
    scikit-learn's (``n_declined`` counts them), and so are masks of as many features as training
    samples without a penalty, but for LinearRegression, and those of which that might cut singular
    values off.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(RidgeClassifier(), *load_iris(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[True, True, True, True]]).round(3)
    ('ridge', array([0.82]))
    """

    kernel = "ridge"
    pairs_of_samples = True
    _core_class = _core.RidgeFitness

    def __init__(self, problem: Problem) -> None:
        if type(problem.model).__name__ == "KernelRidgeClassifier":
            self._least_classes = 2  # scikit-learn's RidgeClassifier takes one alone
        super().__init__(problem)

    def _settings(self) -> dict[str, Any]:
        model = self.problem.model
        name = type(model).__name__
        scaler = scaler_options(self.problem.scaler)
        settings: dict[str, Any]
        if name in _OF_KERNELS:
            kernel = _KERNELS[model.kernel]
            settings = {"scaler": scaler, "kernel": kernel, "alpha": float(model.alpha)}
            # What a kernel function does not read may be anything.
            if kernel != "linear" and model.gamma is not None:
                settings["gamma"] = float(model.gamma)
            if kernel == "polynomial":
                settings |= {"degree": int(model.degree), "coef0": float(model.coef0)}
            settings["fit_intercept"] = False
        else:
            settings = {"scaler": scaler, "fit_intercept": bool(model.fit_intercept)}
            if name == "LinearRegression":
                return settings | {"alpha": 0.0, "least_norm": True}
            settings["alpha"] = float(model.alpha)
        if name in _OF_CLASSES and model.class_weight:
            if isinstance(model.class_weight, str):
                settings["balanced"] = True
            else:
                settings["class_weights"] = _class_weights(model.class_weight, self.table)
        return settings


def _class_weights(weights: Mapping[Any, Any], table: Table) -> NDArray[np.float64] | None:
    """Return the weight of each class, or None where one has none or it is no number."""
    assert table.classes is not None
    found = [weights.get(name) for name in table.classes.tolist()]
    if any(not isinstance(each, Real) or not 0 <= float(each) < np.inf for each in found):
        return None
    return np.array(found, dtype=np.float64)


class _Kernel:
    name = "ridge"
    takes_scaler = True
    estimators = (
        "sklearn.linear_model.Ridge",
        "sklearn.linear_model.RidgeClassifier",
        "sklearn.linear_model.LinearRegression",
        "sklearn.kernel_ridge.KernelRidge",
        "bitsieve.estimators.kernel_ridge.KernelRidgeClassifier",
    )
    make = RidgeFitness

    def refusal(self, problem: Problem) -> str | None:
        model, table = problem.model, problem.table
        name = type(model).__name__
        reason = refusal_of_instructions()
        if reason is not None:
            return reason
        of_classes = name in _OF_CLASSES
        if of_classes != (table.codes is not None):
            kind = "without" if of_classes else "of"
            return f"a target {kind} classes has no kernel"
        reason = _refusal_of_kernel(model) if name in _OF_KERNELS else _refusal_of_linear(model)
        if reason is not None:
            return reason
        if of_classes and model.class_weight:
            weights = model.class_weight
            if isinstance(weights, str):
                if weights != "balanced":
                    return f"class_weight {weights!r} has no kernel"
            elif not isinstance(weights, Mapping) or _class_weights(weights, table) is None:
                return "class_weight that does not weigh every class has no kernel"
        reason = refusal_of_single(table.X)
        if reason is not None:
            return reason
        many = table.n_samples > _core.matrix_samples
        if many and name in _OF_KERNELS and model.kernel != "linear":
            return f"more than {_core.matrix_samples:,} samples have no kernel"
        if many and table.n_features >= table.n_samples:
            return (
                f"more than {_core.matrix_samples:,} samples with as many features have no kernel"
            )
        reads: tuple[Reads, ...] = ("classes", "decisions") if of_classes else ("numbers",)
        return refusal_of_data(problem, reads, weights=True)


def _refusal_of_linear(model: Any) -> str | None:
    if model.positive:
        return "positive=True has no kernel"
    if type(model).__name__ == "LinearRegression":
        tol = getattr(model, "tol", 0.0)  # older versions have none
        if not tol <= _MOST_TOLERANCE:
            return f"tol={tol:g} has no kernel (at most {_MOST_TOLERANCE:g} has)"
        return None
    if model.solver not in _SOLVERS:
        return f"solver {model.solver!r} has no kernel, since it stops short of the solution"
    return _refusal_of_alpha(model.alpha)


def _refusal_of_alpha(alpha: Any) -> str | None:
    if not isinstance(alpha, Real):
        return "alpha that is not one number has no kernel"
    return None if 0 <= float(alpha) < np.inf else f"alpha={alpha:g} has no kernel"


def _refusal_of_kernel(model: Any) -> str | None:
    if not isinstance(model.kernel, str) or model.kernel not in _KERNELS:
        shown = repr(model.kernel) if isinstance(model.kernel, str) else "of your own"
        return f"kernel {shown} has no kernel"
    if model.kernel != "linear":
        if model.gamma is not None and not 0 < model.gamma < np.inf:
            return f"gamma={model.gamma:g} has no kernel"
        if _KERNELS[model.kernel] == "polynomial":
            if not isinstance(model.degree, Integral) and int(model.degree) != model.degree:
                return f"degree={model.degree:g} has no kernel"
            if not 0 <= model.degree <= _MOST_DEGREE:
                return f"degree={model.degree:g} has no kernel"
    reason = _refusal_of_alpha(model.alpha)
    if reason is None and model.alpha == 0:
        return f"alpha=0 has no kernel in {type(model).__name__}"
    return reason


KERNEL = _Kernel()
