"""Kernels of a small step beside numpy, and the optimiser of small parameters beside torch's."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from scipy.special import log_softmax, ndtr, softmax

torch = pytest.importorskip("torch")

from bitsieve import _core  # noqa: E402
from bitsieve._random import Random, Stream  # noqa: E402
from bitsieve.gates.optimizer import RuleOptimizer, TorchOptimizer  # noqa: E402

SIZES = (1, 2, 15, 16, 17, 100, 333)


def test_noise_is_what_the_words_choose():
    table = np.random.default_rng(0).normal(size=2**16).astype(np.float32)
    for n in (0, *SIZES):
        for lane in (0, 7, 2**63 + 5):
            words = Random(2**64 - 3, Stream.gates, lane=lane).words(-(-n // 4))
            levels = words.astype("<u8").view("<i2")[:n].astype(int)
            found = _core.gate_noise(2**64 - 3, lane, table, n)
            np.testing.assert_array_equal(found, table[levels + 2**15])


def test_noise_on_the_processor_is_that_of_a_device():
    from bitsieve.gates import noise as module

    drawn = module.noise("logistic", 5, 3, (2, 33), torch.device("cpu"))
    table = module._quantiles("logistic", torch.device("cpu"))
    levels = torch.from_numpy(Random(5, Stream.gates, lane=3).words(17).view(np.int16)[:66])
    assert torch.equal(drawn, table[levels.long() + 2**15].view(2, 33))


@each("share", (0.0, 0.3, 0.96, 1.0))
def test_open_columns_are_those_of_numpy(share):
    rng = np.random.default_rng(1)
    for p in SIZES:
        gates = np.where(rng.random(p) < share, rng.random(p) + 0.01, 0.0).astype(np.float32)
        X = rng.normal(size=(20, p)).astype(np.float32)
        most = max(1, round(0.9 * p))
        is_open = gates != 0
        kept = np.arange(p) if is_open.sum() >= most else np.flatnonzero(is_open)
        for samples in (None, rng.permutation(20)[:7]):
            features, opened, columns = _core.open_columns(gates, X, samples, most)
            np.testing.assert_array_equal(features, kept)
            np.testing.assert_array_equal(opened, gates[kept][None])
            rows = X if samples is None else X[samples]
            np.testing.assert_array_equal(columns, rows[:, kept])
            assert np.shares_memory(columns, X) == (samples is None and len(kept) == p)


def test_open_columns_refuses_what_does_not_fit():
    X = np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match="X must have one column a gate"):
        _core.open_columns(np.zeros(3, np.float32), X, None, 4)
    with pytest.raises(ValueError, match="samples must lie in"):
        _core.open_columns(np.ones(4, np.float32), X, np.array([3]), 4)


@each("weighted", (False, True))
def test_softmax_loss_is_that_of_float64(weighted):
    rng = np.random.default_rng(2)
    for n_classes in (1, 2, 3, 17):
        for n in SIZES:
            outputs = (10 * rng.normal(size=(n, n_classes))).astype(np.float32)
            codes = rng.integers(n_classes, size=n)
            weight = rng.uniform(0, 2, n).astype(np.float32) if weighted else None
            w = np.ones(n) if weight is None else weight.astype(float)
            w = w / w.sum()
            loss, gradient = _core.softmax_loss(outputs, codes, weight)
            each = -log_softmax(outputs.astype(float), axis=1)[np.arange(n), codes]
            expected = softmax(outputs.astype(float), axis=1)
            expected[np.arange(n), codes] -= 1
            assert loss == pytest.approx(w @ each, rel=1e-5, abs=1e-6)
            np.testing.assert_allclose(gradient, w[:, None] * expected, atol=3e-7 * w.max())


def test_softmax_loss_at_its_ends():
    far = np.array([[3e38, -3e38], [-3e38, 3e38]], np.float32)
    loss, gradient = _core.softmax_loss(far, np.array([0, 1]), None)
    assert loss == 0
    assert not gradient.any()
    loss, _ = _core.softmax_loss(np.full((1, 2), np.nan, np.float32), np.array([0]), None)
    assert np.isnan(loss)
    loss, _ = _core.softmax_loss(np.array([[0, np.inf]], np.float32), np.array([0]), None)
    assert not np.isfinite(loss)
    with pytest.raises(ValueError, match=r"codes must lie in \[0, n_classes\)"):
        _core.softmax_loss(far, np.array([0, 2]), None)


@each("sigma", (0.1, 0.5, 2.0))
def test_normal_penalty_is_that_of_float64(sigma):
    rng = np.random.default_rng(3)
    for n in SIZES:
        mu = rng.uniform(-3, 3, n).astype(np.float32)
        x = (mu.astype(float) + 0.5) / sigma
        penalty, gradient = _core.normal_penalty(mu, sigma, 0.7)
        assert penalty == pytest.approx(0.7 * ndtr(x).sum(), rel=1e-6, abs=1e-7 * n)
        density = 0.7 * np.exp(-0.5 * x * x) / (sigma * np.sqrt(2 * np.pi))
        np.testing.assert_allclose(gradient, density, rtol=2e-5, atol=1e-30)
    far = np.array([1e30, -1e30, np.inf, -np.inf], np.float32)
    penalty, gradient = _core.normal_penalty(far, sigma, 1.0)
    assert penalty == 2.0
    assert np.abs(gradient).max() < 1e-30


def test_gradients_of_gates_are_added_where_rows_are():
    rng = np.random.default_rng(4)
    for n_units in (1, 7, 16, 60, 65):
        weight = rng.normal(size=(30, n_units)).astype(np.float32)
        rows = np.flatnonzero(rng.random(30) < 0.4).astype(np.int32)
        gradient = rng.normal(size=(len(rows), 1, n_units)).astype(np.float32)
        slopes = rng.random(len(rows)).astype(np.float32)
        out = rng.normal(size=30).astype(np.float32)
        expected = out.astype(float)
        expected[rows] += slopes * (weight[rows].astype(float) * gradient[:, 0]).sum(axis=1)
        _core.add_gate_gradients(weight, rows, gradient, slopes, out)
        np.testing.assert_allclose(out, expected, atol=1e-5)


@each("decay", (0.0, 0.1))
@each("optimizer", ("adam", "sgd"))
def test_the_rule_of_whole_parameters_is_torchs(optimizer, decay):
    def make():
        rng = np.random.default_rng(5)
        return [
            torch.nn.Parameter(torch.from_numpy(rng.normal(size=shape).astype(np.float32)))
            for shape in ((3,), (20, 7), (1, 33))
        ]

    ours, theirs = make(), make()
    groups = [(ours[:2], 0.05, decay), (ours[2:], 0.01, 0.0)]
    rule = RuleOptimizer(groups, optimizer)
    of_torch = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[optimizer]
    known = TorchOptimizer(
        of_torch(
            [
                {"params": theirs[:2], "lr": 0.05, "weight_decay": decay},
                {"params": theirs[2:], "lr": 0.01},
            ]
        )
    )
    gone_on = None
    for step in range(40):
        for parameters, moved in ((ours, rule), (theirs, known)):
            moved.zero_grad()
            losses = [(p.movedim(0, -1).contiguous() - 1.0).square().sum() for p in parameters]
            # The second one has no gradient at times, and stays as it is.
            (losses[0] + losses[2] + (losses[1] if step % 3 else 0.0)).backward()
            moved.step()
        if step == 20:
            state, at = rule.state(), [p.detach().clone() for p in ours]
            gone_on = make()
            with torch.no_grad():
                for p, value in zip(gone_on, at, strict=True):
                    p.copy_(value)
            other = RuleOptimizer([(gone_on[:2], 0.05, decay), (gone_on[2:], 0.01, 0.0)], optimizer)
            other.set_state(state)
        elif step > 20:
            for p, q in zip(gone_on, ours, strict=True):
                p.grad = None if q.grad is None else q.grad.clone()
            other.step()
    for one, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.detach(), expected.detach(), rtol=1e-4, atol=2e-5)
    for one, expected in zip(gone_on, ours, strict=True):
        assert torch.equal(one, expected)


def test_a_state_of_other_parameters_is_refused():
    def make(n, optimizer="adam"):
        return RuleOptimizer([([torch.nn.Parameter(torch.zeros(n))], 0.1, 0.0)], optimizer)

    with pytest.raises(ValueError, match=r"0/mean is float32 of shape \(1, 3\), expected"):
        make(2).set_state(make(3).state())
    with pytest.raises(ValueError, match="numbers are named otherwise: '0/mean'"):
        make(2).set_state(make(2, "sgd").state())
