"""The best epoch so far, by the validation part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve.gates.weights import arrays_of, copies_of, put_back, set_arrays

__all__ = ["BestEpoch"]


class BestEpoch:
    """The weights of the epoch with the least validation loss; the first of equal ones.

    Parameters
    ----------
    modules : dict of str to torch.nn.Module
        Whose weights are kept.

    Attributes
    ----------
    loss : float
        Its validation loss; infinite while there is none.
    epoch : int
        0 while there is none.
    """

    def __init__(self, modules: Mapping[str, torch.nn.Module]) -> None:
        self._modules = dict(modules)
        self.forget()

    def forget(self, epoch: int = 0) -> None:
        """Begin anew after an epoch."""
        self.loss, self.epoch, self._since = math.inf, 0, epoch
        self._copies: dict[str, dict[str, torch.Tensor]] = {}

    def keep(self, loss: float, epoch: int) -> None:
        """Copy the weights of an epoch that is better than all before."""
        copies = {name: copies_of(module) for name, module in self._modules.items()}
        self.loss, self.epoch, self._copies = loss, epoch, copies

    def stalled(self, epoch: int) -> int:
        """Return the epochs without a better one until an epoch."""
        return epoch - (self.epoch or self._since)

    def put_back(self) -> None:
        """Set the modules to their best weights, where there are any."""
        for name, copies in self._copies.items():
            put_back(self._modules[name], copies)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what :meth:`set_state` takes."""
        found: dict[str, NDArray[Any]] = {
            "loss": np.array(self.loss, np.float64),
            "epoch": np.array(self.epoch, np.int64),
            "since": np.array(self._since, np.int64),
        }
        for module, copies in self._copies.items():
            for name, array in arrays_of(copies).items():
                found[f"{module}/{name}"] = array
        return found

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Keep what another one kept."""
        self.forget(int(state["since"]))
        if not int(state["epoch"]):
            return
        for module in self._modules:
            copies = copies_of(self._modules[module])
            start = f"{module}/"
            arrays = {k[len(start) :]: v for k, v in state.items() if k.startswith(start)}
            set_arrays(copies, arrays)
            self._copies[module] = copies
        self.loss, self.epoch = float(state["loss"]), int(state["epoch"])
