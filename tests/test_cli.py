"""The command line: what it prints, writes and returns.

Most tests call ``main`` inside this process; a few start the program for real, since signals and
a full disk are matters of processes.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import inspect
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from bitsieve._version import __version__
from bitsieve.cli import app, main

_FILES = ["convergence.png", "predictions.csv", "run.json", "selection.csv"]
_WITHOUT_FOLDS = ["convergence.png", "run.json", "selection.csv"]
_BSPSA = ["--method", "bspsa"]
_QUICK = [*_BSPSA, "--max-iter", "30", "--repeats", "2", "--seed", "1"]


class _Done(NamedTuple):
    exit_code: object
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def _run(*arguments: object) -> _Done:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return _Done(stop.value.code, stdout.getvalue(), stderr.getvalue())


def _start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bitsieve", *(str(a) for a in arguments)],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def _write(path: Path, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def _rows(informative: float = 4.0, n: int = 40) -> list[list[Any]]:
    """A header and n samples; the first of eight features tells the classes apart."""
    rng = np.random.default_rng(0)
    y = np.repeat(["sick", "well"], n // 2)
    X = rng.normal(size=(n, 8))
    X[y == "well", 0] += informative
    names = ["[red]first[/red]", 'a,"b"', "β-catenin", "g3", "g4", "g5", "g6", "g7"]
    return [["id", *names, "out come"], *([f"s{i}", *X[i].tolist(), y[i]] for i in range(n))]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return _write(tmp_path / "expr.csv", _rows())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "results"


def test_version_and_help() -> None:
    assert _run("--version").output == f"bitsieve {__version__}\n"
    assert "select" in _run("--help").output
    assert _run("select", "--help").exit_code == 0


@pytest.mark.parametrize("command", ["select", "rank"])
def test_help_fits_a_terminal_of_80_columns(command: str) -> None:
    # A line that is too long is broken, and its rest stands on a line alone.
    found = next(c for c in app.registered_commands if c.callback.__name__ == command)
    lines = inspect.cleandoc(found.callback.__doc__).splitlines()
    assert max(map(len, lines)) <= 78


def test_help_is_fast_and_imports_nothing_heavy() -> None:
    code = (
        "import sys; from bitsieve.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'sklearn', 'numpy', 'scipy', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert time.perf_counter() - start < 5.0


def test_select_prints_the_numbers_and_what_they_are(table: Path, out: Path) -> None:
    done = _run("select", table, "--target", "out come", "--out", out, *_QUICK)
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    head = "40 samples (sick 20, well 20), 8 features kernel 'knn' evaluates each mask expr.csv"
    assert text.startswith(head)
    assert "expr.csv: 40 samples, 8 features; bspsa with 1nn" in text
    assert "of 8 [red]first[/red]" in text
    assert "neither may be published" in text
    results = json.loads((out / "run.json").read_text(encoding="utf-8"))["results"]
    for name, label in (
        ("observed", "observed error"),
        ("remeasured", "re-measured error"),
        ("honest", "honest error"),
        ("full_set", "full-set error"),
        ("chance", "chance error"),
    ):
        assert f"{label} {100 * results[name + '_error']:.1f} %" in text
    assert "stability" in text
    assert "seed 1 another seed gives another panel and another honest" in text
    assert "Only the honest error may be published" in text
    assert "not shown to predict better than chance" not in text
    assert results["honest_error"] < 0.2


def test_select_writes_its_files(table: Path, out: Path) -> None:
    done = _run("select", table, "-t", "out come", "--out", out, "--quiet", *_QUICK)
    assert done.exit_code == 0
    assert done.output == ""
    assert sorted(os.listdir(out)) == _FILES
    assert (out / "convergence.png").read_bytes().startswith(b"\x89PNG")
    with open(out / "predictions.csv", encoding="utf-8", newline="") as file:
        predicted = list(csv.DictReader(file))
    assert [int(row["sample"]) for row in predicted] == list(range(40))
    wrong = sum(row["truth"] != row["predicted"] for row in predicted)
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert wrong / 40 == pytest.approx(record["results"]["honest_error"])
    assert record["status"] == "complete"
    assert record["input"]["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert record["input"]["bytes"] == table.stat().st_size
    assert record["data"] == {
        "n_samples": 40, "n_features": 8, "classes": {"sick": 20, "well": 20},
    }  # fmt: skip
    assert record["seed"] == 1
    assert record["selector"]["max_iter"] == 30
    assert record["bitsieve"] == __version__
    with (out / "selection.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["feature"] for row in rows) == sorted(_rows()[0][1:-1])
    selected = [row["feature"] for row in rows if row["selected"] == "1"]
    assert selected == record["results"]["selected"]
    assert "[red]first[/red]" in selected
    assert {row["n_folds"] for row in rows} == {"5"}
    assert {"direction", "mean_sick", "mean_well", "p", "q", "f_rank", "substitutes"} <= set(
        rows[0]
    )
    assert all(0 <= float(row["direction_constancy"]) <= 1 for row in rows if row["direction"])
    assert set(record["substitutes"]) == {row["feature"] for row in rows if row["substitutes"]}


def test_the_record_repeats_the_run(table: Path, out: Path, tmp_path: Path) -> None:
    arguments = ["select", table, "-t", "out come", *_BSPSA, "--max-iter", 20, "--repeats", 2, "-q"]
    assert _run(*arguments, "--out", out).exit_code == 0
    first = json.loads((out / "run.json").read_text(encoding="utf-8"))
    again = shlex.split(first["repeat"])[1:]
    assert _run(*again, "--out", tmp_path / "again", "-q").exit_code == 0
    second = json.loads((tmp_path / "again" / "run.json").read_text(encoding="utf-8"))
    for record in (first, second):
        for name in ("search_seconds", "outer_seconds"):
            del record["results"][name]
    assert first["results"] == second["results"]
    assert first["seed"] == second["seed"]


def test_json_is_one_object_and_nothing_else(table: Path, out: Path) -> None:
    done = _run("select", table, "-t", "out come", "--out", out, "--json", *_QUICK)
    record = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    stored = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["results"] == stored["results"]
    assert any("may be published" in sentence for sentence in record["statements"])


def test_the_selection_scores_what_is_reported(table: Path, out: Path) -> None:
    """The honest folds, made again here with scikit-learn alone."""
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from bitsieve import BinarySPSA
    from bitsieve.evaluation.folds import fold_seed, outer_folds

    done = _run("select", table, "-t", "out come", "--out", out, "--json", *_QUICK)
    results = json.loads(done.stdout)["results"]
    rows = _rows()[1:]
    X, y = np.array([row[1:-1] for row in rows]), np.array([row[-1] for row in rows])
    one = KNeighborsClassifier(1)
    selector = BinarySPSA(one, max_iter=30, n_repeats=2, random_state=1, scoring="accuracy")
    folds = outer_folds(5, X, y, None, is_classifier=True, n_repeats=1, key=1)
    for fold, (train, test) in enumerate(folds):
        own = clone(selector).set_params(random_state=fold_seed(1, fold))
        whole = make_pipeline(StandardScaler(), own, one).fit(X[train], y[train])
        assert results["fold_scores"][fold] == pytest.approx(whole.score(X[test], y[test]))
    full = cross_val_score(make_pipeline(StandardScaler(), one), X, y, cv=folds)
    assert results["full_set_score"] == pytest.approx(full.mean())
    fitted = selector.fit(StandardScaler().fit_transform(X), y)
    assert results["selected_indices"] == np.flatnonzero(fitted.support_).tolist()
    assert results["observed_score"] == fitted.observed_score_
    assert results["remeasured_score"] == fitted.best_score_


def test_random_labels_are_called_chance(tmp_path: Path, out: Path) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 300)), rng.permutation(np.repeat(["a", "b"], 25))
    table = _write(
        tmp_path / "noise.csv",
        [[f"g{i}" for i in range(300)] + ["t"], *([*X[i].tolist(), y[i]] for i in range(50))],
    )
    done = _run(
        "select",
        table,
        "-t",
        "t",
        "--out",
        out,
        *_BSPSA,
        "--max-iter",
        300,
        "--repeats",
        3,
        "--seed",
        0,
    )
    text = " ".join(done.stdout.split())
    assert "this selection is not shown to predict better than chance" in text
    results = json.loads((out / "run.json").read_text(encoding="utf-8"))["results"]
    assert results["better_than_chance"] is False
    assert results["observed_error"] < 0.3
    assert results["remeasured_error"] < 0.35
    low, high = results["honest_error_interval"]
    assert low <= 0.5 <= high


def test_without_outer_folds_nothing_may_be_published(table: Path, out: Path) -> None:
    done = _run("select", table, "-t", "out come", "--out", out, "--outer-folds", 0, *_QUICK)
    text = " ".join(done.stdout.split())
    assert "No outer folds were asked for: there is no honest error" in text
    assert "no number here may be published" in text
    with (out / "selection.csv").open(encoding="utf-8", newline="") as file:
        assert {row["n_folds_selected"] for row in csv.DictReader(file)} == {""}


@pytest.mark.parametrize(
    "estimator",
    "3NN knn:7 centroid nb bernoulli dlda lda ridge logistic svm tree".split(),  # noqa: SIM905
)
def test_every_estimator_runs(table: Path, out: Path, estimator: str) -> None:
    done = _run(
        "select", table, "-t", "out come", "--out", out, *_BSPSA, "--estimator", estimator,
        "--max-iter", 1, "--repeats", 1, "--cv", 2, "--outer-folds", 2, "--jobs", 1, "-q",
    )  # fmt: skip
    assert done.exit_code == 0, done.output


def test_a_run_without_a_kernel_says_so_at_its_head(table: Path, out: Path) -> None:
    common = ("select", table, "-t", "out come", "--out", out, "--repeats", 1, "--cv", 2)
    common += (*_BSPSA, "--outer-folds", 2, "--max-iter", 1, "--jobs", 1, "--force")
    lines = _run(*common, "--estimator", "tree").stdout.splitlines()
    results = json.loads((out / "run.json").read_text(encoding="utf-8"))["results"]
    reason = results["fallback_reason"]
    assert results["kernel"] is None
    assert reason.startswith(
        "no compiled kernel for DecisionTreeClassifier; there is one for KNeighborsClassifier"
    )
    assert lines[1] == f"scikit-learn evaluates each mask ({reason})"
    assert sum("evaluates each mask" in line for line in lines) == 1
    text = " ".join("\n".join(lines).split())
    assert " s by scikit-learn, without a kernel (" in text
    assert _run(*common, "--estimator", "tree", "-q").output == ""
    done = _run(*common, "--estimator", "1nn")
    assert "scikit-learn" not in done.output
    results = json.loads((out / "run.json").read_text(encoding="utf-8"))["results"]
    assert (results["kernel"], results["fallback_reason"]) == ("knn", None)


@pytest.mark.parametrize("scale", ["standard", "none"])
def test_scaling_is_recorded(table: Path, out: Path, scale: str) -> None:
    done = _run("select", table, "-t", "out come", "--out", out, "--scale", scale, "-q", *_QUICK)
    assert done.exit_code == 0
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["parameters"]["scale"] == scale


def test_other_scorers_are_shown_as_they_are(table: Path, out: Path) -> None:
    done = _run(
        "select", table, "-t", "out come", "--out", out, *_BSPSA, "--scoring", "roc_auc",
        "--estimator", "3nn", "--n-features", 2, "--max-iter", 1, "--repeats", 1,
        "--outer-folds", 2, "--jobs", 1,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "honest roc auc" in done.stdout
    results = json.loads((out / "run.json").read_text(encoding="utf-8"))["results"]
    assert "honest_error" not in results
    assert results["n_selected"] == 2


def test_a_panel_file_with_labels_and_features_in_rows(tmp_path: Path, out: Path) -> None:
    rows = _rows()
    turned = [["gene", *(row[0] for row in rows[1:])]]
    turned += [[rows[0][j], *(row[j] for row in rows[1:])] for j in range(1, 9)]
    with gzip.open(tmp_path / "genes.csv.gz", "wt", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(turned)
    labels = _write(tmp_path / "labels.csv", [["id", "t"], *([r[0], r[-1]] for r in rows[1:])])
    done = _run(
        "select", tmp_path / "genes.csv.gz", "-t", labels, "--orient", "features",
        "--out", out, *_QUICK,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    said = "40 samples (sick 20, well 20), 8 features; labels matched by name"
    assert done.stdout.splitlines()[0] == said
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["data"]["n_features"] == 8
    assert record["input"]["target"]["sha256"] == hashlib.sha256(labels.read_bytes()).hexdigest()


def test_checkpoints_resume(table: Path, out: Path, tmp_path: Path) -> None:
    stored = tmp_path / "stored"
    arguments = ["select", table, "-t", "out come", "--checkpoint", stored, "-q", *_QUICK]
    assert _run(*arguments, "--out", out).exit_code == 0
    assert len(list(stored.glob("*.npz"))) == 6  # the search and five outer folds
    assert _run(*arguments, "--out", tmp_path / "again").exit_code == 0
    results = [
        json.loads((folder / "run.json").read_text(encoding="utf-8"))["results"]
        for folder in (out, tmp_path / "again")
    ]
    assert results[0]["fold_scores"] == results[1]["fold_scores"]
    assert results[0]["selected"] == results[1]["selected"]


@pytest.mark.parametrize("seed", [2**32, 2**64 - 1])
def test_seeds_of_64_bits(out: Path, seed: int) -> None:
    done = _run(
        "select", "--dataset", "iris", "--seed", seed, "--out", out, "-q", *_BSPSA, "--max-iter", 2,
        "--repeats", 1, "--outer-folds", 2,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["seed"] == seed
    assert record["outer_cv"] == {
        "n_folds": 2,
        "n_repeats": 1,
        "splitter": "StratifiedKFold",
        "shuffled": True,
        "text": "shuffled stratified 2-fold",
    }
    assert len(record["results"]["fold_scores"]) == 2


def test_datasets() -> None:
    text = _run("datasets").stdout
    assert "breast_cancer" in text
    assert "regression (rank)" in text
    rows = json.loads(_run("datasets", "--json").stdout)["datasets"]
    iris = next(row for row in rows if row["name"] == "iris")
    assert (iris["samples"], iris["features"], iris["task"]) == (150, 4, "classification")


def test_labels_without_names_are_taken_in_order(tmp_path: Path, out: Path) -> None:
    rows = _rows()
    table = _write(tmp_path / "x.csv", [row[1:-1] for row in rows])
    labels = _write(tmp_path / "y.csv", [[row[-1]] for row in rows[1:]])
    done = _run("select", table, "-t", labels, "--out", out, "--outer-folds", 0, *_QUICK)
    assert done.exit_code == 0, done.output
    said = "40 samples (sick 20, well 20), 8 features; labels taken in order"
    assert done.stdout.splitlines()[0] == said


def _changed(path: Path, change: Any) -> Path:
    rows = [list(row) for row in _rows()]
    change(rows)
    return _write(path, rows)


def _set(i: int, j: int, value: object) -> Any:
    return lambda rows: rows[i].__setitem__(j, value)


def _fill(column: int, value: object) -> Any:
    return lambda rows: [row.__setitem__(column, value) for row in rows[1:]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set(3, 3, "nan"), "'β-catenin'"),
        (_set(3, 3, "inf"), "'β-catenin'"),
        (_set(3, 3, "text"), "'β-catenin'"),
        (_set(0, 5, "g3"), "'g3'"),
        (_fill(-1, "sick"), "1 class"),
        (_fill(-1, 0.5), "class"),
        (lambda rows: [_fill(j, 1.0)(rows) for j in range(1, 9)], "constant"),
        (lambda rows: rows.__delitem__(slice(4, 38)), "the largest class has samples (3)"),
        (lambda rows: rows.__delitem__(slice(2, 40)), "the largest class has samples (1)"),
        (lambda rows: rows.clear(), "empty"),
    ],
)
def test_bad_tables_are_one_line_and_exit_code_2(
    tmp_path: Path, out: Path, change: Any, message: str
) -> None:
    table = _changed(tmp_path / "bad.csv", change)
    done = _run("select", table, "-t", "out come", "--out", out, *_QUICK)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("bitsieve: error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nope"], "'nope'"),
        ([], "--target is needed"),
        (["-t", "out come", "--dataset", "iris"], "either a FILE with --target, or --dataset"),
        (["-t", "out come", "--estimator", "2nm"], "known are 1nn, 3nn, 5nn"),
        (["-t", "out come", "--estimator", "knn:0"], "known are 1nn, 3nn, 5nn"),
        (["-t", "out come", "--method", "sps"], "known methods: auto, bspsa, "),
        (["-t", "out come", "--scoring", "acuracy"], "did you mean 'accuracy'"),
        (["-t", "out come", "--n-features", "9"], "more than the 8 features"),
        (["-t", "out come", "--outer-folds", "1"], "--outer-folds must be 0 (none) or at least 2"),
        (["-t", "out come", "--outer-folds", "30"], "more than the largest class has samples (20)"),
        (["-t", "out come", "--cv", "20"], "--cv 20 is more than an outer training part has"),
        (["-t", "out come", "--jobs", "0"], "--jobs"),
        (["-t", "out come", "--max-time", "0"], "--max-time must be a number of seconds"),
        (["-t", "out come", "--max-time", "nan"], "a number of seconds above 0, got nan"),
        (["-t", "out come", "--seed", str(2**64)], "18446744073709551615"),
        (["-t", "out come", "--scoring", "f1"], "--scoring f1 cannot score this target"),
        (["-t", "out come", "--scoring", "r2"], "'balanced_accuracy'"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(
    table: Path, out: Path, arguments: list[str], message: str
) -> None:
    done = _run("select", table, "--out", out, *_BSPSA, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_damaged_and_absent_files(table: Path, tmp_path: Path, out: Path) -> None:
    packed = gzip.compress(table.read_bytes())
    (tmp_path / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    for name, message in (("cut.csv.gz", "damaged or cut short"), ("absent.csv", "no such file")):
        done = _run("select", tmp_path / name, "-t", "out come", "--out", out, *_BSPSA)
        assert done.exit_code == 2
        assert name in done.stderr
        assert message in done.stderr


def test_a_regression_target_is_refused(out: Path) -> None:
    done = _run("select", "--dataset", "diabetes", "--out", out, *_BSPSA)
    assert done.exit_code == 2
    assert "bitsieve select predicts classes; for numbers use BinarySPSA" in done.stderr


def test_out_must_be_a_folder_that_can_be_written(table: Path, tmp_path: Path) -> None:
    done = _run("select", table, "-t", "out come", "--out", table, *_QUICK)
    assert done.exit_code == 2
    assert "--out must be a folder" in done.stderr
    done = _run("select", table, "-t", "out come", "--out", table / "below", *_QUICK)
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_a_full_disk_is_one_line_and_exit_code_1(
    table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = _run("select", table, "-t", "out come", "--out", out, *_QUICK)
    assert done.exit_code == 1
    assert done.stderr == f"bitsieve: error: No space left on device: {out / 'run.json'}\n"
    assert os.listdir(out) == []
    # The results are shown all the same.
    assert "Only the honest error may be published" in " ".join(done.stdout.split())
    assert "Written to" not in done.stdout


def test_a_disk_that_fills_up_keeps_the_record(
    table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bitsieve.cli.job

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bitsieve.cli.job, "plot_convergence", full)
    done = _run("select", table, "-t", "out come", "--out", out, "--json", *_QUICK)
    assert done.exit_code == 1
    assert sorted(os.listdir(out)) == ["predictions.csv", "run.json", "selection.csv"]
    assert json.loads(done.stdout)["results"]["selected"]


def test_a_disk_too_full_for_one_file_gets_the_others(
    table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bitsieve.cli.job

    def full(path: Path, _: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(bitsieve.cli.job, "write_run_json", full)
    done = _run("select", table, "-t", "out come", "--out", out, *_QUICK)
    assert done.exit_code == 1
    assert done.stderr == f"bitsieve: error: No space left on device: {out / 'run.json'}\n"
    assert "honest error" in done.stdout
    assert sorted(os.listdir(out)) == ["convergence.png", "predictions.csv", "selection.csv"]


def test_a_full_disk_under_the_checkpoints_is_one_line(
    table: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bitsieve import _checkpoint as checkpoint

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_atomically", full)
    done = _run(
        "select", table, "-t", "out come", "--out", out, "--checkpoint", tmp_path / "stored", "-q",
        *_QUICK,
    )  # fmt: skip
    assert done.exit_code == 0
    assert done.stderr.startswith("bitsieve: warning: cannot write checkpoints in ")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_fault_of_the_program_is_one_line_and_exit_code_1(
    table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bitsieve.cli.job

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault\nof two lines")

    monkeypatch.setattr(bitsieve.cli.job, "load_input", broken)
    done = _run("select", table, "-t", "out come", "--out", out, *_BSPSA)
    assert done.exit_code == 1
    assert done.stderr.startswith("bitsieve: error: RuntimeError: a fault of two lines")


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_before_there_is_anything(
    table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bitsieve.cli.job

    monkeypatch.setattr(bitsieve.cli.job, "load_input", _interrupt)
    done = _run("select", table, "-t", "out come", "--out", out, *_BSPSA)
    assert done.exit_code == 130
    assert done.stderr == (
        "bitsieve: error: stopped by Ctrl-C before there was anything to write\n"
    )
    assert not out.exists()


def test_ctrl_c_in_the_outer_folds_keeps_the_search(
    table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bitsieve.evaluation

    monkeypatch.setattr(bitsieve.evaluation, "nested_cross_validate", _interrupt)
    done = _run("select", table, "-t", "out come", "--out", out, *_QUICK)
    assert done.exit_code == 130
    results = json.loads((out / "run.json").read_text(encoding="utf-8"))["results"]
    assert results["remeasured_error"] < 0.2
    assert results["honest_error"] is None
    assert "The job was stopped before the outer folds were done" in " ".join(done.stdout.split())


# -- as a process ------------------------------------------------------------------------------


def test_a_wrong_command_line_as_a_process(table: Path) -> None:
    for arguments in (["selekt"], ["select", "--bogus"], ["select", table, "--cv", "x"]):
        process = _start(*arguments)
        stdout, stderr = process.communicate(timeout=60)
        assert process.returncode == 2
        assert stdout == ""
        assert stderr.startswith("bitsieve: error: ")
        assert stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.timeout(900)
def test_as_a_process_whoever_reads_what_is_printed(tmp_path: Path) -> None:
    """Each is a process of its own, as Python starts otherwise without an output."""
    cases = {
        "--json": (0, ""),
        ">&-": (0, ""),
        ">&- 2>&-": (0, ""),
        "| true": (0, ""),
        "--json | true": (0, ""),
        "--cv 1 2>&-": (2, ""),
        "--cv 1 2>&1 | true": (2, ""),
    }
    if os.path.exists("/dev/full"):
        cases["> /dev/full"] = (1, "bitsieve: error: No space left on device\n")

    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}  # the usual case

    def run(redirection: str) -> tuple[int, str, list[str]]:
        out = tmp_path / str(list(cases).index(redirection))
        words = ["select", "--dataset", "iris", "--outer-folds", "0", "--out", str(out), *_QUICK]
        command = shlex.join([sys.executable, "-m", "bitsieve", *words])
        script = f"{command} {redirection}; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=buffered)
        if redirection == "--json":
            assert json.loads(done.stdout)["status"] == "complete"
        return done.returncode, done.stderr, sorted(os.listdir(out)) if out.exists() else []

    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(cases, pool.map(run, cases), strict=True))
    files = {0: _WITHOUT_FOLDS, 1: _WITHOUT_FOLDS, 2: []}
    assert found == {words: (code, told, files[code]) for words, (code, told) in cases.items()}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals between processes")
def test_a_signal_writes_what_there_is(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(
                _stopped_by, [tmp_path, tmp_path], ["SIGINT", "SIGTERM"], ["Ctrl-C", "SIGTERM"]
            )
        )


def _stopped_by(folder: Path, name: str, word: str) -> None:
    stored, out, number = folder / f"{name} stored", folder / name, signal.Signals[name]
    process = _start(
        "select", "--dataset", "digits", *_BSPSA, "--max-iter", 10**6, "--patience", 0,
        "--out", out, "--checkpoint", stored,
    )  # fmt: skip
    deadline = time.monotonic() + 100
    while not list(stored.glob("*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=100)
    assert process.returncode == 128 + number
    assert stderr == ""
    assert sorted(os.listdir(out)) == _WITHOUT_FOLDS
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["status"] == "interrupted"
    assert record["results"]["remeasured_error"] is None
    assert record["results"]["honest_error"] is None
    assert 0 < record["results"]["observed_error"] < 0.2
    text = " ".join(stdout.split())
    assert f"Stopped by {word}: these are the results so far." in text
    assert "no number here may be published" in text
