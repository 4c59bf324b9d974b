"""How a training goes, and what is said where its numbers are none any more."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Diverged", "Settings"]


@dataclass(frozen=True)
class Settings:
    """How a training goes.

    Attributes
    ----------
    batch_size : int or None
        At most so many samples a step; None takes all.
    optimizer : {"adam", "sgd"}
    learning_rate, gate_learning_rate : float
    weight_decay : float
        Of the network, not of the gates; as L2 penalty.
    n_draws : int
        Draws of the gates in a step, whose losses are averaged.
    patience : int or None
        Epochs without a better validation loss before it stops. The best epoch's weights and gates
        are then put back, also where it ends otherwise.
    noise : {"shared", "sample"}
        Whether the samples of a batch share a draw of the gates, or each has its own.
    """

    batch_size: int | None = 128
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    gate_learning_rate: float = 1e-3
    weight_decay: float = 0.0
    n_draws: int = 1
    patience: int | None = None
    noise: str = "shared"


class Diverged(ValueError):
    """A loss or a weight is NaN or infinite.

    Parameters
    ----------
    what : str
        Such as ``"loss"`` or ``"weights"``.
    step, n_steps : int
        Where, and steps of an epoch.
    rate : float
        Learning rate.
    value : float, default NaN
        Of the loss.
    """

    def __init__(
        self, what: str, step: int, n_steps: int, rate: float, value: float = math.nan
    ) -> None:
        fault = "hold NaN or infinity" if what == "weights" else f"is {value}"
        super().__init__(
            f"the {what} {fault} at step {step:,} (epoch {-(-step // n_steps):,}): lower "
            f"learning_rate (it is {rate:g}), or bring the features to one scale (standardize=True)"
        )
