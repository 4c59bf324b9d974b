"""Cross-validated naive Bayes of bits, counts and categories by the compiled kernels."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.fitness.base import Fitness
from bitsieve.fitness.compiled import CompiledFitness, refusal_of_data
from bitsieve.fitness.options import Problem
from bitsieve.fitness.pipelines import scaler_options
from bitsieve.fitness.refusals import refusal_of_single
from bitsieve.fitness.splits import FixedSplits

__all__ = ["KERNEL", "BernoulliFitness", "CategoricalFitness", "MultinomialFitness"]

_MOST_CATEGORIES = 65536
_PART = 1 << 20  # numbers of a table that are looked at at a time
# log(1 - p) of p = (count + alpha) / (n + 2 alpha), as scikit-learn computes it, has a relative
# error of 1e-16 (n + 2 alpha) / alpha.
_LEAST_SHARE = 1e-6
# So have counts of a complement, all less those of a class, where they are not whole numbers.
_LEAST_REST = 1e-7
_LARGEST_RANGE = 1e30  # of a scaler


class _DiscreteFitness(CompiledFitness):
    """What the four models share."""

    kernel = "discrete_bayes"

    def __init__(self, problem: Problem) -> None:
        prior = problem.model.class_prior
        # scikit-learn refuses a prior beside a training part that lacks a class.
        self._least_classes = 1 if prior is None else len(prior)
        super().__init__(problem)

    def _settings(self) -> dict[str, Any]:
        model = self.problem.model
        prior = () if model.class_prior is None else model.class_prior
        return {
            "alpha": _alpha(model),
            "fit_prior": bool(model.fit_prior),
            "log_prior": np.log(np.asarray(prior, dtype=np.float64)),
        }


class BernoulliFitness(_DiscreteFitness):
    """scikit-learn's ``BernoulliNB``, behind a scaler too; see :class:`Fitness`.

    A class's joint log likelihood is a sum over the features of the mask, of log p or log(1 - p)
    by the bit of the sample, so that a batch of masks adds up terms that are made once. Sums in
    float32 with an error bound decide nearly all samples; what they leave open, and probabilities,
    are made in float64 by scikit-learn's formulas, features in ascending order. Of classes that
    are equal there the first is predicted; where two classes tie exactly, scikit-learn's choice is
    a matter of its rounding.

    Behind a scaler a bit is told by the value that scikit-learn's transform rounds to. After a
    ``StandardScaler`` that depends on the order in which samples are added up: masks of a single
    feature, and all masks where a split lists its training samples in another than ascending
    order, are scikit-learn's if a value is that near to the threshold.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from bitsieve.fitness import compile
    >>> X, y = load_iris(return_X_y=True)
    >>> fitness = compile(BernoulliNB(binarize=1.5), X, y)
    >>> fitness.kernel, fitness.evaluate([[False, True, True, True]]).round(3)
    ('discrete_bayes', array([0.86]))
    """

    _core_class = _core.BernoulliFitness

    def _settings(self) -> dict[str, Any]:
        return {
            **super()._settings(),
            "threshold": _threshold(self.problem),
            "scaler": scaler_options(self.problem.scaler),
            "ascending": _trains_in_order(self.problem),
        }


class MultinomialFitness(_DiscreteFitness):
    """scikit-learn's ``MultinomialNB`` and ``ComplementNB(norm=False)``; see :class:`Fitness`.

    Behind a scaler too, where that leaves the training values at zero or above.

    Sums as of :class:`BernoulliFitness`, of x log(count + alpha), and the totals of samples and
    classes over the mask, of which the logarithms are taken mask by mask. A mask with a column of
    negative values goes to scikit-learn, which refuses it.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import ComplementNB
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(ComplementNB(), *load_digits(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[True] * 64]).round(3)
    ('discrete_bayes', array([0.795]))
    """

    _core_class = _core.MultinomialFitness

    def _settings(self) -> dict[str, Any]:
        complement = type(self.problem.model).__name__ == "ComplementNB"
        return {
            **super()._settings(),
            "complement": complement,
            "scaler": scaler_options(self.problem.scaler),
        }


class CategoricalFitness(_DiscreteFitness):
    """scikit-learn's ``CategoricalNB``; see :class:`Fitness`.

    Sums as of :class:`BernoulliFitness`, of the log share of the sample's category. Values are
    cut to whole numbers, as scikit-learn does. A mask with a negative value, or with a category
    above all that a training part has (and above ``min_categories``), goes to scikit-learn, which
    refuses it.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import CategoricalNB
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(CategoricalNB(min_categories=10), *load_iris(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[False, True, True, True]]).round(3)
    ('discrete_bayes', array([0.953]))
    """

    _core_class = _core.CategoricalFitness

    def _settings(self) -> dict[str, Any]:
        least = self.problem.model.min_categories
        return {**super()._settings(), "min_categories": 0 if least is None else int(least)}


class _Kernel:
    name = "discrete_bayes"
    _classes: ClassVar[dict[str, type[_DiscreteFitness]]] = {
        "BernoulliNB": BernoulliFitness,
        "MultinomialNB": MultinomialFitness,
        "ComplementNB": MultinomialFitness,
        "CategoricalNB": CategoricalFitness,
    }
    takes_scaler = True
    estimators = tuple(f"sklearn.naive_bayes.{name}" for name in _classes)

    def make(self, problem: Problem) -> Fitness:
        return self._classes[type(problem.model).__name__](problem)

    def refusal(self, problem: Problem) -> str | None:
        if problem.table.codes is None:
            return "a target without classes has no kernel"
        reason = _refusal_of_smoothing(problem)
        if reason is None:
            reason = refusal_of_data(problem, ("classes", "probabilities"), weights=True)
        if reason is None:
            reason = _refusal_of_scaler(problem)
        if reason is None:
            reason = _REFUSALS[type(problem.model).__name__](problem)
        return reason


def _alpha(model: Any) -> float:
    return float(model.alpha) if model.force_alpha else max(float(model.alpha), 1e-10)


def _threshold(problem: Problem) -> float:
    """Return above what a value is a one. Beside float32 a Python number is one to numpy, too."""
    threshold = problem.model.binarize
    if threshold is None:
        return 0.5
    if problem.table.X.dtype == np.float32 and not isinstance(threshold, np.generic):
        return float(np.float32(threshold))
    return float(threshold)


def _trains_in_order(problem: Problem) -> bool:
    """Tell whether all training parts list their samples in ascending order."""
    splits = problem.splits
    if not isinstance(splits, FixedSplits):
        return True
    return all((np.diff(train) > 0).all() for train, _ in splits.pairs)


def _refusal_of_smoothing(problem: Problem) -> str | None:
    model = problem.model
    if not isinstance(model.alpha, Real):
        return "an alpha for each feature has no kernel"
    if not 0 < _alpha(model) < np.inf:
        return f"alpha={model.alpha:g} has no kernel"
    if model.class_prior is None:
        return None
    assert problem.table.classes is not None
    n_classes, prior = len(problem.table.classes), np.asarray(model.class_prior)
    if prior.shape != (n_classes,) or prior.dtype.kind not in "iuf":
        return f"class_prior that is not {n_classes} numbers has no kernel"
    if not (np.isfinite(prior) & (prior > 0)).all():
        return "class_prior with numbers that are not above 0 has no kernel"
    return None


def _refusal_of_scaler(problem: Problem) -> str | None:
    scaler, model = problem.scaler, type(problem.model).__name__
    if scaler is None:
        return None
    if model == "CategoricalNB":  # which cuts what is scaled to whole numbers
        return "a scaler before CategoricalNB has no kernel"
    name = type(scaler).__name__
    if name == "MinMaxScaler":
        low, high = map(float, scaler.feature_range)
        if max(abs(low), abs(high)) > _LARGEST_RANGE:
            return f"feature_range={scaler.feature_range!r} has no kernel"
        if low != 0 and model != "BernoulliNB":
            return f"feature_range={scaler.feature_range!r} before {model} has no kernel"
    elif name != "MaxAbsScaler" and model != "BernoulliNB":
        if getattr(scaler, "with_mean", False) or getattr(scaler, "with_centering", False):
            return f"{name} before {model} has no kernel: it leaves values that are negative"
        if model == "ComplementNB":
            return f"{name} before ComplementNB has no kernel"
    return refusal_of_single(problem.table.X)


def _weight(problem: Problem) -> float:
    weights = problem.options.sample_weight
    return float(problem.table.n_samples if weights is None else np.sum(weights))


def _refusal_of_bernoulli(problem: Problem) -> str | None:
    model = problem.model
    if model.binarize is None and problem.scaler is not None:
        return "binarize=None behind a scaler has no kernel"
    if model.binarize is None and not all(((X == 0) | (X == 1)).all() for X in _parts(problem)):
        return "binarize=None has no kernel for values other than 0 and 1"
    alpha, weight = _alpha(model), _weight(problem)
    if alpha < _LEAST_SHARE * (weight + 2 * alpha):
        return (
            f"alpha={alpha:g} beside a weight of {weight:g} has no kernel: it is lost in the "
            "rounding of scikit-learn's log(1 - p)"
        )
    return None


def _refusal_of_multinomial(problem: Problem) -> str | None:
    return None


def _refusal_of_complement(problem: Problem) -> str | None:
    if problem.model.norm is not False:
        return "norm=True has no kernel"
    alpha, whole = _alpha(problem.model), problem.options.sample_weight is None
    if problem.scaler is not None:  # to a range
        largest = _weight(problem) * float(getattr(problem.scaler, "feature_range", (0, 1))[1])
        whole = False
    else:
        totals = np.zeros(problem.table.n_features)
        for X in _parts(problem):
            totals += np.abs(X).sum(axis=0, dtype=np.float64)
            whole = whole and not np.mod(X, 1).any()
        largest = float(totals.max()) * _weight(problem) / problem.table.n_samples
    if not (whole and largest < 2**53) and alpha < _LEAST_REST * largest:
        return (
            f"alpha={alpha:g} beside totals of {largest:g} has no kernel: it is lost in the "
            "rounding of scikit-learn's counts"
        )
    return None


def _refusal_of_categories(problem: Problem) -> str | None:
    least = problem.model.min_categories
    if least is None:
        return None
    if isinstance(least, bool) or not isinstance(least, Integral):
        return "min_categories for each feature has no kernel"
    if int(least) > _MOST_CATEGORIES:
        return f"min_categories={least} has no kernel"
    return None


def _parts(problem: Problem) -> Iterator[NDArray[Any]]:
    """Give the table in parts of some megabytes."""
    X = problem.table.X
    step = max(1, _PART // X.shape[1])
    return (X[start : start + step] for start in range(0, len(X), step))


_REFUSALS = {
    "BernoulliNB": _refusal_of_bernoulli,
    "MultinomialNB": _refusal_of_multinomial,
    "ComplementNB": _refusal_of_complement,
    "CategoricalNB": _refusal_of_categories,
}

KERNEL = _Kernel()
