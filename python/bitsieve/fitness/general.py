"""Any scikit-learn estimator, refitted on masked views, in parallel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.fitness.base import Fitness
from bitsieve.fitness.taking import last_step
from bitsieve.masks import Masks


class GeneralFitness(Fitness):
    """``cross_val_score`` on the columns of each mask; see :class:`Fitness`.

    The estimator is cloned for every split. Where it draws random numbers, give it a
    ``random_state``: otherwise the score of a mask is not a function of the mask.
    """

    kernel = None

    def _evaluate(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        from sklearn.utils.parallel import Parallel, delayed  # these carry scikit-learn's settings

        a = self._arguments
        jobs = (
            delayed(_cross_validate)(
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
        return np.array(Parallel(n_jobs=n_jobs)(jobs), dtype=np.float64)


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

    if len(features) == 0:
        scoring = check_scoring(estimator, scoring=scoring) if scoring is not None else None
        estimator = (
            DummyClassifier(strategy="prior") if is_classifier(estimator) else DummyRegressor()
        )
        view = X[:, :1]
    else:
        view = X[:, features]
    params = None
    if sample_weight is not None:
        estimator, name = _weighted(estimator)
        params = {name: sample_weight}
    scores: NDArray[np.float64] = cross_val_score(
        estimator, view, y, scoring=scoring, cv=splits, params=params, error_score="raise"
    )
    return scores


def _weighted(estimator: Any) -> tuple[Any, str]:
    """Return an estimator that asks for weights in fit, and under which name they are passed."""
    from sklearn import get_config
    from sklearn.base import clone

    if not get_config()["enable_metadata_routing"]:
        names, inner = [], estimator
        while steps := getattr(inner, "steps", None):
            name, inner = steps[-1]
            names.append(name)
        return estimator, "__".join([*names, "sample_weight"])
    estimator = clone(estimator)
    weighted = last_step(estimator)
    requests = getattr(weighted.get_metadata_routing(), "fit", None)
    if requests is not None and requests.requests.get("sample_weight", True) is None:
        weighted.set_fit_request(sample_weight=True)
    return estimator, "sample_weight"
