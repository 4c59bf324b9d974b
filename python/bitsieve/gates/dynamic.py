"""A structure that is learnt: units and layers under the same distribution as the features.

Shirakawa, Iwata and Akimoto (2018) train Bernoulli variables for parts of a network as PEFS does
for features; here there is one distribution of all of them.

::

    z = features | units, layer after layer | layers that can be left out

    h_1 = u_1 f(x z)    h_l = g_l u_l f(h_(l-1)) + (1 - g_l) h_(l-1)

A layer can be left out where it has as many units as the one before. What predicts is a plain
network of the units and layers that are selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve.gates.bernoulli import BernoulliMasks
from bitsieve.gates.network import CopyBatchNorm, GatedMLP

__all__ = ["DynamicMLP", "StructureMasks", "skippable"]


def skippable(hidden: Sequence[int]) -> list[int]:
    """Return the numbers of the layers, from 0, that can be left out.

    Examples
    --------
    >>> skippable((20, 20, 10, 10))
    [1, 3]
    """
    return [n for n in range(1, len(hidden)) if hidden[n] == hidden[n - 1]]


class StructureMasks(BernoulliMasks):
    """Masks of features, units and layers.

    Parameters
    ----------
    n_inputs : int
        Number of features.
    hidden : sequence of int
        Units of the hidden layers.
    eps, prior : float or array of shape (n_inputs,), or None
        See :class:`~bitsieve.gates.bernoulli.BernoulliMasks`; of the features.
    structure_eps : float, default 0
        Weight of the number of units and layers.
    rate : float or None, default None
        None is one divided by the number of all variables.
    n_features_to_select : int or None, default None

    Examples
    --------
    >>> masks = StructureMasks(3, (4, 4))
    >>> masks.n_features, masks.support().tolist()
    (12, [True, True, True])
    """

    def __init__(
        self,
        n_inputs: int,
        hidden: Sequence[int],
        eps: float | NDArray[Any] = 0.0,
        rate: float | None = None,
        *,
        prior: float | NDArray[Any] | None = None,
        structure_eps: float = 0.0,
        n_features_to_select: int | None = None,
    ) -> None:
        self.n_inputs, self.hidden = n_inputs, tuple(hidden)
        n_others = sum(hidden) + len(skippable(hidden))
        if prior is not None:
            eps = np.log1p(-np.asarray(prior)) - np.log(prior)
        of_features = np.broadcast_to(np.asarray(eps, np.float64), (n_inputs,))
        total = n_inputs + n_others
        super().__init__(
            total,
            np.concatenate([of_features, np.full(n_others, structure_eps)]),
            rate,
            n_features_to_select=n_features_to_select,
            counted=np.arange(total) < n_inputs,
        )
        if prior is not None and n_features_to_select is not None:
            self._say_which_alone()

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`; of each layer one unit at least."""
        value = super().value()
        begin = self.n_inputs
        for size in self.hidden:
            value[begin + int(self.theta[begin : begin + size].argmax())] = 1.0
            begin += size
        return value

    def selected(self) -> torch.Tensor:
        """Return which features are selected."""
        return super().selected()[: self.n_inputs]


class DynamicMLP(torch.nn.Module):
    """A network of which masks leave out features, units and layers.

    Parameters
    ----------
    n_features, n_outputs, hidden, key, activation, batch_norm, dropout
        See :class:`~bitsieve.gates.network.GatedMLP`, whose weights it starts with.
    """

    def __init__(
        self, n_features: int, n_outputs: int, hidden: Sequence[int], key: int, **options: Any
    ) -> None:
        super().__init__()
        self.hidden = tuple(hidden)
        self._options = options
        self._n_outputs = n_outputs
        plain = GatedMLP(n_features, n_outputs, hidden, key, **options)
        self.weight, self.bias = plain.weight, plain.bias
        self.linears = torch.nn.ModuleList(
            module for module in plain.rest if isinstance(module, torch.nn.Linear)
        )
        blocks: list[list[torch.nn.Module]] = [[] for _ in hidden]
        number = 0
        for module in plain.rest:
            if isinstance(module, torch.nn.Linear):
                number += 1
            else:
                blocks[number].append(module)
        self.blocks = torch.nn.ModuleList(torch.nn.Sequential(*block) for block in blocks)

    def forward(self, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        """Return the outputs, of shape (K, B, C), for x of shape (B, p) and masks (K, d)."""
        p = len(self.weight)
        features, *units, layers = torch.split(
            z, [p, *self.hidden, z.shape[1] - p - sum(self.hidden)], 1
        )
        folded = (features.T[:, :, None] * self.weight[:, None]).flatten(1)
        h = ((x @ folded).view(len(x), len(z), -1) + self.bias).transpose(0, 1)  # (K, B, H)
        h = self.blocks[0](h) * units[0][:, None]
        gate = dict(zip(skippable(self.hidden), layers.T, strict=True))
        for number in range(1, len(self.hidden)):
            f = self.blocks[number](self.linears[number - 1](h)) * units[number][:, None]
            if number in gate:
                g = gate[number][:, None, None]
                f = g * f + (1.0 - g) * h
            h = f
        outputs: torch.Tensor = self.linears[-1](h)
        return outputs

    def of_rows(self, x: torch.Tensor, batch: torch.Tensor | None, z: torch.Tensor) -> torch.Tensor:
        """See :meth:`~bitsieve.gates.network.GatedMLP.of_rows`; every column is touched."""
        outputs: torch.Tensor = self(x if batch is None else x[batch], z)
        return outputs

    def pruned(self, z: NDArray[np.bool_]) -> tuple[tuple[int, ...], dict[str, torch.Tensor]]:
        """Return hidden layers and state of the plain network behind one mask.

        Parameters
        ----------
        z : bool array of shape (d,)
            With a feature, and a unit of each layer.

        Returns
        -------
        hidden : tuple of int
        state : dict of str to tensor
            Of a :class:`~bitsieve.gates.network.GatedMLP` of the features of the mask.
        """
        p = len(self.weight)
        cuts = np.cumsum([p, *self.hidden])
        features, *units, layers = (np.flatnonzero(part) for part in np.split(z, cuts))
        left_out = {n for i, n in enumerate(skippable(self.hidden)) if i not in layers}
        kept = [n for n in range(len(self.hidden)) if n not in left_out]
        hidden = tuple(len(units[n]) for n in kept)
        plain = GatedMLP(len(features), self._n_outputs, hidden, 0, **self._options)
        linears = [module for module in plain.rest if isinstance(module, torch.nn.Linear)]
        norms = [module for module in plain.rest if isinstance(module, CopyBatchNorm)]
        with torch.no_grad():
            plain.weight.copy_(self.weight[features][:, units[0]])
            plain.bias.copy_(self.bias[units[0]])
            for i, n in enumerate(kept):
                is_last = i == len(kept) - 1
                # Layer n + 1 reads its inputs from the layer before; the last is the outputs'.
                source: Any = self.linears[-1 if is_last else kept[i + 1] - 1]
                rows = np.arange(self._n_outputs) if is_last else units[kept[i + 1]]
                linears[i].weight.copy_(source.weight[rows][:, units[n]])
                linears[i].bias.copy_(source.bias[rows])
                if norms:
                    (norm,) = (m for m in self.blocks[n].children() if isinstance(m, CopyBatchNorm))
                    state = norm.state_dict()
                    norms[i].load_state_dict(
                        {k: v[units[n]] if v.dim() else v for k, v in state.items()}
                    )
        return hidden, {name: value.detach().clone() for name, value in plain.state_dict().items()}
