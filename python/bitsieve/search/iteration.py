"""What callbacks are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bitsieve.masks import Masks
from bitsieve.search.protocol import Scores

__all__ = ["Callback", "Iteration"]


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """What a callback is shown after each iteration.

    Attributes
    ----------
    iteration : int
        Counted from 0.
    n_evaluations : int
        Masks scored so far.
    masks : Masks
        The ask.
    scores : ndarray of float64, shape (n_masks,)
    score : float
        The best eligible score of the ask; the recommended mask's under ``choose="recommended"``,
        NaN without one.
    best_mask : Masks or None
        The best so far, a batch of one; None while only empty masks were seen.
    best_observed : float
        Its score, NaN without one.
    n_selected, n_selected_best : int
        Features of the mask that made ``score``, and of the best.
    seconds : float
        Since the start, over all sessions.
    recommended : Masks or None
        What the search recommends now, a batch of one, under ``choose="recommended"``.
    """

    iteration: int
    n_evaluations: int
    masks: Masks
    scores: Scores
    score: float
    best_mask: Masks | None
    best_observed: float
    n_selected: int
    n_selected_best: int
    seconds: float
    recommended: Masks | None = None


Callback = Callable[[Iteration], object]
