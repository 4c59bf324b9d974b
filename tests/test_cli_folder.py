"""The folder of a run: one for each command, and nothing of another run is overwritten."""

from __future__ import annotations

import io
import json
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitsieve.cli import main
from bitsieve.cli.methods import KNOWN, joined

_SELECT = ["select", "--dataset", "iris", "--method", "bspsa", "--max-iter", "2"]
_SELECT += ["--repeats", "1", "--outer-folds", "0"]
_SEEDED = [*_SELECT, "--seed", "1"]
_RANK = ["rank", "--dataset", "iris", "-m", "f"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*words: Any) -> tuple[object, str]:
    stderr = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code, stderr.getvalue()


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _is_refused(*words: Any, folder: str) -> str:
    before = _contents(Path(folder))
    code, stderr = _run(*words)
    assert code == 2
    assert stderr.count("\n") == 1
    assert stderr.startswith(f"bitsieve: error: --out {folder} holds ")
    assert stderr.endswith("another --out, or --force to overwrite\n")
    assert len(stderr) < 300
    assert _contents(Path(folder)) == before
    return stderr


def test_each_command_has_a_folder_of_its_own() -> None:
    assert _run(*_SEEDED) == (0, "")
    assert _run(*_RANK) == (0, "")
    assert sorted(os.listdir("bitsieve-out")) == ["rank", "select"]
    for command in ("rank", "select"):
        record = json.loads(Path("bitsieve-out", command, "run.json").read_bytes())
        assert record["repeat"].startswith(f"bitsieve {command} ")


def test_the_same_run_may_be_repeated() -> None:
    assert _run(*_SEEDED) == (0, "")
    # What changes no number makes no other run.
    assert _run(*_SEEDED, "--jobs", 1, "--checkpoint", "stored", "-q") == (0, "")
    repeat = json.loads(Path("bitsieve-out/select/run.json").read_bytes())["repeat"]
    assert _run(*shlex.split(repeat)[1:]) == (0, "")
    for _ in range(2):
        assert _run(*_RANK) == (0, "")
    assert _run(*_RANK, "--plot") == (0, "")
    assert sorted(os.listdir("bitsieve-out/rank")) == ["ranking.csv", "ranking.png", "run.json"]


def test_another_run_is_not_overwritten() -> None:
    folder = "bitsieve-out/select"
    assert _run(*_SEEDED) == (0, "")
    said = _is_refused(*_SEEDED, "--cv", 4, folder=folder)
    assert "holds selection.csv, run.json, convergence.png of another run, bitsieve" in said
    said = _is_refused(*_SELECT, folder=folder)  # draws another seed
    assert "of this run with the seed that was drawn for it: give --seed 1 to repeat it, " in said
    _is_refused(*_SELECT, "--cv", 4, folder=folder)
    _is_refused(*_RANK, "--out", folder, folder=folder)
    assert _run(*_SEEDED, "--cv", 4, "--out", "other") == (0, "")
    assert _run(*_SEEDED, "--cv", 4, "--force") == (0, "")
    record = json.loads(Path(folder, "run.json").read_bytes())
    assert record["parameters"]["cv"] == 4
    assert "force" not in record["parameters"]


def test_another_content_of_the_same_file_is_another_run(here: Path) -> None:
    def write(seed: int) -> None:
        X = np.random.default_rng(seed).normal(size=(20, 3))
        rows = [f"{a},{b},{c},{i % 2}" for i, (a, b, c) in enumerate(X.tolist())]
        (here / "x.csv").write_text("\n".join(["a,b,c,t", *rows]), encoding="utf-8")

    write(0)
    command = ["rank", "x.csv", "-t", "t", "-m", "f"]
    assert _run(*command) == (0, "")
    assert _run(*command) == (0, "")
    write(1)
    _is_refused(*command, folder="bitsieve-out/rank")


def test_what_is_no_record_of_a_run_is_not_overwritten() -> None:
    for name, content in (
        ("selection.csv", "mine"), ("run.json", "{"), ("run.json", "[1]"), ("run.json", "{}"),
        ("run.json", '{"seed": 1}'), ("run.json", "\xff"), ("convergence.png", ""),
    ):  # fmt: skip
        folder = Path("mine")
        folder.mkdir()
        (folder / name).write_text(content, encoding="latin-1")
        said = _is_refused(*_SEEDED, "--out", folder, folder="mine")
        assert f"holds {name} of something else" in said
        (folder / name).unlink()
        folder.rmdir()
    folder.mkdir()
    (folder / "other.txt").write_text("stays", encoding="utf-8")
    assert _run(*_SEEDED, "--out", folder) == (0, "")
    assert (folder / "other.txt").read_text(encoding="utf-8") == "stays"


def test_a_method_of_the_other_command() -> None:
    for method, name in (("relieff", "relieff"), ("MultiSURF*", "multisurf-star"), ("anova", "f")):
        code, stderr = _run(*_SELECT, "--method", method)
        assert code == 2
        assert stderr == (
            f"bitsieve: error: --method {method} scores features without making a panel: use "
            f"bitsieve rank --method {name}; bitsieve select makes a panel, with {joined(KNOWN)}\n"
        )
    code, stderr = _run("rank", "--dataset", "iris", "-m", "f", "-m", "BSPSA")
    assert code == 2
    assert "--method BSPSA makes a panel: use bitsieve select --method BSPSA" in stderr
    code, stderr = _run(*_SELECT, "--method", "nonsense")
    assert (code, "unknown method 'nonsense'; known methods: auto, " in stderr) == (2, True)
    assert not Path("bitsieve-out").exists()


def test_a_name_that_no_folder_can_have() -> None:
    code, said = _run(*_SEEDED, "--out", "x" * 300)
    assert code == 2
    assert "cannot be written (File name too long): give another folder" in said


@pytest.mark.parametrize("option", ["--target", "--drop", "--index", "--groups"])
def test_a_bundled_set_is_taken_as_it_is(option: str) -> None:
    for command in (_SEEDED, _RANK) if option != "--groups" else (_SEEDED,):
        code, said = _run(*command, option, "petal width")
        assert (code, said.count("\n")) == (2, 1)
        assert f"{option} names a column of a FILE, but --dataset iris" in said
