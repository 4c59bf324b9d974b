"""Expected hitting times: a dense solve, walks, and what is known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from each import each
from twin_local import corners, hitting_times, transitions

from bitsieve.search import StochasticLocalMaskSearch, all_masks, markov_analysis

CHAINS = [
    {},
    {"p_noise": 0.2, "neighborhood": 2, "greedy": "strict", "p_restart": 0.1},
    {"preset": "markovsls", "start": "zeros"},
    {"preset": "softsls", "neighborhood": 3},
    {"p_noise": 0.0, "p_restart": 0.05, "greedy": "strict", "start": "random", "neighborhood": 1.0},
    {"p_noise": 0.7, "neighborhood": 1.0, "restart": "random", "p_restart": 0.3},
    {"p_restart": 1.0, "start": "random"},
]


def trap(p):
    """Features do harm, one by one; all of them together are the best."""
    counts = corners(p).sum(axis=1)
    return np.where(counts == p, p + 1.0, p - 1.0 - counts)


def tables(p, seed):
    rng = np.random.default_rng(seed)
    return [trap(p), rng.normal(size=2**p), rng.integers(0, 4, 2**p).astype(float)]


def distribution(given, p):
    return np.full(2**p, 0.5**p) if given is None else np.eye(2**p)[int(given[0])]


@each("options", CHAINS)
def test_equals_a_dense_solve(options):
    for p in (3, 4, 6):
        search = StochasticLocalMaskSearch(p, **options)
        start, restart = (distribution(given, p) for given in search.starts)
        for scores in tables(p, p):
            T = transitions(
                p,
                scores,
                p_restart=search.p_restart,
                p_noise=search.p_noise,
                greedy=search.greedy,
                n_neighbors=search.n_neighbors,
                restart=restart,
            )
            np.testing.assert_allclose(T.sum(axis=1), 1.0)
            found = markov_analysis(search, scores)
            wanted = hitting_times(T, scores)
            np.testing.assert_allclose(found.hitting_times, wanted, rtol=1e-9)
            assert found.expected == pytest.approx(start @ wanted, rel=1e-9)
            assert found.residual < 1e-11
            assert found.optima.tolist() == np.flatnonzero(scores == scores.max()).tolist()


def steps_to(search, scores, best, seed):
    search = search(seed=seed)
    n = -1
    while True:
        asked = search.ask()
        search.tell(asked, scores[asked.words[:, 0].astype(int)])
        n += 1
        if scores[int(search.mask.words[0, 0])] == best:
            return n


@each("options", CHAINS)
def test_equals_the_mean_of_walks_of_the_search_itself(options):
    p, n = 4, 150
    for scores in tables(p, 8)[:2]:
        expected = markov_analysis(StochasticLocalMaskSearch(p, **options), scores).expected
        if expected > 60:
            continue
        taken = [
            steps_to(
                lambda seed: StochasticLocalMaskSearch(p, seed=seed, **options),
                scores,
                scores.max(),
                seed,
            )
            for seed in range(n)
        ]
        assert abs(np.mean(taken) - expected) < 4 * np.std(taken) / math.sqrt(n) + 1e-9


def test_a_random_walk_over_a_cube_is_known():
    # From one corner to the opposite: p = 3 takes 10 steps, p = 4 64 / 3.
    for p, wanted in ((1, 1), (2, 4), (3, 10), (4, 64 / 3)):
        scores = np.zeros(2**p)
        scores[-1] = 1.0
        search = StochasticLocalMaskSearch(p, p_noise=1.0, start="zeros")
        assert markov_analysis(search, scores).expected == pytest.approx(wanted, rel=1e-12)
    # Restarts anywhere alone: a geometric number of them, less one where the start is there.
    search = StochasticLocalMaskSearch(8, p_restart=1.0, start="random")
    scores = np.arange(256.0)
    assert markov_analysis(search, scores).expected == pytest.approx(255.0)


def test_noise_or_restarts_find_the_best_of_a_trap_and_greedy_steps_never():
    p = 10
    scores = trap(p)
    greedy = {"p_noise": 0.0, "p_restart": 0.0, "greedy": "strict", "neighborhood": 1.0}
    for start in ("zeros", "random"):
        found = markov_analysis(StochasticLocalMaskSearch(p, **{**greedy, "start": start}), scores)
        assert found.expected == np.inf
    # Of all corners only the best and those beside it lead there.
    assert np.isfinite(found.hitting_times).sum() == 1 + p
    for cure in ({"p_noise": 0.5}, {"p_restart": 0.1, "start": "random"}):
        search = StochasticLocalMaskSearch(p, **{**greedy, **cure})
        found = markov_analysis(search, scores)
        assert found.expected < (200_000 if "p_noise" in cure else 1_500)
    # And so it is where they are walked: by restarts, within three times the mean.
    cured = {**greedy, "p_restart": 0.1, "start": "random", "seed": 4}
    for options, finds in ((cured, True), ({**greedy, "seed": 4}, False)):
        search = StochasticLocalMaskSearch(p, **options)
        seen = -1.0
        for _ in range(int(3 * found.expected)):
            asked = search.ask()
            search.tell(asked, scores[asked.words[:, 0].astype(int)])
            seen = max(seen, float(scores[int(search.mask.words[0, 0])]))
        assert (seen == scores.max()) == finds


@pytest.mark.slow
def test_fourteen_features():
    p = 14
    search = StochasticLocalMaskSearch(p, preset="softsls")
    found = markov_analysis(search, trap(p))
    assert found.residual < 1e-12
    # A trap knows only how many features are in: a chain of p + 1 states, solved by hand.
    A, rates = np.zeros((p + 1, p + 1)), 1 - search.p_restart
    for k in range(p):
        up, down = 0.5 * (p - k) / p, 0.5 * k / p
        best = 1 if k in (0, p - 1) else -1  # a soft step, down the slope or into the best
        A[k, k + 1] += rates * (up + 0.5 * (best == 1))
        if k:
            A[k, k - 1] += rates * (down + 0.5 * (best == -1))
        A[k] += search.p_restart * np.array([math.comb(p, j) for j in range(p + 1)]) / 2**p
    h = np.linalg.solve(np.eye(p) - A[:p, :p], np.ones(p))
    wanted = sum(math.comb(p, j) / 2**p * h[j] for j in range(p))
    assert found.expected == pytest.approx(wanted, rel=1e-9)


def test_order_of_the_states():
    assert (all_masks(7).to_bool() == corners(7)).all()


def test_refusals():
    with pytest.raises(ValueError, match="at most 14 features, got 15"):
        markov_analysis(StochasticLocalMaskSearch(15), np.zeros(2**15))
    with pytest.raises(ValueError, match="stay what they are"):
        markov_analysis(StochasticLocalMaskSearch(3, preset="adaptivesls"), np.zeros(8))
    with pytest.raises(ValueError, match=r"scores must have shape \(8,\)"):
        markov_analysis(StochasticLocalMaskSearch(3), np.zeros(7))
