"""The sums of an energy: what features add to it, beside others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.causal.kept_errors import KeptErrors
from bitsieve.causal.potentials import association, observation
from bitsieve.causal.terms import Terms

__all__ = ["Gains"]

Array = NDArray[np.float64]


class Gains:
    """What takes how much off an energy.

    ``more`` is what blankets add to the causal weight of each feature, ``rows`` the association of
    each feature of a configuration with all.
    """

    terms: Terms
    n_features: int
    n_samples: int
    scores: Array
    errors: KeptErrors
    blanket_weights: Array

    def _gain(self, site: int, chosen: NDArray[np.int64], rows: list[Array], more: Array) -> Array:
        """What each feature at a site would take off the energy, the other sites as they are."""
        others = np.delete(chosen, site)
        gain = self._alone(more, others)
        if rows and len(others):
            # Ordered pairs: each counts twice.
            gain = gain + 2.0 * np.sum([r for s, r in enumerate(rows) if s != site], axis=0)
        return gain

    def _rows(self, chosen: NDArray[np.int64], more: Array) -> list[Array]:
        """Association of each of a configuration with all; none where it does not count."""
        return [self._row(int(f), more) for f in chosen] if self.terms.association else []

    def _alone(self, more: Array, others: NDArray[np.int64]) -> Array:
        """What a feature, beside others, adds to the sum of observation potentials."""
        found: Array = np.log(self.scores * (1.0 + more))
        if self.terms.normalize == "configuration":
            found = found - (len(others) + 1) * np.log(self.scores[others].sum() + self.scores)
            return np.asarray(found)
        return np.asarray(found - np.log(self.scores.sum()))

    def _rest(self, others: NDArray[np.int64]) -> float:
        """What the others' shares would add to that sum without the feature."""
        if self.terms.normalize == "all" or not len(others):
            return 0.0
        return -len(others) * float(np.log(self.scores[others].sum()))

    def _observed(self, chosen: NDArray[np.int64], more: Array) -> Array:
        of_all = self.terms.normalize == "all"
        total = float(self.scores.sum() if of_all else self.scores[chosen].sum())
        return observation(self.scores[chosen], 1.0 + more[chosen], total=total)

    def _row(self, feature: int, more: Array) -> Array:
        weights = 1.0 + more + more[feature]
        found = association(self.errors.row(feature), weights, n_samples=self.n_samples)
        return self.terms.association * found

    def _more(self, local_blanket: Iterable[int]) -> Array:
        """What blankets add to the causal weight of each feature: equation 4, less 1."""
        local = self._indicator("local_blanket", local_blanket) * self.terms.local_blanket
        return np.asarray(local + self.blanket_weights)

    def _indicator(self, name: str, features: Iterable[int]) -> Array:
        inside = np.zeros(self.n_features)
        listed = np.asarray(list(features))
        if listed.size:
            whole = listed.dtype.kind in "iu" and listed.ndim == 1
            if not whole or listed.min() < 0 or listed.max() >= self.n_features:
                raise ValueError(
                    f"{name} must hold positions of features, from 0 to {self.n_features - 1}, got "
                    f"{listed.tolist()!r}"
                )
            inside[listed] = 1.0
        return inside

    def _configuration(self, features: ArrayLike) -> NDArray[np.int64]:
        given = np.asarray(features)
        whole = given.ndim == 1 and given.dtype.kind in "iu"
        chosen = given.astype(np.int64) if whole else np.empty(0, dtype=np.int64)
        inside = len(chosen) and chosen.min() >= 0
        if not inside or chosen.max() >= self.n_features or len(np.unique(chosen)) < len(chosen):
            raise ValueError(
                f"a configuration is distinct positions below {self.n_features}, at least one, "
                f"got {features!r}"
            )
        return chosen
