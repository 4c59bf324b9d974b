"""Which kernel serves what, what is said where none does, and kernels of one's own."""

from __future__ import annotations

import importlib
import logging
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Lasso
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bitsieve import BinarySPSA
from bitsieve.evaluation import nested_cross_validate
from bitsieve.fitness import (
    Fitness,
    FitnessOptions,
    GeneralFitness,
    KnnFitness,
    Problem,
    compile,
    kernels,
    register_kernel,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
Y = np.arange(40) % 2
KNN = KNeighborsClassifier(1)
BOOTSTRAP = [(RNG.integers(0, 30, 30), np.arange(30, 40))]
OVERLAP = [(np.arange(31), np.arange(30, 40))]


class Subclass(KNeighborsClassifier):
    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def _own(estimator: Any, X: Any, y: Any) -> float:
    return 1.0


TREE = DecisionTreeClassifier(max_depth=1, random_state=0)


def test_what_is_served_and_why_the_rest_is_not() -> None:
    wide = X * np.where(np.arange(6) == 2, 1e25, 1.0)
    served: list[tuple[Any, dict[str, Any]]] = [
        (KNN, {}),
        (KNeighborsClassifier(), {"scoring": "roc_auc", "resample": True}),
        (KNeighborsClassifier(np.int64(3), algorithm="kd_tree", leaf_size=3), {}),
        (KNeighborsClassifier(metric="euclidean", p=1, weights=None), {"cv": 3, "n_repeats": 2}),
    ]
    for estimator, options in served:
        fitness = compile(estimator, X, Y, **options)
        assert (type(fitness), fitness.kernel, fitness.fallback_reason) == (KnnFitness, "knn", None)
    knn = "KNeighborsClassifier: "
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (KNeighborsClassifier(metric="manhattan"), {}, knn + "metric 'manhattan' has no kernel"),
        (KNeighborsClassifier(weights=np.ones_like), {}, knn + "weights of your own has no kernel"),
        (KNeighborsClassifier(p=1), {}, knn + "metric 'minkowski' with p=1 has no kernel"),
        (KNeighborsClassifier(p=None), {}, knn + "metric 'minkowski' with p=None has no kernel"),
        (KNeighborsClassifier(metric="cosine"), {}, knn + "metric 'cosine' has no kernel"),
        (KNN, {"scoring": _own}, knn + "a scoring function of your own has no kernel"),
        (KNN, {"cv": BOOTSTRAP}, knn + "a split that lists a sample twice has no kernel"),
        (KNN, {"cv": OVERLAP}, knn + "a split that trains on what it tests has no kernel"),
        (KNN, {"X": wide}, knn + "values whose squares overflow in float32 have no kernel"),
        (KNN, {"X": wide * 1e25}, knn + "values beyond the range of float32 have no kernel"),
    ]
    strangers = {
        Subclass(1): "Subclass",
        TREE: "DecisionTreeClassifier",
        DummyClassifier(): "DummyClassifier",
        make_pipeline(TREE): "Pipeline of DecisionTreeClassifier",
        make_pipeline(StandardScaler(), TREE): "Pipeline of StandardScaler, DecisionTreeClassifier",
    }
    names = [*dict.fromkeys(e.rpartition(".")[2] for k in kernels() for e in k.estimators)]
    known = f"{', '.join(names[:8])} and {len(names) - 8} more"
    refused += [
        (each, {}, f"no compiled kernel for {name}; there is one for {known}")
        for each, name in strangers.items()
    ]
    unknown = make_pipeline(PCA(2), KNN)
    told = "Pipeline of PCA, KNeighborsClassifier: PCA before a model has no kernel"
    refused.append((unknown, {}, told))
    for estimator, options, reason in refused:
        fitness = compile(estimator, options.pop("X", X), Y, **options)
        assert (type(fitness), fitness.kernel) == (GeneralFitness, None)
        assert fitness.fallback_reason == reason


