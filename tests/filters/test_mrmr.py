"""mRMR by F and correlation, and what MID and MIQ share with the other criteria."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import twin_information as twin
from each import each, each_isa
from scipy.stats import ks_2samp
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif, f_regression

from bitsieve import _core
from bitsieve.data import Table
from bitsieve.filters import discretize, information_selection, mrmr


def made(n: int, p: int, seed: int = 0) -> tuple[Any, Any]:
    """Correlated features, a fifth of which say something about three classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    hidden = rng.standard_normal((n, 5))
    hidden[:, 0] += y
    hidden[:, 1] -= y == 1
    return hidden[:, rng.integers(0, 5, p)] * rng.normal(size=p) + rng.standard_normal((n, p)), y


@pytest.mark.parametrize("criterion", ["FCD", "FCQ"])
@pytest.mark.parametrize("redundancy", ["pearson", "spearman"])
@each("shape", [(11, 7), (64, 33), (101, 70)])
@each_isa
def test_selection_is_that_of_the_twin(
    criterion: Any, redundancy: Any, shape: tuple[int, int], isa: str
) -> None:
    X, y = made(*shape, seed=shape[0])
    quotient, ranks = criterion == "FCQ", redundancy == "spearman"
    expected, values = twin.correlation(
        X, f_classif(X, y)[0], min(20, shape[1]), quotient=quotient, ranks=ranks
    )
    order, scores = mrmr(
        X, y, len(expected), criterion=criterion, redundancy=redundancy, return_scores=True
    )
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_allclose(scores, values, rtol=1e-9, atol=1e-9)


def test_the_first_scores_are_those_of_scikit_learn() -> None:
    X, y = made(90, 40, seed=1)
    f, _ = f_classif(X, y)
    order, scores = mrmr(X, y, 1, criterion="FCQ", return_scores=True)
    assert order[0] == f.argmax()
    np.testing.assert_allclose(scores, f.max(), rtol=1e-12)
    z = X[:, 3] + X[:, 5]
    f, _ = f_regression(X, z)
    order, scores = mrmr(X, z, 1, criterion="FCD", return_scores=True)
    assert order[0] == f.argmax()
    np.testing.assert_allclose(scores, f.max(), rtol=1e-12)
    # Whole numbers are classes unless the task says otherwise.
    f, _ = f_regression(X, y)
    _, scores = mrmr(X, y, 1, criterion="FCD", task="regression", return_scores=True)
    np.testing.assert_allclose(scores, f.max(), rtol=1e-12)


def test_a_numeric_target_against_the_twin() -> None:
    X, _ = made(60, 25, seed=2)
    z = X[:, 3] - 0.5 * X[:, 8] + np.random.default_rng(0).standard_normal(60)
    expected, _ = twin.correlation(X, f_regression(X, z)[0], 25, quotient=True)
    np.testing.assert_array_equal(mrmr(X, z, criterion="FCQ"), expected)


@each("seed", range(12))
@pytest.mark.parametrize("criterion", ["FCD", "FCQ"])
def test_ties_but_for_rounding_go_to_the_lowest_index(seed: int, criterion: Any) -> None:
    # Few samples of few values: many columns are copies, mirrored, or as correlated as others.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2 + seed % 2, (9 + seed, 40)).astype(float)
    X[:, 20:30] = 1 - X[:, :10]
    y = np.arange(len(X)) % 2
    f = np.nan_to_num(f_classif(X[:, np.ptp(X, axis=0) > 0], y)[0], posinf=np.inf)
    relevance = np.zeros(40)
    relevance[np.ptp(X, axis=0) > 0] = np.where(f > 1e-9, f, 0.0)
    if np.isinf(relevance).any():
        return
    expected, _ = twin.correlation(X, relevance, 40, quotient=criterion == "FCQ")
    order = mrmr(X, y, criterion=criterion)
    np.testing.assert_array_equal(order, expected)
    samples = rng.permutation(len(X))
    np.testing.assert_array_equal(mrmr(X[samples], y[samples], criterion=criterion), order)
    np.testing.assert_array_equal(mrmr(scipy.sparse.csr_array(X), y, criterion=criterion), order)


