"""Columns that say something of the samples and are no features: batch, site, age."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bitsieve._errors import closest, quoted
from bitsieve.data.io import read_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_covariates"]


def read_covariates(
    path: str | os.PathLike[str], names: Sequence[str], **options: Any
) -> pd.DataFrame:
    """Read columns of a table that are covariates; leave them out of the features by ``drop``.

    Parameters
    ----------
    path : path-like
        As for :func:`bitsieve.data.read_table`.
    names : sequence of str
        Columns; rows, where rows are features.
    **options
        `target`, `orient`, `index`, `drop`, `duplicates`, `delimiter`, `decimal`, `encoding` and
        `task` of :func:`bitsieve.data.read_table`, as the features are read.

    Returns
    -------
    DataFrame of shape (n_samples, n_names)
        One row for each sample of the table. Text is of pandas' type for categories, its levels
        as numbers; what is missing is NaN.

    Raises
    ------
    ValueError
        If a name is not there, stands twice or is dropped.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "expr.csv"
    >>> _ = path.write_text("batch,age,tp53,outcome\\na,61,1.5,x\\nb,70,1.25,y\\na,58,1.0,y\\n")
    >>> read_covariates(path, ["batch", "age"], target="outcome")
      batch   age
    0   0.0  61.0
    1   1.0  70.0
    2   0.0  58.0
    """
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice or not names:
        came = ", ".join(quoted(name) for name in names) or "none"
        raise ValueError(f"covariates must name columns, each once, got {came}")
    target = options.get("target")
    if target in names:
        raise ValueError(f"{quoted(str(target))} cannot be both the target and a covariate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the features are read from the same file, and warned of
        table = read_table(path, categorical="ordinal", missing="keep", **options)
    known = table.names or [f"x{j}" for j in range(table.n_features)]
    for name in names:
        if name not in known:
            raise ValueError(
                f"covariate {quoted(name)} is not in {os.fspath(path)}; {closest(name, known)}"
            )
    found: pd.DataFrame = table.to_frame().set_axis(known, axis=1)[list(names)]
    return found
