"""Probabilities against what came true: computed as numbers first, drawn second."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.report.figures import drawn, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ReliabilityInfo", "plot_reliability", "reliability_info"]

_N_BINS = 20
_LONGEST = 40  # characters of a class
_BLUE, _ORANGE = "#0072B2", "#D55E00"


class ReliabilityInfo(NamedTuple):
    """Everything that the picture of the calibration shows.

    Attributes
    ----------
    probability, share : float64 arrays of shape (n_points,)
        Of samples whose probabilities are alike: their mean, and the share that came true.
    interval : float64 array of shape (n_points, 2)
        Exact interval of the share.
    edges : float64 array of shape (n_edges,)
        Of the bins of the histogram, from 0 to 1.
    counts : dict of str to float64 array of shape (n_edges - 1,)
        Number of samples in each bin, by what came true.
    label, title : str
        Of the axis of probabilities, and of the picture.
    note : str
        Intercept, slope and Brier score, in one line.
    """

    probability: NDArray[np.float64]
    share: NDArray[np.float64]
    interval: NDArray[np.float64]
    edges: NDArray[np.float64]
    counts: dict[str, NDArray[np.float64]]
    label: str
    title: str
    note: str


def reliability_info(
    probabilities: ArrayLike,
    truth: ArrayLike,
    classes: ArrayLike,
    *,
    n_repeats: int = 1,
    level: float = 0.95,
    title: str = "Calibration",
    note: str = "",
) -> ReliabilityInfo:
    """Compute what the picture of the calibration shows.

    With two classes the probability is that of the second one; with more it is that of the class
    that was predicted, and what may come true is that the prediction is right.

    Parameters
    ----------
    probabilities : array-like of shape (n_predictions, n_classes)
        Of the outer folds; each row sums to 1.
    truth : array-like of shape (n_predictions,)
    classes : array-like of shape (n_classes,)
        The columns' classes.
    n_repeats : int, default 1
        How often each sample was predicted: it counts once.
    level : float, default 0.95
    title, note : str

    Returns
    -------
    ReliabilityInfo

    Examples
    --------
    >>> from bitsieve.report import reliability_info
    >>> info = reliability_info([[0.9, 0.1], [0.2, 0.8]], ["a", "b"], ["a", "b"])
    >>> info.probability.tolist(), info.share.tolist()
    ([0.45], [0.5])
    """
    from bitsieve.evaluation.calibration import calibration_of

    table = np.asarray(probabilities, dtype=np.float64)
    names, true = np.asarray(classes), np.asarray(truth)
    if len(names) == 2:
        values, came = table[:, 1], true == names[1]
        label = f"predicted probability of {_shown(names[1])}"
        kinds = {_shown(names[1]): came, _shown(names[0]): ~came}
    else:
        predicted = table.argmax(axis=1)
        values, came = table.max(axis=1), true == names[predicted]
        label = "probability of the predicted class"
        kinds = {"right": came, "wrong": ~came}
    edges = np.linspace(0.0, 1.0, _N_BINS + 1)
    bins = np.clip((values * _N_BINS).astype(np.int64), 0, _N_BINS - 1)
    weights = np.full(len(values), 1.0 / n_repeats)
    points = calibration_of(values, came, weights, level=level).bins
    return ReliabilityInfo(
        probability=np.array([one.predicted for one in points]),
        share=np.array([one.observed for one in points]),
        interval=np.array([one.interval for one in points], dtype=np.float64).reshape(-1, 2),
        edges=edges,
        counts={
            name: np.bincount(bins[kind], minlength=_N_BINS) / n_repeats
            for name, kind in kinds.items()
        },
        label=label,
        title=title,
        note=note,
    )


def _shown(name: object) -> str:
    """A class as a label of a picture, which a long one would push out of it."""
    text = str(name)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def plot_reliability(
    info: ReliabilityInfo, path: str | os.PathLike[str] | None = None, *, dpi: int = 150
) -> Figure:
    """Draw the share that came true against the probability, and below it the probabilities.

    Parameters
    ----------
    info : ReliabilityInfo
        From :func:`reliability_info`.
    path : path-like or None, default None
        Where to write the picture, atomically; the suffix says how (.png, .svg, .pdf).
    dpi : int, default 150
        Dots per inch of a PNG; the figure is 6 by 6.5 inches.

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
    >>> from bitsieve.report import plot_reliability, reliability_info
    >>> info = reliability_info([[0.9, 0.1], [0.2, 0.8]], ["a", "b"], ["a", "b"])
    >>> len(plot_reliability(info, "calibration.png").axes)
    2
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(6.0, 6.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.0, 1.0))
    above.plot([0, 1], [0, 1], color="#7a7a7a", linewidth=1.0, linestyle=(0, (4, 3)),
               label="perfectly calibrated")  # fmt: skip
    reach = np.abs(info.interval - info.share[:, None]).T
    above.errorbar(
        info.probability, info.share, yerr=reach, color=_BLUE, marker="o", markersize=6,
        linewidth=1.4, elinewidth=1.1, capsize=3, label="test samples of the outer folds",
    )  # fmt: skip
    above.set_ylabel("share that came true")
    above.set_ylim(-0.03, 1.03)
    above.set_xlim(-0.02, 1.02)
    above.set_title(drawn(info.title), loc="left", fontsize=11)
    above.legend(loc="upper left", fontsize=8.5, framealpha=0.9)
    if info.note:
        above.annotate(drawn(info.note), (0.98, 0.03), xycoords="axes fraction", ha="right",
                       fontsize=8.5, color="#333333")  # fmt: skip
    width = np.diff(info.edges)
    bottom = np.zeros(len(width))
    for (name, counts), colour in zip(info.counts.items(), (_BLUE, _ORANGE), strict=True):
        below.bar(info.edges[:-1], counts, width=0.94 * width, bottom=bottom, align="edge",
                  color=colour, label=drawn(name))  # fmt: skip
        bottom = bottom + counts
    below.set_ylabel("samples")
    below.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, min_n_ticks=1))
    below.set_xlabel(drawn(info.label))
    below.legend(loc="best", fontsize=8.5, framealpha=0.9)
    for axes in (above, below):
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    if path is not None:
        save_figure(figure, path, dpi)
    return figure
