"""What batch normalisation takes off at prediction, estimated for the mask that predicts.

A training normalises each mask by its own batch, and its running averages are over masks that were
drawn. The one mask that predicts has other means and variances, the more so the farther theta is
from its ends.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch

__all__ = ["estimate_statistics"]

_ROWS = 8192  # samples normalised together: up to so many, the statistics are those of all samples


def estimate_statistics(network: torch.nn.Module, x: torch.Tensor, z: torch.Tensor) -> None:
    """Set running means and variances to those of the samples behind given masks.

    Parameters
    ----------
    network : torch.nn.Module
        Takes (x, z). Only what its batch normalisations keep is changed; without any, nothing is.
    x : float32 tensor of shape (n_samples, n_features)
        At least two samples, or nothing is done.
    z : float32 tensor of shape (n_masks, n_features)
        Statistics are means over masks of those behind each.

    Examples
    --------
    >>> from bitsieve.gates.network import GatedMLP
    >>> network = GatedMLP(2, 1, (3,), 7, batch_norm=True)
    >>> x = torch.linspace(-1.0, 1.0, 20).reshape(10, 2)
    >>> estimate_statistics(network, x, torch.tensor([[0.0, 0.0]]))
    >>> [float(value.sum()) for name, value in network.named_buffers() if "running" in name]
    [0.0, 0.0]
    """
    norms = [
        module
        for module in network.modules()
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.track_running_stats
    ]
    if not norms or len(x) < 2:
        return
    before = [norm.momentum for norm in norms]
    network.eval()  # no dropout
    ends = np.linspace(0, len(x), -(-len(x) // _ROWS) + 1).astype(int).tolist()
    try:
        with torch.no_grad():
            count = 0
            for first, end in pairwise(ends):
                for mask in z:
                    count += 1
                    for norm in norms:
                        norm.train()
                        norm.momentum = 1.0 / count
                    network(x[first:end], mask[None])
    finally:
        for norm, momentum in zip(norms, before, strict=True):
            norm.momentum = momentum
        network.eval()
