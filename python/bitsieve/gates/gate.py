"""Stochastic gates: a random number in [0, 1] for each feature, and how the network learns it.

=================  =============================  ====================  ====================
gate               sample                         value                 selected
=================  =============================  ====================  ====================
``gaussian``       clip(mu + 1/2 + sigma eps)     clip(mu + 1/2)        value > 1/2: mu > 0
``hard_concrete``  clip of a stretched concrete   clip of its mode's    value > 1/2:
                   variable                       stretched sigmoid     log alpha > 0
``l1``             its value                      w in [0, 1]           value > 0
``none``           1                              1                     always
=================  =============================  ====================  ====================

All start at 1/2 but the last. The last two, without noise, are of ``noiseless.py``. A mask of PEFS
is a gate too: ``bernoulli.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import hardtanh

from bitsieve import _core
from bitsieve._checks import check_number
from bitsieve.gates.contract import FeatureGates, shape_of_gates
from bitsieve.gates.noise import noise, quantiles
from bitsieve.gates.noiseless import L1Gates, OpenGates

__all__ = ["GATES", "GaussianGates", "HardConcreteGates"]


class GaussianGates(FeatureGates):
    """Gaussian gates z = clip(mu + 1/2 + sigma eps, 0, 1) with eps ~ N(0, 1): STG.

    The penalty is the expected number of open gates, the sum of P(z > 0) = Phi((mu + 1/2) / sigma).
    A feature is selected where mu > 0.

    Parameters
    ----------
    n_features : int
    sigma : float, default 0.5
        Standard deviation of the noise.

    Attributes
    ----------
    mu : float32 parameter of shape (n_features,)
        It starts at 0.

    References
    ----------
    Yamada, Lindenbaum, Negahban, Kluger, "Feature selection using stochastic gates", ICML 2020,
    algorithm 1.

    Examples
    --------
    >>> gates = GaussianGates(3)
    >>> with torch.no_grad():
    ...     _ = gates.mu.copy_(torch.tensor([-1.0, 0.0, 1.0]))
    >>> gates.open_probability().tolist()
    [0.158655..., 0.841344..., 0.998650...]
    >>> gates.mean().tolist()  # E[z]
    [0.041466..., 0.5, 0.958533...]
    >>> drawn = gates.sample(7, 0, 100_000)
    >>> bool((drawn.mean(dim=0) - gates.mean()).abs().max() < 0.01)
    True
    """

    def __init__(self, n_features: int, sigma: float = 0.5) -> None:
        super().__init__(n_features)
        self.sigma = check_number("sigma", sigma, 0.0)
        self.mu = torch.nn.Parameter(torch.zeros(n_features))

    def sample(self, key: int, step: int, n_draws: int, n_rows: int | None = None) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        shape = shape_of_gates(n_draws, n_rows, self.n_features)
        mu = self.mu
        if mu.is_cpu and mu.dtype == torch.float32 and not torch.is_grad_enabled():
            # The same bits, in one call.
            n_draws *= n_rows or 1
            table, at = quantiles("normal"), mu.detach().numpy()
            z = torch.from_numpy(_core.normal_gates(key, step, table, at, self.sigma, n_draws))
            return z if n_rows is None else z.view(shape)
        eps = noise("normal", key, step, shape, mu.device)
        # Not clamp: its gradient at 0 itself is 1, and a closed gate must have none.
        return hardtanh((mu + 0.5) + eps.mul_(self.sigma), 0.0, 1.0)

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self.position().clamp(0.0, 1.0)

    def position(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`: mu + 1/2."""
        return self.mu + 0.5

    def hold(self) -> None:
        """Hold P(z > 0) at 1/40 at the least, and P(z < 1) at a half."""
        with torch.no_grad():
            self.mu.clamp_(-0.5 - 2.0 * self.sigma, 0.5)

    def open_probability(self) -> torch.Tensor:
        """Return P(z > 0) = Phi((mu + 1/2) / sigma), float32 of shape (n_features,)."""
        return _normal_cdf(self.position() / self.sigma)

    def mean(self) -> torch.Tensor:
        """Return E[z], float32 of shape (n_features,).

        With m = mu + 1/2, a = -m / sigma, b = (1 - m) / sigma, it is the integral of P(z > t) over
        t in [0, 1]: m (Phi(b) - Phi(a)) + sigma (phi(a) - phi(b)) + 1 - Phi(b). Its derivative by
        mu is P(0 < z < 1) = Phi(b) - Phi(a).
        """
        m = self.position().double()
        a, b = -m / self.sigma, (1.0 - m) / self.sigma
        inside = _normal_cdf(b) - _normal_cdf(a)
        mean = m * inside + self.sigma * (_normal_density(a) - _normal_density(b))
        return (mean + _normal_cdf(-b)).clamp(0.0, 1.0).to(self.mu.dtype)

    def penalty(self, weight: float) -> torch.Tensor | None:
        """Return weight times the expected number of open gates."""
        return weight * self.open_probability().sum()

    def slope(self, z: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the derivative by mu of drawn gates that are open; 0 where full."""
        return (z < 1.0).astype(np.float32)

    def penalty_gradient(self, weight: float) -> tuple[float, torch.Tensor]:
        """Return the penalty and its gradient by mu."""
        penalty, gradient = _core.normal_penalty(self.mu.detach().numpy(), self.sigma, weight)
        return penalty, torch.from_numpy(gradient)


class HardConcreteGates(FeatureGates):
    """Hard-concrete gates: a concrete variable, stretched beyond [0, 1] and clipped.

    With u uniform, s = sigmoid((log u - log(1 - u) + log alpha) / beta) and
    z = clip(s (zeta - gamma) + gamma, 0, 1) (equations 10 and 11); beta = 2/3, gamma = -0.1 and
    zeta = 1.1. The penalty is the sum of P(z > 0) = sigmoid(log alpha - beta log(-gamma / zeta))
    (equation 12), the gate at prediction clip(sigmoid(log alpha) (zeta - gamma) + gamma, 0, 1)
    (equation 13).

    A feature is selected where that exceeds 1/2, as with Gaussian gates, so that both are told
    apart by their noise alone: P(z > 0) is 0.83 there, and 0.84 with Gaussian gates of sigma = 1/2.
    (Its authors keep what is greater than 0: log alpha > -2.4.)

    Parameters
    ----------
    n_features : int
    sigma : float, default 0.5
        Unused.

    Attributes
    ----------
    log_alpha : float32 parameter of shape (n_features,)
        It starts at 0.

    References
    ----------
    Louizos, Welling, Kingma, "Learning sparse neural networks through L0 regularization", ICLR
    2018.

    Examples
    --------
    >>> gates = HardConcreteGates(3)
    >>> with torch.no_grad():
    ...     _ = gates.log_alpha.copy_(torch.tensor([-3.0, 0.0, 3.0]))
    >>> gates.value().tolist(), gates.support().tolist()
    ([0.0, 0.5, 1.0], [False, False, True])
    >>> gates.open_probability().tolist()
    [0.197593..., 0.831822..., 0.990034...]
    >>> drawn = gates.sample(7, 0, 100_000)
    >>> bool(((drawn > 0).float().mean(dim=0) - gates.open_probability()).abs().max() < 0.01)
    True
    """

    beta = 2.0 / 3.0
    gamma = -0.1
    zeta = 1.1

    def __init__(self, n_features: int, sigma: float = 0.5) -> None:
        super().__init__(n_features)
        self.log_alpha = torch.nn.Parameter(torch.zeros(n_features))

    def sample(self, key: int, step: int, n_draws: int, n_rows: int | None = None) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        shape = shape_of_gates(n_draws, n_rows, self.n_features)
        logit_u = noise("logistic", key, step, shape, self.log_alpha.device)
        s = torch.sigmoid((logit_u + self.log_alpha) / self.beta)
        return hardtanh(s * (self.zeta - self.gamma) + self.gamma, 0.0, 1.0)

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        # Centred, so that log alpha = 0 is 1/2 in every bit.
        stretched = (torch.sigmoid(self.log_alpha) - 0.5) * (self.zeta - self.gamma) + 0.5
        return stretched.clamp(0.0, 1.0)

    def position(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`: log alpha."""
        return self.log_alpha * 1.0

    def hold(self) -> None:
        """Hold P(z > 0) in [0.03, 0.97]."""
        with torch.no_grad():
            self.log_alpha.clamp_(-5.0, 2.0)

    def open_probability(self) -> torch.Tensor:
        """Return P(z > 0), float32 of shape (n_features,)."""
        return torch.sigmoid(self.log_alpha - self.beta * math.log(-self.gamma / self.zeta))

    def penalty(self, weight: float) -> torch.Tensor | None:
        """Return weight times the expected number of open gates."""
        return weight * self.open_probability().sum()

    def slope(self, z: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the derivative by log alpha of drawn gates that are open; 0 where full."""
        width = self.zeta - self.gamma
        s = (z - self.gamma) / width
        found: NDArray[np.float32] = s * (1.0 - s) * (z < 1.0) * np.float32(width / self.beta)
        return found

    def penalty_gradient(self, weight: float) -> tuple[float, torch.Tensor]:
        """Return the penalty and its gradient by log alpha."""
        is_open = self.open_probability()
        return weight * float(is_open.sum()), is_open * (1.0 - is_open) * weight


#: By name, as estimators take them.
GATES: dict[str, Any] = {
    "gaussian": GaussianGates,
    "hard_concrete": HardConcreteGates,
    "l1": L1Gates,
    "none": OpenGates,
}


def _normal_cdf(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * torch.erfc(-x * math.sqrt(0.5))


def _normal_density(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(-0.5 * x.square()) / math.sqrt(2.0 * math.pi)
