"""Binary SPSA run after run, each on the features that the one before selected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int
from bitsieve.masks import Masks
from bitsieve.search.protocol import State

__all__ = ["Halving"]


class Halving:
    """When a run of a sequence ends, and with which features the next begins.

    A run ends after ``patience`` iterations without a new best iterate of its own. The next one is
    on the features of that best, all at 0.5, so that its masks are of about half of them; unless
    the run was no better than the one before, or left nothing to halve: then the sequence ends.

    Parameters
    ----------
    n_features : int
    patience : int

    Attributes
    ----------
    n_runs : int
        The present run included.
    has_ended : bool

    Examples
    --------
    >>> halving = Halving(4, patience=2)
    >>> first = Masks.from_bool([[True, True, False, False]])
    >>> [halving.take(first, score) for score in (0.7, 0.6)]
    [None, None]
    >>> halving.take(first, 0.6).to_bool()[0]  # twice no better: on with these
    array([ True,  True, False, False])
    """

    def __init__(self, n_features: int, patience: int) -> None:
        self._n_features = n_features
        self._patience = patience
        self.n_runs = 1
        self.has_ended = False
        self._n_live = n_features
        self._before = -math.inf  # the best score of the run before
        self._best = -math.inf
        self._mask = Masks.full(n_features)  # of that score
        self._stalled = 0

    def take(self, mask: Masks, score: float) -> Masks | None:
        """Take an iterate and its score; return the features of a new run where one begins."""
        if self.has_ended:
            return None
        if score > self._best and mask.counts()[0] > 0:
            self._best, self._mask, self._stalled = score, mask, 0
        else:
            self._stalled += 1
        if self._stalled < self._patience:
            return None
        n_selected = int(self._mask.counts()[0])
        if self._best <= self._before or n_selected in (1, self._n_live):
            self.has_ended = True
            return None
        self._before, self._best, self._stalled = self._best, -math.inf, 0
        self._n_live = n_selected
        self.n_runs += 1
        return self._mask

    def state(self) -> State:
        """Return what goes on: scores, the mask of the best, counts."""
        return {
            "halving_before": self._before,
            "halving_best": self._best,
            "halving_mask": self._mask.words[0].copy(),
            "halving_stalled": self._stalled,
            "halving_runs": self.n_runs,
            "halving_ended": int(self.has_ended),
        }

    def set_state(self, state: Mapping[str, Any], live: Masks) -> None:
        """Go on from a state of a sequence that is on some features now.

        Raises
        ------
        ValueError
            If an entry is none that a sequence gets to.
        """
        mask = mask_of("halving_mask", state["halving_mask"], self._n_features)
        n_runs = check_int("halving_runs", state["halving_runs"], 1)
        stalled = check_int("halving_stalled", state["halving_stalled"], 0)
        has_ended = check_int("halving_ended", state["halving_ended"], 0) != 0
        scores = [float(state[name]) for name in ("halving_before", "halving_best")]
        if any(math.isnan(score) or score == math.inf for score in scores):
            raise ValueError(f"halving_before and halving_best must be scores, got {scores}")
        if np.any(mask.words & ~live.words):
            raise ValueError("halving_mask must be of features that are live")
        self._before, self._best = scores
        self._mask, self._stalled = mask, stalled
        self.n_runs, self.has_ended = n_runs, has_ended
        self._n_live = int(live.counts()[0])


def mask_of(name: str, words: NDArray[np.uint64], n_features: int) -> Masks:
    """Return the mask of a state's words.

    Raises
    ------
    ValueError
        If they are not those of one mask with a feature in it.
    """
    array = np.array(words)
    if array.dtype != np.uint64 or array.ndim != 1:
        raise ValueError(f"{name} must be the words of a mask, got {array.dtype} {array.shape}")
    mask = Masks.from_words(array[None], n_features)
    if mask.counts()[0] == 0:
        raise ValueError(f"{name} must have a feature")
    return mask
