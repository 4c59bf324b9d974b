"""Named settings of stochastic local search: those of the paper's table, and of its forerunners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bitsieve._checks import check_choice

__all__ = ["LOCAL_PRESETS", "Greedy", "LocalPreset", "local_preset"]

Greedy: TypeAlias = Literal["soft", "strict"]


@dataclass(frozen=True)
class LocalPreset:
    """Settings of a search, for n features.

    Attributes
    ----------
    p_restart : float or None
        Probability of a restart, P_r; None means 1 / n.
    p_noise : float
        Probability of noise where there is no restart, P_n.
    adapt_restart, adapt_noise : float
        Rates of adaptation, alpha_r and alpha_n; 0 keeps a probability as it is.
    adapt_window : int or float
        Steps without improvement before a probability rises: a number, or a share of n.
    greedy : {"soft", "strict"}
    neighborhood : float or None
        Share of the neighbors that a greedy step looks at; None means ceil(n / 10) of them.
    start : {"zeros", "random"}
    """

    p_restart: float | None
    p_noise: float
    adapt_restart: float
    adapt_noise: float
    adapt_window: int | float
    greedy: Greedy
    neighborhood: float | None
    start: Literal["zeros", "random"]


#: By name. The paper gives probabilities and rates; what its rivals look at is the whole
#: neighborhood, since the part of it is what SLS4FS adds. It leaves the probabilities of
#: MarkovSLS to tuning: here they are those of SoftSLS. WalkSAT, whose noise Hoos adapted, moves in
#: every step, and so does "adaptivenoise".
LOCAL_PRESETS = {
    "sls4fs": LocalPreset(0.0, 0.5, 0.0, 0.0, 1, "soft", None, "zeros"),
    "softsls": LocalPreset(None, 0.5, 0.0, 0.0, 1, "soft", 1.0, "random"),
    "adaptivesls": LocalPreset(0.0, 0.0, 0.32, 0.32, 1, "strict", 1.0, "random"),
    "markovsls": LocalPreset(None, 0.5, 0.0, 0.0, 1, "strict", 1.0, "random"),
    "adaptivenoise": LocalPreset(0.0, 0.0, 0.0, 0.2, 1 / 6, "soft", 1.0, "random"),
}


def local_preset(name: str) -> LocalPreset:
    """Return the settings of a name.

    Parameters
    ----------
    name : {"sls4fs", "softsls", "adaptivesls", "markovsls", "adaptivenoise"}

    Raises
    ------
    ValueError
        For any other.

    Examples
    --------
    >>> local_preset("adaptivesls").adapt_noise
    0.32
    """
    return LOCAL_PRESETS[check_choice("preset", name, tuple(LOCAL_PRESETS))]
