"""Subsets drawn at random: what any search has to be better than."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int
from bitsieve._checks import seed as check_seed
from bitsieve._random import Random, Stream
from bitsieve.masks import Masks
from bitsieve.search.checks import check_parameters_of_state, check_told
from bitsieve.search.protocol import Scores, State
from bitsieve.search.sizes import size_range

__all__ = ["RandomMaskSearch"]


class RandomMaskSearch:
    """Draw subsets: a size, all sizes allowed equally likely, then as many features.

    Parameters
    ----------
    n_features : int
    seed : int
        Key of what is drawn, in [0, 2**64); :func:`bitsieve.search.run` sets it.
    min_size, max_size : int, optional
        Features of a subset, at least and at most; by default 1 and all.
    n_asked : int
        Subsets in an ask.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> search = RandomMaskSearch(1000, min_size=20, max_size=20, n_asked=4)
    >>> search.ask().counts()
    array([20, 20, 20, 20])
    """

    stops_itself = False

    def __init__(
        self,
        n_features: int,
        *,
        seed: int = 0,
        min_size: int = 1,
        max_size: int | None = None,
        n_asked: int = 32,
    ) -> None:
        self._n_features = check_int("n_features", n_features, 1)
        self._min_size, self._max_size = size_range(self._n_features, min_size, max_size)
        self._n_asked = check_int("n_asked", n_asked, 1)
        self._seed = check_seed("seed", seed)
        self._iteration = 0
        self._asked: Masks | None = None

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return self._n_features

    def set_seed(self, seed: int) -> None:
        """Take the key of what is drawn, in [0, 2**64)."""
        self._seed = check_seed("seed", seed)
        self._asked = None

    def ask(self) -> Masks:
        """Return the subsets of the next iteration."""
        random = Random(self._seed, Stream.search, lane=self._iteration)
        span = self._max_size - self._min_size + 1
        sizes = self._min_size + random.integers(span, self._n_asked)
        drawn = [random.choice(self._n_features, size) for size in sizes.tolist()]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        base = np.zeros(self._n_features, dtype=bool)
        masks = Masks.from_flips(base, indptr, np.concatenate(drawn))
        # Unrelated masks are nothing to a short way from a common base.
        self._asked = Masks.from_words(masks.words, self._n_features, copy=False)
        return self._asked

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Go on: what was drawn does not depend on the scores, float64 of shape (n_masks,)."""
        check_told(self._asked, masks, scores)
        self._iteration += 1
        self._asked = None

    def eligible(self) -> NDArray[np.bool_]:
        """Return which masks of an ask may become the best: all."""
        return np.ones(self._n_asked, dtype=bool)

    def stop(self) -> dict[str, object]:
        """Return nothing: the search never stops by itself."""
        return {}

    def _parameters(self) -> dict[str, int]:
        return {
            "n_features": self._n_features,
            "min_size": self._min_size,
            "max_size": self._max_size,
            "n_asked": self._n_asked,
        }

    def state(self) -> State:
        """Return the parameters, the seed and the number of iterations."""
        return {
            **self._parameters(),
            "seed": self._seed,
            "iteration": self._iteration,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a search with the same parameters.

        Raises
        ------
        ValueError
            If an entry is missing or out of its range, or a parameter differs.
        """
        check_parameters_of_state(self.state(), self._parameters(), state)
        seed = check_seed("seed", state["seed"])
        self._iteration = check_int("iteration", state["iteration"], 0)
        self._seed = seed
        self._asked = None

    def __repr__(self) -> str:
        return f"<RandomMaskSearch: {self._n_features} features, iteration {self._iteration}>"
