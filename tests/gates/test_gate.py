"""Gates: closed forms against integrals and draws, gradients against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from scipy import integrate, stats
from scipy.special import expit

torch = pytest.importorskip("torch")

from bitsieve.gates import gate as room  # noqa: E402
from bitsieve.gates.bernoulli import BernoulliMasks  # noqa: E402
from bitsieve.gates.contract import FeatureGates  # noqa: E402
from bitsieve.gates.gate import GATES, GaussianGates, HardConcreteGates  # noqa: E402
from bitsieve.gates.network import GatedMLP, GatedModule  # noqa: E402
from bitsieve.gates.noise import noise  # noqa: E402
from bitsieve.gates.noiseless import L1Gates, OpenGates  # noqa: E402

PLACES = [-3.0, -0.9, -0.5, 0.0, 0.2, 0.5, 2.0]


def placed(make: Any, places: list[float], **options: Any) -> Any:
    """Gates whose only parameter is at places."""
    gates = make(len(places), **options)
    (parameter,) = gates.parameters()
    with torch.no_grad():
        parameter.copy_(torch.tensor(places))
    return gates


def derivative(function: Any, parameter: Any, step: float = 1e-6) -> Any:
    """Central differences of a scalar, in float64."""
    found = torch.zeros_like(parameter)
    with torch.no_grad():
        for i in range(len(parameter)):
            kept = parameter[i].item()
            parameter[i] = kept + step
            above = function()
            parameter[i] = kept - step
            found[i] = (above - function()) / (2 * step)
            parameter[i] = kept
    return found


# ---- Gaussian ------------------------------------------------------------------------------


@each("sigma", [0.1, 0.5, 2.0])
def test_mean_of_gaussian_gates_is_its_integral(sigma: float) -> None:
    gates = placed(GaussianGates, PLACES, sigma=sigma).double()
    for mu, mean in zip(gates.mu.tolist(), gates.mean().tolist(), strict=True):
        density = stats.norm(mu + 0.5, sigma)
        inner, _ = integrate.quad(lambda z, d=density: z * d.pdf(z), 0, 1, epsabs=1e-12)
        assert mean == pytest.approx(inner + density.sf(1), abs=1e-10)
    (slope,) = torch.autograd.grad(gates.mean().sum(), gates.mu)
    mu = np.array(gates.mu.tolist())
    a, b = (stats.norm.cdf((end - 0.5 - mu) / sigma) for end in (0, 1))
    np.testing.assert_allclose(slope.numpy(), b - a, atol=1e-12)


def test_mean_of_closed_and_open_gates_is_within_0_and_1() -> None:
    gates = placed(GaussianGates, [-1e4, -30.0, 30.0, 1e4])
    assert gates.mean().tolist() == [0.0, 0.0, 1.0, 1.0]


@each("sigma", [0.1, 0.5, 2.0])
def test_open_probability_of_gaussian_gates(sigma: float) -> None:
    gates = placed(GaussianGates, PLACES, sigma=sigma)
    expected = stats.norm.cdf((np.array(PLACES) + 0.5) / sigma)
    with torch.no_grad():
        np.testing.assert_allclose(gates.open_probability(), expected, rtol=2e-5, atol=1e-30)
        assert float(gates.penalty(0.3)) == pytest.approx(0.3 * expected.sum(), rel=1e-6)
        drawn = gates.sample(1, 0, 100_000)
        np.testing.assert_allclose((drawn > 0).double().mean(dim=0), expected, atol=0.005)
        np.testing.assert_allclose(drawn.double().mean(dim=0), gates.mean(), atol=0.005)


def test_gradients_of_draws_have_the_mean_of_the_closed_form() -> None:
    gates = placed(GaussianGates, PLACES)
    (found,) = torch.autograd.grad(gates.sample(1, 0, 100_000).mean(dim=0).sum(), gates.mu)
    (expected,) = torch.autograd.grad(gates.mean().sum(), gates.mu)
    np.testing.assert_allclose(found, expected, atol=0.005)


@each("n_rows", [None, 3])
@each("make", [GaussianGates, HardConcreteGates])
def test_gradient_of_a_sample_against_finite_differences(make: Any, n_rows: int | None) -> None:
    gates = placed(make, PLACES).double()
    (parameter,) = gates.parameters()

    def loss() -> Any:
        z = gates.sample(1, 2, 4, n_rows)
        return (z.square() * torch.arange(1.0, z.numel() + 1).view(z.shape)).sum()

    (found,) = torch.autograd.grad(loss(), parameter)
    assert (found != 0).sum() >= 5
    np.testing.assert_allclose(found, derivative(loss, parameter), rtol=1e-6, atol=1e-6)


@each("make", [GaussianGates, HardConcreteGates, L1Gates])
def test_gradient_of_the_penalty_against_finite_differences(make: Any) -> None:
    gates = placed(make, PLACES).double()
    (parameter,) = gates.parameters()
    (found,) = torch.autograd.grad(gates.penalty(0.7), parameter)
    assert (found > 0).all()  # the penalty closes gates, wherever they are
    expected = derivative(lambda: gates.penalty(0.7), parameter)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_gate_at_an_end_has_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is left out of a step, because its gate is 0, would not have learned in it."""
    gates = GaussianGates(5)
    eps = torch.tensor([[-2.0, -1.0, 0.0, 1.0, 2.0]])
    monkeypatch.setattr(room, "noise", lambda *_: eps)
    z = gates.sample(0, 0, 1)
    assert z.tolist() == [[0.0, 0.0, 0.5, 1.0, 1.0]]
    (slope,) = torch.autograd.grad(z.sum(), gates.mu)
    assert slope.tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]


