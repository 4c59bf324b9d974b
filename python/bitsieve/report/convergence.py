"""How a search went: computed as numbers first, drawn second."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.report.figures import drawn, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ConvergenceInfo", "convergence_info", "plot_convergence"]

_Floats = NDArray[np.float64]


class ConvergenceInfo(NamedTuple):
    """Everything that the convergence plot shows.

    Attributes
    ----------
    iteration : int64 array of shape (n,)
    iterate, smoothed, best_observed : float64 arrays of shape (n,)
        Score of each iterate, its centred running mean, and the best so far; as errors in percent
        where ``is_error``.
    n_selected, n_selected_best : int64 arrays of shape (n,)
        Number of features of the iterate and of the best so far.
    n_features : int or None
        Number of features there are.
    label : str
        Label of the score's axis.
    is_error : bool
        Whether values are 100 (1 - score), so that less is better.
    window : int
        Length of the running mean, in iterations.
    levels : dict of str to float
        Horizontal lines, in the units of the axis, in drawing order.
    band : (float, float) or None
        Ends of the interval of the level "honest", in the units of the axis.
    title : str
    """

    iteration: NDArray[np.int64]
    iterate: _Floats
    smoothed: _Floats
    best_observed: _Floats
    n_selected: NDArray[np.int64]
    n_selected_best: NDArray[np.int64]
    n_features: int | None
    label: str
    is_error: bool
    window: int
    levels: dict[str, float]
    band: tuple[float, float] | None
    title: str


def convergence_info(
    history: Mapping[str, ArrayLike],
    *,
    scoring: str = "accuracy",
    n_features: int | None = None,
    levels: Mapping[str, float] | None = None,
    interval: tuple[float, float] | None = None,
    title: str = "Convergence of the search",
) -> ConvergenceInfo:
    """Compute what the convergence plot shows.

    Parameters
    ----------
    history : mapping of str to 1-d array
        ``history_`` of a fitted selector: ``iteration``, ``score``, ``best_observed``,
        ``n_selected``, ``n_selected_best``, all of one length. Scores: greater is better.
    scoring : str, default "accuracy"
        Name of the scorer. Accuracy and balanced accuracy are shown as an error in percent.
    n_features : int or None, default None
        Number of features there are.
    levels : mapping of str to float or None, default None
        Scores to show as horizontal lines, such as ``{"re-measured": 0.93, "honest": 0.81}``.
    interval : (float, float) or None, default None
        Interval of the level "honest", in scores.
    title : str
        Title of the plot.

    Returns
    -------
    ConvergenceInfo

    Raises
    ------
    ValueError
        Where a column is missing or the lengths differ.

    Examples
    --------
    >>> from bitsieve.report import convergence_info
    >>> history = {"iteration": [0, 1], "score": [0.5, 0.75], "best_observed": [0.5, 0.75],
    ...            "n_selected": [3, 2], "n_selected_best": [3, 2]}
    >>> convergence_info(history).best_observed.tolist()
    [50.0, 25.0]
    """
    columns = ("iteration", "score", "best_observed", "n_selected", "n_selected_best")
    missing = [name for name in columns if name not in history]
    if missing:
        raise ValueError(f"history lacks {', '.join(missing)}; it has {', '.join(history)}")
    values = {name: np.asarray(history[name]) for name in columns}
    lengths = {name: len(column) for name, column in values.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"the columns of history differ in length: {lengths}")
    is_error = scoring in ("accuracy", "balanced_accuracy")
    label = {"accuracy": "error (%)", "balanced_accuracy": "balanced error (%)"}.get(
        scoring, scoring.replace("_", " ")
    )

    def shown(score: ArrayLike) -> Any:
        score = np.asarray(score, dtype=np.float64)
        return 100.0 * (1.0 - score) if is_error else score

    iterate = shown(values["score"])
    window = max(1, len(iterate) // 40)
    band = None
    if interval is not None and np.all(np.isfinite(interval)):
        ends = sorted(float(shown(end)) for end in interval)
        band = (ends[0], ends[1])
    return ConvergenceInfo(
        iteration=values["iteration"].astype(np.int64),
        iterate=iterate,
        smoothed=_running_mean(iterate, window),
        best_observed=shown(values["best_observed"]),
        n_selected=values["n_selected"].astype(np.int64),
        n_selected_best=values["n_selected_best"].astype(np.int64),
        n_features=n_features,
        label=label,
        is_error=is_error,
        window=window,
        levels={
            name: float(shown(score))
            for name, score in (levels or {}).items()
            if np.isfinite(score)
        },
        band=band,
        title=title,
    )


def _running_mean(values: _Floats, window: int) -> _Floats:
    """Centred mean over ``window`` values, over fewer at both ends; NaN is left out."""
    if not len(values):
        return values
    known = np.isfinite(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    at = np.arange(len(values))
    low = np.maximum(at - window // 2, 0)
    high = np.minimum(at + (window + 1) // 2, len(values))
    with np.errstate(invalid="ignore", divide="ignore"):
        means: _Floats = (sums[high] - sums[low]) / (counts[high] - counts[low])
    return means


_LEVEL_STYLES: dict[str, dict[str, Any]] = {
    "observed": {"color": "#333333", "linestyle": (0, (3, 1, 1, 1))},
    "re-measured": {"color": "#b36b00", "linestyle": (0, (5, 2))},
    "honest": {"color": "#b00020", "linestyle": "-"},
    "all features": {"color": "#555555", "linestyle": (0, (1, 1.5))},
    "chance": {"color": "#999999", "linestyle": (0, (4, 2, 1, 2))},
}


def plot_convergence(
    info: ConvergenceInfo, path: str | os.PathLike[str] | None = None, *, dpi: int = 150
) -> Figure:
    """Draw the convergence of a search: the score above, the number of features below.

    Parameters
    ----------
    info : ConvergenceInfo
        From :func:`convergence_info`.
    path : path-like or None, default None
        Where to write the picture, atomically; the suffix says how (.png, .svg, .pdf).
    dpi : int, default 150
        Dots per inch of a PNG; the figure is 8 by 5.5 inches.

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
    >>> from bitsieve.report import convergence_info, plot_convergence
    >>> history = {"iteration": [0, 1], "score": [0.5, 0.75], "best_observed": [0.5, 0.75],
    ...            "n_selected": [3, 2], "n_selected_best": [3, 2]}
    >>> figure = plot_convergence(convergence_info(history), "convergence.png")
    >>> len(figure.axes)
    2
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(8.0, 5.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2.4, 1.0))
    few = len(info.iteration) < 60
    above.plot(
        info.iteration,
        info.iterate,
        color="#8fb0d8",
        linewidth=1.0 if few else 0.0,
        marker="o",
        markersize=4.5 if few else 2.5,
        alpha=0.9 if few else 0.6,
        markeredgewidth=0,
        label="iterate, one measurement each",
    )
    if info.window > 1:
        above.plot(
            info.iteration,
            info.smoothed,
            color="#1f5fa8",
            linewidth=1.6,
            label=f"iterate, mean over {info.window} iterations",
        )
    above.step(
        info.iteration,
        info.best_observed,
        where="post",
        color="black",
        linewidth=1.8,
        label="best observed so far (inner CV; optimistic)",
    )
    if info.band is not None and "honest" in info.levels:
        above.axhspan(*info.band, color="#b00020", alpha=0.10, linewidth=0)
    outer = " (nested CV)" if info.band is None else " (nested CV; shaded: interval)"
    notes = {
        "observed": " (of the panel; optimistic)",
        "re-measured": " (fresh folds; optimistic)",
        "honest": outer,
    }
    for name, level in info.levels.items():
        style = _LEVEL_STYLES.get(name, {"color": "#777777"})
        value = f"{level:.1f} %" if info.is_error else f"{level:.3f}"
        label = drawn(f"{name} {value}{notes.get(name, '')}")
        above.axhline(level, linewidth=1.4, label=label, **style)
    above.set_ylabel(drawn(info.label))
    above.set_title(drawn(info.title), loc="left", fontsize=11)
    above.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    above.set_axisbelow(True)
    beside: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": (1.01, 1.0),
        "borderaxespad": 0.0,
        "fontsize": 8,
        "frameon": False,
    }
    above.legend(markerscale=1.0 if few else 1.8, **beside)

    is_single = len(info.iteration) == 1  # no line leads anywhere
    below.plot(
        info.iteration,
        info.n_selected,
        color="#1f5fa8",
        linewidth=1.2,
        marker="o" if is_single else "",
        label="iterate",
    )
    below.step(
        info.iteration,
        info.n_selected_best,
        where="post",
        color="black",
        linewidth=1.6,
        label="best observed",
    )
    of = "" if info.n_features is None else f"\nof {info.n_features:,}"
    below.set_ylabel(f"features{of}")
    below.set_xlabel("iteration")
    below.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    below.set_axisbelow(True)
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    below.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5, min_n_ticks=1))
    below.legend(**beside)
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.01)
    if is_single:
        below.set_xticks(info.iteration)
        below.set_xlim(info.iteration[0] - 0.5, info.iteration[0] + 0.5)
    if path is not None:
        save_figure(figure, path, dpi)
    return figure
