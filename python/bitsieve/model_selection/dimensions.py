"""What a search varies: choices, real and whole numbers, each a function of a number in [0, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Choice", "Dimension", "Real", "Whole"]


@dataclass(frozen=True)
class Choice:
    """One of some values, each as likely.

    Examples
    --------
    >>> [Choice("kernel", ("linear", "rbf")).at(u) for u in (0.0, 0.49, 0.5, 1.0)]
    ['linear', 'linear', 'rbf', 'rbf']
    """

    name: str
    options: tuple[Any, ...]

    def at(self, u: float) -> Any:
        """Return the value at a coordinate in [0, 1]."""
        return self.options[min(int(u * len(self.options)), len(self.options) - 1)]


@dataclass(frozen=True)
class Real:
    """A number from low to high on a logarithmic scale, with three digits.

    Examples
    --------
    >>> [Real("C", 0.01, 100.0).at(u) for u in (0.0, 0.3, 1.0)]
    [0.01, 0.158, 100.0]
    """

    name: str
    low: float
    high: float

    def at(self, u: float) -> float:
        """Return the value at a coordinate in [0, 1]."""
        return float(f"{self.low * (self.high / self.low) ** u:.3g}")


@dataclass(frozen=True)
class Whole:
    """A whole number from low to high, both among them, on a logarithmic scale.

    Examples
    --------
    >>> [Whole("degree", 1, 4).at(u) for u in (0.0, 0.5, 1.0)]
    [1, 2, 4]
    """

    name: str
    low: int
    high: int

    def at(self, u: float) -> int:
        """Return the value at a coordinate in [0, 1]."""
        ratio: float = ((self.high + 1) / self.low) ** u
        return min(max(math.floor(self.low * ratio), self.low), self.high)


Dimension: TypeAlias = Choice | Real | Whole
