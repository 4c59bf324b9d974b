"""The kernel of nearest centroids against scikit-learn, against a twin, and against itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import check_scoring, fbeta_score, make_scorer
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from twin_centroid import scores as twin_scores

from bitsieve import Masks, _core
from bitsieve.fitness import GeneralFitness, compile
from bitsieve.fitness.centroid import AdditiveCentroidFitness, CentroidFitness

RNG = np.random.default_rng(0)
SCORERS = ("balanced_accuracy", "f1_macro", "matthews_corrcoef", "v_measure_score")


def _table(n: int, p: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    return rng.normal(size=(n, p)) * rng.lognormal(size=p) + 0.3 * (y[:, None] == np.arange(p)), y


def _masks(p: int, m: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    masks = rng.random((m, p)) < rng.uniform(0.05, 0.95, (m, 1))
    masks[~masks.any(axis=1), 0] = True
    masks[0], masks[1] = False, True
    return masks


def _twin(X: Any, codes: Any, mask: Any, splits: Any) -> list[float]:
    """Accuracies: distances to means in float64, the first of equal ones."""
    X, out = X[:, mask].astype(np.float64), []
    for train, test in splits:
        present = [np.flatnonzero(codes[train] == c) for c in range(codes.max() + 1)]
        distances = np.full((len(present), len(test)), np.inf)
        for c, members in enumerate(present):
            if len(members):
                mean = np.add.accumulate(X[train[members]])[-1] / len(members)
                apart = (X[test] - mean) ** 2
                distances[c] = np.add.accumulate(apart, axis=1)[:, -1]
        out.append(float((distances.argmin(axis=0) == codes[test]).mean()))
    return out


def _expected(X: Any, y: Any, masks: Any, splits: Any, scoring: Any = None) -> list[list[float]]:
    """Scores of scikit-learn, as ``cross_val_score`` gives them."""
    scorer = check_scoring(NearestCentroid(), scoring=scoring)
    return [
        [
            scorer(NearestCentroid().fit(X[train][:, mask], y[train]), X[test][:, mask], y[test])
            for train, test in splits
        ]
        for mask in masks
    ]


@pytest.mark.parametrize(
    ("shape", "cv"),
    [
        ((60, 20, 2), 5),
        pytest.param(
            (61, 150, 3),
            RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0),
            marks=pytest.mark.slow,
        ),
        ((33, 7, 5), ShuffleSplit(5, test_size=0.3, random_state=0)),
        pytest.param((30, 40, 2), LeaveOneOut(), marks=pytest.mark.slow),
    ],
)
def test_it_is_scikit_learns(shape: tuple[int, int, int], cv: Any, one_blas_thread: None) -> None:
    X, y = _table(*shape)
    names = np.array([f"class {c}" for c in range(shape[2])])[y]
    masks = _masks(shape[1], 30)
    own = make_scorer(fbeta_score, beta=2, average="weighted")
    scorers = (None,) if isinstance(cv, LeaveOneOut) else (None, *SCORERS, own)
    for scoring in scorers:
        data, classes = (X, names) if scoring is None else (X.astype(np.float32), y)
        some = masks[:: 1 if scoring is None else 6]
        fitness = compile(NearestCentroid(), data, classes, cv=cv, scoring=scoring)
        assert (type(fitness), fitness.kernel) == (CentroidFitness, "centroid")
        found = fitness.evaluate_splits(some)
        expected = _expected(data, classes, some[1:], fitness.splits(), scoring)
        np.testing.assert_allclose(found[1:], expected, rtol=1e-12)
        general = GeneralFitness(fitness.problem, "asked for")
        np.testing.assert_allclose(found[0], general.evaluate_splits(some[:1])[0], rtol=1e-12)


@pytest.mark.parametrize("name", ["sonar", "vehicle", "khan", "tox_171"])
def test_it_is_scikit_learns_on_real_data(dataset: Any, name: str, one_blas_thread: None) -> None:
    X, y, _ = dataset(name)
    X = X + 1e-6 * X.std(axis=0) * RNG.normal(size=X.shape)  # no exact ties
    n_masks = 50 if X.shape[1] < 3000 else 10
    codes, masks = np.unique(y, return_inverse=True)[1], _masks(X.shape[1], n_masks)[1:]
    fitness = compile(NearestCentroid(), X, y, cv=4)
    assert fitness.kernel == "centroid"
    expected = _expected(X, codes, masks, fitness.splits())
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


def test_any_path_ends_in_the_bits_of_the_twin() -> None:
    for kind in range(4):
        X, y = _table(50, 70, 3, seed=kind)
        if kind == 1:
            X = np.round(X)  # ties
        if kind == 2:
            X = 1e6 + X  # beyond float32
        if kind == 3:
            X[1::2] = X[::2] + 1e-9 * RNG.normal(size=X[1::2].shape)
        masks, seeds = _masks(70, 24, kind)[1:], np.arange(23, dtype=np.uint64) % 5
        walk = np.cumsum(RNG.random((24, 70)) < 0.02, axis=0) % 2 == (masks[0] == 0)
        masks = np.concatenate([masks, walk])
        seeds = np.concatenate([seeds, np.zeros(24, np.uint64)])
        options: dict[str, Any] = {"cv": 4, "n_repeats": 2, "resample": True}
        fitness = compile(NearestCentroid(), X, y, n_jobs=1, **options)
        expected = [
            _twin(X, y, mask, fitness.splits(int(seed)))
            for mask, seed in zip(masks, seeds, strict=True)
        ]
        np.testing.assert_array_equal(fitness.evaluate_splits(masks, seeds), expected)
        order = RNG.permutation(len(masks))
        for other in (fitness, compile(NearestCentroid(), X, y, n_jobs=2, **options)):
            got = other.evaluate_splits(masks[order], seeds[order])
            np.testing.assert_array_equal(got, np.array(expected)[order])
            alone = [other.evaluate_splits(masks[i], int(seeds[i]))[0] for i in order[:8]]
            np.testing.assert_array_equal(alone, np.array(expected)[order[:8]])
        near = Masks.neighbors(masks[0], 70)
        np.testing.assert_array_equal(
            fitness.evaluate_splits(near, 3), fitness.evaluate_splits(near.to_bool(), 3)
        )


@pytest.mark.parametrize("kind", ["real", "ties", "midpoints", "copies", "beyond float32"])
def test_tables_gram_matrices_and_flips_name_the_same_classes(isa: str, kind: str) -> None:
    """One float64 comparison decides what any way leaves open, near ties and ties too."""
    X, y = _table(48, 90, 3, 5)
    rng = np.random.default_rng(5)
    if kind == "ties":
        X = np.round(X / X.std(axis=0))
    if kind == "midpoints":  # of the means of two classes
        means = [X[:40][y[:40] == c].mean(axis=0) for c in range(3)]
        X[40:] = [(means[k % 3] + means[(k + 1) % 3]) / 2 for k in range(8)]
        X[44:] += 1e-12 * rng.normal(size=X[44:].shape)
    if kind == "copies":
        X[1::2] = X[::2] + 1e-9 * rng.normal(size=X[1::2].shape)
    if kind == "beyond float32":
        X = 1e7 + X
    splits = [(np.arange(40), np.arange(40, 48)), (np.arange(30), np.arange(30, 48))]
    splits += list(ShuffleSplit(6, test_size=0.3, random_state=0).split(X))
    masks = np.concatenate([rng.random((60, 90)) < 0.5, _masks(90, 12)[1:]])
    seeds = np.zeros(len(masks), np.uint64)
    fitness = {way: compile(NearestCentroid(), X, y, cv=splits) for way in ("all", "each", "near")}
    classes = fitness["all"]._core.outputs(Masks.from_bool(masks).words, seeds, 2)[0]
    for m, mask in enumerate(masks):
        words = Masks.from_bool(mask[None]).words
        found = fitness["each"]._core.outputs(words, seeds[:1], 1)[0]
        np.testing.assert_array_equal(found[0], classes[m])
    ways = {way: fitness[way]._core.counters() for way in ("all", "each")}
    assert ways["all"]["tabled_masks"] == len(masks)
    assert ways["all"]["float_features"] == 0
    assert ways["each"]["tabled_masks"] == 0
    assert ways["each"]["float_features"] > 0
    if kind in ("ties", "midpoints"):
        assert ways["all"]["open_splits"] > 0
        assert ways["each"]["rechecked"] > 0
    near = Masks.neighbors(masks[0], 90)
    flipped = fitness["near"].evaluate_splits(near)
    assert fitness["near"]._core.counters()["float_features"] == 0
    expected = [fitness["each"].evaluate_splits(mask[None])[0] for mask in near.to_bool()]
    np.testing.assert_array_equal(flipped, expected)
    np.testing.assert_array_equal(fitness["all"].evaluate_splits(near.to_bool()), expected)


def test_a_batch_of_masks_near_one_another_goes_by_gram_matrices(one_blas_thread: None) -> None:
    X, y = _table(300, 90, 3, 5)
    rng = np.random.default_rng(0)
    apart = rng.random((16, 90)) < 0.5
    near = apart[0] ^ (rng.random((16, 90)) < 0.02)
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=11, random_state=0)
    for masks, n_tabled in ((near, 0), (apart, 16)):
        fitness = compile(NearestCentroid(), X, y, cv=cv, n_jobs=1)
        found = fitness.evaluate_splits(masks)
        assert fitness._core.counters()["tabled_masks"] == n_tabled
        expected = _expected(X, y, masks[:2], fitness.splits())
        np.testing.assert_array_equal(found[:2], expected)


def test_what_float32_loses_decides_nothing() -> None:
    """Large members of small means; and large samples between means that are nearly one."""
    rng = np.random.default_rng(3)
    n, p = 40, 30
    codes = np.tile(np.arange(n) % 2, 3)
    large, shift = 1e4 * rng.normal(size=(n, p)), 0.1 * codes[:n, None]
    members = [shift + large, shift - large, rng.normal(size=(n, p))]
    twice = rng.normal(size=(n // 2, p)).repeat(2, axis=0)
    twice += 1e-7 * rng.normal(size=(n, p))
    samples = [twice, 1e3 * rng.normal(size=(2 * n, p))]
    masks = _masks(p, 60)[1:]
    for parts, n_train in ((members, 2 * n), (samples, n)):
        X = np.concatenate(parts)
        splits = [(np.arange(n_train), np.arange(n_train, 3 * n))]
        fitness = compile(NearestCentroid(), X, codes, cv=splits, n_jobs=1)
        expected = [_twin(X, codes, mask, splits) for mask in masks]
        np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


def test_priors_values_and_shrunken_centroids_are_scikit_learns(one_blas_thread: None) -> None:
    models = [
        NearestCentroid(),
        NearestCentroid(priors="empirical"),
        NearestCentroid(shrink_threshold=0.3),
        NearestCentroid(shrink_threshold=1.5, priors="empirical"),
    ]
    for n_classes, p in ((2, 17), (3, 40), (5, 33)):
        X, y = _table(47, p, n_classes, p)
        y[:6] = 0  # priors that differ
        X = X + 3
        masks = _masks(p, 7, p)[1:]
        given = np.arange(1.0, n_classes + 1) / np.arange(n_classes + 1).sum()
        for model in (*models, NearestCentroid(priors=given.tolist(), shrink_threshold=0.3)):
            last = "roc_auc" if n_classes == 2 else "average_precision"
            for scoring in (None, "neg_log_loss", last):
                fitness = compile(model, X, y, cv=3, scoring=scoring, n_jobs=1)
                plain = scoring is None and model.priors == "uniform" and not model.shrink_threshold
                assert isinstance(fitness, CentroidFitness if plain else AdditiveCentroidFitness)
                expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
                found = fitness.evaluate_splits(masks)
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_values_are_the_twins(isa: str) -> None:
    for n_classes, shrink in ((2, 0.0), (3, 0.4), (4, 0.2)):
        X, y = _table(39, 37, n_classes, n_classes)
        masks = _masks(37, 7, n_classes)[1:]
        model = NearestCentroid(priors="empirical", shrink_threshold=shrink or None)
        scoring = "roc_auc" if n_classes == 2 else "average_precision"
        fitness = compile(model, X, y, cv=3, scoring=scoring, n_jobs=1)
        words, seeds = Masks.from_bool(masks).words, np.zeros(len(masks), np.uint64)
        _, values = fitness._core.outputs(words, seeds, 1)
        for m, mask in enumerate(masks):
            parts = [twin_scores(X[:, mask], y, split, shrink) for split in fitness.splits()]
            expected = np.concatenate(parts)
            if n_classes == 2:
                expected = expected[:, 1:] - expected[:, :1]
            np.testing.assert_allclose(values[m], expected, rtol=1e-11, atol=1e-11)


def test_batches_of_shrunken_centroids_agree_with_single_masks_in_every_bit() -> None:
    cases = [
        (0.2, "uniform", None),
        (1.0, "empirical", None),
        (3.0, "uniform", None),
        (0.3, "uniform", StandardScaler()),
        (1.0, "empirical", RobustScaler()),
        (None, "uniform", MinMaxScaler()),
    ]
    for seed, (shrink, priors, scaler) in enumerate(cases):
        X, y = _table(41, 150, 3, seed)
        X = np.round(X, 1) if seed else X * np.random.default_rng(0).lognormal(size=150)
        masks = _masks(150, 60, seed)
        masks[2:6] = np.arange(150) < [[1], [2], [3], [149]]
        model: Any = NearestCentroid(shrink_threshold=shrink, priors=priors)
        model = model if scaler is None else make_pipeline(scaler, model)
        for options in ({}, {"resample": True, "n_repeats": 2}):
            fitness = compile(model, X, y, cv=4, n_jobs=1, **options)
            alone = [compile(model, X, y, cv=4, n_jobs=1, **options) for _ in range(2)]
            together = fitness.evaluate_splits(masks, 7)
            counted = fitness._core.counters()
            for m in range(60):
                one = alone[m % 2].evaluate_splits(masks[m : m + 1], 7)
                np.testing.assert_array_equal(one[0], together[m])
            assert counted["tabled_masks"] > 0


def test_neighborhoods_of_shrunken_centroids_agree_with_single_masks_in_every_bit() -> None:
    """Of odd and even sizes, medians that tie, flips between the two middle spreads, scalers."""
    cases: list[tuple[Any, int]] = [
        (NearestCentroid(shrink_threshold=0.3), 0),
        (NearestCentroid(shrink_threshold=1.0, priors="empirical"), 1),
        (make_pipeline(StandardScaler(), NearestCentroid(shrink_threshold=0.5)), 2),
        (make_pipeline(RobustScaler(), NearestCentroid(shrink_threshold=0.5)), 3),
    ]
    for model, kind in cases:
        X, y = _table(41, 90, 3, kind)
        if kind == 1:
            X = np.round(X)  # spreads and distances that tie, or are nothing
        if kind == 2:
            X[:, :60] = 4.0  # medians that are nothing
        n_declined = 0
        for size in (0, 1, 2, 3, 6, 7, 30, 31):
            base = np.zeros(90, bool)
            base[np.random.default_rng(size).choice(90, size, replace=False)] = True
            near = Masks.neighbors(base, 90)
            options = {"resample": True, "n_repeats": 2} if size % 2 else {}
            cores = [compile(model, X, y, cv=4, n_jobs=1, **options)._core for _ in range(3)]
            seeds, score = np.full(90, 5, np.uint64), _core.Score("accuracy")
            declined = np.zeros((3, 90), bool)
            words = Masks.from_bool(near.to_bool()).words
            found = cores[0].evaluate_flips(
                near.base, near.indices, near.indptr, seeds, score, 2, declined[0]
            )
            assert cores[0].counters()["tabled_masks"] == 0
            together = cores[1].evaluate(words, seeds, score, 1, declined[1])
            np.testing.assert_array_equal(together, found)
            if size > 2:
                assert cores[1].counters()["tabled_masks"] == 90
            for m in range(0, 90, 5):
                one = cores[2].evaluate(words[[m]], seeds[:1], score, 1, declined[2, m : m + 1])
                np.testing.assert_array_equal(one[0], found[m])
            np.testing.assert_array_equal(declined[1], declined[0])
            np.testing.assert_array_equal(declined[2, ::5], declined[0, ::5])
            n_declined += declined[0].sum()
        assert (n_declined > 0) == (kind in (1, 2))


def test_flips_of_shrunken_centroids_are_scikit_learns(one_blas_thread: None) -> None:
    X, y = _table(41, 30, 3, 4)
    for size in (4, 7):
        base = np.arange(30) < size
        for model in (
            NearestCentroid(shrink_threshold=0.3),
            make_pipeline(StandardScaler(), NearestCentroid(shrink_threshold=0.6)),
        ):
            near = Masks.neighbors(base, 30)
            fitness = compile(model, X, y, cv=3, n_jobs=1)
            found = fitness.evaluate_splits(near)
            expected = [
                cross_val_score(model, X[:, mask], y, cv=fitness.splits())
                for mask in near.to_bool()
            ]
            np.testing.assert_array_equal(found, expected)


def test_many_samples_need_no_gram_matrix(one_blas_thread: None) -> None:
    X, y = _table(601, 6, 3)
    fitness = compile(NearestCentroid(), X, y, cv=3, n_jobs=1)
    assert isinstance(fitness, AdditiveCentroidFitness)
    masks = _masks(6, 12)[1:]
    np.testing.assert_array_equal(
        fitness.evaluate_splits(masks), _expected(X, y, masks, fitness.splits())
    )


def test_what_rounding_decides_in_scikit_learn_is_declined() -> None:
    X, y = _table(40, 6, 2)
    X[:, 1] = 0.1 * y  # constant within each class
    X[:, 2] = 3.0  # and everywhere, in whole numbers
    masks = np.zeros((4, 6), bool)
    for row, features in enumerate([[0, 3], [0, 1], [2, 3], [4, 5]]):
        masks[row, features] = True
    for options in ({}, {"resample": True, "n_repeats": 2}):
        fitness = compile(NearestCentroid(priors=[0.4, 0.6]), X, y, cv=3, n_jobs=1, **options)
        fitness.evaluate(masks[[0, 2, 3]])
        assert fitness.n_declined == 0
        near = Masks.neighbors(masks[0], 6)
        np.testing.assert_array_equal(
            fitness.evaluate_splits(near), fitness.evaluate_splits(near.to_bool())
        )
        assert fitness.n_declined == 2
    # Behind a scaler what is constant is no whole number any more.
    scaled = make_pipeline(StandardScaler(), NearestCentroid(priors=[0.4, 0.6]))
    fitness = compile(scaled, X, y, cv=3, n_jobs=1)
    expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
    assert fitness.n_declined == 2
    # All means of both classes become one.
    model = NearestCentroid(shrink_threshold=50.0, priors=[0.4, 0.6])
    fitness = compile(model, X, y, cv=3, scoring="roc_auc", n_jobs=1)
    fitness.evaluate(masks[[0, 3]])
    assert fitness.n_declined == 2


def test_what_it_does_not_serve() -> None:
    X, y = _table(30, 5, 2)
    centroid = "NearestCentroid: "
    ones = np.ones((1, 5), bool)
    refused: list[tuple[dict[str, Any], Any, str]] = [
        ({"metric": "manhattan"}, X, "metric 'manhattan' has no kernel"),
        ({"priors": [0.5, 0.6]}, X, "priors that are not positive or do not sum to 1 have no"),
        ({"priors": np.array([0.5, 0.5])}, X, "priors in an array have no kernel; give a list"),
        ({"priors": "empirical"}, X.astype(np.float32), "values in float32 have no kernel, since"),
    ]
    behind = make_pipeline(StandardScaler(), NearestCentroid())
    fitness = compile(behind, X.astype(np.float32), y, n_jobs=1)
    assert "values in float32 have no kernel, since" in str(fitness.fallback_reason)
    for parameters, data, reason in refused:
        fitness = compile(NearestCentroid(**parameters), data, y, n_jobs=1)
        assert fitness.kernel is None
        assert str(fitness.fallback_reason).startswith(centroid + reason)
    expected = cross_val_score(NearestCentroid(priors="empirical"), X.astype(np.float32), y)
    np.testing.assert_array_equal(fitness.evaluate_splits(ones)[0], expected)


def test_a_training_part_of_one_class_is_refused() -> None:
    X, y = RNG.normal(size=(12, 3)), np.array([0] * 6 + [1] * 6)
    one = [(np.arange(6), np.arange(6, 12))]
    message = "NearestCentroid trains on at least 2 classes, and split 0 trains on 1; lower cv"
    with pytest.raises(ValueError, match=message):
        compile(NearestCentroid(), X, y, cv=one)
    groups = np.array([0] * 6 + [1] * 5 + [2])
    with pytest.warns(UserWarning, match="stand in fewer groups"):
        fitness = compile(NearestCentroid(), X, y, cv=2, groups=groups, resample=True)
    seen = []
    for seed in range(20):
        trained = [len(np.unique(y[train])) for train, _ in fitness.splits(seed)]
        seen.append(min(trained))
        if min(trained) == 2:
            assert np.isfinite(fitness.evaluate([[True] * 3], seed)).all()
        else:
            with pytest.raises(ValueError, match="trains on at least 2 classes, and split"):
                fitness.evaluate([[True] * 3], seed)
    assert set(seen) == {1, 2} or set(seen) == {1}
