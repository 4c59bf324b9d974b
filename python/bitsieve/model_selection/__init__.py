"""Full model selection: preprocessing, selection, classifier and their parameters, by a search.

::

    space.py     what a model is made of, and its pipeline (steps.py, estimators.py)
       |
    swarm.py, searches.py, tpe.py   which models to try next
       |
    evaluation.py   scores of models by cross-validation, selection inside, nothing scored twice
       |
    search.py    ModelSearchCV
"""

from __future__ import annotations

from bitsieve.model_selection.estimators import ESTIMATORS, GramClassifier
from bitsieve.model_selection.search import ModelSearchCV
from bitsieve.model_selection.space import PREPROCESSING, ModelSpace
from bitsieve.model_selection.steps import LogIntensities, RankedFeatures
from bitsieve.model_selection.swarm import ParticleSwarm

__all__ = [
    "ESTIMATORS",
    "PREPROCESSING",
    "GramClassifier",
    "LogIntensities",
    "ModelSearchCV",
    "ModelSpace",
    "ParticleSwarm",
    "RankedFeatures",
]
