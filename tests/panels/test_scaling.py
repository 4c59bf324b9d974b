"""Scaling: what is logged, what is learnt, and that a number is the same in whatever company."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from bitsieve.panels import Scaling, log_floor

#: Sets of raw intensities; all others are logged, ratios, pictures, levels or of many units.
RAW = {"tox_171", "chowdary", "singh"}


def _raw(n: int, p: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).lognormal(5, 2, size=(n, p))


def test_raw_intensities_are_told_from_all_else_by_half_the_samples_too(data_dir: Path) -> None:
    for path in sorted(data_dir.glob("*.npz")):
        with np.load(path, allow_pickle=False) as archive:
            if "X" not in archive.files:
                continue
            X = np.nan_to_num(np.asarray(archive["X"][:200], dtype=np.float64))
        found = [log_floor(X)]
        for seed in range(2):
            half = np.random.default_rng(seed).permutation(len(X))[: len(X) // 2]
            found.append(log_floor(X[half]))
        logged = {floor is not None for floor in found}
        assert logged == {path.stem in RAW}, (path.stem, found)


def test_the_rule_by_kinds_of_tables() -> None:
    rng = np.random.default_rng(1)
    raw = _raw(30, 1500)
    assert log_floor(raw) == pytest.approx(np.quantile(raw, 0.99) / 100, rel=0.05)
    assert (
        log_floor(rng.negative_binomial(1, 0.001 / raw.mean(axis=0), size=(30, 1500))) is not None
    )
    assert log_floor(raw - np.median(raw) / 2) is not None  # a background was subtracted
    assert log_floor(raw[:, :40]) is not None  # few features of one unit
    assert log_floor(np.log2(raw)) is None
    assert log_floor(np.log2(raw) - np.log2(raw).mean()) is None
    assert log_floor(np.where(rng.random(raw.shape) < 0.6, -raw, raw)) is None  # ratios
    assert log_floor(np.minimum(rng.poisson(0.05, raw.shape) * 255, 255)) is None  # ink
    units = 10.0 ** rng.integers(-4, 5, size=40)
    assert log_floor(rng.normal(10, 1, size=(30, 40)) * units) is None  # a unit a column
    assert log_floor(np.empty((5, 0))) is None


def test_values_are_those_of_standard_scaler_on_floored_logarithms() -> None:
    X = _raw(20, 1200)
    floor = log_floor(X)
    assert floor is not None
    assert (floor > X).any()
    logged = np.log2(np.maximum(X, floor))
    peer = StandardScaler().fit(logged)
    scaling, Z = Scaling.fit_apply(X)
    assert scaling.floor == floor
    np.testing.assert_allclose(scaling.center, peer.mean_, rtol=1e-12)
    np.testing.assert_allclose(scaling.scale, peer.scale_, rtol=1e-12)
    np.testing.assert_allclose(Z, peer.transform(logged), atol=1e-10)
    plain = Scaling.fit(X, log="never")
    np.testing.assert_allclose(plain.apply(X), StandardScaler().fit_transform(X), atol=1e-10)
    assert Scaling.fit(logged, log="always").floor == pytest.approx(
        np.quantile(logged, 0.99) / 100, rel=0.01
    )


def test_a_number_is_the_same_bits_in_whatever_company() -> None:
    X, new = _raw(20, 1200), _raw(7, 1200, seed=1)
    scaling, Z = Scaling.fit_apply(X)
    assert np.array_equal(scaling.apply(X), Z)
    assert np.array_equal(Scaling.fit(np.asfortranarray(X)).apply(X), Z)
    whole = scaling.apply(new)
    for i in range(len(new)):
        assert np.array_equal(scaling.apply(new[i : i + 1]), whole[i : i + 1])
    for chosen in ([3], [900, 5, 31], list(range(0, 1200, 7))):
        few, part = scaling.restricted(chosen), new[:, chosen]
        assert np.array_equal(few.apply(part), whole[:, chosen])
        assert np.array_equal(few.apply(np.asfortranarray(part)), whole[:, chosen])
    assert whole.flags.c_contiguous
    single = X.astype(np.float32)
    same = Scaling.fit(single.astype(np.float64))
    assert np.array_equal(Scaling.fit(single).apply(single), same.apply(single))


def test_constant_features_are_zero_and_wild_values_are_cut() -> None:
    X = np.random.default_rng(0).normal(size=(12, 5))
    X[:, 1] = 0.1  # whose mean is another number
    X[:, 3] = 1e9 + 0.3
    scaling, Z = Scaling.fit_apply(X)
    assert not Z[:, [1, 3]].any()
    assert scaling.scale[[1, 3]].tolist() == [1.0, 1.0]
    new = X[:2].copy()
    new[0] = 1e6
    new[1, 1] = 0.6
    cut = scaling.apply(new)
    assert cut[0, [0, 2, 4]].tolist() == [20.0, 20.0, 20.0]
    assert cut[1, 1] == 0.5
    assert cut[1, 0] == Z[1, 0]


def test_what_does_not_fit_is_refused() -> None:
    scaling = Scaling.fit(np.eye(3))
    with pytest.raises(ValueError, match=r"3 features that the scaling was learnt on.*\(2, 4\)"):
        scaling.apply(np.ones((2, 4)))
    with pytest.raises(ValueError, match="log='always' needs positive values"):
        Scaling.fit(-np.eye(3), log="always")
    with pytest.raises(ValueError, match="log must be"):
        Scaling.fit(np.eye(3), log="both")  # type: ignore[arg-type]
