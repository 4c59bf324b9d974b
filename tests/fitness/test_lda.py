"""The kernel of linear discriminant analysis against scikit-learn, against a twin, and itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from twin_lda import scores as twin_scores

import bitsieve
from bitsieve import Masks, _core
from bitsieve.fitness import GeneralFitness, compile
from bitsieve.fitness.lda import KERNEL, LdaFitness

LDA = LinearDiscriminantAnalysis
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _needs_fma() -> None:
    if not _core.has_fma():
        pytest.skip("this instruction set has no fused multiply-add")


def _table(n: int, p: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p)) + 0.5 * (y[:, None] == np.arange(p) % n_classes)
    return X, y


def _masks(p: int, m: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    masks = rng.random((m, p)) < rng.uniform(0.1, 0.9, (m, 1))
    masks[~masks.any(axis=1), 0] = True
    return masks


def _outputs(fitness: Any, masks: Any) -> tuple[Any, Any, Any]:
    declined = np.zeros(len(masks), dtype=bool)
    words = Masks.from_bool(masks).words
    classes, values = fitness._core.outputs(words, np.zeros(len(masks), np.uint64), 1, declined)
    return classes, values, declined


def test_decision_values_are_the_twins(isa: str) -> None:
    if not _core.has_fma():
        return
    for seed, (n, p, n_classes) in enumerate([(31, 70, 2), (45, 9, 2), (40, 120, 4), (60, 13, 3)]):
        X, y = _table(n, p, n_classes, seed)
        masks = _masks(p, 6, seed)
        given = np.arange(1.0, n_classes + 1) / np.arange(n_classes + 1).sum()
        for shrinkage, priors in ((0.2, None), (0.01, given), (1.0, None)):
            model = LDA("lsqr", shrinkage=shrinkage, priors=priors)
            scoring = "roc_auc" if n_classes == 2 else "neg_log_loss"
            fitness = compile(model, X, y, cv=3, scoring=scoring, n_jobs=1)
            assert isinstance(fitness, LdaFitness)
            classes, values, declined = _outputs(fitness, masks)
            assert not declined.any()
            for m, mask in enumerate(masks):
                parts = [
                    twin_scores(X[:, mask], y, split, shrinkage=shrinkage, priors=priors)[0]
                    for split in fitness.splits()
                ]
                expected = np.concatenate(parts)
                np.testing.assert_array_equal(classes[m], expected.argmax(axis=1))
                if n_classes == 2:
                    expected = expected[:, 1:] - expected[:, :1]
                else:
                    expected = np.exp(expected - expected.max(axis=1, keepdims=True))
                    expected /= expected.sum(axis=1, keepdims=True)
                atol = 1e-10 * np.abs(expected).max()
                np.testing.assert_allclose(values[m], expected, rtol=0, atol=atol)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_scikit_learns(n_classes: int, one_blas_thread: None) -> None:
    given = np.arange(1.0, n_classes + 1) / np.arange(n_classes + 1).sum()
    wide: list[Any] = [
        LDA("lsqr", shrinkage=0.1),
        LDA("eigen", shrinkage=0.5, priors=given),
        make_pipeline(StandardScaler(), LDA("lsqr", shrinkage=0.3)),
    ]
    narrow: list[Any] = [
        LDA(),
        LDA(priors=given),
        LDA("lsqr"),
        LDA("eigen", priors=given),
        make_pipeline(MinMaxScaler(), LDA()),
    ]
    for p, models in ((110, wide), (11, narrow + wide)):
        X, y = _table(48, p, n_classes, p)
        X = X * np.random.default_rng(p).lognormal(size=p) + 3
        masks = _masks(p, 4)
        for model in models:
            for scoring in ("accuracy", "neg_log_loss", "average_precision"):
                cv = ShuffleSplit(3, test_size=0.3, random_state=0)
                fitness = compile(model, X, y, cv=cv, scoring=scoring, n_jobs=1)
                lsqr = getattr(model, "solver", "svd") != "svd" or hasattr(model, "steps")
                if scoring == "average_precision" and n_classes == 3 and lsqr:
                    continue
                assert fitness.kernel == "lda"
                expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
                np.testing.assert_allclose(
                    fitness.evaluate_splits(masks), expected, rtol=1e-8, atol=1e-10
                )
                assert fitness.n_declined == 0


@pytest.mark.parametrize("name", ["sonar", "vehicle", "segment", "breast_w"])
def test_it_is_scikit_learns_on_real_data(dataset: Any, name: str, one_blas_thread: None) -> None:
    X, y, _ = dataset(name)
    complete = np.isfinite(X).all(axis=1)
    X, y = X[complete], y[complete]
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    X = X + 1e-3 * RNG.normal(size=X.shape)
    masks = _masks(X.shape[1], 50)
    for model in (LDA(), LDA("lsqr", shrinkage=0.1)):
        fitness = compile(model, X, y, cv=3)
        assert fitness.kernel == "lda"
        expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
        np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
        assert fitness.n_declined == 0


def test_a_class_that_a_training_part_lacks_is_never_predicted() -> None:
    X, y = _table(30, 60, 3)
    absent = np.flatnonzero(y == 1)
    others = np.flatnonzero(y != 1)
    splits = [(others[:14], np.r_[others[14:], absent]), (np.r_[others[5:], absent], others[:5])]
    fitness = compile(LDA("lsqr", shrinkage=0.2), X, y, cv=splits, n_jobs=1)
    classes, values, declined = _outputs(fitness, np.ones((1, 60), bool))
    n_first = len(splits[0][1])
    assert not declined.any()
    assert set(classes[0, :n_first]) == {0, 2}
    assert (values[0, :n_first, 1] == 0).all()
    expected, present = twin_scores(X, y, splits[0], shrinkage=0.2)
    np.testing.assert_array_equal(classes[0, :n_first], present[expected.argmax(axis=1)])
    np.testing.assert_allclose(values[0].sum(axis=1), 1)


def test_what_scikit_learn_may_cut_off_is_declined() -> None:
    X, y = _table(40, 30, 2)
    X[:, 1] = X[:, 0]  # a copy
    X[:, 2] = 0.1  # a constant
    X[:, 3] = X[:, 4] + 1e-6 * RNG.normal(size=40)  # nearly one
    masks = np.zeros((6, 30), bool)
    for row, features in enumerate([[0, 5], [0, 1, 5], [2, 5], [3, 4], [3, 5], range(28)]):
        masks[row, features] = True
    for model in (LDA(), LDA("lsqr")):
        fitness = compile(model, X, y, cv=3, n_jobs=1)
        _, _, declined = _outputs(fitness, masks)
        np.testing.assert_array_equal(declined, [False, True, True, True, False, True])
        fitness.evaluate(masks)
        assert fitness.n_declined == 4
    # Three class means that lie nearly on a line.
    n_each = 400
    near = np.repeat([[0.0, 0.0], [1.0, 1e-5], [2.0, 0.0]], n_each, axis=0)
    noise = RNG.normal(size=(n_each, 2))
    noise -= noise.mean(axis=0)
    X, y = near + np.tile(noise, (3, 1)), np.repeat(np.arange(3), n_each)
    splits = [(np.arange(3 * n_each - 1), np.array([3 * n_each - 1]))]
    fitness = compile(LDA(tol=0.05), X, y, cv=splits, n_jobs=1)
    assert _outputs(fitness, np.ones((1, 2), bool))[2].all()
    fitness = compile(LDA(), X + 0.3 * (y[:, None] == 1), y, cv=splits, n_jobs=1)
    assert not _outputs(fitness, np.ones((1, 2), bool))[2].any()


def test_what_it_does_not_serve() -> None:
    X, y = _table(30, 5, 3)
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (LDA("lsqr", shrinkage="auto"), {}, "shrinkage='auto' has no kernel"),
        (LDA("lsqr", shrinkage=1e-9), {}, "shrinkage below 1e-06 has no kernel"),
        (LDA(n_components=1), {}, "n_components=1 has no kernel"),
        (LDA(priors=[0.5, 0.5, 0.1]), {}, "priors that are not positive or do not sum to 1"),
        (LDA(priors=[0.5, 0.5]), {}, "priors that are not 3 numbers have no kernel"),
        (
            LDA("lsqr", covariance_estimator=LDA()),
            {},
            "a covariance_estimator has no kernel",
        ),
        (LDA("lsqr"), {"scoring": "average_precision"}, "'average_precision' asks for decision_"),
    ]
    for model, options, reason in refused:
        fitness = compile(model, X, y, n_jobs=1, **options)
        assert fitness.kernel is None
        assert str(KERNEL.refusal(fitness.problem)).startswith(reason)
    fitness = compile(LDA(), X.astype(np.float32), y, n_jobs=1)
    assert "values in float32 have no kernel" in str(fitness.fallback_reason)
    if "baseline" in bitsieve.available_isas():
        before = bitsieve.get_isa()
        bitsieve.set_isa("baseline")
        has_fma = _core.has_fma()
        reason = str(compile(LDA(), X, y, n_jobs=1).fallback_reason)
        bitsieve.set_isa(before)
        assert has_fma or "no fused multiply-add, which the kernel needs" in reason


def test_the_first_declined_mask_is_said(caplog: pytest.LogCaptureFixture) -> None:
    X, y = _table(30, 60, 3)
    fitness = compile(LDA(), X, y, cv=3)
    with caplog.at_level("INFO", logger="bitsieve"):
        fitness.evaluate(np.arange(60) < np.array([[5], [6]]))
        assert not caplog.records  # small enough to be solved
        for _ in range(2):
            fitness.evaluate(np.ones((1, 60), bool))
    (record,) = caplog.records
    assert record.getMessage() == (
        "scikit-learn evaluates some masks (LinearDiscriminantAnalysis: kernel 'lda' declines them)"
    )
    assert fitness.n_declined == 2
