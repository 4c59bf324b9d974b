"""Which estimators see X through inner products of samples alone, and under which parameters.

Such an estimator answers alike on any Z with Z Z' = X X': a rotation of the features changes no
inner product. What looks at features one by one (an L1 penalty, signs of coefficients, a random
choice of coordinates) does not, and neither does a solver that stops where it is told by single
coefficients before it is near its answer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["RULES", "Rule", "rule_of"]

#: Kernel functions of inner products, under scikit-learn's names.
_SVM_KERNELS = ("linear", "rbf", "poly", "sigmoid")
_RIDGE_KERNELS = (*_SVM_KERNELS, "polynomial", "cosine")

# lstsq drops singular values below a share of the largest. Those of a factor are the roots of a
# Gram matrix's eigenvalues, known to about 1e-8 of the largest.
_LEAST_CUTOFF = 1e-7

# A logistic regression that stops when no coefficient's slope is above tol stops elsewhere in other
# coordinates; at 1e-4, the default, decisions then differ by a tenth and one prediction in fifty.
_CLOSE = 1e-8


@dataclass(frozen=True)
class Rule:
    """How one class of estimators sees X.

    Attributes
    ----------
    free : frozenset of str
        Parameters that look at no single feature, whatever their value.
    judge : callable
        ``judge(estimator)`` is None, or why the other parameters have no kernel.
    judged : frozenset of str
        The parameters that it looks at.
    is_kernel : bool
        Whether the estimator takes ``kernel="precomputed"``.
    centres : callable
        ``centres(estimator)`` tells whether its answer is the same for columns that are shifted,
        step by step of its solver.
    """

    free: frozenset[str]
    judged: frozenset[str]
    judge: Callable[[Any], str | None]
    is_kernel: bool
    centres: Callable[[Any], bool]

    def refusal(self, estimator: Any) -> str | None:
        """Return why an estimator has no kernel, or None."""
        for name, value in estimator.get_params(deep=False).items():
            if name not in self.free and name not in self.judged:
                return f"{name}={value!r} has no kernel"
        return self.judge(estimator)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _svm(estimator: Any) -> str | None:
    if not isinstance(estimator.kernel, str) or estimator.kernel not in _SVM_KERNELS:
        return f"kernel={_short(estimator.kernel)} has no kernel"
    return None


def _kernel_ridge(estimator: Any) -> str | None:
    if not isinstance(estimator.kernel, str) or estimator.kernel not in _RIDGE_KERNELS:
        return f"kernel={_short(estimator.kernel)} has no kernel"
    if getattr(estimator, "kernel_params", None):
        return "kernel_params have no kernel"
    return _penalty(estimator)


def _penalty(estimator: Any) -> str | None:
    if not isinstance(estimator.alpha, Real):
        return "an alpha for each target has no kernel"
    if not float(estimator.alpha) > 0:
        return f"alpha={estimator.alpha:g} has no kernel"
    return None


def _ridge(estimator: Any) -> str | None:
    if estimator.positive:
        return "positive=True has no kernel"
    if estimator.solver not in ("auto", "svd", "cholesky", "lsqr", "sparse_cg"):
        return f"solver {estimator.solver!r} has no kernel"
    return _penalty(estimator)


def _least_squares(estimator: Any) -> str | None:
    if estimator.positive:
        return "positive=True has no kernel"
    cutoff = getattr(estimator, "tol", 0.0)
    if cutoff < _LEAST_CUTOFF:
        return (
            f"LinearRegression that drops no singular value above {_LEAST_CUTOFF:g} has no kernel"
        )
    return None


def _linear_svm(estimator: Any) -> str | None:
    if getattr(estimator, "penalty", "l2") != "l2":
        return f"penalty {estimator.penalty!r} has no kernel"
    return None


def _logistic(estimator: Any) -> str | None:
    # Newer versions say the penalty by l1_ratio and C, older ones by its name.
    penalty = getattr(estimator, "penalty", "deprecated")
    if penalty not in ("l2", "deprecated"):
        return f"penalty {penalty!r} has no kernel"
    if penalty == "deprecated" and getattr(estimator, "l1_ratio", None) not in (None, 0):
        return f"l1_ratio={estimator.l1_ratio:g} has no kernel"
    if not np.isfinite(estimator.C):
        return "LogisticRegression without a penalty has no kernel"
    if estimator.solver == "liblinear":
        return "dual=True has no kernel" if estimator.dual else None
    if estimator.solver not in ("lbfgs", "newton-cg", "newton-cholesky"):
        return f"solver {estimator.solver!r} has no kernel"
    if estimator.tol > _CLOSE:
        return (
            f"solver {estimator.solver!r} stops by single coefficients, with tol={estimator.tol:g} "
            f"far from its answer; tol={_CLOSE:g} or solver 'liblinear' has a kernel"
        )
    return None


_LIBSVM = Rule(
    free=_words(
        "C nu epsilon degree gamma coef0 shrinking probability tol cache_size class_weight verbose "
        "max_iter decision_function_shape break_ties random_state"
    ),
    judged=_words("kernel"),
    judge=_svm,
    is_kernel=True,
    # A linear one is the same wherever the origin is, but libsvm rounds its matrix to float32.
    centres=lambda estimator: estimator.kernel == "rbf",
)
_LIBLINEAR = Rule(
    free=_words(
        "C epsilon loss dual tol multi_class fit_intercept intercept_scaling class_weight verbose "
        "random_state max_iter"
    ),
    judged=_words("penalty"),
    judge=_linear_svm,
    is_kernel=False,
    centres=lambda estimator: False,  # its intercept is a feature, and penalised
)
_RIDGE = Rule(
    free=_words("fit_intercept copy_X max_iter tol class_weight random_state"),
    judged=_words("alpha solver positive"),
    judge=_ridge,
    is_kernel=False,
    centres=lambda estimator: bool(estimator.fit_intercept),
)
_KERNEL_RIDGE = Rule(
    free=_words("gamma degree coef0 class_weight"),
    judged=_words("alpha kernel kernel_params"),
    judge=_kernel_ridge,
    is_kernel=True,
    centres=lambda estimator: estimator.kernel == "rbf",
)

#: By dotted name of the class.
RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("sklearn.svm.SVC", "sklearn.svm.NuSVC", "sklearn.svm.SVR", "sklearn.svm.NuSVR"), _LIBSVM
    ),
    **dict.fromkeys(("sklearn.svm.LinearSVC", "sklearn.svm.LinearSVR"), _LIBLINEAR),
    **dict.fromkeys(("sklearn.linear_model.Ridge", "sklearn.linear_model.RidgeClassifier"), _RIDGE),
    "sklearn.linear_model.LinearRegression": Rule(
        free=_words("fit_intercept copy_X n_jobs"),
        judged=_words("positive tol"),
        judge=_least_squares,
        is_kernel=False,
        centres=lambda estimator: bool(estimator.fit_intercept),
    ),
    "sklearn.kernel_ridge.KernelRidge": _KERNEL_RIDGE,
    "bitsieve.estimators.kernel_ridge.KernelRidgeClassifier": _KERNEL_RIDGE,
    "sklearn.linear_model.LogisticRegression": Rule(
        free=_words(
            "dual tol fit_intercept intercept_scaling class_weight random_state max_iter verbose "
            "warm_start n_jobs multi_class"
        ),
        judged=_words("penalty C l1_ratio solver"),
        judge=_logistic,
        is_kernel=False,
        # The intercept is not penalised, but the solver's way there depends on the origin.
        centres=lambda estimator: False,
    ),
}


def rule_of(estimator: Any) -> Rule:
    """Return the rule of an estimator of one of the classes of ``RULES``."""
    for name, rule in RULES.items():
        module, _, kind = name.rpartition(".")
        if type(estimator) is getattr(sys.modules.get(module), kind, None):
            return rule
    raise AssertionError(type(estimator))


def _short(kernel: Any) -> str:
    return repr(kernel) if isinstance(kernel, str) else getattr(kernel, "__name__", "a callable")
