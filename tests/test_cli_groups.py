"""The command line: groups, samples that stand twice, how long it takes, what is refused early."""

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

_QUICK = ["--method", "bspsa", "--max-iter", "15", "--repeats", "1", "--seed", "1"]
_QUICK += ["--outer-folds", "3", "--cv", "3"]


def _run(*arguments: object) -> tuple[object, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return stop.value.code, stdout.getvalue(), stderr.getvalue()


def _write(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Noise of thirty patients, each measured twice, labels by coin."""
    rng = np.random.default_rng(0)
    half, coin = rng.normal(size=(30, 12)), rng.permutation(np.arange(30) % 2)
    rows: list[list[Any]] = [["visit", "patient", *(f"g{j}" for j in range(12)), "sick"]]
    for visit in range(2):
        rows += [[f"v{visit}_{i}", f"p{i}", *half[i].tolist(), "ny"[coin[i]]] for i in range(30)]
    return _write(tmp_path / "twice.csv", rows)


def test_groups_keep_copies_together(twice: Path, tmp_path: Path) -> None:
    options = [twice, "-t", "sick", "--index", "visit", *_QUICK, "--out", tmp_path / "out"]
    code, out, _ = _run("select", *options, "--groups", "patient", "--json")
    assert code == 0
    record = json.loads(out)
    assert record["results"]["honest_error"] > 0.25
    assert record["outer_cv"]["splitter"] == "StratifiedGroupKFold"
    assert record["data"]["n_groups"] == 30
    assert record["data"]["n_features"] == 12
    assert "--groups patient" in record["repeat"]
    assert not any("copies" in said for said in record["statements"])


def test_samples_that_stand_twice_are_said(twice: Path, tmp_path: Path) -> None:
    rows = list(csv.reader(twice.open(encoding="utf-8")))
    table = _write(tmp_path / "t.csv", [row[:1] + row[2:] for row in rows])
    options = [table, "-t", "sick", "--index", "visit", *_QUICK, "--out", tmp_path / "out"]
    code, out, err = _run("select", *options)
    assert code == 0
    assert err.count("30 of 60 samples are copies of another one") == 1
    text = " ".join(out.split())
    assert "v0_0 = v1_0, v0_1 = v1_1, v0_2 = v1_2 and 27 more sets" in text
    assert "The search was stopped early, after 15 iterations (max_iter)" in text
    assert "3 of 3 searches in the outer folds were stopped early" in text
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert any("30 of 60 samples are copies" in said for said in record["statements"])
    assert any("may not be published either" in said for said in record["statements"])


def test_what_cannot_be_is_refused_before_the_search(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows: list[list[Any]] = [["g", "a", "b", "y"]]
    rows += [[f"p{i % 4}", *rng.normal(size=2), "yes" if i < 6 else "no"] for i in range(40)]
    table = _write(tmp_path / "t.csv", rows)
    common = ["select", table, "-t", "y", "--method", "bspsa", "--out", tmp_path / "out"]
    for options, message in (
        (["--groups", "h"], "groups 'h' is not a column or a file; there are 'g', 'a', 'b', 'y'"),
        (
            ["--groups", "g", "--outer-folds", 5],
            "--outer-folds 5 and --cv 5 need more than 4 groups: lower them",
        ),
        (
            ["--groups", "g", "--outer-folds", 2],  # the training parts have two
            "--outer-folds 2 and --cv 5 need more than 4 groups: lower them",
        ),
        (["--groups", "y"], "'y' cannot be both the target and the groups"),
        (
            ["--scoring", "roc_auc", "--index", "g"],
            "--scoring roc_auc has no value where a test part lacks a class",
        ),
    ):
        code, out, err = _run(*common, *options)
        assert (code, out) == (2, "")
        assert message in err, err
        assert err.count("\n") == 1
    assert "class 'yes' has 6 samples, too few for --outer-folds 5 and --cv 5: lower --cv" in err


def test_missing_values_pass_to_a_tree(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    X[:, 1] += 3 * y
    rows = [["a", "b", "c", "d", "y"], *([*X[i].tolist(), "ny"[y[i]]] for i in range(40))]
    rows[3][2] = ""
    table = _write(tmp_path / "t.csv", rows)
    common = ["select", table, "-t", "y", "--out", tmp_path / "out", *_QUICK, "--max-iter", 2]
    code, out, _ = _run(*common, "--estimator", "tree", "--json")
    assert code == 0
    assert json.loads(out)["results"]["honest_error"] < 0.3
    code, _, err = _run(*common, "--estimator", "1nn")
    assert code == 2
    assert "1 value in 1 column ('c')" in err


def test_how_long_a_job_will_take_is_said_where_it_is_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import logging

    from bitsieve.cli.terminal import how_long

    logger = logging.getLogger("bitsieve")
    with how_long(5):
        logger.info("no seconds")
        logger.info("short", extra={"search_seconds": 2.0})
        logger.info("long", extra={"search_seconds": 180.0})
    logger.info("over", extra={"search_seconds": 1e6})
    assert capsys.readouterr().err == (
        "At most about 3 min for this search, 18 min with 5 outer folds.\n"
    )
    for bound, said in (("at least", "At least about"), ("about", "About")):
        with how_long(0):
            for _ in range(2):  # before the search, and on its way
                logger.info("long", extra={"search_seconds": 180.0, "search_bound": bound})
        assert capsys.readouterr().err == f"{said} 3 min for this search.\n"
