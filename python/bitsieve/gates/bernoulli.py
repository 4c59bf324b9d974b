"""A Bernoulli distribution over masks, trained by the ranks of their losses (PEFS)."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int, check_number
from bitsieve._random import Random, Stream
from bitsieve.gates.contract import FeatureGates

__all__ = ["BernoulliMasks", "utility"]


class BernoulliMasks(FeatureGates):
    """Masks M from independent Bernoulli variables of parameters theta: PEFS.

    A step draws masks, and theta moves along the natural gradient of the expected utility of their
    ranks less that of a penalty (equation 6):

    theta += rate (mean over the masks of u (M - theta) - eps theta (1 - theta)).

    With two masks the first term has the expectation theta (1 - theta) a, where the *advantage* a
    in [-1, 1] of a variable is how much more often a mask with it wins against one without it than
    it loses. So eps is the advantage below which a variable goes, whatever the scale of the
    losses.

    theta is held in [1/d, 1 - 1/d], d the number of variables and at least 3, so that every mask
    can be drawn. A variable is selected where theta >= 1/2. All is float64.

    Parameters
    ----------
    n_features : int
        Number of variables, d.
    eps : float or array of shape (n_features,), default 0
        Weight of the number of variables in use, here one for each if need be.
    rate : float or None, default None
        Learning rate of theta; None is 1 / n_features.
    prior : float or array of shape (n_features,), or None, default None
        Probability pi of a variable under a prior, in (0, 1); the penalty is then
        -log p(M | pi), and eps has no say.
    n_features_to_select : int or None, default None
        Number of variables to reach; eps then comes on top, and of a prior what tells variables
        apart.
    counted : bool array of shape (n_features,), or None, default None
        Which variables ``n_features_to_select`` counts; None is all.
    start : float or array of shape (n_features,), default 0.5
        theta at the start.

    Attributes
    ----------
    theta : float64 tensor of shape (n_features,)
    eps : float64 tensor of shape (n_features,)
        May be filled anew between steps.

    Notes
    -----
    *Prior.* With independent Bernoulli variables of parameters pi,
    E[-log p(M | pi)] = -sum(theta log(pi) + (1 - theta) log(1 - pi)). Its gradient is
    log((1 - pi) / pi), and the inverse of the Fisher matrix is diag(theta (1 - theta)): the natural
    gradient is theta (1 - theta) log((1 - pi) / pi). So a prior is an eps of log((1 - pi) / pi)
    for each variable; eps in [0, 1], as in the paper, is pi from 1/2 to 0.27.

    *Size.* The penalty (S - m)^2 / 2 of S, the sum of theta, has the natural gradient
    theta (1 - theta) (S - m): an eps of S - m. It is clipped to [-1, 1], where it outweighs any
    advantage, so that theta does not fall faster than the masks can be compared. Where it settles,
    S is off by an advantage, less than one variable. S is counted in the range of theta: a variable
    is 0 at 1/d and 1 at 1 - 1/d. What is neither better nor worse than others wanders between them.
    Beside a size a prior says which variables, not how many: the mean of its eps is taken off, and
    the clip is as much wider as the greatest that is left.

    References
    ----------
    Saito, Shirakawa, Akimoto, "Embedded feature selection using probabilistic model-based
    optimization", GECCO 2018 Companion, equations 5 and 6.

    Examples
    --------
    Masks are worth the more the more of the first two variables they have; the others only cost.

    >>> masks = BernoulliMasks(10, eps=0.2)
    >>> for step in range(1000):
    ...     drawn = masks.sample(7, step, 2)
    ...     masks.learn(drawn, -drawn[:, :2].sum(dim=1), 2)
    >>> masks.support().nonzero()[0].tolist()
    [0, 1]
    """

    theta: torch.Tensor
    eps: torch.Tensor
    _counted: torch.Tensor

    def __init__(
        self,
        n_features: int,
        eps: float | ArrayLike = 0.0,
        rate: float | None = None,
        *,
        prior: float | ArrayLike | None = None,
        n_features_to_select: int | None = None,
        counted: ArrayLike | None = None,
        start: float | ArrayLike = 0.5,
    ) -> None:
        super().__init__(n_features)
        self.rate = 1.0 / n_features if rate is None else check_number("rate", rate, 0.0)
        # In the paper's range one variable or two could not move.
        self._least = 1.0 / max(3, n_features)
        if prior is not None:
            pi = _each("prior", prior, n_features, 0.0, 1.0)
            eps = np.log1p(-pi) - np.log(pi)
        theta = _each("start", start, n_features, 0.0, 1.0)
        self.register_buffer("theta", self._bound(torch.from_numpy(theta)))
        weights = torch.from_numpy(_each("eps", eps, n_features, -math.inf, math.inf))
        self.register_buffer("eps", weights, persistent=False)
        which = np.ones(n_features, bool) if counted is None else np.asarray(counted)
        if which.dtype != bool or which.shape != (n_features,):
            raise ValueError(
                f"counted must be a boolean array of shape ({n_features},), got {which.dtype} of "
                f"shape {which.shape}"
            )
        self.register_buffer("_counted", torch.from_numpy(which.astype(float)), persistent=False)
        self.n_features_to_select = n_features_to_select
        self._reach = 1.0  # the pressure that outweighs any advantage, and what a prior adds to it
        if n_features_to_select is not None:
            check_int("n_features_to_select", n_features_to_select, 0, int(which.sum()))
            if prior is not None:
                self._say_which_alone()

    def sample(self, key: int, step: int, n_draws: int, n_rows: int | None = None) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`; a mask is of all samples."""
        if n_rows is not None:
            raise ValueError(
                "masks are ranked by the losses of all samples, so that a sample has none of its "
                "own: noise must be 'shared'"
            )
        drawn = Random(key, Stream.gates, lane=step).uniform((n_draws, self.n_features))
        return (torch.from_numpy(drawn).to(self.theta.device) < self.theta).float()

    def learn(self, masks: torch.Tensor, losses: torch.Tensor, n_draws: int) -> None:
        """Move theta by equation 6; one mask has nothing to be ranked with."""
        with torch.no_grad():
            weight = utility(losses.detach()) / n_draws
            natural = weight @ masks.double()  # utilities sum to 0: so do theirs of theta
            variance = torch.addcmul(self.theta, self.theta, self.theta, value=-1.0)
            natural.addcmul_(self.pressure(), variance, value=-1.0)
            self._bound(self.theta.add_(natural, alpha=self.rate))

    def pressure(self) -> torch.Tensor:
        """Return the eps of the next step, float64 of shape (n_features,)."""
        if self.n_features_to_select is None:
            return self.eps
        span = 1.0 - 2.0 * self._least
        size = self._counted @ ((self.theta - self._least) / span)
        surplus = (size - self.n_features_to_select).clamp(-1.0, 1.0)
        return self.eps + self._reach * surplus * self._counted

    def _say_which_alone(self) -> None:
        """Take off of a prior how many variables there are: the size says so."""
        which = self._counted > 0
        if which.any():
            self.eps[which] -= self.eps[which].mean()
            self._reach += float(self.eps[which].abs().max())

    def _bound(self, theta: torch.Tensor) -> torch.Tensor:
        return theta.clamp_(self._least, 1.0 - self._least)

    def value(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`: 1 where theta >= 1/2, else 0."""
        return (self.theta >= 0.5).float()

    def position(self) -> torch.Tensor:
        """See :class:`~bitsieve.gates.contract.FeatureGates`: theta."""
        return self.theta.float()

    def open_probability(self) -> torch.Tensor:
        """Return theta, as float32 of shape (n_features,)."""
        return self.theta.float()


def utility(losses: torch.Tensor) -> torch.Tensor:
    """Return the utility of each loss by its rank (equation 5): float64 of shape (n_draws,).

    The best quarter, rounded up, has 1, the worst -1, the others 0. Equal losses share the mean of
    their ranks' utilities, as in information-geometric optimization (Ollivier, Arnold, Auger,
    Hansen 2017), so that the order of the masks does not matter: two masks of the same loss teach
    nothing. A single loss is both the best and the worst, and has 0. NaN ranks with infinity.

    Examples
    --------
    >>> utility(torch.tensor([0.3, 0.1, 0.2])).tolist()
    [-1.0, 1.0, 0.0]
    >>> utility(torch.tensor([0.1, 0.1, 0.2])).tolist()
    [0.5, 0.5, -1.0]
    >>> utility(torch.tensor([0.1, 0.1])).tolist(), utility(torch.tensor([0.1])).tolist()
    ([0.0, 0.0], [0.0])
    """
    n = len(losses)
    share = math.ceil(n / 4)
    loss = torch.nan_to_num(losses, nan=math.inf, posinf=math.inf, neginf=-math.inf)
    # Ranks [first, last) are those of a loss and its equals; the utilities of the k best ranks sum
    # to min(k, share) - max(0, k - (n - share)). No sort, and no word with the host.
    first = (loss < loss[:, None]).sum(dim=1)
    last = (loss <= loss[:, None]).sum(dim=1)

    def of_best(k: torch.Tensor) -> torch.Tensor:
        return k.clamp(max=share) - (k - (n - share)).clamp(min=0)

    return (of_best(last) - of_best(first)).double() / (last - first)


def _each(name: str, value: object, n: int, low: float, high: float) -> NDArray[np.float64]:
    """Numbers of an open interval, one for each variable."""
    if isinstance(value, (int, float, str)) or value is None:
        return np.full(n, check_number(name, value, low, high, instead=f"or {n} of them"))
    array = np.array(value, dtype=np.float64)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a number or {n} of them, got shape {array.shape}")
    outside = ~((array > low) & (array < high))
    if outside.any():
        check_number(name, float(array.ravel()[np.argmax(outside)]), low, high)
    return np.array(np.broadcast_to(array, (n,)))
