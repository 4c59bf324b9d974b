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

from bitsieve.gates.contract import FeatureGates
from bitsieve.gates.gate import GaussianGates, HardConcreteGates
from bitsieve.gates.losses import CrossEntropy, Loss, SquaredError
from bitsieve.gates.masked_product import open_columns
from bitsieve.gates.network import CopyLinear, GatedMLP
from bitsieve.gates.rows import LazyRows

if TYPE_CHECKING:
    from bitsieve.gates.samples import Samples

__all__ = ["PlainStep", "plain_step"]

_Function = Callable[[torch.Tensor], torch.Tensor]
_Backward = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_aten = torch.ops.aten
_SELU_SCALE = 1.0507009873554805
_SELU_ALPHA = 1.6732632423543772


# Activation, and its gradient from that of its value, and the value.
_ACTIVATIONS: dict[type[torch.nn.Module], tuple[_Function, _Backward]] = {
    torch.nn.ReLU: (torch.relu, lambda d, a: _aten.threshold_backward(d, a, 0)),
    torch.nn.Tanh: (torch.tanh, _aten.tanh_backward),
    torch.nn.SELU: (
        torch.selu,
        lambda d, a: _aten.elu_backward(d, _SELU_ALPHA, _SELU_SCALE, 1, True, a),
    ),
    torch.nn.Sigmoid: (torch.sigmoid, _aten.sigmoid_backward),
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
        self._layers: list[tuple[_Function, _Backward, torch.Tensor, torch.Tensor]] = [
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
        z = self._gates.sample(key, step, 1)[0]
        features, open_gates, of_samples = open_columns(samples.x, batch, z)
        columns = torch.from_numpy(of_samples)
        self._rows.advance(features)
        folded = torch.from_numpy(self._rows.fold(features, open_gates))
        h = torch.addmm(self._bias, columns, folded)
        values = []
        for activation, _, w, b in self._layers:
            h = activation(h)
            values.append(h)
            h = torch.addmm(b, h, w.T)
        loss, d = self._loss.gradient(h, *samples.told(batch))
        for (_, backward, w, b), a in zip(self._layers[::-1], values[::-1], strict=True):
            w.grad, b.grad = torch.mm(d.T, a), d.sum(0)
            d = backward(torch.mm(d, w), a)
        self._bias.grad = d.sum(0)
        penalty, of_gates = self._gates.penalty_gradient(weight)
        g = torch.mm(columns.T, d).numpy()[:, None]
        self._rows.take(features, open_gates, g)
        slopes = self._gates.slope(open_gates[0])
        self._rows.add_gate_gradients(features, g, slopes, of_gates.numpy())
        self._position.grad = of_gates
        return loss, penalty
