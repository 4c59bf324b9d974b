"""The error against the size of a panel: computed as numbers first, drawn second."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bitsieve.report.figures import drawn, save_figure
from bitsieve.report.panel import Compared, PanelOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PathInfo", "PathPoint", "path_info", "plot_path", "spread_out"]

# Okabe and Ito's colours, which colour-blind readers can tell apart.
_BLUE, _GREY = "#0072B2", "#7a7a7a"
_COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#8a6d00", "#56B4E9", "#555555", "#000000")
_CLEAR = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
_STYLES = ("-", (0, (6, 2)), (0, (4, 2, 1, 2)), (0, (1, 1.5)), (0, (2, 2)))


class PathPoint(NamedTuple):
    """One limit, in the units of the axis.

    Attributes
    ----------
    tick : str
    value, low, high : float
        Error (or score) of the outer folds, and its interval.
    inner : float
        That of the inner cross-validation.
    """

    tick: str
    value: float
    low: float
    high: float
    inner: float


class PathInfo(NamedTuple):
    """Everything that the picture of the path shows, in the units of its axis.

    Attributes
    ----------
    points : list of PathPoint
        The procedure under each limit and without one, from small to large.
    lines : dict of str to float
        Rivals, by label.
    chance : float
    label, title : str
        Of the axis, and of the picture.
    is_error : bool
        Whether values are errors in percent, so that less is better.
    level : float
    """

    points: list[PathPoint]
    lines: dict[str, float]
    chance: float
    label: str
    title: str
    is_error: bool
    level: float


def path_info(outcome: PanelOutcome) -> PathInfo:
    """Compute what the picture of the path shows.

    Parameters
    ----------
    outcome : PanelOutcome
        With outer folds; without, the picture holds the inner scores alone.

    Returns
    -------
    PathInfo

    Examples
    --------
    >>> from bitsieve.report import Compared, PanelFeature, PanelOutcome, path_info
    >>> outcome = PanelOutcome(
    ...     source="genes.csv", scoring="accuracy", n_samples=40, n_features_in=2000,
    ...     made_by="F test, linear SVM", features=(PanelFeature("tp53"),), inner=0.99,
    ...     honest=Compared("panel", "this panel's procedure", 0.9, (0.8, 0.97), (1, 5)))
    >>> path_info(outcome).points[0].value
    10.0
    """
    measure = outcome.measure

    def shown(score: float) -> float:
        # Rounded as far as rounding reaches: an axis of 10.000000000000009 has odd ticks.
        return round(100.0 * (1.0 - score), 9) if measure.is_error else score

    points = []
    own = () if outcome.honest is None else (outcome.honest,)
    for one in sorted((*outcome.limits, *own), key=_limit):
        ends = sorted(map(shown, one.interval))
        points.append(PathPoint(_tick(one), shown(one.score), ends[0], ends[1], shown(one.inner)))
    return PathInfo(
        points=points,
        lines={
            one.label: shown(one.score)
            for one in outcome.rivals
            if one.key != "chance" and math.isfinite(one.score)
        },
        chance=shown(outcome.chance),
        label=f"{measure.name} (%)" if measure.is_error else measure.name,
        title=f"{outcome.source}: {measure.name} against the size of the panel",
        is_error=measure.is_error,
        level=outcome.level,
    )


def _limit(one: Compared) -> float:
    """Return the limit that a label names, infinite where it names none."""
    named = re.search(r"at most ([\d,]+) feature", one.label)
    return math.inf if named is None else float(named[1].replace(",", ""))


def _tick(one: Compared) -> str:
    size = ""
    if one.n_features is not None:
        least, most = one.n_features
        size = f"\n{least:,} used" if least == most else f"\n{least:,} to {most:,} used"
    return f"{one.short_label}{size}"


def plot_path(
    info: PathInfo, path: str | os.PathLike[str] | None = None, *, dpi: int = 150
) -> Figure:
    """Draw the honest error with its interval for each limit on the size, rivals as lines.

    Parameters
    ----------
    info : PathInfo
        From :func:`path_info`.
    path : path-like or None, default None
        Where to write the picture, atomically; the suffix says how (.png, .svg, .pdf).
    dpi : int, default 150
        Dots per inch of a PNG; the figure is 9 by 5 inches.

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
    >>> from bitsieve.report import Compared, PanelFeature, PanelOutcome, path_info, plot_path
    >>> outcome = PanelOutcome(
    ...     source="genes.csv", scoring="accuracy", n_samples=40, n_features_in=2000,
    ...     made_by="F test, linear SVM", features=(PanelFeature("tp53"),), inner=0.99,
    ...     honest=Compared("panel", "this panel's procedure", 0.9, (0.8, 0.97), (1, 5)))
    >>> len(plot_path(path_info(outcome), "path.png").axes)
    1
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 5.0), layout="constrained")
    axes = figure.subplots()
    _draw_points(axes, info)
    low, high = _limits(info)
    axes.set_ylim(low, high)
    _draw_lines(axes, info, low, high)
    axes.set_ylabel(drawn(info.label))
    axes.set_title(drawn(info.title), loc="left", fontsize=11)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if info.points:
        lines, names = axes.get_legend_handles_labels()
        axes.legend(lines[::-1], names[::-1], loc="upper left", bbox_to_anchor=(0.0, -0.1),
                    ncols=2, fontsize=8.5, frameon=False)  # fmt: skip
    if path is not None:
        save_figure(figure, path, dpi)
    return figure


