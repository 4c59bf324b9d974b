"""Where scores of single features could go wrong: nothing is NaN, and what is best comes first."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from each import each
from sklearn.feature_selection import SelectFdr, SelectKBest
from sklearn.feature_selection import chi2 as sklearn_chi2

from bitsieve.data import Table
from bitsieve.filters import (
    auc,
    benjamini_hochberg,
    chi2,
    f_test,
    fisher_score,
    gram_schmidt,
    kruskal_wallis,
    laplacian_score,
    pearson,
    signal_to_noise,
    spearman,
    t_test,
    variance,
)

CLASSES = [signal_to_noise, t_test, f_test, fisher_score, auc, kruskal_wallis, pearson, spearman]
WITH_P = [t_test, partial(t_test, equal_var=False), f_test, auc, kruskal_wallis, pearson, spearman]


def normal(n: int = 40, p: int = 12, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, p))


@pytest.mark.parametrize("score", WITH_P)
@each("value", [0.0, 0.1, 1e9 + 0.1, -3e-300, 1e300])
def test_constant_feature(score: Any, value: float) -> None:
    X, y = normal(), np.arange(40) % 2
    X[:, 3] = value
    scores, p = score(X, y, p_values=True)
    assert scores[3] == (0.5 if score is auc else 0.0)
    assert p[3] == 1.0
    others = np.delete(np.arange(12), 3)
    alone, p_alone = score(np.ascontiguousarray(X[:, others]), y, p_values=True)
    assert np.array_equal(scores[others], alone)
    assert np.array_equal(p[others], p_alone)


@each("score", [signal_to_noise, fisher_score, variance])
def test_constant_feature_without_p(score: Any) -> None:
    X = normal()
    X[:, 3] = 0.1
    assert score(X, np.arange(40) % 3)[3] == 0.0


@each("n_classes", [2, 3])
@each("offset", [0.0, 1e9])
def test_constant_within_classes_comes_first(n_classes: int, offset: float) -> None:
    y = np.arange(40) % n_classes
    X = normal()
    X[:, 5] = offset + y * 0.1
    pairwise = [signal_to_noise, t_test, partial(t_test, equal_var=False)]
    for score in [f_test, fisher_score, *(pairwise if n_classes == 2 else [])]:
        found = score(X, y)
        assert found[5] == np.inf
        assert np.isfinite(np.delete(found, 5)).all()
        assert SelectKBest(score, k=1).fit(X, y).get_support(indices=True).tolist() == [5]
    for score in [f_test, *(pairwise[1:] if n_classes == 2 else [])]:
        assert score(X, y, p_values=True)[1][5] == 0.0
    if n_classes == 2:
        assert t_test(-X, y, signed=True)[5] == -np.inf


def test_one_class_is_constant() -> None:
    y = np.arange(40) % 2
    X = normal()
    X[y == 0, 2] = 7.0
    for score in CLASSES:
        assert np.isfinite(score(X, y)).all()


@each("score", CLASSES)
def test_one_sample_in_a_class(score: Any) -> None:
    y = np.array(["b"] + ["a"] * 19)
    X = normal(20)
    X[:, 1] = 2.0
    X[0, 2] = 100.0
    found = score(X, y)
    assert np.isfinite(found).all()
    assert found[2] == found.max()
    y3 = np.array(["b", "c"] + ["a"] * 18)
    assert np.isfinite(score(X, y3)).all()


def test_one_sample_in_a_class_has_no_variance_of_its_own() -> None:
    y = np.array(["b"] + ["a"] * 19)
    with pytest.raises(ValueError, match=r"two samples or more of each class.*'b'; use equal_var"):
        t_test(normal(20), y, equal_var=False)


def test_too_few_samples() -> None:
    X = [[1.0], [2.0]]
    with pytest.raises(ValueError, match="3 samples or more"):
        t_test(X, [0, 1])
    with pytest.raises(ValueError, match="more samples than classes, got 2 samples of 2 classes"):
        f_test(X, [0, 1])
    with pytest.raises(ValueError, match="3 samples or more"):
        f_test(X, [0.5, 1.25])
    np.testing.assert_allclose(pearson(X, [0.5, 1.25], p_values=True), 1.0)
    assert auc(X, [0, 1], p_values=True)[0] == 1.0
    assert signal_to_noise(X, [0, 1]) == np.inf


@each("dtype", [np.float64, np.float32])
def test_offset_does_not_eat_digits(dtype: Any) -> None:
    y = np.arange(60) % 2
    steps = np.random.default_rng(0).integers(-40, 40, (60, 9)).astype(np.float64)
    offset = 1e9 if dtype == np.float64 else 2.0**23
    X = (steps + offset).astype(dtype)
    assert np.array_equal(X - dtype(offset), steps.astype(dtype))  # the table itself is exact
    for score in [*CLASSES, variance]:
        np.testing.assert_allclose(score(X, y), score(steps, y), rtol=1e-12)
    np.testing.assert_allclose(pearson(X, steps[:, 0]), pearson(steps, steps[:, 0]), rtol=1e-12)


def test_one_sample_far_away() -> None:
    """Wherever it lies, the other class keeps its digits."""
    y = np.arange(40) % 2
    X = normal()
    for where in (0, 1, 39):
        far = X.copy()
        far[where] = 1e9
        mine, other = y == y[where], y != y[where]
        mean = far[mine].mean(axis=0) - X[other].mean(axis=0)
        spread = far[mine].std(axis=0, ddof=1) + X[other].std(axis=0, ddof=1)
        np.testing.assert_allclose(signal_to_noise(far, y), np.abs(mean) / spread, rtol=1e-12)


@each("scale", [1e200, 1e-200, 1e307, 1e-307])
def test_range_of_float64(scale: float) -> None:
    y, number = np.arange(40) % 2, normal(40, 1, 5)[:, 0]
    X = np.clip(normal(), -3, 3)
    X[:, 4] = 0.1
    mixed = np.concatenate([X, X * scale], axis=1)
    for score in CLASSES:
        found = score(mixed, y)
        np.testing.assert_allclose(found[12:], found[:12], rtol=1e-8, atol=1e-12)
    for score in (pearson, f_test):
        found = score(mixed, number)
        np.testing.assert_allclose(found[12:], found[:12], rtol=1e-8, atol=1e-12)
    assert not np.isnan(variance(mixed)).any()
    np.testing.assert_allclose(variance(X * 2.0**300), variance(X) * 2.0**600, rtol=1e-12)


@each("bad", [np.nan, np.inf, -np.inf])
@each("dtype", [np.float32, np.float64])
@each("where", [(0, 0), (17, 9), (39, 11)])
@pytest.mark.parametrize("score", [*CLASSES, variance, laplacian_score])
def test_what_is_not_finite_is_refused(score: Any, where: Any, dtype: Any, bad: float) -> None:
    X = normal().astype(dtype)
    X[where] = bad
    with pytest.raises(ValueError, match=f"1 value in 1 column .number {where[1]}."):
        score(X, np.arange(40) % 2)
    if score in (pearson, spearman):
        with pytest.raises(ValueError, match=f"1 value in 1 column .number {where[1]}."):
            score(X, np.linspace(0, 1, 40))
    if score is auc:
        with pytest.raises(ValueError, match=f"1 value in 1 column .number {where[1]}."):
            score(X, np.arange(40) % 3)


@pytest.mark.parametrize("score", [*CLASSES, f_test])
def test_forms_of_input(score: Any) -> None:
    X = np.random.default_rng(0).integers(0, 50, (40, 6))
    y = np.arange(40) % 2
    expected = score(X.astype(np.float64), y)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for form in (
        X,
        X.tolist(),
        frame,
        Table(X, y),
        np.asfortranarray(X, dtype=np.float64),
        X.astype(np.float32),
        X.astype(np.uint8),
        np.repeat(X, 2, axis=1)[:, ::2],
    ):
        assert np.array_equal(score(form, y), expected)
    read_only = X.astype(np.float64)
    read_only.flags.writeable = False
    before = read_only.copy()
    for target in (y, y.tolist(), pd.Series(y), y[:, None], y.astype(bool), y.astype(np.float32)):
        assert np.array_equal(score(read_only, target), expected)
    assert np.array_equal(read_only, before)
    for target in (np.array(["no", "yes"])[y], pd.Series(["no", "yes"] * 20, dtype=object)):
        assert np.array_equal(score(X, target), expected)


def test_table_brings_its_target() -> None:
    X, y = normal(), np.arange(40) % 2
    assert np.array_equal(t_test(Table(X, y), None), t_test(X, y))
    assert np.array_equal(variance(Table(X, y)), variance(X))
    with pytest.raises(ValueError, match="y is needed"):
        t_test(X, None)


def test_words_of_other_refusals() -> None:
    X, y, y3 = normal(), np.arange(40) % 2, np.arange(40) % 3
    with pytest.raises(ValueError, match=r"X has 40 samples but y has 39 labels"):
        t_test(X, y[1:])
    with pytest.raises(ValueError, match="y has 1 class"):
        auc(X, np.zeros(40))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        t_test(X, np.linspace(0, 1, 40))
    with pytest.raises(ValueError, match=r"y is 0.5 for all 40 samples"):
        pearson(X, np.full(40, 0.5))
    for score in (t_test, signal_to_noise, auc):
        with pytest.raises(ValueError, match="a sign needs two classes, but y has 3: 0, 1, 2"):
            score(X, y3, signed=True)
    for score in (pearson, spearman):
        with pytest.raises(ValueError, match="a sign needs numbers or two labels"):
            score(X, np.array(["a", "b", "c"])[y3], signed=True)
    with pytest.raises(ValueError, match="multiclass must be 'mean' or 'largest', got 'best'"):
        auc(X, y3, multiclass="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"chi2 is for counts.*the least -"):
        chi2(X, y)
    with pytest.raises(ValueError, match=r"in 1 column \('b'\)"):
        chi2(pd.DataFrame({"a": [1, 2, 3], "b": [1, -2, 3]}), [0, 1, 0])
    with pytest.raises(ValueError, match="ddof must be below the number of samples"):
        variance(X, ddof=40)
    with pytest.raises(ValueError, match="Sparse input is not supported"):
        auc(scipy.sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        t_test(X[:1], y[:1])
    with pytest.raises(ValueError, match="0 feature"):
        t_test(X[:, :0], y)


def test_three_text_labels_have_no_order() -> None:
    """Their correlation is the ratio between classes; numbers are taken as they are."""
    X, y = normal(), np.arange(40) % 3
    X[:, 0] += (y == 1) * 3
    text = np.array(["a", "b", "c"])[y]
    between = f_test(X, text) * 2 / 37
    np.testing.assert_allclose(pearson(X, text) ** 2, between / (1 + between), rtol=1e-12)
    np.testing.assert_allclose(
        pearson(X, text, p_values=True)[1], f_test(X, text, p_values=True)[1], rtol=1e-9
    )
    np.testing.assert_allclose(spearman(X, text) ** 2, kruskal_wallis(X, text) / 39, rtol=1e-12)
    np.testing.assert_allclose(pearson(X, y), np.abs(np.corrcoef(X.T, y)[-1, :-1]), rtol=1e-12)


def test_several_classes_are_one_against_the_rest() -> None:
    X, y = normal(60), np.arange(60) % 3
    X[:, 2] += (y == 2) * 2
    for score in (t_test, signal_to_noise, partial(t_test, equal_var=False)):
        each = [score(X, y == c) for c in range(3)]
        np.testing.assert_allclose(score(X, y), np.max(each, axis=0), rtol=1e-12)
    for score in (t_test, partial(t_test, equal_var=False), auc):
        each = [score(X, y == c, p_values=True)[1] for c in range(3)]
        expected = np.minimum(np.min(each, axis=0) * 3, 1.0)
        np.testing.assert_allclose(score(X, y, p_values=True)[1], expected, rtol=1e-10)


def test_score_functions_of_scikit_learn() -> None:
    X, y = normal(80, 40), np.arange(80) % 2
    X[:, 7] += y * 3
    for score in (*CLASSES, partial(t_test, p_values=True), partial(auc, p_values=True)):
        assert SelectKBest(score, k=1).fit(X, y).get_support()[7]
    for score in WITH_P:
        chosen = SelectFdr(partial(score, p_values=True), alpha=0.01).fit(X, y)
        assert chosen.get_support(indices=True).tolist() == [7]


def test_benjamini_hochberg() -> None:
    p = np.random.default_rng(0).random(50) ** 2
    order = np.argsort(p)
    expected = np.empty(50)
    least = 1.0
    for rank in range(50, 0, -1):
        least = min(least, p[order[rank - 1]] * 50 / rank)
        expected[order[rank - 1]] = least
    np.testing.assert_allclose(benjamini_hochberg(p), expected, rtol=1e-14)
    assert benjamini_hochberg([0.0, 1.0]).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\], but 1.5 does not \(at 1"):
        benjamini_hochberg([0.5, 1.5])
    with pytest.raises(ValueError, match="but nan does not"):
        benjamini_hochberg([0.5, np.nan])
    with pytest.raises(ValueError, match="a list of numbers"):
        benjamini_hochberg([])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_copy_of_the_table(dtype: Any) -> None:
    X = np.random.default_rng(0).normal(size=(200, 20_000)).astype(dtype)
    y = np.arange(200) % 2
    for score in [*CLASSES, variance, gram_schmidt]:
        options = {"n_features": 5} if score is gram_schmidt else {}
        score(X[:, :50].copy(), y, **options)  # what is imported on the way is not counted
        tracemalloc.start()
        score(X, y, **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.15 * X.nbytes, (score, peak / X.nbytes)


@each("factor", [1.0, 1e-290, 1e-160, 1e160, 1e300])
@each("labels", [[0, 1, 2], [2, 0, 1], [0, 1, 1]])
def test_chi2_of_features_that_do_not_vary_within_classes(factor: float, labels: Any) -> None:
    X = np.array([[1.0, 0.0, 3.0], [2.0, 0.0, 3.0], [2.0, 4.0, 3.0]])
    expected = np.nan_to_num(sklearn_chi2(X, labels)[0])
    for given in (X * factor, scipy.sparse.csr_array(X * factor)):
        np.testing.assert_allclose(chi2(given, labels) / factor, expected, rtol=1e-12)
        assert chi2(given, labels)[2] == 0.0


def test_chi2_of_a_feature_that_is_the_class() -> None:
    y = np.arange(10) % 2
    scores, p = chi2(np.column_stack([y, 3.0 * y]), y, p_values=True)
    np.testing.assert_allclose(scores, [5.0, 15.0])
    np.testing.assert_allclose(p, sklearn_chi2(np.column_stack([y, 3.0 * y]), y)[1])


@each("offset", [1e9, 1e12, 1e15])
def test_the_offset_of_a_numeric_target_takes_no_digits(offset: float) -> None:
    X = normal(30, 4)
    y = np.random.default_rng(1).integers(0, 100_000, 30) + 0.5
    for score in (pearson, partial(f_test, task="regression")):
        assert np.array_equal(score(X, y + offset), score(X, y))
    order, scores = gram_schmidt(X, y, task="regression", return_scores=True)
    far, far_scores = gram_schmidt(X, y + offset, task="regression", return_scores=True)
    assert np.array_equal(far, order)
    assert np.array_equal(far_scores, scores)


def test_a_target_from_end_to_end_of_float64() -> None:
    y = np.array([-1.7, 1.7, 0.0, 0.1])
    X = np.arange(4.0)[:, None]
    np.testing.assert_allclose(pearson(X, y * 1e308), pearson(X, y), rtol=1e-14)


@each("score", [signal_to_noise, t_test])
def test_one_of_many_classes_against_the_rest(score: Any) -> None:
    X, y = normal(120, 5), np.arange(120) % 40
    alone = [score(X, y == c) for c in range(40)]
    np.testing.assert_allclose(score(X, y), np.max(alone, axis=0), rtol=1e-12)


@pytest.mark.parametrize("score", [signal_to_noise, t_test, f_test, fisher_score, pearson])
@each("exponent", [-1074, -1040, 1000])
def test_every_number_of_float64_keeps_its_digits(score: Any, exponent: int) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 64, (24, 6)).astype(float), np.arange(24) % 3
    np.testing.assert_allclose(score(np.ldexp(X, exponent), y), score(X, y), rtol=1e-12)


def test_p_values_do_without_scipy_stats() -> None:
    code = (
        "import sys; import numpy as np; from bitsieve import filters as f; "
        "X = np.arange(24.0).reshape(8, 3) % 5; y = np.arange(8) % 2; "
        "scores = f.t_test, f.f_test, f.auc, f.kruskal_wallis, f.chi2, f.pearson, f.spearman; "
        "[f.benjamini_hochberg(score(X, y, p_values=True)[1]) for score in scores]; "
        "sys.exit('scipy.stats' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
