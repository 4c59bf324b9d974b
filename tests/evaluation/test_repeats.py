"""A selection on halves and with other seeds: what is fitted, on which samples, with which seed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bitsieve._errors import DuplicateSamplesWarning
from bitsieve.evaluation import nested_cross_validate, selection_stability, stability

CALLS: list[tuple[Any, ...]] = []


class Told(SelectorMixin, BaseEstimator):
    """Selects two features at random of its seed, and tells what it was fitted to."""

    def __init__(self, *, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Told:
        X = np.asarray(X)
        CALLS.append((X[:, 0].astype(int), np.asarray(y), groups, self.random_state))
        self.n_features_in_ = X.shape[1]
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        generator = np.random.default_rng(self.random_state)
        self.support_[generator.choice(X.shape[1], 2, replace=False)] = True
        return self

    def _get_support_mask(self) -> Any:
        return self.support_


class Held(Told):
    """One whose settings can be held."""

    def refit(self, X: Any, y: Any, *, random_state: int = 0) -> Any:
        CALLS.append(("refit", len(y), random_state))
        return np.arange(X.shape[1]) < 2 + (random_state % 2)


class HeldWithoutSeed(Told):
    """One that is deterministic once its settings are held."""

    def refit(self, X: Any, y: Any, groups: Any) -> Any:
        CALLS.append(("refit", groups, None))
        return np.arange(X.shape[1]) < 2


@pytest.fixture(autouse=True)
def _forget() -> None:
    CALLS.clear()


def table(n: int = 30, p: int = 40) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).random((n, p))
    X[:, 0] = np.arange(n)  # tells which sample
    return X, np.arange(n) % 3


def test_halves_are_disjoint_and_have_their_share_of_each_class() -> None:
    X, y = table(31)
    found = selection_stability(Told(), X, y, halves=6, seeds=0, random_state=3)
    assert len(CALLS) == 12
    splits = []
    for (one, y_one, _, _), (two, y_two, _, _) in zip(CALLS[::2], CALLS[1::2], strict=True):
        assert sorted([*one, *two]) == list(range(31))
        np.testing.assert_array_equal(y_one, y[one])
        assert np.abs(np.bincount(y_one) - np.bincount(y_two)).max() <= 1
        splits.append(min(tuple(sorted(one)), tuple(sorted(two))))
    assert len(set(splits)) == 6
    assert found.seeds is None
    assert not found.reasons
    assert f"two studies of {found.half_sizes[0]}" in found.text()


def test_agreement_is_that_of_the_two_of_each_split() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(150, 60))])
    found = selection_stability(SelectKBest(k=20), X, y, halves=5, random_state=1)
    told = selection_stability(Told(), np.c_[np.arange(150), X], y, halves=5, random_state=1)
    rows = [call[0] for call in CALLS if len(call[0]) < 150]
    supports = [SelectKBest(k=20).fit(X[half], y[half]).get_support() for half in rows]
    assert found.halves is not None
    assert found.halves.as_dict() == stability(supports, sampling="halves").as_dict()
    assert told.random_state == found.random_state == 1
    assert "no random_state" in found.reasons["seeds"]
    assert "Other seeds: not measured" in found.text()


def test_luck_does_not_pass_for_stability() -> None:
    # The selector's own seed is the same, so without a seed a repetition all would agree.
    X, y = table(p=400)
    for own in (None, 0):
        CALLS.clear()
        found = selection_stability(Told(random_state=own), X, y, seeds=20, random_state=0)
        assert found.halves is not None
        assert found.seeds is not None
        assert abs(found.halves.nogueira.value) < 0.05
        assert abs(found.seeds.nogueira.value) < 0.05
        seeds = [call[3] for call in CALLS]
        assert len(set(seeds)) == 60
        assert [len(call[0]) for call in CALLS[-20:]] == [30] * 20


def test_same_seed_same_answer_whatever_is_done_at_a_time() -> None:
    X, y = table()
    with parallel_config("threading"):
        one, two, three = (
            selection_stability(Told(), X, y, halves=4, random_state=seed, n_jobs=jobs).as_dict()
            for seed, jobs in ((5, None), (5, 3), (6, None))
        )
    assert one == two
    assert one != three


def test_groups_stay_together_and_reach_the_selector() -> None:
    X, y = table(36)
    y, groups = np.repeat([0, 1, 0, 1, 0, 1], 6), np.repeat(list("abcdef"), 6)
    selection_stability(Told(), X, y, groups=groups, halves=4, seeds=0, random_state=0)
    for rows, _, given, _ in CALLS:
        np.testing.assert_array_equal(given, groups[rows])
    for (one, *_), (two, *_) in zip(CALLS[::2], CALLS[1::2], strict=True):
        assert not set(groups[one]) & set(groups[two])
    found = selection_stability(Told(), X, y, groups=np.zeros(36), seeds=0)
    assert found.halves is None
    assert "need two groups" in found.text()
    by_class = selection_stability(Told(), X, y, groups=y, seeds=0)
    assert "has each half every class" in by_class.reasons["halves"]


def test_settings_are_held_where_a_fitted_selector_can() -> None:
    X, y = table()
    selection_stability(Held(), X, y, halves=2, seeds=2, random_state=0)
    assert all(len(call) == 4 for call in CALLS)  # not fitted: clones were
    fitted = Held(random_state=1).fit(X, y)
    before = fitted.support_.copy()
    CALLS.clear()
    found = selection_stability(fitted, X, y, halves=2, seeds=3, random_state=0)
    assert [call[:2] for call in CALLS] == [("refit", 15)] * 4 + [("refit", 30)] * 3
    np.testing.assert_array_equal(fitted.support_, before)
    assert found.held
    assert "settings of the chosen panel held" in found.text()
    without = HeldWithoutSeed().fit(X, y)
    groups = np.arange(30) // 2
    found = selection_stability(without, X, y, groups=groups, halves=2, random_state=0)
    assert found.halves is not None
    assert found.halves.nogueira.value == 1.0
    assert "takes no seed" in found.reasons["seeds"]
    assert all(call[1] is not None for call in CALLS[-4:])


def test_pipelines_frames_and_numbers() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(150)[::-1])
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=2))
    found = selection_stability(pipeline, frame, pd.Series(y), halves=3, random_state=0)
    assert found.halves is not None
    assert found.halves.frequency.tolist() == [0, 0, 1, 1]
    CALLS.clear()
    Z, _ = table()
    selection_stability(Told(), Z, Z[:, 1], halves=2, seeds=0, random_state=0)
    assert {len(call[1]) for call in CALLS} == {15}  # a numeric target is not stratified


def test_outer_folds_stand_beside() -> None:
    X, y = load_iris(return_X_y=True)
    nested = nested_cross_validate(SelectKBest(k=2), GaussianNB(), X, y)
    found = selection_stability(SelectKBest(k=2), X, y, halves=2, folds=nested.supports)
    assert found.folds is not None
    assert found.folds.as_dict() == stability(nested.supports).as_dict()
    lines = found.text().splitlines()
    assert lines[0].startswith("Outer folds: 5 selections, 2 of 4 features: Nogueira 1.000")
    assert list(found.as_dict())[:2] == ["folds", "halves"]


def test_a_class_too_small_for_halves_is_a_reason_not_an_end() -> None:
    X, y = table()
    y = np.where(np.arange(30) < 3, "rare", "common")
    found = selection_stability(Told(), X, y, random_state=0)
    assert found.halves is None
    assert found.seeds is not None
    assert found.reasons == {"halves": "Class rare has 3 samples, but two halves need 4 of each."}
    assert found.half_sizes == ()
    assert "two studies" not in found.text()


def test_copies_are_not_warned_of_again() -> None:
    class Warns(Told):
        def fit(self, X: Any, y: Any) -> Any:  # type: ignore[override]
            warnings.warn("twice", DuplicateSamplesWarning, stacklevel=1)
            return super().fit(X, y)

    X, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selection_stability(Warns(), X, y, halves=1, seeds=0)


@each(
    "options, message",
    [
        ({"halves": -1}, "halves must be"),
        ({"seeds": 1}, "at least 2 to be compared, got 1"),
        ({"seeds": 2.5}, "seeds must be"),
        ({"level": 2}, "level must be"),
        ({"groups": [1, 2]}, "inconsistent numbers of samples"),
        ({"folds": [[2, 3]]}, "at least two selections"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=message):
        selection_stability(Told(), X, y, **{"halves": 1, "seeds": 0} | options)


def test_what_does_not_select_is_refused() -> None:
    with pytest.raises(ValueError, match="selector must select features"):
        selection_stability(GaussianNB(), *table())
