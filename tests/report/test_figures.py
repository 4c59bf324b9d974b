"""Pictures of hostile names: drawn as they stand, and no warning that quotes them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from bitsieve.report import (
    Ranking,
    convergence_info,
    plot_convergence,
    plot_ranking,
    ranking_info,
)

_NAMES = ["$\\frac{1}{2$", "a$b$c", "\x1b[31mred", "漢字\u202e", "\ue000\U000e0041", "a\udc80"]
_HISTORY = {
    "iteration": [0, 1],
    "score": [0.5, 0.75],
    "best_observed": [0.5, 0.75],
    "n_selected": [3, 2],
    "n_selected_best": [3, 2],
}


def test_a_picture_of_a_ranking(tmp_path: Path) -> None:
    order = np.arange(len(_NAMES))
    for positions in ({}, {"$f$": order + 1, "\x1b": order + 1}):
        ranking = Ranking(
            "$x$\x1b.csv", "f", _NAMES, 9, -order.astype(float), order, positions=positions
        )
        info = ranking_info(ranking, label="$score\x1b$")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure = plot_ranking(info, tmp_path / "a.png")
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert labels[:3] == ["\\$\\frac{1}{2\\$", "a\\$b\\$c", "\\x1b[31mred"]


def test_a_picture_of_a_search(tmp_path: Path) -> None:
    for name in _NAMES:
        info = convergence_info(_HISTORY, title=f"{name}$y$", levels={name: 0.5}, scoring=name)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure = plot_convergence(info, tmp_path / "a.svg")
        assert "\x1b" not in figure.axes[0].get_title(loc="left")
        assert "\x1b" not in (tmp_path / "a.svg").read_text(encoding="utf-8")
