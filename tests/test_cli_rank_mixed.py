"""``bitsieve rank`` on files with missing values and columns of text."""

from __future__ import annotations

import csv
import io
import json
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each

from bitsieve import filters
from bitsieve.cli import main
from bitsieve.filters.named import FILTERS

TAKE_BOTH = [name for name, m in FILTERS.items() if m.takes_nan and m.target == "classes"]
TAKE_CATEGORIES = [
    name for name, m in FILTERS.items() if m.counts_levels and m.target in ("classes", "either")
]


def _run(command: str, *arguments: object) -> tuple[object, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([command, *(str(a) for a in arguments)])
    return stop.value.code, " ".join(stdout.getvalue().split()), stderr.getvalue()


def _people(n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    income = rng.choice(["<=50K", ">50K"], n)
    rich = income == ">50K"
    return pd.DataFrame(
        {
            "age": rng.integers(17, 90, n) + 0.0,
            "workclass": rng.choice(["Private", "State-gov", "Self-emp"], n),
            "education": np.where(rich, "Masters", rng.choice(["HS-grad", "11th"], n)),
            "hours": rng.integers(10, 60, n) + 20 * rich,
            "citizen": rng.random(n) < 0.8,
            "income": income,
        }
    )


def _with_gaps() -> pd.DataFrame:
    frame = _people()
    frame.loc[3:6, "age"] = np.nan
    frame.loc[10:11, "workclass"] = None
    return frame


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "results"


def _write(frame: pd.DataFrame, tmp_path: Path) -> Path:
    frame.to_csv(tmp_path / "people.csv.gz", index=False)
    return tmp_path / "people.csv.gz"


def _scores(out: Path) -> dict[str, float]:
    with (out / "ranking.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["feature"]: float(row["score"] or "nan") for row in rows}


def _record(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return found


def _of_frame(name: str, frame: pd.DataFrame, **options: Any) -> dict[str, float]:
    X, y = frame.drop(columns="income"), frame["income"]
    ranked = FILTERS[name].rank(X, y, n_features=5, random_state=0, **options)
    return dict(zip(X.columns, ranked.scores, strict=True))


def test_what_was_found_is_said_and_recorded(tmp_path: Path, out: Path) -> None:
    path = _write(_with_gaps(), tmp_path)
    code, text, errors = _run("rank", path, "-t", "income", "--out", out)
    assert (code, errors) == (0, "")
    assert "5 features; 6 missing values; 3 columns ('workclass', 'education', 'citizen')" in text
    assert text.index("of categories") < text.index("relieff, first 5")
    data = _record(out)["data"]
    assert data["n_missing"] == 6
    assert data["categories"] == ["workclass", "education", "citizen"]


@pytest.mark.parametrize("name", TAKE_BOTH)
def test_scores_are_those_of_the_frame(name: str, tmp_path: Path, out: Path) -> None:
    frame = _with_gaps()
    code, _, errors = _run(
        "rank", _write(frame, tmp_path), "-t", "income", "-m", name, "--seed", 0, "--out", out, "-q"
    )
    assert (code, errors) == (0, "")
    assert _scores(out) == _of_frame(name, frame)


@pytest.mark.parametrize("name", TAKE_CATEGORIES)
@each("missing", ["own", "level"])
def test_levels_are_those_of_the_frame(name: str, missing: str, tmp_path: Path, out: Path) -> None:
    frame, out = _people() if missing == "own" else _with_gaps(), out / missing
    code, _, errors = _run(
        "rank", _write(frame, tmp_path), "-t", "income", "-m", name, "--out", out, "-q",
        "--missing", missing,
    )  # fmt: skip
    assert (code, errors) == (0, "")
    wanted = _of_frame(name, frame, **({"missing": "level"} if missing == "level" else {}))
    np.testing.assert_equal(_scores(out), wanted)


def test_a_numeric_target(tmp_path: Path, out: Path) -> None:
    frame = _with_gaps()
    path = _write(frame, tmp_path)
    code, _, errors = _run("rank", path, "-t", "hours", "-m", "rrelieff", "--task", "numbers",
                           "--out", out, "-q")  # fmt: skip
    assert (code, errors) == (0, "")
    X = frame.drop(columns="hours")
    wanted = dict(zip(X.columns, filters.rrelieff(X, frame["hours"]), strict=True))
    assert _scores(out) == wanted


def test_several_methods_that_all_can(tmp_path: Path, out: Path) -> None:
    path = _write(_with_gaps(), tmp_path)
    arguments = ("-t", "income", "-m", "relieff", "-m", "infogain", "--missing", "level")
    code, text, errors = _run("rank", path, *arguments, "--out", out)
    assert (code, errors) == (0, "")
    assert "relieff, infogain combined by mean" in text
    repeat = shlex.split(_record(out)["repeat"])
    assert repeat[repeat.index("--missing") + 1] == "level"
    assert _run(*repeat[1:], "--out", tmp_path / "again", "-q")[0] == 0
    again = (tmp_path / "again" / "ranking.csv").read_bytes()
    assert again == (out / "ranking.csv").read_bytes()


def test_methods_that_take_no_missing_values(tmp_path: Path, out: Path) -> None:
    path = _write(_with_gaps(), tmp_path)
    code, text, errors = _run("rank", path, "-t", "income", "-m", "relieff", "-m", "su", "-m", "mi",
                              "--out", out)  # fmt: skip
    assert (code, text) == (2, "")
    assert errors.startswith("bitsieve: error: people.csv.gz: su, mi take no missing values. ")
    assert "6 values in 2 columns ('age', 'workclass'); fill them in" in errors
    assert "use methods that take them: relief, relieff, rrelieff, surf, " in errors
    assert errors.endswith("or count them as a level of their own with --missing level\n")
    assert errors.count("\n") == 1
    assert not out.exists()


def test_missing_values_of_numbers(tmp_path: Path, out: Path) -> None:
    path = _write(_with_gaps()[["age", "hours", "citizen", "income"]], tmp_path)
    code, _, errors = _run("rank", path, "-t", "income", "-m", "welch", "--out", out)
    assert code == 2
    assert "people.csv.gz: welch takes no missing values. Input X contains NaN: 4 values" in errors
    assert "--missing level" not in errors
    code, text, _ = _run("rank", path, "-t", "income", "--out", out)
    assert (code, "4 missing values; 1 column ('citizen') of categories" in text) == (0, True)


def test_booleans_are_numbers_to_methods_of_numbers(tmp_path: Path, out: Path) -> None:
    path = _write(_people()[["hours", "citizen", "income"]], tmp_path)
    code, text, errors = _run("rank", path, "-t", "income", "-m", "welch", "--out", out)
    assert (code, errors) == (0, "")
    assert "categories" not in text
    assert _record(out)["data"]["categories"] == []


def test_methods_that_take_no_categories(tmp_path: Path, out: Path) -> None:
    path = _write(_people(), tmp_path)
    methods = ("-m", "welch", "-m", "su", "-m", "mrmr-fcq")
    code, _, errors = _run("rank", path, "-t", "income", *methods, "--out", out)
    assert code == 2
    assert "2 columns ('workclass', 'education') hold text or other values, such as " in errors
    assert "use methods that take categories in place of welch, mrmr-fcq: relief, re" in errors
    assert errors.count("\n") == 1
    assert not out.exists()


def test_missing_as_a_level_is_for_methods_of_levels(tmp_path: Path, out: Path) -> None:
    path = _write(_with_gaps(), tmp_path)
    code, _, errors = _run("rank", path, "-t", "income", "--missing", "level", "--out", out)
    assert code == 2
    assert "--missing level has no meaning for relieff; it is for mi, mrmr, " in errors


def test_numbers_with_commas_are_not_offered_as_categories(tmp_path: Path, out: Path) -> None:
    path = tmp_path / "commas.csv"
    path.write_text("b;a;y\n" + "".join(f"{i};{i},5;{'uv'[i % 2]}\n" for i in range(12)))
    for method in ("relieff", "welch"):
        code, _, errors = _run("rank", path, "-t", "y", "-m", method, "--out", out)
        assert code == 2
        assert "1 column ('a') holds text" in errors
        assert "decimal point" in errors
        assert "categories" not in errors


def test_codes_that_look_like_numbers_are_warned_of(tmp_path: Path, out: Path) -> None:
    path = tmp_path / "codes.csv"
    rows = [f"{'0123'[i % 4]}{'+' * (i % 4 == 3)},{i},{'uv'[i // 4 % 2]}\n" for i in range(24)]
    path.write_text("children,b,y\n" + "".join(rows))
    code, _, errors = _run("rank", path, "-t", "y", "--out", out)
    assert code == 0
    assert errors.startswith("bitsieve: warning: ")
    assert "1 column ('children') holds numbers, but also text such as '3+'" in errors


def test_select_refuses_both_as_before(tmp_path: Path, out: Path) -> None:
    gaps = _with_gaps()[["age", "hours", "income"]]
    for frame, said in ((_people(), "X must hold numbers"), (gaps, "contains NaN: 4 values")):
        code, _, errors = _run("select", _write(frame, tmp_path), "-t", "income", "--out", out)
        assert (code, said in errors) == (2, True)


def test_some_samples_of_many(tmp_path: Path, out: Path) -> None:
    frame = _with_gaps()
    arguments = (_write(frame, tmp_path), "-t", "income", "--n-instances", 30, "--seed", 3)
    code, _, errors = _run("rank", *arguments, "-m", "relieff", "--out", out, "-q")
    assert (code, errors) == (0, "")
    X, y = frame.drop(columns="income"), frame["income"]
    scores = filters.relieff(X, y, n_instances=30, random_state=3)
    assert _scores(out) == dict(zip(X.columns, scores, strict=True))
    assert scores.tolist() != filters.relieff(X, y).tolist()
    assert "--n-instances 30" in _record(out)["repeat"]
    code, _, errors = _run("rank", *arguments, "-m", "gini", "--out", out)
    assert code == 2
    assert "--n-instances has no meaning for gini; it is for relief, relieff, " in errors
    arguments = (*arguments[:3], "--n-instances", 81)
    code, _, errors = _run("rank", *arguments, "--out", out, "--force")
    assert (code, "people.csv.gz: relieff: n_instances is 81, but X has 80" in errors) == (2, True)


def test_a_census(data_dir: Path, tmp_path: Path, out: Path) -> None:
    source = data_dir / "formats" / "adult.csv.gz"
    if not source.is_file():
        pytest.skip(f"needs real data: {source} is not there")
    frame = pd.read_csv(source, nrows=600)
    path = _write(frame, tmp_path)
    code, _, errors = _run("rank", path, "-t", "income", "--out", out, "-q")
    assert (code, errors) == (0, "")
    assert _scores(out) == _of_frame("relieff", frame)
    code, _, errors = _run("rank", source, "-t", "income", "-m", "infogain", "--out", out, "-q",
                           "--missing", "level", "--force")  # fmt: skip
    assert (code, errors) == (0, "")
    assert _record(out)["data"]["n_missing"] == 6465
    assert _scores(out) == _of_frame("infogain", pd.read_csv(source), missing="level")
