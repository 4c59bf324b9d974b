"""The energy of masks, for any search of the package."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.causal.energy import Energy, LocalBlanketOf
from bitsieve.masks import Masks

__all__ = ["EnergyFitness"]


class EnergyFitness:
    """Minus the energy of a mask, a fitness for :func:`bitsieve.search.run`.

    Energies of different sizes are not comparable, so that it is meant for searches at a fixed
    size, such as :class:`bitsieve.search.AnnealingMaskSearch` with one.

    Parameters
    ----------
    energy : Energy
    local_blanket : callable or iterable of int, default ()
        Given a configuration its features in its blanket, such as
        :class:`bitsieve.causal.LocalBlanket`; or the same features for every mask.

    Attributes
    ----------
    n_features : int
    resample : bool
        False: a mask has one energy.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import Energy, EnergyFitness
    >>> from bitsieve.search import ExhaustiveMaskSearch, run
    >>> class Errors:
    ...     single = np.array([0.1, 0.2, 0.2])
    ...     def row(self, feature):
    ...         return np.array([[0.1, 0.1, 0.01], [0.1, 0.2, 0.2], [0.01, 0.2, 0.2]])[feature]
    >>> fitness = EnergyFitness(Energy([[1, 2, 3]], Errors(), n_samples=100))
    >>> run(ExhaustiveMaskSearch(3, min_size=2, max_size=2), fitness).support
    array([ True, False,  True])
    """

    resample = False

    def __init__(self, energy: Energy, local_blanket: LocalBlanketOf | Iterable[int] = ()) -> None:
        if not isinstance(energy, Energy):
            raise ValueError(
                f"energy must be a bitsieve.causal.Energy, got {type(energy).__name__}"
            )
        self.energy = energy
        self.n_features = energy.n_features
        self._local = local_blanket if callable(local_blanket) else tuple(local_blanket)

    def evaluate(
        self, masks: Masks | ArrayLike, seeds: int | NDArray[np.uint64] = 0
    ) -> NDArray[np.float64]:
        """Return minus the energy of each mask.

        Parameters
        ----------
        masks : Masks or bool array of shape (n_masks, n_features)
        seeds : ignored
            Nothing is drawn.

        Returns
        -------
        float64 array of shape (n_masks,)
            0 of a mask without features.

        Raises
        ------
        ValueError
            If masks have another number of features.
        """
        batch = masks if isinstance(masks, Masks) else Masks.from_bool(masks)
        if batch.n_features != self.n_features:
            raise ValueError(
                f"masks have {batch.n_features} features, the energy is of {self.n_features}"
            )
        scores = np.zeros(len(batch))
        for i in range(len(batch)):
            members = batch.indices_of(i)
            if len(members):
                local = self._local(members) if callable(self._local) else self._local
                scores[i] = -self.energy.value(members, local)
        return scores

    def fingerprint(self) -> str:
        """Return a digest of what the energy of a mask depends on, for stored runs.

        Of the errors those of single features stand for all; of a callable its parameters, where it
        is a :class:`bitsieve.causal.LocalBlanket`, and any other is told apart by its ``repr``.
        """
        digest = hashlib.sha256(repr(self.energy.terms).encode())
        parts: list[Any] = [self.energy.scores, self.energy.blanket_weights, self.energy.n_samples]
        parts.append(self.energy.errors.single)
        local = getattr(self._local, "options", self._local)
        for part in (*parts, repr(local)):
            digest.update(part.encode() if isinstance(part, str) else np.asarray(part).tobytes())
        return digest.hexdigest()
