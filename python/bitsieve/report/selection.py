"""The table of features: which were selected, how often outer folds agreed, and their numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.report.cells import write_csv
from bitsieve.report.statistics import FeatureStatistics, feature_statistics

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "panel_table", "selection_rows", "write_selection_csv"]

#: Columns of selection.csv, in their order; those of :class:`FeatureStatistics` follow.
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
    *,
    statistics: FeatureStatistics | None = None,
) -> Path:
    """Write :func:`selection_rows` as a CSV file (UTF-8, with a header).

    Names are written as :func:`bitsieve.report.cells.cell` says, so that none is a formula.
    Statistics have six digits.

    Parameters
    ----------
    path : path-like
        The file; written atomically.
    names, selected, n_folds_selected, n_folds
        As in :func:`selection_rows`.
    statistics : FeatureStatistics, optional
        Further columns, after those of :data:`COLUMNS`.

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
    rows = selection_rows(names, selected, n_folds_selected, n_folds)
    if statistics is None:
        return write_csv(path, COLUMNS, rows)
    columns = statistics.columns(names)
    return write_csv(
        path,
        [*COLUMNS, *columns],
        ([*row, *(_short(column[row[1]]) for column in columns.values())] for row in rows),
    )


def panel_table(
    X: Any,
    y: Any,
    names: Sequence[str],
    support: ArrayLike,
    *,
    n_folds_selected: ArrayLike | None = None,
    n_folds: int = 0,
    floor: float | None = None,
    folds: Sequence[tuple[NDArray[Any], NDArray[Any]]] | None = None,
    threshold: float = 0.8,
    most: int = 5,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Return what selection.csv holds as a frame: a row a feature, the panel first.

    Parameters
    ----------
    X, y, support, floor, folds, threshold, most, n_jobs
        As in :func:`feature_statistics`.
    names, n_folds_selected, n_folds
        As in :func:`selection_rows`.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ValueError
        Where X, y or support are not fit for use, or lengths differ.

    Examples
    --------
    >>> from bitsieve.report import panel_table
    >>> X = [[1.0, 5.0, 0.0], [3.0, 4.0, 1.0], [7.0, 1.0, 0.0], [9.0, 0.0, 1.0]]
    >>> table = panel_table(X, ["a", "a", "b", "b"], ["x", "y", "z"], [True, False, False])
    >>> table[["feature", "selected", "direction", "mean_a", "mean_b", "f_rank"]][:2]
      feature  selected direction  mean_a  mean_b  f_rank
    0       x         1         b     2.0     8.0       2
    1       y         0         a     4.5     0.5       1
    >>> table.substitutes[0]
    'y (-1.00)'
    """
    import pandas as pd

    found = feature_statistics(
        X, y, support, floor=floor, folds=folds, threshold=threshold, most=most, n_jobs=n_jobs
    )
    rows = selection_rows(names, support, n_folds_selected, n_folds)
    order = [row[1] for row in rows]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    for name, column in found.columns(names).items():
        ordered: Any = [column[feature] for feature in order]
        if name in ("f_rank", "n_substitutes"):  # whole numbers with gaps
            ordered = pd.array(ordered, dtype="Int64")
        table[name] = ordered
    return table


def _short(value: Any) -> Any:
    """Return a number of six digits, and nothing for None."""
    if value is None:
        return ""
    return float(f"{value:.6g}") if isinstance(value, float) else value
