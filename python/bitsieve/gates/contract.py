"""What a training holds gates to, whatever they are."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve._checks import check_int

__all__ = ["FeatureGates", "shape_of_gates"]


class FeatureGates(torch.nn.Module):
    """What multiplies the features: the contract that a training holds gates to.

    Parameters
    ----------
    n_features : int

    Attributes
    ----------
    n_features : int
    threshold : float
        A feature is selected where :meth:`value` is greater.
    learns_closed : bool
        Whether the loss teaches a gate that is 0. Where it does not, a step may leave out the
        features whose gates are 0 in all of its draws.
    """

    threshold: float = 0.5
    learns_closed: bool = False

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.n_features = check_int("n_features", n_features, 1)

    @abstractmethod
    def sample(self, key: int, step: int, n_draws: int, n_rows: int | None = None) -> torch.Tensor:
        """Return the gates of one step, a function of parameters, key and step alone.

        Parameters
        ----------
        key : int
            In [0, 2**64).
        step : int
            In [0, 2**63) in training; what is drawn at prediction counts from
            ``noise.PREDICTION_STEP``.
        n_draws : int
        n_rows : int or None, default None
            Samples that each have gates of their own; None is noise that all samples share.

        Returns
        -------
        float32 tensor in [0, 1], of shape (n_draws, n_features) or (n_draws, n_rows, n_features)
        """

    @abstractmethod
    def value(self) -> torch.Tensor:
        """Return float32 of shape (n_features,): the gates at prediction, before any is closed."""

    @abstractmethod
    def position(self) -> torch.Tensor:
        """Return float32 of shape (n_features,): greater is more open, without ends."""

    def penalty(self, weight: float) -> torch.Tensor | None:
        """Return what is added to the loss, a scalar; None where nothing is."""
        return None

    def slope(self, z: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the derivative by the parameter of drawn gates in (0, 1]."""
        raise NotImplementedError(f"{type(self).__name__} leaves its gradient to autograd")

    def penalty_gradient(self, weight: float) -> tuple[float, torch.Tensor]:
        """Return the penalty, and its gradient by the parameter."""
        raise NotImplementedError(f"{type(self).__name__} leaves its gradient to autograd")

    def learn(self, masks: torch.Tensor, losses: torch.Tensor, n_draws: int) -> None:
        """Do what gradients do not: called after the optimiser's step with the loss of each draw.

        Parameters
        ----------
        masks : tensor of shape (n_draws, n_features)
            What :meth:`sample` gave.
        losses : tensor of shape (n_draws,)
        n_draws : int
        """

    def hold(self) -> None:
        """Bring back what went so far open or closed that nothing would move it any more."""

    def selected(self) -> torch.Tensor:
        """Return which features are selected: bool of shape (n_features,), on the device."""
        with torch.no_grad():
            return self.value() > self.threshold

    def support(self) -> NDArray[np.bool_]:
        """Return :meth:`selected` as an array."""
        selected: NDArray[np.bool_] = self.selected().cpu().numpy()
        return selected

    def at_prediction(self) -> torch.Tensor:
        """Return :meth:`value` with 0 for what is not selected: float32 of shape (n_features,)."""
        value = self.value()
        return torch.where(value > self.threshold, value, torch.zeros_like(value))


def shape_of_gates(n_draws: int, n_rows: int | None, n_features: int) -> tuple[int, ...]:
    """Return the shape of what :meth:`FeatureGates.sample` gives."""
    return (n_draws, n_features) if n_rows is None else (n_draws, n_rows, n_features)
