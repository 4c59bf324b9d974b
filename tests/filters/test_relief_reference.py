"""Scores of the Relief family against Weka's, and against skrebate's where that is right.

Weka 3.6.14 follows Robnik-Sikonja and Kononenko (2003) to the last digit but for one thing: where
several samples tie for the last of the k places it keeps whichever its list happened to keep,
while here the lowest index is nearest. Only ionosphere has such ties.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import twin_relief as twin
from each import each

from bitsieve import filters


@each("n_neighbors", [1, 10])
@pytest.mark.parametrize("name", ["sonar", "vehicle", "segment", "khan"])
def test_relieff_is_wekas(
    name: str, n_neighbors: int, weka: dict[str, Any], dataset: Callable[..., Any]
) -> None:
    X, y, _ = dataset(name)
    scores = filters.relieff(X, y, n_neighbors=n_neighbors)
    np.testing.assert_allclose(scores, weka[name][f"relieff{n_neighbors}"], rtol=0, atol=1e-12)


def test_relieff_with_ties(weka: dict[str, Any], dataset: Callable[..., Any]) -> None:
    X, y, _ = dataset("ionosphere")
    once = filters.relieff(X, y, n_neighbors=1)
    np.testing.assert_allclose(once, weka["ionosphere"]["relieff1"], rtol=0, atol=1e-12)
    scores = filters.relieff(X, y, n_neighbors=10)
    theirs = np.array(weka["ionosphere"]["relieff10"])
    np.testing.assert_allclose(scores, theirs, rtol=0, atol=1e-3)
    assert np.abs(scores - theirs).max() > 1e-4
    # The whole of the departure is the choice among ties.
    lowest, kept = _relieff_by(X, y, _lowest_index), _relieff_by(X, y, _as_weka_keeps)
    np.testing.assert_allclose(scores, lowest, rtol=0, atol=1e-12)
    np.testing.assert_allclose(theirs, kept, rtol=0, atol=1e-12)


def test_relieff_of_numbers_and_categories(weka: dict[str, Any], data_dir: Path) -> None:
    path = data_dir / "formats" / "adult.csv.gz"
    if not path.is_file():
        pytest.skip(f"needs real data: {path} is not there")
    frame = pd.read_csv(path, na_values=["?"], skipinitialspace=True).dropna().head(1500)
    y = frame.pop("income")
    wanted = weka["adult_mixed_1500"]
    assert list(frame.columns) == wanted["columns"]
    # The columns of text are found by themselves, and may be named or numbered.
    found = filters.relieff(frame, y)
    np.testing.assert_allclose(found, wanted["relieff10"], rtol=0, atol=1e-12)
    coded = frame.apply(lambda c: c if c.dtype.kind in "if" else pd.factorize(c)[0] * 3 + 1)
    for discrete in (wanted["nominal"], list(frame.columns[wanted["nominal"]])):
        again = filters.relieff(coded, y, discrete_features=discrete)
        np.testing.assert_allclose(again, found, rtol=0, atol=1e-12)


def test_rrelieff_is_wekas(weka: dict[str, Any], dataset: Callable[..., Any]) -> None:
    X, y, _ = dataset("communities_crime")
    y = np.asarray(y, dtype=np.float64)
    X, y = X[~np.isnan(y)], y[~np.isnan(y)]
    X, y = X[:400, ~np.isnan(X).any(axis=0)], y[:400]
    wanted = weka["communities_crime_400"]["rrelieff10"]
    np.testing.assert_allclose(filters.rrelieff(X, y), wanted, rtol=0, atol=1e-12)


def _lowest_index(distances: Any, members: Any, k: int) -> list[int]:
    return sorted(members, key=lambda j: (distances[j], j))[:k]


def _as_weka_keeps(distances: Any, members: Any, k: int) -> list[int]:
    kept: list[int] = []
    for j in members:
        if len(kept) < k:
            kept.append(j)
            continue
        worst = max(range(k), key=lambda place: (distances[kept[place]], -place))
        if distances[j] < distances[kept[worst]]:
            kept[worst] = j
    return kept


def _relieff_by(X: Any, y: Any, choose: Callable[..., list[int]], k: int = 10) -> Any:
    """ReliefF in numpy with a rule of one's own for the k nearest; distances to 2^-30."""
    X = X.astype(np.float64)
    codes = np.unique(y, return_inverse=True)[1]
    spread = np.ptp(X, axis=0)
    scaled = X[:, spread > 0] / spread[spread > 0]
    n = len(X)
    prior = np.bincount(codes) / n
    scores = np.zeros(X.shape[1])
    for i in range(n):
        differences = np.abs(scaled - scaled[i])
        distances = np.rint(differences.sum(axis=1) * 2.0**30)
        for c in range(len(prior)):
            members = [j for j in np.flatnonzero(codes == c) if j != i]
            mean = differences[choose(distances, members, k)].mean(axis=0)
            factor = -1 if c == codes[i] else prior[c] / (1 - prior[codes[i]])
            scores[spread > 0] += factor * mean / n
    return scores


# ---- skrebate, an optional package: right for two classes and continuous features ----------


def _skrebate(name: str, X: Any, y: Any, **options: Any) -> Any:
    skrebate = pytest.importorskip("skrebate", reason="needs skrebate: pip install skrebate")
    fitted = getattr(skrebate, name)(**options).fit(X.astype(np.float64), y.astype(np.float64))
    return fitted.feature_importances_


def _made(n: int, p: int, n_classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize(
    ("ours", "theirs"), [("multisurf", "MultiSURF"), ("multisurf_star", "MultiSURFstar")]
)
def test_two_classes_as_skrebate(ours: str, theirs: str) -> None:
    X, y = _made(60, 25, 2)
    wanted = _skrebate(theirs, X, y)
    np.testing.assert_allclose(getattr(filters, ours)(X, y), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("surf", "SURF"), ("surf_star", "SURFstar"), ("swrf_star", "SWRFstar")],
)
def test_the_mean_distance_and_who_is_right(ours: str, theirs: str) -> None:
    """Skrebate's mean over all pairs counts each sample's distance of 0 to itself."""
    X, y = _made(60, 25, 2)
    wanted = _skrebate(theirs, X, y)
    with_self = twin.threshold_relief(X, y, ours, with_self=True)
    np.testing.assert_allclose(wanted, with_self, rtol=0, atol=1e-12)
    found = getattr(filters, ours)(X, y)
    np.testing.assert_allclose(found, twin.threshold_relief(X, y, ours), rtol=0, atol=1e-6)
    assert np.abs(found - wanted).max() > 1e-3


def test_relieff_of_two_classes_as_skrebate() -> None:
    X, y = _made(60, 25, 2)
    wanted = _skrebate("ReliefF", X, y, n_neighbors=10)
    np.testing.assert_allclose(filters.relieff(X, y), wanted, rtol=0, atol=1e-12)


def test_three_classes_and_who_is_right() -> None:
    """Skrebate weighs a class by its share of the neighbors; Weka and ReliefF (2003) by P(c)."""
    X, y = _made(60, 25, 3)
    y = np.where(np.arange(60) < 6, 2, y)
    theirs = _skrebate("ReliefF", X, y, n_neighbors=5)
    right = _relieff_by(X, y, _lowest_index, 5)
    np.testing.assert_allclose(filters.relieff(X, y, n_neighbors=5), right, rtol=0, atol=1e-9)
    assert np.abs(theirs - right).max() > 1e-3
