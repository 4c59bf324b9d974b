"""Simulated annealing: a walk that takes worse masks too, ever less often."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int, check_number
from bitsieve._checks import seed as check_seed
from bitsieve._random import Random, Stream
from bitsieve.masks import Masks
from bitsieve.search.checks import check_parameters_of_state, check_told, features_of_state
from bitsieve.search.protocol import Scores, State
from bitsieve.search.starts import members_of

__all__ = ["AnnealingMaskSearch"]

Positions = NDArray[np.int64]


class AnnealingMaskSearch:
    """Walk from mask to neighbor, worse ones accepted with probability exp(-loss / temperature).

    The loss is how much lower the score is; what is not worse is always accepted. A neighbor has
    one feature exchanged for another, or, without a ``size``, one feature flipped; the mask without
    features is none. The first iteration scores the start, the second some of its neighbors, whose
    mean loss sets the first temperature; then come ``n_steps`` steps, over which the temperature
    falls geometrically [1]_. The answer is the best mask that the walk was at.

    Parameters
    ----------
    n_features : int
    size : int, optional
        Features of every mask; by default any number.
    seed : int, default 0
        Key of what is drawn, in [0, 2**64); :func:`bitsieve.search.run` sets it.
    start : array-like of bool, shape (n_features,), or Masks of one, optional
        The first mask; by default one of ``size`` features is drawn, without a size one in which
        each feature is with probability a half.
    n_steps : int, default 10,000
        Neighbors that are scored once the temperature is set, one an iteration.
    n_probes : int, default 50
        Neighbors of the start that set the temperature.
    p_accept : float, default 0.5
        Probability in (0, 1) with which a step of mean loss is accepted at first.
    cooling : float, default 0.001
        The last temperature over the first, in (0, 1].

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    .. [1] S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi (1983), Optimization by simulated annealing,
       Science 220, 671-680.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.search import AnnealingMaskSearch
    >>> search = AnnealingMaskSearch(6, size=2, n_steps=200)
    >>> weights = np.array([1.0, 4.0, 2.0, 3.0, 0.0, 1.0])
    >>> while not search.stop():
    ...     masks = search.ask()
    ...     search.tell(masks, masks.to_bool() @ weights)
    >>> search.recommend().indices_of(0)
    array([1, 3])
    """

    def __init__(
        self,
        n_features: int,
        *,
        size: int | None = None,
        seed: int = 0,
        start: ArrayLike | Masks | None = None,
        n_steps: int = 10_000,
        n_probes: int = 50,
        p_accept: float = 0.5,
        cooling: float = 1e-3,
    ) -> None:
        p = self._n_features = check_int("n_features", n_features, 1)
        self._size = 0 if size is None else check_int("size", size, 1, p)
        self._start = None if start is None else members_of(start, p, self._size or None)
        if self._start is not None and not len(self._start):
            raise ValueError("start has no features, so it has no score")
        self._n_steps = check_int("n_steps", n_steps, 1)
        self._n_probes = check_int("n_probes", n_probes, 1)
        self._p_accept = check_number("p_accept", p_accept, 0, 1)
        self._cooling = check_number("cooling", cooling, 0, 1, closed="right")
        self._seed = check_seed("seed", seed)
        self._begin()

    def _begin(self) -> None:
        self._mask = self._best = self._first()
        self._score = self._best_score = math.nan
        self._temperature = math.nan  # the first
        self._iteration = self._n_accepted = 0
        self._asked: tuple[Masks, NDArray[np.int64], float] | None = None

    def _first(self) -> Positions:
        if self._start is not None:
            return self._start
        random = Random(self._seed, Stream.search, lane=0)
        if self._size:
            return np.sort(random.choice(self._n_features, self._size))
        drawn = np.flatnonzero(random.uniform(self._n_features) < 0.5)
        return drawn if len(drawn) else random.integers(self._n_features, 1)

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return self._n_features

    @property
    def n_accepted(self) -> int:
        """Steps that were taken."""
        return self._n_accepted

    @property
    def temperature(self) -> float:
        """Of the next step; NaN before the first is known."""
        step = max(self._iteration - 2, 0)
        return float(self._temperature * self._cooling ** (step / max(self._n_steps - 1, 1)))

    def set_seed(self, seed: int) -> None:
        """Take the key of what is drawn, in [0, 2**64), and begin."""
        self._seed = check_seed("seed", seed)
        self._begin()

    def evaluations_left(self) -> tuple[int, str]:
        """Return how many masks are still asked for."""
        asks = [1, self._n_probes] if self._moves() else [1]
        steps = self._n_steps if self._moves() else 0
        done = self._iteration
        return sum(asks[done:]) + steps - max(0, done - len(asks)), "at most"

    def ask(self) -> Masks:
        """Return the start, then some neighbors of it, then one neighbor of the mask at hand."""
        if self._asked is None:
            base = np.zeros(self._n_features, dtype=bool)
            base[self._mask] = True
            if self._iteration == 0 or not self._moves():
                flips, of_step = np.empty((1, 0), np.int64), 0.0
            else:
                random = Random(self._seed, Stream.search, lane=self._iteration)
                n = self._n_probes if self._iteration == 1 else 1
                flips = self._drawn(random, base, n)
                of_step = float(random.uniform(1)[0])
            indptr = np.arange(len(flips) + 1) * flips.shape[1]
            self._asked = (Masks.from_flips(base, indptr, flips.ravel()), flips, of_step)
        return self._asked[0]

    def _moves(self) -> bool:
        """Whether there is a neighbor at all."""
        p = self._n_features
        return self._size < p if self._size else p > 1

    def _drawn(self, random: Random, base: NDArray[np.bool_], n: int) -> NDArray[np.int64]:
        """The features that each of n neighbors flips, one row a neighbor."""
        if not self._size:
            flips = random.integers(self._n_features, n)
            if len(self._mask) == 1:  # it cannot leave
                others = np.flatnonzero(~base)
                flips = others[flips % len(others)] if (flips == self._mask[0]).any() else flips
            return flips[:, None]
        outside = np.flatnonzero(~base)
        leave = self._mask[random.integers(len(self._mask), n)]
        come = outside[random.integers(len(outside), n)]
        return np.column_stack([leave, come])

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Take the step or not, by the scores of the masks of the last ask.

        Raises
        ------
        ValueError
            If the masks are others, or there is not one finite score for each.
        """
        asked, flips, of_step = self._asked or (None, None, 0.0)
        values = check_told(asked, masks, scores)
        assert flips is not None
        if self._iteration == 0:
            self._score = self._best_score = float(values[0])
        elif self._iteration == 1:
            self._temperature = self._first_temperature(values)
        else:
            self._step(flips[0], float(values[0]), of_step)
        self._iteration += 1
        self._asked = None

    def _first_temperature(self, values: Scores) -> float:
        """The temperature at which a mean loss is accepted with probability ``p_accept``."""
        losses = self._score - values
        losses = losses[losses > 0]
        mean = float(losses.mean()) if len(losses) else float(np.abs(values - self._score).mean())
        return (mean or 1.0) / -math.log(self._p_accept)

    def _step(self, flips: NDArray[np.int64], score: float, of_step: float) -> None:
        gain = score - self._score
        if gain < 0 and of_step >= math.exp(gain / self.temperature):
            return
        self._mask = np.setxor1d(self._mask, flips, assume_unique=True)
        self._score = score
        self._n_accepted += 1
        if score > self._best_score:
            self._best, self._best_score = self._mask, score

    def eligible(self) -> NDArray[np.bool_]:
        """Return which masks of the last ask may become the best: all."""
        return np.ones(len(self.ask()), dtype=bool)

    def stop(self) -> dict[str, object]:
        """Return ``{"cooled": n_accepted}`` after the last step."""
        last = self._n_steps + 2 if self._moves() else 1
        return {"cooled": self._n_accepted} if self._iteration >= last else {}

    def recommend(self) -> Masks:
        """Return the best mask that the walk was at; before the first tell, none."""
        found = np.zeros((1, self._n_features), dtype=bool)
        found[0, self._best] = True
        return Masks.from_bool(found if self._iteration else found[:0])

    def _parameters(self) -> dict[str, Any]:
        return {
            "n_features": self._n_features,
            "size": self._size,
            "start": "random" if self._start is None else self._start.copy(),
            "n_steps": self._n_steps,
            "n_probes": self._n_probes,
            "p_accept": self._p_accept,
            "cooling": self._cooling,
        }

    def state(self) -> State:
        """Return the parameters, the seed, the mask at hand and the best, and the temperature."""
        return {
            **self._parameters(),
            "seed": self._seed,
            "iteration": self._iteration,
            "mask": self._mask.copy(),
            "score": self._score,
            "best": self._best.copy(),
            "best_score": self._best_score,
            "temperature": self._temperature,
            "accepted": self._n_accepted,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a search with the same parameters.

        Raises
        ------
        ValueError
            If an entry is missing, a parameter differs, or a number is none that a search gets to.
        """
        check_parameters_of_state(self.state(), self._parameters(), state)
        seed = check_seed("seed", state["seed"])
        iteration = check_int("iteration", state["iteration"], 0, self._n_steps + 2)
        accepted = check_int("accepted", state["accepted"], 0, iteration)
        masks = [features_of_state(state, name, self._n_features) for name in ("mask", "best")]
        score, best_score = float(state["score"]), float(state["best_score"])
        temperature = float(state["temperature"])
        if (
            any(not len(m) or (np.diff(m) <= 0).any() for m in masks)
            or (self._size and any(len(m) != self._size for m in masks))
            or (iteration > 0 and not (math.isfinite(score) and math.isfinite(best_score)))
            or (iteration > 1 and self._moves() and not 0 < temperature < math.inf)
        ):
            raise ValueError("the state is none that simulated annealing gets to")
        self._seed, self._iteration, self._n_accepted = seed, iteration, accepted
        (self._mask, self._best), self._score, self._best_score = masks, score, best_score
        self._temperature, self._asked = temperature, None

    def __repr__(self) -> str:
        size = f"{self._size} of {self._n_features}" if self._size else str(self._n_features)
        return f"<AnnealingMaskSearch: {size} features, iteration {self._iteration}>"
