"""Which sizes a sequential search comes by, whatever the scores are."""

from __future__ import annotations

from dataclasses import dataclass

from bitsieve._checks import check_choice, check_int

__all__ = ["Steps"]


@dataclass(frozen=True)
class Steps:
    """Direction, wanted sizes and lengths of steps.

    Attributes
    ----------
    n_features : int
    is_forward : bool
    low, high : int
        The wanted sizes; a forward search ends at the high one, a backward search at the low one.
    at_once : int
        Features of a step.
    plus, minus : int
        Steps of a round in the direction and back; 0 where there are no rounds.
    least : int
        The smallest mask that has a score: 0 or 1 feature.
    """

    n_features: int
    is_forward: bool
    low: int
    high: int
    at_once: int = 1
    plus: int = 0
    minus: int = 0
    least: int = 1

    @classmethod
    def checked(
        cls,
        n_features: int,
        *,
        size: int | tuple[int, int] | None,
        direction: str,
        step: int,
        plus_l_minus_r: tuple[int, int] | None,
        scores_empty: bool,
    ) -> Steps:
        """Take the parameters of :class:`bitsieve.search.SequentialSearch`.

        Raises
        ------
        ValueError
            If one is out of its range, or two of them exclude each other.
        """
        p = check_int("n_features", n_features, 1)
        least = 0 if scores_empty else 1
        wanted = max(1, p // 2) if size is None else size
        pair = wanted if isinstance(wanted, tuple) else (wanted, wanted)
        if len(pair) != 2:
            raise ValueError(f"size must be a number or a pair of numbers, got {size!r}")
        low = check_int("size", pair[0], least, p)
        high = check_int("size", pair[1], low, p)
        is_forward = check_choice("direction", direction, ("forward", "backward")) == "forward"
        at_once = check_int("step", step, 1)
        plus = minus = 0
        if plus_l_minus_r is not None:
            if not isinstance(plus_l_minus_r, tuple) or len(plus_l_minus_r) != 2:
                raise ValueError(
                    f"plus_l_minus_r must be None or a pair (l, r), got {plus_l_minus_r!r}"
                )
            minus = check_int("r of plus_l_minus_r", plus_l_minus_r[1], 1)
            plus = check_int("l of plus_l_minus_r", plus_l_minus_r[0], minus + 1)
            if at_once > 1:
                raise ValueError(f"step must be 1 where plus_l_minus_r is given, got {step}")
        return cls(p, is_forward, low, high, at_once, plus, minus, least)

    @property
    def target(self) -> int:
        """The size at which the search ends."""
        return self.high if self.is_forward else self.low

    @property
    def ahead(self) -> int:
        """What a feature more of the way changes of the size: 1 or -1."""
        return 1 if self.is_forward else -1

    def is_wanted(self, size: int) -> bool:
        """Whether a mask of this size may be the answer."""
        return self.low <= size <= self.high

    def check_start(self, size: int) -> None:
        """Refuse a start beyond the end.

        Raises
        ------
        ValueError
        """
        if (self.target - size) * self.ahead < 0:
            way = "forward" if self.is_forward else "backward"
            raise ValueError(
                f"start has {size} features, from which no {way} search comes to {self.target}"
            )

    def n_at_once(self, size: int) -> int:
        """Features that the next step from a size flips."""
        return 1 if self.plus else min(self.at_once, abs(self.target - size))

    def round_from(self, size: int) -> tuple[int, int]:
        """Steps in the direction, and then back, of the next round; the last one ends at the end.

        Examples
        --------
        >>> steps = Steps(20, True, 5, 5, plus=3, minus=1)
        >>> steps.round_from(0), steps.round_from(2), steps.round_from(4)
        ((3, 1), (3, 1), (2, 1))
        """
        left = abs(self.target - size)
        room = self.n_features - size if self.is_forward else size - self.least
        ahead = min(self.plus, left + self.minus, room)
        whole = ahead in (self.plus, left + self.minus)
        return ahead, self.minus if whole else ahead - left

    def n_evaluations(self, size: int) -> int:
        """Masks to be scored from a start of some size to the end, floating left out.

        Examples
        --------
        >>> Steps(5, True, 2, 2).n_evaluations(0)  # five single ones, and four pairs
        9
        """
        return self.n_ahead(size) + (size >= self.least)

    def n_ahead(self, size: int, ahead: int = 0, back: int = 0) -> int:
        """Masks to be scored from one of some size that has a score, floating left out.

        Parameters
        ----------
        size : int
        ahead, back : int
            Steps left of a round that has begun.

        Examples
        --------
        >>> Steps(5, True, 2, 2).n_ahead(1)
        4
        """
        total = 0
        while ahead or back or size != self.target:
            if not (ahead or back):
                ahead, back = self.round_from(size) if self.plus else (1, 0)
            for _ in range(ahead):
                count = self.n_at_once(size)
                total += self._n_neighbors(size, self.is_forward) + (count > 1)
                size += count * self.ahead
            for _ in range(back):
                total += self._n_neighbors(size, not self.is_forward)
                size -= self.ahead
            ahead = back = 0
        return total

    def _n_neighbors(self, size: int, adds: bool) -> int:
        return self.n_features - size if adds else size
