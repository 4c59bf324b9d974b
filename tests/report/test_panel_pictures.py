"""The pictures of a panel: their numbers, then what is drawn."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from each import each

from bitsieve.report import path_info, plot_path, plot_reliability, reliability_info
from bitsieve.report.path import spread_out

sys.path.insert(0, str(Path(__file__).parent))
from panel_example import CHANCE, HONEST, LIMITS, outcome, without_folds


def test_the_path_goes_from_the_smallest_limit_to_none() -> None:
    info = path_info(outcome())
    assert [point.tick for point in info.points] == [
        "at most 10 features\n10 used", "at most 50 features\n20 to 50 used",
        "this panel's procedure\n20 to 100 used",
    ]  # fmt: skip
    assert [point.value for point in info.points] == pytest.approx([10.0, 5.9, 5.9])
    assert (info.points[0].low, info.points[0].high) == pytest.approx((5.0, 18.0))
    assert [point.inner for point in info.points] == pytest.approx([5.0, 3.0, 1.5])
    assert info.lines == {"all features, same classifier": pytest.approx(7.0)}
    assert info.chance == pytest.approx(49.0)
    assert path_info(outcome(scoring="roc_auc")).points[0].value == 0.9


@each("own, order", [(50, "10, 20, 50, inf"), (15, "10, 15, 20, inf"), (1200, "10, 20, 1200, inf")])
def test_the_panels_own_limit_stands_among_the_others(own: int, order: str) -> None:
    limits = (
        LIMITS[0], replace(LIMITS[0], label="at most 20 features"),
        replace(LIMITS[0], key="no limit", label="no limit"),
    )  # fmt: skip
    honest = replace(HONEST, label=f"this panel, at most {own} features")
    ticks = [point.tick for point in path_info(outcome(limits=limits, honest=honest)).points]
    assert max(len(line) for tick in ticks for line in tick.split("\n")) < 25
    named = [[word for word in tick.split() if word.isdigit()] for tick in ticks]
    assert ", ".join(words[0] if "most" in tick else "inf"
                     for words, tick in zip(named, ticks, strict=True)) == order  # fmt: skip


def test_rivals_are_lines_and_chance_is_told_where_it_is_far(tmp_path: Path) -> None:
    figure = plot_path(path_info(outcome()), tmp_path / "path.png")
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert "all features, same classifier 7.0 %" in texts
    assert "chance 49.0 %, beyond the axis" in texts
    assert axes.get_ylim()[1] < 25.0
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")
    near = plot_path(path_info(outcome(chance=0.88))).axes[0]
    assert "chance, no feature 12.0 %" in [text.get_text() for text in near.texts]


def test_a_path_of_nothing_is_drawn_too(tmp_path: Path) -> None:
    plot_path(path_info(without_folds()), tmp_path / "path.svg")
    assert b"<svg" in (tmp_path / "path.svg").read_bytes()
    plot_path(path_info(outcome(limits=(), rivals=(CHANCE,), chance=float("nan"))))


@each("values", [[], [1.0], [0.0, 0.0, 0.0], [0.0, 0.1, 5.0, 5.0], [4.9, 5.0, 5.0]])
def test_labels_do_not_lie_on_each_other(values: list[float]) -> None:
    places = spread_out(values, 0.5, 0.0, 5.0)
    assert len(places) == len(values)
    assert all(later - earlier > 0.5 - 1e-9 for earlier, later in pairwise(places))
    assert all(-1e-9 <= place <= 5.0 + 1e-9 for place in places)


def test_the_share_that_came_true_is_counted_in_each_bin() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(size=400)
    truth = np.where(rng.uniform(size=400) < p, "b", "a")
    info = reliability_info(np.c_[1 - p, p], truth, ["a", "b"], n_repeats=2)
    assert info.counts["b"].sum() == (truth == "b").sum() / 2
    inside = (p >= 0.25) & (p < 0.3)  # the sixth bin of the histogram
    assert info.counts["b"][5] == (truth[inside] == "b").sum() / 2
    assert info.counts["a"][5] == (truth[inside] == "a").sum() / 2
    # The points are tenths of the samples, in the order of their probabilities.
    assert len(info.probability) == 10
    tenth = np.argsort(p)[:40]
    assert info.probability[0] == pytest.approx(p[tenth].mean())
    assert info.share[0] == pytest.approx((truth[tenth] == "b").mean())
    assert np.all(info.interval[:, 0] <= info.share)
    assert np.all(info.share <= info.interval[:, 1])
    assert info.label == "predicted probability of b"


def test_of_several_classes_it_is_the_predicted_ones(tmp_path: Path) -> None:
    table = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [1.0, 0.0, 0.0]]
    info = reliability_info(table, ["a", "c", "c", "a"], ["a", "b", "c"])
    assert info.probability.tolist() == pytest.approx([2.9 / 4])
    assert info.share.tolist() == pytest.approx([3 / 4])
    assert np.flatnonzero(info.counts["right"]).tolist() == [8, 14, 19]
    assert np.flatnonzero(info.counts["wrong"]).tolist() == [16]
    above, below = plot_reliability(info, tmp_path / "c.png").axes
    assert below.get_xlabel() == "probability of the predicted class"
    assert above.get_ylabel() == "share that came true"


def test_a_long_class_leaves_the_picture_its_room() -> None:
    probabilities = np.tile([0.3, 0.7], (20, 1))
    long = "y" * 300
    info = reliability_info(probabilities, np.repeat([long, "x"], 10), ["x", long])
    assert info.label == f"predicted probability of {'y' * 37}..."
    assert list(info.counts) == [f"{'y' * 37}...", "x"]


def test_few_samples_are_counted_in_whole_numbers() -> None:
    info = reliability_info([[0.9, 0.1], [0.2, 0.8]] * 5, ["a", "b"] * 5, ["a", "b"])
    below = plot_reliability(info).axes[1]
    assert all(tick == int(tick) for tick in below.get_yticks())
