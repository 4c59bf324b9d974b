"""FCBF against a twin, by hand, and by what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
import twin_cfs as twin
from each import each, each_isa
from sklearn.datasets import load_breast_cancer, load_iris

from bitsieve.filters import discretize, fcbf, symmetrical_uncertainty


@each("seed", range(8))
@pytest.mark.parametrize(("n", "p", "n_classes"), [(30, 9, 2), (67, 40, 3), (200, 65, 5)])
@each("threshold", [0.0, 0.1])
def test_equals_the_twin(seed, n, p, n_classes, threshold):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, rng.integers(1, 6, p), (n, p))
    told = rng.random((n, p)) < rng.choice([0.0, 0.2, 0.6], p)
    X = np.where(told, y[:, None], X)
    order, scores = fcbf(X, y, discretization=None, threshold=threshold, return_scores=True)
    assert order.tolist() == twin.fcbf(X, y, threshold)
    expected = [twin.uncertainty(X[:, f], y) for f in order]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["sonar", "ionosphere", "vehicle", "segment"])
def test_real_tables_equal_the_twin(name, dataset):
    X, y, _ = dataset(name)
    codes, _ = discretize(X, y, cut_cost="distinct")
    assert fcbf(X, y).tolist() == twin.fcbf(codes, y)


def test_by_hand():
    y = np.arange(80) % 4
    high, low = y // 2, y % 2
    noisy = np.where(np.arange(80) < 8, 1 - high, high)  # a worse copy of the first
    X = np.column_stack([np.zeros(80), low, noisy, high, high])
    order, scores = fcbf(X, y, discretization=None, return_scores=True)
    assert order.tolist() == [1, 3]
    np.testing.assert_allclose(scores, 2 / 3, rtol=1e-9)
    assert fcbf(X, y, discretization=None, threshold=0.7).size == 0
    assert fcbf(X, y, discretization=None, threshold=scores[1]).tolist() == [1, 3]


def test_a_feature_that_tells_all_makes_all_others_redundant():
    y = np.repeat([0, 1, 2], 10)
    X = np.column_stack([y == 0, y == 1, y, 2 - y])
    assert fcbf(X, y, discretization=None).tolist() == [2]


def test_nothing_is_taken_where_nothing_is_told():
    X, y = np.tile([[0], [1]], (20, 1)), np.repeat([0, 1], 20)
    order, scores = fcbf(X, y, discretization=None, return_scores=True)
    assert order.size == scores.size == 0


@each_isa
def test_what_must_not_matter(isa):
    X, y = load_breast_cancer(return_X_y=True)
    order = fcbf(X, y, n_jobs=1)
    permutation = np.random.default_rng(0).permutation(len(y))
    assert fcbf(X[permutation], y[permutation]).tolist() == order.tolist()
    assert fcbf(X, np.array(["b", "a"])[y]).tolist() == order.tolist()
    assert fcbf(X, y, n_jobs=3).tolist() == order.tolist()
    assert (29 - fcbf(X[:, ::-1], y)).tolist() == order.tolist()
    assert fcbf(np.hstack([X, X]), y).tolist() == order.tolist()
    scores = symmetrical_uncertainty(X, y)[order]
    assert np.all(np.diff(scores) <= 0)


@each("threshold", [-0.1, 1.5, "0.1", True, float("nan")])
def test_refusals(threshold):
    with pytest.raises(ValueError, match=r"threshold must be a number in \[0, 1\], got"):
        fcbf(*load_iris(return_X_y=True), threshold=threshold)
