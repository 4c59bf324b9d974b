"""MarkovBlanket: the selector around the blankets."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from bitsieve import MarkovBlanket

NAMES = ["parent", "spouse", "child", "effect", "other"]


def _mixture(seed: int = 0, n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    parent, spouse, other, *noise = np.random.default_rng(seed).normal(size=(6, n))
    y = parent + noise[0]
    child = y + spouse + noise[1]
    return np.column_stack([parent, spouse, child, child + noise[2], other]), y


def test_numbers() -> None:
    X, y = _mixture()
    selector = MarkovBlanket(alpha=0.001).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]
    assert (selector.parents_children_, selector.spouses_) == ([0, 2], [1])
    assert sorted(selector.ranking_[:3]) == [1, 2, 3]
    assert ((selector.scores_ >= 3) == selector.support_).all()
    assert selector.separators_[3][0] == (2,)
    assert selector.separators_[3][1] > 0.001


def test_names() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = _mixture()
    selector = MarkovBlanket(alpha=0.001).fit(pandas.DataFrame(X, columns=NAMES), y)
    assert selector.get_feature_names_out().tolist() == ["parent", "spouse", "child"]
    assert (selector.parents_children_, selector.spouses_) == (["parent", "child"], ["spouse"])
    assert selector.separators_["effect"][0] == ("child",)
    why = selector.blanket_.why_not("effect")
    assert why.startswith("effect is not in the blanket of target: given child the two")
    again = pickle.loads(pickle.dumps(selector))
    assert again.separators_ == selector.separators_
    assert not hasattr(clone(selector), "separators_")


def test_classes_by_levels_and_by_numbers(dataset: Any) -> None:
    X, y, names = dataset("lucas0")
    true = {"Smoking", "Genetics", "Fatigue", "Coughing", "Allergy"}
    for labels in (y, np.where(y == 1, "ill", "well")):
        for test in ("auto", "g2", "chi2"):
            selector = MarkovBlanket(test=test).fit(X, labels)
            assert {names[x] for x in np.flatnonzero(selector.support_)} == true, test
    assert MarkovBlanket(test="permutation", n_permutations=199).fit(X, y).n_features_ >= 4


def test_a_continuous_table_of_two_and_of_three_classes() -> None:
    X, y = _mixture(1)
    two = MarkovBlanket(alpha=0.001).fit(X, y > 0)
    assert two.support_.tolist() == [True, True, True, False, False]
    three = MarkovBlanket(alpha=0.001).fit(X, np.digitize(y, [-1, 1]))
    assert three.support_[[0, 2]].all()
    assert not three.support_[4]


def test_nothing_is_found_in_noise() -> None:
    X = np.random.default_rng(2).normal(size=(60, 5))
    selector = MarkovBlanket(alpha=1e-6).fit(X, np.arange(60) % 2)
    assert selector.n_features_ == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X).shape == (60, 0)


@pytest.mark.parametrize(
    ("told", "change"),
    [
        ("NaN|missing", lambda X, y: (np.where(X > 2, np.nan, X), y)),
        ("class", lambda X, y: (X, np.zeros(len(y), dtype=int))),
        ("y", lambda X, y: (X, None)),
        ("sample", lambda X, y: (X[:1], y[:1])),
    ],
)
def test_unfit_data(told: str, change: Any) -> None:
    X, y = change(*_mixture(3, 50))
    with pytest.raises(ValueError, match=told):
        MarkovBlanket().fit(X, y)


def test_one_feature() -> None:
    X, y = _mixture(4)
    assert MarkovBlanket().fit(X[:, :1], y).support_.tolist() == [True]
    assert MarkovBlanket(alpha=0.001).fit(X[:, 4:], y).support_.tolist() == [False]


def test_bad_parameters() -> None:
    X, y = _mixture(5, 50)
    for name, value in {"method": "hiton", "alpha": 0, "test": "t", "symmetric": 2}.items():
        with pytest.raises(ValueError, match=f"{name} must be"):
            MarkovBlanket(**{name: value}).fit(X, y)
