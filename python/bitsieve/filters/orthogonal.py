"""Gram-Schmidt forward orthogonalisation, and when to stop by a random probe.

::

    target residual y, orthonormal basis q_1 ... q_k of the features taken
    every feature f: |f_k|^2 = |f|^2 - sum (q_j f)^2,  f_k y_k = f y - sum (q_j f)(q_j y)

X is read once a step, for the products with the new q; no feature is ever rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_int, check_number, key_of
from bitsieve._random import Random, Stream
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs, check_input
from bitsieve.data.validation import Task
from bitsieve.filters.positions import wanted
from bitsieve.filters.univariate._moments import centred_numbers, class_moments

__all__ = ["gram_schmidt"]

Floats = NDArray[np.float64]
Order = NDArray[np.int64]

#: A feature is spent when this share of its sum of squares is left; so is a target.
_SPENT = 1e-10


@overload
def gram_schmidt(
    X: Any,
    y: Any = ...,
    n_features: int | None = ...,
    *,
    probe_risk: float | None = ...,
    n_probes: int = ...,
    task: Task | None = ...,
    return_scores: Literal[False] = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> Order: ...
@overload
def gram_schmidt(
    X: Any,
    y: Any = ...,
    n_features: int | None = ...,
    *,
    probe_risk: float | None = ...,
    n_probes: int = ...,
    task: Task | None = ...,
    return_scores: Literal[True],
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> tuple[Order, Floats]: ...
@overload
def gram_schmidt(
    X: Any,
    y: Any = ...,
    n_features: int | None = ...,
    *,
    probe_risk: float | None = ...,
    n_probes: int = ...,
    task: Task | None = ...,
    return_scores: bool,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> Order | tuple[Order, Floats]: ...


def gram_schmidt(
    X: Any,
    y: Any = None,
    n_features: int | None = None,
    *,
    probe_risk: float | None = None,
    n_probes: int = 10_000,
    task: Task | None = None,
    return_scores: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Order | tuple[Order, Floats]:
    """Take features one by one, each the one that explains most of what is left of the target.

    Features and target are centred. At each step the feature with the largest squared cosine with
    the target, ``(f y)^2 / (|f|^2 |y|^2)``, is taken, and the target and all other features are
    projected on what is orthogonal to it [1]_ (``gs`` in [2]_). The squared cosine is the share of
    the target's remaining sum of squares that the feature explains.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        In any unit.
    y : array-like of shape (n_samples,)
        Class labels or numbers; those of a Table by default. Two classes are one 0/1 target;
        C > 2 classes are the centred matrix of C indicator columns, the squared cosine being the
        share of its sum of squares, ``sum_c (f y_c)^2 / (|f|^2 sum_c |y_c|^2)``.
    n_features : int, optional
        How many to take at most; by default as long as there are some left.
    probe_risk : float in (0, 1), optional
        Stop before the risk that a random feature would have been taken by now exceeds this:
        ``G_k = G_(k-1) + (1 - G_(k-1)) P_k`` with P_k the probability that a random probe has a
        larger squared cosine than the k-th feature [1]_. For one target it is exact: the squared
        cosine of a random direction in d dimensions has the Beta(1/2, (d - 1)/2) distribution,
        d = n_samples - k. One probe is held against the best of all features: where these are
        many more than the samples, even noise has one that beats it, and the rule stops late.
    n_probes : int, default 10_000
        Probes drawn a step where the target has several columns, whose P_k has no closed form: what
        they are along the columns is drawn, the rest integrated.
    task : {"classification", "regression"}, optional
        What y holds; by default numbers with a fractional part are a regression target and
        everything else is classes.
    return_scores : bool, default False
        Return the squared cosines as well.
    random_state : int, numpy Generator or RandomState, or None, default None
        For the probes that are drawn alone; None draws a seed.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on them.

    Returns
    -------
    order : ndarray of shape (n_taken,)
        Int64 indices, best first; ties go to the lowest index. Fewer than ``n_features`` where
        the risk says so, or where nothing is left of the target or of the features: constant ones
        and those in the span of others (to 1e-5 of their length) are never taken.
    scores : ndarray of shape (n_taken,)
        Squared cosine of each with the target left at its step, in [0, 1]; only if asked for.

    Raises
    ------
    ValueError
        If X or y are not fit for use, y does not vary, or a parameter is out of its range.

    References
    ----------
    .. [1] H. Stoppiglia, G. Dreyfus, R. Dubois, Y. Oussar, "Ranking a random feature for variable
       and feature selection", Journal of Machine Learning Research 3, 2003, sections 2 and 3.
    .. [2] H. J. Escalante, M. Montes, L. E. Sucar, "An energy-based model for feature selection",
       2008, table 1.

    Examples
    --------
    >>> from bitsieve.filters import gram_schmidt
    >>> X = [[1.0, 1.1, 1.0], [2.0, 1.9, 0.0], [3.0, 3.1, 0.0], [4.0, 3.9, 1.0]]
    >>> y = [2.0, 2.1, 3.0, 5.0]
    >>> order, scores = gram_schmidt(X, y, n_features=2, task="regression", return_scores=True)
    >>> order, scores.round(2)
    (array([0, 2]), array([0.84, 1.  ]))
    """
    columns = check_input(X, y, task=task, defer=True)
    n_wanted = min(wanted(n_features, columns.n_features), columns.n_samples - 1)
    if probe_risk is not None:
        check_number("probe_risk", probe_risk, 0, 1, instead="or None")
    check_int("n_probes", n_probes, 1)
    target = _target(columns)
    state = _State.start(columns, target, effective_n_jobs(n_jobs))
    random = Random(key_of(random_state), Stream.probes)
    order: list[int] = []
    scores: list[float] = []
    risk = 0.0
    while len(order) < n_wanted:
        best, score = state.best()
        if best < 0:
            break
        if probe_risk is not None:
            dimension = columns.n_samples - 1 - len(order)
            chance = _probe(score, state.target, dimension, n_probes, random)
            risk += (1.0 - risk) * chance
            if risk > probe_risk:
                break
        order.append(best)
        scores.append(score)
        state.take(best)
    found = np.array(order, dtype=np.int64)
    return (found, np.array(scores)) if return_scores else found


def _target(columns: Inputs) -> Floats:
    """Return the centred target, (n_columns, n_samples), of length one in all."""
    if len(columns.classes) > 2:
        y = (columns.codes == np.arange(len(columns.classes))[:, None]).astype(np.float64)
        y = y - y.mean(axis=1, keepdims=True)
    else:
        numbers = columns.codes if len(columns.classes) else columns.numbers()
        y = centred_numbers(np.asarray(numbers, dtype=np.float64))[None]
    out: Floats = y / np.sqrt((y * y).sum())
    return out


@dataclass(eq=False)
class _State:
    """What is left of the target and, for every feature, of its length and its product with it."""

    columns: Inputs
    threads: int
    target: Floats  # (n_columns, n_samples)
    square: Floats  # (n_features,), of features of length one
    cross: Floats  # (n_columns, n_features)
    length: Floats  # (n_features,), 0 for a constant feature
    basis: list[Floats]
    taken: NDArray[np.bool_]

    @classmethod
    def start(cls, columns: Inputs, target: Floats, threads: int) -> _State:
        codes = np.zeros(columns.n_samples, dtype=np.int32)
        moments = class_moments(columns, codes, 1, threads)
        if moments.exponent is not None and moments.exponent.any():
            far = int(np.flatnonzero(moments.exponent)[0])
            raise ValueError(
                "gram_schmidt needs features whose squares fit into float64, but that of number "
                f"{far} does not; scale it"
            )
        length = np.sqrt(moments.square[0])
        varies = length > 0
        unit = np.where(varies, length, 1.0)
        cross = np.stack([_core.target_products(columns.X, y, threads) for y in target]) / unit
        square = np.where(varies, 1.0, 0.0)
        return cls(columns, threads, target.copy(), square, cross, length, [], ~varies)

    def best(self) -> tuple[int, float]:
        """Return the best feature and its squared cosine; -1 where nothing is left."""
        left = float((self.target**2).sum())
        open_ = ~self.taken & (self.square > _SPENT)
        if left <= _SPENT or not open_.any():
            return -1, 0.0
        share = (self.cross**2).sum(axis=0)
        cosine = np.where(open_, share / np.where(open_, self.square, 1.0), -1.0)
        best = int(np.argmax(cosine))
        return best, min(float(cosine[best]) / left, 1.0)

    def take(self, feature: int) -> None:
        """Project target and features on what is orthogonal to one of them."""
        q = self.columns.X[:, feature].astype(np.float64)
        q -= q[0]
        q -= q.mean()
        q /= np.sqrt(q @ q)
        for _ in range(2):  # the second time for the digits that the first one loses
            for other in self.basis:
                q -= (other @ q) * other
            q -= q.mean()
            q /= np.sqrt(q @ q)
        self.basis.append(q)
        self.taken[feature] = True
        along = _core.target_products(self.columns.X, q, self.threads)
        along /= np.where(self.length > 0, self.length, 1.0)
        self.square -= along**2
        for k, y in enumerate(self.target):
            product = float(q @ y)
            self.cross[k] -= product * along
            y -= product * q


def _probe(score: float, target: Floats, dimension: int, n_probes: int, random: Random) -> float:
    """Probability that a random direction has a larger squared cosine with the target."""
    if dimension <= 1:
        return 1.0
    from scipy.special import betainc, gammainc

    if len(target) == 1:
        return float(betainc((dimension - 1) / 2, 0.5, 1.0 - score))
    # In the axes of the target's columns the squared cosine is a weighted mean of squares.
    weight = np.linalg.eigvalsh(target @ target.T)
    weight = weight[weight > _SPENT * weight[-1]]
    weight /= weight.sum()
    inside = random.normal((n_probes, len(weight))) ** 2
    # The squares in the other directions are at most so much in all where the cosine is larger, and
    # their sum is chi-squared: of each probe not whether it is larger, but how likely.
    most = np.maximum(inside @ weight / score - inside.sum(axis=1), 0.0)
    freedom = dimension - len(weight)
    larger = gammainc(freedom / 2, most / 2) if freedom > 0 else most > 0.0
    return float(larger.sum() + 1.0) / (n_probes + 1)
