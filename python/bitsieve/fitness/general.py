"""Any scikit-learn estimator, refitted on masked views, in parallel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.fitness.base import Fitness
from bitsieve.masks import Masks


class GeneralFitness(Fitness):
    """``cross_val_score`` on the columns of each mask; see :class:`Fitness`.

    The estimator is cloned for every split. Where it draws random numbers, give it a
    ``random_state``: otherwise the score of a mask is not a function of the mask.
    """

    kernel = None

    def _evaluate(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        import joblib

        a = self._arguments
        jobs = (
            joblib.delayed(_cross_validate)(
                a["estimator"],
                self.table.X,
                self.table.y,
                masks.indices_of(m),
                self.splits(int(seeds[m])),
                a["scoring"],
                a["sample_weight"],
            )
            for m in range(len(masks))
        )
        n_jobs = min(self._n_jobs, len(masks))
        return np.array(joblib.Parallel(n_jobs=n_jobs)(jobs), dtype=np.float64)


def _cross_validate(
    estimator: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    features: NDArray[np.int64],
    splits: list[Any],
    scoring: Any,
    sample_weight: NDArray[Any] | None,
) -> NDArray[np.float64]:
    from sklearn.base import is_classifier
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import cross_val_score

    params = None if sample_weight is None else {"sample_weight": sample_weight}
    if len(features) == 0:
        scoring = check_scoring(estimator, scoring=scoring) if scoring is not None else None
        estimator = (
            DummyClassifier(strategy="prior") if is_classifier(estimator) else DummyRegressor()
        )
        view = X[:, :1]
    else:
        view = X[:, features]
    scores: NDArray[np.float64] = cross_val_score(
        estimator, view, y, scoring=scoring, cv=splits, params=params, error_score="raise"
    )
    return scores
