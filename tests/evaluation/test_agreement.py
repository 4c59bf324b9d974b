"""Indices of agreement: published values, the definitions by loops, and chance by enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from each import each
from scipy import stats

from bitsieve import Masks
from bitsieve.evaluation import stability


def rows(sets: list[Any], p: int) -> np.ndarray:
    """Sets of features that are counted from 1, as the papers do."""
    return Masks.from_indices([np.asarray(one) - 1 for one in sets], n_features=p).to_bool()


# ---- published values ----------------------------------------------------------------------


# Outputs in the demonstration of Nogueira's own package (nogueirs/JMLR2018, stabilityDemo).
OF_NOGUEIRA = [
    ([[1, 1, 0], [1, 1, 0], [1, 1, 0]], 1.0, None),
    ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], -0.5, None),
    (
        [
            [1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 1, 1, 1, 0, 0],
            [0, 1, 0, 0, 0, 1, 1, 1, 0, 0],
            [1, 1, 0, 0, 1, 0, 1, 0, 0, 0],
            [0, 1, 1, 0, 1, 1, 0, 0, 0, 0],
            [0, 1, 1, 1, 0, 0, 1, 0, 0, 0],
            [1, 0, 0, 1, 0, 0, 0, 0, 1, 1],
            [0, 0, 0, 1, 0, 1, 1, 1, 0, 0],
            [0, 0, 1, 1, 1, 1, 0, 0, 0, 0],
            [0, 0, 0, 0, 1, 0, 0, 1, 1, 1],
        ],
        -0.037037037037,
        0.00516666666667,
    ),
]


@each("supports, value, variance", OF_NOGUEIRA)
def test_nogueira_of_the_paper_s_package(supports: Any, value: float, variance: Any) -> None:
    found = stability(supports, sampling="independent")
    assert found.nogueira.value == pytest.approx(value, abs=1e-12)
    if variance is not None:
        half = stats.norm.ppf(0.975) * math.sqrt(variance)
        assert found.interval.high == pytest.approx(value + half, abs=1e-10)
        assert found.interval.low == -1 / 9  # the least value that there is


# The examples of the R package stabm and of its vignette, with the numbers it prints.
OF_STABM = [
    ([[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]], 0.7222222, 0.7166667, 0.5333333),
    ([[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 5, 6, 7]], 0.4570136, 0.5595238, None),
]


@each("sets, nogueira, jaccard, lustgarten", OF_STABM)
def test_the_examples_of_stabm(sets: Any, nogueira: float, jaccard: float, lustgarten: Any) -> None:
    found = stability(rows(sets, 10))
    assert found.nogueira.value == pytest.approx(nogueira, abs=5e-8)
    assert found.jaccard.value == pytest.approx(jaccard, abs=5e-8)
    assert found.is_lustgarten
    assert "Lustgarten" in found.text()
    if lustgarten is not None:
        assert found.kuncheva.value == pytest.approx(lustgarten, abs=5e-8)


def test_kuncheva_s_own_example() -> None:
    # The two sequences of ten features in Kuncheva (2007), their first k.
    one, two = [9, 7, 2, 1, 3, 10, 8, 4, 5, 6], [3, 7, 9, 10, 2, 4, 8, 6, 1, 5]
    values = [stability(rows([one[:k], two[:k]], 10)).kuncheva.value for k in range(1, 10)]
    common = [len(set(one[:k]) & set(two[:k])) for k in range(1, 10)]
    expected = [(10 * r - k * k) / (k * (10 - k)) for k, r in enumerate(common, 1)]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert values[2] == pytest.approx(11 / 21)


# ---- the definitions, by loops -------------------------------------------------------------


def twin(z: np.ndarray) -> tuple[float, float, float]:
    m, p = z.shape
    spread = [m / (m - 1) * z[:, f].mean() * (1 - z[:, f].mean()) for f in range(p)]
    share = z.sum() / (m * p)
    jaccard, kuncheva, lustgarten = [], [], []
    for i, j in itertools.combinations(range(m), 2):
        one, two = set(np.flatnonzero(z[i])), set(np.flatnonzero(z[j]))
        r, a, b = len(one & two), len(one), len(two)
        jaccard.append(r / len(one | two) if one | two else 1.0)
        improper = {a, b} & {0, p}
        kuncheva.append(0.0 if improper else (r - a * b / p) / (min(a, b) - a * b / p))
        most, least = min(a, b), max(0, a + b - p)
        lustgarten.append(0.0 if improper else (r - a * b / p) / (most - least))
    alike = len(set(z.sum(axis=1))) == 1
    pairs = kuncheva if alike else lustgarten
    return 1 - np.mean(spread) / (share * (1 - share)), np.mean(jaccard), np.mean(pairs)


def test_equals_the_definitions() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        m, p = rng.integers(2, 9), rng.integers(2, 15)
        z = rng.random((m, p)) < rng.uniform(0.1, 0.9)
        if seed % 2:  # of one size
            z = np.argsort(rng.random((m, p)), axis=1) < rng.integers(1, p)
        if z.all() or not z.any():
            continue
        found = stability(z)
        values = found.nogueira.value, found.jaccard.value, found.kuncheva.value
        np.testing.assert_allclose(values, twin(z), atol=1e-12)
        assert found.frequency.tolist() == z.mean(axis=0).tolist()
        if not found.is_lustgarten:  # the paper's theorem: one and the same
            assert found.nogueira.value == pytest.approx(found.kuncheva.value, abs=1e-12)


def test_the_variance_is_that_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    z = (rng.random((12, 30)) < rng.random(30)).astype(float)
    m, d = z.shape
    p_f, k = z.mean(axis=0), z.sum(axis=1)
    mean_k = k.mean()
    found = stability(z, sampling="independent")
    value = found.nogueira.value
    phi = [
        (
            sum(z[i, f] * p_f[f] for f in range(d)) / d
            - k[i] * mean_k / d**2
            + value / 2 * (2 * k[i] * mean_k / d**2 - k[i] / d - mean_k / d + 1)
        )
        / (mean_k / d * (1 - mean_k / d))
        for i in range(m)
    ]
    variance = 4 / m**2 * sum((one - np.mean(phi)) ** 2 for one in phi)
    half = stats.norm.ppf(0.975) * math.sqrt(variance)
    np.testing.assert_allclose(found.interval, (value - half, value + half), atol=1e-12)


# ---- chance --------------------------------------------------------------------------------


@each(
    "sizes, p", [((2, 2), 5), ((1, 3), 5), ((4, 3), 5), ((2, 1, 3), 4), ((2, 2, 2), 4), ((0, 2), 4)]
)
def test_chance_is_the_mean_over_all_draws(sizes: tuple[int, ...], p: int) -> None:
    draws = [list(itertools.combinations(range(p), k)) for k in sizes]
    found = [
        stability(Masks.from_indices([list(c) for c in each], n_features=p).to_bool())
        for each in itertools.product(*draws)
    ]
    for name in ("nogueira", "jaccard", "kuncheva"):
        values = [getattr(one, name).value for one in found]
        assert getattr(found[0], name).chance == pytest.approx(np.mean(values), abs=1e-12)


@each("a, b, p", [(20, 20, 22283), (1, 1, 22283), (1100, 1130, 2228), (2228, 5, 2228)])
def test_jaccard_by_chance_of_wide_tables(a: int, b: int, p: int) -> None:
    z = np.zeros((2, p), dtype=bool)
    z[0, :a], z[1, :b] = True, True
    r = np.arange(max(0, a + b - p), min(a, b) + 1)
    expected = np.sum(stats.hypergeom.pmf(r, p, a, b) * r / (a + b - r))
    assert stability(z).jaccard.chance == pytest.approx(expected, rel=1e-9)


# ---- intervals -----------------------------------------------------------------------------


def test_interval_of_independent_subsamples_covers() -> None:
    rng = np.random.default_rng(0)
    weight = np.linspace(0.0, 4.0, 12)

    def drawn(m: int) -> np.ndarray:  # four of twelve features, some much likelier than others
        keys = weight + rng.gumbel(size=(m, 12))
        return np.argsort(np.argsort(-keys, axis=1), axis=1) < 4

    frequency = drawn(100_000).mean(axis=0)
    truth = 1 - np.mean(frequency * (1 - frequency)) / (1 / 3 * 2 / 3)
    held = [truth in stability(drawn(40), sampling="independent").interval for _ in range(150)]
    assert np.mean(held) > 0.88


def test_interval_only_where_selections_are_independent() -> None:
    z = np.random.default_rng(0).random((10, 30)) < 0.3
    for sampling, word in (("overlapping", "share samples"), ("seeds", "seeds alone")):
        found = stability(z, sampling=sampling)  # type: ignore[arg-type]
        assert math.isnan(found.interval.low)
        assert word in found.text()
        assert "interval" not in found.line()
    found = stability(z, sampling="independent")
    assert found.interval.low < found.nogueira.value < found.interval.high
    assert "not of other samples" in found.text()
    narrow = stability(z, sampling="independent", level=0.5).interval
    assert found.interval.low < narrow.low < narrow.high < found.interval.high
    same = stability(z[[0, 0, 0]], sampling="independent")
    assert same.nogueira.value == same.jaccard.value == 1.0
    assert math.isnan(same.interval.high)
    assert "nothing differs" in same.text()


def test_halves_are_compared_within_their_splits() -> None:
    rng = np.random.default_rng(1)
    z = np.repeat(rng.random((6, 40)) < 0.2, 2, axis=0)  # the two halves agree, splits do not
    z[:, 0] = True
    z[1, 0] = False
    found = stability(z, sampling="halves")
    pairs = [stability(z[i : i + 2]) for i in range(0, 12, 2)]
    for name in ("nogueira", "jaccard", "kuncheva"):
        mean = np.mean([getattr(pair, name).value for pair in pairs])
        if name != "kuncheva":  # Lustgarten's form is taken for all pairs, not for one
            assert getattr(found, name).value == pytest.approx(mean, abs=1e-12)
    assert found.nogueira.value > 0.9
    values = [pair.nogueira.value for pair in pairs]
    low, high = stats.t.interval(0.95, 5, np.mean(values), stats.sem(values))
    np.testing.assert_allclose(found.interval, (low, min(high, 1.0)))
    assert found.text().startswith("6 pairs of halves")
    assert "at least two splits" in stability(z[:2], sampling="halves").text()


# ---- the ends ------------------------------------------------------------------------------


@each("fill", [False, True])
def test_nothing_and_everything_selected(fill: bool) -> None:
    for sampling in ("overlapping", "independent", "halves"):
        found = stability(np.full((4, 6), fill), sampling=sampling)  # type: ignore[arg-type]
        assert math.isnan(found.nogueira.value)
        assert math.isnan(found.kuncheva.value)
        assert found.jaccard == (1.0, 1.0)
        assert "undefined" in found.text()
        assert math.isnan(found.interval.low)
    mixed = stability([[fill] * 4, [True, False, False, False], [True, False, False, False]])
    assert mixed.kuncheva.value == pytest.approx((1 - 1 / 4) / 3)  # the others count 0


@each(
    "supports, message",
    [
        ([[1, 0]], r"at least two selections .* its shape is \(1, 2\)"),
        ([1, 0], r"its shape is \(2,\)"),
        ([[], []], r"its shape is \(2, 0\)"),
        ([[1, 2], [3, 0]], "True and False, or 1 and 0"),
        ([["a"], ["b"]], "True and False, or 1 and 0"),
        ([[np.nan, 1.0], [0.0, 1.0]], "True and False, or 1 and 0"),
    ],
)
def test_what_is_no_matrix_of_supports(supports: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stability(supports)


def test_options_that_are_none() -> None:
    z = np.eye(3, dtype=bool)
    with pytest.raises(ValueError, match="supports has 3 rows: an even number is expected"):
        stability(z, sampling="halves")
    with pytest.raises(ValueError, match="sampling must be"):
        stability(z, sampling="folds")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level must be"):
        stability(z, level=95)


def test_the_record_is_what_the_text_says() -> None:
    record = stability(rows([[1, 2], [1, 2, 3]], 6)).as_dict()
    assert record["lustgarten"]["value"] == pytest.approx(1 / 2)
    assert record["sizes"] == [2, 3]
    assert record["jaccard"]["value"] == pytest.approx(2 / 3)
    assert "No interval" in record["remark"]
