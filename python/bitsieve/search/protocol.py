"""What a search and a fitness have to offer each other: two protocols, no base class.

A search proposes masks and is told their scores. It sees no data, no clock and no logger; the
loop in :func:`bitsieve.search.run` owns all of those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks

__all__ = [
    "Fitness",
    "RecommendingSearch",
    "Scores",
    "Search",
    "SeededSearch",
    "State",
    "StateValue",
]

Scores: TypeAlias = NDArray[np.float64]
StateValue: TypeAlias = NDArray[Any] | int | float | str
State: TypeAlias = dict[str, StateValue]


class Search(Protocol):
    """A way to walk over feature subsets.

    One iteration is ``masks = ask()``, then ``tell(masks, scores)`` with a score for each mask, the
    greater the better.

    Notes
    -----
    ``state()`` is the state after the last ``tell`` (or at the start): an ask that was not
    answered is no part of it, so that ``set_state(state)`` and ``ask()`` repeat the same masks.
    Before the first ask it must name every parameter of the search, since checkpoints are told
    apart by it. Entries are arrays, integers, floats (NaN and infinities too) and strings; an
    entry called ``"seed"`` is known to be the seed and does not count as a parameter.

    ``eligible()`` is asked between an ask and its tell, of a run that chooses among the masks it
    measured; ``recommend()`` after the tell, of one that is to return the search's own
    (:class:`RecommendingSearch`). The first says what may be the answer, the second what is.

    A search may say ``stops_itself: bool``, whether :meth:`stop` will ever answer, True where it is
    missing; where it is False, a run without a limit is refused. One that weighs features by itself
    may offer ``feature_scores()``, float64 of shape (n_features,), greater for better features, a
    function of the state; without it a selector counts how often the finalists hold a feature. One
    that knows how many masks it will still ask for may offer ``evaluations_left()``, their number
    with "at most", "about" or "at least", by which the loop says how long a run will take. One that
    draws random numbers takes their seed by ``set_seed`` (:class:`SeededSearch`).
    """

    @property
    def n_features(self) -> int:
        """Number of features p that the masks have."""
        ...

    def ask(self) -> Masks:
        """Masks to score next."""
        ...

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Take the scores of the masks of the last ask, float64 of shape (n_masks,)."""
        ...

    def stop(self) -> Mapping[str, object]:
        """Reasons to stop, by name, with a value each; empty to go on."""
        ...

    def state(self) -> State:
        """Everything needed to go on from here."""
        ...

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a search with the same parameters."""
        ...

    def eligible(self) -> NDArray[np.bool_]:
        """Which masks of the last ask may become the best so far, shape (n_masks,)."""
        ...


@runtime_checkable
class SeededSearch(Protocol):
    """A search that draws random numbers: the loop gives it the seed before the first ask."""

    def set_seed(self, seed: int) -> None:
        """Take a seed in [0, 2**64); everything drawn is a function of it and of the state."""
        ...


@runtime_checkable
class RecommendingSearch(Protocol):
    """A search with an answer of its own, given back by ``run(..., choose="recommended")``."""

    def recommend(self) -> Masks:
        """The mask that the search would give now, a batch of one; a batch of none without one.

        The loop asks after each tell, and after ``set_state``: the answer is a function of the
        state. It need not be a mask of the last ask.
        """
        ...


class Fitness(Protocol):
    """What the loop needs to know of a fitness.

    A fitness may also offer ``fingerprint() -> str`` (data, parameters and splits, needed for
    checkpoints) and ``resampled() -> Fitness | None`` (the same model with fresh folds for every
    seed, for the last measurement of a run on fixed folds).
    """

    @property
    def n_features(self) -> int:
        """Number of features p that the masks have."""
        ...

    @property
    def resample(self) -> bool:
        """Whether another seed means fresh folds and so another score, True or False.

        Where it is False a mask has one score: it is remembered, and a search on it is not
        measured again unless the fitness offers ``resampled()``.
        """
        ...

    def evaluate(self, masks: Masks, seeds: int | NDArray[np.uint64] = 0) -> Scores:
        """Scores of masks, float64 of shape (n_masks,), the greater the better.

        ``seeds`` is one seed for all, or one a mask; the answer is a function of mask and seed
        alone, in every bit, so that a mask that is asked for twice need not be scored twice.
        """
        ...
