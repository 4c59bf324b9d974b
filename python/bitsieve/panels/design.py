"""What is compared: candidates, and the design that lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["ALL", "Candidate", "Design"]

#: Name of the selection that keeps every feature.
ALL = "all"


class Candidate(NamedTuple):
    """A way to a predictor.

    Attributes
    ----------
    selector : str
        Name of the ranker, or "all".
    size : int
        Number of features.
    classifier : str
    log : bool
        Whether the values are logged first.
    """

    selector: str
    size: int
    classifier: str
    log: bool


@dataclass(frozen=True)
class Design:
    """What is compared.

    Attributes
    ----------
    selectors, classifiers : tuple of str
    sizes : tuple of int
        Ascending, below the number of features.
    n_features : int
        Of the table.
    has_all : bool
        Whether keeping every feature is a candidate too.
    beside : tuple of str
        Classifiers that are scored on all features for comparison and never chosen.
    logs : tuple of bool
        ``(False,)``, ``(True,)`` or both.
    """

    selectors: tuple[str, ...]
    classifiers: tuple[str, ...]
    sizes: tuple[int, ...]
    n_features: int
    has_all: bool = True
    beside: tuple[str, ...] = ()
    logs: tuple[bool, ...] = (False,)

    @property
    def on_all(self) -> tuple[str, ...]:
        """Classifiers that see all features."""
        return tuple(dict.fromkeys(self.classifiers * self.has_all + self.beside))

    def is_allowed(self, candidate: Candidate) -> bool:
        """Tell whether a candidate may be chosen.

        Parameters
        ----------
        candidate : Candidate

        Returns
        -------
        bool
        """
        if candidate.selector == ALL and not self.has_all:
            return False
        return candidate.classifier in self.classifiers

    @property
    def candidates(self) -> list[Candidate]:
        """Every candidate: by log, selector, size and classifier, all features last."""
        found = []
        for log in self.logs:
            for selector in self.selectors:
                for size in self.sizes:
                    found += [Candidate(selector, size, name, log) for name in self.classifiers]
            found += [Candidate(ALL, self.n_features, name, log) for name in self.on_all]
        return found
