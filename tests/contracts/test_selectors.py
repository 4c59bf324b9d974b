"""Every selector keeps the contract, scikit-learn's with it; a new one joins by a line.

scikit-learn's own checks run once a class, and once more for options that change what is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import bitsieve
from bitsieve import selectors
from bitsieve.testing import check_selector
from bitsieve.testing._draws import normals, table

QUICK: dict[str, Any] = {"cv": 2, "n_repeats": 1, "max_iter": 4}

SELECTORS: list[Any] = [
    bitsieve.BinarySPSA(KNeighborsClassifier(1), **QUICK),
    pytest.param(  # refits by scikit-learn, in processes where there are two jobs
        bitsieve.BinarySPSA(GaussianNB(), resample=False, n_jobs=1, **QUICK),
        marks=pytest.mark.slow,
    ),
    bitsieve.CFS(),
    bitsieve.CFS(discretization="equal_frequency", missing="level", locally_predictive=False),
    bitsieve.EnsembleRanker("f", n_bootstraps=3),
    bitsieve.EnsembleRanker(SelectKBest(f_classif, k=1), n_bootstraps=3),
    bitsieve.FCBF(),
    bitsieve.FCBF(discretization="mean_sd", threshold=0.01),
    bitsieve.GramSchmidt(),
    bitsieve.InformationSelector(),
    bitsieve.MRMR(),
    bitsieve.MultiSURF(),
    bitsieve.MultiSURFStar(),
    bitsieve.RankAggregation(),
    bitsieve.RankAggregation(["mrmr", "f"], method="median", n_features_to_select=1),
    bitsieve.Relief(),
    bitsieve.ReliefF(),
    bitsieve.SURF(),
    bitsieve.SURFStar(),
    bitsieve.SWRFStar(),
    bitsieve.TuRF(),
    bitsieve.UnivariateSelector(),
    bitsieve.UnivariateSelector("chi2"),
    bitsieve.UnivariateSelector("mi"),
    bitsieve.UnivariateSelector("variance"),
]
OF_NUMBERS: list[Any] = [
    bitsieve.GramSchmidt(task="regression"),
    bitsieve.RReliefF(),
    bitsieve.UnivariateSelector("pearson"),
]


def _tables(selector: Any) -> tuple[Any, Any]:
    X, codes = table(60, 12)
    if getattr(selector, "scorer", None) == "chi2":
        X = np.exp(X / 2)
    return X, np.array(["healthy", "sick"])[codes]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: repr(selector)[:60])
def test_keeps_the_contract(selector: Any) -> None:
    X, y = _tables(selector)
    check_selector(selector, X=X, y=y)


@pytest.mark.parametrize("selector", OF_NUMBERS, ids=lambda selector: repr(selector)[:60])
def test_keeps_the_contract_with_numbers(selector: Any) -> None:
    X, _ = table(60, 12)
    check_selector(selector, X=X, y=2.0 * X[:, 0] - X[:, 3] + normals(8, 60))


def test_every_selector_is_here() -> None:
    every = [*SELECTORS, *OF_NUMBERS]
    here = {type(getattr(s, "values", [s])[0]).__name__ for s in every}
    assert here == set(selectors.__all__) - {"Discretizer"}  # a transformer of values
