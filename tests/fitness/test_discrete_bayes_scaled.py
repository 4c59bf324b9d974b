"""Naive Bayes of bits and counts behind a scaler, against scikit-learn, twins, itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin_discrete_bayes as twin
from sklearn.base import clone
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from bitsieve import Masks, _core
from bitsieve.data.feature_major import make_feature_major
from bitsieve.fitness import GeneralFitness, compile
from bitsieve.fitness.pipelines import scaler_options

BITS = [
    make_pipeline(scaler, model)
    for scaler in (
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler(),
        MinMaxScaler((-1, 3)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(quantile_range=(10, 60), unit_variance=True),
        RobustScaler(with_centering=False),
    )
    for model in (BernoulliNB(), BernoulliNB(alpha=0.1, binarize=0.3, fit_prior=False))
]
COUNTS = [
    make_pipeline(scaler, model)
    for scaler, model in (
        (MinMaxScaler(), MultinomialNB()),
        (MinMaxScaler((0, 7)), MultinomialNB(alpha=0.01, fit_prior=False)),
        (MinMaxScaler(), ComplementNB()),
        (MinMaxScaler((0, 0.1)), ComplementNB(alpha=0.1)),
        (MaxAbsScaler(), MultinomialNB(class_prior=[0.2, 0.5, 0.3])),
        (MaxAbsScaler(), ComplementNB(alpha=0.01)),
        (StandardScaler(with_mean=False), MultinomialNB()),
        (StandardScaler(with_mean=False, with_std=False), MultinomialNB()),
        (RobustScaler(with_centering=False), MultinomialNB()),
    )
]
ONE_OF_EACH = [BITS[0], BITS[7], COUNTS[0], COUNTS[3], COUNTS[4]]


def _id(pipeline: Pipeline) -> str:
    return " ".join(str(step) for _, step in pipeline.steps)


def _model(pipeline: Pipeline) -> Any:
    return pipeline.steps[-1][1]


def _table(pipeline: Pipeline, n: int, p: int, seed: int = 0, n_classes: int = 3) -> Any:
    """Features of all scales, offsets and skews, some constant in all samples or all but one."""
    rng = np.random.default_rng([n, p, seed])
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p)) + 0.7 * (y[:, None] == np.arange(p) % n_classes)
    X[:, 1::3] = np.exp(X[:, 1::3])
    X[:, 0] = X[:, p // 2] = 0.1
    X[n // 2, p // 2] = -4000.0  # far below the rest, which is a constant: behind a range -4000.1
    X = (X + rng.uniform(-20, 20, p)) * 10.0 ** rng.uniform(-3, 3, p)
    scaler, model = (step for _, step in pipeline.steps)
    if not isinstance(model, BernoulliNB) and not isinstance(scaler, MinMaxScaler):
        X = np.abs(X)
    return X, y


def _masks(p: int, m: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    masks = rng.random((m, p)) < rng.uniform(0.2, 0.9, (m, 1))
    masks[~masks.any(axis=1), 0] = True
    masks[0] = True
    return masks


def _assert_predicts_as_the_twin(fitness: Any, masks: Any, weights: Any = None) -> None:
    """Probabilities to rounding; the class but where two differ by less than that."""
    words, n_tied = Masks.from_bool(masks).words, 0
    model, table = fitness.problem.options.estimator, fitness.table
    declined = np.zeros(len(masks), bool)
    seeds = np.zeros(len(masks), np.uint64)
    classes, values = fitness._core.outputs(words, seeds, 2, declined)
    assert not declined.any()
    for m, mask in enumerate(masks):
        parts = [
            twin.joint(model, table.X[:, mask], table.codes, split, weights)
            for split in fitness.splits()
        ]
        joint = np.concatenate(parts)
        ranked = np.sort(joint, axis=1)
        scale = np.abs(np.where(np.isfinite(joint), joint, 0)).max(axis=1)
        clear = ranked[:, -1] - ranked[:, -2] > 1e-11 * scale
        n_tied += int((~clear).sum())
        np.testing.assert_array_equal(classes[m][clear], joint.argmax(axis=1)[clear])
        shares = np.exp(joint - ranked[:, -1:])
        shares /= shares.sum(axis=1, keepdims=True)
        rough = scale > 1e4  # samples far away: rounding of the twin
        np.testing.assert_allclose(values[m][~rough], shares[~rough], rtol=1e-9, atol=1e-12)
    assert n_tied <= 0.1 * classes.size


@pytest.mark.parametrize("pipeline", [*BITS, *COUNTS], ids=_id)
def test_it_is_scikit_learns(pipeline: Pipeline, one_blas_thread: None) -> None:
    for n, p, cv in (
        (52, 24, StratifiedKFold(4)),
        (40, 60, StratifiedShuffleSplit(2, random_state=0, test_size=0.3)),
    ):
        X, y = _table(pipeline, n, p)
        masks, splits = _masks(p, 4), list(cv.split(X, y))
        for scoring in ("neg_log_loss", "f1_macro"):
            if scoring == "f1_macro" and isinstance(_model(pipeline), BernoulliNB):
                continue  # bits tie: classes below, up to ties
            fitness = compile(pipeline, X, y, cv=splits, scoring=scoring, n_jobs=1)
            assert fitness.kernel == "discrete_bayes", fitness.fallback_reason
            expected = [
                cross_val_score(pipeline, X[:, mask], y, cv=splits, scoring=scoring)
                for mask in masks
            ]
            np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9)


@pytest.mark.parametrize("pipeline", ONE_OF_EACH, ids=_id)
def test_splits_of_any_kind(pipeline: Pipeline, isa: str) -> None:
    X, y = _table(pipeline, 47, 30, seed=1)
    masks = _masks(30, 6, seed=1)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, 47)
    weights[::7] = 0.0
    shuffled = StratifiedShuffleSplit(5, train_size=0.5, test_size=0.3, random_state=0).split(X, y)
    for cv in (
        [(np.sort(train), test) for train, test in shuffled],
        RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0),
        LeaveOneOut(),
        [(np.flatnonzero(y != c), np.flatnonzero(y == c)) for c in range(3)],
    ):
        if isinstance(cv, list) and len(cv) == 3 and _model(pipeline).class_prior is not None:
            continue  # each lacks a class
        for sample_weight in (None, weights):
            fitness = compile(pipeline, X, y, cv=cv, n_jobs=1, sample_weight=sample_weight)
            assert fitness.kernel == "discrete_bayes"
            _assert_predicts_as_the_twin(fitness, masks, weights=sample_weight)


@pytest.mark.parametrize("pipeline", ONE_OF_EACH, ids=_id)
def test_weights_are_the_models_alone(pipeline: Pipeline, one_blas_thread: None) -> None:
    X, y = _table(pipeline, 60, 20, seed=2)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, 60)
    weights[y == 2] *= 5
    options: dict[str, Any] = {"cv": 3, "scoring": "neg_log_loss", "n_jobs": 1}
    fitness = compile(pipeline, X, y, sample_weight=weights, **options)
    assert fitness.kernel == "discrete_bayes"
    masks = _masks(20, 6, seed=2)
    found = fitness.evaluate_splits(masks)
    general = GeneralFitness(fitness.problem, "asked for")
    np.testing.assert_allclose(found, general.evaluate_splits(masks), rtol=1e-9)
    assert np.abs(found - compile(pipeline, X, y, **options).evaluate_splits(masks)).max() > 1e-3


@pytest.mark.parametrize("pipeline", ONE_OF_EACH, ids=_id)
def test_any_path_ends_in_the_same_bits(pipeline: Pipeline, isa: str) -> None:
    p = 150
    rng = np.random.default_rng(5)
    X, y = _table(pipeline, 50, p)
    if pipeline is BITS[0]:  # by themselves constants are declined
        X[:, [0, p // 2]] = X[:, [1, 2]]
    masks, seeds = _masks(p, 24), np.arange(24, dtype=np.uint64) % 3
    walk = np.cumsum(rng.random((24, p)) < 0.02, axis=0) % 2 == (masks[2] == 0)
    masks = np.concatenate([masks, walk])
    seeds = np.concatenate([seeds, np.zeros(24, np.uint64)])
    for scoring in ("accuracy", "neg_log_loss"):
        options: dict[str, Any] = {"cv": 4, "n_repeats": 2, "scoring": scoring, "resample": True}
        fitness = compile(pipeline, X, y, n_jobs=1, **options)
        expected = fitness.evaluate_splits(masks, seeds)
        assert fitness.n_declined == 0
        order = rng.permutation(len(masks))
        for other in (fitness, compile(pipeline, X, y, n_jobs=2, **options)):
            got = other.evaluate_splits(masks[order], seeds[order])
            np.testing.assert_array_equal(got, expected[order])
            alone = [other.evaluate_splits(masks[i], int(seeds[i]))[0] for i in order[:8]]
            np.testing.assert_array_equal(alone, expected[order[:8]])
            for size in (0, 1, 2, 3, p // 2, p):
                near = Masks.neighbors(np.arange(p) < size, p)
                np.testing.assert_array_equal(
                    other.evaluate_splits(near, 1), other.evaluate_splits(near.to_bool(), 1)
                )


@pytest.mark.parametrize("pipeline", ONE_OF_EACH, ids=_id)
def test_batches_and_neighborhoods_are_the_twins(pipeline: Pipeline, isa: str) -> None:
    """What float32 sums decide, of samples far below a range too."""
    for n, p, n_masks in ((40, 97, 1), (41, 130, 33), (64, 17, 64)):
        X, y = _table(pipeline, n, p)
        fitness = compile(pipeline, X, y, cv=3, n_jobs=2)
        masks = _masks(p, n_masks + 2, seed=n)
        _assert_predicts_as_the_twin(fitness, masks[:20])
        score = _accuracy_of_outputs(fitness, Masks.from_bool(masks))
        np.testing.assert_array_equal(fitness.evaluate_splits(masks), score)
        near = Masks.neighbors(masks[-1], p)
        score = _accuracy_of_outputs(fitness, near)
        np.testing.assert_array_equal(fitness.evaluate_splits(near), score)


def _accuracy_of_outputs(fitness: Any, masks: Masks) -> Any:
    classes = fitness._core.outputs(masks.words, np.zeros(len(masks), np.uint64), 1)[0]
    codes, out = fitness.table.codes, []
    ends = np.cumsum([len(test) for _, test in fitness.splits()])[:-1]
    for row in classes:
        parts = zip(np.split(row, ends), fitness.splits(), strict=True)
        out.append([np.mean(part == codes[test]) for part, (_, test) in parts])
    return out


def test_samples_below_a_range_leave_nothing_open() -> None:
    """Their bound is close: nearly all that tables sum in float32 is decided there."""
    pipeline = make_pipeline(MinMaxScaler(), MultinomialNB())
    X, y = _table(pipeline, 60, 300)
    X[:, 150] = X[:, 149]
    fitness = compile(pipeline, X, y, cv=5, n_jobs=1)
    fitness.evaluate(_masks(300, 64))
    counters = fitness._core.counters()
    assert counters["tabled_masks"] == 64
    assert counters["open_splits"] < 64


def test_bits_at_the_threshold_are_scikit_learns(one_blas_thread: None) -> None:
    """Values that rounding alone puts above the threshold or not."""
    rng = np.random.default_rng(0)
    n, p = 36, 8
    y = np.arange(n) % 2
    X = np.round(rng.normal(size=(n, p)), 1)
    X[:, 0] = 0.1
    X[::2, 1] = -X[1::2, 1]
    for cv in (
        StratifiedKFold(3),
        StratifiedShuffleSplit(4, train_size=20, test_size=9, random_state=0),
    ):
        splits = list(cv.split(X, y))
        for scaler, threshold in (
            (StandardScaler(), 0.0),
            (StandardScaler(), 1.0),
            (StandardScaler(with_std=False), 0.2),
            (MinMaxScaler((0.1, 0.7)), 0.1),
            (RobustScaler(), 0.5),
        ):
            estimator = make_pipeline(scaler, BernoulliNB(binarize=threshold))
            fitness = compile(estimator, X, y, cv=splits, scoring="neg_log_loss", n_jobs=1)
            assert fitness.kernel == "discrete_bayes"
            masks = np.concatenate([_masks(p, 3)[1:], np.eye(p, dtype=bool)[:2]])
            expected = [
                cross_val_score(estimator, X[:, mask], y, cv=splits, scoring="neg_log_loss")
                for mask in masks
            ]
            np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9)
            if isinstance(cv, StratifiedKFold):
                near = Masks.neighbors(masks[-1], p)
                each = fitness.evaluate_splits(near.to_bool())
                np.testing.assert_array_equal(fitness.evaluate_splits(near), each)
            if not isinstance(scaler, StandardScaler):
                assert fitness.n_declined == 0


def test_sides_of_a_threshold_one_rounding_apart() -> None:
    """Bits of values next to the threshold, on a table of two samples to train on and the rest."""
    rng = np.random.default_rng(0)
    for scaler, threshold in (
        (StandardScaler(), 0.3),
        (MinMaxScaler((-0.7, 2.1)), 0.3),
        (MaxAbsScaler(), 0.7),
        (RobustScaler(), 0.3),
        (RobustScaler(), np.inf),
    ):
        X = np.zeros((42, 2))
        X[:2] = rng.normal(size=(2, 2)) + np.array([0.0, 1e6])
        fitted = clone(scaler).fit(X[:2])
        first = fitted.inverse_transform([[min(threshold, 9.0)] * 2])
        X[2:] = first + np.spacing(first) * np.arange(-20, 20)[:, None]
        z = fitted.transform(X)[2:]
        core = _core.BernoulliFitness(
            _table_of(X),
            target=(np.arange(42) % 2).astype(np.int32),
            n_classes=2,
            n_repeats=0,
            n_folds=0,
            stratified=False,
            alpha=1.0,
            fit_prior=False,
            log_prior=np.zeros(0),
            threshold=threshold,
            scaler=scaler_options(scaler),
        )
        core.set_splits(np.arange(2), np.array([0, 2]), np.arange(2, 42), np.array([0, 40]))
        words = Masks.from_bool(np.ones((1, 2), bool)).words
        values = core.outputs(words, np.zeros(1, np.uint64), 1, np.zeros(1, bool))[1][0]
        # The training samples differ in both bits or in one, so that each bit moves the shares.
        trained = fitted.transform(X[:2]) > threshold
        share = np.where(trained, 2 / 3, 1 / 3)[:, None]
        bits = z > threshold
        joint = np.where(bits, share, 1 - share).prod(axis=2)
        np.testing.assert_allclose(values, (joint / joint.sum(axis=0)).T, rtol=1e-12)
        if np.isfinite(threshold):
            assert (bits != bits[0]).any()


def _table_of(X: Any) -> Any:
    copy = make_feature_major(X)
    return _core.Table(copy.features, n_samples=len(X), X=X, max_abs=copy.max_abs, exact=False)


def test_masks_with_negative_values_are_scikit_learns_to_refuse() -> None:
    for scaler, model in ((MaxAbsScaler(), ComplementNB()), (MaxAbsScaler(), MultinomialNB())):
        pipeline = make_pipeline(scaler, model)
        X, y = _table(pipeline, 40, 6)
        X[3, 2] = -1
        fitness = compile(pipeline, X, y, cv=4, n_jobs=1)
        fine = np.arange(6) != 2
        expected = cross_val_score(pipeline, X[:, fine], y, cv=4)
        np.testing.assert_allclose(fitness.evaluate_splits(fine[None])[0], expected)
        with pytest.raises(ValueError, match="Negative values in data"):
            fitness.evaluate_splits([fine, ~fine])


def test_what_it_does_not_serve() -> None:
    X, y = _table(COUNTS[4], 30, 5)
    refused: list[tuple[Any, Any, Any, str]] = [
        (MinMaxScaler(), CategoricalNB(), X, "a scaler before CategoricalNB has no kernel"),
        (MinMaxScaler(), BernoulliNB(binarize=None), X, "binarize=None behind a scaler has no"),
        (MinMaxScaler((0, 1e31)), BernoulliNB(), X, "feature_range=(0, 1e+31) has no kernel"),
        (MinMaxScaler((1, 2)), MultinomialNB(), X, "feature_range=(1, 2) before MultinomialNB has"),
        (
            StandardScaler(),
            MultinomialNB(),
            X,
            "StandardScaler before MultinomialNB has no",
        ),
        (RobustScaler(), ComplementNB(), X, "RobustScaler before ComplementNB has no kernel: it"),
        (StandardScaler(with_mean=False), ComplementNB(), X, "StandardScaler before ComplementNB"),
        (MinMaxScaler(), ComplementNB(alpha=1e-7), X, "alpha=1e-07 beside totals of 30 has no"),
        (StandardScaler(), BernoulliNB(), X.astype(np.float32), "values in float32 have no kernel"),
        (MaxAbsScaler(), MultinomialNB(), X.astype(np.float32), "values in float32 have no kernel"),
    ]
    for scaler, model, data, reason in refused:
        fitness = compile(make_pipeline(scaler, model), data, y, n_jobs=1)
        assert fitness.kernel is None, model
        assert reason in str(fitness.fallback_reason)


@pytest.mark.parametrize(
    "name",
    [
        "sonar",
        "vehicle",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("khan", "pcmac")),
    ],
)
def test_real_data(dataset: Any, name: str, one_blas_thread: None) -> None:
    X, y, _ = dataset(name)
    X = X.astype(np.float64)
    y = np.unique(y, return_inverse=True)[1]
    masks = _masks(X.shape[1], 3)
    pipelines = [BITS[0], BITS[13], COUNTS[0], COUNTS[2]]
    for pipeline in pipelines[2:] if name == "pcmac" else pipelines:
        for scoring in ("neg_log_loss", "accuracy"):
            if scoring == "accuracy" and isinstance(_model(pipeline), BernoulliNB):
                continue
            if scoring == "neg_log_loss" and name == "pcmac":
                continue  # of shares near 1 what is left of 1 is scikit-learn's rounding
            fitness = compile(pipeline, X, y, cv=4, scoring=scoring, n_jobs=1)
            assert fitness.kernel == "discrete_bayes"
            expected = [
                cross_val_score(pipeline, X[:, mask], y, cv=4, scoring=scoring) for mask in masks
            ]
            np.testing.assert_allclose(
                fitness.evaluate_splits(masks), expected, rtol=1e-9, atol=1e-13
            )
