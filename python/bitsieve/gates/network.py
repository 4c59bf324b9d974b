"""A network behind gates: the first layer sees gated features, the rest is an MLP or the user's.

::

    x (B, p) --gates z (K, p)--> first layer (K, B, H) --body--> outputs (K, B, C)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from bitsieve._random import Random, Stream

__all__ = ["CopyBatchNorm", "GatedMLP", "GatedModule"]

ACTIVATIONS: dict[str, Callable[[], torch.nn.Module]] = {
    "relu": torch.nn.ReLU,
    "tanh": torch.nn.Tanh,
    "selu": torch.nn.SELU,
    "sigmoid": torch.nn.Sigmoid,
}


class CopyBatchNorm(torch.nn.BatchNorm1d):
    """Batch normalisation of (K, B, H): statistics for each copy, running averages over all."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Normalise (K, B, H)."""
        if not self.training:
            scale = torch.rsqrt(self.running_var + self.eps)  # type: ignore[operator]
            return (input - self.running_mean) * scale * self.weight + self.bias
        variance, mean = torch.var_mean(input, dim=1, correction=0, keepdim=True)
        with torch.no_grad():
            n = input.shape[1]
            rate = float(self.momentum or 0.1)
            self.running_mean.lerp_(mean.mean(dim=(0, 1)), rate)  # type: ignore[union-attr]
            unbiased = variance.mean(dim=(0, 1)) * (n / max(1, n - 1))
            self.running_var.lerp_(unbiased, rate)  # type: ignore[union-attr]
            self.num_batches_tracked.add_(1)  # type: ignore[union-attr]
        return (input - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias


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
    """

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
        for number, (n_in, n_out) in enumerate(zip(sizes[1:], sizes[2:], strict=False), 1):
            layers.append(ACTIVATIONS[activation]())
            if batch_norm:
                layers.append(CopyBatchNorm(n_in))
            if dropout:
                layers.append(torch.nn.Dropout(dropout))
            linear = torch.nn.Linear(n_in, n_out)
            with torch.no_grad():
                linear.weight.copy_(_he(key, number, n_in, n_out).T)
                linear.bias.zero_()
            layers.append(linear)
        self.rest = torch.nn.Sequential(*layers)

    def forward(self, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        """Return the outputs, of shape (K, B, C), for x of shape (B, p).

        The gates are of shape (K, p), or (K, B, p) where each sample has its own.
        """
        if z.dim() == 3:
            first = torch.matmul(x * z, self.weight) + self.bias
        else:
            first = torch.matmul(x, z[:, :, None] * self.weight) + self.bias
        outputs: torch.Tensor = self.rest(first)
        return outputs


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


def _he(key: int, layer: int, n_in: int, n_out: int) -> torch.Tensor:
    """He's initial weights, float32 of shape (n_in, n_out)."""
    drawn: Any = Random(key, Stream.weights, lane=layer).normal((n_in, n_out))
    return torch.from_numpy((drawn * np.sqrt(2.0 / n_in)).astype(np.float32))
