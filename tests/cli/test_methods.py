"""The methods of select: what every entry of the table keeps, and what its searches report."""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.svm import SVC

import bitsieve
from bitsieve import _core
from bitsieve.cli import main
from bitsieve.cli.methods import KNOWN, METHODS, SEARCHING, Method, method_by_name
from bitsieve.cli.select_options import size_of

_NAMES = ["g0", "g1", "g2", "g3", "g4", "a,b", "@odd", "c0", "c1", "c2"]
_SMALL = ["--cv", "2", "--repeats", "1", "--outer-folds", "2", "--jobs", "1", "--seed", "1"]
#: What keeps a search short, where it takes it.
_SHORT = {"max-iter": "4", "max-evaluations": "64"}


class _Done(NamedTuple):
    exit_code: object
    stdout: str
    stderr: str


def _run(*words: object) -> _Done:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return _Done(stop.value.code, stdout.getvalue(), stderr.getvalue())


def _short(method: Method) -> list[str]:
    """Limits of a search: of those that it takes the first; an elimination needs none."""
    options = [option for option in _SHORT if option in method.options][:1]
    limits = [word for option in options for word in (f"--{option}", _SHORT[option])]
    return ["--method", method.name, *limits, *_SMALL]


def _size(method: Method, size: int) -> list[str]:
    """A size, for a search that takes one."""
    return ["--n-features", str(size)] if "n-features" in method.options else []


