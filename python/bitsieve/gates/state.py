"""The state of a training: all that a checkpoint holds, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve.gates.best import BestEpoch
from bitsieve.gates.contract import FeatureGates
from bitsieve.gates.history import History
from bitsieve.gates.optimizer import Optimizer
from bitsieve.gates.weights import arrays_of, set_arrays, tensors_of

__all__ = ["TrainingState"]


class TrainingState:
    """How a training is taken apart, and goes on from the parts of another."""

    device: torch.device
    gates: FeatureGates
    network: torch.nn.Module
    key: int
    epoch: int
    step: int
    seconds: float
    _weight: float
    _answered: int
    _is_stopped: bool
    _bounds: list[tuple[int, int]]
    _order: torch.Tensor | None
    _losses: list[torch.Tensor]
    _rows: list[tuple[torch.Tensor, int, int, float]]
    _history: History
    _best: BestEpoch
    _optimizer: Optimizer

    def _read_rows(self) -> None:
        """Bring the rows of epochs to the history."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything a checkpoint holds, as arrays; also in the midst of an epoch."""
        self._read_rows()
        self._optimizer.catch_up()
        losses = torch.stack(self._losses) if self._losses else torch.zeros(0, 2)
        parts = {
            "network": arrays_of(tensors_of(self.network)),
            "gates": arrays_of(tensors_of(self.gates)),
            "optimizer": self._optimizer.state(),
            "history": self._history.state(),
            "best": self._best.state(),
        }
        found: dict[str, NDArray[Any]] = {
            "key": np.array(self.key, np.uint64),
            "epoch": np.array(self.epoch, np.int64),
            "step": np.array(self.step, np.int64),
            "answered": np.array(self._answered, np.int64),
            "stopped": np.array(self._is_stopped),
            "weight": np.array(self._weight, np.float64),
            "seconds": np.array(self.seconds, np.float64),
            "losses": losses.cpu().numpy(),
        }
        for part, arrays in parts.items():
            found.update((f"{part}/{name}", array) for name, array in arrays.items())
        return found

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on as the one that gave the state.

        Raises
        ------
        ValueError, LookupError
            If it is not one of such a training.
        """

        def part(name: str) -> dict[str, NDArray[Any]]:
            start = f"{name}/"
            return {k[len(start) :]: v for k, v in state.items() if k.startswith(start)}

        if int(state["key"]) != self.key:
            raise ValueError(f"it is of the seed {int(state['key'])}, expected {self.key}")
        epoch, step, losses = int(state["epoch"]), int(state["step"]), np.array(state["losses"])
        if losses.ndim != 2 or step != epoch * len(self._bounds) + len(losses):
            raise ValueError(f"{step} steps and {epoch} epochs do not belong together")
        set_arrays(tensors_of(self.network), part("network"))
        set_arrays(tensors_of(self.gates), part("gates"))
        self._optimizer.set_state(part("optimizer"))
        self._history.set_state(part("history"))
        self._best.set_state(part("best"))
        self.epoch, self.step, self._answered = epoch, step, int(state["answered"])
        self._is_stopped = bool(state["stopped"])
        self._weight, self.seconds = float(state["weight"]), float(state["seconds"])
        self._losses = list(torch.from_numpy(losses).to(self.device))
        self._rows, self._order = [], None
