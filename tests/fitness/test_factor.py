"""scikit-learn on a factor of each mask's Gram matrix, against scikit-learn on the columns."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.base import is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from threadpoolctl import threadpool_info

from bitsieve import KernelRidgeClassifier
from bitsieve.fitness import compile, kernels, registry
from bitsieve.fitness.factor import FactorFitness
from bitsieve.fitness.views import factor
from bitsieve.testing._contract import global_generators_untouched

N, P = 31, 240
SPLITS = [*KFold(3, shuffle=True, random_state=0).split(np.zeros(N))]
LINEAR = {"kernel": "linear"}

CLASSIFIERS = (
    SVC(**LINEAR),
    SVC(),
    SVC(gamma="auto", class_weight="balanced"),
    SVC(kernel="poly", degree=2, coef0=0.5, decision_function_shape="ovo"),
    SVC(kernel="sigmoid", gamma=1e-4, break_ties=True),
    SVC(**LINEAR, C=0.01, shrinking=False),
    NuSVC(nu=0.4),
    LinearSVC(random_state=0),
    LinearSVC(random_state=np.random.RandomState(3), loss="hinge", C=1e-3),
    LinearSVC(random_state=0, dual=False, tol=1e-8),
    LinearSVC(random_state=0, multi_class="crammer_singer", fit_intercept=False, C=1e-2),
    RidgeClassifier(),
    RidgeClassifier(class_weight="balanced", fit_intercept=False, solver="svd"),
    KernelRidgeClassifier(kernel="sigmoid", gamma=1e-4, class_weight="balanced"),
    LogisticRegression(tol=1e-9, max_iter=10_000),
    LogisticRegression(solver="newton-cholesky", tol=1e-9, C=0.1),
)
REGRESSORS = (
    Ridge(),
    Ridge(alpha=0.1, solver="lsqr", tol=1e-12),
    Ridge(alpha=10.0, fit_intercept=False, solver="cholesky"),
    KernelRidge(),
    KernelRidge(kernel="rbf"),
    KernelRidge(kernel="poly", degree=2, alpha=3.0),
    KernelRidge(kernel="cosine", alpha=0.1),
    SVR(**LINEAR, tol=1e-9),
    SVR(C=3.0, epsilon=0.01, tol=1e-9),
    NuSVR(C=2.0, tol=1e-9),
    LinearSVR(random_state=0),
    LinearSVR(random_state=0, loss="squared_epsilon_insensitive", epsilon=0.2),
)


@pytest.fixture(autouse=True)
def only_the_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimators that have a kernel of their own are served by it first."""
    monkeypatch.setattr(registry, "_BUILT_IN", ("bitsieve.fitness.factor",))