def _table(folder: Path) -> tuple[Path, Any, Any]:
    """40 samples, ten features, the first tells the classes apart."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 10)), np.repeat(["sick", "well"], 20)
    X[20:, 0] += 3.0
    path = folder / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = ([*row.tolist(), label] for row, label in zip(X, y, strict=True))
        csv.writer(file).writerows([[*_NAMES, "y"], *rows])
    return path, X, y


def _splits() -> list[tuple[Any, Any]]:
    """The inner folds of all samples of that table, of seed 1."""
    of = _core.stratified_folds(np.repeat([0, 1], 20).astype(np.int32), 2, 5, 1, 1)[0]
    return [(np.flatnonzero(of != fold), np.flatnonzero(of == fold)) for fold in range(5)]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return _table(tmp_path)[0]


def _record(out: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(out, "run.json").read_text(encoding="utf-8"))
    return found


def _refused(*words: object) -> str:
    done = _run("select", "t.csv", "-t", "y", "--out", "out", *_SMALL, *words)
    assert (done.exit_code, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert not Path("out").exists()
    return done.stderr.removeprefix("bitsieve: error: ").removesuffix("\n")


# -- the table ---------------------------------------------------------------------------------


def test_names_are_told_apart() -> None:
    names = [name for method in METHODS for name in method.names]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)
    assert KNOWN[0] == "auto"
    assert all(method_by_name(name.upper()).name in KNOWN for name in names)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_an_entry_speaks_of_options_that_there_are(method: Method) -> None:
    known = {option for one in METHODS for option in one.options}
    known |= set(SEARCHING[0].of_all) if method.predicts else set()
    assert set(method.instead) <= known - set(method.options)
    # Every option of auto that someone may miss here is refused; most say what to do instead.
    assert set(method_by_name("auto").options) <= set(method.options) | set(method.instead)
    if method.selector is None:
        return
    if method.predicts:
        pytest.importorskip("torch")
    parameters = inspect.signature(getattr(bitsieve, method.selector)).parameters
    ours = {parameter for parameter in method.options.values() if parameter}
    ours |= {*method.settings, "random_state", "n_jobs", "checkpoint", "progress"}
    ours |= {parameter for parameter in method.of_all.values() if parameter}
    if method.adapt is not None:
        ours = set(method.adapt(dict.fromkeys(ours) | {"estimator": SVC(kernel="linear")}))
    assert ours <= set(parameters)
    assert set(method.defaults) <= {*method.options, "cv", "repeats", "scoring"}
    least = {"scale", "scoring"} | (set() if method.predicts else {"estimator", "cv", "repeats"})
    assert least <= set(method.defaults)


def test_every_option_of_the_table_is_one_of_the_command() -> None:
    import typer

    from bitsieve.cli import app

    command = typer.main.get_command(app).commands["select"]  # type: ignore[attr-defined]
    offered = {word for parameter in command.params for word in parameter.opts}
    named = {option for method in METHODS for option in method.options}
    assert {f"--{option}" for option in named} <= offered
    said = next(p.help for p in command.params if "--method" in p.opts)
    assert all(f"{method.name} {method.does}" in said for method in METHODS)


def test_sizes() -> None:
    assert [size_of(text) for text in ("1", " 20", "5-30", "5 - 5")] == [1, 20, (5, 30), (5, 5)]
    for text in ("", "0", "-3", "5-", "0-5", "9-5", "x", "1.5", "1e3", "5-30-40", "9" * 40):
        with pytest.raises(ValueError, match="--n-features must be a whole number from 1 on, or"):
            size_of(text)


# -- every search ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SEARCHING, ids=lambda method: method.name)
def test_every_search_runs_and_reports(method: Method, table: Path) -> None:
    """With features forced, forbidden and grouped, a price and a size, and outer folds."""
    Path("groups.txt").write_text("c0\tc1\tc2\n\n", encoding="utf-8")
    Path("never.txt").write_text("g1\n@odd\n", encoding="utf-8")
    words = [
        "select", "t.csv", "-t", "y", "--out", "out", *_short(method), "--forced", "a,b",
        "--forbidden", "@never.txt", *_size(method, 3),
    ]  # fmt: skip
    searches = method.name != "rfe"
    if searches:
        words += ["--feature-groups", "groups.txt", "--size-penalty", "0.001"]
    done = _run(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    kernel, does = (
        ("knn", "evaluates each mask") if searches else ("dual_svm", "makes the coefficients")
    )
    assert lines[1] == f"kernel '{kernel}' {does}"
    assert f"; {method.name} with {_record()['parameters']['estimator']}" in done.stdout
    assert sorted(os.listdir("out")) == [
        "convergence.png", "predictions.csv", "run.json", "selection.csv",
    ]  # fmt: skip
    record = _record()
    results = record["results"]
    selected = set(results["selected"])
    assert "a,b" in selected
    assert not selected & {"g1", "@odd"}
    assert not searches or len(selected & {"c0", "c1", "c2"}) in (0, 3)
    groups = len(selected) - (2 if searches and "c0" in selected else 0)
    assert groups == 3 or "n-features" not in method.options
    assert (results["kernel"], results["n_declined"]) == (kernel, 0)
    assert record["selector"]["forced_features"] == [5]
    assert record["selector"]["forbidden_features"] == [1, 6]
    if searches:
        assert record["selector"]["feature_groups"] == [[7, 8, 9]]
        assert "feature-groups" in record["input"]
    assert "forbidden" in record["input"]
    assert record["parameters"]["forced"] == ["a,b"]
    # What is recorded repeats the run, with the same numbers.
    again = shlex.split(record["repeat"])[1:]
    assert _run(*again, "--out", "again", "-q") == (0, "", "")
    second = _record("again")["results"]
    for seconds in ("search_seconds", "outer_seconds"):
        del results[seconds], second[seconds]
    assert results == second


@pytest.mark.parametrize("method", SEARCHING, ids=lambda method: method.name)
def test_every_search_resumes(method: Method, table: Path) -> None:
    common = ["select", "t.csv", "-t", "y", "-q", *_short(method), *_size(method, 2)]
    assert _run(*common, "--checkpoint", "stored", "--out", "a") == (0, "", "")
    stored = {path.name: path.read_bytes() for path in Path("stored").glob("*.npz")}
    assert len(stored) == 3  # of all samples, and two outer folds
    assert _run(*common, "--checkpoint", "stored", "--out", "b") == (0, "", "")
    assert {path.name: path.read_bytes() for path in Path("stored").glob("*.npz")} == stored
    assert _record("a")["results"]["fold_scores"] == _record("b")["results"]["fold_scores"]


@pytest.mark.parametrize("method", SEARCHING, ids=lambda method: method.name)
def test_a_range_of_sizes_is_searched_or_refused(method: Method, table: Path) -> None:
    if "n-features" not in method.options:
        told = _refused("--method", method.name, "--n-features", "2-4")
        assert told.startswith(f"--n-features is no option of --method {method.name} (")
        return
    if not method.has_range:
        assert _refused("--method", method.name, "--n-features", "2-4") == (
            f"--n-features 2-4 is a range of sizes, which --method {method.name} does not "
            "compare: give one size"
        )
        return
    done = _run(
        "select", "t.csv", "-t", "y", "--out", "out", *_short(method), "--n-features", "2-4", "-q"
    )  # fmt: skip
    assert (done.exit_code, done.stderr) == (0, "")
    record = _record()
    assert 2 <= record["results"]["n_selected"] <= 4
    assert record["parameters"]["n_features"] == [2, 4]
    assert "--n-features 2-4" in record["repeat"]


# -- what is refused ---------------------------------------------------------------------------


def test_features_that_cannot_be(table: Path) -> None:
    Path("groups.txt").write_text("g0,g1\ng2\tg1\n", encoding="utf-8")
    Path("other.txt").write_text('"a,b", g2\nc0,d1\n', encoding="utf-8")
    Path("empty.txt").write_text("\n \n", encoding="utf-8")
    Path("bytes.txt").write_bytes(b"\xff\xfe\x00")
    bspsa = ["--method", "bspsa"]
    for words, message in (
        (["--forced", "g9"], "--forced names 'g9', which is no feature: there are 'g0', 'g1',"),
        (["--forced", "g1,,g9"], "--forced names 'g9', which is no feature"),
        (["--forced", " , "], "--forced must name at least one feature, got none"),
        (["--forced", "@none.txt"], "--forced none.txt: no such file"),
        (["--forced", "@empty.txt"], "--forced must name at least one feature, got none"),
        (["--forbidden", "@other.txt"], "--forbidden @other.txt names '\"a,b\", g2', which is no"),
        (["--forbidden", "@bytes.txt"], "--forbidden bytes.txt: the file is no text in UTF-8"),
        (["--forced", "g0", "--forbidden", "g1,g0"],
         "feature 'g0' cannot be both in --forced and in --forbidden"),
        (["--forbidden", ",".join(_NAMES[:5]), "--forced", "a,b", "--forced", "@odd",
          "--forced", "c0,c1,c2"],
         "nothing is left to search: of 10 features 5 are in --forced and 5 in --forbidden"),
        (["--feature-groups", "none.txt"], "--feature-groups none.txt: no such file"),
        (["--feature-groups", "."], "--feature-groups .: "),
        (["--feature-groups", "empty.txt"], "--feature-groups empty.txt: the file holds no names"),
        (["--feature-groups", "groups.txt"],
         "--feature-groups groups.txt line 2: 'g1' is in the group of line 1 already"),
        (["--feature-groups", "other.txt"],
         "--feature-groups other.txt line 2 names 'd1', which is no feature: there are 'g0"),
        (["--start", "nonsense"], "--start nonsense is no start of --method bspsa, no filter and"),
        (["--start", "@none.txt"], "--start none.txt: no such file"),
        (["--n-features", "few"], "--n-features must be a whole number from 1 on, or a range"),
    ):  # fmt: skip
        assert message in _refused(*bspsa, *words)
    Path("whole.txt").write_text("g0,g1\n", encoding="utf-8")
    said = _refused(*bspsa, "--feature-groups", "whole.txt", "--forced", "g1")
    assert said == (
        "group 1 of --feature-groups moves as one, but of it --forced has feature 'g1' and not "
        "feature 'g0'"
    )


def test_limits_speak_of_what_was_typed(table: Path) -> None:
    words = ("select", "t.csv", "-t", "y", "-q", *_SMALL, "--out", "out", "--method")
    for more, message in (
        (["bspsa", "--max-evaluations", "8", "--restarts", "4"],
         "--max-evaluations 8 leaves 2 to each of --restarts 4, which is fewer than the 3 masks of "
         "one iteration"),
        (["bspsa", "--max-evaluations", "2"],
         "--max-evaluations 2 is fewer than the 3 masks of one iteration"),
        (["bspsa", "--max-evaluations", "2", "--restarts", "3"],
         "--max-evaluations 2 is for all of the --restarts 3: give at least one to each"),
        (["random", "--n-features", "9-11"], "--n-features 11 is more than the 10 features"),
    ):  # fmt: skip
        assert _run(*words, *more) == (2, "", f"bitsieve: error: {message}\n")


# -- restarts ----------------------------------------------------------------------------------


def test_restarts_and_how_much_they_share(table: Path) -> None:
    words = ["--method", "bspsa", "--max-iter", "6", *_SMALL, "--restarts", "3", "--start", "f"]
    done = _run("select", "t.csv", "-t", "y", "--out", "out", *words)
    assert done.exit_code == 0
    results = _record()["results"]
    restarts = results["restarts"]
    assert len(restarts) == 3
    assert len({one["seed"] for one in restarts}) == 3
    panels = [set(one["selected_indices"]) for one in restarts]
    assert [len(panel) for panel in panels] == [one["n_selected"] for one in restarts]
    pairs = [(0, 1), (0, 2), (1, 2)]
    shares = [len(panels[a] & panels[b]) / len(panels[a] | panels[b]) for a, b in pairs]
    assert results["restart_overlap"] == pytest.approx(np.mean(shares))
    assert set(results["selected_indices"]) in panels
    text = " ".join(done.stdout.split())
    overlap = f"two of their panels overlap by {np.mean(shares):.2f} on average (Jaccard index)"
    assert f"restarts 3 searches from other seeds: {overlap}" in text
    errors = sorted(1.0 - one["score"] for one in restarts)
    assert f"{100 * errors[0]:.1f} % to {100 * errors[-1]:.1f} %, the best was taken" in text
    # One search alone has nothing to share.
    words[words.index("--restarts") + 1] = "1"
    done = _run("select", "t.csv", "-t", "y", "--out", "one", *words)
    assert (_record("one")["results"]["restarts"], "Jaccard" in done.stdout) == ([], False)


def test_a_panel_to_start_from(table: Path) -> None:
    """The first mask of a search with a size is the panel that it starts from."""
    Path("panel.txt").write_text("\ufeffg3\nc1\n", encoding="utf-8")
    words = ["--method", "bspsa", "--max-iter", "1", *_SMALL, "--n-features", "2", "-q"]
    done = _run("select", "t.csv", "-t", "y", "--out", "out", *words, "--start", "@panel.txt")
    assert (done.exit_code, done.stderr) == (0, "")
    record = _record()
    assert record["selector"]["start"] == [name in ("g3", "c1") for name in _NAMES]
    assert set(record["results"]["selected"]) == {"g3", "c1"}


def test_bspsa_starts_from_a_random_mask_by_its_word(table: Path) -> None:
    """One feature of ten: by default from ReliefF's first, the one that tells the classes apart."""
    words = ["--method", "bspsa", "--max-iter", "1", *_SMALL, "--n-features", "1", "-q"]
    for out, more in (("default", []), ("word", ["--start", "random"])):
        done = _run("select", "t.csv", "-t", "y", "--out", out, *words, *more)
        assert (done.exit_code, done.stderr) == (0, "")
    assert _record("default")["results"]["selected"] == ["g0"]
    assert _record("word")["results"]["selected"] != ["g0"]
    assert "--start random" in _record("word")["repeat"]


