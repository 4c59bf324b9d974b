"""What a run gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks

__all__ = ["Finalist", "RunResult"]


@dataclass(frozen=True)
class Finalist:
    """One of the best masks of a search, or of those that it recommended on its way.

    Attributes
    ----------
    mask : Masks
        A batch of one.
    observed_score : float
        The best that the search saw of it.
    mean_score : float
        Mean of all that the search saw of it.
    n_measurements : int
        How often the search measured it while it was among the best.
    measured_score : float
        Mean over fresh folds, the same ones for all finalists; NaN where it was not measured, as
        all but the recommended mask are under ``choose="recommended"``.
    n_selected : int
        Its number of features.
    iteration : int
        When it was first seen, counted from 0.
    """

    mask: Masks
    observed_score: float
    mean_score: float
    n_measurements: int
    measured_score: float
    n_selected: int
    iteration: int


@dataclass(frozen=True, eq=False)
class RunResult:
    """Outcome of :func:`bitsieve.search.run`.

    Attributes
    ----------
    mask : Masks
        The chosen mask, a batch of one; under ``choose="recommended"`` the search's own.
    best_score : float
        A second fresh measurement of the chosen mask, taken after it was chosen. Still on the
        samples that were searched, so optimistic. NaN if the search was interrupted.
    best_observed_score : float
        The best single score the search saw, of any mask (under "recommended", of any that it
        recommended): the most optimistic number here. The chosen mask's own is
        :attr:`observed_score`.
    n_evaluations : int
        Masks of all asks, those that did not have to be measured again included.
    n_final_evaluations : int
        Masks scored beside those, to choose and to measure.
    n_iterations : int
        Asks answered.
    history : dict of str to ndarray
        One entry an iteration: ``iteration``, ``n_evaluations``, ``score`` (the best eligible
        mask of the ask, for SPSA the iterate; under "recommended" the recommended mask),
        ``best_observed`` (the highest score so far, NaN before there is one),
        ``n_selected``, ``n_selected_best`` and ``seconds`` (since the start, over all sessions).
    finalists : list of Finalist
        Best first, by what was measured again. Under "recommended" the answer comes first, then
        the other masks that the search recommended on the way, best first by what it saw.
    seed : int
        The key everything random came from; ``random_state=seed`` repeats the run.
    stop_reason : dict of str to object
        Why the search ended, for example ``{"max_iter": 1000}``.
    seconds : float
        Wall time, final measurement and earlier sessions included.
    resumed_at : int
        Iterations that came from a checkpoint.
    final_cut : str or None
        What ``max_time`` left out of the final measurement, in words; None where nothing.
    checkpoint : str or None
        The checkpoint file, None where there is none, where it could not be written, or where it
        holds more iterations than this run was allowed.
    """

    mask: Masks
    best_score: float
    best_observed_score: float
    n_evaluations: int
    n_final_evaluations: int
    n_iterations: int
    history: dict[str, NDArray[Any]] = field(repr=False)
    finalists: list[Finalist] = field(repr=False)
    seed: int
    stop_reason: dict[str, object]
    seconds: float
    resumed_at: int = 0
    checkpoint: str | None = None
    final_cut: str | None = None

    @property
    def support(self) -> NDArray[np.bool_]:
        """The chosen mask as booleans, shape (n_features,)."""
        support: NDArray[np.bool_] = self.mask.to_bool()[0]
        return support

    @property
    def observed_score(self) -> float:
        """The best score the search saw of the chosen mask; at most best_observed_score."""
        return self.finalists[0].observed_score
