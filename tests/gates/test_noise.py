"""Noise of gates: its distribution, and of what it is a function."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from scipy import stats

from bitsieve._random import Random, Stream

torch = pytest.importorskip("torch")

from bitsieve.gates.noise import PREDICTION_STEP, noise  # noqa: E402

CPU = torch.device("cpu")


@each("distribution, scipy", [("normal", stats.norm), ("logistic", stats.logistic)])
def test_has_its_distribution(distribution: str, scipy: stats.rv_continuous) -> None:
    n = 400_000
    drawn = noise(distribution, 3, 5, (n,), CPU).double().numpy()
    # Kolmogorov's distance is under this in 99 % of exact samples.
    assert stats.kstest(drawn, scipy.cdf).statistic < 1.63 / np.sqrt(n)
    assert drawn.std() == pytest.approx(scipy.std(), rel=0.005)
    # Numbers of one word, and of neighbors, have nothing to do with each other.
    for lag in range(1, 9):
        assert abs(np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1]) < 4 / np.sqrt(n)


def test_is_the_quantiles_that_the_words_choose() -> None:
    drawn = noise("normal", 11, 2, (3, 3), CPU)
    levels = []
    for word in Random(11, Stream.gates, lane=2).words(3):
        for quarter in range(4):
            levels.append(((int(word) >> (16 * quarter)) + 2**15) % 2**16)
    expected = stats.norm.ppf((np.array(levels[:9]) + 0.5) / 2**16).astype(np.float32)
    assert drawn.ravel().tolist() == pytest.approx(expected.tolist(), rel=1e-6)


def test_is_a_function_of_key_and_step_alone() -> None:
    drawn = noise("normal", 1, 4, (4, 10), CPU)
    torch.manual_seed(0)
    assert torch.equal(noise("normal", 1, 4, (4, 10), CPU), drawn)
    assert torch.equal(noise("normal", 1, 4, (2, 10), CPU), drawn[:2])
    assert torch.equal(noise("normal", 1, 4, (2, 2, 10), CPU).view(4, 10), drawn)
    for other in [(2, 4), (1, 5), (1, PREDICTION_STEP + 4)]:
        again = noise("normal", *other, (4, 10), CPU)
        assert (again == drawn).sum() == 0


def test_has_no_number_beyond_its_quantiles() -> None:
    drawn = noise("normal", 0, 0, (2_000_000,), CPU)
    assert len(drawn.unique()) == 2**16
    assert float(drawn.max()) == pytest.approx(4.3249, abs=1e-4)
    assert float(drawn.min()) == -float(drawn.max())