@each("quotient", [True, False])
@each("n_threads", [1, 2, 5])
def test_what_is_not_looked_at_changes_nothing(quotient: bool, n_threads: int) -> None:
    X, y = made(70, 1300, seed=3)
    X = np.ascontiguousarray(X)
    X[:, 700:720] = X[:, :20]  # copies among them
    unit = _core.UnitColumns(X, codes=y.astype(np.int32), n_classes=3, n_threads=n_threads)
    how: dict[str, Any] = {"n_select": 40, "quotient": quotient, "n_threads": n_threads}
    order, scores, looked_at = unit.select(unit.f_values(), **how)
    plain_order, plain, all_of_them = unit.select(unit.f_values(), lazy=False, **how)
    np.testing.assert_array_equal(order, plain_order)
    np.testing.assert_array_equal(scores, plain)
    assert looked_at < 0.75 * all_of_them


def test_instruction_sets_agree_to_the_bit() -> None:
    X, y = made(123, 60, seed=4)
    before = _core.get_isa()
    found = []
    for name in _core.available_isas():
        _core.set_isa(name)
        found.append(mrmr(X, y, 30, criterion="FCQ", return_scores=True))
    _core.set_isa(before)
    for order, scores in found[1:]:
        np.testing.assert_array_equal(order, found[0][0])
        np.testing.assert_array_equal(scores, found[0][1])


def test_the_order_of_the_table_does_not_matter() -> None:
    X, y = made(80, 50, seed=5)
    rng = np.random.default_rng(5)
    samples, features = rng.permutation(80), rng.permutation(50)
    for criterion in ("MID", "MIQ", "FCD", "FCQ"):
        order, scores = mrmr(X, y, 15, criterion=criterion, return_scores=True)
        again, other = mrmr(
            X[samples][:, features], np.array(list("cab"))[y][samples], 15,
            criterion=criterion, return_scores=True, n_jobs=3,
        )  # fmt: skip
        np.testing.assert_array_equal(features[again], order)
        np.testing.assert_allclose(other, scores, rtol=1e-12, atol=1e-12)


@each("criterion", ["FCD", "FCQ"])
def test_copies_come_after_everything_else(criterion: Any) -> None:
    X, y = made(60, 12, seed=6)
    first = int(f_classif(X, y)[0].argmax())
    # A copy, a multiple, a negative and a shifted one, each of the greatest relevance.
    best = X[:, first]
    X = np.column_stack([best, 4 * best, X, -best, best + 1000, X[:, :2]])
    order = mrmr(X, y, criterion=criterion).tolist()
    groups = [{0, 1, 2 + first, 14, 15}, {2, 16}, {3, 17}]
    firsts = [min(order.index(j) for j in group) for group in groups]
    last_new = 11  # twelve features are no copy of another
    assert min(firsts) == 0
    assert max(firsts) <= last_new
    assert set(order[last_new + 1 :]) == set(range(18)) - set(order[: last_new + 1])
    assert sum(len(g & set(order[: last_new + 1])) for g in groups) == 3


def test_an_independent_feature_beats_a_copy() -> None:
    rng = np.random.default_rng(7)
    y = np.arange(100) % 2
    strong = y + 0.3 * rng.standard_normal(100)
    weak = y + 2.0 * rng.standard_normal(100)
    X = np.column_stack([strong, strong, strong, weak])
    for criterion in ("MID", "FCD", "FCQ"):
        assert mrmr(X, y, 2, criterion=criterion).tolist() == [0, 3], criterion


def test_a_negative_correlation_is_redundant_too() -> None:
    rng = np.random.default_rng(8)
    y = np.arange(200) % 2
    first = y + 0.3 * rng.standard_normal(200)
    mirrored = -first + 0.1 * rng.standard_normal(200)
    other = y + 0.8 * rng.standard_normal(200)
    X = np.column_stack([first, mirrored, other])
    assert np.corrcoef(first, mirrored)[0, 1] < -0.9
    for criterion in ("FCD", "FCQ"):
        order = mrmr(X, y, criterion=criterion, relevance=lambda X, y: np.array([0.9, 0.7, 0.5]))
        assert order.tolist() == [0, 2, 1], criterion


def test_constant_columns_are_last_and_score_nothing() -> None:
    X, y = made(40, 6, seed=9)
    X[:, 1] = 0.1  # its mean is not 0.1 to the last bit
    X[:, 4] = -7.0
    for criterion in ("MIQ", "FCQ"):
        order, scores = mrmr(X, y, criterion=criterion, return_scores=True)
        assert order[-2:].tolist() == [1, 4]
        np.testing.assert_array_equal(scores[-2:], [0, 0])


