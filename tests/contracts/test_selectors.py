"""Every selector keeps the contract, scikit-learn's with it; a new one joins by a line.

scikit-learn's own checks run once a class, and once more for options that change what it takes.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils import get_tags

import bitsieve
from bitsieve import selectors
from bitsieve.testing import check_selector
from bitsieve.testing._draws import normals, table

QUICK: dict[str, Any] = {"cv": 2, "n_repeats": 1, "max_iter": 4}

SELECTORS: list[Any] = [
    bitsieve.AutoSelector(effort="quick", n_repeats=1, random_state=0, n_jobs=1),
    bitsieve.BinarySPSA(KNeighborsClassifier(1), **QUICK),
    bitsieve.BinarySPSA(
        KNeighborsClassifier(1),
        n_features_to_select=1,  # of 12: from a filter
        injected_noise=0.1,
        second_order=True,
        **QUICK,
    ),
    pytest.param(  # refits by scikit-learn, in processes where there are two jobs
        bitsieve.BinarySPSA(GaussianNB(), resample=False, n_jobs=1, **QUICK),
        marks=pytest.mark.slow,
    ),
    bitsieve.StochasticLocalSearch(KNeighborsClassifier(1), cv=2, max_iter=9),
    bitsieve.CFS(),
    bitsieve.CFS(discretization="equal_frequency", missing="level", locally_predictive=False),
    bitsieve.EnergySelector(cv=2),
    bitsieve.EnergySelector(0.25, terms="learn", rankers=["f", "relieff"], cv=2),
    bitsieve.EnergySelector(3, terms="ebm-lm", search="annealing", max_sweeps=1, cv=2),
    bitsieve.EnsembleRanker("f", n_bootstraps=3),
    bitsieve.EnsembleRanker(SelectKBest(f_classif, k=1), n_bootstraps=3),
    bitsieve.ExhaustiveSearch(GaussianNB(), cv=2, n_features_to_select=1, n_jobs=1),
    bitsieve.FCBF(),
    bitsieve.FCBF(discretization="mean_sd", threshold=0.01),
    bitsieve.FixedSizeSearch(KNeighborsClassifier(1), cv=2),
    bitsieve.FixedSizeSearch(
        KNeighborsClassifier(1), cv=2, start="random", moves="best_pairs", n_paired=2, n_kicks=2
    ),
    bitsieve.GramSchmidt(),
    bitsieve.GramSchmidt(probe_risk=0.3),
    bitsieve.InformationSelector(),
    bitsieve.InformationSelector(0.5, criterion="cmim"),
    bitsieve.MarkovBlanket(),
    bitsieve.MarkovBlanket("iamb", test="g2", alpha=0.05),
    bitsieve.MRMR(),
    bitsieve.MRMR(criterion="MIQ", missing="level"),
    bitsieve.MRMR(criterion="FCQ"),
    bitsieve.MRMR(criterion="FCD", redundancy="spearman", threshold=0.0),
    bitsieve.ModelSearchCV(
        selectors=["all", "f"], estimators=["lda", "nb", "kridge"], n_iter=1, n_particles=3, cv=2
    ),
    bitsieve.MultiSURF(),
    bitsieve.MultiSURFStar(),
    bitsieve.RandomSearch(KNeighborsClassifier(1), cv=2, n_repeats=1, max_evaluations=64),
    bitsieve.RankAggregation(),
    bitsieve.RankAggregation(["mrmr", "f"], method="median", n_features_to_select=1),
    bitsieve.RecursiveFeatureElimination(RidgeClassifier(), n_features_to_select=1),
    bitsieve.RecursiveFeatureElimination(
        SVC(kernel="linear"), n_features_to_select="auto", step=0.4, cv=2
    ),
    bitsieve.Relief(),
    bitsieve.ReliefF(),
    bitsieve.SequentialFeatureSelector(KNeighborsClassifier(1), cv=2),
    bitsieve.SequentialFeatureSelector(KNeighborsClassifier(1), cv=2, direction="backward"),
    bitsieve.SequentialFeatureSelector(
        KNeighborsClassifier(1),
        cv=2,
        floating=True,
        n_features_to_select=(1, 3),
        size_rule="one_standard_error",
    ),
    bitsieve.SURF(),
    bitsieve.SURFStar(),
    bitsieve.SWRFStar(),
    bitsieve.TuRF(),
    bitsieve.UnivariateSelector(),
    bitsieve.UnivariateSelector("chi2"),
    bitsieve.UnivariateSelector("auc", n_features_to_select=0.5),
    bitsieve.UnivariateSelector("mi"),
    bitsieve.UnivariateSelector("variance"),
    bitsieve.UnivariateSelector("laplacian_score", scorer_options={"n_neighbors": 1}),
]
OF_NUMBERS: list[Any] = [
    bitsieve.GramSchmidt(task="regression"),
    bitsieve.MarkovBlanket("mmmb"),
    bitsieve.RecursiveFeatureElimination(Ridge(), n_features_to_select="auto", cv=2),
    bitsieve.RReliefF(),
    bitsieve.UnivariateSelector("pearson"),
]
# Networks behind gates; scikit-learn's own checks, which want trained ones, run with their tests.
GATES: list[Any] = []
GATES_OF_NUMBERS: list[Any] = []
if importlib.util.find_spec("torch"):
    GATES = [
        bitsieve.STGClassifier(3, hidden_layer_sizes=(4,), max_epochs=10, learning_rate=0.01),
        bitsieve.STGClassifier(
            lam=0.01,
            hidden_layer_sizes=(),
            max_epochs=10,
            early_stopping=True,
            gate="hard_concrete",
        ),
        bitsieve.PEFSClassifier(3, hidden_layer_sizes=(4,), max_iter=20),
    ]
    GATES_OF_NUMBERS = [
        bitsieve.STGRegressor(3, hidden_layer_sizes=(4,), max_epochs=10, learning_rate=0.01),
        bitsieve.PEFSRegressor(3, hidden_layer_sizes=(4,), max_iter=20),
    ]

# The first of each class, and those that take other input than it does.
OTHERWISE = list(
    {
        repr((type(s), get_tags(s).target_tags.required, get_tags(s).input_tags)): s
        for s in reversed([getattr(entry, "values", [entry])[0] for entry in SELECTORS])
    }.values()
)


def _tables(selector: Any) -> tuple[Any, Any]:
    X, codes = table(60, 12)
    if getattr(selector, "scorer", None) == "chi2":
        X = np.exp(X / 2)
    return X, np.array(["healthy", "sick"])[codes]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: repr(selector)[:60])
def test_keeps_the_contract(selector: Any) -> None:
    X, y = _tables(selector)
    check_selector(selector, X=X, y=y, skip=() if selector in OTHERWISE else ["scikit_learn"])


@pytest.mark.parametrize("selector", GATES, ids=lambda selector: repr(selector)[:60])
def test_networks_keep_the_contract(selector: Any) -> None:
    X, y = _tables(selector)
    check_selector(selector, X=X, y=y, skip=["scikit_learn"])


@pytest.mark.parametrize("selector", GATES_OF_NUMBERS, ids=lambda selector: repr(selector)[:60])
def test_networks_keep_the_contract_with_numbers(selector: Any) -> None:
    X, _ = table(60, 12)
    y = 2.0 * X[:, 0] - X[:, 3] + normals(8, 60)
    check_selector(selector, X=X, y=y, skip=["scikit_learn"])


@pytest.mark.skipif(not GATES, reason="needs torch")
def test_every_network_is_here() -> None:
    here = {type(selector).__name__ for selector in (*GATES, *GATES_OF_NUMBERS)}
    assert here == set(bitsieve.gates.__all__) - {"STGCox"}  # of times and events


@pytest.mark.parametrize("selector", OF_NUMBERS, ids=lambda selector: repr(selector)[:60])
def test_keeps_the_contract_with_numbers(selector: Any) -> None:
    X, _ = table(60, 12)
    check_selector(selector, X=X, y=2.0 * X[:, 0] - X[:, 3] + normals(8, 60))


def test_every_selector_is_here() -> None:
    here = {type(getattr(s, "values", [s])[0]).__name__ for s in (*SELECTORS, *OF_NUMBERS)}
    others = {"Discretizer", "NestedSubsets"}  # a transformer of values, what a selector found
    assert here == {*selectors.__all__, "ModelSearchCV"} - others
