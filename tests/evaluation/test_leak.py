"""Nothing of an outer test part reaches what is made without it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from bitsieve import AutoSelector
from bitsieve.datasets import make_microarray
from bitsieve.evaluation import nested_cross_validate


class Recorded(AutoSelector):
    """Keeps everything that each fit made, as text."""

    made: ClassVar[list[Any]] = []

    def fit(self, X: Any, y: Any, **options: Any) -> Any:
        super().fit(X, y, **options)
        others = {name: panel.to_json() for name, panel in self.alternatives_.items()}
        scores = self.candidates_.drop(columns="seconds", errors="ignore").to_csv()
        Recorded.made.append((self.plan_.text(), self.panel_.to_json(), others, scores))
        return self


@pytest.mark.parametrize("combine", ["best", "vote"])
def test_garbage_in_a_test_part_changes_nothing_that_is_fitted(combine: str) -> None:
    made = make_microarray(50, 120, random_state=0)
    X, y = np.array(made.X), np.array(made.y)
    splits = list(StratifiedKFold(5).split(X, y))[:2]
    selector = Recorded(effort="quick", combine=combine, random_state=3)
    Recorded.made.clear()
    clean = nested_cross_validate(selector, None, X, y, cv=splits, random_state=0)
    before, rng = list(Recorded.made), np.random.default_rng(1)
    for fold, (_, test) in enumerate(splits):
        dirty_X, dirty_y = X.copy(), y.copy()
        dirty_X[test] = 1e6 * rng.normal(size=(len(test), X.shape[1]))
        dirty_y[test] = rng.permutation(y[test])[::-1]
        Recorded.made.clear()
        found = nested_cross_validate(selector, None, dirty_X, dirty_y, cv=splits, random_state=0)
        assert Recorded.made[fold] == before[fold]
        assert Recorded.made[1 - fold] != before[1 - fold]  # the garbage is seen elsewhere
        np.testing.assert_array_equal(found.supports[fold], clean.supports[fold])
        assert found.observed_scores[fold] == clean.observed_scores[fold]
