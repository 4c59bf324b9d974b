"""Table 2 of Aksakalli and Malekipirbazari (2016): what binary SPSA is run with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bitsieve._checks import check_choice

__all__ = ["PRESETS", "Preset", "preset_of"]


@dataclass(frozen=True)
class Preset:
    """One column of Table 2 of Aksakalli and Malekipirbazari (2016): gain, stability, budget.

    Attributes
    ----------
    gain, stability : float
    max_iter, patience : int
    step_fraction : float
        Of the automatic gain, which is not theirs.

    Notes
    -----
    ``step_fraction`` r is the root mean square of the steps of the automatic gain, in units
    of c. A feature is undecided while its w is within c of 0.5. Each step moves it at random, by
    the effects of all the others, and lets it drift by its own, which is about sqrt(p) times
    smaller. Large steps therefore decide features by chance, after 1 / r**2 iterations or so;
    small ones do not get there within the budget. Both values are near 2 / sqrt(max_iter), where
    1 / r**2 is the stall limit; ``benchmarks/README.md`` has the errors they were chosen by.
    """

    gain: float
    stability: float
    max_iter: int
    patience: int
    step_fraction: float


# Table 2 of Aksakalli and Malekipirbazari (2016); "stall" is printed transposed there.
PRESETS: Mapping[str, Preset] = {
    "small": Preset(0.75, 100.0, max_iter=1000, patience=250, step_fraction=0.06),
    "large": Preset(1.5, 300.0, max_iter=3000, patience=750, step_fraction=0.03),
}
_LARGE_FROM = 100  # features: the border between small and large in the same Table 2


def preset_of(preset: str, n_features: int) -> Preset:
    """Return a column of Table 2 of Aksakalli and Malekipirbazari (2016).

    Parameters
    ----------
    preset : {"auto", "small", "large"}
        "auto" is small below 100 features.
    n_features : int

    Returns
    -------
    Preset

    Raises
    ------
    ValueError
        For another name.

    Examples
    --------
    >>> preset_of("auto", 100).max_iter
    3000
    """
    if preset == "auto":
        preset = "small" if n_features < _LARGE_FROM else "large"
    check_choice("preset", preset, ("auto", *PRESETS))
    return PRESETS[preset]
