"""Small trainings that tests begin, stop and go on with."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bitsieve.gates.bernoulli import BernoulliMasks
from bitsieve.gates.gate import GaussianGates
from bitsieve.gates.losses import CrossEntropy
from bitsieve.gates.network import GatedMLP
from bitsieve.gates.training import Samples, Settings, Training

N_FEATURES = 6

#: What makes a training one whose gradients are written out: ``step.py``.
PLAIN: dict[str, Any] = {"n_draws": 1, "batch_norm": False, "dropout": 0.0}


def samples(n: int, seed: int, weighted: bool = False) -> Samples:
    """Two of six features tell the class."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, N_FEATURES)).astype(np.float32)
    target = (x[:, 0] + x[:, 1] > 0).astype(np.int64)
    weight = random.uniform(0.5, 2.0, n).astype(np.float32) if weighted else None
    return Samples(
        torch.from_numpy(x),
        torch.from_numpy(target),
        None if weight is None else torch.from_numpy(weight),
    )


def make(
    *,
    kind: str = "stg",
    n: int = 45,
    validated: bool = False,
    weight: float = 0.05,
    key: int = 3,
    learning_rate: float = 0.05,
    optimizer: str = "adam",
    batch_norm: bool = True,
    dropout: float = 0.2,
    device: Any = None,
    n_threads: int = 1,
    hidden: tuple[int, ...] = (5,),
    data: Samples | None = None,
    **settings: Any,
) -> Training:
    """Return an untrained training; everything random is in it."""
    gates = BernoulliMasks(N_FEATURES, eps=0.1) if kind == "pefs" else GaussianGates(N_FEATURES)
    settings.setdefault("batch_size", 16)
    settings.setdefault("n_draws", 2)
    return Training(
        gates,
        GatedMLP(N_FEATURES, 2, hidden, key, batch_norm=batch_norm, dropout=dropout),
        CrossEntropy(2),
        samples(n, 0) if data is None else data,
        Settings(
            learning_rate=learning_rate,
            gate_learning_rate=learning_rate,
            optimizer=optimizer,
            weight_decay=1e-3,
            **settings,
        ),
        key,
        validation=samples(40, 1) if validated else None,
        weight=weight,
        device=device,
        n_threads=n_threads,
    )


def same(one: Training, other: Training) -> None:
    """Two trainings have the same bits, time apart."""
    a, b = one.state(), other.state()
    assert a.keys() == b.keys()
    for name, array in a.items():
        if name != "seconds":
            assert array.tobytes() == b[name].tobytes(), name
