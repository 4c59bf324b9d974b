"""Any scikit-learn estimator, refitted on masked views, in parallel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._scorers import own_scoring
from bitsieve.fitness.base import Fitness
from bitsieve.fitness.options import Problem
from bitsieve.fitness.processes import in_processes
from bitsieve.masks import Masks


class GeneralFitness(Fitness):
    """``cross_val_score`` on the columns of each mask; see :class:`Fitness`.

    The estimator is cloned for every split. Where it draws random numbers, give it a
    ``random_state``: otherwise the score of a mask is not a function of the mask.

    Parameters
    ----------
    problem : Problem
    fallback_reason : str
        Why no kernel serves.
    """

    kernel = None

    def __init__(self, problem: Problem, fallback_reason: str) -> None:
        super().__init__(problem)
        self.fallback_reason = fallback_reason

    def _arguments(self) -> tuple[str | None]:
        return (self.fallback_reason,)

    def _evaluate(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        import joblib

        options = self.problem.options
        jobs = (
            joblib.delayed(_cross_validate)(
                options.estimator,
                self.table.X,
                self.table.y,
                masks.indices_of(m),
                self.splits(int(seeds[m])),
                options.scoring,
                options.sample_weight,
            )
            for m in range(len(masks))
        )
        scores = in_processes(jobs, min(self._n_jobs, len(masks)))
        return np.array(scores, dtype=np.float64)


def _cross_validate(
    estimator: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    features: NDArray[np.int64],
    splits: list[Any],
    scoring: Any,
    sample_weight: NDArray[Any] | None,
) -> NDArray[np.float64]:
    from sklearn import config_context
    from sklearn.base import is_classifier
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import cross_val_score

    if len(features) == 0:
        scoring = own_scoring(estimator) if scoring is None else scoring
        scoring = check_scoring(estimator, scoring=scoring) if scoring is not None else None
        estimator = (
            DummyClassifier(strategy="prior") if is_classifier(estimator) else DummyRegressor()
        )
        view = X[:, :1]
    else:
        view = X[:, features]
    params = None
    if sample_weight is not None:
        params = {_name_of_weights(estimator): sample_weight}
    # With routing of metadata switched on, every step and scorer would have to say what it asks.
    off = {"enable_metadata_routing": False} if params else {}
    with config_context(**off):
        scores: NDArray[np.float64] = cross_val_score(
            estimator, view, y, scoring=scoring, cv=splits, params=params, error_score="raise"
        )
    return scores


def _name_of_weights(estimator: Any) -> str:
    """Return under which name the weights of a pipeline's last step are passed to its fit."""
    names = []
    while steps := getattr(estimator, "steps", None):
        name, estimator = steps[-1]
        names.append(name)
    return "__".join([*names, "sample_weight"])
