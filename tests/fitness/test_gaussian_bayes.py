"""The kernel of Gaussian naive Bayes against scikit-learn, against a twin, and against itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tables
from each import each, each_isa
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from twin_gaussian_bayes import costs, probabilities

from bitsieve import Masks
from bitsieve.fitness import GeneralFitness, compile
from bitsieve.fitness.gaussian_bayes import KERNEL, GaussianBayesFitness


def _table(n: int, p: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    return rng.normal(size=(n, p)) * rng.lognormal(size=p) + 0.2 * (y[:, None] == np.arange(p)), y


def _masks(p: int, m: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    masks = rng.random((m, p)) < rng.uniform(0.05, 0.95, (m, 1))
    masks[~masks.any(axis=1), 0] = True
    return masks


def _each_alone(fitness: Any, masks: Any) -> Any:
    return np.concatenate([fitness.evaluate_splits(mask[None]) for mask in masks])


def _outputs(fitness: Any, masks: Any) -> tuple[Any, Any]:
    seeds = np.zeros(len(masks), np.uint64)
    return fitness._core.outputs(Masks.from_bool(masks).words, seeds, 1)  # type: ignore[no-any-return]


@pytest.mark.slow
@each("scoring", [None, "balanced_accuracy", "neg_log_loss", "roc_auc_ovr", "f1_macro"])
def test_it_is_scikit_learns(scoring: Any, one_blas_thread: None) -> None:
    for shape, cv in [
        ((60, 20, 2), 5),
        ((61, 70, 3), RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)),
        ((43, 9, 3), ShuffleSplit(4, test_size=0.4, random_state=0)),
    ]:
        X, y = _table(*shape)
        weights = np.random.default_rng(1).integers(0, 4, len(y)) / 2 + 0.25
        masks = _masks(shape[1], 5)
        uneven = np.arange(1, shape[2] + 1) / (shape[2] * (shape[2] + 1) / 2)
        for model, options in [
            (GaussianNB(), {}),
            (GaussianNB(var_smoothing=0.05, priors=uneven), {"sample_weight": weights}),
        ]:
            fitness: Any = compile(model, X, y, cv=cv, scoring=scoring, n_jobs=1, **options)
            assert (type(fitness), fitness.kernel) == (GaussianBayesFitness, "gaussian_bayes")
            expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
            found = fitness.evaluate_splits(masks)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)
            assert fitness.n_declined == 0


def test_names_scorers_of_ones_own_and_leave_one_out(one_blas_thread: None) -> None:
    X, y = _table(26, 12, 2)
    names = np.array(["no", "yes"])[y]
    masks = np.concatenate([_masks(12, 6), np.zeros((1, 12), bool)])
    own = make_scorer(lambda y, p: float((y == p).mean() ** 2))
    for scoring, cv in [(None, LeaveOneOut()), (own, 3), ("neg_log_loss", 3)]:
        fitness = compile(GaussianNB(), X, names, cv=cv, scoring=scoring, n_jobs=1)
        assert fitness.kernel == "gaussian_bayes"
        expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
        np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["sonar", "vehicle", "segment", "tox_171", "khan", "mofn_3_7_10", "breast_w"]
)
def test_it_is_scikit_learns_on_real_data(dataset: Any, name: str, one_blas_thread: None) -> None:
    X, y, _ = dataset(name)
    complete = np.isfinite(X).all(axis=1)
    X, y = X[complete].astype(np.float64), y[complete]
    masks = _masks(X.shape[1], 50 if X.shape[1] < 3000 else 10)
    fitness = compile(GaussianNB(), X, y, cv=4, n_jobs=1)
    assert fitness.kernel == "gaussian_bayes"
    expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
    np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9, atol=1e-12)
    # Not their log loss: of two classes it is that of 1 - p, the rounding of a p that saturates.
    fitness = compile(GaussianNB(), X, y, cv=4, scoring="neg_log_loss", n_jobs=1)
    core: Any = fitness._core  # type: ignore[attr-defined]
    found = core.outputs(Masks.from_bool(masks[:5]).words, np.zeros(5, np.uint64), 1)[1]
    for mask, values in zip(masks[:5], found, strict=True):
        if mask.any():
            shares = [
                GaussianNB().fit(X[train][:, mask], y[train]).predict_proba(X[test][:, mask])
                for train, test in fitness.splits()
            ]
            np.testing.assert_allclose(values, np.concatenate(shares), rtol=1e-9, atol=1e-300)


def test_any_path_ends_in_the_answer_of_the_twin(isa: str) -> None:
    """In a batch, alone and as a neighbor; on tables with every trouble, in odd sizes."""
    rng = np.random.default_rng(0)
    seen = 0
    for k, kind in enumerate(tables.KINDS):
        n, p = int(rng.integers(13, 40)), int(rng.integers(3, 90))
        X = tables.table(kind, rng, n, p).astype(np.float64)
        codes = tables.labels(rng, n, 2 + k % 3)
        n_classes = int(codes.max()) + 1
        cv = tables.splits(rng, n, 6)
        fitness = compile(GaussianNB(), X, codes, cv=cv, n_jobs=1 + k % 2)
        masks = tables.masks(rng, p)[1:]
        found = fitness.evaluate_splits(masks)
        np.testing.assert_array_equal(_each_alone(fitness, masks), found)
        flips = rng.permutation(p)[:40]
        near = Masks.neighbors(masks[2], p, flips)
        np.testing.assert_array_equal(
            fitness.evaluate_splits(near), fitness.evaluate_splits(near.to_bool())
        )
        declined = np.zeros(len(masks), bool)
        words, seeds = Masks.from_bool(masks).words, np.zeros(len(masks), np.uint64)
        core: Any = fitness._core  # type: ignore[attr-defined]
        classes, values = core.outputs(words, seeds, 1, declined)
        assert (declined == masks.any(axis=1)).all() == (kind in ("offset", "outlier")), kind
        for m in np.flatnonzero(~declined & masks.any(axis=1)):
            begin = 0
            for train, test in fitness.splits():
                expected = costs(X[:, masks[m]], codes, n_classes, train, test)
                of_split = slice(begin, begin + len(test))
                begin += len(test)
                np.testing.assert_allclose(
                    values[m, of_split], probabilities(expected), rtol=1e-6, atol=1e-9
                )
                # The class of the least cost, unless another is as good to rounding.
                given = np.take_along_axis(expected, classes[m, of_split, None], axis=1)[:, 0]
                assert (given <= expected.min(axis=1) + 1e-8 * np.abs(given)).all()
                seen += 1
    assert seen > 400


def test_the_same_bits_in_any_batch_on_any_threads_and_instruction_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import bitsieve

    X, y = _table(57, 300, 3)
    masks = np.concatenate([_masks(300, 37), np.random.default_rng(5).random((40, 300)) < 0.5])
    for scoring in (None, "neg_log_loss"):
        answers = []
        for name in bitsieve.available_isas():
            monkeypatch.setenv("BITSIEVE_ISA", name)
            before = bitsieve.get_isa()
            bitsieve.set_isa(name)
            try:
                for jobs in (1, 3):
                    fitness = compile(GaussianNB(), X, y, cv=4, scoring=scoring, n_jobs=jobs)
                    answers.append(fitness.evaluate_splits(masks))
                    answers.append(fitness.evaluate_splits(masks[::-1])[::-1])
            finally:
                bitsieve.set_isa(before)
        for other in answers[1:]:
            np.testing.assert_array_equal(other, answers[0])


def test_variances_of_many_sizes_are_added_with_derivatives(isa: str) -> None:
    """As raw expression values: the smoothing of one mask is seen in the variances of others."""
    rng = np.random.default_rng(0)
    for smoothing in (1e-9, 1e-7):
        X, y = _table(50, 600, 3)
        X = X * rng.lognormal(0, 0.5, 600)
        X[:, ::150] = np.rint(
            X[:, ::150] / X[:, ::150].std(axis=0)
        )  # constant in some class, maybe
        fitness: Any = compile(GaussianNB(var_smoothing=smoothing), X, y, cv=5, n_jobs=1)
        masks = rng.random((60, 600)) < rng.uniform(0.1, 0.9, (60, 1))
        found = fitness.evaluate_splits(masks)
        assert fitness._core.counters()["tabled_masks"] == 60
        np.testing.assert_array_equal(_each_alone(fitness, masks), found)
        near = Masks.neighbors(masks[0], 600)
        np.testing.assert_array_equal(
            fitness.evaluate_splits(near), _each_alone(fitness, near.to_bool())
        )


def test_masks_with_features_in_common_and_of_few(isa: str) -> None:
    X, y = _table(40, 500, 2)
    rng = np.random.default_rng(0)
    base = rng.random(500) < 0.5
    near = base ^ (rng.random((50, 500)) < 0.05)  # most features are everyone's
    few = np.zeros((50, 500), bool)
    few[:, 100:140] = rng.random((50, 40)) < 0.5  # most are nobody's
    fitness: Any = compile(GaussianNB(), X, y, cv=4, n_jobs=1)
    for masks in (near, few):
        before = fitness._core.counters()["tabled_masks"]
        found = fitness.evaluate_splits(masks)
        assert fitness._core.counters()["tabled_masks"] == before + 50
        np.testing.assert_array_equal(_each_alone(fitness, masks), found)


def test_classes_as_likely_are_given_the_first() -> None:
    # Both classes have the same values.
    half = np.random.default_rng(0).normal(size=(12, 5))
    X, y = np.concatenate([half, half]), np.repeat([0, 1], 12)
    train = np.arange(24).reshape(2, 12)
    cv = [(train[:, :8].ravel(), train[:, 8:].ravel())]
    fitness = compile(GaussianNB(), X, y, cv=cv, n_jobs=1)
    masks = _masks(5, 8)
    classes, values = _outputs(fitness, masks)
    assert (classes == 0).all()
    np.testing.assert_array_equal(values, 0.5)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), 0.5)


def test_a_class_that_a_training_part_lacks(one_blas_thread: None) -> None:
    X, y = _table(30, 8, 3)
    train, test = np.flatnonzero(y > 0), np.flatnonzero(y == 0)
    cv = [(train, test), (np.arange(0, 30, 2), np.arange(1, 30, 2))]
    masks = _masks(8, 20)
    fitness = compile(GaussianNB(), X, y, cv=cv, n_jobs=1)
    expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
    # Weights of zero: scikit-learn never predicts such a class, and calls all of them undefined.
    weights = np.where(y == 1, 0.0, 1.0)
    fitness = compile(GaussianNB(), X, y, cv=3, sample_weight=weights, n_jobs=1)
    expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


def test_what_rounding_decides_is_scikit_learns(one_blas_thread: None) -> None:
    """Constant features, and values far from zero for their spread."""
    X, y = _table(30, 6, 2)
    X[:, 2] = 0.1
    X[:, 3] = 1e9 + X[:, 3]
    masks = np.eye(6, dtype=bool)
    fitness: Any = compile(GaussianNB(), X, y, cv=3, n_jobs=1)
    near = Masks.neighbors(masks[2], 6)
    with np.errstate(all="ignore"):
        found = fitness.evaluate_splits(masks), fitness.evaluate_splits(near)
        assert fitness.n_declined == 2 + 1  # of the neighbors, the one with the far feature
        general = GeneralFitness(fitness.problem, "asked for")
        np.testing.assert_array_equal(found[0], general.evaluate_splits(masks))
        np.testing.assert_array_equal(found[1][1:], general.evaluate_splits(near.to_bool()[1:]))


def test_fresh_folds_and_seeds(isa: str) -> None:
    X, y = _table(45, 60, 3)
    masks, seeds = _masks(60, 20), np.arange(20) // 10
    fitness = compile(GaussianNB(), X, y, cv=3, n_repeats=2, resample=True, n_jobs=2)
    mixed = fitness.evaluate_splits(masks, seeds)
    for seed in (0, 1):
        chosen = seeds == seed
        np.testing.assert_array_equal(fitness.evaluate_splits(masks[chosen], seed), mixed[chosen])
    near = Masks.neighbors(masks[0], 60)
    np.testing.assert_array_equal(
        fitness.evaluate_splits(near, 5), fitness.evaluate_splits(near.to_bool(), 5)
    )


def test_what_is_refused() -> None:
    X, y = _table(30, 4, 2)
    for model, data, reason in [
        (GaussianNB(var_smoothing=0), X, "var_smoothing=0 has no kernel"),
        (GaussianNB(priors=[0.2, 0.3, 0.5]), X, "priors that are not 2 numbers have no kernel"),
        (GaussianNB(priors=[0.2, 0.3]), X, "priors that are negative or do not sum to 1 have no"),
        (
            GaussianNB(),
            X.astype(np.float32),
            "values in float32 have no kernel, since scikit-learn",
        ),
    ]:
        fitness = compile(model, data, y, cv=StratifiedKFold(3))
        assert fitness.kernel is None
        told = KERNEL.refusal(fitness.problem)
        assert told is not None
        assert told.startswith(reason)


@each("scaler", [StandardScaler(), MaxAbsScaler()])
def test_behind_a_scaler_all_ways_agree(scaler: Any, one_blas_thread: None) -> None:
    """Weights, tables of a batch, neighborhoods and instruction sets; features of all sizes."""
    X, y = _table(45, 40, 3)
    X = X * np.logspace(-4, 4, 40) + np.where(np.arange(40) % 20 == 9, 30, 0)
    X[:, 5] = 3.0
    X[7, 6], X[np.arange(45) != 7, 6] = 1.0, 2.0  # constant where sample 7 tests
    masks = _masks(40, 20)
    weights = np.random.default_rng(1).integers(0, 4, 45) / 2 + 0.25
    for smoothing, given in [(1e-9, {}), (1e-6, {"sample_weight": weights}), (0.3, {})]:
        model = make_pipeline(scaler, GaussianNB(var_smoothing=smoothing))
        fitness: Any = compile(model, X, y, cv=3, n_jobs=1, **given)
        assert fitness.kernel == "gaussian_bayes"
        found = fitness.evaluate_splits(masks)
        assert fitness._core.counters()["tabled_masks"] == (20 if smoothing < 0.1 else 0)
        np.testing.assert_array_equal(found, _each_alone(fitness, masks))
        general = GeneralFitness(fitness.problem, "asked for")
        np.testing.assert_allclose(found[:4], general.evaluate_splits(masks[:4]), rtol=1e-12)

        @each_isa
        def the_same(isa: str, model: Any = model, given: Any = given, found: Any = found) -> None:
            other = compile(model, X, y, cv=3, n_jobs=2, **given)
            np.testing.assert_array_equal(other.evaluate_splits(masks), found)

        the_same()
        near = Masks.neighbors(masks[0], 40)
        again: Any = compile(model, X, y, cv=3, n_jobs=2, **given)
        np.testing.assert_array_equal(
            again.evaluate_splits(near), _each_alone(fitness, near.to_bool())
        )


def test_moments_that_are_kept_are_those_of_a_mask_alone(isa: str) -> None:
    """A neighborhood keeps the moments of all features; masks after it have the bits of before."""
    for n_classes, cv, scaler in [(2, 5, None), (3, 4, None), (3, 5, StandardScaler())]:
        X, y = _table(61, 37, n_classes, seed=n_classes)
        model = GaussianNB() if scaler is None else make_pipeline(scaler, GaussianNB())
        masks = _masks(37, 6, seed=3)
        for given in ({}, {"sample_weight": np.arange(61) % 3 / 2 + 0.5}):
            kept = compile(model, X, y, cv=cv, n_jobs=1, **given)
            near = Masks.neighbors(masks[0], 37)
            scores = kept.evaluate_splits(near)
            for mask in masks:
                new = compile(model, X, y, cv=cv, n_jobs=1, **given)
                for after, before in zip(
                    _outputs(kept, mask[None]), _outputs(new, mask[None]), strict=True
                ):
                    np.testing.assert_array_equal(after, before)
            for mask, score in zip(near.to_bool(), scores, strict=True):
                new = compile(model, X, y, cv=cv, n_jobs=1, **given)
                np.testing.assert_array_equal(new.evaluate_splits(mask[None])[0], score)


@each("n_classes", [2, 3])
def test_hits_of_a_neighborhood_are_those_of_its_classes(n_classes: int) -> None:
    """Accuracy is counted while classes are told; a confusion is made of classes that are kept."""
    X, y = _table(61, 37, n_classes, seed=7)
    near = Masks.neighbors(_masks(37, 1, seed=4)[0], 37)

    @each_isa
    def the_same(isa: str) -> None:
        for model in (GaussianNB(), BernoulliNB(), MultinomialNB(), NearestCentroid()):
            values = np.abs(X).round(1) if isinstance(model, MultinomialNB) else X
            scores = [
                compile(model, values, y, cv=5, n_jobs=1, scoring=scoring).evaluate_splits(near)
                for scoring in ("accuracy", make_scorer(f1_score, average="micro"))
            ]
            np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12)

    the_same()
