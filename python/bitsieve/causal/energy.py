"""Energy of a set of features: how relevant, predictive and causal they are, alone and in pairs.

The equations are those of Escalante, Montes, Sucar, "An energy-based model for feature selection",
2008. Higher potentials are better, and so are lower energies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int
from bitsieve.causal._gains import Gains
from bitsieve.causal.kept_errors import ErrorsOfPairs, KeptErrors
from bitsieve.causal.potentials import association, observation, predictive_rank, relevance
from bitsieve.causal.terms import Terms

__all__ = ["Energy", "LocalBlanketOf", "Minimum"]

Array = NDArray[np.float64]
LocalBlanketOf = Callable[[NDArray[np.int64]], Iterable[int]]

_MARGIN = 1e-12  # of the energy: less is rounding


@dataclass(frozen=True, eq=False)
class Minimum:
    """What a minimisation came to.

    Attributes
    ----------
    features : int64 array of shape (m,)
        The best configuration, in the order of its sites.
    energy : float
        That of it.
    energies : float64 array of shape (n_changes + 1,)
        At the start and after each sweep that changed something, with the local blanket of that
        configuration.
    converged : bool
        Whether the last sweep changed nothing.
    """

    features: NDArray[np.int64]
    energy: float
    energies: Array
    converged: bool


class Energy(Gains):
    """The energy of configurations of features, equation 1 with ordered pairs.

    A configuration is a set of distinct features, as positions; each is held by a *site*.

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_features)
        Of each feature in each ranking, 1 for the best.
    errors : PairErrors, FitnessPairErrors, or any with ``single`` and ``row(feature)``
        Balanced error rates, of features alone and of one with each other. Pairs are asked for only
        where ``terms.association`` is not 0.
    n_samples : int
        How many samples the errors are of.
    global_blanket : iterable of int, default ()
        Features in the Markov blanket of the target among all.
    terms : Terms, optional
        By default ``Terms()``, all parts as in the paper.

    Attributes
    ----------
    scores : float64 array of shape (n_features,)
        Relevance plus predictive rank, each times its factor: the numerator of equation 5.
    blanket_weights : float64 array of shape (n_features,)
        What the blanket among all adds to the causal weights.
    errors : KeptErrors
    n_features, n_samples : int
    terms : Terms

    Raises
    ------
    ValueError
        If an argument is out of its range, or shapes do not agree.

    References
    ----------
    H. J. Escalante, M. Montes, L. E. Sucar, "An energy-based model for feature selection", 2008.

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
        if not isinstance(self.terms, Terms):
            raise ValueError(f"terms must be bitsieve.causal.Terms(...), got {terms!r}")
        self.n_samples = check_int("n_samples", n_samples, 1)
        single = np.asarray(errors.single, dtype=np.float64)
        places = np.atleast_2d(np.asarray(positions, dtype=np.float64))
        if single.ndim != 1 or places.shape[1:] != single.shape:
            raise ValueError(
                f"positions of shape {places.shape} and errors of shape {single.shape} are not of "
                "the same features"
            )
        if not (places >= 1).all():
            raise ValueError("positions must be numbers from 1 on, 1 for the best")
        self.n_features = len(single)
        self.scores: Array = self.terms.relevance * relevance(places)
        self.scores = self.scores + self.terms.predictive * predictive_rank(single)
        self.errors = errors if isinstance(errors, KeptErrors) else KeptErrors(errors)
        self._pairs: dict[int, tuple[int, int]] = {}  # the best of so many candidates
        inside = self._indicator("global_blanket", global_blanket)
        self.blanket_weights = inside * self.terms.global_blanket

    def value(self, features: ArrayLike, local_blanket: Iterable[int] = ()) -> float:
        """Return the energy of a configuration, equation 1.

        Parameters
        ----------
        features : array-like of int, shape (m,)
        local_blanket : iterable of int, default ()
            Those of them that are in the target's blanket among them.

        Returns
        -------
        float
            Less is better.

        Raises
        ------
        ValueError
            If features are not distinct positions, or the blanket holds what is none.
        """
        chosen = self._configuration(features)
        more = self._more(local_blanket)
        total = -float(self._observed(chosen, more).sum())
        if self.terms.association:
            weights = 1.0 + more[chosen][:, None] + more[chosen]  # equation 7
            pairs = association(self.errors.between(chosen), weights, n_samples=self.n_samples)
            np.fill_diagonal(pairs, 0.0)
            total -= self.terms.association * float(pairs.sum())
        return total

    def contributions(self, features: ArrayLike, local_blanket: Iterable[int] = ()) -> Array:
        """Return what each feature takes off the energy.

        Of a feature of the configuration that is what it takes off beside the others; of any other
        what it would in place of the one that takes off least, and always less than that one does.

        Parameters
        ----------
        features : array-like of int, shape (m,)
        local_blanket : iterable of int, default ()

        Returns
        -------
        float64 array of shape (n_features,)

        Raises
        ------
        ValueError
            As of :meth:`value`.
        """
        chosen = self._configuration(features)
        more = self._more(local_blanket)
        rows = self._rows(chosen, more)
        taken = [
            self._gain(site, chosen, rows, more) - self._rest(np.delete(chosen, site))
            for site in range(len(chosen))
        ]
        inside = np.array([worth[feature] for worth, feature in zip(taken, chosen, strict=True)])
        found = taken[int(np.argmin(inside))]
        found = np.minimum(found, np.nextafter(inside.min(), -np.inf))
        found[chosen] = inside
        return np.asarray(found)

    def observed(self, local_blanket: Iterable[int] = ()) -> Array:
        """Return the observation potential of every feature, its share being of all.

        Parameters
        ----------
        local_blanket : iterable of int, default ()

        Returns
        -------
        float64 array of shape (n_features,)

        Raises
        ------
        ValueError
            If the blanket holds what is no position.
        """
        return observation(self.scores, 1.0 + self._more(local_blanket))

    def start(self, size: int) -> NDArray[np.int64]:
        """Return the best features by equation 5 without causal weights, the best first.

        Parameters
        ----------
        size : int

        Returns
        -------
        int64 array of shape (size,)

        Raises
        ------
        ValueError
            If size is not in 1 to n_features.
        """
        size = check_int("size", size, 1, self.n_features)
        return np.argsort(-self.scores, kind="stable")[:size].astype(np.int64)

    def grown(self, size: int, *, n_candidates: int | None = None) -> NDArray[np.int64]:
        """Return the pair of features of least energy and what is best added to it, one by one.

        The blanket among the features of the set has no part in it. A pair that tells much
        together, and nothing alone, is out of reach from :meth:`start`, since iterated conditional
        modes change one feature at a time. Without pairs it is the best features by score times
        causal weight.

        Parameters
        ----------
        size : int
        n_candidates : int, optional
            Only pairs of so many features, the best by equation 5 and two at least, are looked at;
            by default all, n_features**2 / 2 errors.

        Returns
        -------
        int64 array of shape (size,)
            In the order in which they were taken.

        Raises
        ------
        ValueError
            If size is not in 1 to n_features, or n_candidates is less than 1.
        """
        size = check_int("size", size, 1, self.n_features)
        if n_candidates is None:
            n_candidates = self.n_features
        n_candidates = min(max(check_int("n_candidates", n_candidates, 1), 2), self.n_features)
        more = self._more(())
        if not self.terms.association or size == 1:
            return np.argsort(-self.scores * (1.0 + more), kind="stable")[:size].astype(np.int64)
        if n_candidates not in self._pairs:
            self._pairs[n_candidates] = self._best_pair(more, n_candidates)
        chosen = np.array(self._pairs[n_candidates], dtype=np.int64)
        total = np.sum(self._rows(chosen, more), axis=0)
        while len(chosen) < size:
            gain = self._alone(more, chosen) + 2.0 * total
            gain[chosen] = -np.inf
            added = int(np.argmax(gain))
            chosen = np.append(chosen, added)
            total = total + self._row(added, more)
        return chosen

    def _best_pair(self, more: Array, n_candidates: int) -> tuple[int, int]:
        looked_at = np.sort(self.start(n_candidates))
        best, found = -np.inf, (int(looked_at[0]), int(looked_at[1]))
        of_all = self.terms.normalize == "all"
        own = np.log(self.scores * (1.0 + more))
        for place, errors in self.errors.upper(looked_at):
            first, others = int(looked_at[place]), looked_at[place + 1 :]
            if not len(others):
                break
            weights = 1.0 + more[others] + more[first]
            gain = association(errors, weights, n_samples=self.n_samples)
            gain *= 2.0 * self.terms.association
            gain += own[others] + own[first]
            if not of_all:
                gain -= 2.0 * np.log(self.scores[others] + self.scores[first])
            at = int(np.argmax(gain))
            if gain[at] > best:
                best, found = float(gain[at]), (first, int(others[at]))
        return found

    def minimize(
        self,
        start: ArrayLike,
        *,
        local_blanket: LocalBlanketOf | None = None,
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

        Raises
        ------
        ValueError
            If start is not distinct positions, or max_sweeps is negative.
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

    def best_swap(
        self, features: ArrayLike, local_blanket: Iterable[int] = ()
    ) -> tuple[int, int] | None:
        """Return the exchange of two features that lowers the energy most.

        Of equal ones that of the first site, then of the lowest feature that comes. It takes
        m * n_features steps and a row of pairs of each feature of the configuration.

        Parameters
        ----------
        features : array-like of int, shape (m,)
        local_blanket : iterable of int, default ()

        Returns
        -------
        (site, feature) or None
            Who leaves, by place, and who comes; None where no exchange lowers the energy.
        """
        chosen = self._configuration(features)
        more = self._more(local_blanket)
        rows = self._rows(chosen, more)
        best, found = 0.0, None
        for site in range(len(chosen)):
            gain = self._gain(site, chosen, rows, more)
            now = float(gain[chosen[site]])
            gain[chosen] = -np.inf
            comes = int(np.argmax(gain))
            less = float(gain[comes]) - now
            if less > best and less > _MARGIN * max(1.0, abs(now)):
                best, found = less, (site, comes)
        return found

    def _sweep(self, chosen: NDArray[np.int64], more: Array) -> bool:
        """Visit every site once, changing ``chosen``; tell whether one changed."""
        rows = self._rows(chosen, more)
        changed = False
        for site in range(len(chosen)):
            gain = self._gain(site, chosen, rows, more)
            gain[np.delete(chosen, site)] = -np.inf
            now, best = int(chosen[site]), int(np.argmax(gain))
            if gain[best] - gain[now] > _MARGIN * max(1.0, abs(float(gain[now]))):
                chosen[site], changed = best, True
                if rows:
                    rows[site] = self._row(best, more)
        return changed
