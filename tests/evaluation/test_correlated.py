"""Substitutes against numpy's correlations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each

from bitsieve.evaluation import correlated, substitutes


def table(n: int, p: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2.0 * rng.normal(size=(n, 1)) * rng.integers(-1, 2, p)
    return X


def twin(X: np.ndarray, support: np.ndarray, threshold: float, most: int) -> dict[int, list[int]]:
    r = np.corrcoef(X, rowvar=False)
    out = {}
    for member in np.flatnonzero(support):
        others = [j for j in range(X.shape[1]) if not support[j] and abs(r[member, j]) > threshold]
        out[int(member)] = sorted(others, key=lambda j: (-abs(r[member, j]), j))[:most]
    return out


@each("dtype", [np.float32, np.float64])
@each("block", [1, 2_000_000])
def test_equals_numpy_s_correlations(dtype: Any, block: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(correlated, "_BLOCK", block)  # at least 256 features in one go
    for n, p, threshold in ((13, 600, 0.7), (40, 33, 0.5), (3, 20, 0.0)):
        X = table(n, p).astype(dtype)
        support = np.random.default_rng(1).random(p) < 0.2
        found = substitutes(X, support, threshold=threshold, most=4)
        expected = twin(X.astype(float), support, threshold, 4)
        assert {f: one.features.tolist() for f, one in found.items()} == expected
        r = np.corrcoef(X.astype(float), rowvar=False)
        for member, one in found.items():
            np.testing.assert_allclose(one.correlations, r[member, one.features], atol=1e-6)
            assert one.n_found == (~support & (np.abs(r[member]) > threshold)).sum()


def test_copies_come_in_their_order_with_either_sign() -> None:
    x = np.random.default_rng(0).random(9)
    X = np.stack([3 * x + 1e6, x, -x, 1e-150 * x, x * 1e200, np.full(9, 0.1)], axis=1)
    found = substitutes(X, [False, True, False, False, False, False])
    assert found[1].features.tolist() == [0, 2, 3, 4]
    assert found[1].correlations.round(6).tolist() == [1.0, -1.0, 1.0, 1.0]


def test_constant_and_incomplete_features_have_none_and_are_none() -> None:
    X = np.repeat(np.arange(6.0)[:, None], 5, axis=1)
    X[:, 1] = 0.1
    X[2, 2] = np.nan
    X[:, 3] = 1e9 + 0.1
    found = substitutes(X, [True, True, True, True, False])
    assert {f: one.features.tolist() for f, one in found.items()} == {0: [4], 1: [], 2: [], 3: []}
    assert substitutes(X, [False] * 5) == {}
    assert found[1].n_found == 0


@each(
    "options, message",
    [
        ({"support": [True]}, r"got shapes \(3, 2\) and \(1,\)"),
        ({"threshold": 1.0}, r"threshold must be a number in \[0, 1\), got 1.0; 0.8 is usual"),
        ({"most": 0}, "most must be"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        substitutes(**{"X": np.zeros((3, 2)), "support": [True, False]} | options)
