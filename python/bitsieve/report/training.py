"""How a network behind gates was trained: computed as numbers first, drawn second."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.report.figures import drawn, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TrainingInfo", "plot_training", "training_info"]


class TrainingInfo(NamedTuple):
    """Everything that the picture of a training shows.

    Attributes
    ----------
    epoch : int64 array of shape (n,)
        From 1 on; those of a second training follow those of the first.
    loss, validation_loss : float64 arrays of shape (n,)
        NaN where there was no validation part.
    n_open : int64 array of shape (n,)
        Features whose gates are open after the epoch.
    weight : float64 array of shape (n,)
        Lambda: the weight of the penalty on open gates.
    starts : tuple of int
        Epochs after which another training follows.
    n_selected, n_features : int or None
        Features of the selection, and there are.
    title : str
    """

    epoch: NDArray[np.int64]
    loss: NDArray[np.float64]
    validation_loss: NDArray[np.float64]
    n_open: NDArray[np.int64]
    weight: NDArray[np.float64]
    starts: tuple[int, ...]
    n_selected: int | None
    n_features: int | None
    title: str


def training_info(
    history: Mapping[str, ArrayLike],
    *,
    n_selected: int | None = None,
    n_features: int | None = None,
    title: str = "Training",
) -> TrainingInfo:
    """Compute what the picture of a training shows.

    Parameters
    ----------
    history : mapping of str to 1-d array
        ``history_`` of a fitted :class:`bitsieve.STGClassifier` or another network behind gates:
        ``epoch``, ``loss``, ``validation_loss``, ``n_selected`` and ``weight``, all of one length.
    n_selected, n_features : int or None, default None
        Features of the selection, and there are.
    title : str
        Title of the plot.

    Returns
    -------
    TrainingInfo

    Raises
    ------
    ValueError
        Where a column is missing or the lengths differ.

    Examples
    --------
    >>> from bitsieve.report import training_info
    >>> history = {"epoch": [1, 2, 1], "loss": [0.7, 0.5, 0.4], "validation_loss": [0.7, 0.6, 0.5],
    ...            "n_selected": [9, 3, 3], "weight": [0.1, 0.2, 0.0]}
    >>> info = training_info(history)
    >>> info.epoch.tolist(), info.starts
    ([1, 2, 3], (2,))
    """
    columns = ("epoch", "loss", "validation_loss", "n_selected", "weight")
    missing = [name for name in columns if name not in history]
    if missing:
        raise ValueError(f"history lacks {', '.join(missing)}; it has {', '.join(history)}")
    values = {name: np.asarray(history[name]) for name in columns}
    lengths = {name: len(column) for name, column in values.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"the columns of history differ in length: {lengths}")
    epoch = values["epoch"].astype(np.int64)
    anew = np.flatnonzero(np.diff(epoch) <= 0)
    before = np.zeros(len(epoch), np.int64)
    for last in anew:
        before[last + 1 :] += epoch[last]
    epoch = epoch + before
    return TrainingInfo(
        epoch=epoch,
        loss=values["loss"].astype(np.float64),
        validation_loss=values["validation_loss"].astype(np.float64),
        n_open=values["n_selected"].astype(np.int64),
        weight=values["weight"].astype(np.float64),
        starts=tuple(int(epoch[last]) for last in anew),
        n_selected=n_selected,
        n_features=n_features,
        title=title,
    )


def plot_training(
    info: TrainingInfo, path: str | os.PathLike[str] | None = None, *, dpi: int = 150
) -> Figure:
    """Draw a training: the loss above, the open gates below, lambda where it changes.

    Parameters
    ----------
    info : TrainingInfo
        From :func:`training_info`.
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
    >>> from bitsieve.report import plot_training, training_info
    >>> history = {"epoch": [1, 2], "loss": [0.7, 0.5], "validation_loss": [0.7, 0.6],
    ...            "n_selected": [9, 3], "weight": [0.1, 0.1]}
    >>> len(plot_training(training_info(history), "training.png").axes)
    2
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    weight = np.where(info.weight > 0.0, info.weight, np.nan)
    walks = len(np.unique(weight[np.isfinite(weight)])) > 1
    figure = Figure(figsize=(8.0, 5.5), layout="constrained")
    ratios = (2.0, 1.2, 0.8) if walks else (2.0, 1.2)
    panels = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios)
    above, middle = panels[:2]
    beside: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": (1.01, 1.0),
        "borderaxespad": 0.0,
        "fontsize": 8,
        "frameon": False,
    }
    marker = "o" if len(info.epoch) == 1 else ""  # no line leads anywhere
    above.plot(info.epoch, info.loss, color="#1f5fa8", linewidth=1.4, marker=marker,
               label="training samples")  # fmt: skip
    if np.isfinite(info.validation_loss).any():
        above.plot(info.epoch, info.validation_loss, color="#b36b00", linewidth=1.4, marker=marker,
                   label="validation part")  # fmt: skip
    above.set_ylabel("loss")
    above.set_title(drawn(info.title), loc="left", fontsize=11)
    middle.step(info.epoch, info.n_open, where="post", color="black", linewidth=1.6, marker=marker,
                label="open gates")  # fmt: skip
    if info.n_selected is not None:
        middle.axhline(
            info.n_selected, color="#b00020", linewidth=1.2, linestyle=(0, (5, 2)),
            label=f"selected: {info.n_selected:,}",
        )  # fmt: skip
    if info.n_open.max(initial=0) > 100:
        middle.set_yscale("symlog", linthresh=1.0)
        middle.set_ylim(bottom=0)
    else:
        middle.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5, min_n_ticks=1))
    of = "" if info.n_features is None else f"\nof {info.n_features:,}"
    middle.set_ylabel(f"features{of}")
    if walks:
        panels[2].plot(info.epoch, weight, color="#555555", linewidth=1.2, label="lambda")
        panels[2].set_yscale("log")
        panels[2].set_ylabel("weight of\nthe penalty")
    for number, axes in enumerate(panels):
        for place, epoch in enumerate(info.starts):
            label = "from here on with fixed gates" if number == place == 0 else None
            axes.axvline(epoch, color="#999999", linewidth=1.0, linestyle=":", label=label)
        axes.legend(**beside)
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.01)
    panels[-1].set_xlabel("epoch")
    panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    if path is not None:
        save_figure(figure, path, dpi)
    return figure
