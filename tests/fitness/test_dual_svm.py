"""The compiled support vector machine beside a plain twin, scikit-learn and its own conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin_svm
from each import each, each_isa
from numpy.typing import NDArray

from bitsieve import _core

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]


def problem(n: int, p: int, seed: int, n_problems: int = 1, scale: float = 1.0) -> Any:
    """A Gram matrix and random signs, both of them in each problem where n allows."""
    rng = np.random.default_rng(seed)
    Z = scale * rng.normal(size=(n, p))
    signs = rng.choice(np.array([-1, 1], np.int8), (n_problems, n))
    signs[:, 0] = 1
    signs[:, -1] = -1
    return np.ascontiguousarray(Z @ Z.T), signs


def check_optimal(K: Floats, signs: Signs, C: float, tolerance: float) -> None:
    """Feasible to the bit, optimal to the tolerance, and the violation is the true one."""
    dual, intercepts, violations = _core.dual_svm(K, signs, C, tolerance)
    size = max(1.0, float(np.abs(K).max()) * float(np.abs(dual).sum(axis=1).max(initial=0.0)))
    for y, b, intercept, told in zip(signs, dual, intercepts, violations, strict=True):
        assert np.all((b * y >= 0) & (b * y <= C))
        assert abs(b.sum()) <= 1e-12 * max(1.0, np.abs(b).sum())
        assert told <= tolerance
        assert twin_svm.violation(K, y, C, b) == pytest.approx(told, abs=1e-12 * size)
        free = (b != 0) & (np.abs(b) < C)
        slack = y - K @ b
        if free.any():
            assert intercept == pytest.approx(slack[free].mean(), abs=1e-11 * size)
        else:
            lower, upper = twin_svm.bounds(y, C)
            ends = slack[b < upper].max(), slack[b > lower].min()
            assert intercept == pytest.approx(np.mean(ends), abs=1e-11 * size)


@each_isa
def test_it_is_the_twin(isa: str) -> None:
    for seed, n in enumerate((2, 3, 7, 15, 16, 17, 31, 33, 47)):
        for p, C in ((1, 1.0), (3, 0.05), (5, 1.0), (200, 1.0), (200, 1e-3)):
            K, signs = problem(n, p, seed, n_problems=3)
            dual, _, violations = _core.dual_svm(K, signs, C, 1e-9)
            assert violations.max() <= 1e-9
            check_optimal(K, signs, C, 1e-9)
            for y, b in zip(signs, dual, strict=True):
                twin = twin_svm.dual_svm(K, y, C, 1e-6)
                found, known = twin_svm.objective(K, y, b), twin_svm.objective(K, y, twin)
                assert found <= known + 1e-12 * max(1.0, abs(known))
                assert found == pytest.approx(known, rel=1e-5, abs=1e-9)
                # Coefficients may be many where p < n; what they say of the samples is one.
                assert K @ b == pytest.approx(K @ twin, abs=2e-3)


def test_same_bits_whatever_computes_it() -> None:
    before = _core.get_isa()
    for seed, (n, p) in enumerate(((20, 4), (83, 20), (97, 900))):
        K, signs = problem(n, p, seed, n_problems=5)
        known = _core.dual_svm(K, signs, 1.0, 1e-5)
        try:
            for isa in _core.available_isas():
                _core.set_isa(isa)
                for threads in (1, 3):
                    again = _core.dual_svm(K, signs, 1.0, 1e-5, n_threads=threads)
                    for one, other in zip(known, again, strict=True):
                        np.testing.assert_array_equal(one, other)
        finally:
            _core.set_isa(before)
        for k in range(5):
            alone = _core.dual_svm(K, signs[k : k + 1], 1.0, 1e-5)
            for one, other in zip(known, alone, strict=True):
                np.testing.assert_array_equal(one[k], other[0])


def test_order_and_names_of_the_samples_are_nothing() -> None:
    K, signs = problem(41, 300, 3)
    order = np.random.default_rng(0).permutation(41)
    dual, intercept, _ = _core.dual_svm(K, signs, 1.0, 1e-10)
    turned, shifted, _ = _core.dual_svm(
        np.ascontiguousarray(K[np.ix_(order, order)]),
        np.ascontiguousarray(-signs[:, order]),
        1.0,
        1e-10,
    )
    np.testing.assert_allclose(-turned, dual[:, order], atol=1e-10)
    np.testing.assert_allclose(-shifted, intercept, atol=1e-9)


def test_by_hand() -> None:
    # Two points at -1 and 1: w = 1 with coefficients of 1/2, or what C leaves of it.
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    signs = np.array([[-1, 1], [1, -1]], np.int8)
    for C, expected in ((1.0, 0.5), (0.2, 0.2)):
        dual, intercepts, violations = _core.dual_svm(K, signs, C, 1e-6)
        np.testing.assert_array_equal(dual, expected * signs)
        np.testing.assert_array_equal(intercepts, 0.0)
        np.testing.assert_array_equal(violations, 0.0)


@pytest.mark.filterwarnings("ignore")
@each("name", ["west", "khan", "tox_171"])
def test_it_is_scikit_learns_on_real_data(dataset: Any, name: str) -> None:
    from sklearn.svm import SVC

    X, labels, _ = dataset(name)
    classes, codes = np.unique(labels, return_inverse=True)
    Z = X[:, X.std(axis=0) > 0].astype(np.float64)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    test, train = np.arange(len(Z)) % 4 == 0, np.arange(len(Z)) % 4 > 0
    wanted = range(len(classes)) if len(classes) > 2 else [1]
    signs = np.array([np.where(codes[train] == c, 1, -1) for c in wanted], np.int8)
    apart = np.stack([Z[codes == c].mean(axis=0) for c in range(len(classes))]).std(axis=0)
    order = np.argsort(-apart)
    for p in (5, 20, 200, Z.shape[1]):
        A = np.ascontiguousarray(Z[:, order[:p]])
        K, cross = A[train] @ A[train].T, A[test] @ A[train].T
        check_optimal(K, signs, 1.0, 1e-5)
        dual, intercepts, violations = _core.dual_svm(K, signs, 1.0, 1e-8)
        assert violations.max() <= 1e-8
        coarse, offsets, _ = _core.dual_svm(K, signs, 1.0, 1e-5)
        for y, b, intercept, rough, offset in zip(
            signs, dual, intercepts, coarse, offsets, strict=True
        ):
            model = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, y)
            known = np.zeros(len(K))
            known[model.support_] = model.dual_coef_[0]
            best = twin_svm.objective(K, y, known)
            assert twin_svm.objective(K, y, b) <= best + 1e-9 * abs(best)
            decisions = model.decision_function(cross)
            size = max(1.0, np.abs(decisions).max())
            np.testing.assert_allclose(cross @ b + intercept, decisions, atol=1e-5 * size)
            np.testing.assert_allclose(cross @ rough + offset, decisions, atol=5e-3 * size)
            np.testing.assert_array_equal(cross @ rough + offset > 0, model.predict(cross) > 0)


def test_matrices_that_are_hardly_ones() -> None:
    for seed in range(3):
        K, signs = problem(19, 6, seed, n_problems=2)
        duplicates = np.ascontiguousarray(np.tile(K, (2, 2)))
        against = np.ascontiguousarray(np.hstack([signs, -signs]))
        check_optimal(duplicates, against, 1.0, 1e-6)  # each sample once on either side
        for factor in (1e-300, 1e-20, 1e20, 1e140):
            check_optimal(np.eye(19) * factor, signs, 1.0, 1e-6)
            check_optimal(K * min(factor, 1e-3), signs, 1.0, 1e-6)
    zero = np.zeros((5, 5))
    uneven = np.array([[1, 1, 1, -1, -1]], np.int8)
    dual, intercept, violation = _core.dual_svm(zero, uneven, 1.0, 1e-6)
    # Every decision is the intercept: the samples of the rarer side are all at C.
    assert dual[0].tolist() == [1.0, 1.0, 0.0, -1.0, -1.0]
    assert (intercept[0], violation[0]) == (1.0, 0.0)


def test_one_side_alone_and_no_problem() -> None:
    K, _ = problem(6, 3, 0)
    dual, intercepts, violations = _core.dual_svm(
        K, np.array([[1] * 6, [-1] * 6], np.int8), 1.0, 1e-6
    )
    assert not dual.any()
    assert not violations.any()
    assert intercepts.tolist() == [1.0, -1.0]
    dual, intercepts, violations = _core.dual_svm(K, np.zeros((0, 6), np.int8), 1.0, 1e-6)
    assert (dual.shape, intercepts.shape, violations.shape) == ((0, 6), (0,), (0,))


def test_what_cannot_be_solved_says_so() -> None:
    # No inner products: the objective falls without end but for the bounds, and rounding of 1e100
    # is far above any tolerance.
    rng = np.random.default_rng(0)
    K = rng.normal(size=(9, 9)) * 1e100
    K = np.ascontiguousarray(K + K.T)
    signs = np.array([[1, -1, 1, -1, 1, -1, 1, -1, 1]], np.int8)
    dual, intercepts, violations = _core.dual_svm(K, signs, 1.0, 1e-6)
    assert np.all((dual * signs >= 0) & (dual * signs <= 1))
    assert np.isfinite(intercepts).all()
    expected = twin_svm.violation(K, signs[0], 1.0, dual[0])
    assert violations[0] == pytest.approx(expected, rel=1e-9, abs=1e90)


def test_refusals() -> None:
    K, signs = problem(6, 3, 0)
    two = np.array([[1, -1, 2, 1, 1, -1]], np.int8)
    for arguments, message in (
        ((K[:, :5].copy(), signs, 1.0, 1e-5), "K must have shape"),
        ((K, signs[:, :5].copy(), 1.0, 1e-5), "signs must have shape"),
        ((K, two, 1.0, 1e-5), "signs must be 1 or -1"),
        ((K * np.nan, signs, 1.0, 1e-5), "K must be finite"),
        ((K * 1e200, signs, 1.0, 1e-5), "at most 1e150"),
        ((K, signs, 0.0, 1e-5), "C must be positive"),
        ((K, signs, 1.0, 0.0), "tolerance must be"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.dual_svm(*arguments)
