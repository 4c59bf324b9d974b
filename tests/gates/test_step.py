"""Gradients written out are those of autograd, and so are the trainings that they make."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from bitsieve.gates.gate import GaussianGates, HardConcreteGates  # noqa: E402
from bitsieve.gates.losses import CrossEntropy, SquaredError  # noqa: E402
from bitsieve.gates.network import GatedMLP  # noqa: E402
from bitsieve.gates.noiseless import L1Gates  # noqa: E402
from bitsieve.gates.training import Samples, Settings, Training  # noqa: E402

N, P = 300, 40


def make(
    *, gate=GaussianGates, is_class=True, weighted=False, hidden=(7, 5), spread=0.6, mean=-0.2, **o
):
    """A training whose gates lie apart, so that some are closed, some within and some full."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(N, P)).astype(np.float32)
    told = x[:, 0] - x[:, 1] + 0.3 * rng.normal(size=N)
    target = np.digitize(told, [-0.5, 0.5]) if is_class else told.astype(np.float32)
    weight = torch.from_numpy(rng.uniform(0, 2, N).astype(np.float32)) if weighted else None
    of_class = torch.tensor([1.0, 2.0, 0.5]) if weighted else None
    loss = CrossEntropy(3, of_class) if is_class else SquaredError()
    options = {k: o.pop(k) for k in ("activation", "batch_norm", "dropout") if k in o}
    network = GatedMLP(P, loss.n_outputs, hidden, 2, **options)
    gates = gate(P)
    with torch.no_grad():
        for parameter in network.parameters():
            noise = torch.from_numpy(rng.normal(size=tuple(parameter.shape)).astype(np.float32))
            parameter += 0.1 * noise
        next(gates.parameters()).copy_(
            torch.from_numpy((mean + spread * rng.normal(size=P)).astype(np.float32))
        )
    samples = Samples(torch.from_numpy(x), torch.from_numpy(target), weight)
    rates = {"learning_rate": 0.01, "gate_learning_rate": 0.01, "weight_decay": 1e-3, **o}
    return Training(gates, network, loss, samples, Settings(**rates), 9, weight=0.02)


def by_autograd(training):
    assert training._learner.plain is not None
    training._learner.plain = None
    return training


def parameters(training):
    """Everything that learns, brought up to date."""
    training.catch_up()
    modules = {"gates": training.gates, "network": training.network}
    return {
        f"{part}.{name}": tensor.detach().numpy().copy()
        for part, module in modules.items()
        for name, tensor in module.named_parameters()
    }


def close(one, other, tolerance):
    for name, expected in other.items():
        scale = max(float(np.abs(expected).max()), 1e-3)
        assert np.abs(one[name] - expected).max() <= tolerance * scale, name


CASES = [
    {"activation": activation, "is_class": is_class, "weighted": weighted, "gate": gate}
    for activation, is_class, weighted, gate in itertools.product(
        ("relu", "tanh", "selu", "sigmoid"),
        (True, False),
        (False, True),
        (GaussianGates, HardConcreteGates),
    )
]


@pytest.mark.parametrize("size", [None, 128])
def test_gradients_are_those_of_autograd(size):
    # Plain descent at rate 1 without decay: what a step takes off is the gradient.
    options = {"optimizer": "sgd", "batch_size": size, "weight_decay": 0.0}
    rates = {"learning_rate": 1.0, "gate_learning_rate": 1.0}
    ends = [{"mean": 9.0, "spread": 0.0}, {"mean": -9.0, "spread": 0.0}, {"hidden": ()}]
    for case in [*CASES, *ends, {"hidden": (6,)}]:
        plain, auto = (make(**case, **options, **rates) for _ in range(2))
        start = parameters(plain)
        plain.run(max_steps=1)
        by_autograd(auto).run(max_steps=1)
        found, expected = (
            {name: start[name] - end for name, end in parameters(t).items()} for t in (plain, auto)
        )
        if "mean" not in case:
            assert all(np.abs(gradient).max() > 1e-4 for gradient in expected.values())
        close(found, expected, 2e-5)


@pytest.mark.parametrize("size", [None, 128])
def test_fifty_steps_are_those_of_autograd(size):
    for case in CASES:
        for optimizer, rate in (("adam", 0.01), ("sgd", 0.1)):
            options = {"batch_size": size, "optimizer": optimizer, "learning_rate": rate}
            plain, auto = (make(**case, **options) for _ in range(2))
            start = parameters(plain)
            plain.run(max_steps=50)
            by_autograd(auto).run(max_steps=50)
            found, expected = parameters(plain), parameters(auto)
            moved = np.abs(expected["network.weight"] - start["network.weight"]).max()
            assert moved > 1e-2
            close(found, expected, 2e-3)
            for name in ("loss", "penalty"):
                np.testing.assert_allclose(
                    plain.history[name], auto.history[name], rtol=1e-3, atol=1e-6
                )
            assert plain.history["n_selected"] == auto.history["n_selected"]


def test_gates_that_are_held_after_each_epoch_are_those_of_autograd():
    for gate in (GaussianGates, HardConcreteGates):
        plain, auto = (
            make(gate=gate, batch_size=64, spread=2.0, gate_learning_rate=0.1) for _ in range(2)
        )
        held = []

        def hold(training, held=held):
            before = training.gates.position().clone()
            training.gates.hold()
            held.append(bool((training.gates.position() != before).any()))

        plain.run(10, hold)
        by_autograd(auto).run(10, hold)
        assert sum(held) >= 2
        close(parameters(plain), parameters(auto), 2e-3)


def test_what_is_frozen_in_the_midst_stays_as_it_is():
    for freeze in (
        lambda t: t.gates.requires_grad_(False),
        lambda t: t.network.rest.requires_grad_(False),
        lambda t: t.network.weight.requires_grad_(False),
    ):
        plain, auto = make(batch_size=64), by_autograd(make(batch_size=64))
        for training in (plain, auto):
            training.run(2)
            freeze(training)
        before = parameters(plain)
        frozen = [
            f"{part}.{name}"
            for part, module in (("gates", plain.gates), ("network", plain.network))
            for name, tensor in module.named_parameters()
            if not tensor.requires_grad
        ]
        found, expected = parameters(plain.run(8)), parameters(auto.run(8))
        assert frozen
        for name in frozen:
            np.testing.assert_array_equal(found[name], before[name], name)
        assert any(np.abs(found[name] - before[name]).max() > 1e-3 for name in found)
        close(found, expected, 2e-3)


def test_a_state_goes_on_with_the_same_bits():
    whole, first, second = (make(batch_size=64) for _ in range(3))
    whole.run(max_steps=23)
    first.run(max_steps=8)
    second.set_state(first.state())
    second.run(max_steps=23)
    expected, found = whole.state(), second.state()
    for name, array in expected.items():
        if name != "seconds":
            assert array.tobytes() == found[name].tobytes(), name


def test_the_rest_goes_by_autograd():
    assert make()._learner.plain is not None
    for option in (
        {"gate": L1Gates},
        {"n_draws": 2},
        {"noise": "sample"},
        {"batch_norm": True},
        {"dropout": 0.1},
    ):
        assert make(**option)._learner.plain is None, option


def test_weights_of_zero_teach_nothing():
    outputs = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
    loss, gradient = CrossEntropy(2).gradient(outputs, torch.tensor([0, 1]), torch.zeros(2))
    assert loss == 0
    assert not gradient.any()
    loss, gradient = SquaredError().gradient(outputs[:, :1], torch.ones(2), torch.zeros(2))
    assert loss == 0
    assert not gradient.any()
