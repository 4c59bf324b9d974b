"""The mean over splits is numpy's, whatever their number."""

from __future__ import annotations

import numpy as np

from bitsieve.fitness.base import mean_over_splits


def test_the_mean_over_splits_is_numpys_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    for n_splits in range(1, 20):
        for n_masks in (1, 2, 7, 1000):
            scores = rng.normal(size=(n_masks, n_splits))
            scores *= 10.0 ** rng.integers(-8, 8, size=scores.shape)
            assert mean_over_splits(scores).tobytes() == scores.mean(axis=1).tobytes()
            scores[scores < 0] = -0.0
            assert mean_over_splits(scores).tobytes() == scores.mean(axis=1).tobytes()
    assert mean_over_splits(np.empty((0, 5))).shape == (0,)