# What the kernels were written for: a parameter that a newer scikit-learn adds has to be looked at.
KNOWN = {
    "KNeighborsClassifier": "algorithm leaf_size metric metric_params n_jobs n_neighbors p weights",
    "KNeighborsRegressor": "algorithm leaf_size metric metric_params n_jobs n_neighbors p weights",
    "NearestCentroid": "metric priors shrink_threshold",
    "GaussianNB": "priors var_smoothing",
    "BernoulliNB": "alpha binarize class_prior fit_prior force_alpha",
    "MultinomialNB": "alpha class_prior fit_prior force_alpha",
    "ComplementNB": "alpha class_prior fit_prior force_alpha norm",
    "CategoricalNB": "alpha class_prior fit_prior force_alpha min_categories",
    "DiagonalLDA": "priors var_smoothing",
    "LinearDiscriminantAnalysis": "covariance_estimator n_components priors shrinkage solver "
    "store_covariance tol",
    "Ridge": "alpha copy_X fit_intercept max_iter positive random_state solver tol",
    "RidgeClassifier": "alpha class_weight copy_X fit_intercept max_iter positive random_state "
    "solver tol",
    "LinearRegression": "copy_X fit_intercept n_jobs positive tol",
    "KernelRidge": "alpha coef0 degree gamma kernel kernel_params",
    "KernelRidgeClassifier": "alpha class_weight coef0 degree gamma kernel",
    "StandardScaler": "copy with_mean with_std",
    "MinMaxScaler": "clip copy feature_range",
    "MaxAbsScaler": "clip copy",
    "RobustScaler": "copy quantile_range unit_variance with_centering with_scaling",
}


def test_no_parameter_is_unknown() -> None:
    served = [
        each
        for kernel in kernels()
        for each in kernel.estimators
        if isinstance(each, str) and kernel.name != "factor"  # whose rules refuse the unknown
    ]
    served += [f"sklearn.preprocessing.{name}" for name in KNOWN if name.endswith("Scaler")]
    for path in served:
        module, _, name = path.rpartition(".")
        parameters = getattr(importlib.import_module(module), name)().get_params()
        assert set(parameters) <= set(KNOWN[name].split()), name


def test_the_reason_stays_with_a_fitness() -> None:
    fitness = compile(KNeighborsClassifier(metric="manhattan"), X, Y, cv=3, n_jobs=1)
    fresh = fitness.resampled()
    assert fresh is not None
    for other in (pickle.loads(pickle.dumps(fitness)), fresh, fresh.resampled()):
        assert other.fallback_reason == fitness.fallback_reason
        assert other.problem.options.n_jobs == 1
    assert fresh.resample
    assert fitness.fingerprint() != fresh.fingerprint()
    assert fitness.fingerprint() == pickle.loads(pickle.dumps(fitness)).fingerprint()
    several = compile(KNeighborsClassifier(metric="manhattan"), X, Y, cv=3, n_jobs=2)
    assert several.fingerprint() == fitness.fingerprint()  # answers alike
    for kind in (FitnessOptions, Problem):
        assert kind.__dataclass_params__.frozen


def test_what_evaluates_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def said(level: int) -> list[str]:
        return [r.getMessage() for r in caplog.records if r.levelno >= level]

    caplog.set_level(logging.INFO, logger="bitsieve")
    compile(KNN, X, Y).evaluate(X[:2] > 0)
    assert said(logging.INFO) == ["kernel 'knn' evaluates each mask"]
    assert caplog.records[0].kernel == "knn"
    caplog.clear()
    fitness = compile(Lasso(), X, Y, n_jobs=1)
    fitness.evaluate(X[:2] > 0)
    assert fitness.resampled() is not None
    assert said(logging.INFO) == [f"scikit-learn evaluates each mask ({fitness.fallback_reason})"]
    assert caplog.records[0].fallback_reason == fitness.fallback_reason
    assert not said(logging.WARNING)
    caplog.clear()
    selector = BinarySPSA(
        DecisionTreeClassifier(), max_iter=1, n_repeats=1, random_state=0, n_jobs=1
    )
    nested_cross_validate(make_pipeline(StandardScaler(), selector), None, X, Y, cv=2)
    told = [line for line in said(logging.INFO) if line.startswith("scikit-learn")]
    assert len(told) == 1
    selector.fit(X, Y)
    assert selector.kernel_ is None
    assert told == [f"scikit-learn evaluates each mask ({selector.fallback_reason_})"]
    selector.set_params(estimator=KNN).fit(X, Y)
    assert (selector.kernel_, selector.fallback_reason_) == ("knn", None)


