"""Panels that predict: scaling, rankings, classifiers, and the race between them.

::

    training X, codes -> scaling.py    Scaling: logged or not, standardised
                           |
                         rankers.py    features, best first (elimination.py, angles.py)
"""

from __future__ import annotations

from bitsieve.panels.rankers import RANKERS, Ranker, ranker_by_name
from bitsieve.panels.scaling import Scaling, log_floor

__all__ = ["RANKERS", "Ranker", "Scaling", "log_floor", "ranker_by_name"]
