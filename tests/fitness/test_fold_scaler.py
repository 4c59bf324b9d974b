"""What scalers learn inside the folds: to the bit what those of scikit-learn learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each_isa
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from bitsieve import _core
from bitsieve.data.feature_major import make_feature_major
from bitsieve.fitness import compile
from bitsieve.fitness.pipelines import parts_of, scaler_options

RNG = np.random.default_rng(0)
KNN = KNeighborsClassifier(1)
SCALERS = (
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    StandardScaler(with_mean=False, with_std=False),
    MinMaxScaler(),
    MinMaxScaler((-1, 3)),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(quantile_range=(0, 100)),
    RobustScaler(quantile_range=(12.5, 61), unit_variance=True),
    RobustScaler(quantile_range=(30, 30)),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
)


def lists(parts: list[Any]) -> tuple[Any, Any]:
    begin = np.cumsum([0, *map(len, parts)])
    return np.concatenate(parts).astype(np.int64), begin.astype(np.int64)


def arguments_of(splits: list[tuple[Any, Any]]) -> dict[str, Any]:
    train, train_begin = lists([train for train, _ in splits])
    test, test_begin = lists([test for _, test in splits])
    return {"train": train, "train_begin": train_begin, "test": test, "test_begin": test_begin}


def core_table(X: Any) -> Any:
    X = np.ascontiguousarray(X)
    copy = make_feature_major(X)
    return _core.Table(copy.features, n_samples=len(X), X=X, max_abs=copy.max_abs, exact=False)


def hostile(n: int, p: int, seed: int = 0) -> Any:
    """Scales and offsets of all sizes; features that are constant, nearly so, or in parts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-6, 6, p) + 10.0 ** rng.uniform(-3, 6, p)
    X[:, 0] = 0.1
    X[:, 1] = 0
    X[n // 3, 1] = 2.5  # constant wherever this sample does not train
    X[:, 2] = rng.integers(0, 3, n)
    X[:, 3] = np.where(np.arange(n) < n // 2, 7.7, 1e8)
    X[:, 4] = 1e9 + 1e-9 * rng.integers(0, 2, n)  # rounds to a constant
    X[:, 5] = 1e-18 * rng.normal(size=n)
    return X


def fitted(scaler: Any, X: Any) -> tuple[Any, Any]:
    """Center and scale of scikit-learn's scaler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaler.fit(X)
    zero, one = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if isinstance(scaler, StandardScaler):
        center = scaler.mean_ if scaler.with_mean else zero
        return center, one if scaler.scale_ is None else scaler.scale_
    if isinstance(scaler, RobustScaler):
        center = zero if scaler.center_ is None else scaler.center_
        return center, one if scaler.scale_ is None else scaler.scale_
    if isinstance(scaler, MaxAbsScaler):
        return zero, scaler.scale_
    scale = 1 / scaler.scale_
    return scaler.data_min_ - scaler.feature_range[0] * scale, scale


def test_it_has_the_bits_of_scikit_learn() -> None:
    known: dict[Any, Any] = {}

    @each_isa
    def one(isa: str) -> None:
        for n, p, cv in (
            (31, 17, RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)),
            (24, 9, ShuffleSplit(67, train_size=0.4, test_size=0.3, random_state=1)),
            (12, 7, LeaveOneOut()),
        ):
            X = hostile(n, p)
            splits = [(np.sort(train), test) for train, test in cv.split(X)]
            features = np.delete(np.arange(p, dtype=np.int32), 6)
            core, arguments = core_table(X), arguments_of(splits)
            for i, scaler in enumerate(SCALERS[:: 4 if n == 24 else 1]):
                measured = _core.FoldScaler(core, scaler_options(scaler))
                got = measured.measure(features=features, **arguments)
                again = measured.measure(features=features, n_threads=3, **arguments)
                np.testing.assert_array_equal(again, got)
                if (n, i) not in known:
                    known[n, i] = [fitted(scaler, X[train]) for train, _ in splits]
                expected = np.array(known[n, i])[:, :, features].transpose(1, 2, 0)
                if isinstance(scaler, MinMaxScaler):  # which keeps 1 / scale
                    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=0)
                else:
                    np.testing.assert_array_equal(got, expected)

    one()


def test_grams_are_those_of_scikit_learns_values() -> None:
    first: dict[str, Any] = {}

    @each_isa
    def one(isa: str) -> None:
        for n, p, m in ((9, 5, 3), (37, 150, 130)):
            rng = np.random.default_rng(n)
            X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2, 2, p) + 3
            splits = list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(X))
            features = np.sort(rng.permutation(p)[:m]).astype(np.int32)
            for scaler in SCALERS[::3]:
                measured = _core.FoldScaler(core_table(X), scaler_options(scaler))
                arguments = {"features": features, **arguments_of(splits)}
                grams, sums = measured.grams(**arguments)
                moved, _ = measured.grams(shifted=True, **arguments)
                again = measured.grams(n_threads=3, **arguments)
                for one_thread, three in zip((grams, sums), again, strict=True):
                    np.testing.assert_array_equal(one_thread, three)
                key = f"{n} {scaler}"
                np.testing.assert_array_equal(first.setdefault(key, grams), grams)
                for s, (train, _) in enumerate(splits):
                    z = scaler.fit(X[train][:, features]).transform(X[:, features])
                    size = np.abs(z).max() ** 2 * m
                    np.testing.assert_allclose(grams[s], z @ z.T, rtol=0, atol=1e-14 * size)
                    np.testing.assert_allclose(sums[s], z.sum(axis=1), rtol=0, atol=1e-14 * size)
                    np.testing.assert_array_equal(grams[s], grams[s].T)
                    theirs = ((z[:, None] - z) ** 2).sum(axis=2)
                    own = np.diag(moved[s])[:, None] + np.diag(moved[s]) - 2 * moved[s]
                    np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-12 * theirs.max())

    one()


def test_products_from_amid_the_values_lose_no_digits() -> None:
    """A scaler that keeps a large offset leaves values that differ in their last digits."""
    X = 1e8 + RNG.normal(size=(30, 12))
    splits = [(np.arange(24), np.arange(24, 30))]
    features = np.arange(12, dtype=np.int32)
    for scaler in (MaxAbsScaler(), StandardScaler(with_mean=False), RobustScaler()):
        measured = _core.FoldScaler(core_table(X), scaler_options(scaler))
        gram, _ = measured.grams(features=features, shifted=True, **arguments_of(splits))
        _, scale = measured.measure(features=features, **arguments_of(splits))
        z = (X - X[:24].mean(axis=0)) / scale[:, 0]
        z = z[:24] - z[:24].mean(axis=0)
        own = gram[0][:24, :24]
        own = own - own.mean(axis=0) - own.mean(axis=1)[:, None] + own.mean()
        np.testing.assert_allclose(own, z @ z.T, rtol=0, atol=1e-13 * np.abs(z @ z.T).max())


def test_float32_is_read_in_float64() -> None:
    X = (1e4 + RNG.normal(size=(40, 8))).astype(np.float32)
    splits = [(np.arange(30), np.arange(30, 40))]
    for scaler in SCALERS:
        options = scaler_options(scaler)
        measured = [
            _core.FoldScaler(core_table(values), options).measure(
                features=np.arange(8, dtype=np.int32), **arguments_of(splits)
            )
            for values in (X, X.astype(np.float64))
        ]
        np.testing.assert_array_equal(*measured)


def test_what_is_one_scaler_and_a_model() -> None:
    scaler = StandardScaler()
    inner = Pipeline([("nothing", None), ("scaler", scaler), ("more", "passthrough")])
    for estimator in (
        make_pipeline(scaler, KNN),
        make_pipeline(inner, KNN, memory="nowhere", verbose=True),
        make_pipeline("passthrough", make_pipeline(scaler, make_pipeline(KNN))),
    ):
        parts = parts_of(estimator)
        assert (parts.model, parts.scaler, parts.reason) == (KNN, scaler, None)
    for estimator in (KNN, make_pipeline(KNN), make_pipeline(None, "passthrough", KNN)):
        assert (parts_of(estimator).model, parts_of(estimator).scaler) == (KNN, None)


def test_what_is_not() -> None:
    class Own(StandardScaler):
        pass

    refused = {
        make_pipeline(Own(), KNN): "Own before a model has no kernel",
        make_pipeline(Normalizer(), KNN): "Normalizer before a model has no kernel",
        make_pipeline(FunctionTransformer(), KNN): "FunctionTransformer before a model has no",
        make_pipeline(StandardScaler(), MaxAbsScaler(), KNN): "more than one scaler before a model",
        make_pipeline(KNN, "passthrough"): "a pipeline without a model has no kernel",
        make_pipeline("passthrough"): "a pipeline without a model has no kernel",
        make_pipeline(MinMaxScaler(clip=True), KNN): "clip=True has no kernel",
        make_pipeline(MaxAbsScaler(clip=True), KNN): "clip=True has no kernel",
        make_pipeline(MinMaxScaler((1, 1)), KNN): r"feature_range=(1, 1) has no kernel",
        make_pipeline(RobustScaler(quantile_range=(80, 20)), KNN): "quantile_range=(80, 20) has no",
        make_pipeline(
            RobustScaler(quantile_range=(0, 90), unit_variance=True), KNN
        ): "unit_variance=True with (0, 90) has no kernel",
    }
    for estimator, reason in refused.items():
        parts = parts_of(estimator)
        assert parts.model is estimator
        assert str(parts.reason).startswith(reason)
    X, y = RNG.normal(size=(24, 4)), np.arange(24) % 2
    for scaler in (MinMaxScaler(clip=True), MaxAbsScaler(clip=True)):
        estimator = make_pipeline(scaler, KNN)
        fitness = compile(estimator, X, y, cv=3, n_jobs=1)
        assert fitness.kernel is None
        named = f"Pipeline of {type(scaler).__name__}, KNeighborsClassifier: clip=True has no"
        assert str(fitness.fallback_reason).startswith(named)
        expected = cross_val_score(estimator, X, y, cv=3)
        np.testing.assert_array_equal(fitness.evaluate_splits(np.ones((1, 4), bool))[0], expected)


def test_options_of_a_scaler_are_checked() -> None:
    for arguments, message in (
        ({"kind": "log"}, "kind must be 'none', 'standard', 'min_max', 'max_abs' or 'robust'"),
        ({"kind": "min_max", "low": 1.0}, "low must be below high"),
        ({"kind": "robust", "low": 0.8, "high": 0.2}, "quantiles must lie in"),
        ({"kind": "robust", "high": np.inf}, "low and high must be finite"),
        ({"kind": "robust", "divisor": 0.0}, "divisor must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.ScalerOptions(**arguments)
