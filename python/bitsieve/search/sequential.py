"""Sequential selection: one feature after the other comes in, or goes out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_choice, check_int, check_number
from bitsieve.masks import Masks
from bitsieve.search.checks import check_parameters_of_state, check_told
from bitsieve.search.protocol import Scores, State
from bitsieve.search.starts import bools_of
from bitsieve.search.steps import Steps
from bitsieve.search.walked import Walked

__all__ = ["Floating", "SequentialSearch"]

Floating: TypeAlias = bool | Literal["mlxtend"]

_FLOATING = {False: "no", True: "yes", "mlxtend": "mlxtend"}
_PHASES = ("start", "step", "measure", "back", "ended")
_UNKNOWN = -math.inf


class SequentialSearch:
    """Sequential forward or backward selection, with or without floating.

    One ask is all masks that differ from the one at hand by one feature more (forward) or less
    (backward), in compact form; the best is taken, among equal ones that of the lowest index. The
    best mask met of each size is remembered.

    Parameters
    ----------
    n_features : int
    size : int or (int, int), optional
        How many features the answer has: one size, or the best of a range. By default half.
    direction : {"forward", "backward"}
    step : int
        So many features are added or removed at a time, the best by the scores of an ask, the
        last time fewer; where they are several the new mask is scored by itself.
    floating : {False, True, "mlxtend"}
        After each step features are taken back (forward: removed, backward: added), one at a time,
        for as long as this gives a mask better than any of its size before [1]_; of a size that
        was never met, one better than the mask at hand. "mlxtend" is the stricter rule of the
        package of this name: the new mask must also be better than the one at hand, the feature of
        the last step stays, and features are taken back only where more than two were taken. Among
        equal masks the one without the highest index is taken where features go.
    plus_l_minus_r : (int, int), optional
        l steps in the direction, then r < l back, whatever the scores are [2]_. The last of these
        rounds is cut to end at the size.
    tol : float, optional
        Stop before a step that improves the score by less; the first one is always made. The
        answer is then the mask at hand.
    patience : int, optional
        Stop once so many sizes of the range gave no score better than the best of it.
    start : array of bool, shape (n_features,), optional
        The first mask. By default none of the features (forward) or all of them.
    scores_empty : bool
        Whether the mask without a feature is one like the others.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the size is not on the way from the start.

    References
    ----------
    .. [1] P. Pudil, J. Novovičová, J. Kittler (1994), Floating search methods in feature
       selection, Pattern Recognition Letters 15, 1119-1125.
    .. [2] S. D. Stearns (1976), On selecting features for pattern classifiers, 3rd International
       Conference on Pattern Recognition, 71-75.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.search import SequentialSearch
    >>> search = SequentialSearch(4, size=2)
    >>> weights = np.array([1.0, 4.0, 2.0, 3.0])
    >>> while not search.stop():
    ...     masks = search.ask()
    ...     search.tell(masks, masks.to_bool() @ weights)
    >>> search.recommend().indices_of(0), search.walked.sizes()
    (array([1, 3]), [1, 2])
    """

    def __init__(
        self,
        n_features: int,
        *,
        size: int | tuple[int, int] | None = None,
        direction: Literal["forward", "backward"] = "forward",
        step: int = 1,
        floating: Floating = False,
        plus_l_minus_r: tuple[int, int] | None = None,
        tol: float | None = None,
        patience: int | None = None,
        start: ArrayLike | None = None,
        scores_empty: bool = False,
    ) -> None:
        self.steps = Steps.checked(
            n_features,
            size=size,
            direction=direction,
            step=step,
            plus_l_minus_r=plus_l_minus_r,
            scores_empty=scores_empty,
        )
        p = self._n_features = self.steps.n_features
        if not isinstance(floating, (bool, np.bool_, str)) or floating not in _FLOATING:
            raise ValueError(f"floating must be False, True or 'mlxtend', got {floating!r}")
        self._floating = _FLOATING[floating]
        if self.steps.at_once > 1 and self._floating == "mlxtend":
            raise ValueError(f"step must be 1 where floating='mlxtend', got {step}")
        if self.steps.plus and self._floating != "no":
            raise ValueError("give either floating or plus_l_minus_r, not both")
        self._tol = math.nan if tol is None else check_number("tol", tol)
        self._patience = 0 if patience is None else check_int("patience", patience, 1)
        first = np.full(p, not self.steps.is_forward) if start is None else bools_of(start, p)
        self.steps.check_start(int(first.sum()))
        self._begin(first)

    def _begin(self, first: NDArray[np.bool_]) -> None:
        first.setflags(write=False)
        self._mask = first.copy()
        self._size = int(first.sum())
        self.walked = Walked(first)
        self._score = math.nan  # of the mask at hand
        self._basis = math.nan  # what tol compares with
        self._newest = -1  # the feature of the last step
        self._n_pending = 0  # flips of the last step
        self._n_ahead, self._n_back = 0, 0  # steps left of a round
        self._top = (_UNKNOWN, 0)  # the best score in the range, and minus its size
        self._answer: Masks | None = None
        self._current: Masks | None = None
        self._reason = ""
        self._phase = "start"
        self._asked: Masks | None = None
        self._flips: NDArray[np.int64] | None = None  # of its masks, where they are neighbors
        if self._size < self.steps.least:  # a mask without a score
            self._go_on()

    # -- what a search offers ------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return self._n_features

    def ask(self) -> Masks:
        """Return the mask at hand where its score is not known, else its neighbors, compact."""
        if self._asked is None:
            self._asked = self._at_hand()
            if self._phase not in ("start", "measure", "ended"):
                self._flips = self._candidates()
                self._asked = Masks.neighbors(self._asked.words, self._n_features, self._flips)
        return self._asked

    def eligible(self) -> NDArray[np.bool_]:
        """Return True for each mask of the last ask."""
        return np.ones(len(self.ask()), dtype=bool)

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Take the best of the last ask, scores being float64 of shape (n_masks,)."""
        scores = check_told(self._asked, masks, scores)
        flips, self._asked, self._flips = self._flips, None, None
        if self._phase == "ended":
            return
        if self._phase == "start":
            self._keep(float(scores[0]))
            self._go_on()
            return
        if self._phase == "measure":
            self._arrive(float(scores[0]))
            return
        assert flips is not None
        if self._phase == "back":
            self._look_back(flips, scores)
            return
        count = self._n_pending = self.steps.n_at_once(self._size)
        if count == 1:
            best = self._best(scores)
            self._flip(int(flips[best]))
            self._arrive(float(scores[best]))
            return
        for place in np.argsort(-scores, kind="stable")[:count]:
            self._flip(int(flips[place]))
        self._phase = "measure"

    def stop(self) -> dict[str, object]:
        """Return why the search is over, if it is."""
        if not self._reason:
            return {}
        value = {"size": self._size, "tol": self._tol, "patience": self._patience}
        return {self._reason: value[self._reason]}

    def evaluations_left(self) -> tuple[int, str]:
        """Return how many masks are to be measured yet, at most, about or at least.

        Floating takes steps back that nobody can tell beforehand; ``tol`` and ``patience`` may end
        the search sooner.
        """
        may_end = self._patience > 0 or not math.isnan(self._tol)
        if self._floating != "no":
            bound = "about" if may_end else "at least"
        else:
            bound = "at most" if may_end or self.steps.low < self.steps.high else "about"
        if self._phase == "ended":
            return 0, bound
        if self._phase == "start":
            return self.steps.n_evaluations(self._size), bound
        is_unknown = self._phase == "measure"
        return self.steps.n_ahead(self._size, self._n_ahead, self._n_back) + is_unknown, bound

    def recommend(self) -> Masks:
        """Return the best mask of the wanted sizes; the one at hand while there is none."""
        if self._answer is None or not math.isnan(self._tol):
            return self._at_hand()
        return self._answer

    def feature_scores(self) -> NDArray[np.float64]:
        """Return 1 for features of the answer, and up to 1 more for those that came early.

        Backward, for those that would go late.
        """
        scores = self.walked.order(self.steps.is_forward)
        scores += self.recommend().to_bool()[0]
        return scores

    # -- how it goes on ------------------------------------------------------------------------

    def _candidates(self) -> NDArray[np.int64]:
        """The features that a step, or a step back, may flip."""
        adds = self.steps.is_forward == (self._phase == "step")
        flips = np.flatnonzero(~self._mask if adds else self._mask)
        if self._phase == "back" and self._floating == "mlxtend":
            flips = flips[flips != self._newest]
        return flips

    def _best(self, scores: Scores) -> int:
        """The place of the best score; among equal ones that of the lowest index."""
        if self._floating == "mlxtend" and self.steps.is_forward != (self._phase == "step"):
            return len(scores) - 1 - int(np.argmax(scores[::-1]))  # of features that go
        return int(np.argmax(scores))

    def _at_hand(self) -> Masks:
        if self._current is None:
            self._current = Masks.from_bool(self._mask)
        return self._current

    def _flip(self, feature: int) -> None:
        self._mask[feature] ^= True
        self._size += 1 if self._mask[feature] else -1
        self.walked.flips.append(feature)
        self._newest = feature if self._phase == "step" else self._newest
        self._current = None

    def _keep(self, score: float) -> None:
        """Remember the mask at hand where it is the best of its size, or of all wanted."""
        self._score = score
        if not self.walked.record(self._size, score):
            return
        if self.steps.is_wanted(self._size) and (score, -self._size) > self._top:
            self._top, self._answer = (score, -self._size), self._at_hand()

    def _arrive(self, score: float) -> None:
        """A step was made: is it one too many, and what comes then?"""
        if score - self._basis < self._tol:  # never where one of them is NaN
            for feature in self.walked.flips[-self._n_pending :]:
                self._mask[feature] ^= True
            del self.walked.flips[-self._n_pending :]
            self._size, self._current = int(self._mask.sum()), None
            self._end("tol")
            return
        self._basis = score
        self._keep(score)
        if self.steps.plus:
            self._n_ahead -= 1
            if self._n_ahead == 0 and self._n_back:
                self._phase = "back"
            elif self._n_ahead == 0:
                self._go_on()
            return
        if self._may_look_back():
            self._phase = "back"
        else:
            self._go_on()

    def _look_back(self, flips: NDArray[np.int64], scores: Scores) -> None:
        strict = self._floating == "mlxtend"
        best = self._best(scores)
        score = float(scores[best])
        if not self.steps.plus:
            size = self._size - self.steps.ahead
            known = self.walked.score_of(size, self._score)
            if score <= known or (strict and score <= self._score):
                self._go_on()
                return
        self._flip(int(flips[best]))
        self._basis = score
        self._keep(score)
        if self.steps.plus:
            self._n_back -= 1
            if self._n_back == 0:
                self._go_on()
        elif not self._may_look_back():
            self._go_on()

    def _may_look_back(self) -> bool:
        if self._floating == "no":
            return False
        taken = self._size if self.steps.is_forward else self._n_features - self._size
        if self._floating == "mlxtend":
            return taken > 2
        return taken > (self.steps.least if self.steps.is_forward else 0)

    def _go_on(self) -> None:
        """Begin the next step, or end."""
        if self._size == self.steps.target:
            self._end("size")
            return
        stalled = abs(self._size + self._top[1]) if self.steps.is_wanted(self._size) else 0
        if self._patience and stalled >= self._patience:
            self._end("patience")
            return
        self._phase = "step"
        if self.steps.plus:
            self._n_ahead, self._n_back = self.steps.round_from(self._size)

    def _end(self, reason: str) -> None:
        self._phase, self._reason = "ended", reason

    # -- state ---------------------------------------------------------------------------------

    def _parameters(self) -> dict[str, Any]:
        return {
            **{name: int(value) for name, value in vars(self.steps).items()},
            "floating": self._floating,
            "tol": self._tol,
            "patience": self._patience,
            "start": self.walked.start.copy(),
        }

    def _counts(self) -> dict[str, int]:
        return {
            "newest": self._newest,
            "n_pending": self._n_pending,
            "n_ahead": self._n_ahead,
            "n_back": self._n_back,
        }

    def state(self) -> State:
        """Return the parameters, the way so far, and what comes next."""
        return {
            **self._parameters(),
            **self._counts(),
            **self.walked.state(),
            "phase": self._phase,
            "reason": self._reason,
            "score": self._score,
            "basis": self._basis,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a search with the same parameters.

        Raises
        ------
        ValueError
            If an entry is missing, a parameter differs, or a number is none that a search gets to.
        """
        check_parameters_of_state(self.state(), self._parameters(), state)
        phase = check_choice("phase", state["phase"], _PHASES)
        reason = check_choice("reason", state["reason"], ("", "size", "tol", "patience"))
        counts = {
            name: check_int(name, state[name], -1 if name == "newest" else 0, self._n_features)
            for name in self._counts()
        }
        numbers = [float(state[name]) for name in ("score", "basis")]
        if (phase == "ended") != bool(reason) or np.isinf(numbers).any():
            raise ValueError(f"no search is {phase} with {state['reason']!r} and {numbers}")
        walked = Walked(self.walked.start)
        walked.set_state(state)
        self.walked = walked
        self._mask = walked.mask_after(len(walked.flips))
        self._size = int(self._mask.sum())
        self._newest, self._n_pending = counts["newest"], counts["n_pending"]
        self._n_ahead, self._n_back = counts["n_ahead"], counts["n_back"]
        self._score, self._basis = numbers
        self._phase, self._reason = phase, reason
        self._asked = self._flips = self._current = self._answer = None
        self._top = max(
            ((walked.score_of(k, _UNKNOWN), -k) for k in walked.sizes() if self.steps.is_wanted(k)),
            default=(_UNKNOWN, 0),
        )
        if self._top[0] > _UNKNOWN:
            self._answer = Masks.from_bool(walked.mask_of(-self._top[1]))

    def __repr__(self) -> str:
        way = "forward" if self.steps.is_forward else "backward"
        return f"<SequentialSearch: {way}, {self._size} of {self._n_features} features>"
