"""Folds on the command line: of one seed the same for every method, shuffled or in the order."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from bitsieve.cli import main
from bitsieve.cli.methods import METHODS, method_by_name
from bitsieve.evaluation.folds import outer_folds

#: One search after the other, each as short as it can be.
_SHORT = {
    "auto": ["--quick", "--selectors", "f", "--estimators", "lda"],
    "bspsa": ["--max-iter", "2"],
    "exhaustive": ["--n-features", "1"],
    "fixed": ["--n-features", "1", "--max-evaluations", "20"],
    "sls": ["--max-iter", "2"],
    "random": ["--max-evaluations", "8"],
    "sequential": ["--n-features", "1"],
    "floating": ["--n-features", "1"],
    "rfe": ["--n-features", "2"],
    "stg": ["--lam", "0.01", "--max-epochs", "2"],
    "pefs": ["--max-iter", "2"],
}


def _run(*words: object) -> tuple[object, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code, stdout.getvalue(), stderr.getvalue()


@pytest.fixture
def y(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes 36 samples in six batches, one after the other, and returns their classes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y, batch = np.arange(36) % 2, np.arange(36) // 6
    X = rng.normal(size=(36, 4))
    X[:, 0] += 2 * y
    with Path("t.csv").open("w", newline="", encoding="utf-8") as file:
        rows = ([*X[i].tolist(), f"b{batch[i]}", "ny"[y[i]]] for i in range(36))
        csv.writer(file).writerows([["a", "b", "c", "d", "batch", "y"], *rows])
    return y


def _select(method: str, *words: object) -> tuple[dict[str, Any], list[list[int]]]:
    """Return the record, and the samples that each outer fold tested."""
    code, out, err = _run(
        "select", "t.csv", "-t", "y", "--method", method, *_SHORT[method], "--jobs", 1,
        *(() if method_by_name(method).predicts else ("--cv", 2)), "--seed", 7, "--out", "out",
        "--force", "--json", *words,
    )  # fmt: skip
    assert code == 0, err
    with Path("out", "predictions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    tested: dict[int, list[int]] = {}
    for row in rows:
        tested.setdefault(int(row["fold"]), []).append(int(row["sample"]))
    return json.loads(out), [sorted(tested[fold]) for fold in sorted(tested)]


def _tests(folds: Any) -> list[list[int]]:
    return [test.tolist() for _, test in folds]


@pytest.mark.slow
def test_one_seed_draws_the_same_outer_folds_for_every_method(y: Any) -> None:
    X = np.zeros((36, 1))
    drawn = _tests(outer_folds(3, X, y, None, is_classifier=True, n_repeats=2, key=7))
    assert drawn[:3] != _tests(StratifiedKFold(3).split(X, y))

    for method in METHODS:
        if method.predicts and find_spec("torch") is None:
            continue
        record, tested = _select(
            method.name, "--drop", "batch", "--outer-folds", 3, "--outer-repeats", 2
        )
        assert tested == drawn
        assert record["outer_cv"]["text"] == "shuffled stratified 2 x 3-fold"
        assert any("shuffled stratified 2 x 3-fold" in said for said in record["statements"])
        if method.predicts:
            assert record["inner_cv"] is None
        else:
            assert record["inner_cv"]["text"].startswith("shuffled stratified ")


def test_without_shuffling_the_order_of_the_file_counts(y: Any) -> None:
    X = np.zeros((36, 1))
    ordered = _tests(StratifiedKFold(3).split(X, y))

    for method in map(method_by_name, ("auto", "bspsa", "fixed", "rfe")):
        record, tested = _select(method.name, "--drop", "batch", "--outer-folds", 3, "--no-shuffle")
        assert tested == ordered
        assert record["outer_cv"]["text"] == "stratified 3-fold in the order of the file"
        assert record["outer_cv"]["shuffled"] is False
        assert record["inner_cv"]["shuffled"] is (method.is_fresh or method.name == "auto")
        assert "--no-shuffle" in shlex.split(record["repeat"])


def test_the_command_that_repeats_a_run_keeps_the_order(y: Any) -> None:
    record, _ = _select("sequential", "--drop", "batch", "--outer-folds", 3, "--no-shuffle")
    code, out, err = _run(*shlex.split(record["repeat"])[1:], "--out", "again", "--json")
    assert code == 0, err
    again = json.loads(out)["results"]
    assert again["fold_scores"] == record["results"]["fold_scores"]
    assert again["observed_score"] == record["results"]["observed_score"]


def test_groups_stay_together_shuffled_or_not(y: Any) -> None:
    X, batch = np.zeros((36, 1)), np.arange(36) // 6
    words = ["--groups", "batch", "--outer-folds", 3]
    drawn = _tests(outer_folds(3, X, y, batch, is_classifier=True, n_repeats=1, key=7))
    assert drawn != _tests(StratifiedGroupKFold(3).split(X, y, batch))
    for method in ("sequential", "auto"):
        record, tested = _select(method, *words, "--outer-repeats", 1)
        assert tested == drawn
        assert record["outer_cv"]["text"] == "shuffled stratified 3-fold of whole groups"
        # Of few groups each is left out once, by every method.
        record, tested = _select(method, "--groups", "batch")
        assert sorted(tested) == [list(range(6 * b, 6 * b + 6)) for b in range(6)]
        assert record["outer_cv"]["splitter"] == "LeaveOneGroupOut"
    _, tested = _select("sequential", *words, "--no-shuffle")
    assert tested == _tests(StratifiedGroupKFold(3).split(X, y, batch))


def test_inner_folds_are_drawn_from_the_seed(y: Any) -> None:
    """What the search saw of its panel is the score on folds that Python draws from the seed."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    from bitsieve.fitness import ShuffledFolds, compile

    table = np.genfromtxt("t.csv", delimiter=",", skip_header=1, usecols=range(4))
    X, labels = StandardScaler().fit_transform(table), np.array(["n", "y"])[y]
    for cv, words in (
        (ShuffledFolds(3, random_state=7), ["--cv", 3]),
        (ShuffledFolds(3, 4, random_state=7), ["--cv", 3, "--repeats", 4]),
        (3, ["--cv", 3, "--no-shuffle"]),
    ):
        code, out, err = _run(
            "select", "t.csv", "-t", "y", "--drop", "batch", "--method", "sfs", "--n-features", 2,
            "--seed", 7, "--outer-folds", 0, "--out", "out", "--force", "--json", *words,
        )  # fmt: skip
        assert code == 0, err
        record = json.loads(out)
        chosen = record["results"]["selected_indices"]
        mask = np.isin(np.arange(4), chosen)[np.newaxis]
        score = compile(KNeighborsClassifier(1), X, labels, cv=cv).evaluate(mask)[0]
        assert record["results"]["observed_score"] == pytest.approx(score)


