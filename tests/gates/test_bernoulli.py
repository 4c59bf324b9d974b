"""PEFS's distribution: against a twin, the compact genetic algorithm and sums over all masks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from each import each
from twin_pefs import CompactGA, TwinMasks, ordinal_utility

torch = pytest.importorskip("torch")

from bitsieve.gates.bernoulli import BernoulliMasks, utility  # noqa: E402
from bitsieve.gates.dynamic import StructureMasks  # noqa: E402
from bitsieve.gates.noise import PREDICTION_STEP  # noqa: E402


def logit(x: Any) -> Any:
    return np.log(x / (1 - x))


# ---- equations 5 and 6 ---------------------------------------------------------------------


@each("n_draws", range(1, 10))
def test_utility_without_ties(n_draws: int) -> None:
    losses = np.random.default_rng(n_draws).permutation(n_draws) * 0.5
    found = utility(torch.from_numpy(losses)).numpy()
    assert found.tolist() == ordinal_utility(losses).tolist()
    assert np.abs(found).sum() == (0 if n_draws == 1 else 2 * -(-n_draws // 4))


@each("losses", [[1, 1], [1, 1, 2], [3, 1, 1, 1, 2], [2, 2, 1, 1, 1, 3], [5, 5, 5, 5, 5, 5]])
def test_utility_of_ties_is_the_mean_over_their_orders(losses: list[float]) -> None:
    orders = []
    for order in itertools.permutations(range(len(losses))):
        u = np.zeros(len(losses))
        u[list(order)] = ordinal_utility(np.array(losses)[list(order)])
        orders.append(u)
    found = utility(torch.tensor(losses, dtype=torch.float32))
    np.testing.assert_allclose(found, np.mean(orders, axis=0), atol=1e-12)


def test_loss_that_is_no_number_is_the_worst() -> None:
    nan, inf = float("nan"), float("inf")
    assert utility(torch.tensor([nan, 1.0, 2.0])).tolist() == [-1.0, 1.0, 0.0]
    assert utility(torch.tensor([nan, inf, 1.0])).tolist() == [-0.5, -0.5, 1.0]
    assert utility(torch.tensor([0.0, 1.0, -inf])).tolist() == [0.0, -1.0, 1.0]


@each("n_draws, eps, rate", [(2, 0.0, None), (2, 0.3, 0.1), (5, 0.1, 0.3), (8, 1.0, None)])
def test_equals_the_twin_for_100_steps(n_draws: int, eps: float, rate: float | None) -> None:
    d = 13
    worth = np.random.default_rng(0).normal(size=d)
    ours = BernoulliMasks(d, eps, rate)
    twin = TwinMasks(d, eps, 1 / d if rate is None else rate)
    for step in range(100):
        masks = ours.sample(7, step, n_draws)
        np.testing.assert_array_equal(masks, twin.sample(7, step, n_draws))
        losses = (masks.double().numpy() @ worth).round(6)
        ours.learn(masks, torch.from_numpy(losses), n_draws)
        twin.learn(masks.numpy(), losses)
        np.testing.assert_allclose(ours.theta, twin.theta, rtol=0, atol=1e-13)
    assert np.ptp(ours.theta.numpy()) > 0.3


def test_with_two_masks_and_no_penalty_it_is_the_compact_genetic_algorithm() -> None:
    """The virtual population is 2 / rate."""
    d, rate = 20, 0.05
    worth = np.random.default_rng(1).normal(size=d)
    ours, cga = BernoulliMasks(d, 0.0, rate), CompactGA(d, 2 / rate)
    for step in range(400):
        masks = ours.sample(7, step, 2)
        losses = masks.double().numpy() @ worth
        ours.learn(masks, torch.from_numpy(losses), 2)
        cga.compete(*masks.numpy(), *losses)
        cga.p = cga.p.clip(1 / d, 1 - 1 / d)
        np.testing.assert_allclose(ours.theta, cga.p, rtol=0, atol=1e-13)
    assert ours.theta.min() == 1 / d
    assert ours.theta.max() == 1 - 1 / d


def test_order_of_masks_with_equal_losses_does_not_matter() -> None:
    masks = (torch.rand(6, 9, generator=torch.Generator().manual_seed(0)) < 0.5).float()
    losses = torch.tensor([0.2, 0.1, 0.1, 0.2, 0.3, 0.1])
    moved = []
    for order in ([0, 1, 2, 3, 4, 5], [3, 5, 1, 0, 4, 2], [4, 2, 5, 0, 3, 1]):
        gates = BernoulliMasks(9)
        gates.learn(masks[order], losses[order], 6)
        moved.append(gates.theta.numpy())
    np.testing.assert_allclose(moved[1], moved[0], atol=1e-15)
    np.testing.assert_allclose(moved[2], moved[0], atol=1e-15)
    assert np.abs(moved[0] - 0.5).max() > 0.01


def test_two_masks_of_one_loss_teach_nothing() -> None:
    gates = BernoulliMasks(9)
    gates.learn(gates.sample(1, 0, 2), torch.tensor([0.25, 0.25]), 2)
    assert (gates.theta == 0.5).all()


def test_one_mask_learns_from_the_penalty_alone() -> None:
    gates = BernoulliMasks(10, eps=0.4)
    gates.learn(gates.sample(1, 0, 1), torch.tensor([0.25]), 1)
    np.testing.assert_allclose(gates.theta, 0.5 - 0.1 * 0.4 * 0.25, atol=1e-15)


def test_step_has_the_expectation_that_the_docstring_says() -> None:
    """theta (1 - theta) (advantage - eps), over all pairs of masks of three variables."""
    start = np.array([0.4, 0.5, 0.6])
    worth, eps, rate = np.array([3.0, 1.0, -2.0]), 0.1, 1e-3
    all_masks = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    chance = np.prod(np.where(all_masks == 1, start, 1 - start), axis=1)
    expected, wins, losses_of, apart = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for (a, p_a), (b, p_b) in itertools.product(zip(all_masks, chance, strict=True), repeat=2):
        loss = np.array([-a @ worth, -b @ worth])
        gates = BernoulliMasks(3, eps, rate, start=start)
        gates.learn(torch.tensor(np.array([a, b])).float(), torch.from_numpy(loss), 2)
        expected += p_a * p_b * (gates.theta.numpy() - start) / rate
        has = a > b
        wins += p_a * p_b * has * (loss[0] < loss[1])
        losses_of += p_a * p_b * has * (loss[0] > loss[1])
        apart += p_a * p_b * has
    advantage = (wins - losses_of) / apart
    assert advantage[0] > 0.5
    assert advantage[2] < -0.2
    np.testing.assert_allclose(expected, start * (1 - start) * (advantage - eps), atol=1e-12)


# ---- penalty -------------------------------------------------------------------------------


def idle(gates: BernoulliMasks, n_steps: int) -> BernoulliMasks:
    """Steps whose masks tie, so that only the penalty moves theta."""
    for step in range(n_steps):
        gates.learn(gates.sample(1, step, 2), torch.zeros(2), 2)
    return gates


def test_theta_stays_within_its_range() -> None:
    for eps, end in ((1.0, 0.1), (-1.0, 0.9)):
        gates = idle(BernoulliMasks(10, eps), 300)
        assert gates.theta.tolist() == [end] * 10
        assert gates.support().all() == (eps < 0)


@each("pi", [0.1, [0.3, 0.5, 0.9]])
def test_prior_moves_along_its_natural_gradient(pi: Any) -> None:
    """-log p(M | pi), summed over all masks, and the Fisher matrix of theta."""
    start = np.array([0.4, 0.5, 0.6])
    theta = torch.tensor(start, requires_grad=True)
    prior = torch.tensor(np.broadcast_to(pi, 3).copy())
    expected, fisher = torch.zeros((), dtype=torch.float64), torch.zeros(3, 3).double()
    for mask in itertools.product([0.0, 1.0], repeat=3):
        m = torch.tensor(mask).double()
        log_p = (m * theta.log() + (1 - m) * (1 - theta).log()).sum()
        (score,) = torch.autograd.grad(log_p, theta, retain_graph=True)
        fisher += log_p.exp().detach() * torch.outer(score, score)
        expected = expected - log_p.exp() * (m * prior.log() + (1 - m) * (1 - prior).log()).sum()
    (slope,) = torch.autograd.grad(expected, theta)
    natural = torch.linalg.solve(fisher, slope).numpy()

    gates = idle(BernoulliMasks(3, rate=0.01, prior=pi, start=start), 1)
    np.testing.assert_allclose(gates.theta, start - 0.01 * natural, atol=1e-12)


def test_prior_of_one_half_is_no_penalty_and_a_small_one_selects_less() -> None:
    assert not BernoulliMasks(3, prior=0.5).eps.any()
    sizes = []
    for pi in (0.3, 0.5, 0.7):
        gates = BernoulliMasks(30, prior=pi)
        for step in range(400):
            drawn = gates.sample(2, step, 2)
            gates.learn(drawn, -drawn[:, :10] @ torch.linspace(0.1, 1, 10), 2)
        sizes.append(gates.support().sum())
    assert sizes[0] < sizes[1] < sizes[2]


def play(gates: BernoulliMasks, n_good: int, n_steps: int, seed: int) -> Any:
    """Masks are worth the more the more of the good variables they have, told with noise."""
    worth = torch.zeros(gates.n_features)
    worth[:n_good] = torch.linspace(1, 0.3, n_good)
    noise = np.random.default_rng(seed).normal(size=(n_steps, 2)).astype(np.float32)
    for step in range(n_steps):
        drawn = gates.sample(seed, step, 2)
        gates.learn(drawn, torch.from_numpy(noise[step]) - drawn @ worth, 2)
    return gates.support()


@each("d, size, n_good", [(20, 5, 10), (40, 8, 16)])
def test_size_is_reached_within_two(d: int, size: int, n_good: int) -> None:
    without = play(BernoulliMasks(d), n_good, 800, 1).sum()
    assert abs(without - size) > 2
    support = play(BernoulliMasks(d, n_features_to_select=size), n_good, 1500, 1)
    assert abs(support.sum() - size) <= 2
    assert support[:n_good].sum() >= min(size, support.sum()) - 2


def test_size_is_reached_from_below_too() -> None:
    support = play(BernoulliMasks(40, n_features_to_select=20, start=0.05), 25, 1500, 1)
    assert abs(support.sum() - 20) <= 2


def test_pressure_is_the_surplus_within_one() -> None:
    gates = BernoulliMasks(10, eps=0.2, n_features_to_select=5)
    assert gates.pressure().tolist() == [0.2] * 10  # theta = 1/2: a size of 5 already
    gates.theta[:] = torch.tensor([0.9] * 5 + [0.1] * 5, dtype=torch.float64)
    np.testing.assert_allclose(gates.pressure(), 0.2, atol=1e-12)
    gates.theta[5] = 0.34  # 0.3 of a variable in the range [0.1, 0.9]
    np.testing.assert_allclose(gates.pressure(), 0.5, atol=1e-12)
    gates.theta[:] = 0.9
    np.testing.assert_allclose(gates.pressure(), 1.2, atol=1e-12)


def test_variables_may_have_their_own_start_eps_and_count() -> None:
    """As features and units of a network under one distribution."""
    unit = np.arange(30) >= 20
    gates = BernoulliMasks(
        30,
        eps=np.where(unit, 0.5, 0.0),
        start=np.where(unit, 0.8, 0.3),
        n_features_to_select=4,
        counted=~unit,
    )
    np.testing.assert_allclose(gates.theta, np.where(unit, 0.8, 0.3))
    # theta spans 28/30: 20 features at 0.3 are 20 * (0.3 - 1/30) / (28/30) = 5.7 of them.
    np.testing.assert_allclose(gates.pressure(), np.where(unit, 0.5, 1.0))
    support = idle(gates, 600).support()
    assert not support.any()
    np.testing.assert_allclose(gates.theta[unit].max(), 1 / 30)
    # No variable is better than another: the features share the 4 evenly, and stay there.
    np.testing.assert_allclose(gates.theta[~unit], 4 / 20 * 28 / 30 + 1 / 30, atol=1e-3)


def test_beside_a_size_a_prior_says_which_and_not_how_many() -> None:
    alike = [BernoulliMasks(10, prior=pi, n_features_to_select=3) for pi in (0.01, 0.5, 0.9)]
    for gates in alike:
        np.testing.assert_allclose(gates.pressure(), 1.0)  # 5 at the start, of 3
    pi = np.array([0.9] * 2 + [0.01] * 8)
    logit = np.log((1 - pi) / pi)
    gates = BernoulliMasks(10, prior=pi, n_features_to_select=3)
    own = logit - logit.mean()
    np.testing.assert_allclose(gates.pressure(), own + 1.0 + np.abs(own).max())
    gates.theta[:] = 0.1  # none of 3: each is pushed up, whatever the prior says
    assert gates.pressure().max() <= -1.0
    structure = StructureMasks(10, (4, 4), prior=pi, n_features_to_select=3, structure_eps=0.5)
    np.testing.assert_allclose(structure.pressure()[:10], own + 1.0 + np.abs(own).max())
    np.testing.assert_allclose(structure.pressure()[10:], 0.5)


@each("d", [1, 2])
def test_one_variable_and_two_can_move(d: int) -> None:
    gates = play(BernoulliMasks(d, eps=0.3, rate=0.05), 1, 300, 0)
    assert gates.tolist() == [True, False][:d]


def test_eps_may_change_between_steps() -> None:
    gates = idle(BernoulliMasks(10, 1.0), 5)
    fallen = gates.theta[0].item()
    gates.eps.fill_(-1.0)
    assert idle(gates, 5).theta[0].item() > fallen


# ---- masks ---------------------------------------------------------------------------------


def test_masks_have_the_probabilities_theta() -> None:
    start = [0.1, 0.25, 0.5, 0.75, 0.9] * 2
    gates = BernoulliMasks(10, start=start)
    drawn = gates.sample(3, 0, 40_000).numpy()
    assert set(np.unique(drawn)) == {0.0, 1.0}
    np.testing.assert_allclose(drawn.mean(axis=0), start, atol=0.01)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(10)).max() < 0.02


def test_masks_of_a_prediction_are_not_those_of_a_step() -> None:
    gates = BernoulliMasks(100)
    assert not torch.equal(gates.sample(3, PREDICTION_STEP, 2), gates.sample(3, 0, 2))


def test_theta_is_all_that_is_kept() -> None:
    gates = BernoulliMasks(20, eps=0.1, n_features_to_select=3)
    play(gates, 5, 20, 0)
    assert list(gates.state_dict()) == ["theta"]
    assert gates.theta.dtype == torch.float64
    again = BernoulliMasks(20, eps=0.1, n_features_to_select=3)
    again.load_state_dict(gates.state_dict())
    for both in (gates, again):
        play(both, 5, 20, 1)
    assert torch.equal(again.theta, gates.theta)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match=r"eps must be a number or 3 of them, got shape \(2,\)"):
        BernoulliMasks(3, eps=[0.1, 0.2])
    with pytest.raises(ValueError, match="eps must be a finite number or 3 of them, got nan"):
        BernoulliMasks(3, eps=float("nan"))
    with pytest.raises(ValueError, match=r"prior must be a number in \(0, 1\), got 1.0"):
        BernoulliMasks(3, prior=[0.5, 1.0, 0.5])
    with pytest.raises(ValueError, match=r"start must be a number in \(0, 1\) or 3 .*, got 0"):
        BernoulliMasks(3, start=0)
    with pytest.raises(ValueError, match="rate must be a finite number above 0, got 0"):
        BernoulliMasks(3, rate=0)
    with pytest.raises(ValueError, match=r"n_features_to_select must be .* 0 to 2, got 3"):
        BernoulliMasks(3, n_features_to_select=3, counted=[True, True, False])
    with pytest.raises(ValueError, match=r"counted must be a boolean array of shape \(3,\)"):
        BernoulliMasks(3, n_features_to_select=1, counted=[1, 1, 0])
    with pytest.raises(ValueError, match="noise must be 'shared'"):
        BernoulliMasks(3).sample(0, 0, 2, 5)
