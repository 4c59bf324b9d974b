"""Covariates of a file, and targets that are no classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitsieve.data import Table, read_covariates, read_table
from bitsieve.data.doubts import refused_target


def test_covariates_have_the_rows_of_the_features(tmp_path: Path) -> None:
    path = tmp_path / "expr.csv"
    path.write_text(
        "id,batch,age,tp53,outcome\n"
        "s1,old,61,1.5,x\ns2,new,,1.25,y\ns3,old,58,1.0,\ns4,,70,2.0,x\ns5,new,44,3.0,y\n"
    )
    with pytest.warns(UserWarning, match="has no label and is left out"):
        table = read_table(path, target="outcome", index="id", drop=["batch", "age"])
    found = read_covariates(path, ["age", "batch"], target="outcome", index="id")
    assert table.names == ["tp53"]
    assert found.index.tolist() == table.sample_names == ["s1", "s2", "s4", "s5"]
    assert found.columns.tolist() == ["age", "batch"]
    np.testing.assert_array_equal(found["age"], [61, np.nan, 70, 44])
    batch = found["batch"]
    assert batch.dtype.name == "category"
    assert batch.isna().tolist() == [False, False, True, False]
    assert batch.iloc[1] == batch.iloc[3] != batch.iloc[0]
    with pytest.raises(ValueError, match=r"covariate 'batches' is not in .*did you mean 'batch'"):
        read_covariates(path, ["batches"], target="outcome", index="id")
    with pytest.raises(ValueError, match="both the target and a covariate"):
        read_covariates(path, ["outcome"], target="outcome")
    for names in ([], ["age", "age"]):
        with pytest.raises(ValueError, match="covariates must name columns, each once"):
            read_covariates(path, names, target="outcome")


def _refused(y: Any, target: str | None = None, **columns: Any) -> str | None:
    X = np.column_stack([np.random.default_rng(0).normal(size=len(y)), *columns.values()])
    names = ["tp53", *columns]
    task = "classification" if np.asarray(y).dtype.kind != "f" else None
    return refused_target(Table(X, y, names=names, target_name=target, task=task))


@pytest.mark.filterwarnings("ignore:y holds")
def test_numbers_and_survival_are_no_classes() -> None:
    rng = np.random.default_rng(0)
    days, died = rng.integers(10, 3000, 60).astype(float), np.arange(60) % 2
    said = _refused(rng.normal(50, 9, 60), "age")
    assert said is not None
    assert "'age' holds numbers (60 different ones, from" in said
    said = _refused(rng.integers(20, 80, 60), "age")
    assert said is not None
    assert "make classes of them first" in said
    said = _refused(days + 0.5, "OS.time", event=died)
    assert said is not None
    assert "'OS.time' is a follow-up time with the event 'event'" in said
    said = _refused(died, "death", days_to_death=days)
    assert said is not None
    assert "'days_to_death' its follow-up time" in said
    assert "--drop" in said


@pytest.mark.filterwarnings("ignore:y holds")
def test_classes_are_classes_whatever_they_are_called() -> None:
    rng = np.random.default_rng(0)
    days, died = rng.integers(10, 3000, 60).astype(float), np.arange(60) % 2
    assert _refused(died, "death") is None  # no time beside it
    assert _refused(died, "tumour", time=days) is None
    assert _refused(np.arange(60) % 4, "stage") is None
    assert _refused(np.arange(120) % 12, "digit") is None
    assert _refused(np.array(["a", "b", "c"])[np.arange(60) % 3]) is None
    assert _refused(np.array([f"kind {i}" for i in np.arange(60) % 30]), "kind") is None
