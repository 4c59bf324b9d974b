"""Forward orthogonalisation against a twin that projects the whole table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
import twin_univariate as twin
from each import each, each_isa
from sklearn.linear_model import LinearRegression

import bitsieve
from bitsieve._random import Random, Stream
from bitsieve.filters import gram_schmidt, pearson


def one_hot(y: Any) -> Any:
    return (y == np.unique(y)[:, None]).astype(np.float64)


@each("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [0, 2, 4])
@each_isa
def test_twin(n_classes: int, dtype: Any, isa: str) -> None:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(40, 70)).astype(dtype)
    y = rng.normal(size=40) if n_classes == 0 else np.arange(40) % n_classes
    targets = y[None] if n_classes == 0 else one_hot(y)
    expected, cosines = twin.gram_schmidt(X.astype(np.float64), targets, 25)
    order, scores = gram_schmidt(X, y, 25, return_scores=True)
    assert order.tolist() == expected
    assert order.dtype == np.int64
    np.testing.assert_allclose(scores, cosines, rtol=1e-8)
    assert np.array_equal(gram_schmidt(X, y, 25), order)
    assert np.array_equal(gram_schmidt(X, y, 7), order[:7])


@pytest.mark.parametrize("name", ["sonar", "khan"])
def test_real_data(name: str, dataset: Any) -> None:
    X, y, _ = dataset(name)
    X = np.ascontiguousarray(X[:, :500], dtype=np.float64)
    expected, cosines = twin.gram_schmidt(X, one_hot(y), 12)
    order, scores = gram_schmidt(X, y, 12, return_scores=True)
    assert order.tolist() == expected
    np.testing.assert_allclose(scores, cosines, rtol=1e-7)


def test_first_is_the_best_correlation_and_the_fit_grows_by_the_cosines() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 30))
    y = X[:, 3] - X[:, 8] + rng.normal(size=50)
    order, scores = gram_schmidt(X, y, 6, return_scores=True)
    assert order[0] == np.argmax(pearson(X, y))
    assert {3, 8} <= set(order.tolist())
    left = 1.0
    for k in range(6):
        left *= 1 - scores[k]
        chosen = X[:, order[: k + 1]]
        assert 1 - left == pytest.approx(LinearRegression().fit(chosen, y).score(chosen, y))


def test_copies_constants_and_sums_are_never_taken() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=(30, 4))
    X = np.column_stack([base, base[:, 1], base[:, 0] - 2 * base[:, 2], np.full(30, 0.1), base])
    order = gram_schmidt(X, rng.normal(size=30))
    assert len(order) == 4
    assert 6 not in order
    assert np.linalg.matrix_rank(X[:, order]) == 4
    assert gram_schmidt(np.tile(base, 3), base[:, 2] + 0.1 * base[:, 0], 1).tolist() == [2]


def test_a_target_that_is_explained_ends_it() -> None:
    X = np.random.default_rng(0).normal(size=(30, 10))
    order, scores = gram_schmidt(X, X[:, 7] * 3 + 1, return_scores=True)
    assert order.tolist() == [7]
    assert scores[0] == pytest.approx(1.0)
    assert gram_schmidt(np.full((30, 2), 0.1), X[:, 0]).tolist() == []
    # n samples have n - 1 directions once their mean is gone.
    assert len(gram_schmidt(np.random.default_rng(1).normal(size=(8, 40)), np.arange(8) / 7)) <= 7


def test_units_offsets_and_orders_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 3
    X[:, 5] += y == 1
    expected = gram_schmidt(X, y, 8)
    assert np.array_equal(gram_schmidt(X * 10.0 ** rng.integers(-5, 5, 30) + 100, y, 8), expected)
    rows, columns = rng.permutation(40), rng.permutation(30)
    assert np.array_equal(gram_schmidt(X[rows], y[rows], 8), expected)
    assert np.array_equal(columns[gram_schmidt(X[:, columns], y, 8)], expected)
    assert np.array_equal(gram_schmidt(X, np.array(["z", "a", "m"])[y], 8), expected)
    assert np.array_equal(gram_schmidt(X, (y == 1).astype(int), 8), gram_schmidt(X, y == 1, 8))


def test_offsets_of_1e9() -> None:
    X = np.random.default_rng(0).integers(0, 1000, (40, 30)).astype(np.float64)
    y = X[:, 3] * 2 - X[:, 9] + np.arange(40) % 5
    assert np.array_equal(gram_schmidt(X + 1e9, y + 1e9, 6), gram_schmidt(X, y, 6))


def test_same_bits_for_threads_and_instruction_sets() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2500)).astype(np.float32), np.arange(60) % 2
    before = bitsieve.get_isa()
    expected = gram_schmidt(X, y, 20, return_scores=True, n_jobs=1)
    try:
        for name in bitsieve.available_isas():
            bitsieve.set_isa(name)
            for n_jobs in (1, 2, 4):
                found = gram_schmidt(X, y, 20, return_scores=True, n_jobs=n_jobs)
                assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    finally:
        bitsieve.set_isa(before)


def test_risk_is_that_of_the_beta_distribution() -> None:
    """Stop exactly where the recursion of Stoppiglia et al. (2003) passes the risk."""
    rng = np.random.default_rng(0)
    n = 60
    X = rng.normal(size=(n, 40))
    y = X[:, 0] + X[:, 1] * 0.7 + X[:, 2] * 0.5 + rng.normal(size=n)
    order, scores = gram_schmidt(X, y, return_scores=True)
    risk, risks = 0.0, []
    for k, score in enumerate(scores[:20]):
        chance = scipy.stats.beta.sf(score, 0.5, (n - 2 - k) / 2)
        risk += (1 - risk) * chance
        risks.append(risk)
    near = [risk * share for risk in risks if risk > 1e-9 for share in (1 - 1e-6, 1 + 1e-6)]
    for limit in (1e-6, 0.01, 0.1, 0.3, *(limit for limit in near if limit < 1)):
        expected = order[: int(np.searchsorted(risks, limit, side="right"))]
        assert np.array_equal(gram_schmidt(X, y, probe_risk=limit), expected)
    assert 3 <= len(gram_schmidt(X, y, probe_risk=0.1)) < 20


def test_probability_of_a_probe_is_what_probes_do() -> None:
    from bitsieve.filters.orthogonal import _probe

    rng = np.random.default_rng(0)
    n = 30
    for y in (rng.normal(size=(1, n)), one_hot(np.arange(n) % 3)):
        y = y - y.mean(axis=1, keepdims=True)
        probes = rng.normal(size=(20_000, n))
        probes -= probes.mean(axis=1, keepdims=True)
        cosine = ((probes @ y.T) ** 2).sum(axis=1) / (probes**2).sum(axis=1) / (y**2).sum()
        for score in (0.01, 0.05, 0.2):
            random = Random(1, Stream.tests)
            chance = _probe(score, y / np.sqrt((y**2).sum()), n - 1, 20_000, random)
            assert chance == pytest.approx((cosine >= score).mean(), abs=0.012)


def test_a_drawn_probability_is_never_none_and_knows_no_unit() -> None:
    from bitsieve.filters.orthogonal import _probe

    y = one_hot(np.arange(30) % 3)
    y = y - y.mean(axis=1, keepdims=True)
    assert _probe(1.0, y, 29, 9, Random(0, Stream.tests)) == 0.1
    X = np.arange(30.0)[:, None] % 3
    assert len(gram_schmidt(X, np.arange(30) % 3, probe_risk=0.05, n_probes=9)) == 0
    chances = [_probe(0.1, c * y, 29, 500, Random(0, Stream.tests)) for c in (1.0, 0.01)]
    assert chances[0] == pytest.approx(chances[1], rel=1e-12)


def test_nearly_dependent_features_keep_their_digits() -> None:
    """What is left of a feature is one part in 10,000 of it; at 1e-6 it is spent."""
    rng = np.random.default_rng(0)
    base, other = rng.normal(size=(2, 40))
    y = base + other
    for share, n_taken in ((1e-4, 2), (1e-6, 1)):
        X = np.column_stack([base, base + share * other])
        assert len(gram_schmidt(X, y)) == n_taken
    X = base[:, None] + 1e-4 * rng.normal(size=(40, 12))
    order, scores = gram_schmidt(X, y, return_scores=True)
    assert sorted(order) == list(range(12))
    left = y - y.mean()
    for k, score in enumerate(scores):
        part = X[:, order[: k + 1]] - X[:, order[: k + 1]].mean(axis=0)
        rest = y - y.mean() - part @ np.linalg.lstsq(part, y - y.mean())[0]
        assert score == pytest.approx(1 - (rest @ rest) / (left @ left), rel=1e-6, abs=1e-9)
        left = rest


def test_noise_is_mostly_left_out() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 5))
    X[:, 2] += 3 * y
    for seed in (0, 1):
        taken = gram_schmidt(X, y, probe_risk=0.05, random_state=seed)
        assert taken[0] == 2
        assert len(taken) < 5
    same = [gram_schmidt(X, y, probe_risk=0.05, random_state=3).tolist() for _ in range(2)]
    assert same[0] == same[1]


def test_refusals() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 5)), np.arange(20) % 2
    with pytest.raises(ValueError, match="n_features is 6, but X has 5"):
        gram_schmidt(X, y, 6)
    with pytest.raises(ValueError, match="n_features must be a whole number from 1 on or None"):
        gram_schmidt(X, y, 0)
    with pytest.raises(ValueError, match=r"probe_risk must be a number in \(0, 1\) or None, got 1"):
        gram_schmidt(X, y, probe_risk=1)
    with pytest.raises(ValueError, match=r"probe_risk must be a number in .*, got '5%'"):
        gram_schmidt(X, y, probe_risk="5%")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="y is 2 for all"):
        gram_schmidt(X, np.full(20, 2.0), task="regression")
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN: 1 value in 1 column"):
        gram_schmidt(X, y)
    with pytest.raises(ValueError, match=r"squares fit into float64.*number 1 does not; scale it"):
        gram_schmidt(np.random.default_rng(0).normal(size=(20, 3)) * [1, 1e200, 1], y)
