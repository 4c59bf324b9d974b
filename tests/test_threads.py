"""What ``n_jobs`` stands for: cores, limits in the environment, workers of a pool."""

from __future__ import annotations

import multiprocessing

import joblib
import numpy as np
import pytest
from each import each

from bitsieve._threads import effective_n_jobs


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblib, "cpu_count", lambda *_, **__: 8)
    for variable in ("OMP_NUM_THREADS", "BITSIEVE_NUM_THREADS", "DASK_WORKER_NAME"):
        monkeypatch.delenv(variable, raising=False)


def test_default_is_all_cores() -> None:
    assert effective_n_jobs(None) == 8


@pytest.mark.parametrize(
    ("openmp", "ours", "expected"),
    [("3", "", 3), ("", "2", 2), ("3", "5", 3), ("16", "", 8), ("4,2", "", 4), (" 5 ", "", 5)],
)
def test_environment_limits(
    monkeypatch: pytest.MonkeyPatch, openmp: str, ours: str, expected: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", openmp)
    monkeypatch.setenv("BITSIEVE_NUM_THREADS", ours)
    assert effective_n_jobs(None) == expected


@each("value", ["0", "-3"])
def test_a_limit_is_at_least_one(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("BITSIEVE_NUM_THREADS", value)
    assert effective_n_jobs(None) == 1


def test_a_limit_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BITSIEVE_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="BITSIEVE_NUM_THREADS must be a whole number, got 'many'"):
        effective_n_jobs(None)


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(1, 1), (3, 3), (64, 64), (-1, 8), (-2, 7), (-8, 1), (-100, 1)]
)
def test_explicit_number_wins_over_the_environment(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int, expected: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert effective_n_jobs(n_jobs) == expected
    assert effective_n_jobs(np.int64(n_jobs)) == expected  # type: ignore[arg-type]


@each("n_jobs", [0, 1.5, "2", True])
def test_refused(n_jobs: object) -> None:
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0, got"):
        effective_n_jobs(n_jobs)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["LokyProcess-3", "Dask Worker process"])
def test_one_inside_a_pool(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    process = multiprocessing.current_process()
    before = process.name
    process.name = name
    try:
        assert effective_n_jobs(None) == 1
        assert effective_n_jobs(4) == 4
    finally:
        process.name = before


def test_one_inside_a_dask_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_WORKER_NAME", "w0")
    assert effective_n_jobs(None) == 1


def test_real_loky_workers_are_recognised() -> None:
    with joblib.parallel_config("loky", n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(effective_n_jobs)(None) for _ in range(2))
    assert found == [1, 1]
