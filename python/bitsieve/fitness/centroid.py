"""Cross-validated nearest-centroid classification by the compiled kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitsieve import _core
from bitsieve.fitness.base import Fitness
from bitsieve.fitness.compiled import CompiledFitness, refusal_of_data
from bitsieve.fitness.gram import GramCompiledFitness, refusal_of_gram
from bitsieve.fitness.options import Problem
from bitsieve.fitness.output_scorer import OutputScorer
from bitsieve.fitness.pipelines import scaler_options
from bitsieve.fitness.refusals import refusal_of_priors, refusal_of_single
from bitsieve.fitness.scoring import Reads

__all__ = ["KERNEL", "AdditiveCentroidFitness", "CentroidFitness"]

# Beyond it sums over the features take less time than all pairs of samples, also for a single mask.
_GRAM_SAMPLES = 512

_READS: tuple[Reads, ...] = ("classes", "probabilities", "decisions")


class CentroidFitness(GramCompiledFitness):
    """scikit-learn's ``NearestCentroid()`` with its default parameters; see :class:`Fitness`.

    The distance of a sample to the mean of a class is |x_i|^2 - 2 mean_j G_ij + mean_jk G_jk over
    the training samples j, k of the class, so one Gram matrix G serves every split of a mask, and
    comes from that of a mask near by. It is also a sum over the features, whose terms are shared by
    a large batch of unrelated masks, and by a neighborhood. What takes less time is done. Classes
    that float32 leaves open are compared in float64, in one way whatever was done before; of
    classes as far away the first is predicted. Where all selected features are constant on a
    training part scikit-learn refuses to fit; here all classes are as far away then.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import NearestCentroid
    >>> from bitsieve.fitness import compile
    >>> fitness = compile(NearestCentroid(), *load_iris(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[True, True, True, True]]).round(3)
    ('centroid', array([0.92]))
    """

    kernel = "centroid"
    _core_class = _core.CentroidFitness
    _least_classes = 2


class AdditiveCentroidFitness(CompiledFitness):
    """scikit-learn's ``NearestCentroid``, whatever its parameters; see :class:`Fitness`.

    Distances as sums over the features, for what no Gram matrix holds: priors and probabilities,
    whose distances are in units of the spread within the classes, shrunken centroids, and tables
    of many samples. ``shrink_threshold`` moves a centroid by a multiple of that spread plus its
    median over the *selected* features; such masks are measured one by one.

    Masks of which a feature is constant within each class of a training part are scikit-learn's,
    where its answer is the rounding of its sums.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import NearestCentroid
    >>> from bitsieve.fitness import compile
    >>> model = NearestCentroid(shrink_threshold=0.5)
    >>> fitness = compile(model, *load_iris(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[True, True, True, True]]).round(3)
    ('centroid', array([0.92]))
    """

    kernel = "centroid"
    _core_class = _core.DiagonalFitness
    _least_classes = 2

    def _settings(self) -> dict[str, Any]:
        model, priors = self.problem.model, self.problem.model.priors
        known = {"uniform": "uniform", "empirical": "shares"}
        is_known = isinstance(priors, str)
        return {
            "priors": known[priors] if is_known else "given",
            "given": None if is_known else np.asarray(priors, dtype=np.float64),
            "plain": self._scorer.reads == "classes",
            "shrink": float(model.shrink_threshold or 0.0),
            "decisions": self._scorer.reads == "decisions",
            "scaler": scaler_options(self.problem.scaler),
        }


class _Kernel:
    name = "centroid"
    estimators = ("sklearn.neighbors.NearestCentroid",)
    takes_scaler = True

    def refusal(self, problem: Problem) -> str | None:
        model, table = problem.model, problem.table
        if model.metric != "euclidean":
            return f"metric {model.metric!r} has no kernel"
        if table.codes is None or table.classes is None:
            return "a target without classes has no kernel"
        if self._needs_gram(problem):
            return refusal_of_gram(problem, reads=("classes",))
        if not isinstance(model.priors, str):
            if isinstance(model.priors, np.ndarray):  # scikit-learn compares them with a word
                return "priors in an array have no kernel; give a list"
            reason = refusal_of_priors(model.priors, len(table.classes))
            if reason is not None:
                return reason
        return refusal_of_data(problem, reads=_READS) or refusal_of_single(table.X)

    def make(self, problem: Problem) -> Fitness:
        made = CentroidFitness if self._needs_gram(problem) else AdditiveCentroidFitness
        return made(problem)

    def _needs_gram(self, problem: Problem) -> bool:
        """Tell whether distances to the means of classes are all that is asked for."""
        model, options = problem.model, problem.options
        if model.shrink_threshold is not None or not isinstance(model.priors, str):
            return False
        if model.priors != "uniform" or problem.table.n_samples > _core.matrix_samples:
            return False
        if problem.scaler is not None:
            return False
        if problem.table.n_samples > _GRAM_SAMPLES and refusal_of_single(problem.table.X) is None:
            return False
        if refusal_of_data(problem, reads=("classes",)) is not None:
            return False
        return OutputScorer(options.estimator, options.scoring, problem.table).reads == "classes"


KERNEL = _Kernel()
