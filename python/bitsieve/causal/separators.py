"""What separates each variable from a target: a mapping that holds little of very many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Separator", "Separators"]


@dataclass(frozen=True)
class Separator:
    """What makes a variable independent of the target.

    Attributes
    ----------
    given : tuple of int
        Positions of the separating set.
    log_p : float
        Natural logarithm of the p-value of the test given it.
    """

    given: tuple[int, ...]
    log_p: float

    @property
    def p_value(self) -> float:
        """The p-value."""
        return float(np.exp(self.log_p))


class Separators(Mapping[int, Separator]):
    """Separators by position: of most variables the empty set, which the p-values alone tell.

    Parameters
    ----------
    found : dict of int to Separator
        Those of other sets.
    log_p : ndarray of shape (n_variables,)
        Float64, of the tests given nothing.
    alone : ndarray of shape (n_variables,)
        Bool: where the empty set separates, and `found` has no entry.

    Examples
    --------
    >>> import numpy as np
    >>> found = {2: Separator((0,), -1.0)}
    >>> separators = Separators(found, np.log([1e-9, 0.5, 1e-9]), np.array([False, True, False]))
    >>> sorted(separators), separators[1].given, round(separators[1].p_value, 6)
    ([1, 2], (), 0.5)
    """

    def __init__(
        self, found: dict[int, Separator], log_p: NDArray[np.float64], alone: NDArray[np.bool_]
    ) -> None:
        self._found, self._log_p, self._alone = found, log_p, alone

    def __getitem__(self, variable: int) -> Separator:
        if variable in self._found:
            return self._found[variable]
        if 0 <= variable < len(self._alone) and self._alone[variable]:
            return Separator((), float(self._log_p[variable]))
        raise KeyError(variable)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted({*self._found, *np.flatnonzero(self._alone).tolist()}))

    def __len__(self) -> int:
        return len(self._found) + int(self._alone.sum())

    def __repr__(self) -> str:
        return f"Separators({dict(self)})" if len(self) <= 10 else f"<{len(self)} separators>"

    def log_p(self) -> NDArray[np.float64]:
        """Log p of the test given the separating set; 0 where there is none."""
        out = np.where(self._alone, self._log_p, 0.0)
        for variable, separator in self._found.items():
            out[variable] = separator.log_p
        return out
