"""How long a stochastic local search takes on average: its walk as a Markov chain over all masks.

A state is a number whose bit j is feature j. A step flips one feature at most or restarts, so that
of the 2**p x 2**p probabilities only p a state are written down; the restart, which leads from
every state to the same ones with the same probabilities, is a term of rank one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.masks import Masks
from bitsieve.search.local import StochasticLocalMaskSearch
from bitsieve.search.local_starts import WalkStart
from bitsieve.search.starts import vector

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["MarkovAnalysis", "all_masks", "markov_analysis"]

_MOST_FEATURES = 14
_TOLERANCE = 1e-12
_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class MarkovAnalysis:
    """Expected numbers of steps until a walk is at the optimum for the first time.

    Attributes
    ----------
    expected : float
        From where the walk starts, the score of the start not counted as a step. Infinite where
        it may never get there.
    hitting_times : float64 array of shape (2**p,)
        From each state, bit j of whose number is feature j; 0 for the optima.
    optima : int64 array
        States of the highest score.
    residual : float
        How far the hitting times are from those that a step more gives, relative to the largest.
    n_iterations : int
        Of the solver.
    """

    expected: float
    hitting_times: NDArray[np.float64]
    optima: NDArray[np.int64]
    residual: float
    n_iterations: int


def all_masks(n_features: int) -> Masks:
    """Return all 2**p masks, in the order of the states of a chain.

    Parameters
    ----------
    n_features : int
        p.

    Returns
    -------
    Masks
        Bit j of the number of a mask is feature j.

    Examples
    --------
    >>> all_masks(2).to_bool().astype(int).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    return Masks.from_words(np.arange(1 << n_features, dtype=np.uint64)[:, None], n_features)


def markov_analysis(search: StochasticLocalMaskSearch, scores: ArrayLike) -> MarkovAnalysis:
    """Expected hitting times of the optimum, for a search whose probabilities do not adapt.

    Parameters
    ----------
    search : StochasticLocalMaskSearch
        At most 14 features. Its parameters count, not where it is.
    scores : array-like of float, shape (2**p,)
        Of every mask, in the order of :func:`all_masks`.

    Returns
    -------
    MarkovAnalysis

    Raises
    ------
    ValueError
        If the probabilities adapt, there are too many features, or scores are not one finite
        number a mask.

    Notes
    -----
    With A the flips, rho the masks of a restart and h the hitting times of the states that are no
    optima, h = 1 + P_r (rho h) + A h. One solution u of (I - A) u = 1 is enough: h is u times
    1 / (1 - P_r (rho u)). It is found by BiCGSTAB with an incomplete factorization, and repeated
    on what is left over until the residual is that of rounding. The error is then about a rounding
    for every step: times of 1e12 steps are right to a few digits.

    References
    ----------
    .. [1] O. J. Mengshoel, Y. Ahres, T. Yu (2016), Markov chain analysis of noise and restart in
       stochastic local search, IJCAI, 639-646.

    Examples
    --------
    >>> from bitsieve.search import StochasticLocalMaskSearch
    >>> search = StochasticLocalMaskSearch(2, p_noise=1.0, start="zeros")
    >>> found = markov_analysis(search, [0.0, 0.0, 0.0, 1.0])
    >>> round(found.expected, 9)  # to the far corner of a square
    4.0
    """
    p = search.n_features
    if p > _MOST_FEATURES:
        raise ValueError(f"markov_analysis takes at most {_MOST_FEATURES} features, got {p}")
    if not search.is_homogeneous:
        raise ValueError(
            "markov_analysis needs probabilities that stay what they are: set adapt_restart and "
            "adapt_noise to 0"
        )
    values = vector("scores", scores, 1 << p)
    optima = np.flatnonzero(values == values.max())
    is_open = np.ones(len(values), dtype=bool)
    is_open[optima] = False
    start, restart = (_distribution(given, p) for given in search.starts)
    if search.p_restart == 0.0:
        restart = np.zeros(len(values))
    flips = (1.0 - search.p_restart) * _flip_probabilities(search, values)
    stays = 1.0 - search.p_restart - flips.sum(axis=1)  # strict: where no neighbor is better
    np.maximum(stays, 0.0, out=stays)
    if search.greedy == "soft":
        stays[:] = 0.0
    times = np.zeros(len(values))
    is_endless = _endless(flips, restart, is_open)
    times[is_endless] = np.inf
    rows = np.flatnonzero(is_open & ~is_endless)
    residual, n_iterations = 0.0, 0
    if len(rows):
        matrix = _matrix(flips, stays, rows)
        u, residual, n_iterations = _solved(matrix)
        visits = search.p_restart * float(restart[rows] @ u)
        times[rows] = u / (1.0 - visits)
    expected = float(times[start > 0] @ start[start > 0])
    return MarkovAnalysis(expected, times, optima, residual, n_iterations)


