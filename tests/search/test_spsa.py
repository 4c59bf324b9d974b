"""Binary SPSA: its numpy twin, its effects, an example of Aksakalli and Malekipirbazari."""

from __future__ import annotations

import numpy as np
import pytest
from each import each, each_isa
from toys import Planted, planted
from twin_spsa import TwinSPSA

from bitsieve.masks import Masks
from bitsieve.search import PRESETS, BinarySPSASearch
from bitsieve.search.starts import start_from_mask, start_from_scores


def drive(search, score, n):
    for _ in range(n):
        masks = search.ask()
        search.tell(masks, score(masks.to_bool()))
    return search


def noisy_score(truth, rng):
    def score(masks):
        return (masks == truth).mean(axis=1) + 0.02 * rng.standard_normal(len(masks))

    return score


# -- against the twin ------------------------------------------------------------------------------


@each("p", [1, 5, 63, 64, 65, 257, 1000])
@each("n_select", [None, 1, 5])
def test_equals_twin_bit_for_bit(p, n_select):
    if n_select is not None and n_select > p:
        return  # no such selection
    seed = 2**63 + 12345
    search = BinarySPSASearch(p, seed=seed, preset="large", n_features_to_select=n_select)
    twin = TwinSPSA(search.w, seed=seed, step_fraction=0.03, n_select=n_select or 0)
    score = noisy_score(planted(p), np.random.default_rng(p))
    for k in range(500):
        masks = search.ask()
        expected = twin.ask()
        np.testing.assert_array_equal(masks.to_bool(), expected, err_msg=f"iteration {k}")
        scores = score(expected)
        search.tell(masks, scores)
        twin.tell(scores)
        assert search.w.tobytes() == twin.w.tobytes(), f"iteration {k}"
    assert search.gain == pytest.approx(2 * 0.05**2 * 0.03 / np.sqrt(twin.mean_square), rel=1e-12)


@each(
    "options",
    [
        {"c": 0.1, "A": 0.0, "alpha": 1.0, "gain": 0.7},
        {"c": 0.03, "step_fraction": 0.9, "n_averaged": 3},
    ],
)
def test_options_reach_the_recursion(options):
    start = np.random.default_rng(0).uniform(0.4, 0.6, 70)
    search = BinarySPSASearch(70, seed=1, start=start, **options)
    twin = TwinSPSA(start, seed=1, **options)
    score = noisy_score(planted(70), np.random.default_rng(1))
    for _ in range(100):
        masks = search.ask()
        scores = score(masks.to_bool())
        search.tell(masks, scores)
        twin.tell(scores)
    np.testing.assert_array_equal(search.w, twin.w)


