"""The optimiser of a training: the first layer's rows when their gates open, and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve.gates.contract import FeatureGates
from bitsieve.gates.network import GatedMLP
from bitsieve.gates.optimizer import Optimizer, RuleOptimizer, TorchOptimizer
from bitsieve.gates.rows import LazyRows

__all__ = ["LazyOptimizer", "make_optimizer"]


class Rates(Protocol):
    """What an optimiser asks of the settings of a training."""

    @property
    def optimizer(self) -> str:
        """``"adam"`` or ``"sgd"``."""

    @property
    def learning_rate(self) -> float:
        """Of the network."""

    @property
    def gate_learning_rate(self) -> float:
        """Of the gates."""

    @property
    def weight_decay(self) -> float:
        """Of the network, as L2 penalty."""


class LazyOptimizer:
    """An optimiser of rows beside one of everything else.

    Parameters
    ----------
    rows : LazyRows
    rest : Optimizer
    gates : FeatureGates
        Which rows predictions read.
    """

    def __init__(self, rows: LazyRows, rest: Optimizer, gates: FeatureGates) -> None:
        self.rows = rows
        self._rest = rest
        self._gates = gates

    def zero_grad(self) -> None:
        """See :class:`~bitsieve.gates.optimizer.Optimizer`."""
        self.rows.forget()
        self._rest.zero_grad()

    def step(self) -> None:
        """See :class:`~bitsieve.gates.optimizer.Optimizer`."""
        self.rows.learn()
        self._rest.step()

    def catch_up(self) -> None:
        """Bring up to date what a prediction reads; rows of other features may owe steps."""
        self._rest.catch_up()
        with torch.no_grad():
            z = self._gates.at_prediction().numpy()
        self.rows.advance(np.flatnonzero(z).astype(np.int32))

    def catch_up_all(self) -> None:
        """See :class:`~bitsieve.gates.optimizer.Optimizer`."""
        self._rest.catch_up_all()
        self.rows.advance(self.rows.all)

    def state(self) -> dict[str, NDArray[Any]]:
        """See :class:`~bitsieve.gates.optimizer.Optimizer`; the weights with their steps owed."""
        found = {f"rows/{name}": array for name, array in self.rows.state().items()}
        found.update((f"rest/{name}", array) for name, array in self._rest.state().items())
        return found

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """See :class:`~bitsieve.gates.optimizer.Optimizer`."""
        for part, owner in (("rows", self.rows), ("rest", self._rest)):
            start = f"{part}/"
            owner.set_state({k[len(start) :]: v for k, v in state.items() if k.startswith(start)})


def make_optimizer(gates: FeatureGates, network: torch.nn.Module, settings: Rates) -> Optimizer:
    """Return what moves the weights of gates and network.

    The first layer of a :class:`~bitsieve.gates.network.GatedMLP` on the processor then works on
    open features alone, unless closed gates learn from the loss, or each sample has its own.
    """
    rows = None
    if (
        isinstance(network, GatedMLP)
        and network.weight.device.type == "cpu"
        and not gates.learns_closed
        and getattr(settings, "noise", "shared") == "shared"
    ):
        rows = LazyRows(
            network.weight, settings.optimizer, settings.learning_rate, settings.weight_decay
        )
        network.rows = rows
    others = [p for p in network.parameters() if rows is None or p is not rows.parameter]
    groups = [
        (others, settings.learning_rate, settings.weight_decay),
        (list(gates.parameters()), settings.gate_learning_rate, 0.0),
    ]
    if rows is not None:
        return LazyOptimizer(rows, RuleOptimizer(groups, settings.optimizer), gates)
    named: list[dict[str, Any]] = [
        {"params": parameters, "lr": rate, "weight_decay": decay}
        for parameters, rate, decay in groups
        if parameters
    ]
    fused = all(p.is_floating_point() for group in named for p in group["params"])
    return TorchOptimizer(
        torch.optim.Adam(named, fused=fused)
        if settings.optimizer == "adam"
        else torch.optim.SGD(named, fused=fused)
    )
