"""Stochastic local search: a walk over masks by greedy steps, noise and restarts.

::

             u < P_r            a mask of the start
    mask --< else u' < P_n      one feature flipped, whichever
             else               the best of N_r features flipped

A step of a walk is an iteration. It writes down one mask at most: the neighborhood of a greedy step
stays compact, and a state is the packed words of two masks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve import _core
from bitsieve._checks import check_choice, check_flag, check_int, check_number, is_whole
from bitsieve._checks import seed as check_seed
from bitsieve._random import Random, Stream
from bitsieve.masks import Masks
from bitsieve.search.checks import check_parameters_of_state, check_told
from bitsieve.search.local_presets import Greedy, local_preset
from bitsieve.search.local_starts import WalkStart, walk_start, words_of_start
from bitsieve.search.protocol import Scores, State

__all__ = ["StochasticLocalMaskSearch"]

_RESTART, _NOISE, _GREEDY = 0, 1, 2


class StochasticLocalMaskSearch:
    """Walk over masks: restart, or flip one feature at random, or flip the best of some.

    A step is a restart with probability P_r, else noise with probability P_n, else greedy. Noise
    flips one feature, all equally likely, and is always accepted. A greedy step looks at N_r
    neighbors, drawn without replacement, and moves to the best of them, ties at random: always
    ("soft"), or only where it is better than the mask that it leaves ("strict"). The first
    iteration scores the start. The answer is the first mask of the highest score that the walk was
    at [1]_.

    Parameters
    ----------
    n_features : int
        n.
    seed : int
        Key of what is drawn, in [0, 2**64); :func:`bitsieve.search.run` sets it.
    preset : {"sls4fs", "softsls", "adaptivesls", "markovsls", "adaptivenoise"}
        What the parameters below are where they are None. "sls4fs" is the best row of Table 2 of
        [1]_ (P_n = 0.5, P_r = 0, soft, ceil(n / 10) neighbors, from no feature), the others its
        rivals over whole neighborhoods from random masks.
    p_restart, p_noise : float, optional
        P_r and P_n, in [0, 1]; where they adapt, what they begin with.
    adapt_restart, adapt_noise : float, optional
        alpha in [0, 1]: after a step to a higher score P becomes P - alpha P / 2, and after
        ``adapt_window`` steps without one P + alpha (1 - P). 0 keeps it.
    adapt_window : int or float, optional
        Steps, or a share of n (rounded up). Scores are compared with the one at the last change of
        the probabilities: with a window of 1 that is the step before, with more the rule of [2]_.
    greedy : {"soft", "strict"}, optional
    neighborhood : int or float, optional
        N_r: a number of neighbors, or a share of all n (rounded up).
    start : {"zeros", "random"}, bool array of shape (n_features,) or Masks, optional
        Where the walk starts. :func:`best_of_scores` makes a mask of a filter's scores. A random
        one takes each feature with probability a half.
    restart : as ``start``, optional
        Where it restarts; by default where it starts.
    admit_empty : bool
        Whether the mask without features may be the answer. The walk may be there in any case.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    A strict step compares with a score from an earlier iteration, and the answer is the best of
    all iterations. Both are meant for a fitness of fixed folds.

    An ask of one mask is handed out as it is, so that the loop finds it in its cache where the
    walk was there before; neighborhoods of more are compact.

    References
    ----------
    .. [1] O. J. Mengshoel, T. Yu, J. Riege, E. Flogard (2021), Stochastic local search for
       efficient hybrid feature selection, GECCO Companion.
    .. [2] H. H. Hoos (2002), An adaptive noise mechanism for WalkSAT, AAAI, 655-660.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.search import run
    >>> class Toy:
    ...     n_features, resample = 30, False
    ...     def evaluate(self, masks, seeds=0):
    ...         return masks.to_bool() @ np.where(np.arange(30) < 3, 1.0, -1.0)
    >>> search = StochasticLocalMaskSearch(30, p_noise=0.1, greedy="strict")
    >>> result = run(search, Toy(), choose="recommended", max_iter=200, random_state=0)
    >>> np.flatnonzero(result.support), result.best_score
    (array([0, 1, 2]), 3.0)
    """

    stops_itself = False

    def __init__(
        self,
        n_features: int,
        *,
        seed: int = 0,
        preset: str = "sls4fs",
        p_restart: float | None = None,
        p_noise: float | None = None,
        adapt_restart: float | None = None,
        adapt_noise: float | None = None,
        adapt_window: float | None = None,
        greedy: Greedy | None = None,
        neighborhood: float | None = None,
        start: Literal["zeros", "random"] | ArrayLike | Masks | None = None,
        restart: Literal["zeros", "random"] | ArrayLike | Masks | None = None,
        admit_empty: bool = False,
    ) -> None:
        self._n_features = n = check_int("n_features", n_features, 1)
        own = local_preset(preset)
        p_of_preset = 1.0 / n if own.p_restart is None else own.p_restart

        def rate(name: str, value: float | None, otherwise: float) -> float:
            value = otherwise if value is None else value
            return check_number(name, value, 0, 1, closed="both", instead="or None")

        window = own.adapt_window if adapt_window is None else adapt_window
        hood = own.neighborhood if neighborhood is None else neighborhood
        n_neighbors = -(-n // 10) if hood is None else _count("neighborhood", hood, n)
        if n_neighbors > n:
            raise ValueError(f"neighborhood={hood} is more than the {n} features")
        self.greedy: Greedy = check_choice(
            "greedy", own.greedy if greedy is None else greedy, ("soft", "strict")
        )
        self.n_neighbors = n_neighbors
        given = own.start if start is None else start
        self._start = walk_start("start", given, n)
        self._restart = self._start if restart is None else walk_start("restart", restart, n)
        check_flag("admit_empty", admit_empty)
        self._admit_empty = bool(admit_empty)
        self._rates = (
            rate("adapt_restart", adapt_restart, own.adapt_restart),
            rate("adapt_noise", adapt_noise, own.adapt_noise),
        )
        self._parameters: State = {
            "n_features": n,
            "p_restart": rate("p_restart", p_restart, p_of_preset),
            "p_noise": rate("p_noise", p_noise, own.p_noise),
            "adapt_restart": self._rates[0],
            "adapt_noise": self._rates[1],
            "adapt_window": _count("adapt_window", window, n),
            "greedy": self.greedy,
            "neighborhood": n_neighbors,
            "start": _named(self._start),
            "restart": _named(self._restart),
            "admit_empty": int(self._admit_empty),
        }
        self._window = int(_count("adapt_window", window, n))
        self._seed = check_seed("seed", seed)
        n_words = (n + 63) // 64
        self._mask = np.zeros(n_words, np.uint64)
        self._best_mask = np.zeros(n_words, np.uint64)
        self._score = self._best_score = self._reference = -math.inf
        self._iteration = self._changed = 0
        self._probabilities = (
            float(self._parameters["p_restart"]),
            float(self._parameters["p_noise"]),
        )
        self._n_steps = [0, 0, 0]
        self._indptr = np.arange(n_neighbors + 1, dtype=np.int64)  # that of every neighborhood
        self._indptr.setflags(write=False)
        self._asked: tuple[Masks, int, float] | None = None  # what, by which step, for ties
        self._answer: Masks | None = None

    @property
    def n_features(self) -> int:
        """Number of features n."""
        return self._n_features

    @property
    def p_restart(self) -> float:
        """P_r, as it is now."""
        return self._probabilities[0]

    @property
    def p_noise(self) -> float:
        """P_n, as it is now."""
        return self._probabilities[1]

    @property
    def is_homogeneous(self) -> bool:
        """Whether the probabilities stay what they are, so that the walk is a Markov chain."""
        return self._rates == (0.0, 0.0)

    @property
    def mask(self) -> Masks:
        """Where the walk is, a batch of one; without features before the first tell."""
        return self._one(self._mask)

    @property
    def n_steps(self) -> dict[str, int]:
        """Steps taken, by kind; the start counts as a restart."""
        return dict(zip(("restart", "noise", "greedy"), self._n_steps, strict=True))

    @property
    def starts(self) -> tuple[WalkStart, WalkStart]:
        """Words of the masks that the walk starts and restarts from, None for random ones."""
        return self._start, self._restart

    def set_seed(self, seed: int) -> None:
        """Take the key of what is drawn, in [0, 2**64)."""
        self._seed = check_seed("seed", seed)
        self._asked = None

    def _one(self, words: NDArray[np.uint64]) -> Masks:
        return Masks.from_words(words[None, :], self._n_features)

    def ask(self) -> Masks:
        """Return the masks of the next step: a start, or one neighbor, or N_r of them."""
        if self._asked is None:
            n = self._n_features
            random = Random(self._seed, Stream.search, lane=self._iteration)
            of_kind, of_noise, of_ties = random.uniform(3).tolist()
            if self._iteration == 0 or of_kind < self._probabilities[0]:
                start = self._restart if self._iteration else self._start
                masks, kind = self._one(words_of_start(start, n, random)), _RESTART
            elif of_noise < self._probabilities[1]:
                masks, kind = self._flipped(random.integers(n, 1)), _NOISE
            elif self.n_neighbors == n:  # all of them, whose order tells nothing
                masks, kind = self._flipped(np.arange(n, dtype=np.int64)), _GREEDY
            else:
                masks, kind = self._flipped(random.choice(n, self.n_neighbors)), _GREEDY
            self._asked = (masks, kind, of_ties)
        return self._asked[0]

    def _flipped(self, flips: NDArray[np.int64]) -> Masks:
        # Flips were drawn below n, and nobody else holds the arrays: nothing to check or copy.
        if len(flips) > 1:
            words = self._mask.copy()
            for array in (words, flips):
                array.setflags(write=False)
            arrays = (words, self._indptr, flips)
            return Masks._make(self._n_features, None, *arrays, is_single=True)
        row = self._mask[None, :].copy()
        _flip(row[0], int(flips[0]))
        row.setflags(write=False)
        return Masks._make(self._n_features, row)

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Take the step, by the scores of the masks of the last ask, float64 of shape (n_masks,).

        Raises
        ------
        ValueError
            If the masks are others, or there is not one finite score for each.
        """
        asked, kind, of_ties = self._asked or (None, 0, 0.0)
        values = check_told(asked, masks, scores)
        assert asked is not None
        row = 0 if len(values) == 1 else _core.greatest(values, of_ties)
        best = float(values[row])
        if kind != _GREEDY or self.greedy == "soft" or best > self._score:
            self._go(asked, row, best)
        self._adapt()
        self._n_steps[kind] += 1
        self._iteration += 1
        self._asked = None

    def _go(self, asked: Masks, row: int, score: float) -> None:
        """Go to a mask of an ask, and remember it where there was none better."""
        if asked.is_compact:
            assert asked.indices is not None
            self._mask = self._mask.copy()  # it may be that of an ask, or the best
            _flip(self._mask, int(asked.indices[row]))
        else:
            self._mask = asked.words[row]
        self._score = score
        if score > self._best_score and (self._admit_empty or self._mask.any()):
            self._best_score, self._best_mask = score, self._mask
            self._answer = None

    def _adapt(self) -> None:
        """Make restarts and noise rarer after an improvement, and more frequent without any."""
        now = self._iteration
        improved = self._score > self._reference
        if now > 0 and (improved or now - self._changed >= self._window):
            if self._rates != (0.0, 0.0):
                self._probabilities = tuple(  # type: ignore[assignment]
                    p - alpha * p / 2.0 if improved else p + alpha * (1.0 - p)
                    for p, alpha in zip(self._probabilities, self._rates, strict=True)
                )
        elif now > 0:
            return
        self._reference, self._changed = self._score, now

    def recommend(self) -> Masks:
        """Return the best mask so far; none before there is one with features in it."""
        if self._answer is None:
            found = self._best_mask[None, :]
            if self._best_score == -math.inf:
                found = found[:0]
            self._answer = Masks.from_words(found, self._n_features, copy=False)
        return self._answer

    def eligible(self) -> NDArray[np.bool_]:
        """Return which masks of the last ask may become the best: all."""
        return np.ones(len(self.ask()), dtype=bool)

    def stop(self) -> dict[str, object]:
        """Return nothing: the walk never ends by itself."""
        return {}

    def state(self) -> State:
        """Return the parameters, the seed, the walk's mask and the best, and what adapts."""
        return {
            **self._parameters,
            "seed": self._seed,
            "iteration": self._iteration,
            "mask": self._mask.copy(),
            "score": self._score,
            "best_mask": self._best_mask.copy(),
            "best_score": self._best_score,
            "p_restart_now": self._probabilities[0],
            "p_noise_now": self._probabilities[1],
            "reference": self._reference,
            "changed": self._changed,
            "n_steps": np.array(self._n_steps),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a search with the same parameters.

        Raises
        ------
        ValueError
            If an entry is missing or out of its range, or a parameter differs.
        """
        check_parameters_of_state(self.state(), self._parameters, state)
        seed = check_seed("seed", state["seed"])
        iteration = check_int("iteration", state["iteration"], 0)
        changed = check_int("changed", state["changed"], 0, max(0, iteration - 1))
        steps = np.array(state["n_steps"])
        if steps.shape != (3,) or steps.min() < 0 or steps.sum() != iteration:
            raise ValueError(f"n_steps must be three numbers of sum {iteration}, got {steps}")
        masks = [
            Masks.from_words(np.array([state[name]], np.uint64), self._n_features).words[0]
            for name in ("mask", "best_mask")
        ]
        scores = [float(state[name]) for name in ("score", "best_score", "reference")]
        is_new = iteration == 0
        for name, score in zip(("score", "best_score", "reference"), scores, strict=True):
            if not math.isfinite(score) and not (
                score == -math.inf and (is_new or name == "best_score")
            ):
                raise ValueError(f"{name} must be finite after {iteration} steps, got {score}")
        now = [
            check_number(name, state[name], 0, 1, closed="both")
            for name in ("p_restart_now", "p_noise_now")
        ]
        self._seed, self._iteration, self._changed = seed, iteration, changed
        self._mask, self._best_mask = masks[0].copy(), masks[1].copy()
        self._score, self._best_score, self._reference = scores
        self._probabilities = (now[0], now[1])
        self._n_steps = steps.tolist()
        self._asked = self._answer = None

    def __repr__(self) -> str:
        return f"<StochasticLocalMaskSearch: {self._n_features} features, step {self._iteration}>"


def _flip(words: NDArray[np.uint64], feature: int) -> None:
    view = memoryview(words.data)  # Python's own integers are sooner at one of them than numpy's
    view[feature // 64] ^= 1 << feature % 64


def _count(name: str, value: float, n: int) -> int:
    """Return a number, or a share of n as a number, rounded up."""
    if is_whole(value):
        return check_int(name, value, 1)
    share = check_number(name, value, 0, 1, closed="right", instead="or a whole number from 1 on")
    return max(1, math.ceil(share * n - 1e-9))


def _named(start: WalkStart) -> str | NDArray[np.uint64]:
    """Return a start as a state holds it."""
    return "random" if start is None else start.copy()