class _CountFitness(Fitness):
    """The share of features, whatever the folds."""

    kernel = "count"

    def _evaluate(self, masks, seeds):
        return np.repeat(masks.counts()[:, None] / self.n_features, self.n_splits, axis=1)


class _Count:
    def __init__(self, name: str, estimators: tuple[Any, ...], refuses: str | None = None) -> None:
        self.name, self.estimators, self._refuses = name, estimators, refuses

    def refusal(self, problem: Problem) -> str | None:
        return self._refuses

    def make(self, problem: Problem) -> Fitness:
        return _CountFitness(problem)


def test_kernels_of_ones_own_are_asked_first_and_the_last_one_before() -> None:
    own = [kernel.name for kernel in kernels()]
    assert own[0] == "knn"
    both = ("sklearn.neighbors.KNeighborsClassifier", DecisionTreeClassifier)
    with register_kernel(_Count("a", both)):
        assert compile(KNN, X, Y).evaluate([[True] * 3 + [False] * 3]) == [0.5]
        with register_kernel(_Count("b", both, "none on\nMondays")):
            assert [kernel.name for kernel in kernels()] == ["b", "a", *own]
            assert compile(DecisionTreeClassifier(), X, Y).kernel == "count"
    nested = register_kernel(_Count("b", both, "none on\nMondays"))
    assert compile(KNN, X, Y).kernel == "knn"
    distances = KNeighborsClassifier(metric="manhattan")
    assert compile(distances, X, Y).fallback_reason == (
        "KNeighborsClassifier: none on Mondays; metric 'manhattan' has no kernel"
    )
    assert (
        compile(DecisionTreeClassifier(), X, Y).fallback_reason
        == "DecisionTreeClassifier: none on Mondays"
    )
    fallback = compile(DummyRegressor(), X, Y).fallback_reason
    assert fallback is not None
    assert "there is one for KNeighborsClassifier, DecisionTreeClassifier" in fallback
    with pytest.raises(ValueError, match="a kernel named 'b' is registered already; give yours"):
        register_kernel(_Count("b", ()))
    nested.close()
    with pytest.raises(ValueError, match=r"must have name, .*; KNeighborsClassifier has no name"):
        register_kernel(KNN)  # type: ignore[arg-type]
    for wrong in ("sklearn.svm.SVC", None, (5,), ("SVC",)):
        with pytest.raises(ValueError, match="estimators of a kernel must be a sequence of"):
            register_kernel(_Count("c", wrong))  # type: ignore[arg-type]
    assert [kernel.name for kernel in kernels()] == own


def test_to_list_kernels_loads_no_estimator() -> None:
    code = (
        "import sys, bitsieve.fitness\n"
        "names = [kernel.name for kernel in bitsieve.fitness.kernels()]\n"
        "assert 'knn' in names and 'sklearn.neighbors' not in sys.modules, names"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_kernel_for_a_class_serves_no_subclass_of_it() -> None:
    class Own:
        name = "own"
        estimators = (KNeighborsClassifier,)
        make = KnnFitness

        def refusal(self, problem: Problem) -> str | None:
            return None

    with register_kernel(Own()):
        assert compile(KNeighborsClassifier(1, metric="manhattan"), X, Y).fallback_reason is None
        assert compile(Subclass(1), X, Y).kernel is None
