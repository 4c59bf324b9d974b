"""Rows moved when they are looked at: the bits of every row at every step, and torch's numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from each import each, each_isa

torch = pytest.importorskip("torch")

from bitsieve.gates.rows import LazyRows  # noqa: E402

P, STEPS = 30, 100
SIZES = (1, 7, 16, 33, 60, 64, 65, 200)


def make(n_units, optimizer, decay=0.02, key=0):
    rng = np.random.default_rng(key)
    weight = torch.from_numpy(rng.normal(size=(P, n_units)).astype(np.float32))
    return LazyRows(torch.nn.Parameter(weight), optimizer, 0.01, decay)


def steps(n_units, n=STEPS, n_draws=2):
    """Features that are open in a step, their gates and gradients."""
    rng = np.random.default_rng(n_units)
    for _ in range(n):
        features = np.flatnonzero(rng.random(P) < 0.2).astype(np.int32)
        gradient = rng.normal(size=(len(features), n_draws, n_units)).astype(np.float32)
        yield features, rng.random((n_draws, len(features))).astype(np.float32), gradient


def train(rows, n=STEPS, eager=False):
    for features, gates, gradient in steps(rows.parameter.shape[1], n):
        rows.advance(rows.all if eager else features)
        rows.take(features, gates, gradient)
        rows.learn()
    return rows


@each_isa
@each("n_units", SIZES)
@each("optimizer", ("adam", "sgd"))
def test_late_steps_have_the_bits_of_timely_ones(isa, n_units, optimizer):
    lazy, eager = train(make(n_units, optimizer)), train(make(n_units, optimizer), eager=True)
    assert (lazy.last < STEPS).any()
    lazy.advance(lazy.all)
    eager.advance(eager.all)
    for name, array in eager.state().items():
        assert np.array_equal(lazy.state()[name], array), name
    assert np.array_equal(lazy.weight, eager.weight)


@each("n_units", SIZES)
@each("optimizer", ("adam", "sgd"))
def test_instruction_sets_agree(n_units, optimizer):
    import bitsieve

    before, found = bitsieve.get_isa(), []
    try:
        for isa in bitsieve.available_isas():
            bitsieve.set_isa(isa)
            found.append(train(make(n_units, optimizer)).weight)
    finally:
        bitsieve.set_isa(before)
    assert all(np.array_equal(found[0], other) for other in found[1:])


@each("n_units", (7, 60))
@each("decay", (0.0, 0.02))
@each("optimizer", ("adam", "sgd"))
def test_is_the_optimizer_of_torch(n_units, decay, optimizer):
    rows = train(make(n_units, optimizer, decay))
    rows.advance(rows.all)
    weight = make(n_units, optimizer).parameter
    kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[optimizer]
    theirs = kind([weight], lr=0.01, weight_decay=decay)
    for features, gates, gradient in steps(n_units):
        weight.grad = torch.zeros_like(weight)
        weight.grad.numpy()[features] = (gates.T[:, :, None] * gradient).sum(axis=1)
        theirs.step()
    assert np.allclose(rows.weight, weight.detach().numpy(), atol=2e-6, rtol=0)


def test_a_row_that_fades_stays_a_normal_number():
    rows = make(16, "adam", decay=0.0)
    rows.take(rows.all, None, np.full((P, 1, 16), 1e-3, np.float32))
    rows.learn()
    rows.step = 50_000
    rows.advance(rows.all)
    tiny = np.finfo(np.float32).tiny
    for name in ("mean", "square"):
        left = np.abs(rows.state()[name])
        assert ((left == 0) | (left >= tiny)).all()
        assert left.max() < 1e-20
    assert np.isfinite(rows.weight).all()


def test_a_dense_gradient_moves_all_rows():
    rows, weight = make(7, "adam"), make(7, "adam").parameter
    theirs = torch.optim.Adam([weight], lr=0.01, weight_decay=0.02)
    for parameter in (rows.parameter, weight):
        parameter.grad = torch.ones_like(parameter)
    rows.learn()
    theirs.step()
    assert torch.allclose(rows.parameter, weight, atol=1e-6)
    assert rows.parameter.grad is None
    assert (rows.last == 1).all()


def test_goes_on_from_its_state_and_from_a_pickle():
    once = train(make(7, "adam"))
    half = train(make(7, "adam"), n=40)
    other = make(7, "adam", key=1)
    other.parameter.data.copy_(half.parameter.data)
    other.set_state(half.state())
    other = pickle.loads(pickle.dumps(other))
    for number, (features, gates, gradient) in enumerate(steps(7)):
        if number >= 40:
            other.advance(features)
            other.take(features, gates, gradient)
            other.learn()
    assert np.array_equal(other.weight, once.weight)


@each(
    "wrong, message",
    (
        ({"last": np.zeros(P + 1, np.int64)}, "last is int64 of shape"),
        ({"last": np.full(P, 9, np.int64)}, "rows are at steps up to 9, the optimiser at 4"),
        ({"mean": np.zeros((P, 3), np.float32)}, "mean is float32 of shape"),
    ),
)
def test_refuses_the_state_of_others(wrong, message):
    rows = train(make(7, "adam"), n=4)
    with pytest.raises(ValueError, match=message):
        make(7, "adam").set_state(rows.state() | wrong)


def test_adam_and_descent_are_told_apart():
    with pytest.raises(ValueError, match="mean belongs to Adam, and only to it"):
        make(7, "sgd").set_state(make(7, "adam").state())
