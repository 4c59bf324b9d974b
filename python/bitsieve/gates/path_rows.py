"""The rows of a path over lambda: one for each number of open gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.gates.problem import Problem
from bitsieve.gates.training import Training
from bitsieve.masks import Masks

__all__ = ["Rows"]


@dataclass
class Rows:
    """The rows of a path: one for each number of open gates.

    Parameters
    ----------
    n_features : int
    falls : bool or None
        Whether the sizes only fall, or only rise; None keeps the last row of each size.
    """

    n_features: int
    falls: bool | None = None
    rows: dict[int, tuple[float, int, float, float, float, int]] = field(default_factory=dict)
    supports: dict[int, NDArray[np.bool_]] = field(default_factory=dict)

    def add(self, training: Training, problem: Problem) -> None:
        """Add what is open, unless the size goes back to one before the last."""
        support = training.gates.support()
        size = int(support.sum())
        if self.falls is True and size > min(self.rows, default=size):
            return
        if self.falls is False and size < max(self.rows, default=size):
            return
        loss, error = problem.loss_and_error(training)
        self.rows[size] = (
            training.weight,
            size,
            training.history["loss"][-1],
            loss,
            error,
            training.epoch,
        )
        self.supports[size] = support

    def merged(self, other: Rows) -> Rows:
        """Return both; of a size that both have, the other's."""
        return Rows(self.n_features, None, self.rows | other.rows, self.supports | other.supports)

    def table(self) -> dict[str, Any] | None:
        """Return the rows as columns, from many features to few; None without one."""
        if not self.rows:
            return None
        sizes = sorted(self.rows, reverse=True)
        names = ("lam", "n_features", "loss", "validation_loss", "validation_error", "epoch")
        columns = zip(*(self.rows[size] for size in sizes), strict=True)
        return {
            **{name: np.array(column) for name, column in zip(names, columns, strict=True)},
            "support": Masks.from_bool(np.array([self.supports[size] for size in sizes])),
        }

    def best(self, rule: str) -> int:
        """Return the size with the best loss of the validation part; 0 where nothing was open."""
        table = self.table()
        if table is None:
            return 0
        losses = table["validation_loss"]
        if np.isnan(losses).all():
            losses = table["loss"]
        rows = np.flatnonzero(table["n_features"] > 0)
        if not len(rows):
            return 0
        best = rows[int(np.argmin(losses[rows]))]
        if rule == "one_standard_error":
            allowed = losses[best] + np.nan_to_num(table["validation_error"][best])
            best = rows[losses[rows] <= allowed][-1]
        return int(table["n_features"][best])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint holds."""
        n_bytes = -(-self.n_features // 8)
        packed = [np.packbits(self.supports[size]) for size in self.rows]
        return {
            "rows": np.array(list(self.rows.values()), np.float64).reshape(-1, 6),
            "supports": np.array(packed, np.uint8).reshape(-1, n_bytes),
        }

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on as the one that gave the state."""
        found = [(a, int(b), c, d, e, int(f)) for a, b, c, d, e, f in state["rows"].tolist()]
        bits = [np.unpackbits(row, count=self.n_features).astype(bool) for row in state["supports"]]
        self.rows = {row[1]: row for row in found}
        self.supports = {row[1]: support for row, support in zip(found, bits, strict=True)}
