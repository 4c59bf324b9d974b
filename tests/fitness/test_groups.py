"""Folds of whole groups: drawn as a slow twin draws them, served as scikit-learn scores them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from each import each
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import _core
from bitsieve.data import Table
from bitsieve.fitness import compile
from bitsieve.fitness.splits import FreshFolds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))
Y = RNG.permutation(np.arange(60) % 3)
GROUPS = RNG.integers(0, 15, 60)
GROUPS[:15] = np.arange(15)
ALL = np.ones((1, 6), dtype=bool)
KNN = KNeighborsClassifier(1)


def _twin(codes: np.ndarray, groups: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """One repeat, slowly: the random order is that of a shuffle of all groups."""
    n_groups, n_classes = groups.max() + 1, codes.max() + 1
    counts = np.zeros((n_groups, n_classes))
    np.add.at(counts, (groups, codes), 1)
    order = _core.shuffled_folds(n_groups, n_groups, 1, seed)[0]
    sizes = counts.sum(axis=1).astype(int)
    order = sorted(order.tolist(), key=lambda g: -int(sizes[g]).bit_length())
    weights = 1 / np.maximum(counts.sum(axis=0), 1) ** 2
    held = np.zeros((n_folds, n_classes))
    fold_of = np.zeros(n_groups, int)
    for g in order:
        best = min(
            range(n_folds),
            key=lambda f: (sum(counts[g] * held[f] * weights), held[f].sum(), f),
        )
        held[best] += counts[g]
        fold_of[g] = best
    return fold_of[groups]


def test_draws_are_the_twins() -> None:
    rng = np.random.default_rng(1)
    for seed in range(60):
        n = int(rng.integers(12, 90))
        n_groups, n_classes = int(rng.integers(6, 13)), int(rng.integers(1, 4))
        groups = np.r_[np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)]
        groups = groups.astype(np.int32)
        codes = rng.integers(0, n_classes, n).astype(np.int32)
        n_folds = int(rng.integers(2, 7))
        found = _core.group_folds(codes, n_classes, groups, n_groups, n_folds, 3, seed)
        np.testing.assert_array_equal(found[0], _twin(codes, groups, n_folds, seed))
        for row in found:
            assert set(row.tolist()) == set(range(n_folds))  # no fold is empty
            assert all(len(set(row[groups == g].tolist())) == 1 for g in range(n_groups))


def test_draws_are_level_and_differ() -> None:
    groups = (np.arange(200) // 4).astype(np.int32)
    codes = (groups % 2).astype(np.int32)
    rows = _core.group_folds(codes, 2, groups, 50, 5, 20, 3)
    for row in rows:
        table = np.zeros((5, 2))
        np.add.at(table, (row, codes), 1)
        np.testing.assert_array_equal(table, 20)
    assert len({row.tobytes() for row in rows}) == 20
    other = _core.group_folds(codes, 2, groups, 50, 5, 20, 4)
    assert not np.array_equal(rows, other)
    np.testing.assert_array_equal(rows[:3], _core.group_folds(codes, 2, groups, 50, 5, 3, 3))


def test_bad_groups_are_refused_at_the_binding() -> None:
    codes = np.zeros(6, np.int32)
    for groups in (np.array([0, 1, 2, 0, 1, 3], np.int32), np.array([0, 1, 2, 0, 1, -1], np.int32)):
        with pytest.raises(ValueError, match="groups must lie in"):
            _core.group_folds(codes, 1, groups, 3, 2, 1, 0)
    with pytest.raises(ValueError, match="one value a sample"):
        _core.group_folds(codes, 1, np.zeros(5, np.int32), 2, 2, 1, 0)
    with pytest.raises(ValueError, match="n_groups must lie in"):
        _core.group_folds(codes, 1, np.zeros(6, np.int32), 1, 2, 1, 0)


def test_a_number_of_folds_means_folds_of_groups() -> None:
    """Fixed and unrepeated they are scikit-learn's own; the kernel serves all of them."""
    masks = np.random.default_rng(2).random((2, 6)) < 0.6
    masks[:, 0] = True
    for estimator in (KNN, KNeighborsClassifier(4), GaussianNB()):
        plain = compile(estimator, X, Y, cv=4, groups=GROUPS, n_jobs=1)
        assert (plain.kernel == "knn") == (type(estimator) is KNeighborsClassifier)
        own = StratifiedGroupKFold(4)
        for mask, scores in zip(masks, plain.evaluate_splits(masks), strict=True):
            expected = cross_val_score(estimator, X[:, mask], Y, cv=own, groups=GROUPS)
            np.testing.assert_allclose(scores, expected, rtol=1e-12)
        for options in (
            {"n_repeats": 3},
            {"resample": True, "n_repeats": 2},
            {"resample": True, "cv": StratifiedGroupKFold(3)},
            {"resample": True, "cv": GroupKFold(3)},
        ):
            options = {"cv": 4, "random_state": 5, **options}
            fitness = compile(estimator, X, Y, groups=GROUPS, n_jobs=1, **options)
            for seed in (9,):
                splits = fitness.splits(seed)
                for train, test in splits:
                    assert not set(GROUPS[train]) & set(GROUPS[test])
                for mask, scores in zip(masks, fitness.evaluate_splits(masks, seed), strict=True):
                    expected = cross_val_score(estimator, X[:, mask], Y, cv=splits)
                    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_repeats_and_seeds_draw_other_folds() -> None:
    def tests(fitness: object, seed: int = 0) -> list[bytes]:
        return [test.tobytes() for _, test in fitness.splits(seed)]  # type: ignore[attr-defined]

    repeated = compile(KNN, X, Y, cv=3, n_repeats=4, groups=GROUPS, random_state=0)
    assert len(set(tests(repeated))) == 12
    again = compile(KNN, X, Y, cv=3, n_repeats=4, groups=GROUPS, random_state=0)
    assert tests(again) == tests(repeated)
    other = compile(KNN, X, Y, cv=3, n_repeats=4, groups=GROUPS, random_state=1)
    assert tests(other) != tests(repeated)
    fresh = compile(KNN, X, Y, cv=3, resample=True, groups=GROUPS)
    assert tests(fresh, 1) != tests(fresh, 2)
    measured_again = compile(KNN, X, Y, cv=GroupKFold(3), groups=GROUPS).resampled()
    assert measured_again is not None
    for train, test in measured_again.splits(3):
        assert not set(GROUPS[train]) & set(GROUPS[test])