# ---- hard concrete -------------------------------------------------------------------------


def test_sample_of_hard_concrete_gates_is_its_formula() -> None:
    gates = placed(HardConcreteGates, PLACES)
    logit = noise("logistic", 1, 2, (3, len(PLACES)), torch.device("cpu")).double().numpy()
    u = expit(logit)
    s = expit((np.log(u) - np.log(1 - u) + np.array(PLACES)) / (2 / 3))
    expected = np.minimum(1, np.maximum(0, s * 1.2 - 0.1))
    np.testing.assert_allclose(gates.sample(1, 2, 3).detach(), expected, atol=2e-6)
    assert (expected == 0).any()
    assert (expected == 1).any()


def test_draws_of_hard_concrete_gates_have_their_distribution() -> None:
    gates = placed(HardConcreteGates, PLACES)
    with torch.no_grad():
        drawn = gates.sample(1, 0, 100_000).numpy()
        opened = gates.open_probability().numpy()
    np.testing.assert_allclose((drawn > 0).mean(axis=0), opened, atol=0.005)
    alpha = np.exp(PLACES)
    np.testing.assert_allclose(opened, 1 / (1 + (0.1 / 1.1) ** (2 / 3) / alpha), rtol=1e-5)
    for t in (0.1, 0.5, 0.9):
        s = (t + 0.1) / 1.2
        below = expit(2 / 3 * np.log(s / (1 - s)) - np.array(PLACES))
        np.testing.assert_allclose((drawn <= t).mean(axis=0), below, atol=0.005)


def test_value_of_hard_concrete_gates_is_the_papers_estimator() -> None:
    places = [-3.0, -1.0, 0.0, 1.0, 3.0]
    gates = placed(HardConcreteGates, places)
    expected = np.clip(expit(np.array(places)) * 1.2 - 0.1, 0, 1)
    np.testing.assert_allclose(gates.value().detach(), expected, atol=1e-6)
    assert gates.support().tolist() == [False, False, False, True, True]


# ---- L1 ------------------------------------------------------------------------------------


