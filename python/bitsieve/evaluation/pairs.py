"""The interval of Bates, Hastie and Tibshirani: how far a cross-validated error is from the truth.

Inside every outer training part a cross-validation over the other folds is compared with the test
part, which tells the mean squared error of a cross-validation without a formula. The rule that
leaves out fold f and fold j serves both, so that a round of K folds needs K (K - 1) / 2 fits more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bitsieve.evaluation.folds import Folds
from bitsieve.evaluation.interval import Interval

__all__ = ["PairSplit", "nested_interval", "pairs_of", "sample_losses"]

Losses = NDArray[np.float64]


class PairSplit(NamedTuple):
    """A split that leaves out two folds of a round.

    Attributes
    ----------
    first, second : int
        Numbers of the two folds.
    train, test : int64 arrays
        Positions of samples; the test part holds those of the first fold, then of the second.
    """

    first: int
    second: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]


def pairs_of(folds: Folds, rounds: NDArray[np.int64]) -> list[PairSplit]:
    """Return the splits that leave out two folds each, round by round.

    Parameters
    ----------
    folds : list of (train, test)
    rounds : int64 array of shape (n_folds,)
        As :func:`bitsieve.evaluation.folds.rounds_of` gives them.

    Examples
    --------
    >>> one = [np.array([0, 3]), np.array([1]), np.array([2])]
    >>> folds = [(np.setdiff1d(np.arange(4), test), test) for test in one]
    >>> [(p.first, p.second, p.train.tolist()) for p in pairs_of(folds, np.zeros(3, np.int64))]
    [(0, 1, [2]), (0, 2, [1]), (1, 2, [0, 3])]
    """
    found = []
    for one in range(int(rounds.max()) + 1):
        inside = np.flatnonzero(rounds == one)
        for place, first in enumerate(inside):
            for second in inside[place + 1 :]:
                tests = folds[first][1], folds[second][1]
                train = np.setdiff1d(folds[first][0], tests[1])
                found.append(PairSplit(int(first), int(second), train, np.concatenate(tests)))
    return found


def sample_losses(
    truth: NDArray[np.generic], predicted: NDArray[np.generic], weights: Mapping[object, float]
) -> Losses:
    """Return the loss of each sample: the weight of its class where it is predicted wrongly.

    Examples
    --------
    >>> sample_losses(np.array([0, 1, 1]), np.array([0, 0, 1]), {0: 0.5, 1: 2.0}).tolist()
    [0.0, 2.0, 0.0]
    """
    weight = np.array([weights[one] for one in truth.tolist()], dtype=np.float64)
    return np.where(np.asarray(truth == predicted), 0.0, weight)


def nested_interval(
    outer: Sequence[Losses],
    inner: Mapping[tuple[int, int], Losses],
    rounds: NDArray[np.int64],
    *,
    level: float = 0.95,
) -> tuple[float, Interval]:
    """Estimate the expected loss and its interval by nested cross-validation.

    Parameters
    ----------
    outer : sequence of n_folds float64 arrays
        Losses of the samples of each fold, of the rule that leaves out this fold.
    inner : mapping of (int, int) to float64 array
        At (f, j) the losses of the samples of fold j, of the rule that leaves out the folds f and
        j of a round.
    rounds : int64 array of shape (n_folds,)
        The round of each fold; all of them have K folds.
    level : float, default 0.95

    Returns
    -------
    estimate : float
        Corrected for the bias of the inner rules, which train on K - 2 of K parts.
    interval : Interval
        The estimate and z times its standard error, whose inflation over that of independent
        losses is estimated and kept between 1 and the root of K.

    References
    ----------
    S. Bates, T. Hastie, R. Tibshirani (2024), Cross-validation: what does it estimate and how well
    does it do it?, Journal of the American Statistical Association 119, 1434-1445, algorithm 1 and
    section 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> outer = [rng.integers(0, 2, 10).astype(float) for _ in range(3)]
    >>> inner = {(f, j): rng.integers(0, 2, 10).astype(float)
    ...          for f in range(3) for j in range(3) if f != j}
    >>> estimate, (low, high) = nested_interval(outer, inner, np.zeros(3, np.int64))
    >>> low < estimate < high
    True
    """
    apart: list[float] = []
    noise: list[float] = []
    losses: list[Losses] = []
    for f, own in enumerate(outer):
        others = [inner[f, int(j)] for j in np.flatnonzero(rounds == rounds[f]) if j != f]
        inside = np.concatenate(others)
        apart.append(float(inside.mean() - own.mean()) ** 2)
        noise.append(float(np.var(own, ddof=1)) / len(own) if len(own) > 1 else 0.0)
        losses.append(inside)
    every = np.concatenate(losses)
    k = int(np.sum(rounds == 0))
    n = sum(len(own) for own in outer) / (int(rounds.max()) + 1)
    alone = float(np.std(every, ddof=1)) / math.sqrt(math.floor(n * (k - 1) / k))
    squared = max(0.0, float(np.mean(apart)) - float(np.mean(noise)))
    inflation = 1.0
    if alone > 0.0:
        inflation = max(1.0, min(math.sqrt(squared) / alone, math.sqrt(k)))
    cross_validated = float(np.concatenate(outer).mean())
    shift = 1.0 + ((k - 2) / k) ** 1.5
    estimate = float(every.mean()) - shift * (float(every.mean()) - cross_validated)
    z = float(special.ndtri(0.5 + level / 2.0))
    half = z * float(np.std(every, ddof=1)) / math.sqrt(n) * inflation
    return estimate, Interval(estimate - half, estimate + half)
