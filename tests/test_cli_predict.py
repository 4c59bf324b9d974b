"""``bitsieve predict``: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from small_panels import NAMES, made, table

from bitsieve import AutoSelector
from bitsieve.cli import main
from bitsieve.panels import Panel


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
        main(["predict", *(str(a) for a in arguments)])
    return _Done(stop.value.code, stdout.getvalue(), stderr.getvalue())


class _Case(NamedTuple):
    panel: Panel
    path: Path
    frame: pd.DataFrame
    truth: np.ndarray


@pytest.fixture
def case(tmp_path: Path) -> _Case:
    """A panel of five members on disk, and a frame of other samples."""
    panel, _ = made(3)
    X, codes = table(seed=5, count=3)
    frame = pd.DataFrame(X, columns=NAMES, index=[f"s{i}" for i in range(len(X))])
    return _Case(panel, panel.save(tmp_path / "panel.json"), frame, panel.classes[codes])


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_numbers_are_those_of_the_panel(case: _Case, tmp_path: Path) -> None:
    expected = case.panel.outcome(case.frame)
    shuffled = case.frame.iloc[:, ::-1].assign(note="some text", batch="b1")
    shuffled.rename_axis("id").to_csv(tmp_path / "new.csv")
    out = tmp_path / "sub" / "predictions.csv"
    done = _run(case.path, tmp_path / "new.csv", "--out", out)
    assert (done.exit_code, done.stderr) == (0, "")
    rows = _rows(out)
    assert [row["name"] for row in rows] == list(case.frame.index)
    assert [row["predicted"] for row in rows] == expected.predicted.tolist()
    for what, values in (("probability", expected.probabilities), ("votes", expected.votes)):
        found = [[float(row[f"{what}_class {c}"]) for c in range(3)] for row in rows]
        assert found == values.tolist()
    counts = [f"{(expected.codes == c).sum()} class {c}" for c in np.unique(expected.codes)]
    said = f"50 samples of new.csv: {', '.join(counts)} (panel of 35 features, vote of 5 classifier"
    assert said in done.text
    assert f"s0 {expected.predicted[0]} {expected.probabilities[0, 0]:.3f}" in done.text
    assert "and 30 samples more" in done.text
    record = json.loads(_run(case.path, tmp_path / "new.csv", "--json").stdout)
    assert [one["predicted"] for one in record["samples"]] == expected.predicted.tolist()
    first = record["samples"][0]
    assert list(first["probabilities"].values()) == expected.probabilities[0].tolist()
    assert first["votes"] == dict(zip(case.panel.classes, expected.votes[0], strict=True))
    assert (record["external"], record["missing"], record["statements"]) == (None, [], [])
    assert record["panel"]["n_features"] == 35
    assert _run(case.path, tmp_path / "new.csv", "-q").stdout == ""


def test_numbers_are_those_of_the_run(tmp_path: Path) -> None:
    X, codes = table(n=36)
    frame = pd.DataFrame(X, columns=NAMES)
    selector = AutoSelector(
        selectors=["f"], estimators=["lda", "knn"], sizes=[5, 10], cv=3, n_repeats=1, n_jobs=1,
        random_state=0,
    ).fit(frame, np.array(["a", "b"])[codes])  # fmt: skip
    selector.panel_.save(tmp_path / "panel.json")
    frame.to_csv(tmp_path / "new.csv")
    samples = json.loads(_run(tmp_path / "panel.json", tmp_path / "new.csv", "--json").stdout)
    found = [list(one["probabilities"].values()) for one in samples["samples"]]
    assert found == selector.predict_proba(frame).tolist()
    assert [one["predicted"] for one in samples["samples"]] == selector.predict(frame).tolist()


def test_orientations_and_single_samples(case: _Case, tmp_path: Path) -> None:
    expected = case.panel.outcome(case.frame)
    case.frame.T.rename_axis("gene").to_csv(tmp_path / "genes.tsv", sep="\t")
    # Fewer rows than columns, and no usual header: only the panel tells what a row is.
    unused = sorted(set(NAMES) - set(case.panel.feature_names))
    case.frame.T.drop(unused).rename_axis("what").to_csv(tmp_path / "few.csv")
    case.frame.iloc[:1].rename_axis("id").to_csv(tmp_path / "one.csv")
    case.frame.T.iloc[:, :1].rename_axis("id").to_csv(tmp_path / "one_column.csv")
    for name, n in (("genes.tsv", 50), ("few.csv", 50), ("one.csv", 1), ("one_column.csv", 1)):
        done = _run(case.path, tmp_path / name, "--json")
        assert done.exit_code == 0, done.stderr
        samples = json.loads(done.stdout)["samples"]
        assert [s["predicted"] for s in samples] == expected.predicted[:n].tolist(), name


def test_external_test(case: _Case, tmp_path: Path) -> None:
    frame = case.frame.assign(group=case.truth)
    frame.to_csv(tmp_path / "new.csv")
    wrong = int((case.panel.predict(case.frame) != case.truth).sum())
    out = tmp_path / "p.csv"
    done = _run(case.path, tmp_path / "new.csv", "-t", "group", "--out", out)
    assert done.exit_code == 0, done.stderr
    said = f"Error on 50 samples: {2 * wrong:.1f} % (95 % "
    assert said in done.text
    assert [row["truth"] for row in _rows(out)] == case.truth.tolist()
    record = json.loads(_run(case.path, tmp_path / "new.csv", "-t", "group", "--json").stdout)
    assert record["external"]["score"] == (50 - wrong) / 50
    assert sum(map(sum, record["external"]["confusion"])) == 50
    assert record["statements"][0] in done.text
    # One sample, and one class alone.
    frame.iloc[:1].to_csv(tmp_path / "one.csv")
    assert "Error on 1 sample: " in _run(case.path, tmp_path / "one.csv", "-t", "group").text


def test_missing_features(case: _Case, tmp_path: Path) -> None:
    lost = list(case.panel.feature_names[:3])
    frame = case.frame.drop(columns=lost)
    frame.to_csv(tmp_path / "new.csv")
    missing = np.isin(NAMES, lost)
    expected = case.panel.outcome(frame, missing=missing)
    done = _run(case.path, tmp_path / "new.csv", "--json")
    assert done.exit_code == 0
    assert done.stderr == (
        "bitsieve: warning: new.csv: 3 of the panel's 35 features are missing and stand at their "
        f"centre: {', '.join(map(repr, lost))}\n"
    )
    record = json.loads(done.stdout)
    assert record["missing"] == lost
    found = [list(one["probabilities"].values()) for one in record["samples"]]
    assert found == expected.probabilities.tolist()
    done = _run(case.path, tmp_path / "new.csv", "--max-missing", "0.05")
    assert done.exit_code == 2
    assert (
        "lacks 3 of the panel's 35 features, 9 %, where at most 5 % may be missing" in done.stderr
    )


def test_values_of_another_unit(case: _Case, tmp_path: Path) -> None:
    (1e4 * case.frame).to_csv(tmp_path / "new.csv")
    done = _run(case.path, tmp_path / "new.csv", "-q")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "standard deviations from their centre, where about 0.7 is usual: if" in done.stderr
    distance = case.panel.outcome(case.frame).distance
    assert 0.3 < np.median(distance) < 1.2
    assert distance.shape == (50,)


def test_refusals(case: _Case, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    case.frame.to_csv(new)

    def refused(*arguments: Any) -> str:
        done = _run(*arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("bitsieve: error: ")
        assert done.stderr.count("\n") == 1
        return done.stderr

    assert "no panel: not JSON" in refused(new, new)
    assert "is a folder: give the panel.json in it" in refused(tmp_path, new)
    assert "No such file or directory" in refused(tmp_path / "no.json", new)
    assert "no such file" in refused(case.path, tmp_path / "no.csv")
    assert "is there already" in refused(case.path, new, "--out", new)
    assert "is a folder" in refused(case.path, new, "--out", tmp_path)
    assert _run(case.path, new, "--out", new, "--force").exit_code == 0
    case.frame.to_csv(new)
    other = tmp_path / "other.csv"
    case.frame.add_prefix("x").to_csv(other)
    said = refused(case.path, other)
    assert "none of the panel's 35 features is in the table, such as 'gene 0'" in said
    assert "--orient features" in said
    used = case.panel.feature_names[1]
    case.frame.assign(**{used: ["a", "b"] * 25}).to_csv(other)
    assert f"1 column ('{used}') holds text" in refused(case.path, other)
    spoilt = case.frame.copy()
    spoilt.loc["s3", used] = np.nan
    spoilt.to_csv(other)
    assert f"but 1 column ('{used}') holds missing or infinite values" in refused(case.path, other)
    case.frame.assign(group=["class 0", "ill"] * 25).to_csv(other)
    said = refused(case.path, other, "--target", "group")
    assert "holds a class that the panel does not know: 'ill'; it knows 'class 0'" in said
