"""Noise, second order and halving of binary SPSA: their numpy twin and their effects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from each import each
from scipy.stats import kstest
from toys import planted
from twin_spsa import TwinSPSA, cholesky, direction

from bitsieve.masks import Masks
from bitsieve.search import BinarySPSASearch, run

OPTIONS: list[dict[str, Any]] = [
    {"injected_noise": 0.3},
    {"injected_noise": 2.0, "gain": 0.7},
    {"second_order": True},
    {"second_order": True, "gain": 0.5, "A": 3.0},
    {"halving_patience": 12},
    {"halving_patience": 9, "injected_noise": 0.1, "second_order": True},
]


def _twin(p: int, search: BinarySPSASearch, seed: int, options: dict[str, Any]) -> TwinSPSA:
    named = {
        "injected_noise": "noise",
        "halving_patience": "patience",
        "n_features_to_select": "n_select",
    }
    same = {named.get(name, name): value for name, value in options.items()}
    return TwinSPSA(search.w, seed=seed, **{"step_fraction": 0.06 if p < 100 else 0.03, **same})


def _noisy(p: int) -> Any:
    truth, rng = planted(p), np.random.default_rng(p)

    def score(masks: np.ndarray) -> np.ndarray:
        return (masks == truth).mean(axis=1) + 0.02 * rng.standard_normal(len(masks))

    return score


@each("p", [1, 5, 65, 130])
@each("options", OPTIONS)
def test_equals_twin_bit_for_bit(p: int, options: dict[str, Any]) -> None:
    # Linear algebra too: the core's sums are in an order that plain numpy can follow.
    seed = 2**63 + 999
    search = BinarySPSASearch(p, seed=seed, **{"A": 300.0 if p >= 100 else 100.0, **options})
    twin = _twin(p, search, seed, {"A": 300.0 if p >= 100 else 100.0, **options})
    score = _noisy(p)
    for k in range(25 if options.get("second_order") else 250):
        masks, expected = search.ask(), twin.ask()
        np.testing.assert_array_equal(masks.to_bool(), expected, err_msg=f"iteration {k}")
        scores = score(expected)
        search.tell(masks, scores)
        twin.tell(scores)
        assert search.w.tobytes() == twin.w.tobytes(), f"iteration {k}"
        assert bool(search.stop()) == twin.has_ended
    if "second_order" in options:
        assert search.state()["hessian"].tobytes() == twin.hessian.tobytes()


@each("options", [{"injected_noise": 0.3}, {"second_order": True}])
@each("p", [7, 70])
def test_of_a_given_size_equals_twin(p: int, options: dict[str, Any]) -> None:
    start = np.random.default_rng(0).uniform(0.45, 0.55, p)
    options = {"n_features_to_select": 5, **options}
    search = BinarySPSASearch(p, seed=4, start=start, **options)
    twin = _twin(p, search, 4, options)
    score = _noisy(p)
    for _ in range(25):
        masks, expected = search.ask(), twin.ask()
        np.testing.assert_array_equal(masks.to_bool(), expected)
        scores = score(expected)
        search.tell(masks, scores)
        twin.tell(scores)
        assert search.w.tobytes() == twin.w.tobytes()


def test_the_diagonal_hessian_equals_twin() -> None:
    p = 501
    search = BinarySPSASearch(p, seed=9, second_order=True)
    twin = _twin(p, search, 9, {"second_order": True})
    score = _noisy(p)
    for _ in range(50):
        masks, expected = search.ask(), twin.ask()
        np.testing.assert_array_equal(masks.to_bool(), expected)
        scores = score(expected)
        search.tell(masks, scores)
        twin.tell(scores)
        assert search.w.tobytes() == twin.w.tobytes()
    assert search.state()["hessian"].shape == (p,)


def test_the_direction_is_that_of_linear_algebra() -> None:
    rng = np.random.default_rng(0)
    for p in (1, 2, 17, 80):
        matrix = rng.standard_normal((p, p))
        matrix = matrix + matrix.T
        delta = np.where(rng.random(p) < 0.5, 1.0, -1.0)
        x = direction(matrix, delta)
        # The residual says which multiple of the identity was added, and that H is definite.
        shift = (delta - matrix @ x) @ x / (x @ x)
        np.testing.assert_allclose((matrix + shift * np.eye(p)) @ x, delta, atol=1e-9)
        assert np.linalg.eigvalsh(matrix + shift * np.eye(p)).min() > 0
        left = np.tril(cholesky(matrix + shift * np.eye(p)))
        np.testing.assert_allclose(left @ left.T, matrix + shift * np.eye(p), atol=1e-9)


# -- effects ---------------------------------------------------------------------------------------


def test_noise_has_the_stated_size_and_is_normal() -> None:
    p = 3000
    search = BinarySPSASearch(p, seed=1, injected_noise=0.5)
    for k in range(30):
        before = search.w
        search.tell(search.ask(), np.zeros(3))  # equal scores make no step: what moves is noise
        moved = search.w - before
        j = k + 3
        size = 0.5 * 0.05 / math.sqrt(j * math.log(math.log(j)))
        assert kstest(moved / size, "norm").pvalue > 1e-5
        assert moved.std() == pytest.approx(size, rel=0.06)
    assert np.abs(np.corrcoef(before - 0.5, moved)[0, 1]) < 0.1


def test_noise_differs_between_seeds_and_is_none_by_default() -> None:
    ws = []
    for seed, noise in ((0, 0.5), (1, 0.5), (0, 0.0)):
        search = BinarySPSASearch(40, seed=seed, injected_noise=noise)
        search.tell(search.ask(), np.zeros(3))
        ws.append(search.w)
    assert np.abs(ws[0] - ws[1]).min() > 0
    assert (ws[2] == 0.5).all()


def test_noise_undecides_what_no_perturbation_can_change() -> None:
    """From a start that is decided but for one feature only noise reaches the others."""
    start = np.array([0.5] + [0.4] * 30)

    def changed(noise: float) -> int:
        search = BinarySPSASearch(31, start=start, injected_noise=noise, seed=2)
        for _ in range(100):
            search.tell(search.ask(), np.zeros(3))
        return int(search.ask().to_bool()[0, 1:].sum())

    assert changed(0.0) == 0
    assert changed(3.0) > 5


def test_the_hessian_of_a_quadratic_is_found() -> None:
    """Scores of pairs: 3 for 0 with 1, -3 for 2 with 3; every other second difference is 0."""
    p = 6

    def score(masks: np.ndarray) -> np.ndarray:
        x = np.where(masks, 1.0, -1.0)
        return 3.0 * x[:, 0] * x[:, 1] - 3.0 * x[:, 2] * x[:, 3] + 0.1 * x[:, 4]

    search = BinarySPSASearch(p, seed=0, second_order=True, gain=1e-12)
    for _ in range(6000):
        masks = search.ask()
        search.tell(masks, score(masks.to_bool()))
    hessian = np.asarray(search.state()["hessian"]).reshape(p, p)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    rest = np.abs(hessian)
    rest[[0, 1, 2, 3], [1, 0, 3, 2]] = 0.0
    np.fill_diagonal(rest, 0.0)  # a step of R is no quadratic
    # The loss is minus the score: what helps together has a negative entry.
    assert hessian[0, 1] < -5 * rest.max() < 0 < 5 * rest.max() < hessian[2, 3]


def test_second_order_asks_for_five_and_waits_for_curvature() -> None:
    search = BinarySPSASearch(20, second_order=True, admit_perturbed=True)
    masks = search.ask()
    assert len(masks) == 5
    assert search.eligible().tolist() == [True] * 5
    assert BinarySPSASearch(20, second_order=True).eligible().tolist() == [True] + [False] * 4
    search.tell(masks, np.array([0.0, 0.3, 0.1, 0.3, 0.1]))  # no curvature: no unit to step by
    assert (search.w == 0.5).all()
    with pytest.raises(ValueError, match="one score a mask, 5, got 3"):
        search.tell(search.ask(), np.zeros(3))
    with pytest.raises(ValueError, match="scores must be finite"):
        search.tell(search.ask(), np.array([0.0, 0.3, 0.1, np.nan, 0.1]))


def test_second_order_steps_have_the_stated_size() -> None:
    search = BinarySPSASearch(30, second_order=True, step_fraction=0.25, seed=3)
    rng = np.random.default_rng(1)
    sizes = []
    for _ in range(400):
        before = search.w
        search.tell(search.ask(), rng.standard_normal(5))
        sizes.append(np.mean((search.w - before) ** 2))
    assert np.sqrt(np.mean(sizes)) == pytest.approx(0.25 * 0.05, rel=0.1)


@each("options", [{"second_order": True}, {"injected_noise": 0.05}])
def test_finds_a_planted_subset(options: dict[str, Any]) -> None:
    truth = planted(60, seed=5)
    found = []
    for seed in range(3):
        search = BinarySPSASearch(60, seed=seed, **options)
        best = 0.0
        for _ in range(1000):
            masks = search.ask()
            scores = (masks.to_bool() == truth).mean(axis=1)
            best = max(best, scores[0])
            search.tell(masks, scores)
        found.append(best)
    assert np.mean(found) > 0.95  # by chance 0.5


class Needles:
    """A score for each of three features, and a price for all others."""

    resample = False

    def __init__(self, p: int) -> None:
        self.n_features = p
        self.weights = np.full(p, -0.2 / p)
        self.weights[[3, 77, 150]] = 0.3

    def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
        return masks.to_bool() @ self.weights


def test_halving_reaches_few_features_of_many() -> None:
    fitness = Needles(200)
    sizes, plain_sizes = [], []
    for seed in range(3):
        halved = run(
            BinarySPSASearch(200, halving_patience=60), fitness, max_iter=3000, random_state=seed
        )
        plain = run(BinarySPSASearch(200), fitness, max_iter=200, random_state=seed)
        assert halved.stop_reason.get("halving", 0) > 2 or halved.n_iterations == 3000
        sizes.append(int(halved.support.sum()))
        plain_sizes.append(int(plain.support.sum()))
    assert max(sizes) < 40 < min(plain_sizes)


def test_a_run_of_a_sequence_begins_with_half_of_the_best() -> None:
    search = BinarySPSASearch(100, halving_patience=5, seed=1)
    live = []
    for k in range(40):
        masks = search.ask()
        scores = np.array([1.0 / (k + 1) + len(live), 0.0, 0.1])  # stalls at once, each run better
        bits = masks.to_bool()
        search.tell(masks, scores)
        if (k + 1) % 6 == 0 and not search.stop():
            live.append(np.flatnonzero(search.w == 0.5))
            iterate, plus, minus = search.ask().to_bool()
            np.testing.assert_array_equal(np.flatnonzero(iterate), live[-1])
            np.testing.assert_array_equal(np.flatnonzero(plus | minus), live[-1])
            assert not (plus & minus).any()
            assert set(live[-1]) <= set(np.flatnonzero(bits.any(axis=0))) | set(range(100))
    assert search.stop() == {"halving": search.stop()["halving"]}
    assert search.stops_itself


def test_extensions_are_refused_where_they_mean_nothing() -> None:
    for options, message in [
        ({"injected_noise": -1.0}, "injected_noise must be a finite number from 0 on, got -1.0"),
        ({"injected_noise": math.nan}, "injected_noise must be a finite number"),
        ({"second_order": 1}, "second_order must be True or False, got 1"),
        ({"second_order": True, "gain": "paper"}, "gain='paper' is a step of first order"),
        (
            {"halving_patience": 0},
            "halving_patience must be a whole number from 1 on or None, got 0",
        ),
        ({"halving_patience": 9, "n_features_to_select": 2}, "finds the number of features"),
    ]:
        with pytest.raises(ValueError, match=message):
            BinarySPSASearch(4, **options)  # type: ignore[arg-type]


@each("options", [{}, *OPTIONS])
def test_goes_on_from_any_iteration_bit_for_bit(options: dict[str, Any]) -> None:
    score = _noisy(70)
    search = BinarySPSASearch(70, seed=5, **options)
    scores_told, states = [], []
    for _ in range(60):
        states.append(search.state())
        masks = search.ask()
        scores_told.append(score(masks.to_bool()))
        search.tell(masks, scores_told[-1])
    for k in (0, 1, 11, 30, 59):
        again = BinarySPSASearch(70, **options)
        again.set_state(states[k])
        for scores in scores_told[k:]:
            again.tell(again.ask(), scores)
        for name, value in search.state().items():
            np.testing.assert_array_equal(again.state()[name], value, err_msg=name)


def test_bad_states() -> None:
    search = BinarySPSASearch(70, halving_patience=5, second_order=True)
    state = search.state()
    for name, value, message in [
        ("live", np.zeros(2, np.uint64), "live must have a feature"),
        ("live", np.ones(3, np.uint64), "words"),
        ("live", np.ones(2), "live must be the words of a mask"),
        ("began", 1, "began must lie in"),
        ("halving_mask", np.zeros(2, np.uint64), "halving_mask must have a feature"),
        ("halving_best", math.nan, "must be scores"),
        ("hessian", np.zeros(70), "hessian must have shape"),
        ("hessian", np.full(4900, 1e200), "1e150 at most"),
        ("second_order", 0, "second_order=0, this one has 1"),
        ("injected_noise", 0.5, r"injected_noise=0\.5, this one has 0\.0"),
    ]:
        with pytest.raises(ValueError, match=message):
            BinarySPSASearch(70, halving_patience=5, second_order=True).set_state(
                {**state, name: value}
            )
    with pytest.raises(ValueError, match="halving_mask must be of features that are live"):
        BinarySPSASearch(70, halving_patience=5, second_order=True).set_state(
            {**state, "live": np.array([1, 0], np.uint64)}
        )
