"""The rows of a first layer's weights, moved when their features are looked at.

A feature whose gate is closed has no part in a step: its weights then move by decay and momentum
alone, which need nobody's numbers but their own. Such steps are owed, and made in one call when
the gate opens. The bits are those of every row moved at every step; rows that never open again
cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.gates.optimizer import make_rule

__all__ = ["LazyRows"]


class LazyRows:
    """Weights, a row a feature, and their optimiser.

    Parameters
    ----------
    weight : torch.nn.Parameter
        Float32 of shape (n_features, n_units) on the processor, changed in place.
    optimizer : {"adam", "sgd"}
        As torch.optim has them, with torch's constants.
    rate : float
        Learning rate.
    decay : float
        Of weights, as L2 penalty.

    Attributes
    ----------
    step : int
        How many there were.
    last : int64 array of shape (n_features,)
        The step that each row has come to.
    """

    def __init__(
        self, weight: torch.nn.Parameter, optimizer: str, rate: float, decay: float
    ) -> None:
        self.parameter = weight
        self.step = 0
        self.last = np.zeros(len(weight), np.int64)
        self._options = (optimizer, rate, decay)
        shape = tuple(weight.shape)
        self._moments: tuple[NDArray[np.float32] | None, NDArray[np.float32] | None] = (
            (np.zeros(shape, np.float32), np.zeros(shape, np.float32))
            if optimizer == "adam"
            else (None, None)
        )
        self._pending: list[
            tuple[NDArray[np.int32], NDArray[np.float32] | None, NDArray[np.float32]]
        ] = []
        self._make_rule()

    def _make_rule(self) -> None:
        self._rule = make_rule(*self._options)
        self.all = np.arange(len(self.last), dtype=np.int32)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_rule", "all", "_pending")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _pending=[])
        self._make_rule()

    @property
    def weight(self) -> NDArray[np.float32]:
        """The weights, not copied; rows may owe steps."""
        found: NDArray[np.float32] = self.parameter.detach().numpy()
        return found

    def advance(self, features: NDArray[np.int32]) -> None:
        """Bring rows, ascending, up to date."""
        self._rule.advance(self.weight, *self._moments, self.last, features, self.step)

    def fold(
        self, features: NDArray[np.int32], gates: NDArray[np.float32] | None
    ) -> NDArray[np.float32]:
        """Return rows times gates (n_draws, n_rows), of shape (n_rows, n_draws * n_units)."""
        return _core.fold_rows(self.weight, features, gates)

    def gate_gradients(
        self, features: NDArray[np.int32], gradient: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return gradients of the gates from those of :meth:`fold`: shape (n_draws, n_rows)."""
        return _core.gate_gradients(self.weight, features, gradient)

    def add_gate_gradients(
        self,
        features: NDArray[np.int32],
        gradient: NDArray[np.float32],
        slopes: NDArray[np.float32],
        out: NDArray[np.float32],
    ) -> None:
        """Add gradients of the gates of one draw, times slopes (n_rows,), to ``out[features]``."""
        _core.add_gate_gradients(self.weight, features, gradient, slopes, out)

    def take(
        self,
        features: NDArray[np.int32],
        gates: NDArray[np.float32] | None,
        gradient: NDArray[np.float32],
    ) -> None:
        """Keep the gradient (n_rows, n_draws, n_units) of what :meth:`fold` gave for a step."""
        self._pending.append((features, gates, gradient))

    def forget(self) -> None:
        """Drop gradients."""
        self._pending = []
        self.parameter.grad = None

    def learn(self) -> None:
        """Make a step by the gradients there are; the other rows owe it.

        As with torch's optimisers, weights that are frozen (``requires_grad``) stay as they are.
        """
        if not self.parameter.requires_grad:
            self.forget()
            return
        pending, gradient = self._pending, self.parameter.grad
        if gradient is not None:
            self.advance(self.all)
            pending = [*pending, (self.all, None, gradient.numpy()[:, None])]
        self.step += 1
        for features, gates, of_rows in pending:
            self._rule.learn(
                self.weight, *self._moments, self.last, features, gates, of_rows, self.step
            )
        self.forget()

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all but the weights."""
        found: dict[str, NDArray[Any]] = {"step": np.array(self.step), "last": self.last.copy()}
        for name, moment in zip(("mean", "square"), self._moments, strict=True):
            if moment is not None:
                found[name] = moment.copy()
        return found

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on as the one that gave the state, whose weights are set elsewhere.

        Raises
        ------
        ValueError
            Where it is not one of such rows.
        """
        step, last = int(state["step"]), np.array(state["last"])
        if last.shape != self.last.shape or last.dtype != np.int64:
            raise ValueError(f"last is {last.dtype} of shape {last.shape}, expected int64 of shape")
        if last.min(initial=0) < 0 or last.max(initial=0) > step:
            raise ValueError(f"rows are at steps up to {last.max()}, the optimiser at {step}")
        for name, moment in zip(("mean", "square"), self._moments, strict=True):
            if (name in state) != (moment is not None):
                raise ValueError(f"{name} belongs to Adam, and only to it")
            if moment is not None:
                array = np.array(state[name])
                if array.shape != moment.shape or array.dtype != np.float32:
                    raise ValueError(
                        f"{name} is {array.dtype} of shape {array.shape}, expected float32 of "
                        f"shape {moment.shape}"
                    )
                moment[:] = array
        self.step, self.last = step, last
        self.forget()
