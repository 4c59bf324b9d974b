"""Stochastic local search gets to the optimum, within a number of evaluations that stands here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from each import each

from bitsieve.search import RandomMaskSearch, StochasticLocalMaskSearch, all_masks, run

SEEDS = range(30)


class Agreement:
    """How many features are as in a planted mask: OneMax, wherever its optimum is."""

    resample = False

    def __init__(self, p):
        self.n_features, self.truth = p, np.arange(p) % 2 == 0

    def evaluate(self, masks, seeds=0):
        return (masks.to_bool() == self.truth).sum(axis=1).astype(float)


def evaluations_to(fitness, score, seed, limit, make):
    """Evaluations until a mask of the walk has a score; the limit where there was none."""
    result = run(
        make(fitness.n_features),
        fitness,
        choose="recommended" if make is not RandomMaskSearch else "remeasured",
        random_state=seed,
        max_evaluations=limit,
        progress=False,
        callbacks=[lambda at: at.best_observed >= score],
    )
    assert (result.best_observed_score >= score) == ("callback" in result.stop_reason)
    return result.n_evaluations


def strict(p):
    return StochasticLocalMaskSearch(p, greedy="strict", p_noise=0.05)


@each(
    ("make", "p", "budget"),
    [
        (strict, 40, 500),
        (lambda p: StochasticLocalMaskSearch(p, preset="adaptivesls"), 40, 1300),
        (lambda p: StochasticLocalMaskSearch(p, preset="adaptivenoise"), 40, 1300),
        (lambda p: StochasticLocalMaskSearch(p, preset="softsls"), 16, 1000),
        (lambda p: StochasticLocalMaskSearch(p, preset="markovsls"), 16, 1000),
    ],
)
def test_one_max(make, p, budget):
    taken = [evaluations_to(Agreement(p), p, seed, 20_000, make) for seed in SEEDS]
    assert np.mean(taken) + 3 * np.std(taken) < budget
    # A random mask of a random size is the planted one once in p * binomial(p, p / 2): 200,000
    # evaluations on average at 16 features, more than 200 of these budgets; 5e12 at 40.
    assert p * math.comb(p, p // 2) > 200 * budget


@pytest.mark.slow
def test_three_of_seven_bits(dataset):
    """mofn_3_7_10: the class is whether three of seven bits are set, three more are noise."""
    from sklearn.neighbors import KNeighborsClassifier

    from bitsieve.fitness import compile
    from bitsieve.search import ExhaustiveMaskSearch

    X, y, _ = dataset("mofn_3_7_10")
    fitness = compile(KNeighborsClassifier(5), X, y, cv=5)
    scores = fitness.evaluate(all_masks(10))

    class Known:
        n_features, resample = 10, False

        def evaluate(self, masks, seeds=0):
            return scores[masks.words[:, 0].astype(int)]

    # Exhaustive search confirms that the seven are the only optimum.
    best = run(ExhaustiveMaskSearch(10), Known(), choose="recommended", random_state=0)
    assert np.flatnonzero(best.support).tolist() == list(range(2, 9))
    assert best.best_score == scores.max()
    assert (scores == scores.max()).sum() == 1

    random = [evaluations_to(Known(), scores.max(), s, 20_000, RandomMaskSearch) for s in SEEDS]
    # (With one neighbor a greedy step that always moves is noise: "sls4fs" walks at random here.)
    for options, budget, times in (
        ({"greedy": "strict", "p_noise": 0.05}, 1000, 3),
        ({"preset": "softsls"}, 800, 4),
        ({"preset": "markovsls"}, 800, 4),
        ({"preset": "adaptivenoise"}, 500, 5),
    ):
        taken = [
            evaluations_to(
                Known(),
                scores.max(),
                seed,
                20_000,
                lambda p: StochasticLocalMaskSearch(p, **options),  # noqa: B023
            )
            for seed in SEEDS
        ]
        assert np.mean(taken) + 3 * np.std(taken) < budget
        assert np.mean(random) > times * np.mean(taken)


def test_a_struck_run_goes_on_bit_for_bit(tmp_path):
    class Stored(Agreement):
        calls, strike_at = 0, None

        def fingerprint(self):
            return "agreement"

        def evaluate(self, masks, seeds=0):
            self.calls += 1
            if self.calls == self.strike_at:
                raise KeyboardInterrupt
            return super().evaluate(masks)

    def walk(preset, folder=None, strike_at=None):
        fitness = Stored(90)
        fitness.strike_at = strike_at
        search = StochasticLocalMaskSearch(90, preset=preset)
        result = run(
            search,
            fitness,
            choose="recommended",
            max_iter=60,
            random_state=3,
            checkpoint=folder,
            progress=False,
        )
        return result, search.state()

    for preset in ("sls4fs", "softsls", "adaptivesls", "adaptivenoise"):
        whole, state = walk(preset)
        for strike_at in (2, 17):
            folder = tmp_path / f"{preset}{strike_at}"
            with pytest.raises(KeyboardInterrupt) as stop:
                walk(preset, folder, strike_at)
            partial = stop.value.partial_result  # the best so far is kept
            assert strike_at < 3 or partial.best_observed_score > 30
            result, again = walk(preset, folder)
            assert result.resumed_at > 0
            assert result.mask == whole.mask
            np.testing.assert_array_equal(result.history["score"], whole.history["score"])
            for name, value in state.items():
                assert np.array_equal(again[name], value), name
