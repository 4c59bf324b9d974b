"""Naive Bayes of bits, counts and categories against scikit-learn, twins, itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin_discrete_bayes as twin
from sklearn.base import clone
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB

from bitsieve import Masks
from bitsieve.fitness import GeneralFitness, compile
from bitsieve.fitness.discrete_bayes import BernoulliFitness

MODELS = [
    BernoulliNB(),
    BernoulliNB(alpha=0.1, binarize=0.7, fit_prior=False),
    BernoulliNB(binarize=1, class_prior=[0.2, 0.5, 0.3]),
    MultinomialNB(),
    MultinomialNB(alpha=0.01, fit_prior=False),
    MultinomialNB(alpha=0, force_alpha=False, class_prior=[2, 5, 3]),
    ComplementNB(),
    ComplementNB(alpha=0.01),
    ComplementNB(class_prior=[0.2, 0.5, 0.3]),
    CategoricalNB(min_categories=7),
    CategoricalNB(alpha=0.3, min_categories=9, fit_prior=False),
    CategoricalNB(class_prior=[0.2, 0.5, 0.3], min_categories=40),
]
ONE_OF_EACH = [MODELS[1], MODELS[4], MODELS[7], MODELS[10]]
SCORERS = (None, "neg_log_loss", "roc_auc_ovr", "f1_macro")


def _counts(n: int, p: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Counts of 0 to 6, more of them in some classes, and some columns of a single value."""
    rng = np.random.default_rng([n, p, seed])
    y = rng.permutation(np.arange(n) % n_classes)
    rate = rng.lognormal(size=p) * np.where(rng.random((n_classes, p)) < 0.2, 1.6, 1.0)[y]
    X = np.minimum(rng.poisson(rate), 6).astype(np.float64)
    X[:, ::13] = 1.0
    return X, y


