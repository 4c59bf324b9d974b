"""What the training of an estimator ends with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = ["Found", "Interrupted"]


@dataclass(eq=False)
class Found:
    """What a training ended with.

    Attributes
    ----------
    support : bool array of shape (n_features,)
    gates : float array of shape (n_features,)
        At prediction: 0 where a feature is not selected.
    scores : float64 array of shape (n_features,)
        How open; greater is better.
    state : dict of str to tensor
        Of the network that predicts.
    narrow : bool
        Whether that network sees the selected features alone.
    history : dict of str to list
        A row an epoch.
    n_epochs : int
    lam : float
        Weight of the penalty.
    validation_loss : float
        The best; NaN without a validation part.
    path : dict or None
    """

    support: NDArray[np.bool_]
    gates: NDArray[Any]
    scores: NDArray[np.float64]
    state: dict[str, torch.Tensor]
    narrow: bool
    history: dict[str, list[float]]
    n_epochs: int
    lam: float
    validation_loss: float = float("nan")
    path: dict[str, Any] | None = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a training.

    Parameters
    ----------
    found : Found
        What there is so far.
    """

    def __init__(self, found: Found) -> None:
        super().__init__()
        self.found = found
