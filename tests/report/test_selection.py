"""selection.csv, read back by independent readers."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from bitsieve.report import selection_rows, write_selection_csv


def test_selected_first_then_by_agreement_then_by_index() -> None:
    rows = selection_rows(list("abcde"), [0, 1, 0, 1, 1], [5, 2, 5, 4, 2], 5)
    assert [row[0] for row in rows] == ["d", "b", "e", "a", "c"]
    assert rows[0] == ("d", 3, 1, 4, 5)
    assert rows[-1] == ("c", 2, 0, 5, 5)


def test_pandas_reads_the_same_values(tmp_path: Path) -> None:
    path = write_selection_csv(tmp_path / "s.csv", ["x", "y"], [True, False], [3, 1], 5)
    frame = pd.read_csv(path)
    assert frame.columns.tolist() == ["feature", "index", "selected", "n_folds_selected", "n_folds"]
    assert frame.values.tolist() == [["x", 0, 1, 3, 5], ["y", 1, 0, 1, 5]]


def test_names_with_special_characters_survive(tmp_path: Path) -> None:
    names = ['a,"b"', "β-catenin", "1-2", "[red]x[/red]", " space ", "\xa0nbsp"]
    path = write_selection_csv(tmp_path / "s.csv", names, [True] * 6)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["feature"] for row in rows] == names
    assert {row["n_folds_selected"] for row in rows} == {""}


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="1 names, 2 flags and 2 counts"):
        selection_rows(["a"], [True, False])