def test_names_of_groups_matter_by_their_order_and_a_fingerprint_knows_them() -> None:
    names = np.array([f"patient {g:02d}" for g in GROUPS], dtype=object)
    options = {"cv": 3, "resample": True}
    one = compile(KNN, X, Y, groups=GROUPS, **options)
    two = compile(KNN, X, Y, groups=names, **options)
    np.testing.assert_array_equal(one.evaluate(ALL, 3), two.evaluate(ALL, 3))
    assert one.fingerprint() == two.fingerprint()
    other = compile(KNN, X, Y, groups=np.arange(60) // 2, **options)
    assert len({f.fingerprint() for f in (one, other, compile(KNN, X, Y, **options))}) == 3


def test_groups_of_any_type_and_in_a_column_are_taken() -> None:
    names = [f"patient {g}" for g in GROUPS]
    plain = compile(KNN, X, Y, cv=3, groups=names).evaluate(ALL)
    column = np.array(names, dtype=object)[:, None]
    np.testing.assert_array_equal(compile(KNN, X, Y, cv=3, groups=column).evaluate(ALL), plain)
    mixed = np.array(names, dtype=object)
    mixed[GROUPS % 2 == 1] = 7 + GROUPS[GROUPS % 2 == 1]
    for train, test in compile(KNN, X, Y, cv=3, groups=mixed).splits(0):
        assert not set(GROUPS[train]) & set(GROUPS[test])


def test_numbers_are_split_by_whole_groups_too() -> None:
    y = X[:, 0] + RNG.normal(size=60)
    found = compile(Ridge(), X, y, cv=4, groups=GROUPS, n_jobs=1).evaluate_splits(ALL)[0]
    expected = cross_val_score(Ridge(), X, y, cv=GroupKFold(4), groups=GROUPS)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    fresh = compile(Ridge(), X, y, cv=4, groups=GROUPS, resample=True, n_jobs=1)
    for train, test in fresh.splits(3):
        assert not set(GROUPS[train]) & set(GROUPS[test])


def test_groups_that_have_no_effect_are_spoken_of() -> None:
    for cv, resample in ((StratifiedKFold(3), False), (KFold(3), True), (KFold(3), False)):
        with pytest.warns(UserWarning, match=f"groups have no effect with cv={type(cv).__name__}"):
            compile(KNN, X, Y, cv=cv, groups=GROUPS, resample=resample)
    parting = [(np.arange(0, 40), np.arange(40, 60))]
    with pytest.warns(UserWarning, match=r"a list of 1 splits.* of 15 groups are parted"):
        compile(KNN, X, Y, cv=parting, groups=GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(KNN, X, Y, cv=KFold(3), groups=np.arange(60) // 20)  # nothing is parted
        compile(KNN, X, Y, cv=LeaveOneGroupOut(), groups=GROUPS)


@each(
    ("options", "message"),
    [
        ({"cv": GroupKFold(3)}, "cv=GroupKFold splits by groups, and none were given: pass groups"),
        ({"cv": LeaveOneGroupOut()}, "cv=LeaveOneGroupOut splits by groups"),
        ({"cv": GroupShuffleSplit(3), "resample": True}, "cv=GroupShuffleSplit splits by groups"),
        ({"groups": np.arange(59)}, r"groups must have one value a sample, shape \(60,\)"),
        ({"groups": np.r_[np.nan, np.arange(59.0)]}, r"groups are missing for 1 sample \(at 0,"),
        ({"groups": [None, *"ab" * 29, "c"]}, "groups are missing for 1 sample"),
        ({"groups": np.arange(60) % 3}, "cv=5 folds of whole groups .*, got 3; lower cv to 3"),
        ({"groups": Y, "cv": 3}, "no class stands in two groups"),
    ],
)
def test_bad_groups_are_refused(options: dict, message: str) -> None:
    for resample in (False, True):
        with pytest.raises(ValueError, match=message):
            compile(KNN, X, Y, **{"resample": resample, **options})


def test_a_class_in_few_groups_is_spoken_of() -> None:
    y = np.where(GROUPS < 2, "rare", "common")
    with pytest.warns(UserWarning, match=r"fewer groups than cv=5 \('rare in 2' of 15 groups\)"):
        compile(KNN, X, y, groups=GROUPS)


def test_more_neighbors_than_some_folds_train_on() -> None:
    groups = np.r_[np.zeros(50, int), np.arange(1, 11)]
    fitness = compile(KNeighborsClassifier(12), X, Y, cv=2, groups=groups, resample=True)
    with pytest.raises(ValueError, match="n_neighbors=12 is more than the 10 training samples"):
        fitness.evaluate(ALL)


def test_groups_of_a_table_give_the_folds_of_their_names() -> None:
    names = np.array([f"p{g}" for g in (7 * GROUPS + 3) % 11])
    ours = compile(KNN, Table(X, Y, groups=names), None, cv=4, n_jobs=1)
    given = compile(KNN, X, Y, cv=4, groups=names, n_jobs=1)
    expected = StratifiedGroupKFold(4).split(X, Y, names)
    for one, other, (train, test) in zip(ours.splits(), given.splits(), expected, strict=True):
        np.testing.assert_array_equal(one[1], test)
        np.testing.assert_array_equal(other[1], test)
        np.testing.assert_array_equal(one[0], train)
    fresh = {"cv": 4, "n_repeats": 2, "resample": True, "n_jobs": 1}
    drawn = compile(KNN, Table(X, Y, groups=names), None, **fresh).splits(5)
    for one, other in zip(drawn, compile(KNN, X, Y, groups=names, **fresh).splits(5), strict=True):
        np.testing.assert_array_equal(one[1], other[1])


def test_groups_of_several_types_and_in_one_column() -> None:
    mixed = GROUPS.astype(object)
    mixed[GROUPS < 4] = "a"
    for train, test in compile(KNN, X, Y, cv=3, groups=mixed).splits():
        assert not set(mixed[train]) & set(mixed[test])
    np.testing.assert_array_equal(
        compile(KNN, X, Y, cv=3, groups=GROUPS[:, None]).evaluate_splits(ALL),
        compile(KNN, X, Y, cv=3, groups=GROUPS).evaluate_splits(ALL),
    )


def test_the_smallest_training_set_of_groups_is_never_overrated() -> None:
    groups = np.repeat(np.arange(3), [1, 2, 10]).astype(np.int32)
    folds = FreshFolds(13, 3, 1, groups=groups)
    assert folds.smallest_training_set() == min(len(train) for train, _ in folds.splits(0)) == 3
