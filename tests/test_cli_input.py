"""Files on the command line: options that say how to read them, and what is recorded of it."""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitsieve.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of genes in rows, labels beside it, and the working folder of the process."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(8, 2, (12, 20)), 2)
    X[3, 10:] += 9
    lines = ["ID_REF\t" + "\t".join(f"s{i}" for i in range(20))]
    lines += [f"g{j}\t" + "\t".join(map(str, row)) for j, row in enumerate(X.tolist())]
    (tmp_path / "genes.tsv").write_text("\n".join(lines) + "\n")
    groups = ["a"] * 10 + ["b"] * 10
    (tmp_path / "order.txt").write_text("\n".join(groups) + "\n")
    sheet = [f"s{i},{group},{i % 7}" for i, group in enumerate(groups)]
    (tmp_path / "sheet.csv").write_text("\n".join(["sample,group,age", *sheet[2:]]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: object, code: int = 0) -> tuple[str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    assert stop.value.code == code, stdout.getvalue() + stderr.getvalue()
    return stdout.getvalue(), stderr.getvalue()


def _record(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / "run.json").read_text(encoding="utf-8"))
    return found


_RANK = ["rank", "genes.tsv", "--method", "welch", "--top", 1, "--out", "out", "--force"]
_SELECT = [
    "select", "genes.tsv", "--method", "bspsa", "--out", "out", "--force", "--max-iter", 2,
    "--repeats", 1, "--cv", 2, "--outer-folds", 2, "--jobs", 1, "--seed", 1,
]  # fmt: skip


def test_how_labels_met_samples_is_always_said_and_kept(folder: Path) -> None:
    for target in ("order.txt", folder / "order.txt"):
        for command in (_RANK, _SELECT):
            stdout, _ = _run(*command, "-t", target)
            assert "20 samples (a 10, b 10), 12 features; labels taken in order" in stdout
            assert _record(folder)["input"]["labels"] == "taken in order"
    stdout, stderr = _run(*_SELECT, "-t", "sheet.csv:group")
    assert "18 samples (a 8, b 10), 12 features; labels matched by name" in stdout
    said = "2 of 20 samples have no label in sheet.csv and are left out: 's0', 's1'"
    assert stderr.splitlines()[0] == f"bitsieve: warning: genes.tsv: {said}"
    found = _record(folder)["input"]
    assert (found["labels"], found["notes"]) == ("matched by name", [said])
    sheet = (folder / "sheet.csv").read_bytes()
    assert found["target"]["sha256"] == hashlib.sha256(sheet).hexdigest()
    _, stderr = _run(*_RANK, "-t", "sheet.csv", code=2)
    assert "say which one holds the labels: sheet.csv:COLUMN" in stderr


def test_options_that_say_how_to_read(folder: Path) -> None:
    path = folder / "genes.tsv"
    plain = path.read_text()
    path.write_text(plain.replace(".", ",").replace("g5\t", "g3\t").replace("g7\t", "g2\t"))
    options = ["--decimal", ",", "--duplicates", "max", "--drop", "g0,g1", "--drop", "s4"]
    labels = "".join(f"{'ab'[i > 9]}\n" for i in range(20) if i != 4)
    (folder / "order.txt").write_text(labels)
    for command in (_RANK, _SELECT):
        stdout, _ = _run(*command, "-t", "order.txt", "--orient", "features", *options)
        assert "19 samples (a 9, b 10), 8 features; labels taken in order" in stdout
        record = _record(folder)
        for option in ("--decimal ,", "--duplicates max", "--drop g0,g1 --drop s4"):
            assert option in record["repeat"]
        assert "fault" not in stdout
    _, stderr = _run(*_RANK, "-t", "order.txt", "--drop", "s4", code=2)
    assert "--decimal ," in stderr
    _, stderr = _run(*_RANK, "-t", "order.txt", "--drop", "s4", "--decimal", ",", code=2)
    assert "(--duplicates)" in stderr
    _, stderr = _run(*_RANK, "-t", "order.txt", "--drop", "sample4", code=2)
    assert "nothing named 'sample4' to drop" in stderr
    _, stderr = _run(*_RANK, "-t", "order.txt", "--decimal", "point", code=2)
    assert "decimal must be one character" in stderr


def test_damaged_files_are_no_fault_of_the_program(folder: Path) -> None:
    np.savez_compressed(folder / "t.npz", X=np.eye(6), y=list("ababab"))
    data = (folder / "t.npz").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(30):
        broken = bytearray(data)
        broken[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        (folder / "t.npz").write_bytes(broken)
        stdout, stderr = io.StringIO(), io.StringIO()
        with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
            main(["rank", "t.npz", "--method", "welch", "--out", "out"])
        assert stop.value.code in (0, 2)
        assert "fault of the program" not in stderr.getvalue()
        errors = [line for line in stderr.getvalue().splitlines() if "error" in line]
        assert len(errors) == (stop.value.code == 2)
