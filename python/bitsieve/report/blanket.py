"""A Markov blanket: rows of who is in and who is out, CSV files, and a table for the terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bitsieve.report.cells import write_csv
from bitsieve.report.outcome import printable

if TYPE_CHECKING:
    from rich.table import Table

    from bitsieve.causal import Blanket

__all__ = [
    "blanket_rows", "blanket_table", "separator_rows", "write_blanket_csv", "write_separators_csv",
]  # fmt: skip

_MEMBER_COLUMNS = ("feature", "index", "role", "through", "strength", "p_value")
_OUT_COLUMNS = ("feature", "index", "why", "given", "p_value")


def blanket_rows(blanket: Blanket) -> list[tuple[Any, ...]]:
    """Return one row a member: parents and children first, of each the strongest first.

    Parameters
    ----------
    blanket : bitsieve.causal.Blanket

    Returns
    -------
    list of (name, index, role, through, strength, p_value)
        Role is "parent or child" or "spouse"; through, the children of a spouse, is a list of
        names. Strength is -log10 of the p-value, the greatest of the member's tests.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, markov_blanket
    >>> x, y, other = np.random.default_rng(0).normal(size=(3, 200))
    >>> blanket = markov_blanket(FisherZ(np.column_stack([x, other, x + y])), 2)
    >>> [(row[0], row[2]) for row in blanket_rows(blanket)]
    [('variable 0', 'parent or child')]
    """
    strengths = blanket.strengths

    def row(x: int, role: str, through: tuple[int, ...]) -> tuple[Any, ...]:
        names = [blanket.name(child) for child in through]
        p_value = float(np.exp(blanket.weakest[x]))
        return blanket.name(x), x, role, names, float(strengths[x]), p_value

    near = sorted(blanket.parents_children, key=lambda x: (-strengths[x], x))
    far = sorted(blanket.spouses, key=lambda x: (-strengths[x], x))
    rows = [row(x, "parent or child", ()) for x in near]
    return rows + [row(x, "spouse", blanket.spouses[x]) for x in far]


def separator_rows(blanket: Blanket) -> list[tuple[Any, ...]]:
    """Return one row for each variable outside, the nearest to the blanket first.

    Parameters
    ----------
    blanket : bitsieve.causal.Blanket

    Returns
    -------
    list of (name, index, why, given, p_value)
        Why is "independent", "copy" (given is the one that stands for it) or "no reliable test";
        given is a list of names, the p-value empty text where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, markov_blanket
    >>> x, y, other = np.random.default_rng(0).normal(size=(3, 200))
    >>> blanket = markov_blanket(FisherZ(np.column_stack([x, other, x + y])), 2)
    >>> [row[:4] for row in separator_rows(blanket)]
    [('variable 1', 1, 'independent', [])]
    """
    log_p = blanket.separators.log_p()
    inside = {blanket.target, *blanket.members}
    rows: list[tuple[Any, ...]] = []
    for x in sorted(range(len(log_p)), key=lambda x: (log_p[x], x)):
        if x in inside:
            continue
        name = blanket.name(x)
        if x in blanket.copies:
            rows.append((name, x, "copy", [blanket.name(blanket.copies[x])], ""))
        elif x in blanket.separators:
            given = [blanket.name(z) for z in blanket.separators[x].given]
            rows.append((name, x, "independent", given, float(np.exp(log_p[x]))))
        else:
            rows.append((name, x, "no reliable test", [], ""))
    order = {"independent": 0, "copy": 1, "no reliable test": 2}
    return sorted(rows, key=lambda row: order[row[2]])


def write_blanket_csv(path: str | os.PathLike[str], blanket: Blanket) -> Path:
    """Write :func:`blanket_rows` as a CSV file; children of a spouse are joined by semicolons.

    Parameters
    ----------
    path : path-like
    blanket : bitsieve.causal.Blanket

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, markov_blanket
    >>> x, y, other = np.random.default_rng(0).normal(size=(3, 200))
    >>> blanket = markov_blanket(FisherZ(np.column_stack([x, other, x + y])), 2)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_blanket_csv(f"{folder}/blanket.csv", blanket).read_text().split(",")[:2])
    ['feature', 'index']
    """
    rows = [(*row[:3], "; ".join(row[3]), *row[4:]) for row in blanket_rows(blanket)]
    return write_csv(path, _MEMBER_COLUMNS, rows)


def write_separators_csv(path: str | os.PathLike[str], blanket: Blanket) -> Path:
    """Write :func:`separator_rows` as a CSV file; separating sets are joined by semicolons.

    Parameters
    ----------
    path : path-like
    blanket : bitsieve.causal.Blanket

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, markov_blanket
    >>> x, y, other = np.random.default_rng(0).normal(size=(3, 200))
    >>> blanket = markov_blanket(FisherZ(np.column_stack([x, other, x + y])), 2)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_separators_csv(f"{folder}/out.csv", blanket).read_text().splitlines()[0])
    feature,index,why,given,p_value
    """
    rows = [(*row[:3], "; ".join(row[3]), *row[4:]) for row in separator_rows(blanket)]
    return write_csv(path, _OUT_COLUMNS, rows)


def blanket_table(blanket: Blanket) -> Table:
    """Return the members as a Rich table.

    Parameters
    ----------
    blanket : bitsieve.causal.Blanket

    Returns
    -------
    rich.table.Table

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, markov_blanket
    >>> x, y, other = np.random.default_rng(0).normal(size=(3, 200))
    >>> blanket = markov_blanket(FisherZ(np.column_stack([x, other, x + y])), 2)
    >>> blanket_table(blanket).row_count
    1
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("feature", overflow="fold", min_width=8)
    table.add_column("role", overflow="fold")
    table.add_column("-log10 p", justify="right", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    for name, _, role, through, strength, p_value in blanket_rows(blanket):
        by = f" through {', '.join(map(printable, through))}" if through else ""
        p = f"{p_value:.1e}" if p_value >= 1e-300 else "<1e-300"
        table.add_row(Text(printable(name)), Text(role + by), f"{strength:,.1f}", p)
    return table
