"""Which options belong to which method of select, and lengths of time as they are typed."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from each import each

from bitsieve.cli import main
from bitsieve.cli.methods import check_method
from bitsieve.cli.select_options import effort_of, seconds_of, words_of


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
        "--estimator is an option of --method bspsa alone (auto chooses the classifier, "
        "--estimators lda,svm restricts it): leave it out, or give --method bspsa"
    )
    for words in (
        ["--scale", "none"], ["--n-features", "5"], ["--max-iter", "5"], ["--max-time", "5"],
        ["--patience", "0"],
    ):  # fmt: skip
        said = _refused("--method", "Auto", *words)
        assert said.startswith(f"{words[0]} is an option of --method bspsa alone (")
    for words in (
        ["--max-features", "5"], ["--selectors", "f"], ["--estimators", "lda"],
        ["--combine", "vote"], ["--parsimony", "1"], ["--stability", "filter"], ["--log", "never"],
        ["--quick"], ["--thorough"], ["--time", "5m"], ["--outer-repeats", "2"],
        ["--restrict", "x"], ["--external", "x"], ["--covariates", "x"],
    ):  # fmt: skip
        said = _refused("--method", "bspsa", *words)
        assert said.startswith(f"{words[0]} is an option of --method auto alone")
        assert said.endswith(": leave it out, or give --method auto")
    assert not Path("bitsieve-out").exists()


def test_an_unknown_method_is_told_before_its_options() -> None:
    assert "unknown method 'sps'; known methods: auto, bspsa" in _refused(
        "--method", "sps", "--max-iter", "3"
    )
    assert check_method("BSPSA") == "bspsa"


@each(
    ("words", "message"),
    [
        (["--outer-folds", "1"], "--outer-folds must be 0 (none) or at least 2, got 1"),
        (["--outer-folds", "0", "--outer-repeats", "3"], "--outer-repeats repeats outer folds"),
        (["--scoring", "roc_auc"], "--method auto takes accuracy or balanced_accuracy"),
        (["--quick", "--thorough"], "--quick and --thorough ask for opposite things"),
        (["--time", "5x"], "--time must be a length of time above 0, got 5x: give seconds"),
        (["--time", "0"], "--time must be a length of time above 0, got 0"),
        (["--restrict", "none.txt"], "--restrict none.txt: no such file"),
        (["--external", "none.csv"], "--external none.csv: no such file"),
        (["--selectors", "nonsense"], "nonsense"),
        (["--estimators", "nonsense"], "nonsense"),
        (["--max-features", "-1"], "--max-features"),
        (["--outer-folds", "60"], "--outer-folds 60 is more than the largest class has"),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], message: str) -> None:
    assert message in _refused(*words)


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
