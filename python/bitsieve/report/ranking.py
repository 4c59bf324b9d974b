"""A ranking of features: rows, a CSV file, and a table for the terminal."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.report.cells import write_csv
from bitsieve.report.outcome import counted, printable

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Ranking", "ranking_rows", "ranking_table", "write_ranking_csv"]

#: A q-value below it is called significant.
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Ranking:
    """What one ranking job found.

    Attributes
    ----------
    source, method : str
        Where the data came from, and what ranked, in words.
    names : sequence of n_features str
    n_samples : int
    scores : float64 array of shape (n_features,)
        Greater is better; NaN for features that a greedy method did not take.
    order : int64 array of shape (n_features,)
        Features from the best to the last; those not taken come at the end.
    p_values, q_values : float64 array of shape (n_features,) or None
        Of each feature's own test, and adjusted for all of them (Benjamini-Hochberg).
    positions : mapping of str to array of shape (n_features,)
        Position of each feature in each of several rankings that were combined.
    greedy : bool
        Whether features were taken one by one, so that a score is the criterion at its step.
    seconds : float
        Wall-clock time of the ranking.
    """

    source: str
    method: str
    names: Sequence[str]
    n_samples: int
    scores: NDArray[np.float64]
    order: NDArray[np.int64]
    p_values: NDArray[np.float64] | None = None
    q_values: NDArray[np.float64] | None = None
    positions: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    greedy: bool = False
    seconds: float = 0.0

    @property
    def n_ranked(self) -> int:
        """How many features have a score."""
        return int((~np.isnan(self.scores)).sum())

    def heading(self, top: int) -> str:
        """Return data, method and number of features shown, as one line."""
        return (
            f"{printable(self.source)}: {self.n_samples:,} samples, {counted(len(self.names))}; "
            f"{self.method}, first {min(top, self.n_ranked):,}"
        )

    def sentences(self) -> list[str]:
        """Return what must be said beside the table, and what holds for these numbers."""
        said = [
            f"Scores were computed on all {self.n_samples:,} samples: a ranking is no error "
            "estimate. For the error of a panel taken from it, use nested_cross_validate, which "
            "ranks again inside every outer training part."
        ]
        if self.q_values is not None:
            below = int((self.q_values < LEVEL).sum())
            said.append(
                f"p: one test a feature; q: adjusted for all {counted(len(self.names))} "
                f"(Benjamini-Hochberg); q < {LEVEL:g} for {below:,}."
            )
        if self.greedy:
            left = len(self.names) - self.n_ranked
            without = f", {left:,} left without a rank" if left else ""
            taken = f"{counted(self.n_ranked)} taken{without}"
            said.append(
                f"{self.method} takes features one by one: {taken}. A score is the criterion when "
                "the feature was taken, so scores need not fall."
            )
        return said

    def results(self, top: int) -> dict[str, Any]:
        """Return the first features as plain values, for a record.

        Parameters
        ----------
        top : int
            How many features.

        Returns
        -------
        dict
            ``n_ranked``, ``seconds`` and ``top``, a list with one mapping a feature.
        """
        columns = _columns(self)
        rows = ranking_rows(self)[: min(top, self.n_ranked)]
        return {
            "n_ranked": self.n_ranked,
            "seconds": self.seconds,
            "top": [dict(zip(columns, row, strict=True)) for row in rows],
        }


def _columns(ranking: Ranking) -> list[str]:
    columns = ["rank", "feature", "index", "score"]
    columns += ["p_value"] if ranking.p_values is not None else []
    columns += ["q_value"] if ranking.q_values is not None else []
    return columns + [f"position_{name}" for name in ranking.positions]


def ranking_rows(ranking: Ranking) -> list[tuple[Any, ...]]:
    """Return one row a feature, the best first.

    Parameters
    ----------
    ranking : Ranking

    Returns
    -------
    list of (rank, feature, index, score, [p_value, q_value,] positions ...)
        Rank and score are empty text for features without.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.report import Ranking, ranking_rows
    >>> ranking = Ranking("x.csv", "f", ["a", "b"], 9, np.array([0.5, 2.0]), np.array([1, 0]))
    >>> ranking_rows(ranking)
    [(1, 'b', 1, 2.0), (2, 'a', 0, 0.5)]
    """
    extra = [column for column in (ranking.p_values, ranking.q_values) if column is not None]
    extra += list(ranking.positions.values())
    rows = []
    for rank, i in enumerate(ranking.order.tolist(), 1):
        ranked = not np.isnan(ranking.scores[i])
        rows.append(
            (
                rank if ranked else "",
                str(ranking.names[i]),
                i,
                float(ranking.scores[i]) if ranked else "",
                *(_plain(column[i]) for column in extra),
            )
        )
    return rows


def write_ranking_csv(path: str | os.PathLike[str], ranking: Ranking) -> Path:
    """Write :func:`ranking_rows` as a CSV file (UTF-8, with a header).

    Names are written as :func:`bitsieve.report.cells.cell` says, so that none is a formula.

    Parameters
    ----------
    path : path-like
        The file; written atomically.
    ranking : Ranking

    Returns
    -------
    pathlib.Path
        The path written.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from bitsieve.report import Ranking, write_ranking_csv
    >>> ranking = Ranking("x.csv", "f", ["a", "b"], 9, np.array([0.5, 2.0]), np.array([1, 0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_ranking_csv(f"{folder}/r.csv", ranking).read_text(), end="")
    rank,feature,index,score
    1,b,1,2.0
    2,a,0,0.5
    """
    return write_csv(path, _columns(ranking), ranking_rows(ranking))


def ranking_table(ranking: Ranking, *, top: int = 20) -> Table:
    """Return the first features as a Rich table.

    Parameters
    ----------
    ranking : Ranking
    top : int, default 20
        How many features to show; all where there are fewer.

    Returns
    -------
    rich.table.Table

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.report import Ranking, ranking_table
    >>> ranking = Ranking("x.csv", "f", ["a", "b"], 9, np.array([0.5, 2.0]), np.array([1, 0]))
    >>> ranking_table(ranking).row_count
    2
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = ranking_rows(ranking)[: min(top, ranking.n_ranked)]
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("feature", overflow="fold", min_width=8)
    table.add_column("score", justify="right", no_wrap=True)
    values = [
        *([("p", ranking.p_values)] if ranking.p_values is not None else []),
        *([("q", ranking.q_values)] if ranking.q_values is not None else []),
    ]
    for name, _ in values:
        table.add_column(name, justify="right", no_wrap=True)
    for name in ranking.positions:
        table.add_column(name, justify="right")
    n_decimals = _decimals([row[3] for row in shown])
    n_values = len(values)
    for rank, name, _, score, *rest in shown:
        table.add_row(
            str(rank),
            Text(printable(name)),
            _fixed(score, n_decimals),
            *(f"{value:.1e}" if 0 < value < 0.001 else f"{value:.3f}" for value in rest[:n_values]),
            *(f"{value:,.1f}".removesuffix(".0") for value in rest[n_values:]),
        )
    return table


def _plain(value: Any) -> Any:
    number = float(value)
    return int(number) if number.is_integer() and abs(number) >= 1 else number


def _decimals(scores: Sequence[float]) -> int:
    """Return how many decimals show four digits of the greatest score."""
    finite = [abs(score) for score in scores if np.isfinite(score) and score]
    if not finite:
        return 3
    return int(np.clip(3 - np.floor(np.log10(max(finite))), 0, 9))


def _fixed(score: float, n_decimals: int) -> str:
    return f"{score:,.{n_decimals}f}" if np.isfinite(score) else str(score)
