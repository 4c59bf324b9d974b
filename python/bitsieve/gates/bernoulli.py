"""A Bernoulli distribution over masks, trained by the ranks of their losses (PEFS)."""

from __future__ import annotations

import math

import numpy as np
import torch

from bitsieve._random import Random, Stream
from bitsieve.gates.gate import FeatureGates

__all__ = ["BernoulliMasks"]


class BernoulliMasks(FeatureGates):
    """Masks from independent Bernoulli variables with parameters theta.

    Saito, Shirakawa, Akimoto 2018, equations 5 and 6: the best quarter of the masks of a step has
    utility 1, the worst -1, and theta moves by ``rate`` times the mean of utility times
    (mask - theta), less ``eps theta (1 - theta)``.

    Parameters
    ----------
    n_features : int
    eps : float, default 0
        Weight of the number of features.
    rate : float or None, default None
        Learning rate of theta; None is 1 / n_features.
    """

    theta: torch.Tensor

    def __init__(self, n_features: int, eps: float = 0.0, rate: float | None = None) -> None:
        super().__init__(n_features)
        self.eps = eps
        self.rate = 1.0 / n_features if rate is None else rate
        self.register_buffer("theta", torch.full((n_features,), 0.5, dtype=torch.float64))

    def sample(self, key: int, step: int, n_draws: int) -> torch.Tensor:
        """See :class:`~bitsieve.gates.gate.FeatureGates`."""
        drawn = Random(key, Stream.gates, lane=step).uniform((n_draws, self.n_features))
        return (torch.from_numpy(drawn).to(self.theta.device) < self.theta).float()

    def learn(self, masks: torch.Tensor, losses: torch.Tensor, n_draws: int) -> None:
        """Move theta by equation 6."""
        order = np.argsort(losses.detach().cpu().numpy(), kind="stable")
        share = math.ceil(n_draws / 4)
        utility = np.zeros(n_draws)
        utility[order[:share]] += 1.0
        utility[order[-share:]] -= 1.0
        u = torch.from_numpy(utility / n_draws).to(self.theta.device)
        natural = u @ (masks.double() - self.theta) - self.eps * self.theta * (1.0 - self.theta)
        least = 1.0 / self.n_features
        self.theta.add_(self.rate * natural).clamp_(least, 1.0 - least)

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.gate.FeatureGates`."""
        return (self.theta >= 0.5).float()

    def position(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.gate.FeatureGates`."""
        return self.theta.float()
