"""A picture of a Markov blanket: the target, parents and children around it, spouses beyond."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from bitsieve.report.bars import _short
from bitsieve.report.figures import drawn, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bitsieve.causal import Blanket

__all__ = ["place_blanket", "plot_blanket"]

#: Most members in one picture; the weakest spouses, then the weakest others are left out.
MOST_MEMBERS = 60

# Of Okabe and Ito's colours; the shape of the box and the line tell the roles apart too.
_BLUE, _ORANGE, _GREY = "#0072B2", "#E69F00", "#7a7a7a"


def place_blanket(blanket: Blanket) -> dict[int, tuple[float, float]]:
    """Return where each member stands: columns bent around the target, a row of its own each.

    Parents and children stand on an inner ellipse (0.6 from the middle), spouses on an outer
    one (1.6) beside a child through which they came. Rows are 1 apart, so names never overlap.

    Parameters
    ----------
    blanket : bitsieve.causal.Blanket

    Returns
    -------
    dict of int to (x, y)
        The target is at (0, 0).

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, markov_blanket
    >>> x, y, other = np.random.default_rng(0).normal(size=(3, 200))
    >>> blanket = markov_blanket(FisherZ(np.column_stack([x, other, x + y])), 2)
    >>> at = place_blanket(blanket)
    >>> sorted(at), at[2]
    ([0, 2], (0.0, 0.0))
    """
    strengths = blanket.strengths
    far = sorted(blanket.spouses, key=lambda x: (-strengths[x], x))
    far = far[: max(0, MOST_MEMBERS - len(blanket.parents_children))]
    near = sorted(blanket.parents_children, key=lambda x: (-strengths[x], x))[:MOST_MEMBERS]
    groups: dict[int, list[int]] = {x: [] for x in near}
    alone: list[int] = []  # spouses of no child that is drawn
    for spouse in far:
        through = [child for child in blanket.spouses[spouse] if child in groups]
        if through:
            groups[min(through, key=lambda child: (len(groups[child]), child))].append(spouse)
        else:
            alone.append(spouse)
    blocks: list[tuple[int | None, list[int]]] = [*groups.items()]
    blocks += [(None, [spouse]) for spouse in alone]
    sides: tuple[list[tuple[int | None, list[int]]], ...] = ([], [])
    rows = [0, 0]
    for block in sorted(blocks, key=lambda block: -len(block[1])):
        side = 0 if rows[0] <= rows[1] else 1
        sides[side].append(block)
        rows[side] += max(1, len(block[1]))
    half = 0.5 * max(rows) + 1.0
    at = {blanket.target: (0.0, 0.0)}
    for side, sign in ((0, 1.0), (1, -1.0)):
        top = 0.5 * (rows[side] - 1)
        for child, spouses in sides[side]:
            height = max(1, len(spouses))
            if child is not None:
                at[child] = _on_ellipse(sign, 0.6, top - 0.5 * (height - 1), half)
            for i, spouse in enumerate(spouses):
                at[spouse] = _on_ellipse(sign, 1.6, top - i, half)
            top -= height
    return at


def plot_blanket(
    blanket: Blanket,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    dpi: int = 150,
) -> Figure:
    """Draw a Markov blanket: the target, its parents and children, and spouses beyond these.

    Lines join the pairs of ``blanket.edges``; those to the target are thicker the stronger the
    tests. A spouse without a child known (of methods that grow) hangs on a dotted line.

    Parameters
    ----------
    blanket : bitsieve.causal.Blanket
    path : path-like or None, default None
        Where to write the picture, atomically; the suffix says how (.png, .svg, .pdf).
    title : str or None, default None
        None tells target, method and alpha.
    dpi : int, default 150
        Dots per inch of a PNG.

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
    >>> from bitsieve.causal import FisherZ, markov_blanket
    >>> from bitsieve.report import plot_blanket
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> found = markov_blanket(FisherZ(np.column_stack([a, a + noise])), 1)
    >>> len(plot_blanket(found, "blanket.png").axes[0].texts)
    2
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    at = place_blanket(blanket)
    members = [x for x in at if x != blanket.target]
    highest = max(abs(y) for _, y in at.values()) + 0.8
    figure = Figure(figsize=(11.0, max(3.2, 1.4 + 2 * highest * 0.36)), layout="constrained")
    axes = figure.subplots()
    strengths = blanket.strengths
    strongest = max((float(strengths[x]) for x in blanket.parents_children), default=0.0) or 1.0
    for a, b in blanket.edges:
        if a in at and b in at:
            of_target = a == blanket.target
            axes.plot(
                *zip(at[a], at[b], strict=True),
                color=_BLUE if of_target else _ORANGE,
                linewidth=1.0 + 2.5 * math.sqrt(strengths[b] / strongest) if of_target else 1.4,
                linestyle="-" if of_target else "--", zorder=1,
            )  # fmt: skip
    for x in members:
        if x in blanket.spouses and not blanket.spouses[x]:
            ends = zip(at[x], at[blanket.target], strict=True)
            axes.plot(*ends, color=_GREY, linewidth=1.2, linestyle=":", zorder=1)
    for x, (across, up) in at.items():
        is_target, is_spouse = x == blanket.target, x in blanket.spouses
        colour = "black" if is_target else _ORANGE if is_spouse else _BLUE
        axes.text(
            across, up, drawn(_short(blanket.name(x), 24)),
            ha="center" if is_target else "left" if across > 0 else "right",
            va="center", zorder=2,
            fontsize=10 if is_target else 8.5, color="white" if is_target else "black",
            fontweight="bold" if is_target else "normal",
            bbox={
                "boxstyle": f"{'square' if is_spouse else 'round'},pad=0.3",
                "facecolor": "black" if is_target else "white", "edgecolor": colour,
                "linewidth": 1.4,
            },
        )  # fmt: skip
    widest = 2.5 if any(x in blanket.spouses for x in members) else 1.5
    axes.set_xlim(-widest, widest)
    axes.set_ylim(-highest, highest)
    axes.set_axis_off()
    handles = [
        Line2D([], [], color=_BLUE, linewidth=2.5, label="parent or child (thicker: stronger)"),
        Line2D([], [], color=_ORANGE, linestyle="--", label="spouse, joined to the child"),
    ]
    axes.legend(
        handles=handles if blanket.spouses else handles[:1], loc="upper center", ncols=2,
        bbox_to_anchor=(0.5, 0.0), fontsize=8.5, frameon=False,
    )  # fmt: skip
    if title is None:
        title = (
            f"Markov blanket of {blanket.name(blanket.target)} ({blanket.method}, "
            f"alpha = {blanket.alpha:g})"
        )
    left_out = len(blanket.members) - len(members)
    if left_out:
        title += f"; {left_out:,} weaker ones are not drawn"
    figure.suptitle(drawn(title), fontsize=11, x=0.01, ha="left")
    if path is not None:
        save_figure(figure, path, dpi)
    return figure


def _on_ellipse(sign: float, width: float, height: float, half: float) -> tuple[float, float]:
    # Bent less than an ellipse, so that boxes of the inner and outer column stay apart.
    return sign * width * (0.55 + 0.45 * math.sqrt(1 - (height / half) ** 2)), height
