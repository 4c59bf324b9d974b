"""Networks behind gates on the command line: they select, predict, and say what was measured."""

from __future__ import annotations

import csv
import io
import json
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitsieve.cli import main
from bitsieve.cli.methods import TRAINED
from bitsieve.cli.select_options import hidden_of, lam_of

SHORT = {
    "stg": ["--max-epochs", "150", "--batch-size", "8", "--learning-rate", "0.03"],
    "pefs": ["--max-iter", "1000"],
}
NAMES = [method.name for method in TRAINED]


def _run(*words: object) -> tuple[object, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code, stdout.getvalue(), stderr.getvalue()


def _record(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(out, "run.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, Any]:
    """60 samples of 20 places, ten features, the first tells the classes apart."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 10)), np.repeat(["sick", "well"], 30)
    X[30:, 0] += 4.0
    place = np.arange(60) // 3
    with Path("t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"g{j}" for j in range(10)), "y", "place"])
        for values, label, where in zip(X, y, place, strict=True):
            writer.writerow([*values.tolist(), label, f"p{where:02}"])
    return X, y, place


def test_sizes_and_costs_as_they_are_typed() -> None:
    assert [hidden_of(text) for text in ("64", "20, 10", "None")] == [(64,), (20, 10), ()]
    assert [lam_of(text) for text in ("0", "1e-2", "AUTO")] == [0.0, 0.01, "auto"]
    for text in ("", "0", "-3", "64,", "1.5", "9" * 7, "x"):
        with pytest.raises(ValueError, match="--hidden must be sizes of layers such as 64 or"):
            hidden_of(text)
    for text in ("", "-1", "nan", "inf", "x"):
        with pytest.raises(ValueError, match="--lam must be a number from 0 on, or auto, got"):
            lam_of(text)


@pytest.mark.parametrize("name", NAMES)
def test_options_of_searches_are_refused(name: str) -> None:
    for words, message in (
        (["--cv", "3"], f"--cv is no option of --method {name} (nothing in it is cross-validated"),
        (["--repeats", "3"], f"--repeats is no option of --method {name} (nothing in it is cross"),
        (["--estimator", "1nn"], f"--estimator is no option of --method {name} (its own network"),
        (["--forced", "g1"], f"--forced is no option of --method {name}: leave it out, or give"),
        (["--quick"], "--quick is an option of --method auto alone (--max-"),
        (["--n-features", "2-4"], "--n-features 2-4 is a range of sizes, which --method"),
    ):
        code, _, said = _run("select", "t.csv", "-t", "y", "--method", name, *words)
        assert (code, said.count("\n")) == (2, 1)
        assert said.startswith(f"bitsieve: error: {message}"), said
    code, _, said = _run("select", "t.csv", "-t", "y", "--method", "bspsa", "--lam", "1")
    assert (code, "--lam is an option of --method stg alone" in said) == (2, True)


def test_without_torch_it_says_what_to_install() -> None:
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch':\n"
        "            raise ModuleNotFoundError('No module named torch', name='torch')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "from bitsieve.cli import main\n"
        "main(['select', 't.csv', '-t', 'y', '--method', 'stg'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        'bitsieve: error: STGClassifier needs torch: pip install "bitsieve[gates]"\n'
    )
    assert sorted(path.name for path in Path().iterdir()) == ["t.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_a_network_selects_predicts_and_reports(name: str, table: tuple[Any, Any, Any]) -> None:
    pytest.importorskip("torch")
    from sklearn.base import clone

    import bitsieve
    from bitsieve.evaluation import nested_cross_validate

    X, y, place = table
    words = [
        "select", "t.csv", "-t", "y", "--groups", "place", "--method", name, "--n-features", "1",
        "--hidden", "8", *SHORT[name], "--outer-folds", "2", "--seed", "1",
    ]  # fmt: skip
    code, said, err = _run(*words, "--out", "out")
    assert (code, err) == (0, "")
    text = " ".join(said.split())
    assert f"{name} with a network (8 hidden units)" in text
    assert "apparent error" in text
    assert "the samples that the network was trained on; optimistic" in text
    assert not {"re-measured", "observed"} & set(text.split())
    assert ("full set of 10 features" in text) == (name == "stg")
    assert "whose test samples the network did not see" in text
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "convergence.png", "predictions.csv", "run.json", "selection.csv",
    ]  # fmt: skip
    record = _record("out")
    results = record["results"]
    assert results["selected"] == ["g0"]
    assert (record["inner_cv"], record["parameters"]["cv"]) == (None, None)
    assert record["outer_cv"]["splitter"] == "StratifiedGroupKFold"
    assert results["remeasured_score"] is None
    assert results["n_iterations"] > 0
    # The same by hand: fitted alone, and its own predictions in outer folds of whole groups.
    pairs = dict(zip(SHORT[name][::2], SHORT[name][1::2], strict=True))
    options = {
        option[2:].replace("-", "_"): float(value) if "." in value else int(value)
        for option, value in pairs.items()
    }
    alone = getattr(bitsieve, TRAINED[NAMES.index(name)].selector)(
        1, hidden_layer_sizes=(8,), random_state=1, **options
    )
    result = nested_cross_validate(
        alone, None, X, y, groups=place, cv=2, n_repeats=1, scoring="accuracy", random_state=1
    )
    assert results["fold_scores"] == result.scores.tolist()
    # Beside it the same network without gates; a distribution over masks has no such control.
    if name == "stg":
        control = clone(alone).set_params(gate="none", n_features_to_select=None, lam=0.0)
        everything = nested_cross_validate(
            control, None, X, y, groups=place, cv=2, n_repeats=1, scoring="accuracy",
            random_state=1,
        )  # fmt: skip
        assert everything.supports.all()
        assert results["fold_full_set_scores"] == result.full_scores.tolist()
        assert result.full_scores.tolist() == everything.scores.tolist()
        assert results["full_set_score"] > 0.7
    else:
        assert results["full_set_score"] is None
    assert results["honest_score"] > 0.9
    assert results["observed_score"] == alone.fit(X, y, groups=place).score(X, y)
    assert results["n_iterations"] == len(alone.history_["epoch"])  # not steps
    # What is recorded repeats the run.
    assert _run(*shlex.split(record["repeat"])[1:], "--out", "again", "-q") == (0, "", "")
    second = _record("again")["results"]
    for seconds in ("search_seconds", "outer_seconds"):
        del results[seconds], second[seconds]
    assert results == second


def test_a_linear_model_at_a_given_cost_without_outer_folds() -> None:
    pytest.importorskip("torch")
    code, said, err = _run(
        "select", "t.csv", "-t", "y", "--drop", "place", "--method", "stg", "--lam", "0.005",
        "--hidden", "none", "--gate", "hard-concrete", *SHORT["stg"], "--outer-folds", "0",
        "--scale", "none", "--seed", "1", "--out", "out",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "stg with a linear model" in said
    assert "No outer folds were asked for: there is no honest error" in " ".join(said.split())
    record = _record("out")
    made = record["selector"]
    assert (made["hidden_layer_sizes"], made["gate"]) == ([], "hard_concrete")
    assert (made["lam"], made["standardize"]) == (0.005, False)
    for word in ("--hidden none", "--gate hard-concrete", "--lam 0.005", "--scale none"):
        assert word in record["repeat"]
    assert "g0" in record["results"]["selected"]


@pytest.mark.parametrize("name", NAMES)
def test_a_training_resumes(name: str) -> None:
    pytest.importorskip("torch")
    common = [
        "select", "t.csv", "-t", "y", "--drop", "place", "--method", name, *SHORT[name],
        "--n-features", "2", "--outer-folds", "2", "--seed", "1", "-q", "--checkpoint", "stored",
    ]  # fmt: skip
    assert _run(*common, "--out", "a") == (0, "", "")
    assert list(Path("stored").glob("*.npz"))
    assert _run(*common, "--out", "b") == (0, "", "")
    first, second = _record("a")["results"], _record("b")["results"]
    assert first["fold_scores"] == second["fold_scores"]
    assert first["selected"] == second["selected"]


def test_help_says_how_torch_is_installed() -> None:
    """Square brackets are no markup."""
    from typer.testing import CliRunner

    from bitsieve.cli import app

    said = CliRunner().invoke(app, ["select", "--help"], env={"COLUMNS": "200"}).stdout
    assert "bitsieve[gates]" in said
