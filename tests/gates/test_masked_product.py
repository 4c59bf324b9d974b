"""The product of open features against the dense one, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

torch = pytest.importorskip("torch")

from bitsieve.gates.masked_product import gated_product  # noqa: E402
from bitsieve.gates.network import CopyBatchNorm, GatedMLP  # noqa: E402
from bitsieve.gates.rows import LazyRows  # noqa: E402

N, P, H = 20, 40, 7


def normal(*shape):
    return torch.from_numpy(np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32))


def gates_of(kind, n_draws, share, key=0):
    rng = np.random.default_rng(key)
    is_open = rng.random((n_draws, P)) < share
    values = np.ones((n_draws, P)) if kind == "masks" else rng.random((n_draws, P))
    return torch.from_numpy((is_open * values).astype(np.float32))


@each("kind", ("numbers", "masks"))
@each("n_draws", (1, 2, 3, 5))
@each("share", (0.0, 0.1, 0.5, 0.97, 1.0))
@each("some", (False, True))
def test_equals_the_dense_product(kind, n_draws, share, some):
    rng = np.random.default_rng(1)
    x = torch.from_numpy(rng.normal(size=(N, P)).astype(np.float32))
    batch = torch.from_numpy(rng.permutation(N)[:9]) if some else None
    z = gates_of(kind, n_draws, share).requires_grad_(kind == "numbers")
    weight = torch.nn.Parameter(torch.from_numpy(rng.normal(size=(P, H)).astype(np.float32)))
    bias = torch.zeros(H, requires_grad=True)
    rows = LazyRows(weight, "sgd", 1.0, 0.0)
    found = gated_product(rows, bias, x, batch, z)

    z2, w2, b2 = (t.detach().double().requires_grad_(t.requires_grad) for t in (z, weight, bias))
    x2 = (x if batch is None else x[batch]).double()
    dense = torch.einsum("bp,kp,ph->bkh", x2, z2, w2) + b2
    assert torch.allclose(found.double(), dense, atol=1e-5)

    d = torch.from_numpy(rng.normal(size=found.shape).astype(np.float32))
    (found * d).sum().backward()
    (dense * d).sum().backward()
    assert torch.allclose(bias.grad.double(), b2.grad, atol=1e-5)
    if kind == "numbers":
        is_open = (z != 0).any(dim=0)
        assert torch.allclose(z.grad[:, is_open].double(), z2.grad[:, is_open], atol=1e-4)
        if is_open.float().mean() < 0.9:
            assert (z.grad[:, ~is_open] == 0).all()
    before = weight.detach().clone()
    rows.learn()  # plain descent at rate 1 takes off the gradient itself
    assert torch.allclose((before - weight.detach()).double(), w2.grad, atol=1e-4)
    assert (before == weight.detach())[(z == 0).all(dim=0).detach()].all()


def test_closed_columns_are_not_touched():
    x = normal(N, P)
    x[:, ::2] = float("nan")
    z = torch.zeros(2, P)
    z[:, 1::4] = 1.0
    rows = LazyRows(torch.nn.Parameter(normal(P, H)), "adam", 0.1, 0.0)
    assert gated_product(rows, torch.zeros(H), x, None, z).isfinite().all()


def test_open_rows_are_brought_up_to_date_first():
    weight = torch.nn.Parameter(torch.ones(P, H))
    rows = LazyRows(weight, "sgd", 0.5, 0.5)  # three quarters a step
    rows.step = 2
    z = torch.zeros(1, P)
    z[0, 3] = 1.0
    x = torch.ones(1, P)
    assert gated_product(rows, torch.zeros(H), x, None, z).unique().tolist() == [0.5625]
    assert rows.last.tolist() == [2 if f == 3 else 0 for f in range(P)]


@each("n_draws", (1, 2, 4))
@each("hidden", ((), (9,), (9, 5)))
@each("batch_norm", (False, True))
def test_a_network_behind_rows_is_the_plain_one(n_draws, hidden, batch_norm):
    x, z = normal(N, P), gates_of("numbers", n_draws, 0.3)
    plain, fast = (GatedMLP(P, 3, hidden, 5, batch_norm=batch_norm) for _ in range(2))
    fast.rows = LazyRows(fast.weight, "adam", 0.01, 0.0)
    for _ in range(2):
        for network in (plain, fast):
            network.train()
        assert torch.allclose(plain(x, z), fast(x, z), atol=1e-5)
        for network in (plain, fast):
            network.eval()
        assert torch.allclose(plain(x, z), fast(x, z), atol=1e-5)
    # Gates of samples take the plain way, and every row has its turn.
    many = z[:, None].expand(-1, N, -1)
    assert torch.allclose(fast(x, many), fast(x, z), atol=1e-5)


@each("n_copies", (1, 3))
def test_batch_norm_of_copies_is_that_of_each(n_copies):
    x = normal(n_copies, N, H).requires_grad_()
    norm, twins = CopyBatchNorm(H), [torch.nn.BatchNorm1d(H) for _ in range(n_copies)]
    found = norm(x)
    theirs = torch.stack([twin(part) for twin, part in zip(twins, x, strict=True)])
    assert torch.allclose(found, theirs, atol=1e-5)
    for name in ("running_mean", "running_var"):
        mean = torch.stack([getattr(twin, name) for twin in twins]).mean(dim=0)
        assert torch.allclose(getattr(norm, name), mean, atol=1e-6)
    d = normal(*x.shape)
    mine, other = (torch.autograd.grad((y * d).sum(), x)[0] for y in (found, theirs))
    assert torch.allclose(mine, other, atol=1e-5)
