"""Which options belong to which method of select, and lengths of time as they are typed."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from each import each

from bitsieve.cli import main
from bitsieve.cli.methods import KNOWN, METHODS, SEARCHING, joined, method_by_name
from bitsieve.cli.select_options import effort_of, seconds_of, words_of

_SEARCHES = joined([method.name for method in SEARCHING])


def _refused(*words: str) -> str:
    stderr = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main(["select", "--dataset", "iris", *words])
    assert stop.value.code == 2
    assert stderr.getvalue().count("\n") == 1
    return stderr.getvalue().removeprefix("bitsieve: error: ").removesuffix("\n")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_option_of_the_other_method_is_named_with_what_does_the_same() -> None:
    assert _refused("--estimator", "1nn") == (
        "--estimator is no option of --method auto (auto chooses the classifier, --estimators "
        f"lda,svm restricts it): leave it out, or give --method {_SEARCHES}"
    )
    for words in (
        ["--scale", "none"], ["--n-features", "5"], ["--max-iter", "5"], ["--max-time", "5"],
        ["--patience", "0"], ["--size-penalty", "0.1"], ["--forced", "x"], ["--forbidden", "x"],
        ["--feature-groups", "x"], ["--start", "f"], ["--restarts", "2"],
        ["--max-evaluations", "9"], ["--direction", "backward"], ["--step", "2"],
        ["--size-rule", "best"], ["--kicks", "2"],
    ):  # fmt: skip
        said = _refused("--method", "Auto", *words)
        owners = [m.name for m in METHODS if words[0].removeprefix("--") in m.options]
        alone = f"an option of --method {owners[0]} alone ("
        of = alone if len(owners) == 1 else "no option of --method auto ("
        assert said.startswith(f"{words[0]} is {of}")
        assert said.endswith(f"): leave it out, or give --method {joined(owners)}")
    for words in (
        ["--max-features", "5"], ["--selectors", "f"], ["--estimators", "lda"],
        ["--combine", "vote"], ["--parsimony", "1"], ["--stability", "filter"], ["--log", "never"],
        ["--quick"], ["--thorough"], ["--time", "5m"],
        ["--restrict", "x"], ["--external", "x"], ["--covariates", "x"],
    ):  # fmt: skip
        for method in METHODS[1:]:
            said = _refused("--method", method.name, *words)
            assert said.startswith(f"{words[0]} is an option of --method auto alone")
            assert said.endswith(": leave it out, or give --method auto")
    assert not Path("bitsieve-out").exists()


def test_an_unknown_method_is_told_before_its_options() -> None:
    assert f"unknown method 'sps'; known methods: {', '.join(KNOWN)}" in _refused(
        "--method", "sps", "--max-iter", "3"
    )
    assert method_by_name("BSPSA").name == "bspsa"


@each(
    ("words", "message"),
    [
        (["--outer-folds", "1"], "--outer-folds must be 0 (none) or at least 2, got 1"),
        (["--outer-folds", "0", "--outer-repeats", "3"], "--outer-repeats repeats outer folds"),
        (["--scoring", "roc_auc"], "--method auto takes accuracy or balanced_accuracy"),
        (["--quick", "--thorough"], "--quick and --thorough ask for opposite things"),
        (["--time", "5x"], "--time must be a length of time above 0, got '5x': give seconds"),
        (["--time", "0"], "--time must be a length of time above 0, got '0'"),
        (["--time", "9" * 400], f"above 0, got '{'9' * 37}...': give seconds"),
        (["--restrict", "none.txt"], "--restrict none.txt: no such file"),
        (["--external", "none.csv"], "--external none.csv: no such file"),
        (["--selectors", "nonsense"], "nonsense"),
        (["--estimators", "nonsense"], "nonsense"),
        (["--selectors", ""], "--selectors must name at least one, got none"),
        (["--estimators", ","], "--estimators must name at least one, got none"),
        (["--selectors", "f,anova"], "--selectors names one twice: 'f', 'anova'"),
        (["--stability", "filter", "--selectors", "f"], "--stability filter chooses the selector"),
        (["--parsimony", "inf"], "--parsimony must be a finite number"),
        (["--outer-repeats", "9" * 20], "--outer-repeats must be at most 1000"),
        (["--repeats", "9" * 20], "--repeats must be at most 1000"),
        (["--jobs", "0"], "--jobs must be None or a whole number other than 0"),
        (["--jobs", "100000"], "--jobs must be at most 1024"),
        (["--cv", "51", "--outer-folds", "0"], "--cv 51 is more than the largest class has sampl"),
        (["--max-features", "-1"], "--max-features"),
        (["--outer-folds", "60"], "--outer-folds 60 is more than the largest class has"),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], message: str) -> None:
    said = _refused(*words)
    assert message in said
    assert len(said) <= 300
    assert not list(Path().iterdir())  # refused before there is a folder


@each(
    ("y", "words", "message"),
    [
        ("aaaaaaab", ["--outer-folds", "0"], "class 'b' has 1 sample at all, and two classes of"),
        ("aaaaaaabbb", ["--outer-folds", "2", "--cv", "2"],
         "class 'b' has 1 sample in a smallest outer training part"),
        ("aaaabbbb", ["--groups", "site", "--outer-folds", "0", "--cv", "3"],
         "--cv 3 is more than there are groups (2): lower it"),
        ("aaaabbbb", ["--groups", "site", "--outer-folds", "0", "--cv", "2"],
         "no class stands in two groups (a: 4, b: 4)"),
        ("aaaabbbb", ["--covariates", "y"], "'y' cannot be both the target and a covariate"),
        ("aaaabbbb", ["--covariates", "none"], "covariate 'none' is not in t.csv"),
        ("aaaabbbb", ["--covariates", "site,site"], "--covariates must name columns, each once"),
    ],
)  # fmt: skip
def test_small_tables_and_other_columns(y: str, words: list[str], message: str) -> None:
    rows = [f"{i * i % 7},{i % 3},{'st'[label == 'b']},{label}" for i, label in enumerate(y)]
    Path("t.csv").write_text("\n".join(["g,h,site,y", *rows]) + "\n", encoding="utf-8")
    drop = [] if "--groups" in words or "site,site" in words else ["--drop", "site"]
    file = ["t.csv", "-t", "y", "--jobs", "1", "--quick", "-q"]
    stderr = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main(["select", *file, *words, *drop])
    said = [line for line in stderr.getvalue().splitlines() if "warning" not in line]
    assert (stop.value.code, len(said)) == (2, 1)
    assert message in said[0]


def test_lengths_of_time() -> None:
    for text, seconds in (
        ("90", 90), ("90s", 90), ("5m", 300), ("1h", 3600), ("1.5h", 5400), (" 2 min ", 120),
        ("90S", 90),
    ):  # fmt: skip
        assert seconds_of(text) == seconds
    for text in ("", "m", "-5", "0s", "5d", "1e3", "nan", "inf", "5 m 3 s"):
        with pytest.raises(ValueError, match="--time must be a length of time above 0"):
            seconds_of(text)


def test_words_between_commas() -> None:
    assert words_of(["f, relieff", "mrmr,"]) == ("f", "relieff", "mrmr")
    assert words_of(None) is None
    assert [effort_of(quick=q, thorough=t) for q, t in ((0, 0), (1, 0), (0, 1))] == [
        "standard", "quick", "thorough",
    ]  # fmt: skip


def test_a_run_that_ended_meanwhile_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if the other run, into the same folder, ended while this one worked.
    monkeypatch.setattr("bitsieve.cli.auto.make_folder", _other_run)
    stderr = io.StringIO()
    words = ["--quick", "--outer-folds", "0", "--jobs", "1", "--seed", "1", "--out", "out"]
    with redirect_stdout(io.StringIO()), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main(["select", "--dataset", "iris", *words])
    assert stop.value.code == 2
    assert "--out out holds run.json of something else: give another --out" in stderr.getvalue()
    assert [path.name for path in Path("out").iterdir()] == ["run.json"]


def _other_run(out: Path) -> None:
    out.mkdir()
    (out / "run.json").write_text("{}", encoding="utf-8")
