"""Columns that are no features, and classes that are hardly meant; and no false alarm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bitsieve.data import Table

_N = 24
_Y = np.repeat(["a", "b"], _N // 2)
_RNG = np.random.default_rng(0)
_GENES = _RNG.normal(size=(_N, 6))


def _table(column: Any, name: str = "g0", y: Any = _Y, **options: Any) -> Table:
    """Six genes and, before them, one column."""
    X = np.column_stack([np.asarray(column, float), _GENES[: len(column)]])
    names = [name, *(f"gene{j}" for j in range(6))]
    return Table(X, None if y is None else y[: len(column)], names=names, **options)


def _said(table: Table) -> list[str]:
    return [f"{d.names[0]} {d.why}" for d in table.doubts() if d.kind == "column"]


def test_counters() -> None:
    rng = np.random.default_rng(1)
    count = np.arange(_N)
    for column in (count, count + 1, count[::-1], count + 20000):
        assert _said(_table(column)) == ["g0 counts the samples"]
    assert _said(_table(count, y=None)) == ["g0 counts the samples"]
    gaps = np.cumsum(rng.integers(1, 4, _N))
    assert _said(_table(gaps)) == ["g0 numbers the samples in their order"]
    for seed in range(5):
        mixed = np.random.default_rng(seed).permutation(_N) + 7
        assert _said(_table(mixed)) == ["g0 numbers the samples"]
    # Not whole, not all of them, or a few samples alone.
    assert not _said(_table(count + 0.5 * (count == 9)))
    assert not _said(_table(np.where(count == _N - 1, 0, count)))
    assert not _said(_table(np.arange(4), y=None))
    # A step and a half for every column is no counter but a table made so.
    assert not Table(np.arange(60.0).reshape(12, 5), np.arange(12) % 2).doubts()


def test_a_table_of_ranks_or_of_counts_is_no_table_of_counters() -> None:
    rng = np.random.default_rng(2)
    for seed in range(3):
        ranks = np.random.default_rng(seed).permuted(np.tile(np.arange(_N), (60, 1)), axis=1).T
        assert not Table(ranks, _Y).doubts()
        assert not Table(rng.integers(0, 5000, (_N, 300)), _Y).doubts()


def test_identifiers() -> None:
    rng = np.random.default_rng(3)
    numbers = rng.choice(90000, _N, replace=False) + 10000
    why = "is named and numbered like an identifier"
    names = ["id", "patient_id", "SampleID", "Patient", "Subject No.", "GSM accession", "Nr."]
    for name in [*names, "subjectid", "case.ID", "MRN"]:
        assert _said(_table(numbers, name)) == [f"{name} {why}"]
    why = "is named like an identifier that samples share, which may be their groups"
    for name in ("patient_id", "patient", "Subject No."):
        assert _said(_table(np.repeat(numbers[: _N // 2], 2), name)) == [f"{name} {why}"]
    # Genes of such names, numbers of something else, values that are no whole numbers, groups.
    for name in ("ID1", "ID2", "SAMHD1", "platelets", "number_of_cells"):
        assert not _said(_table(numbers, name))
    assert not _said(_table(_RNG.normal(size=_N), "sample"))
    assert not _said(_table(np.arange(_N) % 3, "patient_id"))
    assert not _said(_table(np.repeat(numbers[: _N // 2], 2), "patient age"))


def test_text_that_differs_in_every_sample() -> None:
    codes = np.random.default_rng(4).permutation(_N)
    discrete = [True] + [False] * 6
    assert "numbers the samples" in _said(_table(codes, discrete=discrete))[0]
    X = np.column_stack([codes * 3 % 71, _GENES])
    table = Table(X, _Y, discrete=discrete)
    assert _said(table) == ["x0 has another text in every sample, as a name or an identifier has"]


def test_copies_of_the_target() -> None:
    why = "g0 has one value for each class, as a copy of the target has"
    three = np.array(["x", "y", "z"])[np.arange(_N) % 3]
    for y in (_Y, three, np.arange(_N) % 2):
        _, codes = np.unique(y, return_inverse=True)
        for column in (codes, 5.5 - codes, np.array([0.1, 3.0, -7.0])[codes]):
            assert _said(_table(column, y=y)) == [why]
            assert _said(_table((column - column.mean()) / column.std(), y=y)) == [why]
    column = (_Y == "b").astype(float)
    column[[0, 5, 20]] = np.nan
    assert _said(_table(column, missing="keep")) == [why]
    # A few values of a class say little of it.
    column[np.flatnonzero(_Y == "b")[2:]] = np.nan
    assert not _said(_table(column, missing="keep"))
    # A gene that separates the classes at a threshold; a level too many; one sample that differs.
    assert not _said(_table(_GENES[:, 0] + 9 * (_Y == "b")))
    assert not _said(_table((_Y == "b") * (1 + np.arange(_N) % 2)))
    assert not _said(_table((_Y == "b") ^ (np.arange(_N) == 3)))
    assert not _said(_table((three == "z") * 1.0, y=three))


def test_a_copy_that_chance_gives_is_none() -> None:
    y = np.repeat([0, 1], 6)
    for seed in range(5):
        X = np.random.default_rng(seed).integers(0, 2, (12, 400))
        X[:, seed] = y
        assert not Table(X, y).doubts()
        wide = np.vstack([X] * 3)
        wide[12:, seed + 1 :] = 1 - wide[12:, seed + 1 :]
        (doubt,) = Table(wide, np.tile(y, 3)).doubts()
        assert doubt.names == (f"x{seed}",)


def test_classes_of_one_sample_make_no_copies() -> None:
    X = _GENES.copy()
    assert not [d for d in Table(X, [f"c{i}" for i in range(_N)]).doubts() if d.kind == "column"]
    y = [f"c{i}" for i in [*range(_N - 1), 0]]
    X[-1] = X[0]
    assert not [d for d in Table(X, y).doubts() if d.kind == "column"]


def test_few_samples_of_many_columns_are_numbered_by_chance() -> None:
    X = np.random.default_rng(9).integers(0, 10, (10, 500)).astype(float)
    X[:, 7] = np.random.default_rng(2).permutation(10)
    y = np.repeat(["a", "b"], 5)
    assert not [d for d in Table(X, y).doubts() if "numbers" in d.why]
    (doubt,) = Table(np.column_stack([X[:, 7], _GENES[:10]]), y).doubts()
    assert doubt.why == "numbers the samples"


def test_measurements_of_a_sample_are_no_identifiers() -> None:
    values = np.random.default_rng(10).choice(10**6, _N, replace=False)
    for name in ("sample_volume", "PatientIncome", "specimen reads"):
        assert not _said(_table(values, name))
    for name in ("patient", "Sample no", "Subject 1", "Unnamed: 3", "sample_id"):
        assert _said(_table(values, name)) == [f"{name} is named and numbered like an identifier"]
    lengths = np.sort(np.random.default_rng(11).exponential(size=_N))
    for name in ("sequence_length", "scan_time"):
        assert not _said(_table(lengths, name))
    for name in ("run", "scan number", "sample sequence"):
        assert _said(_table(lengths, name)) == [f"{name} follows the order of the samples"]


def test_copies_of_a_numeric_target() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=_N)
    why = ["g0 is the target itself, or a straight line in it"]
    for column in (y, 3.0 - 1.8 * y, np.float32(y)):
        assert _said(_table(column, y=y)) == why
    X = np.column_stack([y, _GENES]).astype(np.float32)
    assert [d.names for d in Table(X, y).doubts()] == [("x0",)]
    for column in (y**3, y + 1e-3 * rng.normal(size=_N), np.exp(y)):
        assert not _said(_table(column, y=y))


def test_the_order_of_measurement() -> None:
    times = np.cumsum(np.random.default_rng(6).exponential(size=_N))
    for name in ("run_order", "injectionOrder", "scan date", "acquisition"):
        assert _said(_table(times, name)) == [f"{name} follows the order of the samples"]
        assert not _said(_table(_GENES[:, 1], name))
    assert not _said(_table(times, "g1"))


def test_follow_up_times() -> None:
    rng = np.random.default_rng(7)
    time, event = rng.exponential(900, _N).round(1), rng.integers(0, 2, _N)
    why = "is a follow-up time, known only after its event"
    for target in ("event", "status", "vital_status", "OS.status", "Dead", "e.rfs", "relapse.csv"):
        for name in (
            "time", "OS_months", "days_to_death", "followUp", "Survival (months)", "RFS", "t.rfs",
            "days_to_last_follow_up", "futime", "time until event", "SurvTime",
        ):  # fmt: skip
            said = _said(_table(time, name, y=event, target_name=target))
            # What is named after its event as well as its time is a time.
            assert said == [f"{name} {why}"], (target, name)
    X = np.column_stack([time, event, _GENES])
    names = ["time", "status", *(f"g{j}" for j in range(6))]
    table = Table(X, _Y, names=names)
    assert _said(table) == [f"time {why}", "status is the event of a follow-up time"]
    table = Table(X[:, 1:], time, names=names[1:], target_name="time", task="regression")
    assert _said(table) == ["status is the event of a follow-up time"]
    # Times and statuses that are no follow-up.
    for name, target in (
        ("time", "group"), ("age_years", "event"), ("years_of_education", "status"),
        ("TIMELESS", "status"), ("g1", "event"), ("days", "er_status"), ("OS9", "death"),
        ("months", "marital status"), ("reaction_time", "event"), ("time_to_peak", "death"),
        ("T", "status code"), ("e", "t"),
    ):  # fmt: skip
        assert not _said(_table(time, name, y=event, target_name=target)), (name, target)
    assert not _said(_table(time - 500, "time", y=event, target_name="event"))


def test_classes() -> None:
    X = np.random.default_rng(8).normal(size=(9, 3))
    y = ["Tumour", "tumour", "tumour", "normal", "normal", " normal", "x 1", "x1", "other"]
    alike, single = Table(X, y).doubts()
    assert alike.kind == single.kind == "classes"
    assert set(alike.names) == {"Tumour", "tumour", "normal", " normal", "x 1", "x1"}
    assert "'Tumour' (1), 'tumour' (2)" in alike.why
    assert "write them alike if they mean the same" in alike.why
    assert set(single.names) == {"Tumour", " normal", "x 1", "x1", "other"}
    (one,) = Table(X, ["a"] * 8 + ["b"]).doubts()
    assert one.why.startswith("the class 'b' has one sample: ")
    assert not Table(X, ["a", "b", "c"] * 3).doubts()
    assert not Table(X, [0, 1, 2] * 3).doubts()
    assert not Table(X).doubts()


@pytest.mark.parametrize("kind", ["normal", "levels", "counts", "binary", "rounded"])
def test_no_false_alarm_on_noise(kind: str) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 40))
        shape = (n, 3000)
        X = {
            "normal": rng.normal(size=shape),
            "levels": rng.integers(0, 3, shape),
            "counts": rng.poisson(30, shape),
            "binary": rng.integers(0, 2, shape),
            "rounded": rng.normal(6, 3, shape).round(1),
        }[kind]
        for y in (np.arange(n) % 2, np.sort(np.arange(n) % 3), rng.normal(size=n), None):
            table = Table(X, y)
            assert [d for d in table.doubts() if d.kind == "column"] == [], (seed, n)


def test_no_false_alarm_on_real_tables(dataset: Any) -> None:
    for name in ("breast_w", "colon_disc", "vehicle", "arrhythmia", "khan", "mofn_3_7_10", "west"):
        X, y, names = dataset(name)
        table = Table(X, y, names=names, missing="keep")
        assert [d for d in table.doubts() if d.kind == "column"] == [], name
