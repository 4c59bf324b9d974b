"""Panels that predict: scaling, rankings, classifiers, the race between them, and what is left.

::

    X, y of fit -> fit_input.py -> Table
    training X, codes -> scaling.py    Scaling: logged or not, standardised
                           |
                         rankers.py    features, best first (elimination.py, angles.py)
                           |
                       classifiers.py  on the Gram matrix of a panel (linear.py, neighbors.py)
                           |
      plan.py ---------> race.py       every candidate, out of fold, its selection inside
                           |            (design.py, ranking.py, racing.py)
                           |
                         choice.py     the best, or the members of a vote
                           |
                       assembly.py     members fitted to all samples (fitting.py)
                           |
                       calibration.py  probabilities from out-of-fold decisions
                           |
                         model.py      members (member.py, rules.py) that vote; JSON (document.py)
                           |
                         measured.py   a panel on a table from elsewhere
"""

from __future__ import annotations

from bitsieve.panels.calibration import Calibration
from bitsieve.panels.classifiers import (
    CLASSIFIERS,
    Classifier,
    Fitted,
    LinearSVM,
    NearestNeighbors,
    RidgeLOO,
    ShrunkenLDA,
    classifier_by_name,
    predicted_codes,
)
from bitsieve.panels.measured import TablePrediction, missing_features, predict_table
from bitsieve.panels.member import Member
from bitsieve.panels.model import Panel, PanelPrediction
from bitsieve.panels.plan import Plan, make_plan
from bitsieve.panels.rankers import RANKERS, Ranker, ranker_by_name
from bitsieve.panels.rules import LinearRule, NeighborsRule
from bitsieve.panels.scaling import Scaling, log_floor

__all__ = [
    "CLASSIFIERS",
    "RANKERS",
    "Calibration",
    "Classifier",
    "Fitted",
    "LinearRule",
    "LinearSVM",
    "Member",
    "NearestNeighbors",
    "NeighborsRule",
    "Panel",
    "PanelPrediction",
    "Plan",
    "Ranker",
    "RidgeLOO",
    "Scaling",
    "ShrunkenLDA",
    "TablePrediction",
    "classifier_by_name",
    "log_floor",
    "make_plan",
    "missing_features",
    "predict_table",
    "predicted_codes",
    "ranker_by_name",
]
