"""``bitsieve blanket``: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from bitsieve import MarkovBlanket
from bitsieve.cli import main


def _run(*arguments: object) -> tuple[object, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main(["blanket", *(str(a) for a in arguments)])
    return stop.value.code, " ".join(stdout.getvalue().split()), stderr.getvalue()


def _data() -> tuple[np.ndarray, np.ndarray]:
    parent, spouse, other, *noise = np.random.default_rng(0).normal(size=(6, 1000))
    y = parent + noise[0]
    child = y + spouse + noise[1]
    return np.column_stack([parent, spouse, child, child + noise[2], other]), y


def _write(path: Path, y: np.ndarray | None = None, cell: str | None = None) -> Path:
    X, outcome = _data()
    outcome = outcome if y is None else y
    rows = [[*map(repr, map(float, x)), t] for x, t in zip(X, outcome, strict=True)]
    if cell is not None:
        rows[0][0] = cell
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["parent", "spouse", "child", "effect", "other", "out"], *rows])
    return path


def test_what_it_says_and_writes(tmp_path: Path) -> None:
    file, out = _write(tmp_path / "a.csv"), tmp_path / "out"
    code, said, errors = _run(
        file, "-t", "out", "--alpha", 0.001, "--why-not", "effect", "--out", out
    )
    assert (code, errors) == (0, "")
    assert "Markov blanket of out, 2 parents or children and 1 spouse" in said
    assert "spouse through child" in said
    assert "Fisher's z (the features are numbers" in said
    assert "effect is not in the blanket of out: given child" in said
    assert {p.name for p in out.iterdir()} == {
        "blanket.csv", "separators.csv", "run.json", "blanket.png",
    }  # fmt: skip
    with (out / "blanket.csv").open(encoding="utf-8") as read:
        rows = list(csv.DictReader(read))
    theirs = MarkovBlanket(alpha=0.001).fit(*_data())
    assert {int(row["index"]) for row in rows} == set(theirs.blanket_.members)
    for row in rows:
        assert float(row["strength"]) == theirs.scores_[int(row["index"])]
    with (out / "separators.csv").open(encoding="utf-8") as read:
        given = {row["feature"]: row["given"] for row in csv.DictReader(read)}
    assert given == {"effect": "child", "other": ""}
    assert (out / "blanket.png").read_bytes()[:4] == b"\x89PNG"
    record = json.loads((out / "run.json").read_bytes())
    assert "--alpha 0.001" in record["repeat"]
    assert len(record["results"]["members"]) == 3


def test_warns_of_an_alpha_that_lets_chance_in(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", X=rng.normal(size=(50, 200)), y=rng.integers(0, 2, 50))
    for alpha, warned in ((0.01, True), (0.001, False)):
        code, _, errors = _run(
            tmp_path / "a.npz", "--alpha", alpha, "--force", "--out", tmp_path / "out"
        )
        assert code == 0
        assert ("seem dependent by chance: take 0.001" in errors) == warned


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-t", "outt"], "did you mean 'out'"),
        (["-t", "out", "--alpha", 0], "--alpha must lie between 0 and 1"),
        (["-t", "out", "--alpha", "nan"], "--alpha must lie between 0 and 1"),
        (["-t", "out", "--why-not", "efect"], "did you mean 'effect'"),
        (["-t", "out", "--test", "permutation", "--alpha", "1e-320"], "--alpha 9.99989e-321 needs"),
    ],
)
def test_refuses_options(tmp_path: Path, options: list[object], words: str) -> None:
    file, out = _write(tmp_path / "a.csv"), tmp_path / "out"
    code, _, errors = _run(file, *options, "--out", out)
    assert code == 2
    assert words in errors
    assert errors.count("\n") == 1
    assert not out.exists()


def test_refuses_data(tmp_path: Path) -> None:
    file, out = tmp_path / "a.csv", tmp_path / "out"
    for y in (np.full(1000, "sick"), np.full(1000, 2.5)):
        code, _, errors = _run(_write(file, y), "-t", "out", "--out", out)
        assert code == 2
        assert errors.startswith("bitsieve: error: ")
    code, _, errors = _run(_write(file, cell=""), "-t", "out", "--out", out)
    assert code == 2
    assert "contains NaN: 1 value in 1 column ('parent')" in errors
    code, _, errors = _run(_write(file, cell="high"), "-t", "out", "--out", out)
    assert code == 2
    assert "('parent') holds numbers, but also text such as 'high'" in errors
    lines = ["parent,other,out", *(f"{'ab'[i % 3 == 0]},{i * i},{i % 2}" for i in range(60))]
    file.write_text("\n".join(lines), encoding="utf-8")
    code, _, errors = _run(file, "-t", "out", "--test", "fisher-z", "--out", out)
    assert code == 2
    assert "--test fisher-z needs numbers" in errors


def test_says_what_is_no_blanket(tmp_path: Path) -> None:
    """Levels of three classes, and samples for no test given another feature."""
    random = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = np.where(random.uniform(size=(60, 5)) < 0.7, y[:, None], random.integers(0, 3, (60, 5)))
    file = tmp_path / "a.csv"
    np.savetxt(file, np.column_stack([X, y]), "%d", ",", header="a,b,c,d,e,out", comments="")
    code, said, errors = _run(file, "-t", "out", "--out", tmp_path / "out")
    assert code == 0
    assert "no test given another feature is reliable" in " ".join(errors.split())
    assert "These features depend on the target one by one" in said
    assert "is independent of all others" not in said
