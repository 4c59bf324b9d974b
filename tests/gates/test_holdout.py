"""The validation part: shares of strata, whole groups, the same for the same key."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

pytest.importorskip("torch")

from bitsieve._random import Random, Stream
from bitsieve.gates.holdout import holdout


@each("key", range(5))
def test_each_stratum_gives_its_share(key: int) -> None:
    strata = np.repeat([0, 1, 2], [50, 30, 2])[Random(key, Stream.tests).permutation(82)]
    held = holdout(82, 0.2, key, strata=strata)
    assert np.bincount(strata[held]).tolist() == [10, 6, 1]
    assert np.array_equal(held, holdout(82, 0.2, key, strata=strata))


def test_another_key_holds_out_others() -> None:
    assert not np.array_equal(holdout(100, 0.3, 0), holdout(100, 0.3, 1))


@each("key", range(5))
def test_groups_stay_together(key: int) -> None:
    groups = Random(key, Stream.tests).integers(20, 200)
    strata = (groups % 2).astype(np.int64)
    held = holdout(200, 0.25, key, strata=strata, groups=groups)
    assert not set(groups[held]) & set(groups[~held])
    assert 0.2 < held.mean() < 0.4
    for stratum in (0, 1):
        assert held[strata == stratum].any()
        assert not held[strata == stratum].all()


def test_one_alone_is_not_held_out() -> None:
    assert not holdout(1, 0.5, 0).any()
    assert holdout(2, 0.01, 0).sum() == 1
    assert not holdout(6, 0.5, 0, groups=np.zeros(6, int)).any()
