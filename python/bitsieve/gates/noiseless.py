"""Gates without noise: that learn, that are all open, that stay as they are."""

from __future__ import annotations

import torch

from bitsieve.gates.contract import FeatureGates, shape_of_gates

__all__ = ["FixedGates", "L1Gates", "OpenGates"]


class L1Gates(FeatureGates):
    """Gates without noise, w in [0, 1] with the penalty |w|: the control of stochastic gates.

    The loss teaches a closed gate too: w is put back into [0, 1] after each step (projected
    gradient), so that a gate is exactly 0 where opening it would save less than the penalty
    costs, and opens again where it saves more. A feature is selected where w > 0. As in every such
    model the network can make up for a small gate with large weights; its weight decay is what
    holds against it.

    Parameters
    ----------
    n_features : int
    sigma : float, default 0.5
        Unused.

    Attributes
    ----------
    w : float32 parameter of shape (n_features,)
        It starts at 1/2.

    Examples
    --------
    >>> gates = L1Gates(2)
    >>> gates.penalty(3.0).item()
    3.0
    """

    threshold = 0.0
    learns_closed = True

    def __init__(self, n_features: int, sigma: float = 0.5) -> None:
        super().__init__(n_features)
        self.w = torch.nn.Parameter(torch.full((n_features,), 0.5))

    def sample(self, key: int, step: int, n_draws: int, n_rows: int | None = None) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self.value().expand(shape_of_gates(n_draws, n_rows, self.n_features))

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self.w.clamp(0.0, 1.0)

    def position(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`; here it has ends."""
        return self.w * 1.0

    def penalty(self, weight: float) -> torch.Tensor | None:
        """Return weight times the sum of the gates."""
        return weight * self.w.sum()

    def learn(self, masks: torch.Tensor, losses: torch.Tensor, n_draws: int) -> None:
        """Put w back into [0, 1]."""
        with torch.no_grad():
            self.w.clamp_(0.0, 1.0)


class OpenGates(FeatureGates):
    """No gate: every feature, always.

    Parameters
    ----------
    n_features : int
    sigma : float, default 0.5
        Unused.

    Examples
    --------
    >>> OpenGates(3).sample(7, 0, 2).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """

    _open: torch.Tensor

    def __init__(self, n_features: int, sigma: float = 0.5) -> None:
        super().__init__(n_features)
        self.register_buffer("_open", torch.ones(n_features), persistent=False)

    def sample(self, key: int, step: int, n_draws: int, n_rows: int | None = None) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self._open.expand(shape_of_gates(n_draws, n_rows, self.n_features))

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self._open

    def position(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self._open


class FixedGates(FeatureGates):
    """Gates that stay as they are.

    Parameters
    ----------
    values : float32 tensor of shape (n_features,)
        A feature is selected where it is greater than 0.

    Examples
    --------
    >>> FixedGates(torch.tensor([0.0, 0.7])).support().tolist()
    [False, True]
    """

    threshold = 0.0
    values: torch.Tensor

    def __init__(self, values: torch.Tensor) -> None:
        super().__init__(len(values))
        self.register_buffer("values", values)

    def sample(self, key: int, step: int, n_draws: int, n_rows: int | None = None) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self.values.expand(shape_of_gates(n_draws, n_rows, self.n_features))

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self.values

    def position(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`."""
        return self.values
