"""Stochastic gates: a random number in [0, 1] for each feature, and how the network learns it."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bitsieve._random import Random, Stream

__all__ = ["GATES", "FeatureGates", "GaussianGates", "HardConcreteGates", "L1Gates", "OpenGates"]

_SQRT_HALF = math.sqrt(0.5)


class FeatureGates(torch.nn.Module):
    """What multiplies the features: the contract that a training holds gates to.

    Parameters
    ----------
    n_features : int

    Attributes
    ----------
    n_features : int
    """

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.n_features = n_features

    @abstractmethod
    def sample(self, key: int, step: int, n_draws: int) -> torch.Tensor:
        """Return float32 of shape (n_draws, n_features) in [0, 1]: the gates of one step.

        They are a function of the parameters, the key and the step's number alone.
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

    def learn(self, masks: torch.Tensor, losses: torch.Tensor, n_draws: int) -> None:
        """Learn from the loss of each draw, where gradients do not do it."""

    def support(self) -> NDArray[np.bool_]:
        """Return which features are selected: bool of shape (n_features,)."""
        with torch.no_grad():
            selected: NDArray[np.bool_] = (self.value() > 0.5).cpu().numpy()
        return selected


class OpenGates(FeatureGates):
    """No gate: every feature, always."""

    def __init__(self, n_features: int, sigma: float = 0.5) -> None:
        super().__init__(n_features)
        self.register_buffer("_open", torch.ones(n_features), persistent=False)

    def sample(self, key: int, step: int, n_draws: int) -> torch.Tensor:
        """See :class:`FeatureGates`."""
        return self._buffers["_open"].expand(n_draws, -1)  # type: ignore[union-attr]

    def value(self) -> torch.Tensor:
        """See :class:`FeatureGates`."""
        return self._buffers["_open"]  # type: ignore[return-value]

    def position(self) -> torch.Tensor:
        """See :class:`FeatureGates`."""
        return self.value()


class GaussianGates(FeatureGates):
    """Gaussian gates z = clip(mu + 0.5 + sigma eps, 0, 1), as of STG (Yamada et al. 2020).

    Parameters
    ----------
    n_features : int
    sigma : float, default 0.5
        Standard deviation of the noise.
    """

    def __init__(self, n_features: int, sigma: float = 0.5) -> None:
        super().__init__(n_features)
        self.sigma = sigma
        self.mu = torch.nn.Parameter(torch.zeros(n_features))

    def sample(self, key: int, step: int, n_draws: int) -> torch.Tensor:
        """See :class:`FeatureGates`."""
        noise = Random(key, Stream.gates, lane=step).normal((n_draws, self.n_features))
        eps = torch.from_numpy(noise.astype(np.float32)).to(self.mu.device)
        return (self.mu + 0.5 + self.sigma * eps).clamp(0.0, 1.0)

    def value(self) -> torch.Tensor:
        """See :class:`FeatureGates`."""
        return (self.mu + 0.5).clamp(0.0, 1.0)

    def position(self) -> torch.Tensor:
        """See :class:`FeatureGates`."""
        return self.mu + 0.5

    def open_probability(self) -> torch.Tensor:
        """Return P(z > 0) = Phi((mu + 0.5) / sigma), float32 of shape (n_features,)."""
        return 0.5 * torch.erfc(-(self.mu + 0.5) / self.sigma * _SQRT_HALF)

    def mean(self) -> torch.Tensor:
        """Return E[z] in closed form, float32 of shape (n_features,)."""
        raise NotImplementedError

    def penalty(self, weight: float) -> torch.Tensor | None:
        """Return weight times the expected number of open gates."""
        return weight * self.open_probability().sum()


class HardConcreteGates(FeatureGates):
    """Hard-concrete gates (Louizos, Welling, Kingma 2018)."""

    def __init__(self, n_features: int, sigma: float = 0.5) -> None:
        super().__init__(n_features)
        raise NotImplementedError


class L1Gates(FeatureGates):
    """Deterministic gates clip(w, 0, 1) with the L1 penalty: a control without noise."""

    def __init__(self, n_features: int, sigma: float = 0.5) -> None:
        super().__init__(n_features)
        raise NotImplementedError


GATES: dict[str, Any] = {
    "gaussian": GaussianGates,
    "hard_concrete": HardConcreteGates,
    "l1": L1Gates,
    "none": OpenGates,
}
