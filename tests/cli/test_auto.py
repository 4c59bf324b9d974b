"""`bitsieve select --method auto`: what it prints, writes and returns.

One finished run is looked at by many tests; the others are as small as they can be. All run inside
this process, in one process (``--jobs 1``), but for those at the end.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from bitsieve.cli import main

_FILES = [
    "calibration.png", "panel.json", "path.png", "predictions.csv", "run.json", "selection.csv",
]  # fmt: skip
_WITHOUT_FOLDS = ["panel.json", "run.json", "selection.csv"]
_LIMITED = ["--max-features", "4", "--outer-repeats", "2"]
_QUICK = ["--quick", "--jobs", "1", "--seed", "1", "--outer-folds", "3"]


class _Done(NamedTuple):
    exit_code: object
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        return " ".join(self.stdout.split())


def _run(*words: object) -> _Done:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return _Done(stop.value.code, stdout.getvalue(), stderr.getvalue())


def _rows(seed: int = 0, n: int = 40) -> list[list[Any]]:
    """A header and n samples; the first of twelve features tells the classes apart."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["sick", "well"], n // 2)
    X = rng.normal(size=(n, 12))
    X[y == "well", 0] += 4.0
    X[:, 5] = X[:, 0] + 0.1 * X[:, 5]
    names = ["[red]first[/red]", 'a,"b"', "β-catenin", *(f"g{i}" for i in range(3, 12))]
    return [["id", *names, "out come"], *([f"s{i}", *X[i].tolist(), y[i]] for i in range(n))]


