"""What the estimators of this room share: input, training, and what a selector and predictor has."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve._checks import key_of
from bitsieve.data import Table
from bitsieve.gates.gate import FeatureGates
from bitsieve.gates.losses import Loss
from bitsieve.gates.network import GatedMLP
from bitsieve.gates.training import Samples, Settings, Training

__all__ = ["GatedEstimator"]


class GatedEstimator(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A network behind gates, fitted and asked as a scikit-learn estimator."""

    @abstractmethod
    def _make_gates(self, n_features: int) -> FeatureGates:
        """Return untrained gates."""

    @abstractmethod
    def _make_loss(self, table: Table) -> Loss:
        """Return what is minimised."""

    @abstractmethod
    def _target(self, table: Table) -> NDArray[Any]:
        """Return the target as the loss takes it."""

    @abstractmethod
    def _settings(self) -> Settings:
        """Return how to train."""

    def fit(self, X: Any, y: Any) -> GatedEstimator:
        """Train gates and network."""
        table = self._check_input(X, y)
        self.seed_ = key_of(self.random_state)
        self._learn_scale(table.X)
        samples = Samples(self._scaled(table.X), torch.from_numpy(self._target(table)), None)
        loss = self._make_loss(table)
        network = GatedMLP(
            table.n_features,
            loss.n_outputs,
            tuple(self.hidden_layer_sizes),
            self.seed_,
            activation=self.activation,
            batch_norm=self.batch_norm,
            dropout=self.dropout,
        )
        training = Training(
            self._make_gates(table.n_features),
            network,
            loss,
            samples,
            self._settings(),
            self.seed_,
            weight=float(getattr(self, "lam", 0.0)),
        )
        training.run(self.max_epochs)
        self._store(training)
        return self

    def _check_input(self, X: Any, y: Any) -> Table:
        table = Table(X, y)
        validate_data(self, X, y, skip_check_array=True)
        if table.classes is not None:
            self.classes_ = table.classes
        return table

    def _learn_scale(self, X: NDArray[Any]) -> None:
        self._mean = X.mean(axis=0, dtype=np.float64)
        spread = X.std(axis=0, dtype=np.float64)
        self._spread = np.where(spread > 0, spread, 1.0)

    def _scaled(self, X: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(((X - self._mean) / self._spread).astype(np.float32))

    def _store(self, training: Training) -> None:
        self.support_ = training.gates.support()
        self.n_features_ = int(self.support_.sum())
        with torch.no_grad():
            self.gates_ = training.gates.value().cpu().numpy()
            self.scores_ = training.gates.position().double().cpu().numpy()
        self.history_ = {name: np.array(column) for name, column in training.history.items()}
        self.n_iter_ = training.epoch
        self._training = training

    def _outputs(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self, "support_")
        X = validate_data(self, X, reset=False)
        outputs: NDArray[Any] = self._training.outputs(self._scaled(X)).cpu().numpy()
        return outputs

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        support: NDArray[np.bool_] = self.support_
        return support
