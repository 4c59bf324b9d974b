"""Neighborhoods in compact form: the answer of the masks written out, in every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tables
import twin_knn
from each import each, each_isa
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from bitsieve import Masks, _core
from bitsieve.fitness import Fitness, compile

PAIRS = [(np.arange(3, 45), np.arange(3)), (np.arange(0, 45, 2), np.arange(1, 45, 2))]


def _bases(rng: np.random.Generator, p: int) -> dict[str, np.ndarray]:
    one = np.arange(p) == p // 2
    return {
        "empty": np.zeros(p, bool),
        "one": one,
        "two": one | (np.arange(p) == 0),
        "half": rng.random(p) < 0.5,
        "full": np.ones(p, bool),
    }


def _fitness(kind: str, p: int, k: int = 1, n_classes: int = 3, **options) -> Fitness:
    rng = np.random.default_rng([p, *kind.encode()])
    X, y = tables.table(kind, rng, 45, p), np.arange(45) % n_classes
    return compile(KNeighborsClassifier(k), X, y, **{"cv": 4, "n_jobs": 1, **options})


def _twin(fitness: Fitness, masks: np.ndarray, k: int, scoring: str = "accuracy") -> np.ndarray:
    table = fitness.table
    return twin_knn.evaluate_splits(table.X, table.y, masks, fitness.splits(), k, scoring)


@pytest.mark.parametrize("kind", tables.KINDS)
@each("p", [1, 16, 33])
@each_isa
def test_one_flip_neighbors(isa: str, kind: str, p: int) -> None:
    fitness = _fitness(kind, p)
    for name, base in _bases(np.random.default_rng(p), p).items():
        masks = base ^ np.eye(p, dtype=bool)
        got = fitness.evaluate_splits(Masks.neighbors(base, p))
        np.testing.assert_array_equal(got, fitness.evaluate_splits(masks), err_msg=name)
        if name != "full":
            np.testing.assert_array_equal(got, _twin(fitness, masks, 1), err_msg=name)


@pytest.mark.parametrize("kind", tables.KINDS)
@each_isa
def test_votes_of_one_flip_neighbors(isa: str, kind: str) -> None:
    # More flips than 64 times the base's features, and fewer.
    for p, k, n_classes, scoring in [
        (200, 1, 3, "accuracy"),
        (200, 2, 3, "accuracy"),
        (33, 3, 2, "accuracy"),
        (33, 4, 3, "f1_macro"),
        (33, 5, 16, "f1_macro"),
        (200, 5, 4, "balanced_accuracy"),
        (33, 6, 3, "accuracy"),  # more than the kernel counts, as are 17 classes
        (33, 3, 17, "accuracy"),
        (33, 3, 2, "roc_auc"),
    ]:
        fitness = _fitness(kind, p, k, n_classes, scoring=scoring, cv=2)
        flips = np.random.default_rng(p).choice(p, 33, replace=False)
        for name, base in _bases(np.random.default_rng(k), p).items():
            got = fitness.evaluate_splits(Masks.neighbors(base, p))[flips]
            expected = fitness.evaluate_splits((base ^ np.eye(p, dtype=bool))[flips])
            np.testing.assert_array_equal(got, expected, err_msg=f"{k}, {n_classes}, {name}")


@pytest.mark.parametrize("kind", tables.KINDS)
@each_isa
def test_flips_behind_a_scaler(isa: str, kind: str) -> None:
    rng = np.random.default_rng([*kind.encode()])
    # More flips than 64 times the base's features, and fewer.
    for p, k, n_classes, scaler, options in [
        (200, 1, 3, StandardScaler(), {"cv": 4}),
        (33, 1, 3, RobustScaler(), {"cv": 3, "scoring": "f1_macro"}),
        (200, 3, 2, MinMaxScaler(), {"cv": 3, "scoring": "f1_macro"}),
        (33, 5, 3, StandardScaler(), {"cv": 3, "resample": True, "n_repeats": 2}),
    ]:
        X, y = tables.table(kind, rng, 45, p), np.arange(45) % n_classes
        model = make_pipeline(scaler, KNeighborsClassifier(k))
        fitness = compile(model, X, y, n_jobs=2, **options)
        assert fitness.kernel == "knn"
        for name, base in _bases(rng, p).items():
            flips = rng.choice(p, 24, replace=False)
            masks = base ^ np.eye(p, dtype=bool)
            got = fitness.evaluate_splits(Masks.neighbors(base, p), seeds=5)
            expected = fitness.evaluate_splits(masks[flips], seeds=5)
            np.testing.assert_array_equal(got[flips], expected, err_msg=f"{p}, {k}, {name}")
            some = fitness.evaluate_splits(Masks.neighbors(base, p, flips), seeds=5)
            np.testing.assert_array_equal(some, expected, err_msg=f"{p}, {k}, {name}")


# Model by distance or of numbers, behind a scaler or not: k, scorers, features, classes.
NAMED: list[tuple[Any, list[str], int, int]] = [
    (KNeighborsClassifier(3, weights="distance"), ["accuracy", "neg_log_loss"], 33, 3),
    (KNeighborsClassifier(5, weights="distance"), ["f1_macro"], 70, 17),
    (KNeighborsClassifier(2, weights="distance"), ["roc_auc", "accuracy"], 33, 2),
    (KNeighborsClassifier(4), ["neg_log_loss"], 33, 3),
    (KNeighborsClassifier(3), ["accuracy", "f1_macro"], 33, 17),
    (KNeighborsClassifier(1), ["f1_macro"], 33, 17),
    (KNeighborsRegressor(1), ["r2"], 33, 0),
    (KNeighborsRegressor(3), ["r2"], 70, 0),
    (KNeighborsRegressor(5), ["neg_mean_squared_error"], 33, 0),
    (KNeighborsRegressor(5, weights="distance"), ["r2"], 33, 0),
    (KNeighborsRegressor(2, weights="distance"), ["neg_mean_absolute_error"], 70, 0),
]


@pytest.mark.parametrize("kind", tables.KINDS)
@each_isa
@each("scaler", [None, StandardScaler()])
def test_neighbors_that_must_be_known_by_name(scaler: Any, isa: str, kind: str) -> None:
    rng = np.random.default_rng([7, *kind.encode()])
    for k, (model, scorers, p, n_classes) in enumerate(NAMED):
        X = tables.table(kind, rng, 45, p)
        y = np.arange(45) % n_classes if n_classes else rng.normal(size=45)
        estimator = model if scaler is None else make_pipeline(scaler, model)
        for scoring in scorers:
            options = {"cv": 2} if k % 2 else {"cv": 2, "resample": True, "n_repeats": 2}
            fitness = compile(estimator, X, y, scoring=scoring, n_jobs=1 + k % 2, **options)
            assert fitness.kernel == "knn"
            flips = np.append(rng.choice(p, 17, replace=False), p // 2)
            for name, base in _bases(rng, p).items():
                masks = (base ^ np.eye(p, dtype=bool))[flips]
                expected = fitness.evaluate_splits(masks, seeds=5)
                got = fitness.evaluate_splits(Masks.neighbors(base, p, flips), seeds=5)
                np.testing.assert_array_equal(got, expected, f"{estimator}, {scoring}, {name}")


def test_named_neighbors_are_left_to_the_bound_where_it_decides() -> None:
    """Of noise hardly any pair is open, of whole numbers many: the pass serves both."""
    rng = np.random.default_rng(8)
    n, p = 60, 300
    base = np.arange(p) < 30
    for scaler in (None, StandardScaler()):
        for model in (KNeighborsClassifier(3, weights="distance"), KNeighborsRegressor(5)):
            shares = []
            for X in (rng.normal(size=(n, p)), rng.integers(0, 2, (n, p)).astype(float)):
                y = X[:, 0] if isinstance(model, KNeighborsRegressor) else X[:, 0] > 0.5
                estimator = model if scaler is None else make_pipeline(scaler, model)
                fitness = compile(estimator, X, y, cv=3, n_jobs=1)
                fitness.evaluate(Masks.neighbors(base, p))
                counters = fitness._core.counters()
                assert counters["rechecked"] == 0  # no mask went its own way
                shares.append(counters["flips_open"] / (n * p))
            assert 0 < shares[0] < 0.1
            if scaler is None:
                assert shares[1] > 0.5


@each_isa
def test_named_neighbors_far_down_the_order_of_the_base(isa: str) -> None:
    """A giant joins: the nearest stand at places past what the kernel carries."""
    rng = np.random.default_rng(9)
    n, p = 700, 20
    X = rng.normal(size=(n, p))
    X[:, -4:] *= 1e4
    for model, y in (
        (KNeighborsRegressor(3), rng.normal(size=n)),
        (KNeighborsClassifier(5, weights="distance"), rng.integers(0, 3, n)),
    ):
        fitness = compile(model, X, y, cv=3, n_jobs=2)
        for base in (np.arange(p) < 8, np.ones(p, bool)):
            got = fitness.evaluate_splits(Masks.neighbors(base, p))
            expected = fitness.evaluate_splits(base ^ np.eye(p, dtype=bool))
            np.testing.assert_array_equal(got, expected)


def _large_masks(n: int, p: int, scaler: Any) -> None:
    rng = np.random.default_rng(p)
    X, y = rng.integers(0, 3, (n, p)) + rng.normal(size=p), rng.normal(size=n)
    cv = [(np.arange(20, n), np.arange(20))]
    model = KNeighborsRegressor(3, weights="distance")
    fitness = compile(model if scaler is None else make_pipeline(scaler, model), X, y, cv=cv)
    base = np.arange(p) != p // 2
    flips = np.append(rng.choice(p, 17, replace=False), p // 2)
    got = fitness.evaluate_splits(Masks.neighbors(base, p, flips))
    expected = fitness.evaluate_splits(base ^ np.eye(p, dtype=bool)[flips])
    np.testing.assert_array_equal(got, expected)


@each("scaler", [None, StandardScaler()])
def test_rows_of_large_masks_are_kept_a_flip_at_a_time(scaler: Any) -> None:
    _large_masks(100, 720, scaler)


@pytest.mark.slow
@each("scaler", [None, StandardScaler()])
def test_rows_of_the_largest_masks_are_not_kept(scaler: Any) -> None:
    _large_masks(1500, 5600, scaler)


@each_isa
@each("kind", ["scales", "integers", "offset"])
def test_more_samples_than_a_state_is_kept_for(isa: str, kind: str) -> None:
    # Panels of 128 rows, the last one cut off.
    n, p = _core.matrix_samples + 70, 19
    X, y = tables.table(kind, np.random.default_rng(0), n, p), np.arange(n) % 3
    options = {"scoring": "balanced_accuracy", "resample": True, "n_repeats": 2, "cv": 3}
    fitness = compile(KNeighborsClassifier(1), X, y, n_jobs=2, **options)
    for name, base in _bases(np.random.default_rng(p), p).items():
        flips = [p // 2, 0, p - 1, p // 2]
        near = Masks.neighbors(base, p, flips)
        expected = fitness.evaluate_splits(base ^ np.eye(p, dtype=bool)[flips], seeds=3)
        np.testing.assert_array_equal(fitness.evaluate_splits(near, seeds=3), expected, name)
    if kind == "integers":
        return  # most is decided exactly, which takes long
    # The same panels, of neighbors known by name.
    for model, scoring, target in (
        (KNeighborsClassifier(3, weights="distance"), "neg_log_loss", y),
        (KNeighborsRegressor(5), "r2", X[:, 1] - y),
    ):
        fitness = compile(model, X, target, n_jobs=2, **{**options, "scoring": scoring})
        got = fitness.evaluate_splits(near, seeds=3)
        expected = fitness.evaluate_splits(base ^ np.eye(p, dtype=bool)[flips], seeds=3)
        np.testing.assert_array_equal(got, expected)


@each("scoring", ["accuracy", "balanced_accuracy"])
@each("n_classes", [2, 5, 10])
@each("k", [1, 3])
@each("kind", ["scales", "integers"])
def test_classes_scores_and_neighbors(kind: str, k: int, n_classes: int, scoring: str) -> None:
    p = 40
    fitness = _fitness(kind, p, k, n_classes, scoring=scoring)
    for name, base in _bases(np.random.default_rng(k), p).items():
        masks = base ^ np.eye(p, dtype=bool)
        got = fitness.evaluate_splits(Masks.neighbors(base, p))
        np.testing.assert_array_equal(got, fitness.evaluate_splits(masks), err_msg=name)
        if name == "half":
            np.testing.assert_array_equal(got, _twin(fitness, masks, k, scoring))


@each_isa
def test_scores_that_ask_which_class_is_nearest(isa: str) -> None:
    p = 20
    cases = [
        (kind, n_classes, "f1_macro")
        for kind in ("scales", "integers", "close", "duplicates")
        for n_classes in (3, 16, 17)  # 17 are more than the kernel tells apart
    ]
    for kind, n_classes, scoring in [*cases, ("integers", 3, "rand_score")]:
        fitness = _fitness(kind, p, 1, n_classes, scoring=scoring, cv=2)
        for name, base in _bases(np.random.default_rng(n_classes), p).items():
            got = fitness.evaluate_splits(Masks.neighbors(base, p))
            expected = fitness.evaluate_splits(base ^ np.eye(p, dtype=bool))
            np.testing.assert_array_equal(got, expected, err_msg=f"{kind}, {n_classes}, {name}")


@each("k", [1, 3])
@each("cv", [RepeatedStratifiedKFold(n_splits=4, n_repeats=20, random_state=0), PAIRS, 15])
def test_any_splits(cv, k: int) -> None:
    p = 70
    fitness = _fitness("close", p, k, cv=cv)
    base = np.random.default_rng(1).random(p) < 0.3
    masks = base ^ np.eye(p, dtype=bool)
    got = fitness.evaluate_splits(Masks.neighbors(base, p))
    np.testing.assert_array_equal(got, fitness.evaluate_splits(masks))
    np.testing.assert_array_equal(got[::9], _twin(fitness, masks[::9], k))


@each("n_jobs", [1, 2, 3])
def test_chosen_flips_in_any_order_and_twice(n_jobs: int) -> None:
    p = 130
    fitness = _fitness("scales", p, n_jobs=n_jobs)
    rng = np.random.default_rng(2)
    base = rng.random(p) < 0.5
    for size in (0, 1, 15, 16, 17, 200):
        flips = rng.integers(0, p, size)
        masks = base ^ np.eye(p, dtype=bool)[flips]
        got = fitness.evaluate_splits(Masks.neighbors(base, p, flips))
        assert got.shape == (size, 4)
        np.testing.assert_array_equal(got, fitness.evaluate_splits(masks))


@each("k", [1, 3])
@each("kind", ["float64", "scales", "integers", "close"])
def test_many_flips_a_mask(kind: str, k: int) -> None:
    p = 65
    fitness = _fitness(kind, p, k)
    rng = np.random.default_rng(3)
    base = rng.random(p) < 0.5
    # None, one, two, the same twice (no change), all; the last leaves the mask empty.
    lists = [
        [],
        [3],
        [64, 0],
        [7, 7],
        [5, 9, 5],
        list(range(p)),
        rng.permutation(p)[:30].tolist(),
        np.flatnonzero(base).tolist(),
    ]
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    indices = np.array([f for part in lists for f in part], dtype=np.int64)
    compact = Masks.from_flips(base, indptr, indices)
    packed = compact.to_bool()
    assert not packed[-1].any()
    got = fitness.evaluate_splits(compact)
    np.testing.assert_array_equal(got, fitness.evaluate_splits(packed))
    np.testing.assert_array_equal(got, _twin(fitness, packed, k))


def test_swaps() -> None:
    p = 70
    base = np.random.default_rng(6).permutation(p) < 12
    swaps = Masks.swaps(base)
    # Another order of the masks and of each pair, and lists that lie between.
    mixed = np.random.default_rng(7).permutation(len(swaps))
    assert swaps.indices is not None
    flips = swaps.indices.reshape(-1, 2)[mixed]
    flips[::2] = flips[::2, ::-1]
    mirrored = Masks.from_flips(base, 2 * np.arange(len(flips) + 1), flips.ravel())
    for k, n_jobs in ((1, 1), (1, 2), (3, 2)):
        fitness = _fitness("scales", p, k, n_jobs=n_jobs)
        got = fitness.evaluate_splits(swaps)
        assert swaps._words is None
        expected = fitness.evaluate_splits(Masks.from_words(swaps[:].words, p))
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(fitness.evaluate_splits(mirrored), expected[mixed])
        np.testing.assert_array_equal(got[::60], _twin(fitness, swaps[::60].to_bool(), k))


def test_swaps_are_the_neighbors_of_few_bases() -> None:
    """Masks of a neighborhood are not evaluated by themselves, and few of it are measured."""
    rng = np.random.default_rng(9)
    n, p = 50, 300
    X, y = rng.normal(size=(n, p)), rng.integers(0, 2, n)
    base = rng.permutation(p) < 6
    fitness = compile(KNeighborsClassifier(1), X, y, cv=5, n_jobs=1)
    fitness.evaluate(Masks.neighbors(base, p))
    moved = fitness._core.counters()
    fitness.evaluate(Masks.swaps(base))
    counters = fitness._core.counters()
    assert counters["rechecked"] == 0
    # The state moves from base to base, two features at a time.
    assert 0 < counters["fixed_features"] - moved["fixed_features"] <= 2 * 6
    # What shares no flip with others goes its own way.
    few = Masks.from_flips(base, np.arange(0, 41, 2), rng.permutation(p)[:40])
    fitness.evaluate(few)
    assert fitness._core.counters()["flips_open"] == counters["flips_open"]


@each("size", [14, 15, 16, 17])
def test_groups_of_flips_around_the_least_size(size: int) -> None:
    p = 60
    fitness = _fitness("scales", p)
    base = np.random.default_rng(size).random(p) < 0.3
    lists = [[5, f] for f in range(10, 10 + size)] + [[f, 6] for f in range(20, 20 + size)]
    lists += [[f] for f in range(size)] + [[], [5, 5], [5, 6, 7], [5, 6]]
    lists = [lists[k] for k in np.random.default_rng(1).permutation(len(lists))]
    masks = Masks.from_flips(
        base, np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(int)
    )
    for options in ({}, {"resample": True}):
        fitness = _fitness("scales", p, **options)
        seeds = np.arange(len(masks)) % 3 if options else 4
        for keys in (seeds, 4):
            expected = fitness.evaluate_splits(masks.to_bool(), keys)
            np.testing.assert_array_equal(fitness.evaluate_splits(masks, keys), expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scikit-learn's, of variances that are 0
def test_swaps_that_are_declined_are_those_that_would_be_alone() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 40)), np.arange(40) % 2
    X[:, 1:30] = 1.0  # a mask of constants alone is declined
    fitness = compile(GaussianNB(), X, y, cv=4, n_jobs=1)
    base = np.arange(40) < 3
    swaps = Masks.swaps(base)
    got = fitness.evaluate_splits(swaps)
    declined = fitness.n_declined
    assert 0 < declined < len(swaps)
    np.testing.assert_array_equal(got, fitness.evaluate_splits(swaps.to_bool()))
    assert fitness.n_declined == 2 * declined


def test_giants_that_leave() -> None:
    """What is left is lost in the rounding of what left: the bound must hold that too."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(45, 60)), np.arange(45) % 3
    X[:, :4] *= 1e5
    fitness = compile(KNeighborsClassifier(3), X, y, cv=4, n_jobs=1)
    lists = [[0, 1, 2, 3], *([0, 1, 2, 3, f] for f in range(4, 30)), [0, 1, 3, 50]]
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    indices = np.array([f for part in lists for f in part], dtype=np.int64)
    masks = Masks.from_flips(Masks.full(60), indptr, indices)
    got = fitness.evaluate_splits(masks)
    np.testing.assert_array_equal(got, _twin(fitness, masks.to_bool(), 3))
    # The planner's way: the full mask is the median of these, and one of them lacks the giants.
    batch = np.concatenate([~np.eye(60, dtype=bool)[4:24], masks.to_bool()[:1]])
    for _ in range(3):
        got = fitness.evaluate_splits(batch)
    np.testing.assert_array_equal(got, _twin(fitness, batch, 3))


