"""What every compiled model shares: one table, scores whatever the way of asking, outputs."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import Masks, _core
from bitsieve.data import Table
from bitsieve.fitness import CompiledFitness, compile
from bitsieve.fitness.output_scorer import OutputScorer

SCORINGS = {
    2: ("roc_auc", "neg_log_loss", "f1_macro", "matthews_corrcoef", "average_precision"),
    3: ("roc_auc_ovr", "roc_auc_ovo", "neg_log_loss", "f1_weighted", "balanced_accuracy"),
    70: ("f1_macro", "matthews_corrcoef"),  # too many classes to count every pair of them
}


def _data(n: int, p: int, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng([n, p, n_classes])
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, p)) + 0.2 * (y[:, None] % 5), y


def _compiled(*args: object, **kwargs: object) -> CompiledFitness:
    fitness = compile(*args, **kwargs)  # type: ignore[arg-type]
    assert isinstance(fitness, CompiledFitness)
    return fitness


CASES = ((60, 2, 1), (61, 2, 3), (63, 3, 1), (210, 70, 1))  # samples, classes, neighbors


@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize(("n", "n_classes", "k"), CASES)
def test_a_score_is_the_same_however_it_is_asked_for(
    isa: str, n: int, n_classes: int, k: int, resample: bool
) -> None:
    """In a batch, alone, as a neighborhood, by two threads: of outputs it is scikit-learn's."""
    p = 70
    X, y = _data(n, p, n_classes)
    base = np.arange(p) == 3  # one of its neighbors is the empty mask
    near = Masks.neighbors(base, p)
    for scoring in SCORINGS[n_classes]:
        settings: dict[str, Any] = {"cv": 3, "n_repeats": 2, "random_state": 0}
        settings |= {"scoring": scoring, "resample": resample}
        fitness = _compiled(KNeighborsClassifier(k), X, y, n_jobs=1, **settings)
        scores = fitness.evaluate_splits(near, 5)
        batch = _compiled(KNeighborsClassifier(k), X, y, n_jobs=2, **settings)
        np.testing.assert_array_equal(scores, batch.evaluate_splits(near.to_bool()[::-1], 5)[::-1])
        alone = [batch.evaluate_splits(near.to_bool()[m : m + 1], 5)[0] for m in (0, 3, 40)]
        np.testing.assert_array_equal(scores[[0, 3, 40]], alone)
        judge = OutputScorer(KNeighborsClassifier(k), scoring, fitness.table)
        classes, values = fitness._core.outputs(near.words, np.full(p, 5, np.uint64), 2)
        for m in (0, 3, 40):
            expected = judge.score(fitness.splits(5), classes=classes[m], values=values[m])
            np.testing.assert_allclose(scores[m], expected, rtol=1e-12, atol=1e-12)


