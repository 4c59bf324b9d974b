"""Pairs exactly at a limit of SURF, MultiSURF and their kin, beside rational arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin_relief_exact as twin
from each import each_isa

from bitsieve import filters
from bitsieve.filters.relief import _dispatch

NAMES = ("surf", "surf_star", "multisurf", "multisurf_star", "swrf_star")
KINDS = ("whole", "scaled", "wide", "missing", "ramp", "weights")


def table(rng: np.random.Generator, kind: str) -> tuple[Any, Any, dict[str, Any]]:
    """A small table of a kind, classes, and the options as the twin names them."""
    n, p = int(rng.integers(3, 11)), int(rng.integers(1, 5))
    X = rng.integers(0, int(rng.integers(2, 12)), (n, p)).astype(np.float64)
    options: dict[str, Any] = {}
    if kind == "scaled":  # no common denominator
        X *= rng.choice([0.1, 1 / 3, 7.0], p)
    if kind == "wide":  # one with many digits
        X = rng.integers(0, 3, (n, p)) * rng.integers(1, 2**20, p) + rng.integers(0, 2, (n, p))
        X = X.astype(np.float64)
    if kind == "missing":
        X[rng.random(X.shape) < 0.15] = np.nan
        options["missing"] = str(rng.choice(["ignore", "probabilistic"]))
    if kind == "ramp":
        options["ramp"] = [(0.04, 0.1), (0.0, 0.75)][int(rng.integers(2))]
    if kind == "weights":
        options["feature_weights"] = rng.integers(0, 4, p) + rng.choice([0.1, 0.5, 1.0])
    if rng.random() < 0.3:
        options["discrete"] = rng.random(p) < 0.5
    y = np.r_[0, 1, rng.integers(0, int(rng.integers(2, 4)), n - 2)]
    return X, y, options


def ours(name: str, X: Any, y: Any, options: dict[str, Any]) -> Any:
    given = dict(options)
    if "discrete" in given:
        given["discrete_features"] = given.pop("discrete")
    if "ramp" in given:
        given["diff"] = "ramp"
    return getattr(filters, name)(X, y, **given)


def differing(kind: str, n_tables: int, seed: int) -> dict[str, int]:
    """How many tables get other scores than the twin's, by method."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    count = dict.fromkeys(NAMES, 0)
    for _ in range(n_tables):
        X, y, options = table(rng, kind)
        # The weights of SWRF* follow distances over a deviation, which may be tiny.
        names = NAMES[:4] if kind == "wide" else NAMES
        wanted = twin.threshold_reliefs(X.tolist(), y.tolist(), names, **options)
        for name in names:
            found = ours(name, X, y, options)
            count[name] += not np.allclose(found, wanted[name], rtol=0, atol=1e-12)
    return {name: n for name, n in count.items() if n}


def test_at_the_limit_is_not_near() -> None:
    """Samples 1 and 2 are 4/3 apart, which is the mean; in sixths 3 and 5 are 2 from sample 1."""
    found = filters.surf([[3, 0], [1, 0], [0, 1]], [0, 0, 1])
    np.testing.assert_allclose(found, [-4 / 9, 0.0], rtol=0, atol=1e-15)
    column = [[1.0], [7], [1], [5], [1], [5]]
    assert filters.multisurf(column, [0, 1, 0, 0, 0, 1])[0] == 0.0
    # SURF* calls far what is not near.
    star = filters.surf_star([[3, 0], [1, 0], [0, 1]], [0, 0, 1])
    wanted = twin.threshold_relief([[3, 0], [1, 0], [0, 1]], [0, 0, 1], "surf_star")
    np.testing.assert_allclose(star, wanted, rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_small_tables(kind: str) -> None:
    assert differing(kind, 15, seed=0) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_small_tables(kind: str) -> None:
    assert differing(kind, 2000 if kind == "whole" else 400, seed=1) == {}


@each_isa
def test_the_core_and_the_general_path_decide_alike(
    isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole numbers, tenths, and ranges whose common denominator is too long for the core."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(_dispatch, "_FEW", 0)
    suits = _dispatch._suits_core
    for kind in ("whole", "scaled", "wide"):
        for _ in range(8):
            X, y, options = table(rng, kind)
            X = np.tile(X, (2, 1))  # every sample twice
            y = np.r_[y, y]
            for name in NAMES[: 4 if kind == "wide" else 5]:
                monkeypatch.setattr(_dispatch, "_suits_core", suits)
                compiled = ours(name, X, y, {**options, "n_jobs": 2})
                np.testing.assert_array_equal(compiled, ours(name, X, y, {**options, "n_jobs": 1}))
                monkeypatch.setattr(_dispatch, "_suits_core", lambda problem: False)
                general = ours(name, X, y, options)
                tolerance = 1e-6 if name == "swrf_star" else 1e-12
                np.testing.assert_allclose(compiled, general, rtol=0, atol=tolerance)


def test_many_samples_at_their_limit() -> None:
    """Of 5 m + 1 samples 4 m + 1 are one point, whose limit is then 0: nobody is nearer than 0."""
    rng = np.random.default_rng(4)
    points = rng.random((2, 30))  # no common denominator
    far = np.arange(501) < 100
    X, y = points[far.astype(int)], rng.integers(0, 2, 501)
    found = filters.multisurf(X, y)
    # Those at the other point find each other, and no feature differs there.
    np.testing.assert_allclose(found, np.zeros(30), rtol=0, atol=1e-12)
    star = filters.multisurf_star(X, y)
    assert np.ptp(star) < 1e-12  # every feature differs by its range
    np.testing.assert_allclose(
        star, filters.multisurf_star(far[:, None].astype(float), y)[0], rtol=0, atol=1e-12
    )


@each_isa
def test_levels_of_any_unit_are_exact_in_the_core(isa: str) -> None:
    """0, 1 and 2 in any unit, in a table too large for finer distances throughout."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (300, 60)).astype(np.float64)
    y = rng.integers(0, 3, 300)
    units = rng.random(60) * 2.0 ** rng.integers(-40, 40, 60)
    for name in NAMES:
        score = getattr(filters, name)
        np.testing.assert_allclose(score(X * units, y), score(X, y), rtol=0, atol=1e-12)
