"""A network behind gates: the first layer sees gated features, the rest is an MLP or the user's.

::

    x (B, p) --gates z (K, p)--> first layer (K, B, H) --body--> outputs (K, B, C)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from bitsieve._random import Random, Stream
from bitsieve.gates.masked_product import gated_product
from bitsieve.gates.rows import LazyRows

__all__ = ["CopyBatchNorm", "CopyLinear", "GatedMLP", "GatedModule", "outputs_of"]

ACTIVATIONS: dict[str, Callable[[], torch.nn.Module]] = {
    "relu": torch.nn.ReLU,
    "tanh": torch.nn.Tanh,
    "selu": torch.nn.SELU,
    "sigmoid": torch.nn.Sigmoid,
}


class CopyLinear(torch.nn.Linear):
    """A linear layer of (K, B, H) whose memory is that of (B, K, H): one product for all copies."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Multiply (K, B, H)."""
        return super().forward(input.transpose(0, 1)).transpose(0, 1)


class CopyBatchNorm(torch.nn.BatchNorm1d):
    """Batch normalisation of (K, B, H): statistics for each copy, running averages over all."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Normalise (K, B, H)."""
        n_copies, n_samples, n_units = input.shape
        if not self.training or n_copies == 1:
            flat: torch.Tensor = super().forward(input.transpose(0, 1).reshape(-1, n_units))
            return flat.view(n_samples, n_copies, n_units).transpose(0, 1)
        # Units of all copies side by side are units of one layer.
        found = input.new_zeros(2, n_copies * n_units)
        output = torch.nn.functional.batch_norm(
            input.transpose(0, 1).reshape(n_samples, -1),
            found[0],
            found[1],
            self.weight.repeat(n_copies),
            self.bias.repeat(n_copies),
            training=True,
            momentum=1.0,
            eps=self.eps,
        )
        with torch.no_grad():
            mean, variance = found.view(2, n_copies, n_units).mean(dim=1)
            rate = float(self.momentum or 0.1)
            self.running_mean.lerp_(mean, rate)  # type: ignore[union-attr]
            self.running_var.lerp_(variance, rate)  # type: ignore[union-attr]
            self.num_batches_tracked.add_(1)  # type: ignore[union-attr]
        return output.view(n_samples, n_copies, n_units).transpose(0, 1)


class GatedMLP(torch.nn.Module):
    """Layers whose first one is multiplied by gates.

    Parameters
    ----------
    n_features, n_outputs : int
    hidden : sequence of int
        Units of the hidden layers; none makes a linear model.
    key : int
        Of the initial weights.
    activation : {"relu", "tanh", "selu", "sigmoid"}, default "relu"
    batch_norm : bool, default False
        After each activation.
    dropout : float, default 0
        After each hidden layer.

    Attributes
    ----------
    rows : LazyRows or None
        The optimiser of the first layer's weights, where it works row by row.
    """

    rows: LazyRows | None = None

    def __init__(
        self,
        n_features: int,
        n_outputs: int,
        hidden: Sequence[int],
        key: int,
        *,
        activation: str = "relu",
        batch_norm: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        sizes = [n_features, *hidden, n_outputs]
        #: Row f holds the weights of feature f.
        self.weight = torch.nn.Parameter(_he(key, 0, sizes[0], sizes[1]))
        self.bias = torch.nn.Parameter(torch.zeros(sizes[1]))
        layers: list[torch.nn.Module] = []
        for number, (n_in, n_out) in enumerate(itertools.pairwise(sizes[1:]), 1):
            layers.append(ACTIVATIONS[activation]())
            if batch_norm:
                layers.append(CopyBatchNorm(n_in))
            if dropout:
                layers.append(torch.nn.Dropout(dropout))
            # Nothing is drawn from torch's own generator.
            linear = torch.nn.utils.skip_init(  # type: ignore[no-untyped-call]
                CopyLinear, n_in, n_out
            )
            with torch.no_grad():
                linear.weight.copy_(_he(key, number, n_in, n_out).T)
                linear.bias.zero_()
            layers.append(linear)
        self.rest = torch.nn.Sequential(*layers)

    def forward(self, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        """Return the outputs, of shape (K, B, C), for x of shape (B, p).

        The gates are of shape (K, p), or (K, B, p) where each sample has its own.
        """
        return self.of_rows(x, None, z)

    def of_rows(self, x: torch.Tensor, batch: torch.Tensor | None, z: torch.Tensor) -> torch.Tensor:
        """Return the outputs for the listed rows of x, or for all where that is None.

        Columns of closed features are not touched where :attr:`rows` are there.
        """
        outputs: torch.Tensor = self.rest(self._first(x, batch, z).transpose(0, 1))
        return outputs

    def _first(self, x: torch.Tensor, batch: torch.Tensor | None, z: torch.Tensor) -> torch.Tensor:
        """The first layer, (B, K, H): draws side by side, so that later layers have one product."""
        if self.rows is not None:
            if z.dim() == 2 and x.is_contiguous():
                return gated_product(self.rows, self.bias, x, batch, z)
            self.rows.advance(self.rows.all)
        if batch is not None:
            x = x[batch]
        if z.dim() == 3:
            return (x * z).transpose(0, 1) @ self.weight + self.bias
        folded = (z.T[:, :, None] * self.weight[:, None]).flatten(1)
        return (x @ folded).view(len(x), len(z), -1) + self.bias


class GatedModule(torch.nn.Module):
    """The user's module behind gates.

    Parameters
    ----------
    body : torch.nn.Module
        Takes (B, p) and gives (B, C).
    """

    def __init__(self, body: torch.nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        """See :meth:`GatedMLP.forward`; copy after copy, so that batch statistics are a copy's."""
        return torch.stack([self.body(x * draw) for draw in z])


def outputs_of(
    network: torch.nn.Module, x: torch.Tensor, batch: torch.Tensor | None, z: torch.Tensor
) -> torch.Tensor:
    """Return the outputs of any network that takes (x, z), for the listed rows of x or for all.

    :meth:`GatedMLP.of_rows` does without a copy of the columns that are closed.
    """
    if isinstance(network, GatedMLP):
        return network.of_rows(x, batch, z)
    outputs: torch.Tensor = network(x if batch is None else x[batch], z)
    return outputs


def _he(key: int, layer: int, n_in: int, n_out: int) -> torch.Tensor:
    """He's initial weights, float32 of shape (n_in, n_out)."""
    drawn: Any = Random(key, Stream.weights, lane=layer).normal((n_in, n_out))
    return torch.from_numpy((drawn * np.sqrt(2.0 / n_in)).astype(np.float32))
