"""Cross-validated k-nearest-neighbor models by the compiled kernel."""

from __future__ import annotations

from typing import Any, ClassVar

from bitsieve import _core
from bitsieve.fitness.gram import GramCompiledFitness, refusal_of_gram
from bitsieve.fitness.options import Problem
from bitsieve.fitness.pipelines import scaler_options
from bitsieve.fitness.splits import FreshFolds, Split

__all__ = ["KERNEL", "KnnFitness"]

_METRICS = ("euclidean", "l2", "sqeuclidean")  # which order samples alike
_WEIGHTS = ("uniform", "distance")
# Where half of the features is what scikit-learn builds trees of, whose time grows less than n^2.
_MOST_OF_FEW, _FEW = 50_000, 30


class KnnFitness(GramCompiledFitness):
    """k nearest neighbors of Euclidean distance, classes or numbers; see :class:`Fitness`.

    One matrix of squared distances serves every split of a mask. Distances are those of float64
    arithmetic on X (eight partial sums, by the feature's position in the mask); where two are
    equal, the sample with the lower index is nearer. ``weights="distance"`` takes their inverse;
    neighbors at distance zero, if there are any, are then the only ones that count.

    scikit-learn's neighbors and weights are the same to rounding, but for samples that agree in all
    selected features or nearly so: above 15 features it computes distances from products, whose
    rounding makes those of such samples about 1e-8 times their norm, or zero, as it happens. Here
    equal samples are at distance zero.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.fitness import compile
    >>> compile(KNeighborsClassifier(1), *load_iris(return_X_y=True), scoring="f1_macro")
    <KnnFitness: KNeighborsClassifier(n_neighbors=1), 150 x 4, 5-fold, kernel='knn'>
    """

    kernel = "knn"
    _core_class: ClassVar[Any] = _core.KnnFitness
    _trial_settings = {"n_neighbors": 1}  # noqa: RUF012

    @property
    def _n_neighbors(self) -> int:
        return int(self.problem.model.n_neighbors)

    def _settings(self) -> dict[str, Any]:
        by_distance = self.problem.model.weights == "distance"
        return {"n_neighbors": self._n_neighbors, "by_distance": by_distance}

    def _depends_on_seed(self) -> bool:
        # Fresh folds of groups have other sizes for every seed.
        splits = self._splits
        grouped = isinstance(splits, FreshFolds) and splits.groups is not None
        return grouped and splits.smallest_training_set() < self._n_neighbors

    def _check_splits(self, splits: list[Split]) -> None:
        fewest = min(len(train) for train, _ in splits)
        if fewest < self._n_neighbors:
            left = (
                "that folds of whole groups left" if self._fits_by_seed else "of the smallest split"
            )
            raise ValueError(
                f"n_neighbors={self._n_neighbors} is more than the {fewest} training samples "
                f"{left}; lower n_neighbors or raise cv"
            )


class ScaledKnnFitness(KnnFitness):
    """A scaler fitted to each training part, then k nearest neighbors; see :class:`Fitness`.

    The distance of two samples in a split is that of float64 arithmetic on differences of X over
    the scales that scikit-learn's scaler learns of the training part, so that equal samples are at
    distance zero and ties stay ties; scikit-learn rounds each scaled value first.

    Parameters
    ----------
    problem : Problem
        One that its kernel does not refuse, with a scaler.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bitsieve.fitness import compile
    >>> model = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    >>> fitness = compile(model, *load_iris(return_X_y=True))
    >>> fitness.kernel, fitness.evaluate([[True, True, True, True]]).round(3)
    ('knn', array([0.947]))
    """

    _core_class: ClassVar[Any] = _core.ScaledKnnFitness

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "scaler": scaler_options(self.problem.scaler)}


def _make(problem: Problem) -> KnnFitness:
    # A scaler that only centers changes no distance.
    scaler = problem.scaler
    scales = all(getattr(scaler, name, True) for name in ("with_std", "with_scaling"))
    return KnnFitness(problem) if scaler is None or not scales else ScaledKnnFitness(problem)


class _Kernel:
    name = "knn"
    takes_scaler = True
    estimators = (
        "sklearn.neighbors.KNeighborsClassifier",
        "sklearn.neighbors.KNeighborsRegressor",
    )
    make = staticmethod(_make)

    def refusal(self, problem: Problem) -> str | None:
        estimator = problem.model
        metric = estimator.metric
        if metric == "minkowski":
            metric = "euclidean"
            if estimator.p != 2:
                return f"metric 'minkowski' with p={estimator.p} has no kernel"
        weights = estimator.weights
        if not (weights is None or (isinstance(weights, str) and weights in _WEIGHTS)):
            return f"weights {_shown(weights)} has no kernel"
        if not isinstance(metric, str) or metric not in _METRICS:
            return f"metric {_shown(metric)} has no kernel"
        if metric == "sqeuclidean" and weights == "distance":
            return "weights 'distance' of metric 'sqeuclidean' has no kernel"
        if metric == "sqeuclidean" and estimator.algorithm not in ("auto", "brute"):
            return f"metric 'sqeuclidean' with algorithm {estimator.algorithm!r} has no kernel"
        if estimator.metric_params is not None:
            return "metric_params has no kernel"
        is_regressor = type(estimator).__name__ == "KNeighborsRegressor"
        table = problem.table
        if (
            (is_regressor or weights == "distance" or problem.scaler is not None)
            and table.n_samples > _MOST_OF_FEW
            and table.n_features <= _FEW
        ):
            return (
                f"more than {_MOST_OF_FEW:,} samples of at most {_FEW} features have no kernel, as "
                "scikit-learn's trees are faster"
            )
        if is_regressor:
            return refusal_of_gram(problem, ("numbers",))
        if problem.table.codes is None:
            return "a target without classes has no kernel"
        return refusal_of_gram(problem, ("classes", "probabilities"))


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else "of your own"


KERNEL = _Kernel()
