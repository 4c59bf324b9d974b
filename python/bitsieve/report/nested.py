"""Subsets of ascending size: which features each holds, and how well each predicts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int
from bitsieve.filters.positions import best_first
from bitsieve.report.figures import drawn, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NestedInfo", "nested_info", "plot_nested"]

_LONGEST = 24  # characters of a feature's name


class NestedInfo(NamedTuple):
    """Everything that the picture of nested subsets shows.

    Attributes
    ----------
    sizes : list of int
    labels : list of str
        Features at the head of the merged ranking, the best first.
    held : bool array of shape (n_labels, n_sizes)
        Which subset has which of them.
    scores : float64 array of shape (n_repeats, n_sizes)
        Empty where none were given.
    chosen : int or None
        Size of the selected set.
    """

    sizes: list[int]
    labels: list[str]
    held: NDArray[np.bool_]
    scores: NDArray[np.float64]
    chosen: int | None


def nested_info(
    nested: Any,
    *,
    names: Sequence[str] | None = None,
    scores: ArrayLike | None = None,
    chosen: int | None = None,
    n_shown: int = 20,
) -> NestedInfo:
    """Compute what the picture of nested subsets shows.

    Parameters
    ----------
    nested : bitsieve.selectors.NestedSubsets
        ``nested_`` of a fitted :class:`bitsieve.EnergySelector`.
    names : sequence of str, optional
        Of all features.
    scores : array-like of shape (n_sizes,) or (n_repeats, n_sizes), optional
        How well each subset predicts, of one or several test parts.
    chosen : int, optional
        Size of the selected set, which is marked.
    n_shown : int, default 20
        Features, those at the head of the merged ranking.

    Returns
    -------
    NestedInfo

    Raises
    ------
    ValueError
        Where names or scores are not as many as there are features or subsets.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.report import nested_info
    >>> from bitsieve.selectors import NestedSubsets
    >>> nested = NestedSubsets([np.array([2, 0]), np.array([2, 0, 1])], np.array([1.0, 2.0]), 3)
    >>> info = nested_info(nested, names=["a", "b", "c"])
    >>> info.labels, info.held.tolist()
    (['c', 'a', 'b'], [[True, True], [True, True], [False, True]])
    """
    check_int("n_shown", n_shown, 1)
    if names is not None and len(names) != nested.n_features:
        raise ValueError(f"names must be those of {nested.n_features} features, got {len(names)}")
    given = np.empty((0, len(nested.sizes))) if scores is None else np.atleast_2d(scores)
    if given.ndim != 2 or given.shape[1] != len(nested.sizes):
        raise ValueError(
            f"scores must be one for each of {len(nested.sizes)} subsets, got shape {given.shape}"
        )
    shown = best_first(nested.scores)[:n_shown]
    held = np.array([[f in subset for subset in nested.subsets] for f in shown], dtype=bool)
    return NestedInfo(
        sizes=list(nested.sizes),
        labels=[f"feature {f}" if names is None else str(names[f]) for f in shown],
        held=held,
        scores=given.astype(np.float64),
        chosen=chosen,
    )


def plot_nested(
    info: NestedInfo,
    path: str | os.PathLike[str] | None = None,
    *,
    score: str = "score",
    title: str = "Subsets of ascending size",
    dpi: int = 150,
) -> Figure:
    """Draw which features each subset holds and, where they are known, how well it predicts.

    Parameters
    ----------
    info : NestedInfo
        From :func:`nested_info`.
    path : path-like or None, default None
        Where to write the picture, atomically; the suffix says how (.png, .svg, .pdf).
    score : str
        What the scores are. Bars are standard errors of the mean.
    title : str
    dpi : int, default 150

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
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bitsieve import EnergySelector
    >>> from bitsieve.report import nested_info, plot_nested
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = EnergySelector(5, terms="lm").fit(X, y)
    >>> info = nested_info(selector.nested_, names=list(X.columns), chosen=5)
    >>> len(plot_nested(info, "nested.png").axes)
    1
    """
    from matplotlib.figure import Figure

    places = np.arange(len(info.sizes))
    n_rows = len(info.labels)
    with_scores = bool(len(info.scores))
    height = 1.4 + 0.22 * n_rows + (2.0 if with_scores else 0.0)
    figure = Figure(figsize=(7.5, height), layout="constrained")
    ratios = (2.0, 0.22 * n_rows + 0.6) if with_scores else (1.0,)
    panels = np.atleast_1d(figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios))
    if with_scores:
        _draw_scores(panels[0], info, places, score)
    below = panels[-1]
    rows, columns = np.nonzero(info.held)
    below.scatter(columns, rows, s=46, marker="s", color="#1f5fa8", linewidths=0)
    rows, columns = np.nonzero(~info.held)
    below.scatter(columns, rows, s=10, marker="o", color="#cccccc", linewidths=0)
    below.set_yticks(np.arange(n_rows), [drawn(shorten_name(label)) for label in info.labels])
    below.tick_params(axis="y", labelsize=8, length=0)
    below.set_ylim(n_rows - 0.4, -0.6)
    below.set_xticks(places, [f"{size:,}" for size in info.sizes])
    if len(places) > 10:
        below.tick_params(axis="x", labelrotation=45)
    below.set_xlabel("features of the subset")
    below.set_ylabel("head of the merged ranking")
    below.spines[["top", "right", "left"]].set_visible(False)
    if info.chosen in info.sizes:
        at = info.sizes.index(info.chosen)
        for axes in panels:
            axes.axvspan(at - 0.5, at + 0.5, color="#f3e9d2", zorder=0, linewidth=0)
        panels[0].annotate(
            "selected", (at, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2),
            textcoords="offset points", ha="center", va="bottom", fontsize=8, color="#8a6d1c",
        )  # fmt: skip
    panels[0].set_title(drawn(title), loc="left", fontsize=11, pad=16)
    below.set_xlim(-0.5, len(places) - 0.5)
    if path is not None:
        save_figure(figure, path, dpi)
    return figure


def _draw_scores(axes: Any, info: NestedInfo, places: NDArray[np.int64], score: str) -> None:
    mean, n = info.scores.mean(axis=0), len(info.scores)
    spread = info.scores.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None
    axes.errorbar(places, mean, yerr=spread, color="black", linewidth=1.4, marker="o",
                  markersize=4, capsize=2)  # fmt: skip
    axes.set_ylabel(drawn(score))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def shorten_name(name: str) -> str:
    """Cut a long name.

    Examples
    --------
    >>> shorten_name("a" * 40)
    'aaaaaaaaaaaaaaaaaaaaaaa…'
    """
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
