"""A ranking as rows, a file, a table and a picture."""

from __future__ import annotations

import csv
import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from rich.console import Console

from bitsieve.report import (
    Ranking,
    plot_ranking,
    ranking_info,
    ranking_rows,
    ranking_table,
    write_ranking_csv,
)


def _ranking(**changes: Any) -> Ranking:
    given: dict[str, Any] = {
        "source": "x.csv",
        "method": "f",
        "names": ["a", 'b,"c"', "d"],
        "n_samples": 1234,
        "scores": np.array([0.5, 12.25, 3.0]),
        "order": np.array([1, 2, 0]),
    }
    return Ranking(**(given | changes))


_TESTED: dict[str, Any] = {
    "p_values": np.array([0.4, 1e-9, 0.02]),
    "q_values": np.array([0.4, 3e-9, 0.03]),
}
_GREEDY: dict[str, Any] = {
    "method": "mrmr",
    "scores": np.array([np.nan, 0.75, 0.25]),
    "greedy": True,
}
_COMBINED: dict[str, Any] = {
    "method": "f, auc combined by mean",
    "positions": {"f": np.array([3.0, 1.0, 2.0]), "auc": np.array([2.5, 1.0, 2.5])},
}


def _text(ranking: Ranking, width: int = 100, top: int = 20) -> str:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        console.print(ranking_table(ranking, top=top))
    return captured.get()


# -- rows and file -----------------------------------------------------------------------------


def test_rows_come_best_first() -> None:
    assert ranking_rows(_ranking()) == [
        (1, 'b,"c"', 1, 12.25),
        (2, "d", 2, 3.0),
        (3, "a", 0, 0.5),
    ]
    assert ranking_rows(_ranking(**_TESTED))[0] == (1, 'b,"c"', 1, 12.25, 1e-9, 3e-9)
    assert ranking_rows(_ranking(**_COMBINED))[1] == (2, "d", 2, 3.0, 2, 2.5)


def test_features_that_were_not_taken_have_no_rank() -> None:
    ranking = _ranking(**_GREEDY)
    assert ranking_rows(ranking)[2] == ("", "a", 0, "")
    assert ranking.n_ranked == 2
    assert ranking.sentences()[-1] == (
        "mrmr takes features one by one: 2 features taken, 1 left without a rank. A score is the "
        "criterion when the feature was taken, so scores need not fall."
    )


@pytest.mark.parametrize("more", [{}, _TESTED, _GREEDY, _COMBINED])
def test_the_file_reads_back(tmp_path: Path, more: dict[str, Any]) -> None:
    path = write_ranking_csv(tmp_path / "new" / "ranking.csv", _ranking(**more))
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["feature"] for row in rows] == ['b,"c"', "d", "a"]
    assert [row["index"] for row in rows] == ["1", "2", "0"]
    assert list(rows[0]) == [
        "rank", "feature", "index", "score",
        *(["p_value", "q_value"] if more is _TESTED else []),
        *(["position_f", "position_auc"] if more is _COMBINED else []),
    ]  # fmt: skip
    assert os.listdir(path.parent) == ["ranking.csv"]


def test_scores_keep_every_bit(tmp_path: Path) -> None:
    scores = np.array([1 / 3, np.pi * 1e-300, np.inf])
    path = write_ranking_csv(tmp_path / "r.csv", _ranking(scores=scores, order=np.array([2, 0, 1])))
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:]
    assert [float(row[3]) for row in rows] == [np.inf, 1 / 3, np.pi * 1e-300]


# -- table and sentences -----------------------------------------------------------------------


def test_the_table_shows_the_first() -> None:
    text = _text(_ranking(), top=2)
    lines = [line.split() for line in text.splitlines() if line.strip()]
    assert lines[0] == ["rank", "feature", "score"]
    assert lines[2:] == [["1", 'b,"c"', "12.25"], ["2", "d", "3.00"]]
    assert len(_text(_ranking(), top=99).splitlines()) == len(text.splitlines()) + 1


def test_p_and_q_values_are_short() -> None:
    lines = [line.split() for line in _text(_ranking(**_TESTED)).splitlines() if line.strip()]
    assert lines[0] == ["rank", "feature", "score", "p", "q"]
    assert lines[2] == ["1", 'b,"c"', "12.25", "1.0e-09", "3.0e-09"]
    assert lines[4] == ["3", "a", "0.50", "0.400", "0.400"]


def test_positions_of_every_method() -> None:
    lines = [line.split() for line in _text(_ranking(**_COMBINED)).splitlines() if line.strip()]
    assert lines[0] == ["rank", "feature", "score", "f", "auc"]
    assert lines[3] == ["2", "d", "3.00", "2", "2.5"]


def test_scores_show_four_digits_of_the_greatest() -> None:
    for greatest, shown in ((0.012344, "0.01234"), (123456.0, "123,456"), (0.0, "0.000")):
        text = _text(_ranking(scores=np.array([0.0, greatest, 0.0])))
        assert shown in text
    assert "inf" in _text(_ranking(scores=np.array([0.0, np.inf, 1.0])))


