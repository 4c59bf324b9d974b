"""A step of the standard case without autograd: the gradients of a plain network, written out.

::

    columns of open features -> folded first layer -> (activation, linear)... -> outputs
             loss, its gradient <- ... and back through the same layers, into ``.grad``

A small step is nearly all overhead of calls. What is covered is decided by what is trained alone:
gates whose slope is known, one draw that the samples share, layers of the four activations, a loss
that tells its gradient. The rest goes by autograd; both agree but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from bitsieve.gates.gate import FeatureGates, GaussianGates, HardConcreteGates
from bitsieve.gates.losses import CrossEntropy, Loss, SquaredError
from bitsieve.gates.masked_product import columns_of, pieces_of
from bitsieve.gates.network import CopyLinear, GatedMLP
from bitsieve.gates.rows import LazyRows

if TYPE_CHECKING:
    from bitsieve.gates.samples import Samples

__all__ = ["PlainStep", "plain_step"]

_Function = Callable[[torch.Tensor], torch.Tensor]

_SELU_SCALE = 1.0507009873554805
_SELU_FLOOR = 1.6732632423543772 * _SELU_SCALE


def _slope_of_selu(a: torch.Tensor) -> torch.Tensor:
    return torch.where(a > 0, _SELU_SCALE, a + _SELU_FLOOR)


# Activation, and its derivative as a function of its value.
_ACTIVATIONS: dict[type[torch.nn.Module], tuple[_Function, _Function]] = {
    torch.nn.ReLU: (torch.relu, lambda a: a > 0),
    torch.nn.Tanh: (torch.tanh, lambda a: 1.0 - a * a),
    torch.nn.SELU: (torch.selu, _slope_of_selu),
    torch.nn.Sigmoid: (torch.sigmoid, lambda a: a * (1.0 - a)),
}


def plain_step(
    gates: FeatureGates, network: torch.nn.Module, loss: Loss, samples: Samples, n_draws: int
) -> PlainStep | None:
    """Return the step of gates, network and loss; None where it does not cover them."""
    if type(gates) not in (GaussianGates, HardConcreteGates) or n_draws != 1:
        return None
    if type(network) is not GatedMLP or network.rows is None:
        return None
    if type(loss) not in (CrossEntropy, SquaredError) or samples.x.dtype != torch.float32:
        return None
    kinds = [type(module) for module in network.rest]
    is_plain = all(kind in _ACTIVATIONS for kind in kinds[::2]) and all(
        kind is CopyLinear for kind in kinds[1::2]
    )
    return PlainStep(gates, network, loss, network.rows) if is_plain else None


class PlainStep:
    """Losses and gradients of a step.

    Parameters
    ----------
    gates : GaussianGates or HardConcreteGates
    network : GatedMLP
        Without batch normalisation and dropout.
    loss : CrossEntropy or SquaredError
    rows : LazyRows
        Of the first layer.
    """

    def __init__(self, gates: FeatureGates, network: GatedMLP, loss: Loss, rows: LazyRows) -> None:
        self._gates, self._loss, self._rows = gates, loss, rows
        self._position = next(gates.parameters())
        self._bias = network.bias
        self._parameters = [*gates.parameters(), *network.parameters()]
        modules: list[Any] = list(network.rest)
        self._layers: list[tuple[_Function, _Function, torch.Tensor, torch.Tensor]] = [
            (*_ACTIVATIONS[type(activation)], linear.weight, linear.bias)
            for activation, linear in zip(modules[::2], modules[1::2], strict=True)
        ]

    def covers_all(self) -> bool:
        """Tell whether everything learns: what is frozen is left to autograd."""
        return all(parameter.requires_grad for parameter in self._parameters)

    @torch.no_grad()
    def gradients(
        self,
        samples: Samples,
        batch: torch.Tensor | None,
        key: int,
        step: int,
        weight: float,
    ) -> tuple[float, float]:
        """Set the gradients of a step, and return its loss and its penalty.

        Parameters
        ----------
        samples : Samples
        batch : int64 tensor or None
            Rows of the samples; None is all.
        key, step : int
            Of the gates' noise.
        weight : float
            Of the penalty.
        """
        z = self._gates.sample(key, step, 1)
        pieces = pieces_of(z.numpy(), self._rows, is_mask=False)  # one, or none
        if pieces:
            features, open_gates, _ = pieces[0]
            columns = columns_of(samples.x, batch, [features])
            self._rows.advance(features)
            folded = torch.from_numpy(self._rows.fold(features, open_gates))
            h = torch.addmm(self._bias, columns, folded)
        else:
            n = len(samples) if batch is None else len(batch)
            h = self._bias.expand(n, -1)
        values = []
        for activation, _, w, b in self._layers:
            h = activation(h)
            values.append(h)
            h = torch.addmm(b, h, w.T)
        loss, d = self._loss.gradient(h, *samples.told(batch))
        for (_, slope, w, b), a in zip(self._layers[::-1], values[::-1], strict=True):
            w.grad, b.grad = d.T @ a, d.sum(0)
            d = (d @ w).mul_(slope(a))
        self._bias.grad = d.sum(0)
        penalty, of_gates = self._gates.penalty_gradient(weight)
        if pieces and open_gates is not None:
            g = (columns.T @ d).numpy()[:, None]
            self._rows.take(features, open_gates, g)
            slopes = self._gates.slope(torch.from_numpy(open_gates[0])).numpy()
            of_gates.numpy()[features] += slopes * self._rows.gate_gradients(features, g)[0]
        self._position.grad = of_gates
        return loss.item(), penalty.item()
