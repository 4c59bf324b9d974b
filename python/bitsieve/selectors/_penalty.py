"""A fitness that charges for every feature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_number
from bitsieve.masks import Masks
from bitsieve.search import RunResult

__all__ = ["SizePenalized", "without_penalty"]


class SizePenalized:
    """A fitness less a price for each feature of a mask.

    Parameters
    ----------
    fitness : bitsieve.search.Fitness
    penalty : float
        What a feature costs, from 0 on, in the unit of the scores.

    Raises
    ------
    ValueError
        If the penalty is out of its range.

    Notes
    -----
    Everything else is the fitness' own: ``kernel``, ``fallback_reason``, ``n_declined``,
    ``n_evaluations``, ``splits`` and what more it has. It offers ``evaluate_splits``,
    ``fingerprint`` and ``resampled`` where the fitness does. The features of a compact batch are
    counted as they stand. ``evaluate`` is the mean of ``evaluate_splits`` but for the last bit:
    what is charged is taken off the mean.

    Examples
    --------
    >>> class Toy:
    ...     n_features, resample = 3, False
    ...     def evaluate(self, masks, seeds=0):
    ...         return masks.counts() / 2.0
    >>> SizePenalized(Toy(), 0.25).evaluate(Masks.from_indices([[0], [0, 1, 2], []], 3))
    array([0.25, 0.75, 0.  ])
    """

    def __init__(self, fitness: Any, penalty: float) -> None:
        self.fitness = fitness
        self.penalty = check_number("size_penalty", penalty, 0, closed="left")
        self.n_features = fitness.n_features
        self.resample = fitness.resample

    def evaluate(self, masks: Masks | ArrayLike, seeds: int | ArrayLike = 0) -> NDArray[np.float64]:
        """Score masks, shape (n_masks,)."""
        scores = np.asarray(self.fitness.evaluate(masks, seeds), dtype=np.float64)
        price = self.penalty * _counts(masks)
        if scores.shape != price.shape:
            return scores  # whoever asked says what is wrong with it
        paid: NDArray[np.float64] = scores - price
        return paid

    def __getattr__(self, name: str) -> Any:
        if name == "fitness" or name.startswith("__"):  # not there yet in a copy, or of the class
            raise AttributeError(name)
        found = getattr(self.fitness, name)
        wrap = _WRAPPED.get(name)
        return found if wrap is None or not callable(found) else wrap(self, found)

    def __repr__(self) -> str:
        return f"<SizePenalized: {self.penalty:g} a feature, {self.fitness!r}>"


def without_penalty(result: RunResult, penalty: float) -> RunResult:
    """Return a result whose scores are those of the fitness itself.

    Parameters
    ----------
    result : RunResult
        Of a run on a :class:`SizePenalized`.
    penalty : float

    Returns
    -------
    RunResult
        ``best_observed_score`` and ``history["best_observed"]`` are the scores of the masks that
        were the best under the penalty.
    """
    if penalty == 0.0:
        return result
    finalists = [
        replace(
            one,
            observed_score=one.observed_score + penalty * one.n_selected,
            mean_score=one.mean_score + penalty * one.n_selected,
            measured_score=one.measured_score + penalty * one.n_selected,
        )
        for one in result.finalists
    ]
    history = dict(result.history)
    for name, size in (("score", "n_selected"), ("best_observed", "n_selected_best")):
        history[name] = history[name] + penalty * history[size]
    return replace(
        result,
        best_score=result.best_score + penalty * finalists[0].n_selected,
        best_observed_score=float(history["best_observed"][-1]),
        history=history,
        finalists=finalists,
    )


def _counts(masks: Masks | ArrayLike) -> NDArray[np.int64]:
    return (masks if isinstance(masks, Masks) else Masks.from_bool(masks)).counts()


def _evaluate_splits(self: SizePenalized, evaluate: Any) -> Any:
    def evaluate_splits(
        masks: Masks | ArrayLike, seeds: int | ArrayLike = 0
    ) -> NDArray[np.float64]:
        """Score masks on each split, shape (n_masks, n_splits)."""
        paid: NDArray[np.float64] = evaluate(masks, seeds) - self.penalty * _counts(masks)[:, None]
        return paid

    return evaluate_splits


def _fingerprint(self: SizePenalized, describe: Any) -> Any:
    return lambda: f"{describe()} less {self.penalty!r} a feature"


def _resampled(self: SizePenalized, resampled: Any) -> Any:
    def fresh() -> SizePenalized | None:
        found = resampled()
        return None if found is None else SizePenalized(found, self.penalty)

    return fresh


#: What a fitness may offer and is not handed on as it is.
_WRAPPED = {
    "evaluate_splits": _evaluate_splits,
    "fingerprint": _fingerprint,
    "resampled": _resampled,
}
