"""A picture of a ranking: the first features as bars, and how they stand out from the others."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitsieve.report.figures import drawn, save_figure
from bitsieve.report.outcome import printable
from bitsieve.report.ranking import LEVEL, Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RankingInfo", "plot_ranking", "ranking_info"]

#: Most bars in one picture: more could not be read.
MOST_BARS = 60

# Okabe and Ito's colours, which colour-blind readers can tell apart.
_BLUE, _GREY = "#0072B2", "#9a9a9a"
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


class RankingInfo(NamedTuple):
    """Everything that the picture of a ranking shows.

    Attributes
    ----------
    names : list of str
        The first features, shortened to fit.
    scores : float64 array of shape (n_shown,)
    significant : bool array of shape (n_shown,) or None
        Whether the q-value lies below 0.05; None without q-values.
    every_score : float64 array of shape (n_ranked,)
        Scores of all features that have one, by rank.
    positions : mapping of str to array of shape (n_shown,)
        Positions in each of several rankings that were combined.
    n_features : int
    label, title : str
        Of the axis of scores, and of the picture.
    """

    names: list[str]
    scores: NDArray[np.float64]
    significant: NDArray[np.bool_] | None
    every_score: NDArray[np.float64]
    positions: Mapping[str, NDArray[Any]]
    n_features: int
    label: str
    title: str


def ranking_info(
    ranking: Ranking, *, top: int = 20, label: str = "score", title: str | None = None
) -> RankingInfo:
    """Compute what the picture of a ranking shows.

    Parameters
    ----------
    ranking : Ranking
    top : int, default 20
        How many features; at most 60 are drawn, and all where there are fewer.
    label : str, default "score"
        What a score is.
    title : str or None, default None
        None takes the heading of the ranking.

    Returns
    -------
    RankingInfo

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.report import Ranking, ranking_info
    >>> ranking = Ranking("x.csv", "f", ["a", "b"], 9, np.array([0.5, 2.0]), np.array([1, 0]))
    >>> ranking_info(ranking, top=1).names
    ['b']
    """
    ranked = ranking.order[: ranking.n_ranked]
    shown = ranked[: min(top, MOST_BARS)]
    return RankingInfo(
        names=[_short(str(ranking.names[i])) for i in shown],
        scores=ranking.scores[shown],
        significant=None if ranking.q_values is None else ranking.q_values[shown] < LEVEL,
        every_score=ranking.scores[ranked],
        positions={name: np.asarray(row)[shown] for name, row in ranking.positions.items()},
        n_features=len(ranking.names),
        label=label,
        title=ranking.heading(len(shown)) if title is None else title,
    )


def plot_ranking(
    info: RankingInfo, path: str | os.PathLike[str] | None = None, *, dpi: int = 150
) -> Figure:
    """Draw a ranking: the first features as bars, and beside them where they come from.

    The right half shows the scores of all features by rank, the first ones marked; or, where
    several rankings were combined, the position of each feature in each of them.

    Parameters
    ----------
    info : RankingInfo
        From :func:`ranking_info`.
    path : path-like or None, default None
        Where to write the picture, atomically; the suffix says how (.png, .svg, .pdf).
    dpi : int, default 150
        Dots per inch of a PNG; the figure is 9 inches wide and as high as its bars need.

    Returns
    -------
    matplotlib.figure.Figure
        Not known to pyplot, so nothing needs closing.

    Raises
    ------
    ImportError
        Without matplotlib.
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.report import Ranking, plot_ranking, ranking_info
    >>> ranking = Ranking("x.csv", "f", ["a", "b"], 9, np.array([0.5, 2.0]), np.array([1, 0]))
    >>> len(plot_ranking(ranking_info(ranking), "ranking.png").axes)
    2
    """
    from matplotlib.figure import Figure

    n_shown = len(info.names)
    height = max(3.2, 1.3 + 0.2 * n_shown)
    figure = Figure(figsize=(9.0, height), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1.0), sharey=bool(info.positions))
    _draw_bars(left, info)
    if info.positions:
        _draw_positions(right, info)
    else:
        _draw_curve(right, info)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    figure.suptitle(drawn(info.title), fontsize=11, x=0.01, ha="left")
    if path is not None:
        save_figure(figure, path, dpi)
    return figure


def _draw_bars(axes: Axes, info: RankingInfo) -> None:
    n_shown = len(info.names)
    at = np.arange(n_shown)
    finite = np.isfinite(info.scores)
    ends = info.scores[finite]
    # An infinite score, such as an F of separated classes, fills the axis.
    longest = float(np.abs(ends).max(initial=0.0)) or 1.0
    widths = np.where(finite, info.scores, 1.1 * longest * np.sign(info.scores))
    kept = np.ones(n_shown, bool) if info.significant is None else info.significant
    for rows, colour, name in (
        (kept, _BLUE, f"q < {LEVEL:g}"),
        (~kept, _GREY, f"q \N{GREATER-THAN OR EQUAL TO} {LEVEL:g}"),
    ):
        if rows.any():
            label = None if info.significant is None else name
            axes.barh(at[rows], widths[rows], height=0.72, color=colour, label=label)
    for i in np.flatnonzero(~finite):
        axes.annotate("\N{INFINITY}", (widths[i], i), xytext=(3, 0), va="center",
                      textcoords="offset points", fontsize=9)  # fmt: skip
    axes.set_yticks(at, [drawn(name) for name in info.names], fontsize=8)
    axes.set_ylim(n_shown - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(drawn(info.label))
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.8)
    if (widths < 0).any():
        axes.axvline(0.0, color="black", linewidth=0.8)
    if info.significant is not None:
        axes.legend(loc="lower right", fontsize=8, framealpha=0.9)


def _draw_curve(axes: Axes, info: RankingInfo) -> None:
    from matplotlib.ticker import MaxNLocator

    n_ranked, n_shown = len(info.every_score), len(info.names)
    ranks = np.arange(1, n_ranked + 1)
    few = n_ranked <= 100
    axes.plot(
        ranks, info.every_score, color=_GREY, linewidth=1.2, marker="o",
        markersize=3.5 if few else 0, label=f"all {n_ranked:,}",
    )  # fmt: skip
    axes.plot(
        ranks[:n_shown], info.every_score[:n_shown], color=_BLUE, linewidth=2.0, marker="o",
        markersize=3.5, label=f"first {n_shown:,}",
    )  # fmt: skip
    if n_ranked > 100:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(_count)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("rank")
    axes.set_ylabel("score")
    axes.grid(color="#e6e6e6", linewidth=0.8)
    if n_shown < n_ranked:
        axes.legend(loc="best", fontsize=8, framealpha=0.9)


def _draw_positions(axes: Axes, info: RankingInfo) -> None:
    at = np.arange(len(info.names))
    rows = np.array(list(info.positions.values()))
    axes.hlines(at, rows.min(axis=0), rows.max(axis=0), color="#cfcfcf", linewidth=1.2)
    for i, (name, row) in enumerate(info.positions.items()):
        axes.plot(
            row, at, linestyle="none", label=drawn(name), markersize=6,
            markerfacecolor="none", markeredgewidth=1.5,
            color=_COLOURS[i % len(_COLOURS)], marker=_MARKERS[i % len(_MARKERS)],
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(0.8, 1.15 * max(info.n_features, 2))
    axes.xaxis.set_major_formatter(_count)
    axes.set_xlabel("position in each ranking")
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.8)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(4, len(rows)), fontsize=8,
        frameon=False, handletextpad=0.2, columnspacing=1.0,
    )  # fmt: skip


def _count(value: float, _: object = None) -> str:
    return f"{value:,.0f}"


def _short(name: str, limit: int = 30) -> str:
    """Return a name that fits beside a bar: a long one loses its middle."""
    name = printable(name)
    if len(name) <= limit:
        return name
    half = (limit - 1) // 2
    return f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[-half:]}"
