"""Names from a file that would act on a terminal, a spreadsheet or a picture."""

from __future__ import annotations

import csv
import io
import json
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from bitsieve.cli import main
from bitsieve.cli.terminal import plain_warnings

_NAMES = ["=1+1", "@a", "e\x1b[31mf", "g\u202eh", "i\u2028j", "$k", "漢字\U0001f9ec", "plain"]
_BSPSA = ["--method", "bspsa"]
_COMMANDS = {
    "select": [*_BSPSA, "--max-iter", "3", "--repeats", "1", "--outer-folds", "2", "--cv", "2"],
    "rank": ["-m", "f", "-m", "s2n", "--plot"],
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Eight features, classes and a file name that are all hostile."""
    rng = np.random.default_rng(0)
    path = tmp_path / "x\x1b[1m$y$.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*_NAMES, "t"])
        for i in range(20):
            writer.writerow([*(rng.normal(size=8) + i % 2), ("\x1b]0;a", "\u202eb")[i % 2]])
    return path


@pytest.mark.parametrize("command", sorted(_COMMANDS))
@pytest.mark.parametrize("as_json", [False, True])
def test_no_name_acts(table: Path, tmp_path: Path, command: str, as_json: bool) -> None:
    out = tmp_path / "out"
    stdout, stderr = io.StringIO(), io.StringIO()
    words = [command, str(table), "-t", "t", "--out", str(out), "--seed", "1"]
    words += ["--json"] if as_json else []
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([*words, *_COMMANDS[command]])
    assert stop.value.code == 0, stderr.getvalue()
    said = stdout.getvalue()
    assert all(c.isprintable() or c == "\n" for c in said + stderr.getvalue())
    assert said.isascii() or not as_json
    text = (out / "run.json").read_bytes().decode("ascii")
    for record in (json.loads(text), *([json.loads(said)] if as_json else [])):
        assert set(record["data"]["classes"]) == {"\x1b]0;a", "\u202eb"}
        results = record["results"]
        names = [row["feature"] for row in results["top"]] if command == "rank" else None
        assert set(names or results["selected"]) <= set(_NAMES)
    with next(out.glob("*.csv")).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["feature"] for row in rows) == sorted(
        ["'=1+1", "'@a", "e\\x1b[31mf", "g\\u202eh", "i\\u2028j", *_NAMES[5:]]
    )


def test_a_warning_quotes_no_raw_name() -> None:
    stderr = io.StringIO()
    with redirect_stderr(stderr), plain_warnings():
        warnings.warn("a name: \x1b[31m \u202e", UserWarning, stacklevel=1)
    assert stderr.getvalue() == "bitsieve: warning: a name: \\x1b[31m \\u202e\n"
