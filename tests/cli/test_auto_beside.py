"""What stands beside a panel: covariates, sites, an external file, features measured elsewhere."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitsieve.cli import main

_QUICK = ["--quick", "--jobs", "1", "--seed", "1"]
_SITES = ["Boston", "Lund", "Oslo", "Turin"]


def _run(*words: object) -> tuple[object, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code, " ".join(stdout.getvalue().split()), stderr.getvalue()


def _record(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return found


def _write(path: Path, seed: int = 0, n: int = 48, *, leave: tuple[str, ...] = ()) -> Path:
    """n samples of ten features, the site and the age; "g0" and "age" tell the classes apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 10))
    X[:, 0] += 3.0 * y
    columns: dict[str, list[Any]] = {f"g{j}": X[:, j].tolist() for j in range(10)}
    columns["site"] = [_SITES[i // 2 % 4] for i in range(n)]
    columns["age"] = [round(50 + 9 * float(v)) + 22 * int(c) for v, c in zip(
        rng.normal(size=n), y, strict=True)]  # fmt: skip
    columns["outcome"] = ["sick" if c else "well" for c in y]
    kept = [name for name in columns if name not in leave]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(kept)
        writer.writerows(zip(*(columns[name] for name in kept), strict=True))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return _write(tmp_path / "expr.csv")


def test_sites_are_left_out_one_by_one_and_covariates_stand_beside(
    table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ["select", table, "-t", "outcome", "--groups", "site", "--covariates", "age"]
    code, text, warned = _run(*words, "--out", out, *_QUICK)
    assert code == 0, warned
    assert "one of 4 groups left out in each outer fold" in text
    assert "LEFT OUT samples error 95 % interval Boston 12 " in text
    assert "covariates alone, no feature" in text
    assert "alone predicts the classes: balanced accuracy" in warned
    record = _record(out)
    sites = record["results"]["sites"]
    assert [row["name"] for row in sites] == _SITES
    assert np.mean([1 - row["score"] for row in sites]) == pytest.approx(
        record["results"]["honest_error"]
    )
    with (out / "predictions.csv").open(encoding="utf-8", newline="") as file:
        folds = {(int(row["sample"]) // 2 % 4, row["fold"]) for row in csv.DictReader(file)}
    assert folds == {(i, str(i)) for i in range(4)}
    assert record["data"]["n_features"] == 10
    beside = {row["key"]: row for row in record["results"]["rivals"]}
    assert 0.5 < beside["covariates"]["score"] < 1.0
    assert "--covariates age" in record["repeat"]
    assert "--groups site" in record["repeat"]


def test_an_external_file_is_opened_once_and_reported_apart(table: Path, tmp_path: Path) -> None:
    other = _write(tmp_path / "other.csv", seed=1, n=30)
    words = ["select", table, "-t", "outcome", "--drop", "site,age", "--outer-folds", 0, *_QUICK]
    words += ["--max-features", 3, "--out"]
    code, text, warned = _run(*words, tmp_path / "out", "--external", other)
    assert code == 0, warned
    record = _record(tmp_path / "out")
    external = record["external"]
    assert external["n_samples"] == 30
    assert external["input"]["sha256"] != record["input"]["sha256"]
    assert f"EXTERNAL ERROR {100 * (1 - external['score']):.1f} % (95 % interval" in text
    assert "on the 30 samples of other.csv, opened once, after the panel was fixed." in text
    # The panel on disk gives the same number.
    code, said, _ = _run("predict", tmp_path / "out" / "panel.json", other, "-t", "outcome")
    assert code == 0
    assert f"Error on 30 samples: {100 * (1 - external['score']):.1f} %" in said
    assert "standard deviations from their centre" not in text
    # Nothing of the panel depends on it, and one in another unit is doubted, as by predict.
    with other.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    rows = [[*(100 * float(value) for value in row[:10]), *row[10:]] for row in rows]
    with other.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    code, text, _ = _run(*words, tmp_path / "alone", "--external", other)
    assert code == 0
    assert "standard deviations from their centre, where about 0.7 is usual" in text
    panels = [(tmp_path / name / "panel.json").read_bytes() for name in ("out", "alone")]
    assert panels[0] == panels[1]


def test_what_is_no_external_file_is_said(table: Path, tmp_path: Path) -> None:
    words = ["select", table, "-t", "outcome", "--drop", "site,age", "--outer-folds", 0, *_QUICK]
    words += ["--out", tmp_path / "out", "--external"]
    code, text, _ = _run(*words, table)
    assert code == 0
    assert "48 samples of it stood in the table that the panel was made from: this is no" in text
    lacking = _write(tmp_path / "lacking.csv", leave=("g0", "g1", "g2", "outcome"))
    code, _, warned = _run(*words, lacking, "--force")
    assert code == 2
    assert warned.startswith("bitsieve: error: --external ")
    assert warned.count("\n") == 1


def test_features_that_are_measured_elsewhere_too(table: Path, tmp_path: Path) -> None:
    listed = tmp_path / "platform.txt"
    listed.write_text("g0\ng3\ng7\nelsewhere\n", encoding="utf-8")
    words = ["select", table, "-t", "outcome", "--drop", "site,age", "--outer-folds", 0, *_QUICK]
    code, text, warned = _run(*words, "--out", tmp_path / "out", "--restrict", listed)
    assert code == 0, warned
    assert "3 features; platform.txt: 3 of 10 features were measured elsewhere too" in text
    record = _record(tmp_path / "out")
    assert set(record["results"]["selected"]) <= {"g0", "g3", "g7"}
    assert record["input"]["restrict"]["bytes"] == listed.stat().st_size
    panel = json.loads((tmp_path / "out" / "panel.json").read_text(encoding="utf-8"))
    assert "elsewhere" not in str(panel)
    listed.write_text("nothing\n", encoding="utf-8")
    code, _, warned = _run(*words, "--out", tmp_path / "two", "--restrict", listed)
    assert (code, "is a feature of the table" in warned) == (2, True)


def test_few_samples_and_outcomes_that_are_no_classes(tmp_path: Path) -> None:
    table = _write(tmp_path / "x.csv", n=24)
    words = ["select", table, "--outer-folds", 0, "--out", tmp_path / "out", "--drop"]
    code, _, warned = _run(*words, "site", "-t", "outcome", *_QUICK)
    assert code == 0
    assert "under 20 samples of 'sick' (12 samples, +-" in warned
    code, _, warned = _run(*words, "site,outcome", "-t", "age", "--force")
    assert code == 2
    assert "the target 'age' holds numbers" in warned
