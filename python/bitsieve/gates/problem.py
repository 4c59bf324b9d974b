"""What a fit trains on: the samples as tensors, and the trainings over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve._random import Random, SeedWords, Stream
from bitsieve.gates.checkpoint import TrainingStore
from bitsieve.gates.contract import FeatureGates
from bitsieve.gates.losses import Loss
from bitsieve.gates.network import GatedMLP, GatedModule
from bitsieve.gates.progress import TrainingBar
from bitsieve.gates.samples import Samples
from bitsieve.gates.training import Callback, Settings, Training

__all__ = ["Architecture", "Problem", "Running", "Scale"]

_ROWS = 1024  # samples scaled at a time
_MOST = 1e150  # of values: the square of more is no float64


@dataclass(frozen=True, eq=False)
class Scale:
    """What is taken off a feature, and what it is divided by.

    Attributes
    ----------
    mean, spread : float64 array of shape (n_features,)
    """

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def learn(cls, X: NDArray[Any], weight: NDArray[Any] | None) -> Scale:
        """Mean and standard deviation, weighted where there are weights; 1 for constant columns.

        Raises
        ------
        ValueError
            Where a float64 cannot hold the variance of a column.
        """
        largest = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
        bad = np.flatnonzero((largest > _MOST) | ((largest > 0) & (largest < 1 / _MOST)))
        if len(bad):
            raise ValueError(
                f"column {bad[0]} of X holds values of {largest[bad[0]]:.3g}, which cannot be "
                f"standardised: bring it to another unit, between {1 / _MOST:g} and {_MOST:g}"
            )
        mean = np.average(X, axis=0, weights=weight).astype(np.float64)
        square = np.zeros(X.shape[1])
        for first in range(0, len(X), _ROWS):
            rows = slice(first, first + _ROWS)
            part = X[rows].astype(np.float64)
            part -= mean
            part *= part
            square += part.sum(axis=0) if weight is None else weight[rows] @ part
        spread = np.sqrt(square / (len(X) if weight is None else weight.sum()))
        return cls(mean, np.where(spread > 1e-10 * largest, spread, 1.0))

    @classmethod
    def none(cls, n_features: int) -> Scale:
        """Leave everything as it is."""
        return cls(np.zeros(n_features), np.ones(n_features))

    def of(self, kept: NDArray[np.bool_]) -> Scale:
        """Return that of some of the features."""
        return Scale(self.mean[kept], self.spread[kept])

    def apply(self, X: NDArray[Any]) -> torch.Tensor:
        """Return the scaled values, float32 of the shape of X."""
        scaled = np.empty(X.shape, np.float32)
        for first in range(0, len(X), _ROWS):
            rows = slice(first, first + _ROWS)
            scaled[rows] = (X[rows] - self.mean) / self.spread
        return torch.from_numpy(scaled)


@dataclass(frozen=True, eq=False)
class Architecture:
    """The network behind the gates, made when it is asked for.

    Attributes
    ----------
    n_outputs : int
    hidden : tuple of int
    activation : str
    batch_norm : bool
    dropout : float
    body : callable or None
        Takes the numbers of inputs and outputs and gives a module, in place of all the others.
    """

    n_outputs: int
    hidden: tuple[int, ...]
    activation: str
    batch_norm: bool
    dropout: float
    body: Callable[[int, int], torch.nn.Module] | None = None

    def build(self, n_features: int, key: int) -> torch.nn.Module:
        """Return an untrained network, the same for the same key."""
        if self.body is None:
            return GatedMLP(
                n_features,
                self.n_outputs,
                self.hidden,
                key,
                activation=self.activation,
                batch_norm=self.batch_norm,
                dropout=self.dropout,
            )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SeedWords(key, Stream.weights).one(0))
            return GatedModule(self.body(n_features, self.n_outputs))

    def narrowed(
        self, network: torch.nn.Module, kept: NDArray[np.bool_]
    ) -> dict[str, torch.Tensor] | None:
        """Return the state of a network of some of the features; None where only all will do."""
        if self.body is not None or not kept.any():
            return None
        state = {name: value.detach().clone() for name, value in network.state_dict().items()}
        state["weight"] = state["weight"][torch.from_numpy(np.flatnonzero(kept))]
        return state


@dataclass(frozen=True, eq=False)
class Running:
    """Where and how trainings run; nothing of it changes what is learnt.

    Attributes
    ----------
    device : torch.device
    n_threads : int
    checkpoint : str, path or None
        Directory of the files of trainings.
    parts : mapping
        What the fit is: such files are known by it.
    resume : bool
    progress : bool or None
    """

    device: torch.device
    n_threads: int = 1
    checkpoint: Any = None
    parts: Mapping[str, object] | None = None
    resume: bool = True
    progress: bool | None = None

    def store(self, phase: str) -> TrainingStore | None:
        """Return the file of one of the trainings of a fit."""
        if self.checkpoint is None:
            return None
        return TrainingStore(
            self.checkpoint, {**(self.parts or {}), "phase": phase}, resume=self.resume
        )


class Problem:
    """Samples, loss, and how to train: everything but the gates' fate.

    Parameters
    ----------
    x : float32 tensor of shape (n_samples, n_features)
        Scaled.
    target : array of shape (n_samples, ...)
    weight : array of shape (n_samples,) or None
    loss : Loss
    architecture : Architecture
    settings : Settings
    make_gates : callable
        Takes the number of features and gives untrained gates.
    key : int
    held_out : bool array of shape (n_samples,) or None
        The validation part.
    max_epochs : int
    patience : int or None
        Of trainings that stop early.
    running : Running
    """

    def __init__(
        self,
        x: torch.Tensor,
        target: NDArray[Any],
        weight: NDArray[Any] | None,
        *,
        loss: Loss,
        architecture: Architecture,
        settings: Settings,
        make_gates: Callable[[int], FeatureGates],
        key: int,
        held_out: NDArray[np.bool_] | None,
        max_epochs: int,
        patience: int | None,
        running: Running,
    ) -> None:
        self.device = device = running.device
        self.running, self.patience = running, patience
        self.all = Samples(
            x.to(device),
            torch.from_numpy(np.ascontiguousarray(target)).to(device),
            None if weight is None else torch.from_numpy(weight.astype(np.float32)).to(device),
        )
        self.loss, self.architecture, self.settings = loss, architecture, settings
        self.make_gates, self.key, self.max_epochs = make_gates, key, max_epochs
        self.held_out = None if held_out is None or not held_out.any() else held_out

    @property
    def n_features(self) -> int:
        """Columns of the samples."""
        return int(self.all.x.shape[1])

    def training(
        self,
        *,
        lam: float,
        hold_out: bool,
        stops_early: bool = False,
        gate_rate_factor: float = 1.0,
    ) -> Training:
        """Return an untrained training over all samples, or over those that are not held out.

        ``gate_rate_factor`` multiplies the learning rate of the gates.
        """
        return self._training(
            self.make_gates(self.n_features),
            self.architecture.build(self.n_features, self.key),
            lam,
            hold_out,
            stops_early,
            gate_rate_factor=gate_rate_factor,
        )

    def fixed_training(
        self,
        gates: FeatureGates,
        state: dict[str, torch.Tensor],
        kept: NDArray[np.bool_],
        hold_out: bool,
    ) -> Training:
        """Return a training over some of the features, whose network goes on from a state."""
        network = self.architecture.build(int(kept.sum()), self.key)
        network.load_state_dict(state)
        return self._training(gates, network, 0.0, hold_out, hold_out, kept)

    def _training(
        self,
        gates: FeatureGates,
        network: torch.nn.Module,
        lam: float,
        hold_out: bool,
        stops_early: bool,
        kept: NDArray[np.bool_] | None = None,
        gate_rate_factor: float = 1.0,
    ) -> Training:
        samples, validation = self.all, None
        if kept is not None and not kept.all():
            index = torch.from_numpy(np.flatnonzero(kept)).to(self.device)
            samples = Samples(samples.x[:, index], samples.target, samples.weight)
        if hold_out and self.held_out is not None:
            held = torch.from_numpy(self.held_out).to(self.device)
            samples, validation = (
                samples.take((~held).nonzero()[:, 0]),
                samples.take(held.nonzero()[:, 0]),
            )
        patience = self.patience if stops_early and validation is not None else None
        return Training(
            gates,
            network,
            self.loss,
            samples,
            replace(
                self.settings,
                patience=patience,
                gate_learning_rate=gate_rate_factor * self.settings.gate_learning_rate,
            ),
            self.key,
            validation=validation,
            weight=lam,
            device=self.running.device,
            n_threads=self.running.n_threads,
        )

    def run(
        self,
        training: Training,
        phase: str,
        max_epochs: int,
        after_epoch: Callback | None = None,
        store: TrainingStore | None = None,
    ) -> None:
        """Run a training to its end: from its file where there is one, with a bar."""
        if store is None and self.running.checkpoint is not None:
            store = self.running.store(phase)
            assert store is not None
            store.restore(training, max_epochs=max_epochs)
        with TrainingBar(self.running.progress, max_epochs, name=phase) as bar:
            training.run(max_epochs=max_epochs, after_epoch=after_epoch, store=store, bar=bar)

    def loss_of_nothing(self) -> float:
        """Return the loss where every output is 0."""
        outputs = torch.zeros((1, len(self.all), self.loss.n_outputs), device=self.device)
        return float(self.loss.of_draws(outputs, self.all.target, self.all.weight)[0])

    def loss_and_error(self, training: Training) -> tuple[float, float]:
        """Return the loss of the validation part, and the standard error of it over ten blocks."""
        held = training.validation
        if held is None:
            return float("nan"), float("nan")
        outputs = training.outputs(held.x)[None]
        loss = float(self.loss.of_draws(outputs, held.target, held.weight)[0])
        n = min(10, len(held))
        if n < 2:
            return loss, float("nan")
        order = torch.from_numpy(Random(self.key, Stream.holdout, lane=1).permutation(len(held)))
        blocks = []
        for block in torch.tensor_split(order.to(self.device), n):
            weight = None if held.weight is None else held.weight[block]
            blocks.append(
                float(self.loss.of_draws(outputs[:, block], held.target[block], weight)[0])
            )
        return loss, float(np.std(blocks, ddof=1) / np.sqrt(n))