def test_what_cannot_be_repeated_is_refused(y: Any) -> None:
    for words, message in (
        (["--repeats", 2], "--repeats 2 repeats inner folds, which are all the same with --no-sh"),
        (["--outer-repeats", 2], "--outer-repeats 2 repeats outer folds, which are all the same"),
    ):
        code, out, err = _run(
            "select", "t.csv", "-t", "y", "--method", "sfs", "--no-shuffle", *words
        )
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
    for method in ("auto", "bspsa"):  # six batches, of which one is left out each
        words = ["-t", "y", "--method", method, "--groups", "batch", "--outer-repeats", 2]
        code, out, err = _run("select", "t.csv", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "all the same where one of 6 groups is left out in each: leave it out, or g" in err
    words = ["--outer-repeats", 2, "--outer-folds", 0]
    code, _, err = _run("select", "t.csv", "-t", "y", "--method", "sfs", *words)
    assert (code, "--outer-folds 0 asks for none" in err) == (2, True)


@each(
    "n_groups, words, said",
    [
        (1, ["--outer-folds", 2], "more than 1 group: leave --groups out"),
        (1, ["--outer-folds", 0], "--cv 5 is more than there are groups (1): leave --groups out"),
        (2, ["--outer-folds", 2, "--cv", 2], "2 groups: take --outer-folds 0 and --cv 2, or leave"),
        (3, ["--outer-folds", 2, "--cv", 2], "3 groups: take --outer-folds 3 and --cv 2"),
        (4, ["--outer-folds", 9], "lower them, such as to --outer-folds 4 and --cv 3"),
        (4, ["--outer-folds", 2], "lower them, such as to --outer-folds 2 and --cv 2"),
    ],
)
def test_folds_that_few_groups_can_give_are_named(
    tmp_path: Path, n_groups: int, words: list[Any], said: str
) -> None:
    table = tmp_path / f"{n_groups}.csv"
    rows = (f"{i * i % 17},{i % 5},g{i // 2 % n_groups},{'ny'[i % 2]}" for i in range(48))
    table.write_text("\n".join(["a,b,group,y", *rows]), encoding="utf-8")
    common = ["select", table, "-t", "y", "--groups", "group", "--method", "sequential"]
    common += [*_SHORT["sequential"], "--force", "--json", "--out", tmp_path / "out"]
    code, out, err = _run(*common, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    named = re.findall(r"--(outer-folds|cv) (\d)", err.partition("groups: ")[2])
    if named:  # and they can be had
        code, _, err = _run(*common, *(word for k, v in named for word in (f"--{k}", v)))
        assert code == 0, err


def test_the_terminal_says_what_the_folds_are(y: Any) -> None:
    words = ["select", "t.csv", "-t", "y", "--drop", "batch", "--method", "sfs", "--seed", 7]
    code, out, _ = _run(*words, "--out", "out", "--outer-folds", 3, "--cv", 4)
    text = " ".join(out.split())
    assert code == 0
    assert "best inner cross-validation (shuffled stratified 4-fold) of it" in text
    assert "nested cross-validation: shuffled stratified 3-fold, 95 % interval" in text