def test_l1_gates_reach_the_soft_threshold_and_open_again() -> None:
    target = torch.tensor([-0.5, 0.2, 0.29, 0.31, 0.8, 3.0])
    gates = L1Gates(6)

    def train(weight: float, steps: int) -> None:
        for step in range(steps):
            z = gates.sample(0, step, 1)
            loss = 0.5 * (z[0] - target).square().sum() + gates.penalty(weight)
            (slope,) = torch.autograd.grad(loss, gates.w)
            with torch.no_grad():
                gates.w -= 0.2 * slope
            gates.learn(z, loss.detach()[None], 1)

    train(0.3, 100)
    np.testing.assert_allclose(gates.value().detach(), [0, 0, 0, 0.01, 0.5, 1], atol=1e-6)
    assert gates.support().tolist() == [False, False, False, True, True, True]
    train(0.25, 100)
    np.testing.assert_allclose(gates.value().detach(), [0, 0, 0.04, 0.06, 0.55, 1], atol=1e-6)


# ---- all -----------------------------------------------------------------------------------


def all_gates() -> list[FeatureGates]:
    return [
        placed(GaussianGates, PLACES),
        placed(HardConcreteGates, PLACES),
        placed(L1Gates, [0.0, 0.0, 0.1, 0.5, 0.6, 0.9, 1.0]),
        OpenGates(7),
        BernoulliMasks(7, start=[0.2, 0.2, 0.3, 0.4, 0.5, 0.8, 0.9]),
    ]


@each("gates", all_gates())
def test_what_is_not_selected_is_closed_at_prediction(gates: FeatureGates) -> None:
    support = gates.support()
    value, closed = gates.value().detach().numpy(), gates.at_prediction().detach().numpy()
    assert value.min() >= 0
    assert value.max() <= 1
    assert (closed[support] == value[support]).all()
    assert not closed[~support].any()
    assert closed[support].all()
    position = gates.position().detach().numpy()
    assert (np.diff(position) >= 0).all()  # they were placed so
    assert (np.diff(support.astype(int)) >= 0).all()


@each("gates", all_gates())
def test_sample_is_a_function_of_parameters_key_and_step(gates: FeatureGates) -> None:
    drawn = gates.sample(3, 4, 5)
    assert drawn.shape == (5, 7)
    assert drawn.dtype == torch.float32
    torch.manual_seed(0)
    gates.sample(9, 9, 2)
    assert torch.equal(gates.sample(3, 4, 5), drawn)
    random = not isinstance(gates, (L1Gates, OpenGates))
    assert torch.equal(gates.sample(3, 5, 5), drawn) != random
    assert torch.equal(drawn[0], drawn[1]) != random
    assert drawn.min() >= 0
    assert drawn.max() <= 1


@each("gates", all_gates()[:4])
def test_each_sample_has_gates_of_its_own(gates: FeatureGates) -> None:
    with torch.no_grad():
        drawn = gates.sample(3, 4, 2, 2000)
        shared = gates.sample(3, 4, 4000)
    assert drawn.shape == (2, 2000, 7)
    np.testing.assert_allclose(drawn.mean(dim=(0, 1)), shared.mean(dim=0), atol=0.04)
    if isinstance(gates, (GaussianGates, HardConcreteGates)):
        assert not torch.equal(drawn[0, 0], drawn[0, 1])
        assert not torch.equal(drawn[0, 0], drawn[1, 0])
        assert drawn.view(-1, 7).std(dim=0).max() > 0.2


def test_gates_start_at_one_half() -> None:
    for name in ("gaussian", "hard_concrete", "l1"):
        gates = GATES[name](3, sigma=0.5)
        assert gates.value().tolist() == [0.5] * 3
    assert not GATES["gaussian"](3).support().any()
    assert not GATES["hard_concrete"](3).support().any()
    assert OpenGates(3).support().all()


