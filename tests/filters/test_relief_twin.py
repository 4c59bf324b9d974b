"""The Relief family against its plain twin: odd sizes, all types, all instruction sets."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import twin_relief as twin
from each import each, each_isa

from bitsieve import _core, filters
from bitsieve._random import Random, Stream
from bitsieve.filters.relief import _dispatch
from bitsieve.filters.relief._general import general_scores, pair_distances
from bitsieve.filters.relief._neighbors import Method
from bitsieve.filters.relief._problem import Problem

THRESHOLD = ("surf", "surf_star", "multisurf", "multisurf_star", "swrf_star")
CLASSIFIERS = ("relief", "relieff", *THRESHOLD)


def tolerance(name: str) -> float:
    """SWRF*'s weights follow the distances, which are whole steps of 2^-24 of a range."""
    return 1e-6 if name == "swrf_star" else 1e-12


def twin_scores(name: str, X: Any, y: Any, **options: Any) -> Any:
    if name in THRESHOLD:
        return twin.threshold_relief(X, y, name, **options)
    return getattr(twin, name)(X, y, **options)


def made(n: int, p: int, n_classes: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Every class there, the last of one sample; a constant, a discrete and two equal columns."""
    rng = np.random.default_rng([seed, n, p])
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p)
    discrete = np.zeros(p, dtype=bool)
    if p > 4:
        X[:, 1] = rng.integers(0, 3, n)
        X[:, 2] = 7.0
        X[:, 4] = X[:, 0]
        discrete[1] = True
    y = rng.integers(0, n_classes - 1, n)
    y[: n_classes - 1] = np.arange(n_classes - 1)
    y[n - 1] = n_classes - 1
    X[n // 2] = X[n // 3]  # a duplicate
    return X.astype(dtype), y, discrete


@functools.cache
def known_scores(name: str, n: int, p: int, n_classes: int, dtype: Any, k: int | None) -> Any:
    X, y, discrete = made(n, p, n_classes, dtype)
    return twin_scores(name, X, y, discrete=discrete, **({} if k is None else {"k": k}))


@each("dtype", [np.float32, np.float64])
@each(("n", "p", "n_classes"), [(3, 1, 2), (7, 5, 3), (23, 33, 2), (41, 9, 5), (33, 70, 3)])
@pytest.mark.parametrize("name", CLASSIFIERS)
@each_isa
def test_is_the_twins(name: str, n: int, p: int, n_classes: int, dtype: Any, isa: str) -> None:
    X, y, discrete = made(n, p, n_classes, dtype)
    labels = np.array(["b", "c", "k", "m", "z"])[y]
    for k in (1, 3, 60) if name == "relieff" else (None,):
        ours = {} if k is None else {"n_neighbors": k}
        found = getattr(filters, name)(X, labels, discrete_features=discrete, **ours)
        wanted = known_scores(name, n, p, n_classes, dtype, k)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance(name))
        assert found.dtype == np.float64


@each("n_neighbors", [1, 4, 60])
@pytest.mark.parametrize("sigma", [None, 2.0])
@each_isa
def test_rrelieff_is_the_twins(n_neighbors: int, sigma: float | None, isa: str) -> None:
    X, _, discrete = made(31, 17, 2)
    y = np.random.default_rng(4).normal(size=31)
    options: dict[str, Any] = {"weighting": "exponential", "sigma": sigma} if sigma else {}
    found = filters.rrelieff(X, y, n_neighbors=n_neighbors, discrete_features=discrete, **options)
    wanted = twin.rrelieff(X, y, k=n_neighbors, sigma=sigma, discrete=discrete)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@each("sigma", [0.7, 20.0])
def test_weights_by_rank(sigma: float) -> None:
    X, y, discrete = made(30, 8, 3)
    found = filters.relieff(
        X, y, n_neighbors=6, weighting="exponential", sigma=sigma, discrete_features=discrete
    )
    wanted = twin.relieff(X, y, k=6, sigma=sigma, discrete=discrete)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    assert not np.allclose(found, filters.relieff(X, y, n_neighbors=6, discrete_features=discrete))


def _rows(n: int, n_instances: int, seed: int) -> list[int]:
    return sorted(Random(seed, Stream.instances).choice(n, n_instances).tolist())


@each("name", CLASSIFIERS)
def test_some_samples_and_weighted_features(name: str) -> None:
    X, y, discrete = made(37, 11, 3)
    weights = np.arange(11.0)
    found = getattr(filters, name)(
        X, y, n_instances=9, random_state=8, feature_weights=weights, discrete_features=discrete
    )
    wanted = twin_scores(
        name, X, y, rows=_rows(37, 9, 8), feature_weights=weights, discrete=discrete
    )
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance(name))


@each("missing", ["probabilistic", "ignore"])
@each("ramp", [None, (0.04, 0.10), (0.0, 0.9)])
@pytest.mark.parametrize("name", [*CLASSIFIERS, "rrelieff"])
def test_missing_values_and_ramps(name: str, ramp: Any, missing: Any) -> None:
    X, y, discrete = made(26, 7, 3)
    rng = np.random.default_rng(5)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[y == 0, 3] = np.nan  # unknown in one class
    X[:, 5] = np.nan  # unknown everywhere
    X[3] = np.nan  # a sample of which nothing is known
    target = rng.normal(size=26) if name == "rrelieff" else y
    options: dict[str, Any] = {} if ramp is None else {"diff": "ramp", "ramp": ramp}
    found = getattr(filters, name)(
        X, target, missing=missing, discrete_features=discrete, **options
    )
    wanted = twin_scores(name, X, target, discrete=discrete, ramp=ramp, missing=missing)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
    assert found[5] == 0.0
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", [*CLASSIFIERS, "rrelieff"])
def test_the_general_path_is_the_compiled_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, discrete = made(45, 40, 4)
    weights = np.linspace(0.0, 2.0, 40)
    target = np.random.default_rng(6).normal(size=45) if name == "rrelieff" else y
    options = {"discrete_features": discrete, "feature_weights": weights, "missing": "error"}
    seen: list[Problem] = []

    def through_numpy(problem: Problem, method: Method) -> Any:
        seen.append(problem)
        return general_scores(problem, method)

    compiled = getattr(filters, name)(X, target, **options)
    monkeypatch.setattr(_dispatch, "_suits_core", lambda problem: False)
    monkeypatch.setattr(_dispatch, "general_scores", through_numpy)
    found = getattr(filters, name)(X, target, **options)
    np.testing.assert_allclose(found, compiled, rtol=0, atol=tolerance(name))
    (problem,) = seen
    # Distances are sums of whole steps, so the order of the features is free.
    shuffled = np.random.default_rng(7).permutation(40)
    mixed = replace(
        problem,
        X=np.ascontiguousarray(problem.X[:, shuffled]),
        discrete=problem.discrete[shuffled],
        feature_weights=problem.feature_weights[shuffled],
    )
    np.testing.assert_array_equal(pair_distances(mixed), pair_distances(problem))
    wanted = twin.distances(twin.differences(X, target, discrete=discrete), weights)
    np.testing.assert_allclose(pair_distances(problem), wanted, rtol=0, atol=1e-9)


def test_the_general_path_is_the_compiled_one_for_tables_of_all_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Widths about the blocks of the kernels, scales far apart, options by chance."""
    rng = np.random.default_rng(21)
    suits = _dispatch._suits_core
    for turn in range(120):
        name = (*CLASSIFIERS, "rrelieff")[turn % 8]
        n, p = int(rng.integers(2, 40)), int(rng.choice([1, 15, 31, 32, 33, 63, 65, 129, 1025]))
        X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-30, 30, p)
        discrete = rng.random(p) < rng.choice([0.0, 0.3, 1.0])
        X[:, discrete] = rng.integers(0, 4, (n, int(discrete.sum())))
        X = X.astype(rng.choice([np.float32, np.float64]))
        X[:, rng.random(p) < 0.1] = 1.5
        y = rng.normal(size=n) if name == "rrelieff" else np.r_[0, 1, rng.integers(0, 4, n - 2)]
        options: dict[str, Any] = {
            "discrete_features": discrete,
            "n_instances": int(rng.integers(1, n + 1)),
            "random_state": turn,
            "feature_weights": rng.random(p) + 0.01 if turn % 3 else None,
        }
        if name in ("relieff", "rrelieff"):
            options["n_neighbors"] = int(rng.integers(1, 15))
            options["weighting"] = ("equal", "exponential")[turn // 8 % 2]
        monkeypatch.setattr(_dispatch, "_suits_core", suits)
        compiled = getattr(filters, name)(X, y, **options)
        monkeypatch.setattr(_dispatch, "_suits_core", lambda problem: False)
        found = getattr(filters, name)(X, y, **options)
        np.testing.assert_allclose(compiled, found, rtol=0, atol=10 * tolerance(name))


def test_more_distances_than_are_held_at_once() -> None:
    """Above 5792 samples distances come in strips; the mean of two halves is that of all."""
    rng = np.random.default_rng(2)
    n = 5900
    X = rng.normal(size=(n, 2)).astype(np.float32)
    codes = rng.integers(0, 3, n).astype(np.int32)
    half = np.sort(rng.permutation(n)[: n // 2]).astype(np.int64)
    rest = np.setdiff1d(np.arange(n), half)
    for algorithm in ("relieff", "multisurf"):
        given: dict[str, Any] = {"algorithm": algorithm, "codes": codes, "n_classes": 3}
        whole, one, two = (
            _core.relief(X, rows=rows, n_threads=2, **given) for rows in (None, half, rest)
        )
        np.testing.assert_allclose(whole, (one + two) / 2, rtol=0, atol=1e-12)


def test_a_discrete_feature_of_many_levels() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.permutation(400) / 1.3, rng.normal(size=400)])
    y = np.arange(400) % 2
    found = filters.relieff(X, y, discrete_features=[0], n_neighbors=3)
    shown = np.column_stack([np.unique(X[:, 0], return_inverse=True)[1], X[:, 1]])
    assert found[0] == pytest.approx(0.0, abs=1e-12)  # no two samples agree
    again = filters.relieff(shown, y, discrete_features=[True, False], n_neighbors=3)
    np.testing.assert_array_equal(found, again)
