"""Stochastic gates (STG): classification and regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from bitsieve._checks import check_choice, check_int, check_number
from bitsieve.data import Table
from bitsieve.gates._base import Found, GatedEstimator
from bitsieve.gates.gate import GATES, FeatureGates
from bitsieve.gates.losses import CrossEntropy, Loss, SquaredError
from bitsieve.gates.path import follow
from bitsieve.gates.problem import Problem
from bitsieve.gates.training import Settings

__all__ = ["STGClassifier", "STGRegressor"]


class _STG(GatedEstimator):
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
        learning_rate: float = 1e-3,
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
        return Settings(
            batch_size=self.batch_size,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            gate_learning_rate=self.learning_rate if rate is None else rate,
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


class STGClassifier(ClassifierMixin, _STG):  # type: ignore[misc]
    """A classifier behind stochastic gates."""

    _TASK = "classification"

    def _make_loss(self, table: Table) -> Loss:
        assert table.classes is not None
        return CrossEntropy(len(table.classes))

    def _target(self, table: Table) -> NDArray[Any]:
        assert table.codes is not None
        return table.codes.astype(np.int64)

    def _prior(self, problem: Problem) -> NDArray[np.float64]:
        weight = None if problem.all.weight is None else problem.all.weight.cpu().numpy()
        codes = problem.all.target.cpu().numpy()
        share = np.bincount(codes, weight, minlength=problem.loss.n_outputs).astype(np.float64)
        return np.log(np.maximum(share, np.finfo(np.float64).tiny) / share.sum())

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        float64 array of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        from scipy.special import softmax

        found: NDArray[np.float64] = softmax(self._outputs(X), axis=1)
        return found

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return how sure the classes are: logarithms of their odds.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        float64 array of shape (n_samples,) for two classes, else (n_samples, n_classes)
            Above 0 the second of two is predicted, the greatest of more.
        """
        outputs = self._outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each sample.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        labels: NDArray[Any] = self.classes_[self._outputs(X).argmax(axis=1)]
        return labels


class STGRegressor(RegressorMixin, _STG):  # type: ignore[misc]
    """A regressor behind stochastic gates."""

    _TASK = "regression"

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
        learning_rate: float = 1e-3,
        gate_learning_rate: float | None = None,
        weight_decay: float = 1e-4,
        batch_size: int | None = 128,
        max_epochs: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        patience: int = 20,
        standardize: bool = True,
        device: str = "auto",
        n_jobs: int | None = None,
        checkpoint: Any = None,
        resume: bool = True,
        progress: bool | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            lam=lam,
            size_rule=size_rule,
            gate=gate,
            sigma=sigma,
            hidden_layer_sizes=hidden_layer_sizes,
            activation=activation,
            dropout=dropout,
            batch_norm=batch_norm,
            body=body,
            n_draws=n_draws,
            noise=noise,
            optimizer=optimizer,
            learning_rate=learning_rate,
            gate_learning_rate=gate_learning_rate,
            weight_decay=weight_decay,
            batch_size=batch_size,
            max_epochs=max_epochs,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            patience=patience,
            standardize=standardize,
            device=device,
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            resume=resume,
            progress=progress,
            random_state=random_state,
        )
        del self.class_weight  # of classes alone

    def _make_loss(self, table: Table) -> Loss:
        return SquaredError()

    def _target(self, table: Table) -> NDArray[Any]:
        assert table.y is not None
        y = table.y.astype(np.float64)
        spread = float(y.std())
        self._y_mean = float(y.mean())
        self._y_spread = spread if spread > 1e-10 * float(np.abs(y).max()) else 1.0
        return ((y - self._y_mean) / self._y_spread).astype(np.float32)

    def _prior(self, problem: Problem) -> NDArray[np.float64]:
        weight = None if problem.all.weight is None else problem.all.weight.cpu().numpy()
        return np.array([np.average(problem.all.target.cpu().numpy(), weights=weight)])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted number of each sample.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        float64 array of shape (n_samples,)
        """
        return self._outputs(X)[:, 0] * self._y_spread + self._y_mean
