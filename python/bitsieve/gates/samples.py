"""Samples on a device, and how an epoch divides them into batches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch

__all__ = ["Samples", "batch_bounds"]


@dataclass(frozen=True)
class Samples:
    """Samples on the device of the training.

    Attributes
    ----------
    x : float32 tensor of shape (n_samples, n_features)
    target : tensor of shape (n_samples, ...)
    weight : float32 tensor of shape (n_samples,) or None
    """

    x: torch.Tensor
    target: torch.Tensor
    weight: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: torch.Tensor) -> Samples:
        """Return some of the samples."""
        weight = None if self.weight is None else self.weight[rows]
        return Samples(self.x[rows], self.target[rows], weight)

    def told(self, rows: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return target and weight of the listed samples; None is all."""
        if rows is None:
            return self.target, self.weight
        return self.target[rows], None if self.weight is None else self.weight[rows]

    def to(self, device: torch.device) -> Samples:
        """Return the samples on a device, where those of a row lie side by side.

        What is so already is not copied.
        """
        weight = None if self.weight is None else self.weight.to(device)
        return Samples(self.x.to(device).contiguous(), self.target.to(device), weight)


def batch_bounds(n_samples: int, batch_size: int | None) -> list[tuple[int, int]]:
    """Return where the batches of an epoch begin and end.

    As few as ``batch_size`` allows, and all of a size, or one sample more: no small batch comes
    last, whose gradient would count as much as that of a large one. A sample is never alone, as
    batch normalisation needs two: of an odd number in pairs the last three stay together.

    Examples
    --------
    >>> batch_bounds(10, 4), batch_bounds(5, 2), batch_bounds(3, None)
    ([(0, 4), (4, 7), (7, 10)], [(0, 3), (3, 5)], [(0, 3)])
    """
    size = n_samples if batch_size is None else min(batch_size, n_samples)
    count = -(-n_samples // size)
    if size > 1 and n_samples // count < 2:
        count = max(1, n_samples // 2)
    small, larger = divmod(n_samples, count)
    bounds = [0]
    for number in range(count):
        bounds.append(bounds[-1] + small + (number < larger))
    return list(pairwise(bounds))