def test_a_feature_that_the_classes_determine() -> None:
    X, y = made(30, 5, seed=10)
    X[:, 3] = y
    order, scores = mrmr(X, y, criterion="FCQ", return_scores=True)
    assert order[0] == 3
    assert not np.isnan(scores).any()


def test_relevance_by_kolmogorov_and_smirnov() -> None:
    X, y = made(50, 9, seed=11)
    X[:, 2] = np.round(X[:, 2])  # ties
    expected = np.array([
        np.mean([ks_2samp(x[y == c], x[y != c]).statistic for c in range(3)])
        for x in X.T
    ])  # fmt: skip
    order, scores = mrmr(X, y, criterion="FCQ", relevance="ks", return_scores=True)
    twin_order, values = twin.correlation(X, expected, 9, quotient=True)
    np.testing.assert_array_equal(order, twin_order)
    np.testing.assert_allclose(scores, values, rtol=1e-12)
    sparse = mrmr(scipy.sparse.csc_array(X), y, criterion="FCQ", relevance="ks")
    np.testing.assert_array_equal(sparse, order)
    with pytest.raises(ValueError, match="relevance='ks' compares classes, but y is numeric"):
        mrmr(X, X[:, 0], criterion="FCQ", relevance="ks")


def test_relevance_by_a_forest_and_by_a_function() -> None:
    X, y = made(60, 8, seed=12)
    forest = RandomForestClassifier(max_depth=5, random_state=4).fit(X, y)
    expected, _ = twin.correlation(X, forest.feature_importances_, 8, quotient=True)
    found = mrmr(X, y, criterion="FCQ", relevance="random_forest", random_state=4)
    np.testing.assert_array_equal(found, expected)
    by_function = mrmr(X, y, criterion="FCQ", relevance=f_classif)
    np.testing.assert_array_equal(by_function, mrmr(X, y, criterion="FCQ"))
    for wrong, message in (
        (lambda X, y: [1.0], r"relevance must return 8 numbers, one a feature, .*\(1,\)"),
        (lambda X, y: -np.ones(8), r"numbers, none negative, but feature 0 got -1"),
        (lambda X, y: np.full(8, np.nan), r"feature 0 got nan"),
    ):
        with pytest.raises(ValueError, match=message):
            mrmr(X, y, criterion="FCQ", relevance=wrong)


@pytest.mark.parametrize("redundancy", ["pearson", "spearman"])
def test_sparse_tables_give_the_same_bits(redundancy: Any) -> None:
    rng = np.random.default_rng(13)
    X = rng.poisson(0.4, (70, 60)).astype(float)
    X[:, 5] = 0
    y = (X[:, 2] + rng.random(70) > 0.8).astype(int)
    for criterion in ("FCD", "FCQ"):
        how: dict[str, Any] = {"criterion": criterion, "redundancy": redundancy}
        order, scores = mrmr(X, y, 25, return_scores=True, **how)
        again, other = mrmr(scipy.sparse.csr_matrix(X), y, 25, return_scores=True, **how)
        np.testing.assert_array_equal(again, order)
        np.testing.assert_array_equal(other, scores)


def test_mid_and_miq_are_criteria_of_information() -> None:
    X, y = made(60, 20, seed=14)
    for criterion in ("MID", "miq"):
        order, scores = mrmr(X, y, 8, criterion=criterion, return_scores=True)
        again, other = information_selection(
            X, y, 8, criterion=criterion.lower(), return_scores=True
        )
        np.testing.assert_array_equal(order, again)
        np.testing.assert_array_equal(scores, other)
    codes, _ = discretize(X, method="mean_sd")
    np.testing.assert_array_equal(mrmr(X, y, 8), mrmr(codes, y, 8, discretization=None))


def test_float32_frames_and_tables_are_read() -> None:
    X, y = made(40, 10, seed=15)
    X = X.astype(np.float32)
    for criterion in ("MID", "FCQ"):
        expected = mrmr(X.astype(np.float64), y, criterion=criterion)
        np.testing.assert_array_equal(mrmr(X, y, criterion=criterion), expected)
        frame = pd.DataFrame(X)
        np.testing.assert_array_equal(mrmr(frame, y, criterion=criterion), expected)
        np.testing.assert_array_equal(mrmr(Table(X, y), criterion=criterion), expected)


