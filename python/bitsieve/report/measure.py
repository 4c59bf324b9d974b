"""How a score is shown: an error in percent for accuracies, else the score as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Measure"]

_ERRORS = {"accuracy": "error", "balanced_accuracy": "balanced error"}


@dataclass(frozen=True)
class Measure:
    """Names and shows the values of one scorer.

    Attributes
    ----------
    scoring : str
        Name of the scorer, greater is better.

    Examples
    --------
    >>> error = Measure("accuracy")
    >>> error.name, error.shown(0.877), error.span((0.8, 0.95)), error.lead(0.021)
    ('error', '12.3 %', '5.0 % to 20.0 %', '+2.1 points')
    >>> auc = Measure("roc_auc")
    >>> auc.name, auc.shown(0.877), auc.span((0.8, 0.95)), auc.lead(-0.021)
    ('roc auc', '0.877', '0.800 to 0.950', '-0.021')
    """

    scoring: str

    @property
    def name(self) -> str:
        """What is shown: "error" for accuracy, else the scorer's name."""
        return _ERRORS.get(self.scoring, self.scoring.replace("_", " "))

    @property
    def is_error(self) -> bool:
        """Whether scores are shown as an error, 1 minus the score, in percent."""
        return self.scoring in _ERRORS

    @property
    def unit(self) -> str:
        """What follows a difference: " points" of percent for errors, else nothing."""
        return " points" if self.is_error else ""

    def shown(self, score: float) -> str:
        """Return a score: 12.3 % for an error, 0.877 otherwise."""
        if np.isnan(score):
            return "not measured"
        return f"{100.0 * (1.0 - score):.1f} %" if self.is_error else f"{score:.3f}"

    def span(self, interval: Sequence[float]) -> str:
        """Return an interval of scores, its lower shown end first; empty without one."""
        low, high = interval
        if np.isnan(low) or np.isnan(high):
            return ""
        if self.is_error:
            low, high = high, low
        return f"{self.shown(low)} to {self.shown(high)}"

    def size(self, difference: float) -> str:
        """Return how far two scores are apart, without a sign: 2.1 points of percent."""
        return self._number(abs(difference)) + self.unit

    def lead(self, difference: float) -> str:
        """Return a difference of scores with its sign: above 0 the first one is better."""
        return self._signed(difference) + self.unit

    def lead_span(self, interval: Sequence[float]) -> str:
        """Return an interval of such a difference; empty without one.

        Examples
        --------
        >>> Measure("accuracy").lead_span((-0.01, 0.052))
        '-1.0 to +5.2'
        """
        low, high = interval
        if np.isnan(low) or np.isnan(high):
            return ""
        return f"{self._signed(low)} to {self._signed(high)}"

    def _number(self, difference: float) -> str:
        return f"{100.0 * difference:.1f}" if self.is_error else f"{difference:.3f}"

    def _signed(self, difference: float) -> str:
        size = self._number(abs(difference))
        if not size.strip("0."):  # nothing that can be seen
            return size
        return f"{'-' if difference < 0 else '+'}{size}"
