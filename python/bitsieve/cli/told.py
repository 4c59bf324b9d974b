"""What a job reports of a fitted selector: of a search, of an elimination, or of a training."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.report import Restarted

__all__ = ["history_of", "network_of", "told_by", "told_by_training"]


def told_by(selector: Any) -> dict[str, Any]:
    """Return the numbers of the run, as :class:`bitsieve.report.Outcome` names them.

    Parameters
    ----------
    selector : fitted selector
        With the attributes of a :class:`~bitsieve.selectors._base.SearchSelector`, or a
        :class:`bitsieve.RecursiveFeatureElimination` that compared sizes.
    """
    kernel = {
        "kernel": selector.kernel_,
        "fallback_reason": selector.fallback_reason_,
        "n_declined": int(selector.n_declined_),
    }
    if not hasattr(selector, "history_"):
        return {
            **kernel,
            "observed": float(selector.best_score_),
            "remeasured": None,
            "n_evaluations": len(selector.cv_results_["n_features"]),
            "n_iterations": int(selector.n_steps_),
        }
    return {
        **kernel,
        "observed": float(selector.observed_score_),
        "remeasured": float(selector.best_score_),
        "n_evaluations": int(selector.n_evaluations_),
        "n_iterations": int(selector.n_iter_),
        "stop_reason": dict(selector.stop_reason_),
        "best_observed": float(selector.best_observed_score_),
        "n_final_evaluations": int(selector.n_final_evaluations_),
        "n_finalists": sum(not math.isnan(one.measured_score) for one in selector.finalists_),
        "max_iter": _most_iterations(selector),
        "stopped_early": bool(selector.stopped_early_),
        "final_cut": selector.final_cut_,
        "restarts": [
            Restarted(np.asarray(one.support), float(one.score), int(one.seed))
            for one in selector.restarts_
        ],
        "restart_overlap": selector.restart_overlap_,
    }


def told_by_training(selector: Any, score: float) -> dict[str, Any]:
    """Return the numbers of a training, as :class:`bitsieve.report.Outcome` names them.

    Parameters
    ----------
    selector : fitted selector that predicts
        With the attributes of a :class:`bitsieve.STGClassifier`.
    score : float
        Of the samples that it was trained on.
    """
    return {
        "is_trained": True,
        "observed": float(score),
        "remeasured": None,
        "n_evaluations": 0,
        "n_iterations": len(selector.history_["epoch"]),  # n_iter_ may count steps
        "stop_reason": dict(getattr(selector, "stop_reason_", {})),
    }


def network_of(selector: Any) -> str:
    """Describe the network of a selector that is one.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> [network_of(SimpleNamespace(hidden_layer_sizes=sizes)) for sizes in ((), (64,), (200, 100))]
    ['a linear model', 'a network (64 hidden units)', 'a network (200, 100 hidden units)']
    """
    sizes = np.atleast_1d(selector.hidden_layer_sizes).astype(int).tolist()
    if not sizes:
        return "a linear model"
    return f"a network ({', '.join(str(size) for size in sizes)} hidden units)"


def history_of(selector: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of the picture; of an elimination a row for each size, the largest first.

    Parameters
    ----------
    selector : fitted selector
        As for :func:`told_by`.
    """
    if hasattr(selector, "history_"):
        history: dict[str, NDArray[Any]] = selector.history_
        return history
    sizes = selector.cv_results_["n_features"][::-1]
    scores = selector.cv_results_["mean_test_score"][::-1]
    best = np.maximum.accumulate(scores)
    # Of equal scores the smaller size is taken, which comes later.
    at = np.maximum.accumulate(np.where(scores == best, np.arange(len(scores)), 0))
    return {
        "iteration": np.arange(len(sizes)),
        "score": scores,
        "best_observed": best,
        "n_selected": sizes,
        "n_selected_best": sizes[at],
    }


def _most_iterations(selector: Any) -> int | None:
    """Return the number of iterations that a search ends after, None without one."""
    most, _ = selector._limits(selector.n_units_)
    return None if most is None else int(most)
