"""Losses of a batch, one number for each draw of the gates."""

from __future__ import annotations

from abc import abstractmethod

import torch

__all__ = ["CrossEntropy", "Loss", "SquaredError"]


class Loss:
    """What is minimised.

    Attributes
    ----------
    n_outputs : int
        Numbers that the network gives for a sample.
    """

    n_outputs: int

    @abstractmethod
    def of_draws(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the loss of each draw.

        Parameters
        ----------
        outputs : float32 tensor of shape (n_draws, n_samples, n_outputs)
        target : tensor of shape (n_samples, ...)
        weight : float32 tensor of shape (n_samples,) or None

        Returns
        -------
        tensor of shape (n_draws,)
            Means over the samples, weighted where there are weights.
        """


class CrossEntropy(Loss):
    """Softmax cross-entropy; the target is int64 codes of classes."""

    def __init__(self, n_classes: int) -> None:
        self.n_outputs = n_classes

    def of_draws(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """See :class:`Loss`."""
        log = torch.log_softmax(outputs, dim=-1)
        each = -log.gather(-1, target.expand(outputs.shape[:-1])[..., None])[..., 0]
        return _mean(each, weight)


class SquaredError(Loss):
    """Squared error; the target is float32."""

    n_outputs = 1

    def of_draws(
        self, outputs: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """See :class:`Loss`."""
        return _mean((outputs[..., 0] - target).square(), weight)


def _mean(each: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
    if weight is None:
        return each.mean(dim=-1)
    return (each * weight).sum(dim=-1) / weight.sum()