def test_slices_and_single_neighbors() -> None:
    p = 33
    fitness = _fitness("integers", p)
    near = Masks.neighbors(np.arange(p) % 2 == 0, p)
    expected = fitness.evaluate_splits(near)
    np.testing.assert_array_equal(fitness.evaluate_splits(near[5:9]), expected[5:9])
    np.testing.assert_array_equal(fitness.evaluate_splits(near[np.array([9, 2])]), expected[[9, 2]])
    np.testing.assert_array_equal(fitness.evaluate_splits(near[32]), expected[32:])
    np.testing.assert_array_equal(
        fitness.evaluate_splits(Masks.concatenate([near, near])), np.tile(expected, (2, 1))
    )


def test_walk_along_neighborhoods() -> None:
    """Forward selection: each step's base is the best neighbor of the last."""
    p = 64
    fitness = _fitness("scales", p, n_classes=2)
    base = np.zeros(p, bool)
    for _ in range(8):
        scores = fitness.evaluate(Masks.neighbors(base, p))
        fresh = _fitness("scales", p, n_classes=2)
        np.testing.assert_array_equal(scores, fresh.evaluate(base ^ np.eye(p, dtype=bool)))
        base[np.argmax(scores)] ^= True


def test_wide_neighborhood_needs_no_wide_memory() -> None:
    """All 20,000 neighbors, though as packed words they would be 50 MB."""
    rng = np.random.default_rng(0)
    p = 20_000
    X, y = rng.normal(size=(20, p)).astype(np.float32), np.arange(20) % 2
    fitness = compile(KNeighborsClassifier(1), X, y, cv=4)
    base = np.arange(p) < 5
    near = Masks.neighbors(base, p)
    scores = fitness.evaluate(near)
    assert near._words is None
    some = np.array([0, 4, 5, 77, p - 1])
    np.testing.assert_array_equal(
        scores[some], fitness.evaluate(base ^ (np.arange(p) == some[:, None]))
    )