def test_names_from_a_file_do_no_harm() -> None:
    names = ["[bold]x[/bold]", "a\x1b[31mb", "a name of more letters than the terminal has"]
    text = _text(_ranking(names=names), width=40)
    assert "[bold]x[/bold]" in text
    assert "\x1b[31m" not in text
    assert r"a\x1b[31mb" in text
    assert max(len(line) for line in text.splitlines()) <= 40
    assert "than" in text  # folded, not cut


def test_what_is_said_beside_the_numbers() -> None:
    said = _ranking(**_TESTED).sentences()
    assert said[0] == (
        "Scores were computed on all 1,234 samples: a ranking is no error estimate. For the error "
        "of a panel taken from it, use nested_cross_validate, which ranks again inside every "
        "outer training part."
    )
    assert said[1] == (
        "p: one test a feature; q: adjusted for all 3 features (Benjamini-Hochberg); q < 0.05 for "
        "2."
    )
    assert _ranking(**_TESTED).heading(2) == "x.csv: 1,234 samples, 3 features; f, first 2"


def test_results_for_a_record() -> None:
    results = _ranking(**_GREEDY, seconds=0.5).results(top=10)
    assert results == {
        "n_ranked": 2,
        "seconds": 0.5,
        "top": [
            {"rank": 1, "feature": 'b,"c"', "index": 1, "score": 0.75},
            {"rank": 2, "feature": "d", "index": 2, "score": 0.25},
        ],
    }


# -- picture -----------------------------------------------------------------------------------


def _big(n: int = 500, **more: Any) -> Ranking:
    scores = np.sort(np.random.default_rng(0).normal(size=n))[::-1]
    names = [f"gene {i}" for i in range(n)]
    return _ranking(names=names, scores=scores, order=np.arange(n), **more)


def test_bars_are_the_first_scores() -> None:
    figure = plot_ranking(ranking_info(_big(), top=12, label="weight"))
    bars, curve = figure.axes
    assert [bar.get_width() for bar in bars.patches] == _big().scores[:12].tolist()
    assert [t.get_text() for t in bars.get_yticklabels()] == [f"gene {i}" for i in range(12)]
    low, high = bars.get_ylim()
    assert low > high  # the best is at the top
    assert bars.get_xlabel() == "weight"
    every, first = curve.get_lines()
    np.testing.assert_array_equal(every.get_ydata(), _big().scores)
    np.testing.assert_array_equal(first.get_ydata(), _big().scores[:12])
    assert curve.get_xscale() == "log"


def test_the_picture_grows_with_its_bars_up_to_a_limit() -> None:
    heights = [
        plot_ranking(ranking_info(_big(), top=top)).get_figheight() for top in (5, 30, 60, 400)
    ]
    assert heights[0] < heights[1] < heights[2] == heights[3]
    assert len(ranking_info(_big(), top=400).names) == 60


def test_what_is_significant_has_its_own_colour() -> None:
    bars = plot_ranking(ranking_info(_ranking(**_TESTED))).axes[0]
    colours = {bar.get_y() + bar.get_height() / 2: bar.get_facecolor() for bar in bars.patches}
    assert colours[0] == colours[1] != colours[2]
    legend = bars.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["q < 0.05", "q ≥ 0.05"]


def test_several_rankings_show_their_positions() -> None:
    _, right = plot_ranking(ranking_info(_ranking(**_COMBINED))).axes
    by_name = {line.get_label(): line.get_xdata() for line in right.get_lines()}
    np.testing.assert_array_equal(by_name["f"], [1, 2, 3])
    np.testing.assert_array_equal(by_name["auc"], [1, 2.5, 2.5])


def test_names_that_would_be_drawn_as_something_else(tmp_path: Path) -> None:
    names = ["$x^2$", "a" * 100, "基因\x1b"]
    info = ranking_info(_ranking(names=names, order=np.array([0, 1, 2])))
    assert info.names[0] == "$x^2$"
    assert len(info.names[1]) < 40
    assert "…" in info.names[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot_ranking(info, tmp_path / "ranking.png")
    assert figure.axes[0].get_yticklabels()[0].get_text() == r"\$x^2\$"


@each(
    ("scores", "suffix"),
    [
        ([np.inf, 2.0, 1.0], ".png"),
        ([np.inf, 2.0, 1.0], ".svg"),
        ([np.inf, 2.0, 1.0], ".pdf"),
        ([np.inf] * 3, ".png"),
        ([0.0] * 3, ".png"),
        ([-1.0, -2.0, -3.0], ".png"),
        ([np.nan] * 2 + [1.0], ".png"),
    ],
)
def test_any_scores_can_be_drawn(tmp_path: Path, scores: list[float], suffix: str) -> None:
    values = np.array(scores)
    order = np.argsort(-values, kind="stable")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_ranking(
            ranking_info(_ranking(scores=values, order=order)), tmp_path / f"ranking{suffix}"
        )
    assert os.listdir(tmp_path) == [f"ranking{suffix}"]
    os.remove(tmp_path / f"ranking{suffix}")


def test_pyplot_is_not_touched() -> None:
    import sys

    before = set(sys.modules)
    plot_ranking(ranking_info(_ranking()))
    assert "matplotlib.pyplot" not in set(sys.modules) - before
