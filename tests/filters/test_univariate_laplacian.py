"""The Laplacian score against full matrices."""

from __future__ import annotations

import numpy as np
import pytest
import twin_univariate as twin
from each import each

from bitsieve.filters import laplacian_score


@each("n_neighbors", [1, 5, 29])
@each("bandwidth", [None, 7.0])
def test_twin(n_neighbors: int, bandwidth: float | None) -> None:
    X = np.random.default_rng(0).normal(size=(30, 8))
    X[:, 3] = 0.1
    expected = twin.laplacian_score(X, n_neighbors, bandwidth)
    found = laplacian_score(X, n_neighbors=n_neighbors, bandwidth=bandwidth)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert found[3] == -1.0


def test_structure_scores_above_noise() -> None:
    rng = np.random.default_rng(0)
    group = np.arange(90) % 3
    X = rng.normal(size=(90, 20))
    X[:, :4] += 8 * group[:, None]
    for weights in ("heat", "binary"):
        scores = laplacian_score(X, weights=weights)  # type: ignore[arg-type]
        assert scores[:4].min() > scores[4:].max() + 0.3
    assert np.array_equal(laplacian_score(X, group), laplacian_score(X))  # y is not looked at


def test_units_and_offsets_of_the_whole() -> None:
    X = np.random.default_rng(0).integers(0, 99, size=(40, 6)).astype(np.float64)
    expected = laplacian_score(X)
    np.testing.assert_allclose(laplacian_score(X * 1e6), expected, rtol=1e-9)
    np.testing.assert_allclose(laplacian_score(X + 2.0**30), expected, rtol=1e-10)
    np.testing.assert_allclose(laplacian_score(X.astype(np.float32)), expected, rtol=1e-5)


def test_duplicates_of_a_sample_are_neighbors() -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 4)), 3, axis=0)
    scores = laplacian_score(X, n_neighbors=2)
    np.testing.assert_allclose(scores, 1.0, atol=1e-12)  # nothing differs within a neighborhood


def test_refusals() -> None:
    X = np.random.default_rng(0).normal(size=(10, 4))
    with pytest.raises(ValueError, match=r"below the number of samples \(10\), got 10"):
        laplacian_score(X, n_neighbors=10)
    with pytest.raises(ValueError, match="weights must be 'heat' or 'binary', got 'cosine'"):
        laplacian_score(X, weights="cosine")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bandwidth must be a number above 0 or None, got 0"):
        laplacian_score(X, bandwidth=0)
    with pytest.raises(ValueError, match="bandwidth must be a number above 0 or None, got 'auto'"):
        laplacian_score(X, bandwidth="auto")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        laplacian_score(X, n_jobs=0)


def test_many_samples() -> None:
    """Beyond 2048 samples scikit-learn looks for the neighbors; the scores are the same."""
    from bitsieve.filters import laplacian

    X = np.random.default_rng(0).normal(size=(2100, 5))
    many = laplacian_score(X)
    nearest, squares = laplacian._nearest(X, 5)
    graph = np.zeros((2100, 2100))
    np.put_along_axis(graph, nearest, np.exp(-squares / squares.mean()), axis=1)
    S = np.maximum(graph, graph.T)
    degree = S.sum(axis=1)
    f = X - degree @ X / degree.sum()
    np.testing.assert_allclose(many, np.sum(f * (S @ f), axis=0) / (degree @ f**2), rtol=1e-9)


@each("offset", [0.0, 1000.0])
def test_equal_distances_stay_equal_in_any_order_of_features(offset: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        X = rng.integers(0, 4, (int(rng.integers(8, 40)), int(rng.integers(2, 40)))) + offset
        back = laplacian_score(X[:, ::-1])[::-1]
        np.testing.assert_allclose(laplacian_score(X), back, rtol=1e-9, atol=1e-12)


@each("exponent", [-1000, -530, 510, 530, 1000])
@pytest.mark.parametrize("n_samples", [30, 2100])
def test_squares_that_do_not_fit_into_float64(exponent: int, n_samples: int) -> None:
    X = np.random.default_rng(1).normal(size=(n_samples, 3))
    far = np.ldexp(X, exponent)
    np.testing.assert_allclose(laplacian_score(far), laplacian_score(X), rtol=1e-9)
    if abs(exponent) == 510:
        wide = laplacian_score(far, bandwidth=np.ldexp(2.0, 2 * exponent))
        np.testing.assert_allclose(wide, laplacian_score(X, bandwidth=2.0), rtol=1e-9)
