"""What a command warns of before it starts, and what is left of it at the end."""

from __future__ import annotations

import csv
import io
import json
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bitsieve.cli import main
from bitsieve.cli.doubts import warn_of_covariates, warn_of_few_samples
from bitsieve.cli.input import JobInput
from bitsieve.data import Table

_QUICK = ["--method", "bspsa", "--max-iter", "5", "--repeats", "1", "--seed", "1"]


def _run(command: str, path: Path, out: Path, *options: str) -> tuple[str, str, dict[str, Any]]:
    stdout, stderr = io.StringIO(), io.StringIO()
    words = [command, str(path), "-t", "t", "--out", str(out), *options]
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 0, stderr.getvalue()
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return " ".join(stdout.getvalue().split()), stderr.getvalue(), record


def _write(path: Path, labels: list[str], **columns: Any) -> Path:
    n = len(labels)
    X = np.random.default_rng(0).normal(size=(n, 4)).round(4)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["g0", *columns, "g1", "g2", "g3", "t"])
        for i in range(n):
            extra = [column[i] for column in columns.values()]
            writer.writerow([X[i, 0], *extra, *X[i, 1:], labels[i]])
    return path


@pytest.mark.parametrize("command", ["select", "rank"])
def test_columns_that_are_no_features(tmp_path: Path, command: str) -> None:
    labels = ["a"] * 15 + ["b"] * 15
    columns = {
        "count": range(30),
        "answer": [3 + (label == "b") for label in labels],
        "patient_id": [7000 + 37 * i % 311 for i in range(30)],
        "run_order": [0.5 * i * i for i in range(30)],
    }
    path = _write(tmp_path / "x.csv", labels, **columns)
    options = _QUICK if command == "select" else ["-m", "f"]
    said, warned, record = _run(command, path, tmp_path / "out", *options)
    assert warned == (
        "bitsieve: warning: x.csv: evidently no features: 'count' counts the samples; 'answer' has "
        "one value for each class, as a copy of the target has; 'patient_id' is named and numbered "
        "like an identifier; and 1 more; leave such columns out with --drop NAME\n"
    )
    assert [doubt["names"] for doubt in record["doubts"]] == [[name] for name in columns]
    assert {doubt["kind"] for doubt in record["doubts"]} == {"column"}
    if command == "select":
        held = set(record["results"]["selected"]) & set(columns)
        assert held
        assert said.count("publish nothing of this run, and repeat it without.") == 1
    else:
        assert "publish" not in said


def test_a_table_of_features_says_nothing(tmp_path: Path) -> None:
    path = _write(tmp_path / "x.csv", ["a", "b"] * 10)
    said, warned, record = _run("select", path, tmp_path / "out", *_QUICK)
    assert warned == ""
    assert record["doubts"] == []
    assert "evidently" not in said


def test_small_classes_are_named_once(tmp_path: Path) -> None:
    labels = ["a"] * 20 + ["b"] * 12 + ["rare"] * 3 + ["Rare"] * 2 + ["one"]
    path = _write(tmp_path / "x.csv", labels)
    _, warned, record = _run("select", path, tmp_path / "out", *_QUICK, "--outer-folds", "4")
    lines = warned.splitlines()
    assert len(lines) == 3, warned
    assert "'Rare' (2), 'rare' (3); write them alike if they mean the same" in lines[0]
    assert "the class 'one' has one sample: " in lines[1]
    assert lines[2] == (
        "bitsieve: warning: x.csv: too few samples of 'Rare' (2 samples), 'rare' (3 samples) for 4 "
        "outer and 5 inner folds: some test parts have none of them; lower --outer-folds or --cv, "
        "or merge classes"
    )
    assert [doubt["kind"] for doubt in record["doubts"]] == ["classes", "classes"]
    _, warned, _ = _run("select", path, tmp_path / "two", *_QUICK, "--outer-folds", "0")
    assert "'Rare' (2 samples), 'rare' (3 samples) for 5 folds: " in warned
    assert "lower --cv, or merge classes" in warned
    _, warned, _ = _run("rank", path, tmp_path / "three", "-m", "f")
    assert len(warned.splitlines()) == 2


def _job(y: list[str], groups: list[int] | None = None) -> JobInput:
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    return JobInput(Table(X, y, groups=groups), ["a", "b"], "expr.csv", {})


def test_few_samples_of_a_class_are_told_with_what_to_expect_of_them() -> None:
    begins = r"^expr.csv: under 20 samples of 'ill' \(12 samples, \+-24 points\):"
    with pytest.warns(UserWarning, match=begins) as w:
        warn_of_few_samples(_job(["ill"] * 12 + ["well"] * 40))
    assert len(w) == 1
    said = str(w[0].message)
    assert "'well'" not in said
    assert "accuracy of all 52 samples +-12 points" in said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_few_samples(_job(["ill"] * 20 + ["well"] * 40))


def test_a_batch_that_predicts_the_classes_is_warned_of() -> None:
    y = ["ill", "well"] * 30
    batch = pd.DataFrame({"batch": ["p" if label == "ill" else "q" for label in y]})
    with pytest.warns(UserWarning, match="expr.csv: 'batch' alone predicts the classes: balanced"):
        found = warn_of_covariates(_job(y), batch)
    assert found.score == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = warn_of_covariates(_job(y), pd.DataFrame({"site": ["p", "p", "q", "q"] * 15}))
    assert not other.is_clear
