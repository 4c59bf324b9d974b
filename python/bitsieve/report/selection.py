"""The table of features: which were selected, and how often the outer folds agreed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from bitsieve.report.cells import write_csv

__all__ = ["COLUMNS", "selection_rows", "write_selection_csv"]

#: Columns of selection.csv, in their order.
COLUMNS = ("feature", "index", "selected", "n_folds_selected", "n_folds")


def selection_rows(
    names: Sequence[str],
    selected: ArrayLike,
    n_folds_selected: ArrayLike | None = None,
    n_folds: int = 0,
) -> list[tuple[str, int, int, int | str, int]]:
    """Return one row a feature, selected ones first, then by how many folds agreed, then by index.

    Parameters
    ----------
    names : sequence of n_features str
        Feature names.
    selected : bool array of shape (n_features,)
        The selection of the whole data set.
    n_folds_selected : int array of shape (n_features,) or None
        In how many outer folds each feature was selected; None where there were none.
    n_folds : int, default 0
        Number of outer folds.

    Returns
    -------
    list of (feature, index, selected, n_folds_selected, n_folds)
        ``selected`` is 0 or 1; ``n_folds_selected`` is empty where there were no folds.

    Raises
    ------
    ValueError
        Where the lengths differ.

    Examples
    --------
    >>> from bitsieve.report import selection_rows
    >>> selection_rows(["a", "b"], [False, True], [2, 5], 5)
    [('b', 1, 1, 5, 5), ('a', 0, 0, 2, 5)]
    """
    chosen = np.asarray(selected, dtype=bool)
    counts = np.asarray([0] * len(chosen) if n_folds_selected is None else n_folds_selected)
    if not len(names) == len(chosen) == len(counts):
        raise ValueError(
            f"expected one name, one selected flag and one fold count a feature, but got "
            f"{len(names)} names, {len(chosen)} flags and {len(counts)} counts"
        )
    order = np.lexsort((np.arange(len(chosen)), -counts, ~chosen))
    return [
        (
            str(names[i]),
            int(i),
            int(chosen[i]),
            "" if n_folds_selected is None else int(counts[i]),
            n_folds,
        )
        for i in order
    ]


def write_selection_csv(
    path: str | os.PathLike[str],
    names: Sequence[str],
    selected: ArrayLike,
    n_folds_selected: ArrayLike | None = None,
    n_folds: int = 0,
) -> Path:
    """Write :func:`selection_rows` as a CSV file (UTF-8, with a header).

    Names are written as :func:`bitsieve.report.cells.cell` says, so that none is a formula.

    Parameters
    ----------
    path : path-like
        The file; written atomically.
    names, selected, n_folds_selected, n_folds
        As in :func:`selection_rows`.

    Returns
    -------
    pathlib.Path
        The path written.

    Raises
    ------
    ValueError
        Where the lengths differ.
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from bitsieve.report import write_selection_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_selection_csv(f"{folder}/s.csv", ["a, b", "c"], [True, False])
    ...     print(path.read_text(encoding="utf-8"), end="")
    feature,index,selected,n_folds_selected,n_folds
    "a, b",0,1,,0
    c,1,0,,0
    """
    return write_csv(path, COLUMNS, selection_rows(names, selected, n_folds_selected, n_folds))
