"""Networks whose units and layers are under masks, and what they are pruned to."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from bitsieve.gates.dynamic import DynamicMLP, StructureMasks, skippable  # noqa: E402
from bitsieve.gates.network import GatedMLP  # noqa: E402
from bitsieve.gates.statistics import estimate_statistics  # noqa: E402


def test_all_open_is_the_plain_network() -> None:
    options = {"activation": "tanh", "batch_norm": True, "dropout": 0.0}
    plain = GatedMLP(5, 2, (4, 4, 3), 7, **options)
    dynamic = DynamicMLP(5, 2, (4, 4, 3), 7, **options)
    x = torch.randn(9, 5, generator=torch.Generator().manual_seed(0))
    z = torch.ones(2, 5 + 11 + 1)
    torch.testing.assert_close(dynamic(x, z), plain(x, torch.ones(2, 5)))


def test_pruning_keeps_the_outputs_of_any_mask() -> None:
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(20, 6)).astype(np.float32))
    seen = set()
    for batch_norm in (True, False):
        for hidden in ((5, 5, 5), (4,), (4, 3, 3)):
            options = {"activation": "relu", "batch_norm": batch_norm, "dropout": 0.1}
            network = DynamicMLP(6, 3, hidden, 1, **options)
            for _ in range(8):
                z = rng.random(6 + sum(hidden) + len(skippable(hidden))) < 0.5
                for begin in np.cumsum([0, 6, *hidden])[:-1]:
                    z[begin] = True
                mask = torch.from_numpy(z.astype(np.float32))[None]
                estimate_statistics(network, x, mask)
                network.eval()
                kept, state = network.pruned(z)
                plain = GatedMLP(int(z[:6].sum()), 3, kept, 0, **options).eval()
                plain.load_state_dict(state)
                ones = torch.ones(1, int(z[:6].sum()))
                with torch.no_grad():
                    torch.testing.assert_close(
                        plain(x[:, torch.from_numpy(z[:6])], ones), network(x, mask)
                    )
                seen.add(len(kept))
    assert seen == {1, 2, 3}


def test_masks_of_structure() -> None:
    masks = StructureMasks(4, (3, 3), eps=0.2, structure_eps=0.5, n_features_to_select=2)
    assert masks.rate == 1 / 11
    np.testing.assert_allclose(masks.eps, [0.2] * 4 + [0.5] * 7)
    masks.theta[:] = 0.1
    masks.theta[[1, 6, 8]] = torch.tensor([0.9, 0.2, 0.3], dtype=torch.float64)
    assert masks.support().tolist() == [False, True, False, False]
    # The likeliest unit of a layer stays.
    assert masks.at_prediction().nonzero()[:, 0].tolist() == [1, 6, 8]
    # The size is of features alone.
    pressure = masks.pressure() - masks.eps
    assert (pressure[:4] < 0).all()
    assert not pressure[4:].any()


def test_statistics_are_those_of_all_samples_behind_the_mask() -> None:
    network = GatedMLP(4, 1, (3, 3), 5, batch_norm=True, dropout=0.3)
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(50, 4)).astype(np.float32))
    mask = torch.tensor([[1.0, 0.0, 1.0, 0.0]])
    estimate_statistics(network, x, mask)
    assert not network.training
    with torch.no_grad():
        h = torch.relu((x * mask) @ network.weight + network.bias)
    first, second = (m for m in network.modules() if isinstance(m, torch.nn.BatchNorm1d))
    torch.testing.assert_close(first.running_mean, h.mean(dim=0))
    torch.testing.assert_close(first.running_var, h.var(dim=0))
    assert first.momentum == 0.1
    assert not torch.equal(second.running_mean, torch.zeros(3))