def _draw_points(axes: Axes, info: PathInfo) -> None:
    at = range(len(info.points))
    values = [one.value for one in info.points]
    below = [max(0.0, one.value - one.low) if one.low == one.low else 0.0 for one in info.points]
    above = [max(0.0, one.high - one.value) if one.high == one.high else 0.0 for one in info.points]
    axes.errorbar(
        at, values, yerr=[below, above], color=_BLUE, marker="o", markersize=8, linewidth=1.6,
        capsize=5, elinewidth=1.6, zorder=3,
        label=f"nested cross-validation (honest), {100 * info.level:g} % interval",
    )  # fmt: skip
    if any(math.isfinite(one.inner) for one in info.points):
        axes.plot(
            at, [one.inner for one in info.points], color=_GREY, marker="o", markersize=6,
            markerfacecolor="white", linewidth=1.0, linestyle=(0, (2, 2)), zorder=2,
            label="inner cross-validation of the winner (not to be quoted)",
        )  # fmt: skip
    for i, one in enumerate(info.points):
        value = f"{one.value:.1f} %" if info.is_error else f"{one.value:.3f}"
        axes.annotate(value, (i, one.value), xytext=(9, 5), textcoords="offset points",
                      fontsize=9, color=_BLUE, zorder=5, bbox=_CLEAR)  # fmt: skip
    axes.set_xticks(list(at), [drawn(one.tick) for one in info.points], fontsize=9)
    axes.set_xlim(-0.4, max(len(info.points) - 0.5, 0.5))


def _limits(info: PathInfo) -> tuple[float, float]:
    """Return the ends of the axis: chance is far away as a rule, and would flatten the rest."""
    values = list(info.lines.values())
    for one in info.points:
        values += [one.value, one.low, one.high, one.inner]
    values = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or (1.0 if info.is_error else 0.01)
    return (max(low - room, -room) if info.is_error else low - room), high + room


def _draw_lines(axes: Axes, info: PathInfo, low: float, high: float) -> None:
    lines = dict(info.lines)
    if math.isfinite(info.chance):
        if low <= info.chance <= high:
            lines["chance, no feature"] = info.chance
        else:
            far = f"{info.chance:.1f} %" if info.is_error else f"{info.chance:.3f}"
            upwards = info.chance > high
            axes.annotate(
                f"chance {far}, beyond the axis", (0.99, 0.985 if upwards else 0.015),
                xycoords="axes fraction", ha="right", va="top" if upwards else "bottom",
                fontsize=8.5, color=_GREY,
            )  # fmt: skip
    ordered = sorted(lines.items(), key=lambda item: item[1])
    places = spread_out([value for _, value in ordered], 0.055 * (high - low), low, high)
    for i, ((name, value), place) in enumerate(zip(ordered, places, strict=True)):
        colour: Any = _COLOURS[i % len(_COLOURS)]
        axes.axhline(value, color=colour, linestyle=_STYLES[i % len(_STYLES)], linewidth=1.3,
                     zorder=1)  # fmt: skip
        text = f"{value:.1f} %" if info.is_error else f"{value:.3f}"
        axes.annotate(
            drawn(f"{name} {text}"), (1.0, value), xycoords=axes.get_yaxis_transform(),
            xytext=(1.03, place), textcoords=axes.get_yaxis_transform(), va="center", fontsize=8.5,
            color=colour, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0,
                        "shrinkB": 0, "relpos": (0.0, 0.5)},
        )  # fmt: skip


def spread_out(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places near ascending values that are a gap apart, within the ends where they fit.

    Examples
    --------
    >>> spread_out([1.0, 1.0, 5.0], 0.5, 0.0, 5.0)
    [0.75, 1.25, 5.0]
    """
    blocks: list[list[float]] = []  # of sum of values and their number, merged where they meet
    for value in values:
        blocks.append([value, 1.0])
        while len(blocks) > 1 and _ends(blocks[-2], gap)[1] + gap > _ends(blocks[-1], gap)[0]:
            total, number = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + number]
    places = [_ends(block, gap)[0] + i * gap for block in blocks for i in range(int(block[1]))]
    if places:
        over = max(0.0, places[-1] - high)
        for i in range(len(places) - 1, -1, -1):  # pushed down from the upper end
            limit = high if i == len(places) - 1 else places[i + 1] - gap
            places[i] = min(places[i], limit) if over else places[i]
        for i in range(len(places)):  # and up from the lower one
            places[i] = max(places[i], low if i == 0 else places[i - 1] + gap)
    return places


def _ends(block: Sequence[float], gap: float) -> tuple[float, float]:
    total, number = block
    half = 0.5 * gap * (number - 1.0)
    return total / number - half, total / number + half
