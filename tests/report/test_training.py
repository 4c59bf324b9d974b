"""The picture of a training: its numbers, and what is drawn of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitsieve.report import plot_training, training_info


def _history(**other: Any) -> dict[str, Any]:
    nan = float("nan")
    return {
        "epoch": [1, 2, 3, 1, 2],
        "loss": [0.9, 0.7, 0.5, 0.4, 0.3],
        "validation_loss": [nan] * 5,
        "n_selected": [200, 150, 3, 3, 3],
        "weight": [0.01, 0.1, 1.0, 0.0, 0.0],
        **other,
    }


def test_a_second_training_follows_the_first() -> None:
    info = training_info(_history(), n_selected=3, n_features=200, title="t")
    assert info.epoch.tolist() == [1, 2, 3, 4, 5]
    assert info.starts == (3,)
    assert info.n_open.tolist() == [200, 150, 3, 3, 3]
    assert (info.n_selected, info.n_features, info.title) == (3, 200, "t")
    one = training_info({name: column[:3] for name, column in _history().items()})
    assert (one.epoch.tolist(), one.starts) == ([1, 2, 3], ())


def test_what_is_missing_is_named() -> None:
    history = _history()
    del history["weight"]
    with pytest.raises(ValueError, match="history lacks weight; it has epoch, loss,"):
        training_info(history)
    with pytest.raises(ValueError, match="the columns of history differ in length"):
        training_info(_history(loss=[0.1]))


def test_what_is_drawn() -> None:
    """A third panel where lambda changes, a second line where there was a validation part."""
    figure = plot_training(training_info(_history(), n_selected=3, n_features=200), "t.png")
    above, middle, below = figure.axes
    assert [line.get_label() for line in above.lines] == [
        "training samples", "from here on with fixed gates",
    ]  # fmt: skip
    assert above.lines[0].get_ydata().tolist() == [0.9, 0.7, 0.5, 0.4, 0.3]
    assert middle.lines[1].get_ydata()[0] == 3
    assert middle.get_yscale() == "symlog"
    shown = np.asarray(below.lines[0].get_ydata())
    assert shown[:3].tolist() == [0.01, 0.1, 1.0]
    assert np.isnan(shown[3:]).all()
    assert Path("t.png").read_bytes().startswith(b"\x89PNG")
    history = _history(weight=[0.1] * 5, validation_loss=[0.5] * 5)
    above, _ = plot_training(training_info(history)).axes
    assert "validation part" in [line.get_label() for line in above.lines]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