def _write(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def _record(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return found


def _without_times(record: dict[str, Any]) -> dict[str, Any]:
    results = {k: v for k, v in record["results"].items() if k != "seconds"}
    return {"results": results, **{k: record[k] for k in ("stability", "candidates", "path")}}


class _Finished(NamedTuple):
    table: Path
    out: Path
    done: _Done
    record: dict[str, Any]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> _Finished:
    folder = tmp_path_factory.mktemp("auto")
    table, out = _write(folder / "expr.csv", _rows()), folder / "out"
    done = _run("select", table, "-t", "out come", "--out", out, *_LIMITED, *_QUICK)
    assert done.exit_code == 0, done.stderr
    return _Finished(table, out, done, _record(out))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return _write(tmp_path / "expr.csv", _rows())


def test_the_plan_comes_before_and_the_number_to_quote_first(finished: _Finished) -> None:
    lines = finished.done.stdout.splitlines()
    assert lines[0] == "40 samples (sick 20, well 20), 12 features"
    assert lines[1].startswith("Plan: ")
    results = finished.record["results"]
    low, high = (100 * end for end in results["honest_error_interval"])
    text = finished.done.text
    assert (
        f"HONEST ERROR {100 * results['honest_error']:.1f} % (95 % interval {low:.1f} % to "
        f"{high:.1f} %) This is the number to quote: nested cross-validation, shuffled "
        "stratified 2 x 3-fold"
    ) in text
    assert f"the panel's inner error of {100 * results['inner_error']:.1f} %, optimistic" in text
    assert "feature higher in selected again, of 6 could be replaced by" in text
    assert "[red]first[/red] well 6" in text
    assert "no limit" in text
    for label in ("at most 10 features", "all features, same classifier", "shrunken LDA",
                  "linear SVM", "best filter of the same size", "chance, no feature"):  # fmt: skip
        assert label in text
    assert text.endswith("path.png, calibration.png")
    assert finished.done.stderr == ""
    assert len(finished.done.stdout.splitlines()) <= 65


def test_the_files(finished: _Finished) -> None:
    out, record = finished.out, finished.record
    assert sorted(os.listdir(out)) == _FILES
    for name in ("path.png", "calibration.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    with (out / "predictions.csv").open(encoding="utf-8", newline="") as file:
        predicted = list(csv.DictReader(file))
    assert len(predicted) == 80
    wrong = sum(row["truth"] != row["predicted"] for row in predicted)
    assert wrong / 80 == pytest.approx(record["results"]["honest_error"], abs=0.02)
    with (out / "selection.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["feature"] for row in rows) == sorted(_rows()[0][1:-1])
    chosen = [row["feature"] for row in rows if row["selected"] == "1"]
    assert sorted(chosen) == sorted(record["results"]["selected"])
    assert {row["n_folds"] for row in rows} == {"6"}
    assert record["status"] == "complete"
    assert record["seed"] == 1
    assert record["plan"]["outer_repeats"] == 2
    assert record["environment"]["packages"]["numpy"] == np.__version__
    assert [Path(name).name for name in record["files"]] == [
        "selection.csv", "predictions.csv", "run.json", "panel.json", "path.png", "calibration.png",
    ]  # fmt: skip


def test_the_record_repeats_the_run(finished: _Finished, tmp_path: Path) -> None:
    again = shlex.split(finished.record["repeat"])[1:]
    done = _run(*again, "--out", tmp_path / "again", "-q", "--jobs", 1)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert _without_times(_record(tmp_path / "again")) == _without_times(finished.record)


def test_the_folds_are_those_of_python(finished: _Finished) -> None:
    from bitsieve import AutoSelector
    from bitsieve.evaluation import nested_cross_validate

    rows = _rows()[1:]
    X, y = np.array([row[1:-1] for row in rows]), np.array([row[-1] for row in rows])
    auto = AutoSelector(
        effort="quick", max_features=4, random_state=1, n_jobs=1, scoring="accuracy"
    )
    result = nested_cross_validate(auto, None, X, y, cv=3, n_repeats=2, random_state=1)
    assert finished.record["results"]["honest_score"] == result.score
    fitted = auto.fit(X, y)
    assert finished.record["results"]["inner"] == fitted.best_score_
    names = [_rows()[0][1:-1][i] for i in np.flatnonzero(fitted.support_)]
    assert sorted(finished.record["results"]["selected"]) == sorted(names)


def test_json_is_one_object_and_nothing_else(finished: _Finished, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = _run("select", finished.table, "-t", "out come", "--out", out, "--json", *_QUICK)
    assert done.stdout.count("\n") == 1
    record = json.loads(done.stdout)
    assert record["results"] == _record(out)["results"]
    assert any("number to quote" in said for said in record["statements"])
    assert record["plan"]["n_candidates"] == len(record["candidates"])


def test_another_run_is_not_overwritten(finished: _Finished) -> None:
    before = {path.name: path.read_bytes() for path in finished.out.iterdir()}
    words = ["select", finished.table, "-t", "out come", "--out", finished.out, *_QUICK]
    done = _run(*words)  # other outer repeats
    assert done.exit_code == 2
    assert "path.png, calibration.png of another run" in done.stderr
    assert "or --force to overwrite" in done.stderr
    assert {path.name: path.read_bytes() for path in finished.out.iterdir()} == before


def test_without_outer_folds_nothing_may_be_quoted(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "path.png").write_bytes(b"of an earlier run")
    words = ["select", table, "-t", "out come", "--out", out, *_QUICK, "--outer-folds", 0]
    done = _run(*words, "--force")
    assert done.exit_code == 0
    assert "HONEST ERROR: not measured No outer folds were asked for" in done.text
    assert sorted(os.listdir(out)) == _WITHOUT_FOLDS


def test_restrictions_reach_the_selector(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["select", table, "-t", "out come", "--out", out, *_QUICK, "--outer-folds", 0, "-q"]
    words += ["--max-features", 2, "--selectors", "f,relieff", "--estimators", "lda", "--log"]
    assert _run(*words, "never", "--combine", "best", "--parsimony", 1).exit_code == 0
    record = _record(out)
    assert record["results"]["n_selected"] <= 2
    some = [row for row in record["candidates"] if row["size"] < 12]
    assert {row["selector"] for row in some} == {"f", "relieff"}
    assert {row["estimator"] for row in some} == {"lda"}
    assert record["selector"]["parsimony"] == 1.0
    assert (
        "--max-features 2 --selectors f,relieff --estimators lda --combine best"
        in (record["repeat"])
    )


def test_a_length_of_time_becomes_a_plan(table: Path, tmp_path: Path) -> None:
    words = ["select", table, "-t", "out come", "--jobs", 1, "--seed", 1, "--out"]
    done = _run(*words, tmp_path / "out", "--time", "0.001s", "--outer-folds", 2)
    assert done.exit_code == 0, done.stderr
    record = _record(tmp_path / "out")
    assert record["plan"]["shortened"]
    assert record["selector"]["max_time"] is None
    assert tuple(record["selector"]["selectors"]) == tuple(record["plan"]["selectors"])
    assert "--time 0.001s" in record["repeat"]


def test_small_classes_are_scored_alike(tmp_path: Path) -> None:
    rows = _rows()
    table = _write(tmp_path / "x.csv", rows[:1] + rows[1:21] + rows[21:31])
    done = _run("select", table, "-t", "out come", "--out", tmp_path / "out", *_QUICK)
    assert "HONEST BALANCED ERROR" in done.stdout
    assert "--scoring" not in _record(tmp_path / "out")["repeat"]


def test_a_target_of_numbers_is_refused_by_name(tmp_path: Path) -> None:
    done = _run("select", "--dataset", "diabetes", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "bitsieve select predicts classes" in done.stderr
    rng = np.random.default_rng(0)
    rows = [["a", "b", "age at death"], *rng.normal(50, 9, size=(30, 3)).tolist()]
    done = _run("select", _write(tmp_path / "x.csv", rows), "-t", "age at death", "-q")
    assert done.exit_code == 2
    assert "'age at death' holds numbers that are no classes" in done.stderr
    assert done.stderr.count("\n") == 1


# -- what goes wrong ---------------------------------------------------------------------------


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_before_there_is_a_panel(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bitsieve

    monkeypatch.setattr(bitsieve.AutoSelector, "fit", _interrupt)
    done = _run("select", table, "-t", "out come", "--out", tmp_path / "out", *_QUICK)
    assert done.exit_code == 130
    assert done.stderr == "bitsieve: error: stopped by Ctrl-C before there was anything to write\n"
    assert os.listdir(tmp_path / "out") == []


def test_ctrl_c_in_the_outer_folds_keeps_the_panel_and_the_folds(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: _Finished
) -> None:
    from bitsieve import AutoSelector

    words = ["select", table, "-t", "out come", *_LIMITED, *_QUICK]
    words += ["--checkpoint", tmp_path / "stored", "--out"]
    whole, fits = AutoSelector.fit, []

    def some(*arguments: Any, **options: Any) -> Any:
        if len(fits) == 5:  # that of all samples, and four folds
            raise KeyboardInterrupt
        fits.append(0)
        return whole(*arguments, **options)

    monkeypatch.setattr(AutoSelector, "fit", some)
    done = _run(*words, tmp_path / "out")
    assert done.exit_code == 130
    assert "The job was stopped before the outer folds were done" in done.text
    assert "Stopped by Ctrl-C: these are the results so far." in done.text
    assert sorted(os.listdir(tmp_path / "out")) == _WITHOUT_FOLDS
    record = _record(tmp_path / "out")
    assert record["status"] == "interrupted"
    assert record["results"]["honest_error"] is None
    assert record["results"]["inner"] == finished.record["results"]["inner"]
    fits.clear()
    done = _run(*words, tmp_path / "again")
    assert done.exit_code == 0, done.stderr
    assert len(fits) == 3  # that of all samples, and two folds
    assert _without_times(_record(tmp_path / "again")) == _without_times(finished.record)


def test_a_disk_that_fills_up_keeps_what_fits(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bitsieve.cli.finished

    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(bitsieve.cli.finished, "write_run_json", full)
    out = tmp_path / "out"
    done = _run("select", table, "-t", "out come", "--out", out, *_QUICK, "--outer-folds", 0)
    assert done.exit_code == 1
    assert done.stderr == f"bitsieve: error: No space left on device: {out / 'run.json'}\n"
    assert "PANEL" in done.stdout
    assert sorted(os.listdir(out)) == ["panel.json", "selection.csv"]


# -- as a process ------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals between processes")
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_signal_in_the_outer_folds_ends_every_process(table: Path, tmp_path: Path) -> None:
    """Two processes work at the folds; all end, say nothing, and what there is is written."""
    # SIGTERM comes to the program alone, Ctrl-C on a terminal to all of its processes.
    _is_ended_by(table, tmp_path / "term", signal.SIGTERM, os.kill)
    _is_ended_by(table, tmp_path / "int", signal.SIGINT, os.killpg)


def _is_ended_by(table: Path, folder: Path, number: signal.Signals, strike: Any) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    out, stored = folder / "out", folder / "stored"
    process = subprocess.Popen(
        [sys.executable, "-m", "bitsieve", "select", str(table), "-t", "out come", "--quick",
         "--out", str(out), "--checkpoint", str(stored), "--jobs", "2", "--outer-repeats", "400",
         "--seed", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        start_new_session=True,
    )  # fmt: skip
    # Far enough that both processes have long begun: one that Ctrl-C meets while Python itself
    # starts says so, whatever the program does.
    deadline = time.monotonic() + 200
    while len(list(stored.glob("*"))) < 60 and time.monotonic() < deadline:
        time.sleep(0.1)
    strike(process.pid, number)
    stdout, stderr = process.communicate(timeout=100)
    assert process.returncode == 128 + number, stderr
    assert stderr == ""
    said = "Stopped by SIGTERM" if number == signal.SIGTERM else "Stopped by Ctrl-C"
    assert f"{said}: these are the results so far." in " ".join(stdout.split())
    assert sorted(os.listdir(out)) == _WITHOUT_FOLDS
    deadline = time.monotonic() + 100  # its own: a loaded machine may have used up the other one
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("a process of the job is still there")
