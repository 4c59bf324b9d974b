"""When to stop."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int, check_number

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Budget of a run; None is no limit.

    Parameters
    ----------
    max_evaluations, max_iter, patience : int, optional
        Masks scored, asks answered, and asks answered without a new best.
    max_time : float, optional
        Seconds.
    """

    max_evaluations: int | None = None
    max_iter: int | None = None
    max_time: float | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_evaluations", "max_iter", "patience"):
            value = getattr(self, name)
            if value is not None:
                check_int(name, value, 1, instead="or None")
        if self.max_time is not None:
            check_number(
                "max_time", self.max_time, 0, closed="right", unit="seconds", instead="or None"
            )

    @property
    def is_endless(self) -> bool:
        """Whether none of them is set."""
        return all(value is None for value in asdict(self).values())

    def reached(
        self, *, iterations: int, evaluations: int, seconds: float, stalled: int
    ) -> dict[str, object]:
        """The limits that are met, by name with their values."""
        reasons: dict[str, object] = {}
        if self.max_iter is not None and iterations >= self.max_iter:
            reasons["max_iter"] = int(self.max_iter)
        if self.max_evaluations is not None and evaluations >= self.max_evaluations:
            reasons["max_evaluations"] = int(self.max_evaluations)
        if self.max_time is not None and seconds >= self.max_time:
            reasons["max_time"] = float(self.max_time)
        if self.patience is not None and stalled >= self.patience:
            reasons["patience"] = int(self.patience)
        return reasons

    def outrun_by(self, history: dict[str, NDArray[Any]]) -> bool:
        """Whether a run with this history went on where these limits would have stopped it.

        Time is left out: it is never the same twice.
        """
        n = len(history["iteration"])
        if n == 0:
            return False
        if self.max_iter is not None and n > self.max_iter:
            return True
        if self.max_evaluations is not None and history["n_evaluations"][-1] > self.max_evaluations:
            return True
        if self.patience is None:
            return False
        best = history["best_observed"]
        is_new = np.r_[True, (best[1:] > best[:-1]) | (np.isnan(best[:-1]) & ~np.isnan(best[1:]))]
        last_new = np.maximum.accumulate(np.where(is_new, np.arange(n), 0))
        return bool(np.any((np.arange(n) - last_new)[:-1] >= self.patience))

    def as_dict(self) -> dict[str, float | None]:
        """The limits by name, as plain numbers."""
        return {
            name: value if value is None else float(value) for name, value in asdict(self).items()
        }
