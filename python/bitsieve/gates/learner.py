"""A step of a training: gradients, written out or by autograd, and the move that they make."""

from __future__ import annotations

import torch

from bitsieve._random import SeedWords, Stream
from bitsieve.gates.contract import FeatureGates
from bitsieve.gates.device import seed
from bitsieve.gates.lazy import make_optimizer
from bitsieve.gates.losses import Loss
from bitsieve.gates.network import outputs_of
from bitsieve.gates.samples import Samples
from bitsieve.gates.settings import Settings
from bitsieve.gates.step import plain_step

__all__ = ["Learner"]


class Learner:
    """What moves gates and network.

    Parameters
    ----------
    gates : FeatureGates
    network : torch.nn.Module
    loss : Loss
    samples : Samples
        All on one device.
    settings : Settings
    key : int

    Attributes
    ----------
    optimizer : Optimizer
    plain : PlainStep or None
        Gradients that are written out, where it covers this training.
    """

    def __init__(
        self,
        gates: FeatureGates,
        network: torch.nn.Module,
        loss: Loss,
        samples: Samples,
        settings: Settings,
        key: int,
    ) -> None:
        self._gates, self._network, self._loss = gates, network, loss
        self._samples, self._settings, self._key = samples, settings, key
        self._dropout = SeedWords(key, Stream.dropout)
        self._drawn: tuple[torch.Tensor, torch.Tensor] | None = None
        self.optimizer = make_optimizer(gates, network, settings)
        self.plain = plain_step(gates, network, loss, samples, settings.n_draws)

    def gradients(self, batch: torch.Tensor | None, step: int, weight: float) -> torch.Tensor:
        """Set the gradients of a step, and return its loss and its penalty, of shape (2,).

        Parameters
        ----------
        batch : int64 tensor or None
            Rows of the samples; None is all.
        step : int
        weight : float
            Of the penalty.
        """
        self._drawn = None
        self.optimizer.zero_grad()
        if self.plain is not None and self.plain.covers_all():
            return torch.tensor(self.plain.gradients(self._samples, batch, self._key, step, weight))
        return self._by_autograd(batch, step, weight)

    def move(self) -> None:
        """Move weights and gates by the gradients that were set."""
        self.optimizer.step()
        if self._drawn is not None:
            self._gates.learn(*self._drawn, self._settings.n_draws)

    def _by_autograd(self, batch: torch.Tensor | None, step: int, weight: float) -> torch.Tensor:
        seed(self._dropout.one(step), self._samples.x.device)
        n_rows = None
        if self._settings.noise == "sample":
            n_rows = len(self._samples) if batch is None else len(batch)
        z = self._gates.sample(self._key, step, self._settings.n_draws, n_rows)
        outputs = outputs_of(self._network, self._samples.x, batch, z)
        losses = self._loss.of_draws(outputs, *self._samples.told(batch))
        mean = losses.mean()
        penalty = self._gates.penalty(weight)
        total = mean if penalty is None else mean + penalty
        total.backward()  # type: ignore[no-untyped-call]
        self._drawn = z, losses.detach()
        told = torch.zeros_like(mean) if penalty is None else penalty
        return torch.stack([mean.detach(), told.detach()])
