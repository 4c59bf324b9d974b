"""The picture of nested subsets: its numbers, and what is drawn of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bitsieve.report import nested_info, plot_nested
from bitsieve.selectors import NestedSubsets


def nested() -> NestedSubsets:
    return NestedSubsets(
        [np.array([3, 1]), np.array([3, 0, 1]), np.array([3, 1, 0, 2])], np.arange(3.0), 4
    )


def test_numbers() -> None:
    info = nested_info(nested(), names=list("abcd"), scores=[[1, 2, 3], [3, 2, 1]], n_shown=3)
    assert info.labels == ["d", "b", "a"]
    assert info.held.tolist() == [[True] * 3, [True] * 3, [False, True, True]]
    assert info.sizes == [2, 3, 4]
    assert nested_info(nested()).labels == ["feature 3", "feature 1", "feature 0", "feature 2"]


def test_what_is_drawn(tmp_path: Path) -> None:
    info = nested_info(nested(), names=["a", "$b$", "c", "d" * 99], chosen=3)
    (axes,) = plot_nested(info, tmp_path / "n.png").axes
    assert (tmp_path / "n.png").read_bytes().startswith(b"\x89PNG")
    assert len(axes.collections[0].get_offsets()) == int(info.held.sum())
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == ["d" * 23 + "…", r"\$b\$", "a", "c"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "3", "4"]
    info = nested_info(nested(), scores=[[1.0, 2.0, 4.0], [3.0, 2.0, 2.0]])
    above, _ = plot_nested(info, score="AUC").axes
    assert above.get_ylabel() == "AUC"
    assert above.lines[0].get_ydata().tolist() == [2.0, 2.0, 3.0]
    (bars,) = above.collections
    np.testing.assert_allclose(np.diff([p[:, 1] for p in bars.get_segments()])[:, 0], [2, 0, 2])
    assert plot_nested(nested_info(nested(), scores=[1.0, 2.0, 4.0])).axes


def test_refuses() -> None:
    for options, message in (
        ({"names": ["a"]}, "names must be those of 4"),
        ({"scores": [1.0]}, "scores must be one for each of 3"),
        ({"n_shown": 0}, "n_shown"),
    ):
        with pytest.raises(ValueError, match=message):
            nested_info(nested(), **options)
