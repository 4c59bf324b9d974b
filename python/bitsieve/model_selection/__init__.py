"""Full model selection: preprocessing, selection, classifier and their parameters, by a search.

::

    options.py   what the user names
       |
    space.py     what a model is made of (dimensions.py), and its pipeline (steps.py, estimators.py)
       |
    searches.py  which models to try next: draws, a swarm (swarm.py) or Optuna (tpe.py)
       |
    evaluation.py   scores of models by cross-validation, selection inside, nothing scored twice
       |
    search.py    ModelSearchCV; its cv_results_: results.py; what it predicts: best_model.py
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
