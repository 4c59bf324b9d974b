"""How much each part of an energy counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from bitsieve._checks import check_choice, check_number

__all__ = ["PRESETS", "Terms"]


@dataclass(frozen=True)
class Terms:
    """How much each part of the energy counts; 0 switches it off.

    Attributes
    ----------
    relevance, predictive : float
        Factors of the two scores in equation 5; not both may be 0.
    association : float
        Factor of equation 8.
    local_blanket, global_blanket : float
        What membership in a blanket adds to a weight in equations 4 and 7: in the Markov blanket of
        the target among the features of the set, and in that among all features.
    normalize : {"all", "configuration"}
        What equation 5 takes shares of. Within the configuration alone the share is free of scale,
        so that features that are equally bad are preferred.

    Raises
    ------
    ValueError
        If a factor is negative, relevance and predictive are both 0, or normalize is neither.
    """

    relevance: float = 1.0
    predictive: float = 1.0
    association: float = 1.0
    local_blanket: float = 1.0
    global_blanket: float = 1.0
    normalize: Literal["all", "configuration"] = "all"

    def __post_init__(self) -> None:
        check_choice("normalize", self.normalize, ("all", "configuration"))
        for field in fields(self):
            if field.name != "normalize":
                check_number(field.name, getattr(self, field.name), 0, closed="left")
        if self.relevance == 0 and self.predictive == 0:
            raise ValueError("relevance and predictive are both 0: nothing tells features apart")


#: The settings of table 3, by its rows. Of the run "EBM - (no GMB)", whose identifier says "not
#: local", the description is followed.
PRESETS: dict[str, Terms] = {
    "lm": Terms(association=0, local_blanket=0, global_blanket=0),
    "mb": Terms(association=0, local_blanket=0),
    "ebm": Terms(),
    "ebm-lm": Terms(local_blanket=0, global_blanket=0),
    "ebm-no-gmb": Terms(global_blanket=0),
}