def _distribution(start: WalkStart, p: int) -> NDArray[np.float64]:
    """Return how likely a start is each state."""
    if start is None:
        return np.full(1 << p, 0.5**p)
    found = np.zeros(1 << p)
    found[int(start[0])] = 1.0
    return found


def _flip_probabilities(
    search: StochasticLocalMaskSearch, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how likely each feature is flipped where there is no restart, (2**p, p)."""
    p, n = search.n_features, search.n_neighbors
    states = np.arange(len(values))
    near = values[states[:, None] ^ (1 << np.arange(p))]
    better = (near[:, None, :] > near[:, :, None]).sum(axis=2)
    alike = (near[:, None, :] == near[:, :, None]).sum(axis=2)
    # How likely none of k neighbors is among those drawn.
    none_of = np.array([math.comb(p - k, n) / math.comb(p, n) for k in range(p + 1)])
    greedy = (none_of[better] - none_of[better + alike]) / alike
    if search.greedy == "strict":
        greedy[near <= values[:, None]] = 0.0
    found: NDArray[np.float64] = search.p_noise / p + (1.0 - search.p_noise) * greedy
    return found


def _endless(
    flips: NDArray[np.float64], restart: NDArray[np.float64], is_open: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return from which states the optimum is not sure to be reached."""
    near = np.arange(len(is_open))[:, None] ^ (1 << np.arange(flips.shape[1]))
    leads = flips > 0.0

    def that_reach(goal: NDArray[np.bool_]) -> NDArray[np.bool_]:
        reached = goal.copy()
        while True:
            new = is_open & ~reached & (leads & reached[near]).any(axis=1)
            if (restart * reached).any():
                new |= is_open & ~reached
            if not new.any():
                return reached
            reached |= new

    lost = ~that_reach(~is_open)
    return that_reach(lost)


def _matrix(
    flips: NDArray[np.float64], stays: NDArray[np.float64], rows: NDArray[np.intp]
) -> csr_array:
    """Return I - A over some states."""
    from scipy.sparse import csr_array

    place = np.full(len(flips), -1)
    place[rows] = np.arange(len(rows))
    near = place[rows[:, None] ^ (1 << np.arange(flips.shape[1]))]
    at, feature = np.nonzero((near >= 0) & (flips[rows] > 0.0))
    diagonal = np.arange(len(rows))
    return csr_array(
        (
            np.concatenate([1.0 - stays[rows], -flips[rows[at], feature]]),
            (np.concatenate([diagonal, at]), np.concatenate([diagonal, near[at, feature]])),
        ),
        shape=(len(rows), len(rows)),
    )


def _solved(matrix: csr_array) -> tuple[NDArray[np.float64], float, int]:
    """Solve for ones: the solution, its residual, and the iterations that it took."""
    from scipy.sparse.linalg import LinearOperator, bicgstab, spilu

    # Rows are divided by their diagonals, lest a small one be dropped: states that few steps leave.
    ones = np.ones(matrix.shape[0])
    scale = 1.0 / matrix.diagonal()
    scaled = matrix.multiply(scale[:, None]).tocsr()
    factor = spilu(scaled.tocsc(), drop_tol=0.1, fill_factor=1.5)
    preconditioner = LinearOperator(matrix.shape, factor.solve)
    n_iterations = 0

    def count(_: Any) -> None:
        nonlocal n_iterations
        n_iterations += 1

    u, left = np.zeros_like(ones), scale
    residual, size = float(np.abs(left).max()), 1.0
    for _ in range(_ROUNDS):
        step, _ = bicgstab(scaled, left, rtol=1e-10, maxiter=1000, M=preconditioner, callback=count)
        tried = u + step
        left_now = scale * (ones - matrix @ tried)
        now = float(np.abs(left_now).max())
        if not now < residual:
            break
        u, left, residual = tried, left_now, now
        size = max(1.0, float(np.abs(u).max()))
        if residual < _TOLERANCE * size:
            break
    return u, residual / size, n_iterations
