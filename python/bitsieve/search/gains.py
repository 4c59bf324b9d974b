"""The gain of binary SPSA, and the difference of scores that it is multiplied with."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bitsieve._checks import check_number
from bitsieve.search.presets import Preset

__all__ = ["Gain", "difference_of", "gain_of"]

Gain: TypeAlias = float | Literal["auto", "paper", "half-difference"]

_LARGEST_DIFFERENCE = 1e150


def difference_of(plus: float, minus: float) -> float:
    """Return plus - minus of two scores, or of two differences of scores, which must be usable."""
    # Beyond, its square is infinite, and so would be the mean that the automatic gain keeps.
    if abs(plus - minus) > _LARGEST_DIFFERENCE:
        raise ValueError(
            f"the scores of the two perturbed masks, {plus:g} and {minus:g}, differ by more "
            f"than {_LARGEST_DIFFERENCE:g}; give scores in a smaller unit"
        )
    return float(plus - minus)


def gain_of(gain: Gain, column: Preset, half_difference: float) -> float | None:
    """Return a, or None for the automatic gain."""
    if isinstance(gain, str):
        named = {"auto": None, "paper": column.gain, "half-difference": half_difference}
        if gain not in named:
            raise ValueError(
                f"gain must be 'auto', 'paper', 'half-difference' or a number, got {gain!r}"
            )
        return named[gain]
    return check_number("gain", gain, 0)
