"""A selector over another fitness than an estimator's: one method more, and no estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_selection import f_classif
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from bitsieve import Masks
from bitsieve.data import Table
from bitsieve.selectors._base import SearchSelector
from bitsieve.selectors._space import Space


class Energy:
    """What the features say of the classes, less what each pair of them says twice."""

    resample = False

    def __init__(self, X: np.ndarray, y: np.ndarray, weight: float) -> None:
        self.gain = np.log(f_classif(X, y)[0])
        self.repeated = weight * np.abs(np.triu(np.corrcoef(X.T), 1))
        self.n_features = X.shape[1]

    def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
        inside = masks.to_bool().astype(float)
        return inside @ self.gain - ((inside @ self.repeated) * inside).sum(axis=1)


class Every:
    """All subsets in one ask; the best of them is recommended."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.best = np.zeros((0, n_features), dtype=bool)

    def ask(self) -> Masks:
        numbers = np.arange(2**self.n_features)[:, None]
        return Masks.from_bool(numbers >> np.arange(self.n_features) & 1 == 1)

    def tell(self, masks: Masks, scores: np.ndarray) -> None:
        self.best = masks[int(np.argmax(scores))].to_bool()

    def recommend(self) -> Masks:
        return Masks.from_bool(self.best)

    def stop(self) -> dict[str, object]:
        return {"all": True} if len(self.best) else {}


class EnergySelector(SearchSelector):
    _FLAGS = ("resume",)
    _CHOOSE = "recommended"

    def __init__(
        self, weight: float = 1.0, max_evaluations: int | None = None, random_state: Any = None
    ) -> None:
        self.weight = weight
        self.max_evaluations = max_evaluations
        self.random_state = random_state

    folds, max_time, checkpoint, resume, callbacks, progress = (
        "common", None, None, True, None, False,
    )  # fmt: skip

    def _make_search(self, table: Table, space: Space) -> Every:
        return Every(space.n_units)

    def _make_fitness(
        self, table: Table, key: int | None, *, groups: Any, sample_weight: Any
    ) -> Energy:
        assert (groups is None) == (sample_weight is None)
        assert key is not None
        assert table.y is not None
        return Energy(table.X, table.y, self.weight)

    def _limits(self, n_features: int) -> tuple[int | None, int | None]:
        return None, None


def test_a_selector_over_an_energy() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.unique(np.column_stack([X, y]), axis=0)  # no sample twice
    X, y = X[:, :4], X[:, 4].astype(int)
    for weight in (0.0, 4.0, 6.0):
        selector = clone(EnergySelector(weight, random_state=1)).fit(X, y)
        energy = Energy(X, y, weight)
        every = Every(4).ask()
        scores = energy.evaluate(every)
        best = every[int(np.argmax(scores))].to_bool()[0]
        np.testing.assert_array_equal(selector.support_, best)
        assert selector.best_score_ == selector.best_observed_score_ == scores.max()
        assert selector.n_evaluations_ == 16
        assert selector.stop_reason_ == {"all": True}
        assert selector.kernel_ is None
        assert selector.classes_.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(selector.scores_, best)
        selector.fit(X, y, groups=np.arange(len(y)), sample_weight=np.ones(len(y)))
        model = make_pipeline(EnergySelector(weight), KNeighborsClassifier(1)).fit(X, y)
        assert model[0].n_features_ == best.sum()
    assert EnergySelector(0.0).fit(X, y).n_features_ == 4
    assert EnergySelector(4.0).fit(X, y).n_features_ < 4
    with pytest.raises(ValueError, match="max_evaluations=3 is fewer than the 16 masks"):
        EnergySelector(max_evaluations=3).fit(X, y)
    with pytest.raises(ValueError, match="X contains NaN"):
        EnergySelector().fit(np.where(X.max() == X, np.nan, X), y)