def test_top_n_takes_the_largest_and_the_lowest_of_ties():
    # Ties of every kind at the border, against a stable sort.
    rng = np.random.default_rng(3)
    for p in (7, 64, 130, 700):
        for levels in (1, 2, 3, 50):
            w = rng.integers(0, levels, p) / 100.0 + 0.4
            for n in sorted({1, 2, p // 3, p - 1, p}):
                search = BinarySPSASearch(p, start=w, n_features_to_select=n)
                expected = TwinSPSA(w, seed=0, n_select=n).ask()
                np.testing.assert_array_equal(search.ask().to_bool(), expected)


@each_isa
def test_few_of_many_are_the_largest_wherever_w_goes(isa):
    # The compiled pass remembers where the largest were: it must find them where they are now.
    rng = np.random.default_rng(11)
    for p, n in ((257, 1), (640, 5), (2001, 20), (3000, 70)):
        jumps = [
            rng.integers(0, 4, p) / 100.0 + 0.4,  # ties at the border
            np.full(p, 0.5),
            -rng.random(p) * 1e6,
            np.where(np.arange(p) == p - 1, 1e150, 0.0),
            np.linspace(0.0, 1.0, p),
        ]
        search = BinarySPSASearch(p, seed=p, start=jumps[0], n_features_to_select=n)
        twin = TwinSPSA(jumps[0], seed=p, n_select=n)
        told = np.zeros(p)
        for k in range(50):
            if k % 10 == 0:
                twin.w = jumps[k // 10].copy()
                search.set_state({**search.state(), "w": twin.w})
            masks = search.ask()
            np.testing.assert_array_equal(masks.to_bool(), twin.ask(), err_msg=f"{p}, {n}, {k}")
            scores = rng.standard_normal(3)
            search.tell(masks, scores)
            twin.tell(scores)
            told += twin.w
            assert search.w.tobytes() == twin.w.tobytes()
        assert search.feature_scores().tobytes() == (told / 50).tobytes()


# -- Aksakalli and Malekipirbazari (2016) ----------------------------------------------------------


def with_first_signs(signs, **options):
    """The search whose first perturbation has the given signs: found by trying seeds."""
    for seed in range(1000):
        search = BinarySPSASearch(len(signs), seed=seed, **options)
        # From 0.5 the plus mask is the set of positive signs.
        if search.ask().to_bool()[1].tolist() == [s > 0 for s in signs]:
            return search
    raise AssertionError("no such seed")


def test_worked_example_of_the_paper():
    # Section II.III: errors .12 and .08 at Delta = (1, 1, -1, -1). An error is a score turned.
    search = with_first_signs([1, 1, -1, -1], preset="small", gain="paper")
    masks = search.ask()
    assert masks.to_bool().astype(int).tolist() == [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]]
    search.tell(masks, -np.array([0.1, 0.12, 0.08]))
    np.testing.assert_allclose(search.w, [0.48, 0.48, 0.52, 0.52], atol=0.002)
    a_0 = 0.75 / 101**0.6
    assert round(a_0, 3) == 0.047
    np.testing.assert_allclose(search.w, 0.5 + a_0 * 0.4 * np.array([-1, -1, 1, 1]), rtol=1e-15)
    assert search.ask().to_bool()[0].tolist() == [False, False, True, True]


def test_presets_are_table_2():
    small, large = PRESETS["small"], PRESETS["large"]
    assert (small.gain, small.stability, small.max_iter, small.patience) == (0.75, 100, 1000, 250)
    assert (large.gain, large.stability, large.max_iter, large.patience) == (1.5, 300, 3000, 750)
    assert BinarySPSASearch(99, gain="paper").gain == 0.75
    assert BinarySPSASearch(100, gain="paper").gain == 1.5


def test_half_difference_gain():
    search = BinarySPSASearch(50, gain="half-difference", preset="small")
    assert search.gain == pytest.approx(0.797, abs=5e-4)
    large = BinarySPSASearch(50, gain="half-difference", preset="large")
    assert large.gain == pytest.approx(1.535, abs=5e-4)
    masks = search.ask()
    search.tell(masks, np.array([0.0, 0.56, 0.52]))
    np.testing.assert_allclose(np.abs(search.w - 0.5), 0.02, rtol=1e-12)


def test_iterate_is_not_clipped():
    search = drive(BinarySPSASearch(10, gain=5.0), lambda m: m.mean(axis=1) * 10, 50)
    assert search.w.max() > 1.0


# -- effects ---------------------------------------------------------------------------------------


def test_pair_is_complementary_where_undecided_and_equal_elsewhere():
    start = np.array([0.2, 0.46, 0.5, 0.54, 0.8] * 30)
    iterate, plus, minus = BinarySPSASearch(150, start=start).ask().to_bool()
    undecided = np.abs(start - 0.5) < 0.05
    np.testing.assert_array_equal(plus[undecided], ~minus[undecided])
    np.testing.assert_array_equal(plus[~undecided], iterate[~undecided])
    np.testing.assert_array_equal(minus[~undecided], iterate[~undecided])


def test_signs_are_fair_and_differ_between_iterations_and_seeds():
    p, n = 640, 200
    search = BinarySPSASearch(p, gain=1e-12)
    signs = np.empty((n, p))
    for k in range(n):
        masks = search.ask()
        signs[k] = 2.0 * masks.to_bool()[1] - 1.0
        search.tell(masks, np.zeros(3))
    sd = 1 / np.sqrt(n * p)
    assert abs(signs.mean()) < 4 * sd
    correlation = signs @ signs.T / p - np.eye(n)
    assert np.abs(correlation).max() < 6 / np.sqrt(p)
    other = BinarySPSASearch(p, seed=1).ask().to_bool()[1]
    assert 0.4 < (other == (signs[0] > 0)).mean() < 0.6


def test_finds_planted_subset():
    truth = planted(200, seed=5)
    toy = Planted(truth)
    search = BinarySPSASearch(200, seed=2)
    drive(search, lambda m: toy.evaluate(Masks.from_bool(m)), 3000)
    np.testing.assert_array_equal(search.ask().to_bool()[0], truth)


def test_fixed_size_moves_towards_the_planted_features():
    truth = np.zeros(300, bool)
    truth[[3, 77, 150, 222, 299]] = True
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)

        def score(masks, rng=rng):
            return masks[:, truth].mean(axis=1) + 0.05 * rng.standard_normal(len(masks))

        search = BinarySPSASearch(300, n_features_to_select=5, seed=seed)
        masks = drive(search, score, 2000).ask()
        assert masks.counts().tolist() == [5, 5, 5]
        found.append(truth[masks.indices_of(0)].sum())
    assert np.mean(found) >= 2.0  # by chance 0.08 of the five


@each("scale", [2.0**-40, 0.01, 100.0, 2.0**60])
def test_automatic_gain_knows_no_unit(scale):
    truth = planted(120)
    masks = []
    for factor in (1.0, scale):
        search = BinarySPSASearch(120, seed=3)
        rng = np.random.default_rng(0)
        score = noisy_score(truth, rng)
        seen = []
        for _ in range(300):
            ask = search.ask()
            seen.append(ask.words.copy())
            search.tell(ask, factor * score(ask.to_bool()))
        masks.append((np.array(seen), search.w))
    np.testing.assert_array_equal(masks[0][0], masks[1][0])
    np.testing.assert_allclose(masks[0][1], masks[1][1], rtol=1e-9)
    if np.log2(scale).is_integer():
        np.testing.assert_array_equal(masks[0][1], masks[1][1])


def step_sizes(search, differences):
    """Drive a search by given differences; how far w moved at each."""
    sizes = []
    for difference in differences:
        before = search.w
        search.tell(search.ask(), np.array([0.0, difference, 0.0]))
        sizes.append(np.abs(search.w - before)[0])
    return np.array(sizes)


def test_automatic_gain_makes_the_stated_steps():
    # Differences that shrink a thousandfold: the steps stay at step_fraction * c.
    rng = np.random.default_rng(1)
    differences = rng.standard_normal(2000) * np.geomspace(7.0, 0.007, 2000)
    steps = step_sizes(BinarySPSASearch(50, step_fraction=0.25), differences)
    for part in np.split(steps, 4):
        assert np.sqrt(np.mean(part**2)) == pytest.approx(0.25 * 0.05, rel=0.15)


def test_no_step_of_the_automatic_gain_is_longer_than_its_bound():
    bound = 0.2 * 0.05 * np.sqrt(20)
    quiet = [1e-9] * 100
    steps = step_sizes(BinarySPSASearch(50, step_fraction=0.2), [*quiet, 1e9, *quiet])
    assert steps.max() == pytest.approx(bound, rel=1e-9)
    assert steps[:100] == pytest.approx(0.01, rel=1e-6)  # equal differences: the stated size


def test_automatic_gain_takes_neither_stability_nor_decay():
    truth = planted(90)
    plain = drive(BinarySPSASearch(90), lambda m: (m == truth).mean(axis=1), 50)
    other = drive(BinarySPSASearch(90, A=7.0, alpha=1.0), lambda m: (m == truth).mean(axis=1), 50)
    np.testing.assert_array_equal(plain.w, other.w)


def test_automatic_gain_waits_for_a_difference():
    search = BinarySPSASearch(40)
    assert step_sizes(search, np.zeros(50)).max() == 0.0
    assert np.isnan(search.gain)
    first = step_sizes(search, [-0.1])[0]
    assert np.isfinite(search.gain)
    assert first == pytest.approx(0.06 * 0.05 * np.sqrt(20), rel=1e-9)
    assert step_sizes(search, np.zeros(50)).max() == 0.0


def test_empty_masks_are_asked_as_they_are():
    search = BinarySPSASearch(3, start=np.array([0.48, 0.48, 0.48]), seed=0)
    seen = [search.ask().counts()[0]]
    assert seen == [0]


def test_decided():
    search = BinarySPSASearch(6, start=[0.9, 0.1, 0.9, 0.1, 0.9, 0.5], stop_when_decided=True)
    assert search.stop() == {}
    drive(search, lambda m: m.sum(axis=1) * 1.0, 300)
    assert search.stop() == {"decided": True}
    masks = search.ask().to_bool()
    assert (masks == masks[0]).all()
    assert drive(BinarySPSASearch(6), lambda m: m.sum(axis=1) * 1.0, 300).stop() == {}


def test_eligible():
    assert BinarySPSASearch(4).eligible().tolist() == [True, False, False]
    assert BinarySPSASearch(4, admit_perturbed=True).eligible().tolist() == [True, True, True]


# -- starts ----------------------------------------------------------------------------------------


def test_start_from_a_mask_is_that_mask():
    mask = planted(80)
    for start in (mask, Masks.from_bool(mask)):
        search = BinarySPSASearch(80, start=start)
        np.testing.assert_array_equal(search.w, start_from_mask(mask, 0.025))
        iterate, plus, minus = search.ask().to_bool()
        np.testing.assert_array_equal(iterate, mask)
        np.testing.assert_array_equal(plus, ~minus)  # every feature can still be switched


def test_start_from_filter_scores():
    scores = np.random.default_rng(0).standard_normal(101) ** 3
    search = BinarySPSASearch(101, filter_scores=scores)
    w = search.w
    np.testing.assert_array_equal(np.argsort(w), np.argsort(scores))
    assert np.abs(w - 0.5).max() < 0.05
    iterate, plus, minus = search.ask().to_bool()
    assert iterate.sum() == 51
    assert scores[iterate].min() > scores[~iterate].max()
    np.testing.assert_array_equal(plus, ~minus)
    np.testing.assert_allclose(start_from_scores([2.0, 2.0], 0.1), 0.5)


# -- bad input -------------------------------------------------------------------------------------


@each(
    ("options", "message"),
    [
        ({"n_features": 0}, "n_features must be a whole number from 1"),
        ({"n_features": 2.0}, "n_features must be a whole number"),
        ({"preset": "huge"}, "preset must be 'auto', 'small' or 'large', got 'huge'"),
        ({"gain": "fast"}, "gain must be 'auto', 'paper', 'half-difference' or a number"),
        ({"gain": 0.0}, "gain must be a finite number above 0, got 0.0"),
        ({"gain": float("nan")}, "gain must be a finite number"),
        ({"c": 0.5}, r"c must be a number in \(0, 0.5\), got 0.5"),
        ({"A": -1}, "A must be a finite number from 0 on, got -1"),
        ({"alpha": "x"}, "alpha must be a finite number"),
        ({"seed": -1}, "seed must lie in \\[0, 2"),
        ({"seed": 2**64}, "seed must lie in"),
        ({"n_averaged": 0}, "n_averaged"),
        ({"step_fraction": 0}, "step_fraction"),
        ({"n_features_to_select": 5}, "n_features_to_select=5 is more than the 4 features"),
        ({"start": [0.5, 0.5]}, r"start must have shape \(4,\), got \(2,\)"),
        ({"start": [0.5, 0.5, 1.5, 0.5]}, r"component 2 is 1.5 .*use filter_scores"),
        ({"start": [0.5, np.nan, 0.5, 0.5]}, "component 1 is nan"),
        ({"start": "abcd"}, "start must be numbers"),
        ({"start": Masks.from_bool(np.ones((2, 4), bool))}, "start must be one mask of 4"),
        ({"start": np.ones(3, bool)}, "start must have shape"),
        ({"start": [0.0, 0.0, 1.0, 1.0]}, "no component of start is within 0.05 of 0.5"),
        ({"filter_scores": [1.0, np.inf, 0, 0]}, "filter_scores must be finite; component 1"),
        ({"filter_scores": np.ones(4), "start": 0.5}, "either start or filter_scores"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        BinarySPSASearch(**{"n_features": 4, **options})


def test_bad_tells():
    search = BinarySPSASearch(4)
    with pytest.raises(ValueError, match="tell needs the masks of an ask"):
        search.tell(Masks.full(4), np.zeros(3))
    masks = search.ask()
    with pytest.raises(ValueError, match="masks of the last ask"):
        search.tell(Masks.full(4), np.zeros(3))
    with pytest.raises(ValueError, match="one score a mask, 3, got 2"):
        search.tell(masks, np.zeros(2))
    with pytest.raises(ValueError, match="scores must be finite"):
        search.tell(masks, np.array([0.0, np.nan, 0.0]))
    search.tell(masks, np.zeros(3))
    with pytest.raises(ValueError, match="tell needs the masks of an ask"):
        search.tell(masks, np.zeros(3))


def test_state_of_another_search_is_refused():
    state = BinarySPSASearch(4, c=0.1).state()
    with pytest.raises(ValueError, match=r"c=0\.1, this one has 0\.05"):
        BinarySPSASearch(4).set_state(state)
    with pytest.raises(ValueError, match="the state lacks gain, w"):
        BinarySPSASearch(4).set_state({k: v for k, v in state.items() if k not in ("w", "gain")})
    with pytest.raises(ValueError, match=r"w must have shape \(4,\), got \(5,\)"):
        BinarySPSASearch(4).set_state(BinarySPSASearch(5).state())


def test_repr():
    assert repr(BinarySPSASearch(4)) == "<BinarySPSASearch: 4 features, iteration 0>"


@each("gain", ["auto", "paper"])
def test_differences_beyond_all_use_are_refused_before_anything_changes(gain):
    search = BinarySPSASearch(4, gain=gain)
    before = search.state()
    masks = search.ask()
    with pytest.raises(ValueError, match=r"1e\+160 and 0, differ by more than 1e\+150"):
        search.tell(masks, np.array([0.0, 1e160, 0.0]))
    assert search.state().keys() == before.keys()
    assert all(np.array_equal(search.state()[name], before[name]) for name in before)
    search.tell(masks, np.array([0.0, 1.0, 0.0]))


def test_a_search_of_a_given_size_starts_from_a_random_mask():
    """Equal w would mean the first features, whatever the seed."""
    firsts = []
    for seed in range(20):
        search = BinarySPSASearch(400, n_features_to_select=20)
        search.set_seed(seed)
        mask = search.ask().to_bool()[0]
        assert mask.sum() == 20
        assert np.abs(search.w - 0.5).max() < 1e-6
        again = BinarySPSASearch(400, n_features_to_select=20, seed=seed)
        np.testing.assert_array_equal(again.ask().to_bool()[0], mask)
        firsts.append(mask)
    assert np.sum(firsts, axis=0).max() <= 6  # each is in one of twenty
    for given in ({"start": 0.5}, {"filter_scores": -np.arange(400.0)}):
        search = BinarySPSASearch(400, n_features_to_select=20, seed=3, **given)
        np.testing.assert_array_equal(search.ask().indices_of(0), np.arange(20))
    assert (BinarySPSASearch(400, seed=3).w == 0.5).all()


def test_feature_scores_are_the_mean_iterate():
    search = BinarySPSASearch(70, seed=5)
    np.testing.assert_array_equal(search.feature_scores(), search.w)
    score = noisy_score(planted(70), np.random.default_rng(0))
    walked = []
    for k in range(30):
        if k == 17:  # a new one goes on from the state
            state = search.state()
            search = BinarySPSASearch(70)
            search.set_state(state)
        masks = search.ask()
        search.tell(masks, score(masks.to_bool()))
        walked.append(search.w)
    total = np.zeros(70)
    for w in walked:
        total += w
    assert search.feature_scores().tobytes() == (total / 30).tobytes()
    state = search.state()
    for bad in (np.full(70, np.nan), np.zeros(69), np.full(70, -1e300)):
        with pytest.raises(ValueError, match="w_total must"):
            search.set_state({**state, "w_total": bad})
    with pytest.raises(ValueError, match="sum of the 0 iterates"):
        search.set_state({**state, "iteration": 0})
