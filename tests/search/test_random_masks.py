"""Random search: sizes and features are drawn as promised."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

from bitsieve.search import RandomMaskSearch


def drawn(search, n):
    masks = []
    for _ in range(n):
        asked = search.ask()
        masks.append(asked.to_bool())
        search.tell(asked, np.zeros(len(asked)))
    return np.concatenate(masks)


def test_sizes_are_uniform_and_features_alike():
    masks = drawn(RandomMaskSearch(10, seed=3, n_asked=200), 100)
    sizes = np.bincount(masks.sum(axis=1), minlength=11)
    assert sizes[0] == 0
    # 20,000 draws of 10 sizes: 2,000 +- 42 each.
    assert np.abs(sizes[1:] - 2000).max() < 5 * 42
    # Each feature is in a mask with probability 5.5 / 10.
    assert np.abs(masks.mean(axis=0) - 0.55).max() < 5 * 0.5 / np.sqrt(20000)


def test_one_size():
    masks = drawn(RandomMaskSearch(300, min_size=20, max_size=20), 3)
    assert (masks.sum(axis=1) == 20).all()
    assert len(np.unique(masks, axis=0)) == 96


def test_seeds_differ_and_repeat():
    a, b, c = (drawn(RandomMaskSearch(50, seed=s), 2) for s in (1, 1, 2))
    assert (a == b).all()
    assert (a != c).any()


@each(
    ("options", "words"),
    [
        ({"max_size": 0}, "max_size"),
        ({"min_size": 3, "max_size": 2}, "min_size=3 and max_size=2"),
        ({"n_asked": 0}, "n_asked"),
        ({"seed": -1}, "seed"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(ValueError, match=words):
        RandomMaskSearch(5, **options)
