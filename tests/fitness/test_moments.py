"""Moments of training parts equal two passes over the part, and do not depend on how they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tables
from each import each
from sklearn.model_selection import LeaveOneOut, RepeatedKFold, ShuffleSplit, StratifiedKFold
from test_solver_gram import ISAS

import bitsieve
from bitsieve import Masks, _core
from bitsieve.data import Table

Array = np.ndarray[Any, Any]
Split = tuple[Array, Array]


def made(
    X: Array,
    y: Array,
    splits: Sequence[Split],
    mask: Array,
    *,
    weights: Array | None = None,
    keep: bool = False,
    n_threads: int = 1,
) -> tuple[Array, ...]:
    classes = y.dtype.kind == "i"
    lists = {}
    for name, part in zip(("train", "test"), zip(*splits, strict=True), strict=True):
        lists[name] = np.concatenate(part).astype(np.int64)
        lists[f"{name}_begin"] = np.r_[0, np.cumsum([len(p) for p in part])].astype(np.int64)
    return _core.training_moments(
        Table(X).core,
        target=y.astype(np.int32) if classes else y,
        n_classes=int(y.max()) + 1 if classes else 0,
        weights=np.empty(0) if weights is None else weights,
        mask=Masks.from_bool(mask).words[0].copy(),
        keep=keep,
        n_threads=n_threads,
        **lists,
    )


def twin(
    X: Array, y: Array, splits: Sequence[Split], mask: Array, weights: Array | None = None
) -> list[tuple[Array, ...]]:
    """Two passes over each training part, in the widest floats there are."""
    Y = np.eye(int(y.max()) + 1)[y] if y.dtype.kind == "i" else y[:, None]
    w = np.ones(len(X)) if weights is None else weights
    out = []
    for train, _ in splits:
        V = np.asarray(X)[np.ix_(train, mask)].astype(np.longdouble)
        U, v = Y[train].astype(np.longdouble), w[train].astype(np.longdouble)
        means, target_means = (v @ V) / v.sum(), (v @ U) / v.sum()
        V, U = V - means, U - target_means
        out.append(((V * v[:, None]).T @ V, (U * v[:, None]).T @ V, means, target_means, v.sum()))
    return out


def cuts(kind: str, n: int, y: Array) -> list[Split]:
    splitter: Any = {
        "folds": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        "stratified": StratifiedKFold(2),
        "one out": LeaveOneOut(),
        "shuffles": ShuffleSplit(5, test_size=0.4, random_state=0),
    }[kind]
    return list(splitter.split(np.zeros((n, 1)), np.arange(n) % 2 if kind == "stratified" else y))


@each("kind", tables.KINDS)
@each("splitter", ["folds", "stratified", "one out", "shuffles"])
@each("weighted", [False, True])
def test_equals_two_passes(kind: str, splitter: str, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    n, p = 40, 9
    X = tables.table(kind, rng, n, p)
    y = rng.integers(0, 3, n) if splitter != "folds" else rng.normal(size=n) * 100 + 1e4
    weights = rng.random(n) * rng.integers(0, 2, n) if weighted else None
    splits, mask = cuts(splitter, n, y), np.arange(p) % 4 != 1
    found = made(X, y, splits, mask, weights=weights)
    for s, (squares, crosses, means, target_means, total) in enumerate(
        twin(X, y, splits, mask, weights)
    ):
        scale = np.sqrt(np.diag(squares))
        spread = np.sqrt(total) * (np.ptp(y) + 1)
        # The values less their means have lost digits already where these are large.
        lost = 1e-15 * np.abs(np.asarray(X, np.float64)).max(axis=0)[mask] * np.sqrt(float(total))
        bound = 1e-14 * scale + lost
        assert np.all(
            np.abs(found[0][s] - squares)
            <= 30 * (np.outer(scale, bound) + np.outer(bound, scale) + np.outer(bound, bound))
        )
        assert np.all(np.abs(found[1][s] - crosses) <= 100 * spread * bound)
        np.testing.assert_allclose(
            found[2][s], means.astype(float), rtol=1e-13, atol=1e-12 * scale.max()
        )
        np.testing.assert_allclose(found[3][s], target_means.astype(float), rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(found[4][s], float(total), rtol=1e-14)


def test_a_column_constant_in_training_is_zero_and_one_nearly_so_keeps_its_digits() -> None:
    rng = np.random.default_rng(1)
    n = 30
    X = rng.normal(size=(n, 4))
    X[:, 0] = 0.1  # but for an outlier that one fold alone has
    X[:, 1] = 1e-3 * rng.normal(size=n)
    X[3, :2] = 1e6
    y = rng.normal(size=n)
    splits = [(np.setdiff1d(np.arange(n), test), test) for test in np.split(np.arange(n), 3)]
    mask = np.ones(4, bool)
    squares, crosses, means, _, _ = made(X, y, splits, mask)
    assert not squares[0, 0].any()
    assert not crosses[0, :, 0].any()
    assert means[0, 0] == 0.1
    expected = twin(X, y, splits, mask)[0]
    np.testing.assert_allclose(squares[0], expected[0].astype(float), rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(crosses[0], expected[1].astype(float), rtol=1e-11, atol=1e-15)


@each("kind", ["float64", "float32", "constants", "outlier"])
@each("splitter", ["folds", "shuffles"])
def test_no_bit_depends_on_what_is_kept_on_threads_or_instruction_set(
    kind: str, splitter: str
) -> None:
    rng = np.random.default_rng(2)
    n, p = 150, 70
    X = tables.table(kind, rng, n, p)
    y = rng.integers(0, 3, n)
    weights = rng.random(n)
    splits = cuts(splitter, n, y)
    mask = rng.random(p) < 0.4
    first: tuple[Array, ...] | None = None
    before = bitsieve.get_isa()
    try:
        for isa in ISAS:
            bitsieve.set_isa(isa)
            for keep, n_threads in ((False, 1), (True, 1), (True, 3)):
                found = made(X, y, splits, mask, weights=weights, keep=keep, n_threads=n_threads)
                first = first or found
                for one, other in zip(first, found, strict=True):
                    np.testing.assert_array_equal(one, other)
    finally:
        bitsieve.set_isa(before)
