"""The blanket of the target among the features of a configuration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bitsieve.causal.independence import IndependenceTest
from bitsieve.causal.markov import markov_blanket

__all__ = ["LocalBlanket"]

_MOST_KEPT = 10_000  # configurations


class LocalBlanket:
    """Find the features of a configuration that are in the target's blanket among them.

    Parameters
    ----------
    test : IndependenceTest
    target : int
        Position of the target among the variables of the test.
    **options
        ``method, alpha, max_conditioning, symmetric`` of :func:`bitsieve.causal.markov_blanket`.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, LocalBlanket
    >>> cause, *noise = np.random.default_rng(0).normal(size=(3, 1000))
    >>> between = cause + noise[0]
    >>> local = LocalBlanket(FisherZ(np.column_stack([cause, between, between + noise[1]])), 2)
    >>> local([0, 1]), local([0])  # the cause is in only where what is between is not
    ((1,), (0,))
    """

    def __init__(self, test: IndependenceTest, target: int, **options: Any) -> None:
        self.test, self.target, self.options = test, target, options
        self._kept: dict[tuple[int, ...], tuple[int, ...]] = {}

    def __call__(self, features: ArrayLike) -> tuple[int, ...]:
        """Return the positions of those in the blanket, ascending.

        Parameters
        ----------
        features : array-like of int, shape (m,)

        Returns
        -------
        tuple of int

        Raises
        ------
        ValueError
            If they are not positions of variables, or an option is out of its range.
        """
        key = tuple(sorted(np.asarray(features, dtype=np.int64).tolist()))
        found = self._kept.get(key)
        if found is None:
            blanket = markov_blanket(self.test, self.target, among=key, n_jobs=1, **self.options)
            found = blanket.members
            if len(self._kept) < _MOST_KEPT:
                self._kept[key] = found
        return found