@pytest.mark.parametrize("device", [pytest.param("meta", marks=pytest.mark.slow), "cuda"])
def test_gates_work_where_their_parameters_are(device: str) -> None:
    """Tensors of two devices never meet: what is on ``meta`` refuses those of the processor."""
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA")
    for gates in all_gates():
        here = gates.sample(1, 2, 2)
        gates.to(device)
        z = gates.sample(1, 2, 2)
        gates.penalty(0.1)
        gates.at_prediction()
        gates.learn(z.detach(), torch.zeros(2, device=device), 2)
        assert z.device.type == gates.position().device.type == device
        if device == "cuda":
            np.testing.assert_allclose(z.detach().cpu(), here.detach(), atol=1e-6)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="sigma must be a finite number above 0, got 0"):
        GaussianGates(3, sigma=0)
    with pytest.raises(ValueError, match="n_features must be a whole number from 1 on, got 0"):
        GaussianGates(0)


# ---- a network behind gates of each sample -------------------------------------------------


def test_network_takes_gates_of_each_sample() -> None:
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32))
    gates = GaussianGates(4)
    z = gates.sample(1, 2, 3, 6)
    mlp = GatedMLP(4, 2, (5,), 0)
    module = GatedModule(torch.nn.Linear(4, 2))
    for network in (mlp, module):
        found = network(x, z)
        assert found.shape == (3, 6, 2)
        for k in range(3):
            for i in range(6):
                one = network(x[i : i + 1], z[k, i][None])[0, 0]
                np.testing.assert_allclose(found[k, i].detach(), one.detach(), atol=1e-6)
        # Gates that are the same for all samples are the shared ones.
        same = z[:, :1].expand(-1, 6, -1)
        np.testing.assert_allclose(
            network(x, same).detach(), network(x, z[:, 0]).detach(), atol=1e-6
        )
        (slope,) = torch.autograd.grad(found.sum(), gates.mu, retain_graph=True)
        assert (slope != 0).all()


# ---- a training ----------------------------------------------------------------------------


def trained(gates: FeatureGates, weight: float, n_rows: int | None = None) -> FeatureGates:
    """Gates of a linear regression on features 0, 1 and 2 of 10, by plain gradient descent."""
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(100, 10))).float()
    y = x[:, 0] - 2 * x[:, 1] + x[:, 2]
    w = torch.zeros(10, requires_grad=True)
    parameters = [w, *gates.parameters()]
    for step in range(300):
        z = gates.sample(5, step, 2, n_rows)
        losses = ((x * z.view(2, -1, 10)) @ w - y).square().mean(dim=1)
        total = losses.mean()
        penalty = gates.penalty(weight)
        slopes = torch.autograd.grad(total if penalty is None else total + penalty, parameters)
        with torch.no_grad():
            for parameter, slope in zip(parameters, slopes, strict=True):
                parameter -= 0.1 * slope
            gates.learn(z, losses, 2)
    return gates


@each(
    "gate, n_rows", [("gaussian", None), ("gaussian", 100), ("hard_concrete", None), ("l1", None)]
)
def test_gates_close_on_what_does_not_matter(gate: str, n_rows: int | None) -> None:
    expected = [True] * 3 + [False] * 7
    found = trained(GATES[gate](10), 0.3, n_rows)
    assert found.support().tolist() == expected
    position = found.position()
    assert position[:3].min() > position[3:].max() + 0.3
    assert not trained(GATES[gate](10), 30.0, n_rows).support().any()


def test_open_gates_select_all_whatever_the_penalty() -> None:
    assert trained(OpenGates(10), 30.0).support().all()


def test_draws_have_the_same_bits_with_and_without_gradients():
    rng = np.random.default_rng(0)
    for p in (1, 5, 33):
        for sigma in (0.3, 0.5, 0.77):
            gates = GaussianGates(p, sigma)
            with torch.no_grad():
                gates.mu.copy_(torch.from_numpy(rng.normal(size=p).astype(np.float32)))
            for draws in ((1,), (3,), (2, 4)):
                learning = gates.sample(9, 4, *draws)
                with torch.no_grad():
                    drawn = gates.sample(9, 4, *draws)
                assert learning.requires_grad
                assert torch.equal(drawn, learning)
                assert drawn.shape == (*draws, p)
    with torch.no_grad():
        gates.mu[2] = float("nan")
        assert torch.isnan(gates.sample(9, 4, 1)[0, 2])
