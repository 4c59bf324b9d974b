"""The Relief family: features that differ between near samples of different classes score high.

::

    X, y, options -> _problem.py (checked once) -> _dispatch.py
                                                       |-> the compiled core
                                                       '-> _general.py
    relief, relieff, rrelieff   _relieff.py: the nearest neighbors
    surf ... swrf_star          _surf.py: all within a distance
    turf                        _turf.py: rounds, each without the worst of the last

All share one form: the score of a feature is a sum over pairs of samples of a coefficient, which
the neighborhood decides, times the difference of the two values divided by the feature's range.
"""

from __future__ import annotations

from bitsieve.filters.relief._problem import RAMP, Difference, Missing, Precision, Weighting
from bitsieve.filters.relief._relieff import relief, relieff, rrelieff
from bitsieve.filters.relief._surf import multisurf, multisurf_star, surf, surf_star, swrf_star
from bitsieve.filters.relief._turf import Scorer, turf

__all__ = [
    "RAMP",
    "Difference",
    "Missing",
    "Precision",
    "Scorer",
    "Weighting",
    "multisurf",
    "multisurf_star",
    "relief",
    "relieff",
    "rrelieff",
    "surf",
    "surf_star",
    "swrf_star",
    "turf",
]
