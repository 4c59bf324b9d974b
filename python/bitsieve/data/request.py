"""What a reader is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitsieve.data.missing import Missing
from bitsieve.data.validation import Task

__all__ = ["Categorical", "Duplicates", "Orient", "ReadRequest"]

Orient = Literal["auto", "samples", "features"]
Categorical = Literal["error", "onehot", "ordinal"]
Duplicates = Literal["error", "mean", "max", "first"]


@dataclass(frozen=True)
class ReadRequest:
    """Arguments of :func:`bitsieve.data.read_table`, checked; the one argument of a reader.

    Attributes
    ----------
    path : Path
    target : str, Path or None
        A str is a name in the file or, failing that, a path; a Path is a file.
    groups : str, Path or None
        As the target.
    orient, index, categorical, missing, delimiter, decimal, encoding, task, dtype, duplicates
        As in :func:`bitsieve.data.read_table`.
    to_predict : bool
        As in :func:`bitsieve.data.read_table`.
    drop : tuple of str
        Names of what is no feature.
    notes : list of str
        What a reader did that it was not told to; it becomes the table's `notes` and is warned of.
    """

    path: Path
    target: str | Path | None
    orient: Orient
    index: str | None
    categorical: Categorical
    delimiter: str | None
    decimal: str
    encoding: str
    task: Task | None
    dtype: np.dtype[Any]
    missing: Missing = "error"
    groups: str | Path | None = None
    drop: tuple[str, ...] = ()
    duplicates: Duplicates = "error"
    to_predict: bool = False
    notes: list[str] = field(default_factory=list)
