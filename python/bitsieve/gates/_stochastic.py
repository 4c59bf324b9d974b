"""What estimators with stochastic gates share, classes, numbers and survival alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sklearn.base import clone

from bitsieve._checks import check_choice, check_int, check_number
from bitsieve.data import Table
from bitsieve.gates._base import Found, GatedEstimator
from bitsieve.gates.contract import FeatureGates
from bitsieve.gates.gate import GATES
from bitsieve.gates.path import follow
from bitsieve.gates.problem import Problem
from bitsieve.gates.training import Settings

__all__ = ["StochasticGates"]

#: The range of a hard-concrete gate's parameter, as a multiple of that of a Gaussian one.
WIDER = 3.5


class StochasticGates(GatedEstimator):
    """Estimators whose gates learn by gradients: their parameters, checks and training."""

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        lam: float | Literal["auto"] = "auto",
        size_rule: Literal["best", "one_standard_error"] = "best",
        gate: str = "gaussian",
        sigma: float = 0.5,
        hidden_layer_sizes: tuple[int, ...] = (64,),
        activation: str = "relu",
        dropout: float = 0.0,
        batch_norm: bool = False,
        body: Callable[[int, int], Any] | None = None,
        n_draws: int = 1,
        noise: Literal["shared", "sample"] = "shared",
        optimizer: Literal["adam", "sgd"] = "adam",
        learning_rate: float = 3e-3,
        gate_learning_rate: float | None = None,
        weight_decay: float = 1e-4,
        batch_size: int | None = 128,
        max_epochs: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        patience: int = 20,
        class_weight: Any = None,
        standardize: bool = True,
        device: str = "auto",
        n_jobs: int | None = None,
        checkpoint: Any = None,
        resume: bool = True,
        progress: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.lam = lam
        self.size_rule = size_rule
        self.gate = gate
        self.sigma = sigma
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.body = body
        self.n_draws = n_draws
        self.noise = noise
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.gate_learning_rate = gate_learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.class_weight = class_weight
        self.standardize = standardize
        self.device = device
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.resume = resume
        self.progress = progress
        self.random_state = random_state

    def without_selection(self) -> Any:
        """Return an unfitted copy without gates: the same network behind all features.

        Nested cross-validation scores it beside the selection.
        """
        return clone(self).set_params(gate="none", n_features_to_select=None, lam=0.0)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_features_to_select is not None:
            check_int("n_features_to_select", self.n_features_to_select, 1, instead="or None")
        if self.lam != "auto":
            check_number("lam", self.lam, 0.0, closed="left", instead="or 'auto'")
        check_choice("size_rule", self.size_rule, ("best", "one_standard_error"))
        check_choice("gate", self.gate, GATES)
        check_number("sigma", self.sigma, 0.0)
        check_int("n_draws", self.n_draws, 1)
        check_choice("noise", self.noise, ("shared", "sample"))
        check_choice("optimizer", self.optimizer, ("adam", "sgd"))
        check_number("learning_rate", self.learning_rate, 0.0)
        if self.gate_learning_rate is not None:
            check_number("gate_learning_rate", self.gate_learning_rate, 0.0, instead="or None")
        check_number("weight_decay", self.weight_decay, 0.0, closed="left")
        if self.batch_size is not None:
            check_int("batch_size", self.batch_size, 1, instead="or None")
        check_int("patience", self.patience, 1)

    def _check_input(self, X: Any, y: Any) -> Table:
        table = super()._check_input(X, y)
        if self.n_features_to_select is not None:
            check_int("n_features_to_select", self.n_features_to_select, 1, table.n_features)
        return table

    def _make_gates(self, n_features: int) -> FeatureGates:
        gates: FeatureGates = GATES[self.gate](n_features, sigma=self.sigma)
        return gates

    def _walks(self) -> bool:
        """Tell whether lambda is walked, and not given."""
        return self.gate != "none" and (self.n_features_to_select is not None or self.lam == "auto")

    @property
    def _FIRST(self) -> str:  # type: ignore[override]
        return "path" if self._walks() else "training"

    def _holds_out(self) -> bool:
        return bool(self.early_stopping) or (self._walks() and self.n_features_to_select is None)

    def _penalty_weight(self) -> float:
        return 0.0 if self.lam == "auto" else float(self.lam)

    def _settings(self) -> Settings:
        rate = self.gate_learning_rate
        if rate is None:
            rate = self.learning_rate * (WIDER if self.gate == "hard_concrete" else 1.0)
        return Settings(
            batch_size=self.batch_size,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            gate_learning_rate=rate,
            weight_decay=self.weight_decay,
            n_draws=self.n_draws,
            noise=self.noise,
        )

    def _train(self, problem: Problem) -> Found:
        if not self._walks():
            return super()._train(problem)
        return follow(
            problem, self.n_features_to_select, size_rule=self.size_rule, narrow=self._NARROW
        )