def _table(kind: str, seed: int = 0) -> tuple[Any, Any, Any]:
    """Values, three classes, numbers."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % 3)
    X = rng.normal(size=(N, P)) * rng.lognormal(sigma=0.5, size=P)
    X[:, :20] += 0.7 * y[:, None]
    if kind == "expression":
        X = X + rng.uniform(0, 4, P)
    elif kind == "copies":  # of samples: the Gram matrix is singular
        X[N // 2 :] = X[: N - N // 2]
    elif kind == "z-scored":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    elif kind == "float32":
        X = X.astype(np.float32)
    return X, np.array(["a", "b", "c"])[y], X[:, :4].sum(axis=1) + rng.normal(size=N)


def _masks(seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    masks = rng.random((4, P)) < np.array([[0.5], [0.9], [0.1], [0.5]])
    masks[-1] = False
    return masks


def _expected(estimator: Any, X: Any, y: Any, masks: Any, **options: Any) -> Any:
    dummy = DummyClassifier() if y.dtype.kind == "U" else DummyRegressor()
    return np.array(
        [
            cross_val_score(
                estimator if mask.any() else dummy,
                X[:, mask].astype(np.float64) if mask.any() else X[:, :1],
                y,
                **{"cv": SPLITS, "error_score": "raise"} | options,
            )
            for mask in masks
        ]
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("one_blas_thread")
@pytest.mark.parametrize(
    "kind",
    [
        "expression",
        "copies",
        pytest.param("plain", marks=pytest.mark.slow),
        pytest.param("z-scored", marks=pytest.mark.slow),
        pytest.param("float32", marks=pytest.mark.slow),
    ],
)
def test_it_is_scikit_learns(kind: str) -> None:
    X, classes, numbers = _table(kind)
    masks = _masks()
    for estimator in (*CLASSIFIERS, *REGRESSORS):
        y = classes if estimator in CLASSIFIERS else numbers
        fitness = compile(estimator, X, y, cv=SPLITS, n_jobs=1)
        assert fitness.kernel == "factor", (estimator, fitness.fallback_reason)
        np.testing.assert_allclose(
            fitness.evaluate_splits(masks),
            _expected(estimator, X, y, masks),
            rtol=1e-6,
            atol=1e-7,
            err_msg=repr(estimator),
        )


@pytest.mark.usefixtures("one_blas_thread")
def test_scores_weights_and_other_splits() -> None:
    X, y, numbers = _table("expression")
    masks, weights = _masks(), np.random.default_rng(5).uniform(0.1, 3.0, N)
    two = np.where(y == "a", "a", "b")
    for estimator, target, scoring in (
        (SVC(), two, "roc_auc"),
        (SVC(**LINEAR), y, "f1_macro"),
        (LogisticRegression(solver="liblinear"), two, "neg_log_loss"),
        (LinearSVC(random_state=1), two, make_scorer(get_scorer("f1")._score_func, pos_label="a")),
        (SVR(tol=1e-9), numbers, "neg_mean_absolute_error"),
        (Ridge(), numbers, "neg_max_error"),
    ):
        for options in ({}, {"sample_weight": weights}):
            cv = ShuffleSplit(3, test_size=0.4, random_state=0)
            fitness = compile(estimator, X, target, cv=cv, scoring=scoring, n_jobs=1, **options)
            assert fitness.kernel == "factor"
            params = {"params": options} if options else {}
            expected = _expected(estimator, X, target, masks[:3], cv=cv, scoring=scoring, **params)
            np.testing.assert_allclose(
                fitness.evaluate_splits(masks[:3]), expected, rtol=1e-6, atol=1e-9
            )


def test_a_score_that_fails_says_so() -> None:
    X, y, _ = _table("plain")

    def picky(truth: Any, predicted: Any) -> float:
        raise RuntimeError("not today")

    fitness = compile(SVC(), X, y, scoring=make_scorer(picky), n_jobs=1)
    assert fitness.kernel == "factor"
    with pytest.raises(RuntimeError, match="not today"):
        fitness.evaluate(_masks())


def test_what_scikit_learn_takes_from_a_shape_is_that_of_the_columns() -> None:
    """Values far from zero: the variance, means and sums lose nothing."""
    X, y, numbers = _table("plain")
    far = X + 1e6
    masks = _masks()[:2]
    for estimator, target in ((SVC(), y), (SVR(C=2.0, tol=1e-9), numbers), (Ridge(), numbers)):
        got = compile(estimator, far, target, cv=SPLITS, n_jobs=1).evaluate_splits(masks)
        near = compile(estimator, X, target, cv=SPLITS, n_jobs=1).evaluate_splits(masks)
        np.testing.assert_allclose(got, near, rtol=1e-6, err_msg=repr(estimator))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("one_blas_thread")
def test_masks_of_which_the_means_are_nearly_all_are_read_by_column() -> None:
    X, y, numbers = _table("plain")
    far, masks = X + 1e5, _masks()
    for estimator, target in (
        (LinearSVC(random_state=0, max_iter=50), y),
        (KernelRidge(), numbers),
    ):
        fitness = compile(estimator, far, target, cv=SPLITS, n_jobs=1)
        assert fitness.kernel == "factor"
        expected = _expected(estimator, far, target, masks)
        np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


@each(
    "estimator, reason",
    [
        (SVC(kernel=lambda a, b: a @ b.T), "kernel=<lambda> has no kernel"),
        (SVC(kernel="precomputed"), "kernel='precomputed'"),
        (LinearSVC(penalty="l1", dual=False), "penalty 'l1' has no kernel"),
        (Ridge(positive=True), "positive=True has no kernel"),
        (Ridge(solver="saga"), "solver 'saga' has no kernel"),
        (Ridge(alpha=0.0), "alpha=0 has no kernel"),
        (LinearRegression(positive=True), "positive=True has no kernel"),
        (KernelRidge(kernel="laplacian"), "kernel='laplacian' has no kernel"),
        (KernelRidge(kernel="chi2"), "kernel='chi2' has no kernel"),
        (LogisticRegression(), "stops by single coefficients, with tol=0.0001"),
        (LogisticRegression(solver="saga", tol=1e-9), "solver 'saga' has no kernel"),
        (LogisticRegression(solver="liblinear", dual=True), "dual=True has no kernel"),
        (LogisticRegression(C=np.inf, tol=1e-9), "without a penalty has no kernel"),
        (LogisticRegression(l1_ratio=0.5, solver="saga"), "has no kernel"),
    ],
)
def test_what_sees_single_features_is_refused(estimator: Any, reason: str) -> None:
    X, y, numbers = _table("plain")
    target = numbers if is_regressor(estimator) else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitness = compile(estimator, X, target, n_jobs=1)
    assert fitness.kernel is None
    assert fitness.fallback_reason is not None
    assert reason in fitness.fallback_reason


def test_parameters_that_nobody_has_looked_at_are_refused() -> None:
    class Newer(Ridge):  # as a later version of scikit-learn may have it
        def __init__(self, *, alpha: float = 1.0, sparsity: float = 0.1) -> None:
            super().__init__(alpha=alpha)
            self.sparsity = sparsity

    from bitsieve.fitness.inner_products import RULES

    rule = RULES["sklearn.linear_model.Ridge"]
    assert rule.refusal(Newer()) == "sparsity=0.1 has no kernel"
    assert rule.refusal(Ridge()) is None


def test_other_refusals() -> None:
    X, y, _ = _table("plain")
    for estimator, most in (
        (SVC(), N),
        (LinearSVC(), N),
        (make_pipeline(RobustScaler(), LinearSVC()), 5 * N),
    ):
        wide = np.tile(X, 2)
        assert compile(estimator, wide[:, : most + 1], y).kernel == "factor"
        told = compile(estimator, wide[:, :most], y).fallback_reason
        assert told is not None
        assert f"a table of 31 samples and no more than {most} features has no kernel" in told
    own = compile(SVC(), X, y, scoring=lambda estimator, X, y: float(X.shape[1]))
    assert own.fallback_reason == "SVC: a scoring function of your own has no kernel"
    assert "overflow" in str(compile(SVC(), X * 1e160, y).fallback_reason)


def test_real_kernels_are_asked_first() -> None:
    assert kernels()[-1].name == "factor"


def test_a_score_is_a_function_of_the_mask_without_a_random_state() -> None:
    X, y, numbers = _table("expression")
    masks = _masks()[:3]
    for estimator, target in (
        (LinearSVC(max_iter=3), y),  # far from its answer, which chance then decides
        (SVC(), y),
        (SVR(), numbers),
    ):
        with warnings.catch_warnings(), global_generators_untouched():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitness = compile(estimator, X, target, n_jobs=1, resample=True, cv=3)
            first = fitness.evaluate_splits(masks, 5)
            np.testing.assert_array_equal(first[::-1], fitness.evaluate_splits(masks[::-1], 5))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("one_blas_thread")
@each(
    "scaler",
    [StandardScaler(), MinMaxScaler((-1, 2)), MaxAbsScaler(), RobustScaler(with_centering=False)],
)
def test_a_scaler_is_fitted_inside_each_fold(scaler: Any) -> None:
    masks = _masks()
    for kind in ("expression", "float32"):
        X, y, numbers = _table(kind)
        X[:, 3] = 2.0  # constant
        for model, target in (
            (SVC(), y),
            (SVC(**LINEAR), y),
            (LinearSVC(random_state=0), y),
            (Ridge(), numbers),
            (KernelRidge(kernel="poly", degree=2), numbers),
        ):
            pipeline = make_pipeline(scaler, model)
            fitness = compile(pipeline, X, target, cv=SPLITS, n_jobs=1)
            assert fitness.kernel == "factor", fitness.fallback_reason
            np.testing.assert_allclose(
                fitness.evaluate_splits(masks),
                _expected(pipeline, X, target, masks),
                rtol=1e-6,
                atol=1e-7,
                err_msg=repr(pipeline),
            )


def test_scaled_matrices_that_lose_the_samples_are_not_used() -> None:
    """A scaler without a centre leaves the means."""
    X, _, numbers = _table("plain")
    far, masks = 1e5 + X, _masks()
    pipeline = make_pipeline(MaxAbsScaler(), KernelRidge())
    fitness = compile(pipeline, far, numbers, cv=SPLITS, n_jobs=1)
    expected = _expected(pipeline, far, numbers, masks)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


def test_jobs_of_one_split_give_what_all_give(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = _table("expression")
    fitness = compile(make_pipeline(StandardScaler(), SVC()), X, y, cv=SPLITS, n_jobs=1)
    expected = fitness.evaluate_splits(_masks())
    monkeypatch.setattr("bitsieve.fitness.factor._MATRIX_BYTES", 1)
    np.testing.assert_array_equal(fitness.evaluate_splits(_masks()), expected)


@pytest.mark.slow
def test_two_jobs_equal_one() -> None:
    X, y, _ = _table("expression")
    masks = np.concatenate([_masks(seed) for seed in range(3)])
    for estimator in (SVC(), make_pipeline(StandardScaler(), SVC())):
        one, two = (compile(estimator, X, y, n_jobs=n).evaluate_splits(masks) for n in (1, 2))
        np.testing.assert_array_equal(one, two)


@each("n, rank", [(1, 1), (2, 1), (17, 17), (40, 40), (40, 39), (40, 3), (5, 0)])
def test_a_factor_has_the_gram_matrix(n: int, rank: int) -> None:
    rng = np.random.default_rng([n, rank])
    X = (
        rng.normal(size=(n, rank))
        @ rng.normal(size=(rank, 200))
        * 10.0 ** rng.uniform(-3, 3, (n, 1))
    )
    G = X @ X.T
    Z = factor(G)
    assert Z.shape == (n, n)
    assert np.abs(Z @ Z.T - G).max() <= 1e-13 * n * max(np.abs(G).max(), 1e-300)
    assert (np.abs(Z).sum(axis=0) > 0).sum() == rank


def test_blas_has_its_threads_again_afterwards() -> None:
    X, y, _ = _table("plain")
    fitness = compile(SVC(), X, y, n_jobs=1)
    masks = _masks()
    expected = fitness.evaluate_splits(masks)
    before = [pool["num_threads"] for pool in threadpool_info()]
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: fitness.evaluate_splits(masks), range(8)):
            np.testing.assert_array_equal(got, expected)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_it_is_a_fitness_of_its_own() -> None:
    X, y, _ = _table("plain")
    fitness = compile(SVC(), X, y, n_jobs=1)
    assert isinstance(fitness, FactorFitness)
    assert fitness.resampled().kernel == "factor"