def test_scores_of_many_samples_are_those_of_their_outputs() -> None:
    n = _core.matrix_samples + 70
    X, y = _data(n, 5, 2)
    masks = np.array([[True] * 5, [False] * 5, [True, False] * 2 + [True]])
    for k in (1, 3):
        for scoring in ("roc_auc", "f1_macro"):
            fitness = _compiled(KNeighborsClassifier(k), X, y, scoring=scoring, cv=2, n_jobs=2)
            expected = [
                cross_val_score(KNeighborsClassifier(k), X[:, mask], y, scoring=scoring, cv=2)
                for mask in masks[[0, 2]]
            ]
            found = fitness.evaluate_splits(masks)
            np.testing.assert_allclose(found[[0, 2]], expected, rtol=1e-12)
            near = Masks.neighbors(masks[0], 5)
            np.testing.assert_array_equal(
                fitness.evaluate_splits(near), fitness.evaluate_splits(near.to_bool())
            )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_models_share_a_table_and_its_float64_copy(dtype: type) -> None:
    X, y = _data(37, 150, 2)
    table = Table(X.astype(dtype), y)
    core = table.core
    copies: list[NDArray[np.float64]] = []
    askers = [
        threading.Thread(target=lambda: copies.append(core.doubles(n_threads=2))) for _ in range(4)
    ]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len({copy.ctypes.data for copy in copies}) == 1  # made once
    np.testing.assert_array_equal(copies[0], table.X.T)
    assert not copies[0].flags.writeable
    words, seeds, score = Masks.from_bool(np.eye(150) > 0).words, np.arange(150), None
    seeds = seeds.astype(np.uint64)
    models = [_model(table, kind) for kind in (_core.KnnFitness, _core.CentroidFitness) * 2]
    score = _core.Score("accuracy")
    scores = [model.evaluate(words, seeds, score, 1) for model in models]
    del table
    for first, second in zip(scores[:2], scores[2:], strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(models[0].evaluate(words, seeds, score, 2), scores[0])
    np.testing.assert_array_equal(copies[0], X.astype(dtype).T)


def _model(table: Table, kind: type, **settings: object) -> _core.MaskFitness:
    assert table.classes is not None
    if kind is _core.KnnFitness:
        settings.setdefault("n_neighbors", 1)
    fresh = {"n_repeats": 2, "n_folds": 3, "stratified": True}
    model: _core.MaskFitness = kind(
        table.core, target=table.codes, n_classes=len(table.classes), **(fresh | settings)
    )
    return model


@pytest.mark.parametrize("kind", [_core.KnnFitness, _core.CentroidFitness])
def test_a_model_without_a_table_is_refused(kind: type) -> None:
    settings = {"n_neighbors": 1} if kind is _core.KnnFitness else {}
    codes = np.array([0, 1], np.int32)
    with pytest.raises(TypeError, match="incompatible"):
        kind(None, codes=codes, n_classes=2, n_repeats=1, n_folds=2, stratified=True, **settings)


def test_a_score_that_reads_what_a_model_does_not_give_is_refused() -> None:
    table = Table(*_data(20, 3, 2))
    words, seeds = Masks.from_bool([[True, False, True]]).words, np.zeros(1, np.uint64)
    model = _model(table, _core.CentroidFitness)
    score = _core.Score("roc_auc", reads="probabilities")
    with pytest.raises(ValueError, match="the score reads what this model does not give"):
        model.evaluate(words, seeds, score, 1)
    assert (model.kind, model.outputs(words, seeds, 1)[1]) == ("classes", None)


def _nearest_centroids(
    X: NDArray[np.float64], y: NDArray[np.int64], train: NDArray[np.intp], test: NDArray[np.intp]
) -> NDArray[np.int64]:
    classes = np.unique(y[train])
    centroids = np.array([X[train][y[train] == c].mean(axis=0) for c in classes])
    apart = X[test][:, None] - centroids
    nearest: NDArray[np.int64] = classes[np.argmin((apart * apart).sum(axis=2), axis=1)]
    return nearest


@pytest.mark.parametrize("kind", ["real", "offset", "whole numbers"])
def test_nearest_centroids_are_those_of_float64(isa: str, kind: str) -> None:
    """From whatever state a matrix comes, and where float32 leaves it open."""
    n, p = 47, 130
    X, y = _data(n, p, 4)
    if kind == "offset":
        X = X + 1000 * np.arange(p)
    elif kind == "whole numbers":
        X = np.round(3 * X)
    splits = list(StratifiedKFold(4).split(X, y))
    splits.append((np.flatnonzero(y != 2), np.flatnonzero(y == 2)))  # never trained on
    table = Table(X, y)
    model = _model(table, _core.CentroidFitness, n_repeats=0, n_folds=0)
    begins = [np.cumsum([0, *(len(pair[side]) for pair in splits)]) for side in (0, 1)]
    lists = [np.concatenate([pair[side] for pair in splits]) for side in (0, 1)]
    model.set_splits(lists[0], begins[0], lists[1], begins[1])
    rng = np.random.default_rng(1)
    mask = rng.random(p) < 0.5
    for step in range(12):
        mask = mask ^ (rng.random(p) < (0.5 if step % 4 == 0 else 0.02))
        masks = mask ^ (rng.random((3, p)) < 0.05)
        found = model.outputs(Masks.from_bool(masks).words, np.zeros(3, np.uint64), 1 + step % 2)[0]
        for m in range(3):
            parts = [_nearest_centroids(X[:, masks[m]], y, *split) for split in splits]
            np.testing.assert_array_equal(found[m], np.concatenate(parts))
    assert model.counters()["fixed_features"] > 0


def test_equal_centroids_go_to_the_lowest_class() -> None:
    X = np.tile(np.array([[0.1], [0.7], [0.4]]), (6, 2))
    y = np.repeat([2, 0, 1], 6)
    model = _model(Table(X, y), _core.CentroidFitness, n_repeats=0, n_folds=0)
    train, test = np.arange(18), np.arange(18)
    begin = np.array([0, 18])
    model.set_splits(train, begin, test, begin)
    found = model.outputs(Masks.from_bool([[True, True]]).words, np.zeros(1, np.uint64), 1)[0]
    assert (found == 0).all()
    assert model.counters()["rechecked"] > 0


def test_splits_are_set_once_and_groups_before_the_first_evaluation() -> None:
    table = Table(*_data(30, 3, 2))
    train, test = np.arange(20), np.arange(20, 30)
    lists = (train, np.array([0, 20]), test, np.array([0, 10]))
    for _ in range(20):  # of several callers at once one is heard
        model = _model(table, _core.CentroidFitness, n_repeats=0, n_folds=0)
        start, refused = threading.Barrier(4), []

        def call(model: Any = model, start: Any = start, refused: Any = refused) -> None:
            start.wait()
            try:
                model.set_splits(*lists)
            except ValueError as error:
                refused.append(str(error))

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 3
        assert all("splits are set once" in message for message in refused)
        assert model.n_splits == 1
    words, seeds = Masks.from_bool([[True, False, True]]).words, np.zeros(1, np.uint64)
    model = _model(table, _core.CentroidFitness)
    groups = np.arange(30, dtype=np.int32) // 3
    model.set_groups(groups, 10)
    model.evaluate(words, seeds, _core.Score("accuracy"), 1)
    with pytest.raises(ValueError, match="groups are set before the first evaluation"):
        model.set_groups(groups, 10)
