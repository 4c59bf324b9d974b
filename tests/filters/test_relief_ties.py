"""The Relief family where distances tie, with each other or with a limit, and in large tables."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from each import each, each_isa

from bitsieve import _core, filters
from bitsieve.filters.relief import _dispatch


def exact_distances(X: Any) -> list[list[Fraction]]:
    """Sums of differences divided by ranges, without any rounding."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    ranges = [max(column) - min(column) for column in zip(*rows, strict=True)]
    return [
        [sum(abs(a - b) / r for a, b, r in zip(x, z, ranges, strict=True) if r) for z in rows]
        for x in rows
    ]


@each("steps", [3, 7, 9, 10, 100])
@each("dtype", [np.float32, np.float64])
@each_isa
def test_equal_sums_of_unequal_differences_tie(steps: int, dtype: Any, isa: str) -> None:
    """1/7 + 2/7 is 3/7, though no binary fraction says so: the lowest index is nearest."""
    rng = np.random.default_rng(steps)
    X = rng.integers(0, steps + 1, (40, 4)).astype(dtype)
    codes = rng.integers(0, 2, 40).astype(np.int32)
    found, _ = _core.relief_neighbors(X, codes, 2, n_neighbors=5)
    wanted = exact_distances(X)
    for i in range(40):
        for c in range(2):
            others = [j for j in range(40) if j != i and codes[j] == c]
            nearest = sorted(others, key=lambda j: (wanted[i][j], j))[:5]
            assert found[i, c].tolist() == nearest


def test_equal_sums_tie_in_tables_with_holes_too() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 8, (40, 4)).astype(np.float64)
    y = rng.integers(0, 2, 40)
    wanted = filters.relieff(X, y, n_neighbors=3)
    unknown = np.column_stack([X, np.full(40, np.nan)])
    found = filters.relieff(unknown, y, n_neighbors=3)
    np.testing.assert_allclose(found[:4], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["surf", "surf_star", "swrf_star", "multisurf", "multisurf_star"])
@each("weight", [0.1, 0.3, 1.0, 7.0])
def test_the_mean_of_equal_distances_is_met_exactly(name: str, weight: float) -> None:
    """All three samples are one apart: none is nearer, nor farther, than the mean."""
    X = [[0.0], [1.0], [2.0]]
    options = {"discrete_features": [0], "feature_weights": [weight]}
    score = getattr(filters, name)
    compiled = score(X, [0, 0, 1], **options)
    general = score(
        np.column_stack([X, [np.nan] * 3]),
        [0, 0, 1],
        discrete_features=[0],
        feature_weights=[weight, 0.0],
    )
    assert compiled[0] == pytest.approx(general[0], abs=1e-12)
    if name in ("surf", "multisurf", "multisurf_star"):
        assert compiled[0] == 0.0


