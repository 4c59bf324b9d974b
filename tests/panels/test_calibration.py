"""Probabilities from decisions, held to scikit-learn's Platt scaling and to a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.calibration import _SigmoidCalibration

from bitsieve.panels.calibration import Calibration
from bitsieve.panels.gram import ABSENT


def drawn(seed, n=60, count=2, spread=1.5):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, count, n)
    if count == 2:
        return rng.normal(size=(n, 1)) + spread * (codes[:, None] - 0.4), codes
    decisions = rng.normal(size=(n, count))
    decisions[np.arange(n), codes] += spread
    return decisions * 3 + np.arange(count), codes


def test_two_classes_are_those_of_platt():
    for seed in range(10):
        decisions, codes = drawn(seed, n=20 + 13 * seed)
        decisions *= 10.0 ** (seed - 5)
        ours = Calibration.fit(decisions, codes, 2)
        theirs = _SigmoidCalibration().fit(decisions[:, 0], codes)
        new = np.linspace(-3, 3, 50)[:, None] * 10.0 ** (seed - 5)
        expected = theirs.predict(new[:, 0])
        np.testing.assert_allclose(ours.apply(new)[:, 1], expected, atol=2e-4)
        # scikit-learn stops early; ours is no less likely.
        n1, n0 = codes.sum(), (codes == 0).sum()
        target = np.where(codes == 1, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))

        def loss(p, target=target):
            return -np.sum(target * np.log(p) + (1 - target) * np.log1p(-p))

        here = ours.apply(decisions)[:, 1]
        assert loss(here) <= loss(theirs.predict(decisions[:, 0])) + 1e-9
        # At the optimum the probabilities agree with the targets in mean and in moment.
        assert np.sum(here - target) == pytest.approx(0, abs=1e-7)
        assert np.sum((here - target) * decisions[:, 0]) == pytest.approx(
            0, abs=1e-7 * np.abs(decisions).sum()
        )


def test_several_classes_are_those_of_an_optimiser():
    for seed, count in ((0, 3), (1, 4), (2, 7)):
        decisions, codes = drawn(seed, n=80, count=count)
        ours = Calibration.fit(decisions, codes, count)
        counts = np.bincount(codes, minlength=count)[codes][:, None]
        targets = np.where(codes[:, None] == np.arange(count), counts + 1, 1) / (counts + count)

        def loss(theta, decisions=decisions, targets=targets):
            return -np.sum(targets * log_softmax(theta[0] * decisions + theta[1:], axis=1))

        best = minimize(loss, np.zeros(count + 1), tol=1e-12)
        assert loss(np.append(ours.slope, ours.offset)) <= best.fun + 1e-6
        expected = softmax(best.x[0] * decisions + best.x[1:], axis=1)
        np.testing.assert_allclose(ours.apply(decisions), expected, atol=1e-4)
        assert ours.offset.sum() == pytest.approx(0, abs=1e-9)


def test_it_finds_what_decisions_mean():
    rng = np.random.default_rng(0)
    for count in (2, 3):
        scores = 2 * rng.normal(size=(20_000, count))
        codes = (softmax(scores, axis=1).cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
        # Decisions are ten times the log-odds, and one class is told too low by 5.
        decisions = 10 * scores - 5 * (np.arange(count) == 0)
        if count == 2:
            decisions = decisions[:, 1:] - decisions[:, :1]
        found = Calibration.fit(decisions, codes, count)
        assert found.slope == pytest.approx(0.1, rel=0.05)
        np.testing.assert_allclose(found.apply(decisions), softmax(scores, axis=1), atol=0.04)


def test_edges():
    rng = np.random.default_rng(1)
    apart = np.where(np.arange(40) % 2, 1.0, -1.0)[:, None]
    three, wide = np.arange(42) % 3, np.eye(3)[np.arange(42) % 3] * 9.0
    wild = drawn(3, count=3)
    wild[0][0, 0], wild[0][1, 1] = 1e12, ABSENT
    cases = {
        "perfect": (apart, np.arange(40) % 2, 2),
        "perfect, huge": (apart * 1e200, np.arange(40) % 2, 2),
        "perfect, tiny": (apart * 1e-200, np.arange(40) % 2, 2),
        "always wrong": (-apart, np.arange(40) % 2, 2),
        "constant": (np.full((40, 1), 3.0), np.arange(40) % 2, 2),
        "one class": (rng.normal(size=(40, 1)), np.zeros(40, dtype=int), 2),
        "other class": (rng.normal(size=(40, 1)), np.ones(40, dtype=int), 2),
        "one sample": (np.ones((1, 1)), np.array([1]), 2),
        "wild": (rng.standard_cauchy((40, 1)) ** 3, np.arange(40) % 2, 2),
        "three, perfect": (wide, three, 3),
        "three, always wrong": (-wide, three, 3),
        "three, constant": (wide * 0, three, 3),
        "three, one class": (wide, three * 0 + 2, 3),
        "three, one sample": (wide[:1], three[:1], 3),
        "three, wild": (*wild, 3),
        "three, a class absent": (
            np.where(np.arange(3) == 1, ABSENT, rng.normal(size=(42, 3))), three, 3,
        ),
        "three, one alone": (np.where(np.arange(3) == 1, 0.0, np.full((42, 3), ABSENT)), three, 3),
    }  # fmt: skip
    far = [1e300, -1e300, 0.0, 1e-300, ABSENT, 5.0]
    for case, (decisions, codes, count) in cases.items():
        with np.errstate(all="raise", under="ignore"):
            found = Calibration.fit(decisions, codes, count)
            extreme = np.resize(far, (12, decisions.shape[1]))
            for shown in (decisions, extreme):
                probabilities = found.apply(shown)
                assert np.isfinite(probabilities).all(), case
                assert (probabilities >= 0).all(), case
                np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)
        assert found.slope >= 0, case
        assert np.isfinite(found.slope), case
        assert np.isfinite(found.offset).all(), case
        if "wrong" in case or "constant" in case:
            assert np.ptp(found.apply(decisions)) < 1 / count, case
    sure = Calibration.fit(apart, np.arange(40) % 2, 2).apply(np.array([[1.0]]))
    assert sure[0, 1] == pytest.approx(21 / 22, abs=1e-6)  # Platt's target for 20 samples
    shares = Calibration.fit(-wide, three, 3).apply(wide)
    np.testing.assert_allclose(shares, 1 / 3)
    always = Calibration.fit(np.zeros((8, 1)), np.zeros(8, dtype=int), 2).apply(np.zeros((1, 1)))
    assert always[0, 1] == pytest.approx(0.1)


def test_a_sample_is_the_same_in_any_batch():
    for count in (2, 3, 9, 20):
        decisions, codes = drawn(5, n=101, count=count)
        found = Calibration.fit(decisions, codes, count)
        whole = found.apply(decisions)
        for batch in (1, 2, 7, 64):
            for start in range(0, 101, batch):
                part = found.apply(decisions[start : start + batch])
                assert (part == whole[start : start + batch]).all()


def test_messages():
    for count, shape in ((2, (3, 2)), (3, (3, 1)), (2, (2, 1)), (3, (0, 3))):
        codes = np.zeros(3 if shape[0] else 0, dtype=int)
        with pytest.raises(ValueError, match=r"decisions of shape .* are expected for \d samples"):
            Calibration.fit(np.zeros(shape), codes, count)
    with pytest.raises(ValueError, match="decisions must be finite"):
        Calibration.fit(np.array([[np.nan], [1.0]]), np.array([0, 1]), 2)
