"""Names in CSV files: no formulas, nothing unseen, and harmless names as they are."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from bitsieve.report import Ranking, write_ranking_csv, write_selection_csv
from bitsieve.report.cells import cell

_HOSTILE = {
    "=1+1": "'=1+1",
    "+1": "'+1",
    "-1": "'-1",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\\x09=1",
    "\r=1": "'\\x0d=1",
    "\n=1": "'\\x0a=1",
    "a\x1b[31mb": "a\\x1b[31mb",
    "a\x00b\x7fc\x85d": "a\\x00b\\x7fc\\x85d",
    "tp53\u202e35pt": "tp53\\u202e35pt",
    "a\u2028b\u2029c": "a\\u2028b\\u2029c",
    "a\u2066b\u200fc\ufeffd": "a\\u2066b\\u200fc\\ufeffd",
    "a\U000e0041b": "a\\U000e0041b",
    "a\udc80b": "a\\udc80b",
}
_HARMLESS = ["tp53", "HLA-A", "a=b", "β-catenin", " 2", "\xa0x", "'q", "\U0001f9ec", "漢字", ""]


def test_cells() -> None:
    for name, safe in _HOSTILE.items():
        assert cell(name) == safe
        assert cell(safe) == safe
    for name in _HARMLESS:
        assert cell(name) == name


@pytest.mark.parametrize("kind", ["selection", "ranking"])
def test_every_csv_file_goes_through_it(tmp_path: Path, kind: str) -> None:
    names, n = list(_HOSTILE), len(_HOSTILE)
    path = tmp_path / "names.csv"
    if kind == "selection":
        write_selection_csv(path, names, [True] * n)
    else:
        scores = -np.arange(n, dtype=float)
        write_ranking_csv(path, Ranking("x.csv", "f", names, 9, scores, np.arange(n)))
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["feature"] for row in rows] == list(_HOSTILE.values())
    if kind == "ranking":
        assert [float(row["score"]) for row in rows] == [-float(i) for i in range(n)]
    assert all(c.isprintable() or c == "\n" for c in path.read_text(encoding="utf-8"))
