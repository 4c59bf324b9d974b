"""Energy of a set of features: how relevant, predictive and causal they are, alone and in pairs.

The equations are those of Escalante, Montes, Sucar, "An energy-based model for feature selection",
2008. Higher potentials are better, and so are lower energies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from bitsieve._checks import check_choice, check_int, check_number

__all__ = [
    "PRESETS",
    "Energy",
    "ErrorsOfPairs",
    "Minimum",
    "Terms",
    "association",
    "causal_weight",
    "observation",
    "pair_weight",
    "predictive_rank",
    "relevance",
]

Array = NDArray[np.float64]
LocalBlanket = Callable[[NDArray[np.int64]], Iterable[int]]

_MARGIN = 1e-12  # of the energy: less is rounding


class ErrorsOfPairs(Protocol):
    """Balanced error rates of single features and of pairs."""

    @property
    def single(self) -> Array:
        """Of each feature alone, shape (n_features,)."""
        ...

    def row(self, feature: int) -> Array:
        """Of a feature with each other one, shape (n_features,)."""
        ...


def relevance(positions: ArrayLike) -> Array:
    """Equation 2: one over the sum of a feature's positions in the rankings, 1 for the best.

    Examples
    --------
    >>> relevance([[1, 2], [1, 3]])
    array([0.5, 0.2])
    """
    found: Array = 1.0 / np.sum(np.asarray(positions, dtype=np.float64), axis=0)
    return found


def predictive_rank(errors: ArrayLike) -> Array:
    """Equation 3: one over a feature's position by error, the least first; ties share the mean.

    Examples
    --------
    >>> predictive_rank([0.5, 0.1, 0.1])
    array([0.33333333, 0.66666667, 0.66666667])
    """
    found: Array = 1.0 / rankdata(np.asarray(errors, dtype=np.float64))
    return found


def causal_weight(in_local: ArrayLike, in_global: ArrayLike) -> Array:
    """Equation 4: 1, and 1 more for each of the two blankets that a feature is in."""
    return np.asarray(1.0 + np.asarray(in_local, float) + np.asarray(in_global, float))


def observation(scores: ArrayLike, weights: ArrayLike, *, total: float | None = None) -> Array:
    """Equation 5: logarithm of a feature's share of all scores, times its causal weight.

    Parameters
    ----------
    scores : array-like of shape (n_features,)
        Relevance plus predictive rank.
    weights : array-like of shape (n_features,)
    total : float, optional
        What a share is of, by default the sum of all scores.
    """
    values = np.asarray(scores, dtype=np.float64)
    whole = values.sum() if total is None else total
    return np.asarray(np.log(values / whole * np.asarray(weights, dtype=np.float64)))


def pair_weight(in_local: ArrayLike, in_global: ArrayLike) -> Array:
    """Equation 7: 1 and how many of each pair are in either blanket, so 1 to 5; (n, n)."""
    more = causal_weight(in_local, in_global) - 1.0
    return np.asarray(1.0 + more[:, None] + more[None, :])


def association(errors: ArrayLike, weights: ArrayLike, *, n_samples: int) -> Array:
    """Equation 8: logarithm of the causal weight over the error, which is 1 / (2 n) at least."""
    floored = np.maximum(np.asarray(errors, dtype=np.float64), 0.5 / n_samples)
    return np.asarray(np.log(np.asarray(weights, dtype=np.float64) / floored))


@dataclass(frozen=True)
class Terms:
    """How much each part of the energy counts; 0 switches it off.

    Attributes
    ----------
    relevance, predictive : float
        Factors of the two scores in equation 5; not both may be 0.
    association : float
        Factor of equation 8.
    local_blanket, global_blanket : float
        What a blanket adds to a weight in equations 4 and 7.
    normalize : {"all", "configuration"}
        What equation 5 takes shares of. Within the configuration alone the share is free of scale,
        so that features that are equally bad are preferred.
    """

    relevance: float = 1.0
    predictive: float = 1.0
    association: float = 1.0
    local_blanket: float = 1.0
    global_blanket: float = 1.0
    normalize: Literal["all", "configuration"] = "all"

    def __post_init__(self) -> None:
        check_choice("normalize", self.normalize, ("all", "configuration"))
        for field in fields(self):
            if field.name != "normalize":
                check_number(field.name, getattr(self, field.name), 0, closed="left")
        if self.relevance == 0 and self.predictive == 0:
            raise ValueError("relevance and predictive are both 0: nothing tells features apart")


#: The settings of table 3, by its rows.
PRESETS: dict[str, Terms] = {
    "lm": Terms(association=0, local_blanket=0, global_blanket=0),
    "mb": Terms(association=0, local_blanket=0),
    "ebm": Terms(),
    "ebm-lm": Terms(local_blanket=0, global_blanket=0),
    "ebm-no-gmb": Terms(global_blanket=0),
}


@dataclass(frozen=True, eq=False)
class Minimum:
    """What a minimisation came to.

    Attributes
    ----------
    features : int64 array of shape (m,)
        The best configuration, in the order of its sites.
    energy : float
    energies : float64 array
        At the start and after each sweep, with the local blanket of that configuration.
    converged : bool
        Whether the last sweep changed nothing.
    """

    features: NDArray[np.int64]
    energy: float
    energies: Array
    converged: bool


class Energy:
    """The energy of configurations of features, equation 1 with ordered pairs.

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_features)
        Of each feature in each ranking, 1 for the best.
    errors : ErrorsOfPairs
        Pairs are asked for only where ``terms.association`` is not 0.
    n_samples : int
        How many samples the errors are of.
    global_blanket : iterable of int
        Features in the blanket among all.
    terms : Terms

    Attributes
    ----------
    scores : float64 array of shape (n_features,)
        Relevance plus predictive rank, the numerator of equation 5.

    Raises
    ------
    ValueError
        If an argument is out of its range, or shapes do not agree.

    Examples
    --------
    >>> import numpy as np
    >>> class Errors:
    ...     single = np.array([0.1, 0.2, 0.2])
    ...     def row(self, feature):
    ...         return np.array([[0.1, 0.1, 0.01], [0.1, 0.2, 0.2], [0.01, 0.2, 0.2]])[feature]
    >>> energy = Energy([[1, 2, 3]], Errors(), n_samples=100)
    >>> energy.start(2)
    array([0, 1])
    >>> energy.minimize([0, 1]).features
    array([0, 2])
    """

    def __init__(
        self,
        positions: ArrayLike,
        errors: ErrorsOfPairs,
        *,
        n_samples: int,
        global_blanket: Iterable[int] = (),
        terms: Terms | None = None,
    ) -> None:
        self.terms = Terms() if terms is None else terms
        self.n_samples = check_int("n_samples", n_samples, 1)
        single = np.asarray(errors.single, dtype=np.float64)
        places = np.atleast_2d(np.asarray(positions, dtype=np.float64))
        if single.ndim != 1 or places.shape[1:] != single.shape:
            raise ValueError(
                f"positions of shape {places.shape} and errors of shape {single.shape} are not of "
                "the same features"
            )
        self.n_features = len(single)
        self.scores: Array = self.terms.relevance * relevance(places)
        self.scores = self.scores + self.terms.predictive * predictive_rank(single)
        self._errors = errors
        self._global = self._indicator(global_blanket) * self.terms.global_blanket

    def value(self, features: ArrayLike, local_blanket: Iterable[int] = ()) -> float:
        """Return the energy of a configuration, equation 1."""
        chosen = self._configuration(features)
        more = self._more(local_blanket)
        total = -float(self._observed(chosen, more).sum())
        if self.terms.association:
            for site, feature in enumerate(chosen):
                row = self._row(int(feature), more)[chosen]
                total -= float(np.delete(row, site).sum())
        return total

    def observed(self, local_blanket: Iterable[int] = ()) -> Array:
        """Return the observation potential of every feature, its share being of all."""
        return observation(self.scores, 1.0 + self._more(local_blanket))

    def start(self, size: int) -> NDArray[np.int64]:
        """Return the best features by equation 5 without causal weights, the best first."""
        size = check_int("size", size, 1, self.n_features)
        return np.argsort(-self.scores, kind="stable")[:size].astype(np.int64)

    def minimize(
        self,
        start: ArrayLike,
        *,
        local_blanket: LocalBlanket | None = None,
        max_sweeps: int = 100,
    ) -> Minimum:
        """Lower the energy by iterated conditional modes.

        In each sweep every site takes the feature, not held by another, that lowers the energy
        most, of equal ones that of the lowest index; one that lowers nothing is not taken. The
        local blanket stands still during a sweep and is found anew between two; the best
        configuration of all is kept. A sweep takes m * n_features steps and at most 2 m rows of
        pairs.

        Parameters
        ----------
        start : array-like of int, shape (m,)
        local_blanket : callable, optional
            Given a configuration, the features of it in its blanket of the target.
        max_sweeps : int, default 100

        Returns
        -------
        Minimum
        """
        chosen = self._configuration(start).copy()
        check_int("max_sweeps", max_sweeps, 0)
        wanted = local_blanket if self.terms.local_blanket else None
        local = tuple(wanted(chosen)) if wanted else ()
        best, energies = chosen.copy(), [self.value(chosen, local)]
        converged = False
        for _ in range(max_sweeps):
            converged = not self._sweep(chosen, self._more(local))
            if converged:
                break
            local = tuple(wanted(chosen)) if wanted else ()
            energies.append(self.value(chosen, local))
            if energies[-1] < min(energies[:-1]):
                best = chosen.copy()
        return Minimum(best, min(energies), np.array(energies), converged)

    def _sweep(self, chosen: NDArray[np.int64], more: Array) -> bool:
        """Visit every site once, changing ``chosen``; tell whether one changed."""
        pairs = bool(self.terms.association)
        rows = [self._row(int(f), more) for f in chosen] if pairs else []
        changed = False
        for site in range(len(chosen)):
            others = np.delete(chosen, site)
            gain = self._alone(more, others)
            if pairs and len(others):
                # Ordered pairs: each counts twice.
                gain = gain + 2.0 * np.sum([r for s, r in enumerate(rows) if s != site], axis=0)
            gain[others] = -np.inf
            now, best = int(chosen[site]), int(np.argmax(gain))
            if gain[best] - gain[now] > _MARGIN * max(1.0, abs(float(gain[now]))):
                chosen[site], changed = best, True
                if pairs:
                    rows[site] = self._row(best, more)
        return changed

    def _alone(self, more: Array, others: NDArray[np.int64]) -> Array:
        """What a feature, beside others, adds to the sum of observation potentials."""
        found: Array = np.log(self.scores * (1.0 + more))
        if self.terms.normalize == "configuration":
            found -= (len(others) + 1) * np.log(self.scores[others].sum() + self.scores)
        return found

    def _observed(self, chosen: NDArray[np.int64], more: Array) -> Array:
        of_all = self.terms.normalize == "all"
        total = float(self.scores.sum() if of_all else self.scores[chosen].sum())
        return observation(self.scores[chosen], 1.0 + more[chosen], total=total)

    def _row(self, feature: int, more: Array) -> Array:
        weights = 1.0 + more + more[feature]
        found = association(self._errors.row(feature), weights, n_samples=self.n_samples)
        return self.terms.association * found

    def _more(self, local_blanket: Iterable[int]) -> Array:
        """What blankets add to the weight of each feature."""
        local = self._indicator(local_blanket) * self.terms.local_blanket
        return np.asarray(local + self._global)

    def _indicator(self, features: Iterable[int]) -> Array:
        inside = np.zeros(self.n_features)
        inside[np.asarray(list(features), dtype=np.int64)] = 1.0
        return inside

    def _configuration(self, features: ArrayLike) -> NDArray[np.int64]:
        chosen = np.asarray(features, dtype=np.int64)
        inside = chosen.ndim == 1 and len(chosen) and chosen.min() >= 0
        if not inside or chosen.max() >= self.n_features or len(np.unique(chosen)) < len(chosen):
            raise ValueError(
                f"a configuration is distinct positions below {self.n_features}, at least one, "
                f"got {features!r}"
            )
        return chosen
