"""Swaps at a given size, from a mask to a local optimum, and kicks beyond it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_choice, check_int, check_number
from bitsieve._checks import seed as check_seed
from bitsieve._random import Random, Stream
from bitsieve.masks import Masks
from bitsieve.search.checks import check_parameters_of_state, check_told, features_of_state
from bitsieve.search.protocol import Scores, State
from bitsieve.search.starts import members_of, vector
from bitsieve.search.swaps import Best, Pairs, Ranked, swaps_of_a_kick

__all__ = ["FixedSizeMaskSearch", "Moves"]

Moves = Literal["swaps", "best_pairs"]
Positions = NDArray[np.int64]

_MOVES = ("swaps", "best_pairs")
_PHASES = ("measure", "adds", "drops", "swaps", "ended")


class FixedSizeMaskSearch:
    """Exchange one feature of a mask for another for as long as that is better.

    A pass measures all swaps of the mask at hand, or the best pairs; the best swap is made if it
    gains more than ``tol``. Where none does the mask is a local optimum: the search ends, or kicks
    the best mask so far, some swaps at random, and goes on from there (iterated local search [1]_).

    Parameters
    ----------
    n_features : int
    size : int
        Features of every mask that may be the answer.
    seed : int
        Key of what is drawn, in [0, 2**64); :func:`bitsieve.search.run` sets it. A search from a
        given start without kicks draws nothing.
    start : array-like of bool, shape (n_features,), or Masks of one, optional
        The first mask, with ``size`` features; by default it is drawn.
    priority : array-like of float, shape (n_features,), optional
        Decides between equal swaps: of the features that leave that of the lowest priority, then
        of those that come that of the highest. By default, and where priorities are equal, the
        lowest index.
    moves : {"swaps", "best_pairs"}
        All size * (n_features - size) swaps; or the ``n_paired`` best features to add, each paired
        with the ``n_paired`` best to drop, which takes one pass of adds, one of drops (none where
        they are no more than ``n_paired``) and one of at most n_paired**2 swaps. Between equal
        pairs the better drop decides, then the better add.
    n_paired : int
    n_candidates : int, optional
        Only so many features, those of the highest priority, may come. By default all.
    tol : float
        A swap must gain more than this, at least 0.
    n_kicks : int
    kick_size : int or float
        Swaps of a kick: a number, or a fraction of the size, rounded to the nearest, at least one.
    n_asked : int
        Masks of an ask, at most: a pass is cut into parts, each for one or several features that
        leave.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    .. [1] H. R. Lourenço, O. C. Martin, T. Stützle (2003), Iterated local search, in: Handbook of
       Metaheuristics, 320-353.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.search import FixedSizeMaskSearch
    >>> search = FixedSizeMaskSearch(4, size=2, start=[True, True, False, False])
    >>> weights = np.array([1.0, 4.0, 2.0, 3.0])
    >>> while not search.stop():
    ...     masks = search.ask()
    ...     search.tell(masks, masks.to_bool() @ weights)
    >>> search.recommend().indices_of(0), search.stop()
    (array([1, 3]), {'optimum': 1})
    """

    def __init__(
        self,
        n_features: int,
        *,
        size: int,
        seed: int = 0,
        start: ArrayLike | Masks | None = None,
        priority: ArrayLike | None = None,
        moves: Moves = "swaps",
        n_paired: int = 20,
        n_candidates: int | None = None,
        tol: float = 0.0,
        n_kicks: int = 0,
        kick_size: float = 0.2,
        n_asked: int = 500_000,
    ) -> None:
        p = self._n_features = check_int("n_features", n_features, 1)
        self._size = check_int("size", size, 1, p)
        self._seed = check_seed("seed", seed)
        self._start = None if start is None else members_of(start, p, self._size)
        self._priority = None if priority is None else vector("priority", priority, p)
        if self._priority is not None:
            self._priority.setflags(write=False)
        self._moves = check_choice("moves", moves, _MOVES)
        self._n_paired = check_int("n_paired", n_paired, 1)
        self._n_candidates = p
        if n_candidates is not None:
            if priority is None:
                raise ValueError("n_candidates needs a priority to take the best by")
            self._n_candidates = check_int("n_candidates", n_candidates, 1)
        self._tol = check_number("tol", tol, 0, closed="left")
        self._n_kicks = check_int("n_kicks", n_kicks, 0)
        self._kick_size = swaps_of_a_kick(kick_size, self._size)
        self._n_asked = check_int("n_asked", n_asked, 1)
        self._order: Positions | None = None  # the features that may come, the first first
        self._begin()

    def _begin(self) -> None:
        start = self._start
        if start is None:
            drawn = Random(self._seed, Stream.search, lane=0).choice(self._n_features, self._size)
            start = np.sort(drawn)
        self._mask = start
        self._score = math.nan  # of the mask at hand
        self._best, self._best_score = start, math.nan
        self._n_moves = self._kicks = 0
        self._phase = "measure"
        self._asked: Masks | None = None
        self._answer: tuple[bytes, Masks] | None = None
        self._clear()

    def _clear(self) -> None:
        """Forget what the pass over the mask at hand has found."""
        self._part = 0
        self._found = Best()
        self._adds = self._drops = Ranked()
        self._lists: tuple[Positions, Positions] | None = None

    # -- what a search offers ------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return self._n_features

    @property
    def n_moves(self) -> int:
        """Swaps that were made, those of kicks not counted."""
        return self._n_moves

    @property
    def n_kicks(self) -> int:
        """Kicks that were made."""
        return self._kicks

    def set_seed(self, seed: int) -> None:
        """Take the key of what is drawn, in [0, 2**64), and begin."""
        self._seed = check_seed("seed", seed)
        self._begin()

    def ask(self) -> Masks:
        """Return the mask at hand where its score is not known, else a part of its neighbors."""
        if self._asked is None:
            self._asked = self._next()
        return self._asked

    def _next(self) -> Masks:
        if self._phase in ("measure", "ended"):
            return self._masks_of(self._mask)
        base = self._masks_of(self._mask)
        if self._phase == "swaps":
            leave, come = self._pairs().part(self._part)
            return Masks.swaps(base, out=leave, in_=come)
        return Masks.neighbors(base.words, self._n_features, self._flips())

    def eligible(self) -> NDArray[np.bool_]:
        """Return which masks of the last ask may become the best: those of the size."""
        n = 0 if self._asked is None else len(self._asked)
        return np.full(n, self._phase not in ("adds", "drops"))

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Take the scores of the masks of the last ask, float64 of shape (n_masks,)."""
        scores = check_told(self._asked, masks, scores)
        self._asked = None
        if self._phase == "measure":
            self._arrive(float(scores[0]))
        elif self._phase == "swaps":
            pairs = self._pairs()
            self._found = self._found.with_part(*pairs.part(self._part), scores)
            self._part += 1
            if self._part == pairs.n_parts:
                self._decide()
        elif self._phase != "ended":
            self._rank(scores)

    def stop(self) -> dict[str, object]:
        """Return ``{"optimum": n_moves}`` at the last local optimum."""
        return {"optimum": self._n_moves} if self._phase == "ended" else {}

    def recommend(self) -> Masks:
        """Return the best mask that was measured; before that, the first."""
        best = self._best
        if self._gains and self._found.score > self._best_score:
            best = self._swapped()
        key = best.tobytes()
        if self._answer is None or self._answer[0] != key:
            self._answer = (key, self._masks_of(best))
        return self._answer[1]

    def feature_scores(self) -> NDArray[np.float64]:
        """Return 1 for the features of the answer, and below 1 more for the higher priority."""
        scores: NDArray[np.float64] = self.recommend().to_bool()[0].astype(np.float64)
        if self._priority is not None:
            p = self._n_features
            scores[np.argsort(-self._priority, kind="stable")] += np.arange(p - 1, -1, -1) / p
        return scores

    # -- how it goes on ------------------------------------------------------------------------

    @property
    def _gains(self) -> bool:
        return self._found.score - self._score > self._tol

    def _arrive(self, score: float) -> None:
        """The score of the mask at hand is known: begin a pass over its neighbors."""
        self._score = score
        if math.isnan(self._best_score) or score > self._best_score:
            self._best, self._best_score = self._mask, score
        self._clear()
        if not len(self._features()[1]):
            self._leave_optimum()
        elif self._moves == "swaps":
            self._phase = "swaps"
        else:
            self._phase = "adds"
            self._skip_small_rankings()

    def _skip_small_rankings(self) -> None:
        leave, come = self._features()
        if self._phase == "adds" and len(come) <= self._n_paired:
            self._phase = "drops"
        if self._phase == "drops" and len(leave) <= self._n_paired:
            self._phase = "swaps"

    def _rank(self, scores: Scores) -> None:
        """Keep the best features to add, or to drop, of a part of them."""
        kept = self._adds if self._phase == "adds" else self._drops
        kept = kept.with_part(self._flips(), scores, self._n_paired)
        if self._phase == "adds":
            self._adds = kept
        else:
            self._drops = kept
        leave, come = self._features()
        n = len(come if self._phase == "adds" else leave)
        self._part += 1
        if self._part * self._n_asked >= n:
            self._part = 0
            self._phase = "drops" if self._phase == "adds" else "swaps"
            self._skip_small_rankings()

    def _decide(self) -> None:
        """All swaps were measured: make the best, or find that none is better."""
        if self._gains:
            self._mask, score = self._swapped(), self._found.score
            self._n_moves += 1
            self._arrive(score)
        else:
            self._leave_optimum()

    def _leave_optimum(self) -> None:
        self._clear()
        self._phase = "ended"
        if self._kicks < self._n_kicks:
            self._mask = self._best
            leave, come = self._features()
            n = min(self._kick_size, len(come))
            self._lists = None
            if n:
                self._kicks += 1
                random = Random(self._seed, Stream.search, lane=self._kicks)
                out, into = random.choice(len(leave), n), random.choice(len(come), n)
                stay = np.setdiff1d(leave, leave[out])
                self._mask = np.sort(np.concatenate([stay, come[into]]))
                self._score, self._phase = math.nan, "measure"

    # -- features ------------------------------------------------------------------------------

    def _features(self) -> tuple[Positions, Positions]:
        """The features that may leave, and those that may come, in the order that decides ties."""
        if self._lists is None:
            if self._order is None:
                self._order = np.arange(self._n_features, dtype=np.int64)
                if self._priority is not None:
                    order = np.argsort(-self._priority, kind="stable")
                    self._order = order[: self._n_candidates].astype(np.int64)
            inside = np.zeros(self._n_features, dtype=bool)
            inside[self._mask] = True
            leave = self._mask
            if self._priority is not None:
                leave = leave[np.argsort(self._priority[leave], kind="stable")]
            self._lists = (leave, self._order[~inside[self._order]])
        return self._lists

    def _pairs(self) -> Pairs:
        leave, come = self._features()
        if self._moves == "best_pairs":
            leave = self._drops.features if len(self._drops) else leave
            come = self._adds.features if len(self._adds) else come
        return Pairs(leave, come, self._n_asked)

    def _flips(self) -> Positions:
        """The features that this part of a ranking flips."""
        leave, come = self._features()
        flips = come if self._phase == "adds" else leave
        return flips[self._part * self._n_asked : (self._part + 1) * self._n_asked]

    def _swapped(self) -> Positions:
        stay = self._mask[self._mask != self._found.out]
        return np.insert(stay, np.searchsorted(stay, self._found.into), self._found.into)

    def _masks_of(self, features: Positions) -> Masks:
        mask = np.zeros(self._n_features, dtype=bool)
        mask[features] = True
        return Masks.from_bool(mask)

    # -- state ---------------------------------------------------------------------------------

    def _parameters(self) -> dict[str, Any]:
        return {
            "n_features": self._n_features,
            "size": self._size,
            "start": "random" if self._start is None else self._start.copy(),
            "priority": "none" if self._priority is None else self._priority,
            "moves": self._moves,
            "n_paired": self._n_paired,
            "n_candidates": self._n_candidates,
            "tol": self._tol,
            "n_kicks": self._n_kicks,
            "kick_size": self._kick_size,
            "n_asked": self._n_asked,
        }

    def state(self) -> State:
        """Return the parameters, the masks at hand and best, and what a pass has found so far."""
        return {
            **self._parameters(),
            "seed": self._seed,
            "phase": self._phase,
            "part": self._part,
            "mask": self._mask.copy(),
            "score": self._score,
            "best": self._best.copy(),
            "best_score": self._best_score,
            "moves_made": self._n_moves,
            "kicks_made": self._kicks,
            **self._found.state(),
            **self._adds.state("add"),
            **self._drops.state("drop"),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a search with the same parameters.

        Raises
        ------
        ValueError
            If an entry is missing, a parameter differs, or a number is none that a search gets to.
        """
        check_parameters_of_state(self.state(), self._parameters(), state)
        p, size = self._n_features, self._size
        phase = check_choice("phase", state["phase"], _PHASES)
        seed = check_seed("seed", state["seed"])
        counts = [check_int(name, state[name], 0) for name in ("part", "moves_made", "kicks_made")]
        masks = [features_of_state(state, name, p) for name in ("mask", "best")]
        score, best_score = float(state["score"]), float(state["best_score"])
        ranked = [Ranked.of_state(state, name, self._n_paired) for name in ("add", "drop")]
        found = Best.of_state(state)
        if (
            any(len(mask) != size or (np.diff(mask) <= 0).any() for mask in masks)
            or counts[2] > self._n_kicks
            or math.isinf(score)
            or math.isinf(best_score)
            or (math.isnan(score) and phase not in ("measure",))
            or (phase == "swaps" and found.is_one and found.out not in masks[0])
        ):
            raise ValueError("the state is none that a search of swaps gets to")
        self._clear()
        self._asked = self._answer = None
        self._seed, self._phase, self._found = seed, phase, found
        self._part, self._n_moves, self._kicks = counts
        (self._mask, self._best), self._score, self._best_score = masks, score, best_score
        self._adds, self._drops = ranked

    def __repr__(self) -> str:
        return (
            f"<FixedSizeMaskSearch: {self._size} of {self._n_features} features, "
            f"{self._n_moves} swaps made>"
        )
