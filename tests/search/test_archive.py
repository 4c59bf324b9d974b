"""The archive against sorting everything."""

from __future__ import annotations

import numpy as np
from each import each

from bitsieve.masks import Masks
from bitsieve.search.archive import Archive


def key(i, n_features=20):
    return Masks.from_bool(np.array([i >> f & 1 for f in range(n_features)], bool)).key(0)


@each("capacity", [1, 3, 10])
def test_keeps_the_best_distinct_masks(capacity):
    rng = np.random.default_rng(capacity)
    archive = Archive(capacity, 20)
    best, first, size = {}, {}, {}
    highest = -np.inf
    for step in range(2000):
        i = int(rng.integers(1, 60))
        score = float(rng.integers(0, 30))
        is_new = archive.add(key(i), score, i.bit_count(), step, step)
        assert is_new == (score > highest)
        highest = max(highest, score)
        # A mask that was dropped is new when it comes back.
        if i not in {int.from_bytes(e.key, "little") for e in archive.ranked(capacity)}:
            best.pop(i, None)
            continue
        if i not in best:
            first[i], size[i], best[i] = step, i.bit_count(), score
        best[i] = max(best[i], score)
        for dropped in set(best) - {
            int.from_bytes(e.key, "little") for e in archive.ranked(capacity)
        }:
            del best[dropped]
        expected = sorted(best, key=lambda i: (-best[i], size[i], first[i]))[:capacity]
        assert [int.from_bytes(e.key, "little") for e in archive.ranked(capacity)] == expected
    assert archive.best.best == highest == archive.ranked(1)[0].best


def test_top_scores_equal_those_of_a_full_sort():
    rng = np.random.default_rng(0)
    archive = Archive(10, 20)
    scores = rng.permutation(5000)[:3000]
    for step, score in enumerate(scores):
        archive.add(key(step + 1), float(score), 1, step, step)
    assert [e.best for e in archive.ranked(10)] == sorted(scores.tolist(), reverse=True)[:10]


def test_state_round_trip():
    archive = Archive(3, 20)
    for step, (i, score) in enumerate(
        [(1, 0.5), (2, 0.7), (1, 0.6), (3, 0.7), (4, 0.1), (5, 0.65)]
    ):
        archive.add(key(i), score, i.bit_count(), step, step)
    other = Archive(3, 20)
    other.set_state(archive.state())
    assert other.ranked(9) == archive.ranked(9)
    assert other.best == archive.best
    assert other.masks(other.ranked(2)).indices_of(0).tolist() == [1]
    empty = Archive(3, 20)
    empty.set_state(Archive(3, 20).state())
    assert empty.best is None
    assert len(empty) == 0
