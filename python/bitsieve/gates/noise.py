"""Noise of gates: quantiles of a distribution, chosen by the words of Philox.

A word of 64 bits chooses four of the 65,536 quantiles, so that the noise of a step costs an eighth
of what exact normal numbers in float64 do, goes to a device as 2 bytes a number, and has the same
bits on every device. The step of the distribution function is 2**-16: no number of a training is
that exact. The greatest normal number is 4.32.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._random import Random, Stream

__all__ = ["PREDICTION_STEP", "noise", "quantiles"]

#: First step of what is drawn at prediction; no training comes that far.
PREDICTION_STEP = 2**63

_LEVELS = 2**16


def noise(
    distribution: str, key: int, step: int, shape: tuple[int, ...], device: torch.device
) -> torch.Tensor:
    """Return independent numbers of a distribution, a function of the key and the step.

    Parameters
    ----------
    distribution : {"normal", "logistic"}
        Standard ones: of variance 1, and of distribution function 1 / (1 + exp(-x)).
    key : int
        In [0, 2**64).
    step : int
        In [0, 2**64).
    shape : tuple of int
    device : torch.device

    Returns
    -------
    float32 tensor of the shape

    Examples
    --------
    >>> drawn = noise("normal", 7, 0, (2, 50_000), torch.device("cpu"))
    >>> bool(drawn.mean().abs() < 0.01), round(float(drawn.std()), 2)
    (True, 1.0)
    >>> bool((noise("normal", 7, 0, (1, 50_000), torch.device("cpu")) == drawn[0]).all())
    True
    """
    n = math.prod(shape)
    if device.type == "cpu":
        table = quantiles(distribution)
        return torch.from_numpy(_core.gate_noise(key, step, table, n)).view(shape)
    words = Random(key, Stream.gates, lane=step).words(-(-n // 4))
    levels = torch.from_numpy(words.view(np.int16)[:n]).to(device)
    number = levels.int().add_(_LEVELS // 2)  # torch has no arithmetic of uint16
    return _quantiles(distribution, device).index_select(0, number).view(shape)


@lru_cache(maxsize=2)
def quantiles(distribution: str) -> NDArray[np.float32]:
    """Return the quantiles of a distribution, ascending, as an array."""
    found: NDArray[np.float32] = _quantiles(distribution, torch.device("cpu")).numpy()
    return found


@lru_cache(maxsize=8)
def _quantiles(distribution: str, device: torch.device) -> torch.Tensor:
    share = (np.arange(_LEVELS) + 0.5) / _LEVELS
    values: NDArray[np.float64]
    if distribution == "normal":
        from scipy.special import ndtri

        values = ndtri(share)
    else:
        values = np.log(share) - np.log1p(-share)
    return torch.from_numpy(values.astype(np.float32)).to(device)
