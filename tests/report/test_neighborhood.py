"""The picture of a Markov blanket."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from bitsieve.causal import Blanket
from bitsieve.causal.separators import Separators
from bitsieve.report import place_blanket, plot_blanket


def _blanket(n_near: int, n_far: int, name: str = "v") -> Blanket:
    n = 1 + n_near + n_far
    far = {1 + n_near + i: ((1 + i % n_near,) if i % 3 else ()) for i in range(n_far)}
    return Blanket(
        target=0, parents_children=tuple(range(1, 1 + n_near)), spouses=far,
        separators=Separators({}, np.zeros(n), np.zeros(n, dtype=bool)), copies={},
        log_p=np.zeros(n), weakest={x: -5.0 - x for x in range(1, n)}, n_tests=1,
        method="hiton-mb", alpha=0.01, names=[f"{name}{i}" for i in range(n)],
    )  # fmt: skip


def test_no_two_names_share_a_row_of_a_side() -> None:
    for n_near, n_far in ((0, 0), (1, 0), (1, 3), (14, 11), (30, 25)):
        blanket = _blanket(n_near, n_far)
        at = place_blanket(blanket)
        assert at[0] == (0.0, 0.0)
        assert set(at) == {0, *blanket.members}
        for members in (blanket.parents_children, tuple(blanket.spouses)):
            for x in members:
                for z in members:
                    apart = abs(at[x][1] - at[z][1]) >= 0.99
                    assert x == z or at[x][0] * at[z][0] < 0 or apart


def test_draws_the_strongest_of_very_many() -> None:
    figure = plot_blanket(_blanket(70, 10))
    assert len(figure.axes[0].texts) == 61
    assert "20 weaker ones" in figure.get_suptitle()


def test_hostile_names(tmp_path: Path) -> None:
    for name in ("$x$\x1b", "a\udc80", "漢字\u202e"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure = plot_blanket(_blanket(3, 4, name), tmp_path / "a.png")
        texts = figure.axes[0].texts
        assert len(texts) == 8
        assert not any("\x1b" in text.get_text() for text in texts)
