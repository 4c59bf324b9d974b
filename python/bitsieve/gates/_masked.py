"""What classifiers and regressors behind masks share: a distribution over masks that is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve._checks import check_choice, check_int, check_number
from bitsieve.data import Table
from bitsieve.gates._base import Found, GatedEstimator
from bitsieve.gates._found import Interrupted
from bitsieve.gates.bernoulli import BernoulliMasks
from bitsieve.gates.device import n_threads, torch_for
from bitsieve.gates.dynamic import DynamicMLP, StructureMasks, skippable
from bitsieve.gates.noise import PREDICTION_STEP
from bitsieve.gates.problem import Architecture, Problem
from bitsieve.gates.progress import TrainingBar
from bitsieve.gates.statistics import estimate_statistics
from bitsieve.gates.training import Settings, Training

__all__ = ["MaskedEstimator"]

_ROWS = 4096  # samples predicted at a time
_LEAST, _MOST = 3000, 20_000  # steps of a training whose max_iter is None
_EACH = 30  # of them for each variable; and theta's rate is at least this over the most


class _DynamicArchitecture(Architecture):
    def build(self, n_features: int, key: int) -> torch.nn.Module:
        return DynamicMLP(
            n_features,
            self.n_outputs,
            self.hidden,
            key,
            activation=self.activation,
            batch_norm=self.batch_norm,
            dropout=self.dropout,
        )


class MaskedEstimator(GatedEstimator):
    """A network behind masks, and the distribution that they are drawn from."""

    max_epochs = None  # steps are counted
    _LIMITS = ("max_iter",)

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        eps: float = 0.1,
        prior: Any = None,
        structure: Literal["fixed", "dynamic"] = "fixed",
        structure_eps: float = 0.0,
        predict_by: Literal["mask", "average"] = "mask",
        n_prediction_draws: int = 32,
        hidden_layer_sizes: tuple[int, ...] = (200, 200, 200),
        activation: str = "relu",
        dropout: float = 0.0,
        batch_norm: bool = True,
        body: Callable[[int, int], Any] | None = None,
        n_draws: int = 2,
        optimizer: Literal["adam", "sgd"] = "adam",
        learning_rate: float = 1e-3,
        gate_learning_rate: float | None = None,
        weight_decay: float = 1e-4,
        batch_size: int | None = 128,
        max_iter: int | None = None,
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
        self.eps = eps
        self.prior = prior
        self.structure = structure
        self.structure_eps = structure_eps
        self.predict_by = predict_by
        self.n_prediction_draws = n_prediction_draws
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.body = body
        self.n_draws = n_draws
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.gate_learning_rate = gate_learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
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

    # -- parameters --------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_features_to_select is not None:
            check_int("n_features_to_select", self.n_features_to_select, 1, instead="or None")
        for name in ("eps", "structure_eps", "weight_decay"):
            check_number(name, getattr(self, name), 0.0, closed="left")
        check_choice("structure", self.structure, ("fixed", "dynamic"))
        check_choice("predict_by", self.predict_by, ("mask", "average"))
        check_choice("optimizer", self.optimizer, ("adam", "sgd"))
        check_number("learning_rate", self.learning_rate, 0.0)
        check_int("n_draws", self.n_draws, 2)
        for name in ("n_prediction_draws", "patience"):
            check_int(name, getattr(self, name), 1)
        for name in ("batch_size", "max_iter"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), 1, instead="or None")
        if self.batch_size == 1 and self.batch_norm and self.body is None:
            raise ValueError(
                "batch_norm=True needs batches of two samples or more: batch_size is 1"
            )
        if self.gate_learning_rate is not None:
            check_number("gate_learning_rate", self.gate_learning_rate, 0.0, instead="or None")
        if self._is_dynamic:
            if self.body is not None:
                raise ValueError(
                    "structure='dynamic' learns which units and layers of hidden_layer_sizes are "
                    "used; a body of your own needs structure='fixed'"
                )
            if not len(self._hidden()):
                raise ValueError(
                    "structure='dynamic' needs hidden layers, hidden_layer_sizes is ()"
                )

    def _check_input(self, X: Any, y: Any) -> Table:
        table = super()._check_input(X, y)
        if self.n_features_to_select is not None:
            check_int("n_features_to_select", self.n_features_to_select, 1, table.n_features)
        self._make_gates(table.n_features)  # prior is checked against the number of features
        return table

    @property
    def _is_dynamic(self) -> bool:
        return self.structure == "dynamic"

    def _hidden(self) -> tuple[int, ...]:
        return tuple(int(size) for size in np.atleast_1d(self.hidden_layer_sizes))

    # -- hooks -------------------------------------------------------------------------------------

    def _make_gates(self, n_features: int) -> BernoulliMasks:
        if self._is_dynamic:
            hidden = self._hidden()
            return StructureMasks(
                n_features,
                hidden,
                self._penalty(),
                self._rate(n_features + sum(hidden) + len(skippable(hidden))),
                prior=self.prior,
                structure_eps=self.structure_eps,
                n_features_to_select=self.n_features_to_select,
            )
        return BernoulliMasks(
            n_features,
            self._penalty(),
            self._rate(n_features),
            prior=self.prior,
            n_features_to_select=self.n_features_to_select,
        )

    def _rate(self, n_variables: int) -> float:
        """Return theta's rate: 1 / n_variables, but so that the steps of a fit can settle it."""
        if self.gate_learning_rate is not None:
            return self.gate_learning_rate
        return max(1.0 / n_variables, _EACH / _MOST)

    def _penalty(self) -> float:
        """Return eps: none where the size is given, which weighs each variable by itself."""
        return 0.0 if self.n_features_to_select is not None else float(self.eps)

    def _settings(self) -> Settings:
        return Settings(
            batch_size=self.batch_size,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            n_draws=self.n_draws,
        )

    def _architecture(self, n_outputs: int) -> Architecture:
        plain = super()._architecture(n_outputs)
        if not self._is_dynamic:
            return plain
        return _DynamicArchitecture(
            n_outputs, plain.hidden, plain.activation, plain.batch_norm, plain.dropout
        )

    def _train(self, problem: Problem) -> Found:
        training = problem.training(lam=0.0, hold_out=self._holds_out(), stops_early=True)
        n_steps = self.max_iter
        if n_steps is None:
            n_steps = min(max(_LEAST, _EACH * training.gates.n_features), _MOST)
        running = problem.running
        store = running.store(self._FIRST)
        if store is not None:
            store.restore(training, max_steps=n_steps)
        stopped: KeyboardInterrupt | None = None
        with TrainingBar(running.progress, n_steps, in_steps=True, name=self._FIRST) as bar:
            try:
                training.run(max_steps=n_steps, store=store, bar=bar)
            except KeyboardInterrupt as stop:
                stopped = stop
        with torch_for(running.device, running.n_threads):
            found = self._found(problem, training, 0.0)
        if stopped is not None:
            raise Interrupted(found) from stopped
        return found

    def _found(self, problem: Problem, training: Training, lam: float) -> Found:
        gates, network, x = training.gates, training.network, training.samples.x
        assert isinstance(gates, BernoulliMasks)
        p = problem.n_features
        theta = gates.theta.cpu().numpy().copy()
        if self.n_features_to_select is None:
            support = gates.support()
        else:
            support = np.zeros(p, dtype=bool)
            support[np.argsort(-theta[:p], kind="stable")[: self.n_features_to_select]] = True
        with torch.no_grad():
            mask = gates.value()
            mask[:p] = torch.from_numpy(support.astype(np.float32))
            network.eval()
            network(x[:1], torch.ones_like(mask)[None])  # no row of a layer owes a step
        self._theta, self._hidden_found = theta, self._hidden()
        is_average = self.predict_by == "average"
        z = self._drawn(gates) if is_average else mask[None]
        estimate_statistics(network, x, z.to(x.device))
        state, narrow = network.state_dict(), False
        if not is_average and support.any():
            if isinstance(network, DynamicMLP):
                self._hidden_found, state = network.pruned(mask.cpu().numpy() > 0.5)
                narrow = True
            else:
                narrowed = problem.architecture.narrowed(network, support)
                narrow = narrowed is not None
                state = state if narrowed is None else narrowed
        losses = training.history["validation_loss"] if training.validation is not None else []
        self._n_steps = training.step
        return Found(
            support,
            support.astype(np.float32),
            theta[:p].copy(),
            state,
            narrow,
            training.history,
            training.epoch,
            lam,
            min(losses) if losses else float("nan"),
        )

    def _store(self, found: Found, problem: Problem) -> None:
        super()._store(found, problem)
        self.theta_ = self.scores_.copy()
        self.n_iter_ = self._n_steps
        self._is_average = self.predict_by == "average"
        if self._is_dynamic:
            self.hidden_layer_sizes_ = self._hidden_found
            self.theta_structure_ = self._theta[problem.n_features :]
        del self.lam_

    # -- asking ------------------------------------------------------------------------------------

    def _drawn(self, gates: BernoulliMasks) -> torch.Tensor:
        return gates.sample(self.seed_, PREDICTION_STEP, self.n_prediction_draws)

    def _network(self, n_features: int) -> torch.nn.Module:
        architecture = self._architecture(self._n_outputs)
        if self._is_dynamic and not self._is_average:
            architecture = Architecture(
                self._n_outputs,
                self.hidden_layer_sizes_,
                self.activation,
                self.batch_norm,
                self.dropout,
            )
        network = architecture.build(n_features, 0)
        network.load_state_dict(
            {name: torch.from_numpy(np.array(value)) for name, value in self._state.items()}
        )
        return network.eval()

    def _mean_outputs(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return the mean of what masks (K, B, C) predict."""
        return outputs.mean(dim=0)

    def _outputs(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self, "support_")
        if (self.predict_by == "average") != self._is_average:
            raise ValueError(
                f"predict_by={self.predict_by!r} was set after fit, which keeps what it is to "
                "predict by: fit again"
            )
        if not self._is_average or self._constant is not None:
            found: NDArray[Any] = super()._outputs(X)
            return found
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        outputs = np.empty((len(X), self._n_outputs))
        with torch_for(torch.device("cpu"), n_threads(self.n_jobs)), torch.no_grad():
            network = self._network(X.shape[1])
            gates = self._make_gates(X.shape[1])
            gates.theta.copy_(torch.from_numpy(self._theta))
            masks = self._drawn(gates)
            for first in range(0, len(X), _ROWS):
                rows = slice(first, first + _ROWS)
                x = self._scale.apply(X[rows])
                drawn = torch.cat([network(x, mask[None]) for mask in masks])
                outputs[rows] = self._mean_outputs(drawn.double()).numpy()
        return outputs