def test_the_full_ranking_starts_as_any_shorter_one() -> None:
    X, y = made(50, 30, seed=16)
    for criterion in ("MID", "MIQ", "FCD", "FCQ"):
        full = mrmr(X, y, criterion=criterion)
        assert sorted(full.tolist()) == list(range(30))
        np.testing.assert_array_equal(mrmr(X, y, 9, criterion=criterion), full[:9])


def test_real_expression_data(dataset: Callable[[str], Any]) -> None:
    X, y, _ = dataset("chowdary")
    f, _ = f_classif(X, y)
    some = np.argsort(-f)[:400]
    expected, _ = twin.correlation(X[:, some], f[some], 30, quotient=True)
    np.testing.assert_array_equal(mrmr(X[:, some], y, 30, criterion="FCQ"), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "MIX"}, r"criterion must be one of 'MID', 'MIQ', 'FCD', 'FCQ', got 'MIX'"),
        ({"relevance": "ks"}, r"relevance and redundancy belong to criterion='FCD' and 'FCQ'"),
        ({"redundancy": "spearman"}, r"relevance and redundancy belong to"),
        ({"criterion": "FCQ", "discretization": "mdl"}, r"discretization and correction belong"),
        ({"criterion": "FCQ", "correction": "miller_madow"}, r"discretization and correction"),
        ({"criterion": "FCQ", "missing": "level"}, r"missing='level' belongs to"),
        ({"criterion": "FCQ", "redundancy": "kendall"}, r"redundancy must be 'pearson' or"),
        ({"criterion": "FCQ", "relevance": "mi"}, r"relevance must be 'f', 'ks'"),
        ({"criterion": "FCQ", "n_features": 9}, r"n_features is 9, but X has 8 features"),
        ({"criterion": "FCQ", "n_features": 1.5}, r"n_features must be a whole number"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    X, y = made(30, 8)
    with pytest.raises(ValueError, match=message):
        mrmr(X, y, **options)


@each("redundancy", ["pearson", "spearman"])
def test_refusals_of_tables(redundancy: Any) -> None:
    X, y = made(30, 8)
    how: dict[str, Any] = {"criterion": "FCQ", "redundancy": redundancy}
    X[3, 5] = np.nan
    with pytest.raises(ValueError, match=r"NaN: 1 value in 1 column \(number 5\)"):
        mrmr(X, y, **how)
    X[3, 5] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        mrmr(X, y, **how)
    with pytest.raises(ValueError, match="more samples than classes"):
        mrmr(X[:4, :5], np.arange(4), **how)
    with pytest.raises(ValueError, match="y is needed"):
        mrmr(X[:, :3], **how)


@each("dtype", [np.float32, np.float64])
def test_scores_that_float32_cannot_tell_apart(dtype: Any) -> None:
    # Groups of near copies: products in float32 decide none of them, the exact columns must.
    rng = np.random.default_rng(17)
    X, y = made(57, 12, seed=17)
    size = 10.0 ** rng.uniform(-6, -3, 240)
    X = (np.repeat(X, 20, axis=1) + size * rng.standard_normal((57, 240))).astype(dtype)
    X = np.ascontiguousarray(X[:, rng.permutation(240)])
    f = f_classif(X.astype(np.float64), y)[0]
    for quotient, criterion in ((True, "FCQ"), (False, "FCD")):
        expected, values = twin.correlation(X, f, 60, quotient=quotient)
        order, scores = mrmr(X, y, 60, criterion=criterion, return_scores=True)
        np.testing.assert_array_equal(order, expected)
        np.testing.assert_allclose(scores, values, rtol=1e-9)


@each("exponent", [-1074, -560, 560, 1010])
@pytest.mark.parametrize("criterion", ["FCD", "FCQ"])
@pytest.mark.parametrize("redundancy", ["pearson", "spearman"])
def test_squares_that_do_not_fit_into_float64(
    criterion: Any, redundancy: Any, exponent: int
) -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 64, (24, 6)).astype(float)
    for y in (np.arange(24) % 3, rng.integers(0, 9, 24) + 0.5):
        how = {"criterion": criterion, "redundancy": redundancy, "return_scores": True}
        order, scores = mrmr(X, y, **how)
        given = np.ldexp(X, exponent)
        for form in (given, scipy.sparse.csr_array(given)):
            far, far_scores = mrmr(form, y, **how)
            np.testing.assert_array_equal(far, order)
            np.testing.assert_allclose(far_scores, scores, rtol=1e-9)
