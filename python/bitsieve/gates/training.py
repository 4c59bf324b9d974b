"""The loop that trains gates and network: steps, epochs, early stopping, history, state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve._random import Random, SeedWords, Stream
from bitsieve.gates.gate import FeatureGates
from bitsieve.gates.losses import Loss

__all__ = ["Samples", "Settings", "Training"]


@dataclass(frozen=True)
class Samples:
    """Samples on the device of the training.

    Attributes
    ----------
    x : float32 tensor of shape (n_samples, n_features)
    target : tensor of shape (n_samples, ...)
    weight : float32 tensor of shape (n_samples,) or None
    """

    x: torch.Tensor
    target: torch.Tensor
    weight: torch.Tensor | None

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True)
class Settings:
    """How a training goes.

    Attributes
    ----------
    batch_size : int or None
        None takes all samples.
    optimizer : {"adam", "sgd"}
    learning_rate, gate_learning_rate : float
    weight_decay : float
        Of the network, not of the gates; as L2 penalty.
    n_draws : int
        Draws of the gates in a step.
    patience : int or None
        Epochs without a better validation loss before it stops.
    """

    batch_size: int | None = 128
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    gate_learning_rate: float = 1e-3
    weight_decay: float = 0.0
    n_draws: int = 1
    patience: int | None = None


class Training:
    """Gates and a network that learn together.

    Parameters
    ----------
    gates : FeatureGates
    network : torch.nn.Module
        Takes (x, z), as :class:`~bitsieve.gates.network.GatedMLP` does.
    loss : Loss
    samples : Samples
    settings : Settings
    key : int
    validation : Samples or None, default None
    weight : float, default 0
        Of the penalty of the gates; may be set between epochs.

    Attributes
    ----------
    epoch, step : int
        How many there were.
    history : dict of str to list
        A row an epoch: ``loss``, ``validation_loss``, ``n_selected``, ``weight``.
    """

    def __init__(
        self,
        gates: FeatureGates,
        network: torch.nn.Module,
        loss: Loss,
        samples: Samples,
        settings: Settings,
        key: int,
        *,
        validation: Samples | None = None,
        weight: float = 0.0,
    ) -> None:
        self.gates, self.network, self.loss = gates, network, loss
        self.samples, self.validation, self.settings = samples, validation, settings
        self.weight = weight
        self.epoch = self.step = 0
        self.history: dict[str, list[float]] = {
            name: [] for name in ("loss", "validation_loss", "n_selected", "weight")
        }
        self._key = key
        self._dropout = SeedWords(key, Stream.dropout)
        groups: list[dict[str, Any]] = [
            {
                "params": list(network.parameters()),
                "lr": settings.learning_rate,
                "weight_decay": settings.weight_decay,
            }
        ]
        if list(gates.parameters()):
            groups.append({"params": list(gates.parameters()), "lr": settings.gate_learning_rate})
        self._optimizer: torch.optim.Optimizer = (
            torch.optim.Adam(groups) if settings.optimizer == "adam" else torch.optim.SGD(groups)
        )

    def run(
        self, n_epochs: int, after_epoch: Callable[[Training], bool] | None = None
    ) -> Training:
        """Train for so many epochs more, or until ``after_epoch`` answers True."""
        with torch.random.fork_rng(devices=[]):
            for _ in range(n_epochs):
                self._run_epoch()
                if after_epoch is not None and after_epoch(self):
                    break
        return self

    def _run_epoch(self) -> None:
        self.network.train()
        n = len(self.samples)
        size = min(n, self.settings.batch_size or n)
        order = torch.from_numpy(Random(self._key, Stream.batches, lane=self.epoch).permutation(n))
        losses = [self._step(order[first : first + size]) for first in range(0, n, size)]
        self.epoch += 1
        loss = float(torch.stack(losses).mean())
        if not np.isfinite(loss):
            raise ValueError(
                f"the loss is {loss} in epoch {self.epoch}: lower learning_rate, or standardise X"
            )
        self.history["loss"].append(loss)
        self.history["n_selected"].append(int(self.gates.support().sum()))
        self.history["weight"].append(self.weight)
        if self.validation is not None:
            self.history["validation_loss"].append(self.loss_of(self.validation))

    def _step(self, rows: torch.Tensor) -> torch.Tensor:
        samples = self.samples
        torch.manual_seed(self._dropout.one(self.step))
        z = self.gates.sample(self._key, self.step, self.settings.n_draws)
        outputs = self.network(samples.x[rows], z)
        weight = None if samples.weight is None else samples.weight[rows]
        losses = self.loss.of_draws(outputs, samples.target[rows], weight)
        total = losses.mean()
        penalty = self.gates.penalty(self.weight)
        if penalty is not None:
            total = total + penalty
        self._optimizer.zero_grad(set_to_none=True)
        total.backward()
        self._optimizer.step()
        with torch.no_grad():
            self.gates.learn(z, losses, self.settings.n_draws)
        self.step += 1
        return losses.detach().mean()

    def outputs(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs at prediction, of shape (n, C): gates that are not selected are 0."""
        self.network.eval()
        with torch.no_grad():
            outputs: torch.Tensor = self.network(x, self.gates.at_prediction()[None])[0]
        return outputs

    def loss_of(self, samples: Samples) -> float:
        """Return the loss of samples at prediction."""
        outputs = self.outputs(samples.x)
        return float(self.loss.of_draws(outputs[None], samples.target, samples.weight)[0])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything a checkpoint holds, as arrays."""
        raise NotImplementedError

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on as the one that gave the state."""
        raise NotImplementedError
