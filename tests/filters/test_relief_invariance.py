"""What must not change scores: order of samples, features and labels, threads, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each, each_isa

import bitsieve
from bitsieve import filters

CLASSIFIERS = (
    "relief",
    "relieff",
    "surf",
    "surf_star",
    "multisurf",
    "multisurf_star",
    "swrf_star",
)
FAMILY = (*CLASSIFIERS, "rrelieff")


def made(n: int = 61, p: int = 90, n_classes: int = 3, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(12)
    X = rng.normal(size=(n, p)).astype(dtype)
    return X, np.arange(n) % n_classes


def scores(name: str, X: Any, y: Any, **options: Any) -> Any:
    order = options.pop("order", np.arange(len(X)))
    if name == "rrelieff":
        y = np.sin(order)
    return getattr(filters, name)(X, y, **options)


@pytest.mark.parametrize("name", FAMILY)
@each_isa
def test_order_of_samples(name: str, isa: str) -> None:
    X, y = made()
    order = np.random.default_rng(1).permutation(len(X))
    found = scores(name, X[order], y[order], order=order)
    np.testing.assert_allclose(found, scores(name, X, y), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", FAMILY)
@each_isa
def test_order_of_features(name: str, isa: str) -> None:
    X, y = made()
    order = np.random.default_rng(2).permutation(X.shape[1])
    found = scores(name, np.ascontiguousarray(X[:, order]), y)
    np.testing.assert_allclose(found, scores(name, X, y)[order], rtol=0, atol=1e-12)


@each("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FAMILY)
@each_isa
def test_threads_change_no_bit(name: str, dtype: Any, isa: str) -> None:
    X, y = made(131, 210, 4, dtype)
    one = scores(name, X, y, n_jobs=1)
    for n_jobs in (2, 3, 7):
        np.testing.assert_array_equal(scores(name, X, y, n_jobs=n_jobs), one)
    np.testing.assert_array_equal(scores(name, X, y, n_jobs=2), one)  # nor does another run


@each("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FAMILY)
@each_isa
def test_instruction_sets_change_no_bit(name: str, dtype: Any, isa: str) -> None:
    X, y = made(67, 131, 3, dtype)
    found = scores(name, X, y)
    bitsieve.set_isa("baseline")
    np.testing.assert_array_equal(found, scores(name, X, y))


@each("name", FAMILY)
def test_a_copy_of_a_feature_scores_the_same(name: str) -> None:
    X, y = made()
    X[:, 5] = X[:, 77]
    found = scores(name, X, y)
    assert found[5] == found[77]


@each("name", FAMILY)
def test_a_constant_column_changes_nothing_for_the_others(name: str) -> None:
    X, y = made()
    with_constant = np.insert(X, 4, 3.5, axis=1)
    found = scores(name, with_constant, y)
    assert found[4] == 0.0
    np.testing.assert_allclose(np.delete(found, 4), scores(name, X, y), rtol=0, atol=1e-12)


@each("name", FAMILY)
def test_scale_and_offset_of_a_feature(name: str) -> None:
    X, y = made()
    moved = X * np.logspace(-9, 9, X.shape[1])
    np.testing.assert_allclose(scores(name, moved, y), scores(name, X, y), rtol=0, atol=1e-7)
    flipped = X * np.where(np.arange(X.shape[1]) % 2, -1.0, 1.0)
    np.testing.assert_allclose(scores(name, flipped, y), scores(name, X, y), rtol=0, atol=1e-7)


@each("name", FAMILY)
def test_layouts_and_types(name: str) -> None:
    X, y = made()
    X = np.rint(4 * X)
    wanted = scores(name, X, y)
    for other in (np.asfortranarray(X), X.astype(np.int16), X.astype(np.float32), X.tolist()):
        np.testing.assert_allclose(scores(name, other, y), wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(scores(name, X[:, ::-1], y)[::-1], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["relieff", "multisurf", "rrelieff"])
def test_a_shared_grid_of_neighbors_holds_the_scores(name: str) -> None:
    """Coarse distances may swap near neighbors; the scores stay close and are not rounded."""
    X, y = made(150, 300, 2)
    X[:, 0] += y
    exact = scores(name, X, y)
    for precision, atol in (("int16", 1e-3), ("uint8", 0.02)):
        coarse = scores(name, X, y, precision=precision)
        np.testing.assert_allclose(coarse, exact, rtol=0, atol=atol)
        again = scores(name, X, y, precision=precision, n_jobs=3)
        np.testing.assert_array_equal(coarse, again)
    assert not np.array_equal(exact, scores(name, X, y, precision="uint8"))


def test_instances_come_from_random_state() -> None:
    X, y = made()
    first = filters.relieff(X, y, n_instances=20, random_state=3)
    np.testing.assert_array_equal(first, filters.relieff(X, y, n_instances=20, random_state=3))
    assert not np.array_equal(first, filters.relieff(X, y, n_instances=20, random_state=4))
    everyone = filters.relieff(X, y, n_instances=len(X), random_state=3)
    np.testing.assert_allclose(everyone, filters.relieff(X, y), rtol=0, atol=1e-12)
    many = np.mean(
        [filters.relieff(X, y, n_instances=20, random_state=s) for s in range(200)], axis=0
    )
    np.testing.assert_allclose(many, filters.relieff(X, y), rtol=0, atol=0.01)
