"""``bitsieve rank``: what it prints, writes and returns."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from bitsieve import RankAggregation, filters
from bitsieve.cli import main
from bitsieve.filters.named import FILTERS


class _Done(NamedTuple):
    exit_code: object
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        return " ".join(self.stdout.split())


def _run(*arguments: object) -> _Done:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main(["rank", *(str(a) for a in arguments)])
    return _Done(stop.value.code, stdout.getvalue(), stderr.getvalue())


def _rows(numbers: bool = False, n: int = 40) -> list[list[Any]]:
    """A header and n samples; the third of eight features follows the target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    y = np.repeat(["sick", "well"], n // 2)
    X[y == "well", 2] += 3.0
    target = (X[:, 2] * 1.5 + 0.25).tolist() if numbers else y.tolist()
    names = ["[red]first[/red]", 'a,"b"', "β-catenin", "g3", "g4", "g5", "g6", "g7"]
    return [["id", *names, "out come"], *([f"s{i}", *X[i].tolist(), target[i]] for i in range(n))]


def _write(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return _write(tmp_path / "expr.csv", _rows())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "results"


# -- what it finds -----------------------------------------------------------------------------


def test_a_table_and_what_its_numbers_are(table: Path, out: Path) -> None:
    done = _run(table, "--target", "out come", "--top", 3, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    assert done.text.startswith(
        "40 samples (sick 20, well 20), 8 features expr.csv: 40 samples, 8 features; relieff, "
        "first 3 rank feature score"
    )
    assert "1 β-catenin 0." in done.text
    assert "Scores were computed on all 40 samples: a ranking is no error estimate." in done.text
    assert "use nested_cross_validate" in done.text
    assert done.text.endswith(f"Written to {out}: ranking.csv, run.json")
    assert sorted(os.listdir(out)) == ["ranking.csv", "run.json"]


def test_the_file_holds_all_features_and_the_functions_scores(table: Path, out: Path) -> None:
    assert _run(table, "-t", "out come", "--out", out, "--n-neighbors", 3).exit_code == 0
    rows = _read(out / "ranking.csv")
    raw = _rows()[1:]
    X, y = np.array([row[1:-1] for row in raw]), [row[-1] for row in raw]
    scores = filters.relieff(X, y, n_neighbors=3)
    order = np.argsort(-scores, kind="stable")
    assert [int(row["index"]) for row in rows] == order.tolist()
    assert [float(row["score"]) for row in rows] == scores[order].tolist()
    assert [row["rank"] for row in rows] == [str(i) for i in range(1, 9)]
    assert sorted(row["feature"] for row in rows) == sorted(_rows()[0][1:-1])


def test_p_and_q_values(out: Path) -> None:
    done = _run("--dataset", "breast_cancer", "-m", "welch", "--top", 5, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "rank feature score p q" in done.text
    assert "q: adjusted for all 30 features (Benjamini-Hochberg); q < 0.05 for" in done.text
    rows = _read(out / "ranking.csv")
    from scipy import stats

    X, y = load_breast_cancer(return_X_y=True)
    found = stats.ttest_ind(X[y == 0], X[y == 1], equal_var=False)
    p = np.array([float(row["p_value"]) for row in rows])
    at = [int(row["index"]) for row in rows]
    np.testing.assert_allclose([float(row["score"]) for row in rows], abs(found.statistic[at]))
    np.testing.assert_allclose(p, found.pvalue[at], rtol=1e-6)
    q = [float(row["q_value"]) for row in rows]
    np.testing.assert_allclose(q, stats.false_discovery_control(p), rtol=1e-12)


def test_several_methods_are_combined(out: Path) -> None:
    done = _run(
        "--dataset", "breast_cancer", "-m", "ReliefF, F", "-m", "fcbf", "--out", out,
        "--aggregate", "borda", "--top", 4,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "relieff, f, fcbf combined by borda, first 4" in done.text
    assert "rank feature score relieff f fcbf" in done.text
    rows = _read(out / "ranking.csv")
    X, y = load_breast_cancer(return_X_y=True)
    lists = np.full((3, 30), np.nan)
    lists[0], lists[1] = filters.relieff(X, y), filters.f_test(X, y)
    taken, _ = filters.fcbf(X, y, return_scores=True)
    lists[2, taken] = -np.arange(len(taken))
    scores = filters.rank_aggregation(lists, method="borda")
    order = np.argsort(-scores, kind="stable")
    assert [int(row["index"]) for row in rows] == order.tolist()
    np.testing.assert_allclose([float(row["score"]) for row in rows], scores[order])
    assert float(rows[0]["position_f"]) == 31 - np.sum(lists[1] <= lists[1, order[0]])


def test_features_that_a_ranking_lacks_have_the_last_position_under_rra(out: Path) -> None:
    """As in RankAggregation: the position that is shown is the one that was combined."""
    for how in ("rra", "mean"):
        done = _run(
            "--dataset", "breast_cancer", "-m", "f", "-m", "fcbf", "--out", out, "--aggregate", how,
            "--force",
        )  # fmt: skip
        assert done.exit_code == 0, done.stderr
        rows = _read(out / "ranking.csv")
        selector = RankAggregation(["f", "fcbf"], method=how)
        selector.fit(*load_breast_cancer(return_X_y=True))
        shown = {int(row["index"]): float(row["position_fcbf"]) for row in rows}
        assert [shown[i] for i in range(30)] == selector.positions_[1].tolist()
        assert (max(shown.values()) == 30.0) == (how == "rra")


def test_a_greedy_method_takes_as_many_as_are_shown(out: Path) -> None:
    done = _run("--dataset", "breast_cancer", "-m", "jmi", "--top", 4, "--out", out)
    assert done.exit_code == 0, done.stderr
    rows = _read(out / "ranking.csv")
    assert [row["rank"] for row in rows[:5]] == ["1", "2", "3", "4", ""]
    assert len(rows) == 30
    assert "jmi takes features one by one: 4 features taken, 26 left without a rank" in done.text


def test_more_than_there_are_shows_all(table: Path, out: Path) -> None:
    for method in ("relieff", "mrmr"):
        words = (table, "-t", "out come", "--top", 500, "-m", method, "--out", out, "--force")
        done = _run(*words, "--json")
        assert done.exit_code == 0, done.stderr
        results = json.loads(done.stdout)["results"]
        assert len(results["top"]) == results["n_ranked"] <= 8
    assert len(_read(out / "ranking.csv")) == 8


@pytest.mark.parametrize("method", [name for name in FILTERS if name != "rrelieff"])
def test_every_method_finds_the_feature_that_tells_the_classes(
    tmp_path: Path, out: Path, method: str
) -> None:
    rows = _rows()
    for row in rows[1:]:  # chi2 needs counts; a wide column is what variance looks for
        row[3] = 3 * row[3]
        row[1:9] = [round(10 + value, 3) for value in row[1:9]]
    table = _write(tmp_path / "counts.csv", rows)
    done = _run(table, "-t", "out come", "-m", method, "--out", out, "--json", "--seed", 0)
    assert done.exit_code == 0, done.stderr
    top = json.loads(done.stdout)["results"]["top"]
    # What is far off counts against it in the star methods, as their papers say.
    near = 8 if method in ("surf-star", "multisurf-star", "swrf-star", "laplacian") else 1
    assert "β-catenin" in [row["feature"] for row in top[:near]]


# -- targets -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", [n for n, m in FILTERS.items() if m.target in ("numbers", "either")]
)
def test_numbers_for_a_target(tmp_path: Path, out: Path, method: str) -> None:
    table = _write(tmp_path / "numbers.csv", _rows(numbers=True))
    done = _run(table, "-t", "out come", "-m", method, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert done.text.startswith("40 samples (target from ")
    assert _read(out / "ranking.csv")[0]["feature"] == "β-catenin"
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert list(record["data"])[:3] == ["n_samples", "n_features", "target"]


def test_whole_numbers_can_be_called_numbers(tmp_path: Path, out: Path) -> None:
    rows = _rows(numbers=True)
    for row in rows[1:]:
        row[-1] = round(10 * row[-1])
    table = _write(tmp_path / "whole.csv", rows)
    doubtful = _run(table, "-t", "out come", "-m", "mi", "--out", out)
    assert doubtful.exit_code == 0
    assert doubtful.stderr.startswith("bitsieve: warning: the ")
    assert "different numbers of the target are taken as classes; give --task numbers" in (
        doubtful.stderr
    )
    done = _run(table, "-t", "out come", "-m", "f", "--task", "numbers", "--out", out, "--force")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "(target from " in done.text
    from sklearn.feature_selection import f_regression

    raw = rows[1:]
    expected, _ = f_regression(np.array([r[1:-1] for r in raw]), np.array([r[-1] for r in raw]))
    scores = {int(r["index"]): float(r["score"]) for r in _read(out / "ranking.csv")}
    np.testing.assert_allclose([scores[i] for i in range(8)], expected, rtol=1e-6)


def test_a_bundled_set_of_numbers(out: Path) -> None:
    done = _run("--dataset", "diabetes", "-m", "rrelieff", "--out", out, "--json")
    assert done.exit_code == 0, done.stderr
    top = json.loads(done.stdout)["results"]["top"]
    X, y = load_diabetes(return_X_y=True)
    scores = filters.rrelieff(X, y)
    assert [row["index"] for row in top] == np.argsort(-scores, kind="stable").tolist()


def test_no_target_where_none_is_needed(tmp_path: Path, out: Path) -> None:
    table = _write(tmp_path / "x.csv", [row[:-1] for row in _rows()])
    done = _run(table, "-m", "variance", "--orient", "samples", "--out", out)
    assert done.exit_code == 0, done.stderr
    assert done.text.startswith("40 samples, 8 features x.csv")
    assert _read(out / "ranking.csv")[0]["feature"] == "β-catenin"


# -- what it writes ----------------------------------------------------------------------------


def test_the_record(table: Path, out: Path) -> None:
    done = _run(table, "-t", "out come", "--out", out, "--plot", "-q", "--top", 2)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert sorted(os.listdir(out)) == ["ranking.csv", "ranking.png", "run.json"]
    assert (out / "ranking.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["status"] == "complete"
    assert record["input"]["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert record["data"] == {
        "n_samples": 40, "n_features": 8, "classes": {"sick": 20, "well": 20}, "n_missing": 0,
        "categories": [],
    }  # fmt: skip
    assert record["method"] == "relieff"
    assert [row["rank"] for row in record["results"]["top"]] == [1, 2]
    assert record["files"] == [str(out / n) for n in ("ranking.csv", "run.json", "ranking.png")]
    assert any("no error estimate" in sentence for sentence in record["statements"])


def test_the_record_repeats_the_ranking(table: Path, out: Path, tmp_path: Path) -> None:
    first = _run(table, "-t", "out come", "--out", out, "-m", "turf", "-m", "su", "--json")
    again = shlex.split(json.loads(first.stdout)["repeat"])
    assert again[:2] == ["bitsieve", "rank"]
    assert _run(*again[2:], "--out", tmp_path / "again", "-q").exit_code == 0
    assert (out / "ranking.csv").read_bytes() == (tmp_path / "again/ranking.csv").read_bytes()


def test_threads_change_nothing(table: Path, out: Path) -> None:
    seen = set()
    for jobs in (1, 2, 3):
        _run(table, "-t", "out come", "--out", out, "-q", "--jobs", jobs, "-m", "f", "-m", "mrmr")
        seen.add((out / "ranking.csv").read_bytes())
    assert len(seen) == 1


def test_json_is_one_object_and_nothing_else(table: Path, out: Path) -> None:
    done = _run(table, "-t", "out come", "--out", out, "--json")
    assert done.stdout.count("\n") == 1
    stored = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert json.loads(done.stdout)["results"] == stored["results"]


# -- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "relif"], "unknown method 'relif': did you mean 'relief' or 'relieff'"),
        (["-m", "zzz"], "(all: relief, relieff, rrelieff,"),
        (["-m", "f", "-m", "anova"], "--method f was given twice"),
        (["-m", "f", "--aggregate", "rra"], "--aggregate rra combines several rankings"),
        (["-m", "f", "-m", "t", "--aggregate", "best"], "'best' is not one of"),
        (["-m", "f", "--n-neighbors", "5"], "--n-neighbors has no meaning for f; it is for"),
        (["--n-neighbors", "0"], "'--n-neighbors'"),
        (["--top", "0"], "'--top'"),
        (["--jobs", "0"], "n_jobs"),
        (["--target", "nope"], "'nope'"),
        (["--dataset", "iris"], "either a FILE with --target, or --dataset"),
        (["-m", "rrelieff"], "a regression target must hold numbers, but y holds 'sick'"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(
    table: Path, out: Path, arguments: list[str], message: str
) -> None:
    done = _run(table, "-t", "out come", "--out", out, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.startswith("bitsieve: error: ")
    assert done.stderr.count("\n") == 1


def test_a_target_is_needed_and_must_fit(table: Path, tmp_path: Path, out: Path) -> None:
    done = _run(table, "--out", out)
    assert (done.exit_code, "--target is needed" in done.stderr) == (2, True)
    numbers = _write(tmp_path / "numbers.csv", _rows(numbers=True))
    done = _run(numbers, "-t", "out come", "-m", "relieff", "-m", "f", "--out", out)
    assert done.exit_code == 2
    assert "relieff ranks for classes, but the target holds numbers (from" in done.stderr
    assert "methods for numbers are rrelieff, mi, mrmr" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("i", "j", "value", "message"),
    [
        (3, 3, "inf", "'β-catenin'"),
        (3, 3, "text", "'β-catenin'"),
        (0, 5, "g3", "'g3'"),
    ],
)
def test_bad_tables(tmp_path: Path, out: Path, i: int, j: int, value: str, message: str) -> None:
    rows = _rows()
    rows[i][j] = value
    done = _run(_write(tmp_path / "bad.csv", rows), "-t", "out come", "--out", out)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not out.exists()


def test_negative_values_are_refused_by_name(table: Path, out: Path) -> None:
    done = _run(table, "-t", "out come", "-m", "chi2", "--out", out)
    assert done.exit_code == 2
    assert "expr.csv: chi2: " in done.stderr
    assert done.stderr.count("\n") == 1


def test_out_must_be_a_folder(table: Path) -> None:
    done = _run(table, "-t", "out come", "--out", table)
    assert done.exit_code == 2
    assert "--out must be a folder" in done.stderr


def test_a_full_disk_is_one_line_and_exit_code_1(
    table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = _run(table, "-t", "out come", "--out", out, "--plot")
    assert done.exit_code == 1
    assert done.stderr == f"bitsieve: error: No space left on device: {out / 'run.json'}\n"
    assert os.listdir(out) == []
    assert "Scores were computed on all 40 samples" in done.stdout
    assert "Written to" not in done.stdout


def test_ctrl_c_writes_nothing_and_exits_130(
    table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(filters, "relieff", interrupt)
    done = _run(table, "-t", "out come", "--out", out)
    assert done.exit_code == 130
    assert done.stderr == (
        "bitsieve: error: stopped by Ctrl-C before there was anything to write\n"
    )
    assert os.listdir(out) == []


# -- as a process ------------------------------------------------------------------------------


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from bitsieve.cli import main\n"
        "try: main(['rank', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'sklearn', 'numpy', 'scipy', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--n-neighbors" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_nobody_reads_what_is_printed(tmp_path: Path) -> None:
    """Errors and half-read texts are those of `bitsieve select`, which tests them."""

    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}  # the usual case

    def run(redirection: str) -> tuple[int, str, list[str]]:
        out = tmp_path / re.sub(r"\W", "_", redirection)
        command = shlex.join(
            [sys.executable, "-m", "bitsieve", "rank", "--dataset", "iris", "--out", str(out)]
        )
        script = f"{command} {redirection}; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=buffered)
        return done.returncode, done.stderr, sorted(os.listdir(out))

    cases = [">&- 2>&-", "| true", "--json | true"]
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(cases, pool.map(run, cases), strict=True))
    assert found == dict.fromkeys(cases, (0, "", ["ranking.csv", "run.json"]))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT between processes")
def test_ctrl_c_of_a_running_kernel(out: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "large.npz"
    np.savez(path, X=rng.normal(size=(6000, 3000)).astype(np.float32), y=np.arange(6000) % 2)
    process = subprocess.Popen(
        [sys.executable, "-m", "bitsieve", "rank", str(path), "-m", "multisurf",
         "-m", "surf-star", "-m", "multisurf-star", "-m", "swrf-star", "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().startswith("6,000 samples")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=200)
    assert process.returncode == 130
    assert stderr == "bitsieve: error: stopped by Ctrl-C before there was anything to write\n"
    assert os.listdir(out) == []