def test_swrf_star_where_a_sample_is_at_the_mean() -> None:
    """It has no weight, but counts as neither near nor far."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]]) / 3.0
    distances = np.abs(X - X.T) * 3.0  # in whole thirds; their mean is 5/3
    y = np.array([0, 0, 1, 1])
    mean = distances.sum() / 12
    deviation = np.sqrt(((distances - mean)[~np.eye(4, dtype=bool)] ** 2).mean())
    wanted = 0.0
    for i in range(4):
        for near in (True, False):
            for c in (0, 1):
                side = [
                    j for j in range(4) if j != i and y[j] == c and (distances[i, j] < mean) == near
                ]
                for j in side:
                    weight = abs(2 / (1 + np.exp(-4 * (mean - distances[i, j]) / deviation)) - 1)
                    sign = (1 if near else -1) * (-1 if c == y[i] else 1)
                    wanted += sign * weight * distances[i, j] / 3 / len(side) / 4
    assert filters.swrf_star(X, y)[0] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("name", ["surf", "surf_star"])
def test_limits_of_tables_in_strips(name: str) -> None:
    """Above 5792 samples distances come in strips, the last of which may be short."""
    n = 5800
    x = np.sort(np.random.default_rng(3).random(n))
    x = (x - x[0]) / (x[-1] - x[0])
    codes = (np.random.default_rng(4).random(n) < 0.2 + 0.6 * x).astype(np.int32)
    found = _core.relief(x[:, None], algorithm=name, codes=codes, n_classes=2, n_threads=2)
    # The same by running sums, as in one dimension near samples lie beside each other.
    ranks = np.arange(n)
    limit = 2 * np.sum((2 * ranks - n + 1) * x) / (n * (n - 1))
    low, high = np.searchsorted(x, x - limit, "right"), np.searchsorted(x, x + limit, "left")
    wanted = 0.0
    for c in (0, 1):
        own = codes == c
        count = np.concatenate([[0], np.cumsum(own)])
        total = np.concatenate([[0.0], np.cumsum(x * own)])
        above = (total[high] - total[ranks]) - x * (count[high] - count[ranks])
        below = x * (count[ranks] - count[low]) - (total[ranks] - total[low])
        near = count[high] - count[low] - own
        everything = (total[n] - 2 * total[ranks]) - x * (count[n] - 2 * count[ranks])
        far = count[n] - own - near
        sign = np.where(own, -1.0, 1.0)
        wanted += np.sum(sign * (above + below) / np.maximum(near, 1)) / n
        if name == "surf_star":
            rest = everything - above - below
            wanted -= np.sum(sign * rest / np.maximum(far, 1)) / n
    assert found[0] == pytest.approx(wanted, abs=1e-7)


def test_a_range_too_narrow_to_divide_by_is_none() -> None:
    X = np.random.default_rng(5).random((12, 3))
    X[:, 1] *= 1e-300
    y = np.arange(12) % 2
    compiled = filters.relieff(X, y, n_neighbors=3)
    general = filters.relieff(np.column_stack([X, np.r_[np.nan, np.zeros(11)]]), y, n_neighbors=3)
    assert compiled[1] == general[1] == 0.0
    np.testing.assert_allclose(general[:3], compiled, rtol=0, atol=1e-12)


def test_room_for_neighbors_is_that_of_the_largest_class() -> None:
    """Not samples x classes x n_neighbors, which came to 3 GB here."""
    resource = pytest.importorskip("resource")
    rng = np.random.default_rng(6)
    X, y = rng.random((1500, 2)), np.arange(1500) % 300
    wanted = filters.relieff(X, y, n_neighbors=5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = filters.relieff(X, y, n_neighbors=1500)
    np.testing.assert_array_equal(found, wanted)
    unit = 1 if sys.platform == "darwin" else 1024
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit < 400 << 20


def test_swrf_star_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    X, y = rng.random((61, 5)), rng.integers(0, 3, 61)
    wanted = filters.swrf_star(X, y, n_instances=50, random_state=1)
    monkeypatch.setattr(_dispatch, "_FEW", 0)
    compiled = filters.swrf_star(X, y, n_instances=50, random_state=1)
    np.testing.assert_allclose(compiled, wanted, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_swrf_star_in_strips() -> None:
    """The deviation too is that of all strips."""
    n = 5800
    rng = np.random.default_rng(3)
    x, codes = rng.random(n), rng.integers(0, 2, n).astype(np.int32)
    found = _core.relief(x[:, None], algorithm="swrf_star", codes=codes, n_classes=2, n_threads=2)
    x = (x - x.min()) / np.ptp(x)
    rows = [np.abs(x - own) for own in x]
    mean = np.mean([row.sum() for row in rows]) / (n - 1)
    deviation = np.sqrt(np.mean([row @ row for row in rows]) / (n - 1) - mean**2)
    wanted = 0.0
    for i, row in enumerate(rows):
        weighted = np.tanh(2.0 * (mean - row) / deviation) * row
        for c in (0, 1):
            own = codes == c
            sign = -1.0 if c == codes[i] else 1.0
            near = row < mean
            others = own & (np.arange(n) != i)
            for side in (near & others, ~near & others):
                wanted += sign * weighted[side].sum() / max(1, side.sum()) / n
    assert found[0] == pytest.approx(wanted, abs=1e-7)


def float64_multisurf(X: Any, y: Any) -> Any:
    """Two classes, all distances in float64."""
    n = len(X)
    unit = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    apart = [np.abs(column[:, None] - column) for column in unit.T]
    distances = sum(apart)
    np.fill_diagonal(distances, np.nan)
    limit = np.nanmean(distances, axis=1) - np.nanstd(distances, axis=1) / 2
    hit = y[:, None] == y
    near = distances < limit[:, None]
    coefficients = np.zeros((n, n))
    for group, sign in ((near & hit, -1.0), (near & ~hit, 1.0)):
        coefficients += sign * group / (n * np.maximum(group.sum(axis=1), 1))[:, None]
    return np.array([(coefficients * difference).sum() for difference in apart])


@pytest.mark.parametrize("seed", [3, 61, 83])
def test_pairs_nearer_to_a_limit_than_the_grid_are_decided_exactly(seed: int) -> None:
    """On these tables, too large for exact distances throughout, the grid alone errs by 1e-7."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((1500, 2)), rng.integers(0, 2, 1500)
    found = filters.multisurf(X, y)
    np.testing.assert_allclose(found, float64_multisurf(X, y), rtol=0, atol=1e-11)


def test_many_pairs_near_a_limit_of_a_large_table() -> None:
    """Nearly all distances alike: the limits are then those of the grid, the pairs still finer."""
    rng = np.random.default_rng(4)
    n, p = 256, 8192
    X = np.tile(scipy.linalg.hadamard(n), (1, p // n)) + 1e-6 * rng.random((n, p))
    y = rng.permutation(np.arange(n) % 2)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    near, far = np.zeros(p), np.zeros(p)
    for i in range(n):
        apart = np.abs(scaled - scaled[i])
        others = np.arange(n) != i
        distances = apart.sum(axis=1)
        mean, band = distances[others].mean(), distances[others].std() / 2
        for own in (True, False):
            sign = (-1.0 if own else 1.0) / n
            group = others & ((y == y[i]) == own)
            near += sign * apart[group & (distances < mean - band)].mean(axis=0)
            far += sign * apart[group & (distances > mean + band)].mean(axis=0)
    for score, expected in ((filters.multisurf, near), (filters.multisurf_star, near - far)):
        found = score(X, y)
        assert np.array_equal(score(X, y, n_jobs=2), found)
        assert expected.std() > 2e-3
        np.testing.assert_allclose(found, expected, rtol=0, atol=3e-4)
