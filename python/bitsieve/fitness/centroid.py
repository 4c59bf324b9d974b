"""Cross-validated nearest-centroid classification by the compiled kernel."""

from __future__ import annotations

from bitsieve import _core
from bitsieve.fitness.gram import GramCompiledFitness, refusal_of_gram
from bitsieve.fitness.options import Problem

__all__ = ["KERNEL", "CentroidFitness"]


class CentroidFitness(GramCompiledFitness):
    """scikit-learn's ``NearestCentroid()`` with its default parameters; see :class:`Fitness`.

    The smallest whole kernel, to start another one from. The distance of a sample to the mean of a
    class is |x_i|^2 - 2 mean_j G_ij + mean_jk G_jk over the training samples j, k of the class, so
    one Gram matrix G serves every split of a mask. Classes that its error bound leaves open are
    compared in float64 on X; of classes as far away the first is predicted. Where all selected
    features are constant on a training part scikit-learn refuses to fit; here all classes are as
    far away then.

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


class _Kernel:
    name = "centroid"
    estimators = ("sklearn.neighbors.NearestCentroid",)
    make = CentroidFitness

    def refusal(self, problem: Problem) -> str | None:
        estimator, most = problem.model, _core.matrix_samples
        if estimator.metric != "euclidean":
            return f"metric {estimator.metric!r} has no kernel"
        if estimator.shrink_threshold is not None:
            return f"shrink_threshold={estimator.shrink_threshold:g} has no kernel"
        if not isinstance(estimator.priors, str) or estimator.priors != "uniform":
            return "priors other than 'uniform' have no kernel"
        if problem.table.codes is None:
            return "a target without classes has no kernel"
        if problem.table.n_samples > most:
            return f"more than {most:,} samples have no kernel"
        return refusal_of_gram(problem, reads=("classes",))


KERNEL = _Kernel()