def _table(model: Any, n: int, p: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Counts; for the models that take them no whole numbers, so that nothing ties."""
    X, y = _counts(n, p, n_classes, seed)
    if isinstance(model, MultinomialNB | ComplementNB):
        X = X * np.random.default_rng(seed).lognormal(sigma=0.1, size=X.shape)
    return X, y


def _masks(p: int, m: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    masks = rng.random((m, p)) < rng.uniform(0.05, 0.95, (m, 1))
    masks[~masks.any(axis=1), 0] = True
    masks[0], masks[1] = False, True
    return masks


def _assert_predicts_as_the_twin(
    fitness: Any, masks: Any, weights: Any = None, max_tied: float = 0.1
) -> None:
    """Probabilities to rounding; the class but where two differ by less than that."""
    model, table = fitness.problem.options.estimator, fitness.table
    words, n_tied = Masks.from_bool(masks).words, 0
    classes, values = fitness._core.outputs(words, np.zeros(len(masks), np.uint64), 2)
    for m, mask in enumerate(masks):
        parts = [
            twin.joint(model, table.X[:, mask], table.codes, split, weights)
            for split in fitness.splits()
        ]
        joint = np.concatenate(parts)
        ranked = np.sort(joint, axis=1)
        scale = np.abs(joint[np.isfinite(joint)]).max()
        clear = ranked[:, -1] - ranked[:, -2] > 1e-11 * scale
        n_tied += int((~clear).sum())
        np.testing.assert_array_equal(classes[m][clear], joint.argmax(axis=1)[clear])
        shares = np.exp(joint - ranked[:, -1:])
        shares /= shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(values[m], shares, rtol=1e-9 * max(1, scale), atol=1e-12)
    assert n_tied <= max_tied * classes.size


def _bits(values: Any) -> Any:
    return np.ascontiguousarray(values).view(np.uint64)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_it_is_scikit_learns(model: Any, one_blas_thread: None) -> None:
    X, y = _table(model, 75, 40, 3)
    masks = _masks(40, 10)[1:]
    for k, scoring in enumerate(SCORERS):
        data = X.astype(np.float32) if k == 1 else X
        if isinstance(model, BernoulliNB | CategoricalNB) and k != 1:
            continue  # what is counted ties: classes below, up to ties
        fitness = compile(model, data, y, cv=4, scoring=scoring, n_jobs=1)
        assert fitness.kernel == "discrete_bayes"
        expected = [
            cross_val_score(model, data[:, mask], y, cv=4, scoring=scoring) for mask in masks
        ]
        np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9)
    _assert_predicts_as_the_twin(compile(model, X, y, cv=4, n_jobs=1), masks)


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_splits_of_any_kind(model: Any, isa: str) -> None:
    X, y = _table(model, 47, 30, 3, seed=1)
    masks = _masks(30, 8, seed=1)[1:]
    lacking = [(np.flatnonzero(y != c), np.flatnonzero(y == c)) for c in range(3)]
    one = [(np.flatnonzero(y == 1), np.flatnonzero(y != 1))]
    weights = np.random.default_rng(0).uniform(0.1, 3.0, 47)
    weights[::7] = 0.0
    for cv in (
        ShuffleSplit(5, test_size=0.3, random_state=0),
        RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0),
        LeaveOneOut(),
        lacking,
        one,
    ):
        if cv is one and isinstance(model, BernoulliNB):
            model = BernoulliNB(binarize=0.7)
        for sample_weight in (None, weights):
            fitness = compile(model, X, y, cv=cv, n_jobs=1, sample_weight=sample_weight)
            assert fitness.kernel == "discrete_bayes"
            _assert_predicts_as_the_twin(fitness, masks, weights=sample_weight)


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_weights_are_those_of_scikit_learn(model: Any, one_blas_thread: None) -> None:
    X, y = _table(model, 60, 20, 3, seed=2)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, 60)
    weights[y == 2] *= 5
    masks = _masks(20, 6, seed=2)
    fitness = compile(model, X, y, cv=3, scoring="neg_log_loss", sample_weight=weights, n_jobs=1)
    general = GeneralFitness(fitness.problem, "asked for")
    found = fitness.evaluate_splits(masks)
    np.testing.assert_allclose(found, general.evaluate_splits(masks), rtol=1e-9)
    # A class that weighs nothing: scikit-learn decides.
    weights[y == 2] = 0
    fitness = compile(model, X, y, cv=3, sample_weight=weights, n_jobs=1)
    general = GeneralFitness(fitness.problem, "asked for")
    np.testing.assert_array_equal(
        fitness.evaluate_splits(masks[1:]), general.evaluate_splits(masks[1:])
    )
    assert fitness.n_declined == len(masks) - 1


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_any_path_ends_in_the_same_bits(model: Any, isa: str) -> None:
    p = 150
    rng = np.random.default_rng(5)
    for seed, make in enumerate((_table, lambda model, *shape: _counts(*shape))):
        X, y = make(model, 50, p, 3, seed)
        masks, seeds = _masks(p, 24, seed), np.arange(24, dtype=np.uint64) % 3
        walk = np.cumsum(rng.random((24, p)) < 0.02, axis=0) % 2 == (masks[2] == 0)
        masks = np.concatenate([masks, walk])
        seeds = np.concatenate([seeds, np.zeros(24, np.uint64)])
        for scoring in ("accuracy", "neg_log_loss"):
            options: dict[str, Any] = {"cv": 4, "n_repeats": 2, "scoring": scoring}
            fitness = compile(model, X, y, n_jobs=1, resample=True, **options)
            expected = fitness.evaluate_splits(masks, seeds)
            order = rng.permutation(len(masks))
            for other in (fitness, compile(model, X, y, n_jobs=2, resample=True, **options)):
                got = other.evaluate_splits(masks[order], seeds[order])
                np.testing.assert_array_equal(_bits(got), _bits(expected[order]))
                alone = [other.evaluate_splits(masks[i], int(seeds[i]))[0] for i in order[:8]]
                np.testing.assert_array_equal(_bits(alone), _bits(expected[order[:8]]))
                for size in (0, 1, 2, 3, p // 2, p):
                    base = np.arange(p) < size
                    near = Masks.neighbors(base, p)
                    np.testing.assert_array_equal(
                        _bits(other.evaluate_splits(near, 1)),
                        _bits(other.evaluate_splits(near.to_bool(), 1)),
                    )


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_batches_of_all_sizes_are_the_twins(model: Any, isa: str) -> None:
    for shape, n_masks in (
        ((40, 97, 2), 1),
        ((41, 130, 5), 33),
        ((64, 17, 3), 64),
        ((210, 9, 70), 9),
    ):
        X, y = _table(model, *shape)
        fitness = compile(model, X, y, cv=3, n_jobs=2)
        masks = _masks(shape[1], n_masks + 2, seed=shape[0])[1:]
        _assert_predicts_as_the_twin(fitness, masks, max_tied=1.0 if shape[2] == 70 else 0.1)
        flips = Masks.neighbors(masks[-1], shape[1])
        score = _accuracy_of_outputs(fitness, flips)
        np.testing.assert_array_equal(fitness.evaluate_splits(flips), score)


def _accuracy_of_outputs(fitness: Any, masks: Masks) -> Any:
    classes = fitness._core.outputs(masks.words, np.zeros(len(masks), np.uint64), 1)[0]
    ends = np.cumsum([len(test) for _, test in fitness.splits()])[:-1]
    out = []
    for row in classes:
        parts = zip(np.split(row, ends), fitness.splits(), strict=True)
        out.append([np.mean(part == fitness.table.codes[test]) for part, (_, test) in parts])
    return out


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_values_far_from_one(model: Any) -> None:
    for scale in (1e30, 1e-25):
        X, y = _table(model, 60, 25, 3, seed=4)
        if isinstance(model, BernoulliNB):
            model = BernoulliNB(alpha=0.1, binarize=0.7 * scale)
        if isinstance(model, CategoricalNB):
            X[X > 0] += 2_000
            model, scale = CategoricalNB(min_categories=3_000), 1.0
        if isinstance(model, ComplementNB):
            model = ComplementNB(alpha=0.1 * scale)
        fitness = compile(model, X * scale, y, cv=3, n_jobs=1)
        assert fitness.kernel == "discrete_bayes"
        masks = _masks(25, 8, seed=4)[1:]
        _assert_predicts_as_the_twin(fitness, masks, max_tied=1.0)
        near = Masks.neighbors(masks[3], 25)
        expected = _accuracy_of_outputs(fitness, near)
        np.testing.assert_array_equal(fitness.evaluate_splits(near), expected)
        np.testing.assert_array_equal(fitness.evaluate_splits(near.to_bool()), expected)


def test_equal_classes_go_to_the_lowest() -> None:
    X = np.repeat([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 4, axis=0)
    y = np.tile([3, 1, 2, 0], 3)  # every class has the same samples
    for model in (BernoulliNB(), MultinomialNB(), ComplementNB(), CategoricalNB()):
        fitness = compile(model, X, y, cv=[(np.arange(8), np.arange(8, 12))], n_jobs=1)
        assert (fitness._core.outputs(Masks.from_bool([[True, True]]).words,
                                      np.zeros(1, np.uint64), 1)[0] == 0).all()  # fmt: skip


def test_bits_of_float32_are_compared_as_numpy_does() -> None:
    X = np.full((30, 2), np.float32(0.1))
    X[::3, 0] = np.nextafter(np.float32(0.1), np.float32(1))
    X[::2, 1] = 0
    y = np.arange(30) % 3 // 2
    for threshold in (0.1, np.float64(0.1), np.float32(0.1)):
        model = BernoulliNB(binarize=threshold)
        fitness = compile(model, X, y, cv=3, scoring="neg_log_loss", n_jobs=1)
        assert isinstance(fitness, BernoulliFitness)
        expected = cross_val_score(model, X, y, cv=3, scoring="neg_log_loss")
        np.testing.assert_allclose(fitness.evaluate_splits([[True, True]])[0], expected, rtol=1e-12)


def test_what_scikit_learn_refuses_it_refuses_of_the_mask_alone() -> None:
    X, y = _counts(40, 6, 2)
    X[3, 2] = -1
    for model in (MultinomialNB(), ComplementNB(), CategoricalNB(min_categories=9)):
        fitness = compile(model, X, y, cv=4, n_jobs=1)
        fine = np.arange(6) != 2
        expected = cross_val_score(model, X[:, fine], y, cv=4)
        np.testing.assert_allclose(fitness.evaluate_splits(fine[None])[0], expected)
        with pytest.raises(ValueError, match="Negative values in data"):
            fitness.evaluate_splits([fine, ~fine])
    X = np.clip(X, 0, 1)
    X[0, 4] = 8  # in one test part, above all that the training part has
    fitness = compile(CategoricalNB(), X, y, cv=4, n_jobs=1)
    fine = np.arange(6) != 4
    expected = cross_val_score(CategoricalNB(), X[:, fine], y, cv=4)
    np.testing.assert_allclose(fitness.evaluate_splits(fine[None])[0], expected)
    with pytest.raises(IndexError):
        fitness.evaluate_splits(fine[None] ^ np.eye(6, dtype=bool)[[4]])
    # A split that does not test it has no trouble, nor have more categories.
    cv = [(np.arange(20), np.arange(20, 40))]  # where the training part has it
    fitness = compile(CategoricalNB(), X, y, cv=cv, n_jobs=1)
    _assert_predicts_as_the_twin(fitness, np.ones((1, 6), bool))
    assert fitness.n_declined == 0
    fitness = compile(CategoricalNB(min_categories=9), X, y, cv=4, n_jobs=1)
    _assert_predicts_as_the_twin(fitness, np.ones((1, 6), bool))
    X[0, 4] = 70_000  # scikit-learn's to answer, with its memory
    fitness = compile(CategoricalNB(min_categories=9), X, y, cv=cv, n_jobs=1)
    expected = cross_val_score(CategoricalNB(), X, y, cv=cv)
    np.testing.assert_allclose(fitness.evaluate_splits(np.ones((1, 6), bool))[0], expected)
    assert fitness.n_declined == 1


def test_what_it_does_not_serve() -> None:
    X, y = _counts(30, 5, 2)
    noise = X + 0.5
    a, each = [1.0] * 5, "alpha for each feature has no kernel"
    refused: list[tuple[Any, Any, dict[str, Any], str]] = [
        (BernoulliNB(alpha=a), X, {}, f"an {each}"),
        (MultinomialNB(alpha=np.array(a)), X, {}, f"an {each}"),
        (MultinomialNB(alpha=0), X, {}, "alpha=0 has no kernel"),
        (CategoricalNB(class_prior=[1.0]), X, {}, "class_prior that is not 2 numbers"),
        (MultinomialNB(class_prior=[0, 1]), X, {}, "class_prior with numbers that are not above 0"),
        (BernoulliNB(binarize=None), noise, {}, "binarize=None has no kernel for values other"),
        (BernoulliNB(alpha=1e-6), X, {}, "alpha=1e-06 beside a weight of 30 has no kernel: it is"),
        (ComplementNB(norm=True), X, {}, "norm=True has no kernel"),
        (ComplementNB(), X * 1e30, {}, "alpha=1 beside totals of"),
        (ComplementNB(alpha=1e-9), noise, {}, "alpha=1e-09 beside totals of"),
        (CategoricalNB(min_categories=[3] * 5), X, {}, "min_categories for each feature has no"),
        (MultinomialNB(), X, {"sample_weight": -np.ones(30)}, "sample_weight that is negative"),
        (MultinomialNB(), X, {"scoring": lambda m, X, y: 0.5}, "a scoring function of your own"),
    ]
    for model, data, options, reason in refused:
        fitness = compile(model, data, y, n_jobs=1, **options)
        assert fitness.kernel is None, model
        assert reason in str(fitness.fallback_reason)
    assert compile(ComplementNB(alpha=1e-9), X, y).kernel == "discrete_bayes"
    assert compile(BernoulliNB(binarize=None), X > 0, y).kernel == "discrete_bayes"
    message = "MultinomialNB trains on at least 2 classes, and split 0 trains on 1; lower cv"
    with pytest.raises(ValueError, match=message):
        compile(
            MultinomialNB(class_prior=[1, 1]),
            X,
            y,
            cv=[(np.flatnonzero(y), np.flatnonzero(y == 0))],
        )


@pytest.mark.parametrize(
    ("name", "models"),
    [
        ("mofn_3_7_10", ONE_OF_EACH),
        ("sonar", [BernoulliNB(binarize=0.2), MultinomialNB()]),
        ("vehicle", [BernoulliNB(binarize=100), MultinomialNB(), ComplementNB()]),
        ("colon_disc", [CategoricalNB(min_categories=5)]),
        *(
            pytest.param(name, models, marks=pytest.mark.slow)
            for name, models in (
                ("pcmac", [MultinomialNB(), ComplementNB(), BernoulliNB()]),
                ("leukemia_disc", [CategoricalNB(min_categories=5)]),
                ("nci9_disc", [CategoricalNB(min_categories=5)]),
            )
        ),
    ],
)
def test_real_data(dataset: Any, name: str, models: Any, one_blas_thread: None) -> None:
    X, y, _ = dataset(name)
    X = X - X.min(axis=0) if name.endswith("_disc") else X
    wide = X.shape[1] > 1000
    masks = _masks(X.shape[1], 4 if wide else 20)[1:]
    for model in models:
        model = clone(model).set_params(alpha=0.37)
        fitness = compile(model, X, y, cv=4, n_jobs=1)
        assert fitness.kernel == "discrete_bayes"
        general = GeneralFitness(fitness.problem, "asked for")
        apart = fitness.evaluate_splits(masks) - general.evaluate_splits(masks)
        # Whole numbers may tie, and then scikit-learn's rounding decides.
        tied = 0 if name in ("sonar", "vehicle") else 2 / len(y)
        assert np.abs(apart).mean() <= tied
        # Complements of a single feature all tie.
        _assert_predicts_as_the_twin(fitness, masks[: 1 if wide else 3], max_tied=0.4)
