"""Stochastic local search: each kind of step does what it says, as often as it says."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from each import each
from twin_local import Adaptive

from bitsieve.masks import Masks
from bitsieve.search import (
    LOCAL_PRESETS,
    StochasticLocalMaskSearch,
    best_of_scores,
    run,
)

P = 12


def values(masks, weights=None):
    weights = np.ones(masks.n_features) if weights is None else weights
    return masks.to_bool() @ weights


def walk(search, n, score=values):
    """(mask before, asked masks, their scores, mask after) of each step after the start."""
    steps = []
    asked = search.ask()
    search.tell(asked, score(asked))
    for _ in range(n):
        before, asked = search.mask.to_bool()[0], search.ask()
        scores = score(asked)
        search.tell(asked, scores)
        steps.append((before, asked.to_bool(), scores, search.mask.to_bool()[0]))
    return steps


@each("start", ["zeros", "random", np.arange(P) % 3 == 0])
def test_rate_one_restarts_always(start):
    search = StochasticLocalMaskSearch(P, p_restart=1.0, p_noise=1.0, start=start)
    steps = walk(search, 50)
    assert search.n_steps == {"restart": 51, "noise": 0, "greedy": 0}
    after = np.array([after for *_, after in steps])
    if isinstance(start, str) and start == "random":
        assert len(np.unique(after, axis=0)) > 40  # of 4,096
    else:
        assert (after == (False if isinstance(start, str) else start)).all()


def test_rate_one_is_noise_always_and_zero_never():
    noise = StochasticLocalMaskSearch(P, p_restart=0.0, p_noise=1.0, neighborhood=1.0)
    for before, asked, _, after in walk(noise, 50):
        assert len(asked) == 1
        assert (asked[0] != before).sum() == 1
        assert (after == asked[0]).all()  # accepted, worse or not
    assert noise.n_steps == {"restart": 1, "noise": 50, "greedy": 0}
    greedy = StochasticLocalMaskSearch(P, p_restart=0.0, p_noise=0.0, neighborhood=5)
    assert all(len(asked) == 5 for _, asked, _, _ in walk(greedy, 50))
    assert greedy.n_steps == {"restart": 1, "noise": 0, "greedy": 50}


def test_rates_between_are_kept():
    search = StochasticLocalMaskSearch(P, p_restart=0.2, p_noise=0.25)
    n = 4000
    walk(search, n)
    for kind, share in (("restart", 0.2), ("noise", 0.8 * 0.25), ("greedy", 0.8 * 0.75)):
        wanted = share * n
        assert abs(search.n_steps[kind] - wanted) < 5 * np.sqrt(wanted * (1 - share)), kind


def test_noise_is_uniform_over_features():
    search = StochasticLocalMaskSearch(P, p_noise=1.0)
    flips = sum((before != after).astype(int) for before, _, _, after in walk(search, 6000))
    assert np.abs(flips - 500).max() < 5 * np.sqrt(500 * 11 / 12)


@each(
    ("neighborhood", "n_features", "size"),
    [(None, 12, 2), (None, 500, 50), (None, 1776, 178), (None, 9, 1), (None, 30, 3),
     (1, 12, 1), (12, 12, 12), (1.0, 12, 12), (0.5, 13, 7), (0.1, 30, 3), (1e-9, 12, 1)],
)  # fmt: skip
def test_neighborhoods_have_their_size(neighborhood, n_features, size):
    search = StochasticLocalMaskSearch(n_features, p_noise=0.0, neighborhood=neighborhood)
    for before, asked, _, _ in walk(search, 5):
        assert asked.shape[0] == size
        assert ((asked != before).sum(axis=1) == 1).all()
        assert len(np.unique(asked, axis=0)) == size  # without replacement
    assert search.ask().is_compact == (size > 1)


def test_neighborhoods_are_uniform():
    search = StochasticLocalMaskSearch(6, p_noise=0.0, neighborhood=2)
    pairs = np.zeros((6, 6))
    n = 6000
    for before, asked, _, _ in walk(search, n, score=lambda m: np.zeros(len(m))):
        a, b = sorted(np.flatnonzero((asked != before).any(axis=0)))
        pairs[a, b] += 1
    counts = pairs[np.triu_indices(6, 1)]
    assert np.abs(counts - n / 15).max() < 5 * np.sqrt(n / 15)


@each("greedy", ["soft", "strict"])
def test_ties_are_uniform(greedy):
    # Of the neighbors of no feature, 3 to 5 are the best and alike.
    n, counts = 3000, np.zeros(P)
    weights = np.zeros(P)
    weights[3:6] = 1.0
    for seed in range(n):
        search = StochasticLocalMaskSearch(
            P, p_noise=0.0, neighborhood=1.0, greedy=greedy, seed=seed
        )
        counts += walk(search, 1, score=lambda m: values(m, weights))[0][3]
    assert counts[:3].sum() == counts[6:].sum() == 0
    assert np.abs(counts[3:6] - n / 3).max() < 5 * np.sqrt(n * 2 / 9)


def test_soft_always_moves_and_strict_only_to_better():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 6, 2**8).astype(float)  # many ties

    def score(masks):
        return table[masks.words[:, 0].astype(int)]

    for greedy in ("soft", "strict"):
        search = StochasticLocalMaskSearch(
            8, p_noise=0.3, neighborhood=3, greedy=greedy, start="random"
        )
        stayed = 0
        for before, asked, scores, after in walk(search, 500, score):
            now = table[(before * 2 ** np.arange(8)).sum()]
            moved = (before != after).any()
            if len(asked) == 1:
                assert moved
                continue
            assert moved == (greedy == "soft" or scores.max() > now)
            stayed += not moved
            if moved:
                row = np.flatnonzero((asked == after).all(axis=1))
                assert scores[row[0]] == scores.max()
        assert (stayed > 50) == (greedy == "strict")


@each(
    ("options", "twin"),
    [
        ({"preset": "adaptivesls", "n": 12}, (0.0, 0.0, 0.32, 0.32, 1)),
        ({"preset": "adaptivenoise", "n": 13}, (0.0, 0.0, 0.0, 0.2, 3)),
        (
            {
                "n": 12,
                "p_restart": 0.3,
                "adapt_restart": 0.1,
                "adapt_noise": 0.5,
                "adapt_window": 4,
            },
            (0.3, 0.5, 0.1, 0.5, 4),
        ),
        ({"n": 12}, (0.0, 0.5, 0.0, 0.0, 1)),
    ],
)
def test_probabilities_adapt_as_the_twin_bit_for_bit(options, twin):
    options = dict(options)
    search = StochasticLocalMaskSearch(options.pop("n"), **options, seed=5)
    twin = Adaptive(*twin)
    weights = np.random.default_rng(1).integers(-3, 4, search.n_features).astype(float)
    rises = falls = 0
    for _ in range(300):
        asked = search.ask()
        search.tell(asked, values(asked, weights))
        before = list(twin.p)
        twin.step(float(values(search.mask, weights)[0]))
        assert [search.p_restart, search.p_noise] == twin.p
        rises += twin.p[1] > before[1]
        falls += twin.p[1] < before[1]
    adapts = not search.is_homogeneous
    assert (rises > 5) == (falls > 5) == adapts


def test_the_best_is_the_first_of_the_highest_score_and_never_empty():
    def score(masks):  # no feature is best, then one of two
        counts = masks.counts()
        return np.where(counts == 0, 9.0, np.where(counts == 2, 5.0, -counts.astype(float)))

    search = StochasticLocalMaskSearch(P, seed=2)
    visited = [(search.mask.to_bool()[0], -np.inf)]
    assert len(search.recommend()) == 0
    for _ in range(100):
        asked = search.ask()
        search.tell(asked, score(asked))
        visited.append((search.mask.to_bool()[0], float(score(search.mask)[0])))
        real = [(mask, s) for mask, s in visited if mask.any()]
        if real:
            best = max(s for _, s in real)
            first = next(mask for mask, s in real if s == best)
            assert (search.recommend().to_bool()[0] == first).all()
    assert any(not mask.any() for mask, _ in visited[10:])  # it was there again
    admitted = StochasticLocalMaskSearch(P, admit_empty=True)
    walk(admitted, 50, score)
    assert admitted.recommend().counts()[0] == 0


def test_restarts_have_a_start_of_their_own():
    start, restart = np.arange(P) < 2, np.arange(P) > 8
    search = StochasticLocalMaskSearch(
        P, p_restart=0.5, start=start, restart=Masks.from_bool(restart)
    )
    steps = walk(search, 40)
    assert (steps[0][0] == start).all()
    kinds = [(asked[0] == restart).all() and len(asked) == 1 for _, asked, _, _ in steps]
    assert sum(kinds) >= search.n_steps["restart"] - 1 > 10


def test_random_starts_take_half_of_the_features():
    masks = [
        StochasticLocalMaskSearch(130, preset="softsls", seed=seed).ask().to_bool()[0]
        for seed in range(400)
    ]
    mean = np.mean(masks, axis=0)
    assert np.abs(mean - 0.5).max() < 5 * 0.5 / np.sqrt(400)


@each("percentile", [0, 10, 50, 75, 90, 99, 100])
def test_best_of_scores_is_numpys_percentile(percentile):
    rng = np.random.default_rng(3)
    for n in (1, 2, 9, 10, 11, 101, 500):
        scores = rng.permutation(n).astype(float)
        wanted = scores >= np.percentile(scores, percentile) - 1e-9
        assert (best_of_scores(scores, percentile) == wanted).all()
    assert best_of_scores(np.zeros(40)).nonzero()[0].tolist() == [0, 1, 2, 3]


def test_presets_are_those_of_the_paper():
    for name, (p_restart, p_noise, alpha_r, alpha_n, greedy, size) in {
        "sls4fs": (0.0, 0.5, 0.0, 0.0, "soft", 5),
        "softsls": (1 / 50, 0.5, 0.0, 0.0, "soft", 50),
        "adaptivesls": (0.0, 0.0, 0.32, 0.32, "strict", 50),
        "markovsls": (1 / 50, 0.5, 0.0, 0.0, "strict", 50),
        "adaptivenoise": (0.0, 0.0, 0.0, 0.2, "soft", 50),
    }.items():
        search = StochasticLocalMaskSearch(50, preset=name)
        state = search.state()
        assert (search.p_restart, search.p_noise) == (p_restart, p_noise)
        assert (state["adapt_restart"], state["adapt_noise"]) == (alpha_r, alpha_n)
        assert (search.greedy, search.n_neighbors) == (greedy, size)
        assert state["adapt_window"] == (9 if name == "adaptivenoise" else 1)
    assert set(LOCAL_PRESETS) == {"sls4fs", "softsls", "adaptivesls", "markovsls", "adaptivenoise"}


def test_a_million_features_need_little_memory():
    p = 1_000_000
    weights = np.where(np.arange(p) < p // 2, 1.0, -1.0)

    class Sums:
        n_features, resample = p, False

        def evaluate(self, masks, seeds=0):
            if not masks.is_compact:
                return masks.to_bool() @ weights
            base = Masks.from_words(masks.base[None], p).to_bool()[0]
            flips = masks.indices
            return base @ weights + np.where(base[flips], -weights[flips], weights[flips])

    search = StochasticLocalMaskSearch(p, start="random", p_noise=0.2)
    tracemalloc.start()
    result = run(search, Sums(), choose="recommended", max_iter=20, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert search.n_steps["greedy"] > 10
    assert result.n_evaluations > p
    # A mask of bytes and the 100,000 flips with their scores; their words would be 12.5 GB.
    assert peak < 60 * p


@each(
    ("options", "words"),
    [
        ({"p_noise": 1.5}, "p_noise"),
        ({"p_restart": -0.1}, "p_restart"),
        ({"adapt_noise": 2}, "adapt_noise"),
        ({"adapt_window": 0}, "adapt_window"),
        ({"adapt_window": 1.5}, "adapt_window"),
        ({"neighborhood": 6}, "neighborhood=6 is more than the 5 features"),
        ({"neighborhood": 0}, "neighborhood"),
        ({"neighborhood": 0.0}, "neighborhood"),
        ({"greedy": "hard"}, "greedy"),
        ({"preset": "walksat"}, "preset"),
        ({"start": "ones"}, "start must be 'zeros', 'random' or a mask"),
        ({"restart": [0, 1]}, "restart must be"),
        ({"start": np.ones(4, dtype=bool)}, "start must be"),
        ({"start": Masks.full(4)}, "start must be one mask of 5 features"),
        ({"admit_empty": 2}, "admit_empty"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(ValueError, match=words):
        StochasticLocalMaskSearch(5, **options)


def test_a_share_is_rounded_up_but_not_what_is_whole_but_for_rounding():
    assert 0.07 * 100 > 7  # in floating point
    for share, n, expected in ((0.07, 100, 7), (0.07, 101, 8), (0.01, 30, 1), (1.0, 30, 30)):
        assert StochasticLocalMaskSearch(n, neighborhood=share).n_neighbors == expected


def test_bad_states_and_scores_are_refused():
    search = StochasticLocalMaskSearch(P)
    walk(search, 5)
    good = search.state()
    for name, value in {
        "iteration": -1,
        "n_steps": np.array([1, 1]),
        "score": np.nan,
        "p_noise_now": 1.1,
        "mask": np.array([1 << 63], np.uint64),
        "changed": 9,
        "neighborhood": 5,
    }.items():
        with pytest.raises(ValueError, match=name if name != "mask" else "bits set past"):
            StochasticLocalMaskSearch(P).set_state({**good, name: value})
    asked = search.ask()
    with pytest.raises(ValueError, match="finite"):
        search.tell(asked, np.full(len(asked), np.inf))
    with pytest.raises(ValueError, match="last ask"):
        search.tell(Masks.full(P), np.zeros(1))


def test_neighborhoods_are_what_neighbors_makes_and_nobody_can_change_them():
    p = 700
    search = StochasticLocalMaskSearch(p, seed=3, p_noise=0.0)
    weights = np.random.default_rng(0).normal(size=p)
    for _ in range(20):
        here, masks = search.mask, search.ask()
        if masks.is_compact:
            assert masks == Masks.neighbors(here.words[0], p, masks.indices)
            assert len(set(masks.indices.tolist())) == 70
            for array in (masks.base, masks.indptr, masks.indices):
                assert not array.flags.writeable
        before = masks.to_bool().copy()
        search.tell(masks, before @ weights)
        np.testing.assert_array_equal(masks.to_bool(), before)  # the walk went on without it
