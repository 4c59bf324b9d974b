"""Categories of a data frame: as text, and numbered once and then the same in every frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import shorten
from bitsieve.data.frames import is_frame
from bitsieve.data.mixed import is_missing, texts_of, values_of, with_columns

__all__ = ["Categories"]


@dataclass(frozen=True)
class Categories:
    """Labels of the columns that held categories or text.

    Attributes
    ----------
    labels : dict of int to list of str
        Sorted labels by position of the column.
    """

    labels: dict[int, list[str]]

    @classmethod
    def of(cls, X: Any, columns: Sequence[int]) -> Categories:
        """Collect the labels of some columns of a frame; booleans are numbers already."""
        labels = {}
        for j in columns:
            found = [v for v in values_of(X, j) if not is_missing(v)]
            if not all(isinstance(v, (bool, np.bool_)) for v in found):
                labels[j] = sorted({str(v) for v in found})
        return cls(labels)

    def encode(self, X: Any) -> Any:
        """Return a frame with positions of labels in place of labels, NaN where one is missing.

        Raises
        ------
        ValueError
            If a column holds a label that was not collected.
        """
        if not self.labels or not is_frame(X) or X.shape[1] <= max(self.labels):
            return X
        return with_columns(X, {j: self._codes(X, j, labels) for j, labels in self.labels.items()})

    @staticmethod
    def _codes(X: Any, j: int, labels: list[str]) -> NDArray[np.float64]:
        position = {label: float(k) for k, label in enumerate(labels)}
        texts = texts_of(X, j)
        unknown = sorted({t for t in texts if t is not None} - set(labels))
        if unknown:
            raise ValueError(
                f"column {X.columns[j]!r} holds {shorten(unknown)}, but in fit it held only "
                f"{shorten(labels)}; fit on all categories that there are"
            )
        return np.array([np.nan if t is None else position[t] for t in texts])
