"""PEFS: a Bernoulli distribution over masks, trained with a network."""

from __future__ import annotations

from typing import Any

from bitsieve.gates._base import GatedEstimator
from bitsieve.gates.bernoulli import BernoulliMasks
from bitsieve.gates.gate import FeatureGates
from bitsieve.gates.stg import STGClassifier

__all__ = ["PEFSClassifier", "PEFSRegressor"]


class PEFSClassifier(STGClassifier):
    """To come: this subclass of another estimator is a stand-in."""

    def _make_gates(self, n_features: int) -> FeatureGates:
        return BernoulliMasks(n_features, eps=float(self.lam))


class PEFSRegressor(GatedEstimator):
    """To come."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state
