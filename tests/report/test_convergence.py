"""The convergence plot: its numbers, then what is drawn."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from each import each

from bitsieve.report import convergence_info, plot_convergence


def _history(n: int = 200) -> dict[str, np.ndarray]:
    score = np.random.default_rng(0).uniform(0.5, 0.9, n)
    best = np.maximum.accumulate(score)
    at = np.array([int(np.argmax(score[: i + 1])) for i in range(n)], dtype=int)
    sizes = np.arange(n, 0, -1)
    return {
        "iteration": np.arange(n),
        "score": score,
        "best_observed": best,
        "n_selected": sizes,
        "n_selected_best": sizes[at],
    }


def test_accuracies_become_errors_in_percent() -> None:
    history = _history()
    info = convergence_info(history, levels={"honest": 0.6}, interval=(0.5, 0.7))
    np.testing.assert_allclose(info.iterate, 100 * (1 - history["score"]))
    assert np.all(np.diff(info.best_observed) <= 0)
    assert info.levels == pytest.approx({"honest": 40.0})
    assert info.band == pytest.approx((30.0, 50.0))
    assert info.label == "error (%)"


def test_other_scores_stay_as_they_are() -> None:
    history = _history()
    info = convergence_info(history, scoring="roc_auc", levels={"honest": 0.6})
    np.testing.assert_array_equal(info.iterate, history["score"])
    assert info.label == "roc auc"
    assert info.levels == {"honest": 0.6}


def test_the_smoothed_curve_is_a_centred_running_mean() -> None:
    history = _history()
    info = convergence_info(history, scoring="f1")
    assert info.window == 5
    for i in (0, 1, 100, 198, 199):
        window = history["score"][max(i - 2, 0) : i + 3]
        assert info.smoothed[i] == pytest.approx(window.mean())


def test_values_that_were_not_measured_are_left_out() -> None:
    history = _history()
    history["score"][10] = np.nan
    info = convergence_info(history, scoring="f1", levels={"re-measured": np.nan})
    assert np.isfinite(info.smoothed).all()
    assert info.levels == {}


def test_a_missing_or_short_column_is_named() -> None:
    history = _history()
    with pytest.raises(ValueError, match="differ in length"):
        convergence_info({**history, "score": [1.0]})
    del history["n_selected"]
    with pytest.raises(ValueError, match="history lacks n_selected; it has iteration"):
        convergence_info(history)


def test_two_panels_show_the_numbers(tmp_path: Path) -> None:
    info = convergence_info(
        _history(), n_features=200, levels={"honest": 0.6}, interval=(0.5, 0.7), title="a title"
    )
    figure = plot_convergence(info, tmp_path / "c.png")
    above, below = figure.axes
    assert above.get_title(loc="left") == "a title"
    assert above.get_ylabel() == "error (%)"
    assert below.get_ylabel() == "features\nof 200"
    assert below.get_xlabel() == "iteration"
    lines = {line.get_label(): line for line in above.get_lines()}
    np.testing.assert_array_equal(
        lines["best observed so far (inner CV; optimistic)"].get_ydata(), info.best_observed
    )
    assert "honest 40.0 % (nested CV; shaded: interval)" in lines
    np.testing.assert_array_equal(below.get_lines()[0].get_ydata(), info.n_selected)
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


@each("n", [0, 1, 2])
def test_a_short_history_is_drawn_too(n: int, tmp_path: Path) -> None:
    plot_convergence(convergence_info(_history(n)), tmp_path / "c.svg")
    assert b"<svg" in (tmp_path / "c.svg").read_bytes()


def test_a_size_that_never_changes_has_one_tick() -> None:
    sizes = np.full(200, 10)
    history = _history() | {"n_selected": sizes, "n_selected_best": sizes}
    figure = plot_convergence(convergence_info(history))
    below = figure.axes[1]
    low, high = below.get_ylim()
    assert [tick for tick in below.get_yticks() if low <= tick <= high] == [10]


def test_pyplot_is_left_alone(tmp_path: Path) -> None:
    before = "matplotlib.pyplot" in sys.modules
    plot_convergence(convergence_info(_history()), tmp_path / "c.png")
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_a_search_of_one_iteration_shows_its_point() -> None:
    """Lines of one point would be invisible, and their axis would have fractions of iterations."""
    above, below = plot_convergence(convergence_info(_history(1))).axes
    assert below.get_xlim() == (-0.5, 0.5) == above.get_xlim()
    assert [below.lines[0].get_marker(), above.lines[0].get_marker()] == ["o", "o"]
    assert below.get_xticks().tolist() == [0]
    assert plot_convergence(convergence_info(_history(2))).axes[1].lines[0].get_marker() == ""
