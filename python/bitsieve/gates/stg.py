"""Stochastic gates (STG): classification and regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from bitsieve.data import Table
from bitsieve.gates._base import GatedEstimator
from bitsieve.gates.gate import GATES, FeatureGates
from bitsieve.gates.losses import CrossEntropy, Loss
from bitsieve.gates.training import Settings

__all__ = ["STGClassifier", "STGRegressor"]


class _STG(GatedEstimator):
    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        lam: float | str = 0.1,
        gate: str = "gaussian",
        sigma: float = 0.5,
        hidden_layer_sizes: tuple[int, ...] = (64,),
        activation: str = "relu",
        dropout: float = 0.0,
        batch_norm: bool = False,
        n_draws: int = 1,
        optimizer: str = "adam",
        learning_rate: float = 1e-3,
        gate_learning_rate: float | None = None,
        weight_decay: float = 1e-4,
        batch_size: int | None = 128,
        max_epochs: int = 200,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.lam = lam
        self.gate = gate
        self.sigma = sigma
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.n_draws = n_draws
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.gate_learning_rate = gate_learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.random_state = random_state

    def _make_gates(self, n_features: int) -> FeatureGates:
        gates: FeatureGates = GATES[self.gate](n_features, sigma=self.sigma)
        return gates

    def _settings(self) -> Settings:
        rate = self.gate_learning_rate
        return Settings(
            batch_size=self.batch_size,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            gate_learning_rate=self.learning_rate if rate is None else rate,
            weight_decay=self.weight_decay,
            n_draws=self.n_draws,
        )


class STGClassifier(ClassifierMixin, _STG):  # type: ignore[misc]
    """A classifier behind stochastic gates."""

    def _make_loss(self, table: Table) -> Loss:
        assert table.classes is not None
        return CrossEntropy(len(table.classes))

    def _target(self, table: Table) -> NDArray[Any]:
        assert table.codes is not None
        return table.codes.astype(np.int64)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the classes, of shape (n_samples, n_classes)."""
        from scipy.special import softmax

        found: NDArray[Any] = softmax(self._outputs(X).astype(np.float64), axis=1)
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each sample."""
        labels: NDArray[Any] = self.classes_[self._outputs(X).argmax(axis=1)]
        return labels


class STGRegressor(_STG):
    """To come."""