def test_exhaustive_finds_the_optimum(table: Path, tmp_path: Path) -> None:
    """Beside a loop over all subsets of one and two features, by scikit-learn."""
    from itertools import combinations

    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    _, X, y = _table(tmp_path)
    X = StandardScaler().fit_transform(X)
    done = _run(
        "select", "t.csv", "-t", "y", "--out", "out", "--method", "exhaustive", "--n-features",
        "1-2", "--outer-folds", "0", "-q", "--seed", "1",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    splits = _splits()
    subsets = [list(c) for n in (1, 2) for c in combinations(range(10), n)]
    one = KNeighborsClassifier(1)
    scores = [cross_val_score(one, X[:, subset], y, cv=splits).mean() for subset in subsets]
    best = int(np.argmax(scores))  # ties: fewer, then the first
    results = _record()["results"]
    assert results["selected_indices"] == subsets[best]
    assert results["observed_score"] == pytest.approx(scores[best])
    assert results["n_evaluations"] == len(subsets) == 55


def test_messages_name_the_options(table: Path, tmp_path: Path) -> None:
    """What the library says of its parameters, an error and a warning."""
    rng = np.random.default_rng(0)
    rows = ["y," + ",".join(f"g{j}" for j in range(30))]
    rows += [f"{i % 2}," + ",".join(f"{v:.3f}" for v in rng.normal(size=30)) for i in range(30)]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n")
    words = ("select", "wide.csv", "-t", "y", "--out", "out", "--outer-folds", "0", "-q")
    done = _run(*words, "--method", "exhaustive")
    assert done.exit_code == 2
    assert "give --n-features 1-9 or smaller sizes, leave features out by --forbidden" in (
        done.stderr
    )
    done = _run(*words, "--method", "sequential", "--n-features", "5", "--max-evaluations", "60")
    assert done.exit_code == 0
    assert (
        "--max-evaluations 60 ended the search at 2 features, not at --n-features 5: allow"
    ) in done.stderr


def test_rfe_compares_sizes_as_scikit_learn_does(table: Path, tmp_path: Path) -> None:
    """Beside RFECV on the same folds; and to one size, whose error is told too."""
    from sklearn.feature_selection import RFE, RFECV
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    _, X, y = _table(tmp_path)
    X = StandardScaler().fit_transform(X)
    svm = SVC(kernel="linear", tol=1e-10)
    words = ["select", "t.csv", "-t", "y", "--method", "rfe", "--seed", "1"]
    done = _run(*words, "--out", "out", "--outer-folds", "2")
    assert (done.exit_code, done.stderr) == (0, "")
    record = _record()
    results = record["results"]
    splits = _splits()
    rival = RFECV(svm, step=1, cv=splits).fit(X, y)
    assert results["selected_indices"] == np.flatnonzero(rival.support_).tolist()
    observed = rival.cv_results_["mean_test_score"].max()
    assert results["observed_score"] == pytest.approx(observed)
    # Nothing is measured again, and nothing says so.
    assert results["remeasured_score"] is results["remeasured_error"] is None
    assert results["fold_remeasured_scores"] is None
    assert (results["n_evaluations"], results["n_iterations"]) == (10, 11 - rival.n_features_)
    assert "re-measured" not in done.stdout
    text = " ".join(done.stdout.split())
    assert "The observed error comes from the samples that were searched: it is optimistic" in text
    assert "Only the honest error may be published:" in text
    # A size, by steps of three.
    done = _run(*words, "--out", "three", "--n-features", "3", "--step", "3", "--outer-folds", "0")
    assert (done.exit_code, "(1 size compared, 4 steps)" in done.stdout) == (0, True)
    results = _record("three")["results"]
    rival = RFE(svm, n_features_to_select=3, step=3)
    assert results["selected_indices"] == np.flatnonzero(rival.fit(X, y).support_).tolist()
    scores = cross_val_score(make_pipeline(rival, svm), X, y, cv=splits)
    assert results["observed_score"] == pytest.approx(scores.mean())
    # What an elimination cannot be.
    rfe = ["--method", "rfe"]
    for more, message in (
        (["--estimator", "1nn"], "--estimator: KNeighborsClassifier has neither coefficients nor"),
        (["--step", "0"], "--step must be a number in (0, 1) or a whole number from 1 on, got 0"),
        (["--step", "1.5"], "--step must be a number in (0, 1) or a whole number from 1 on, got"),
        (["--n-features", "4-11"], "--n-features 11 is more than the 10 features that may be"),
        (["--n-features", "10", "--forbidden", "g0"], "--n-features 10 is more than the 9 feat"),
        (["--n-features", "1", "--forced", "g0,g1"], "--n-features 1 is less than the 2 forced"),
        (["--n-features", "1-2", "--forced", "g0,g1,g2"], "--n-features 1-2 is less than the 3"),
        (["--repeats", "3"], "--repeats 3 is not for --method rfe, which compares sizes on one"),
        (["--max-time", "3"], "--max-time is no option of --method rfe (--step 0.1 shortens it)"),
    ):  # fmt: skip
        told = _run("select", "t.csv", "-t", "y", *rfe, *more, "--out", "no", "--force", "-q")
        assert (told.exit_code, told.stderr.count("\n")) == (2, 1)
        assert told.stderr.startswith(f"bitsieve: error: {message}")


def test_the_picture_of_an_elimination() -> None:
    """A row for each size from the largest on; of equal scores the smaller one is the best."""
    from bitsieve.cli.told import history_of

    results = {"n_features": [1, 2, 3, 4], "mean_test_score": [0.5, 0.9, 0.9, 0.7]}
    arrays = {name: np.array(column) for name, column in results.items()}
    history = history_of(SimpleNamespace(cv_results_=arrays))
    assert history["n_selected"].tolist() == [4, 3, 2, 1]
    assert history["n_selected_best"].tolist() == [4, 3, 2, 2]
    assert history["best_observed"].tolist() == [0.7, 0.9, 0.9, 0.9]


def test_fixed_exchanges_features_until_none_is_better(table: Path, tmp_path: Path) -> None:
    """Beside all subsets of the size that differ from its panel by one feature."""
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    _, X, y = _table(tmp_path)
    X = StandardScaler().fit_transform(X)
    for start in ("f", "random"):
        done = _run(
            "select", "t.csv", "-t", "y", "--out", start, "--method", "fixed", "--n-features", "3",
            "--start", start, "--outer-folds", "0", "-q", "--seed", "1", "--repeats", "1",
        )  # fmt: skip
        assert done.exit_code == 0, done.stderr
        results = _record(start)["results"]
        panel = set(results["selected_indices"])
        assert len(panel) == 3
        near = [sorted(panel - {a} | {b}) for a in panel for b in set(range(10)) - panel]
        one = KNeighborsClassifier(1)
        scores = [cross_val_score(one, X[:, subset], y, cv=5).mean() for subset in near]
        assert max(scores) <= results["observed_score"] + 1e-12
    words = ["--method", "fixed", "--n-features", "3", "--restarts", "2", "--start", "f", *_SMALL]
    done = _run("select", "t.csv", "-t", "y", "--out", "out", "-q", *words)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "--restarts 2 searches from one start without kicks are the same" in done.stderr
