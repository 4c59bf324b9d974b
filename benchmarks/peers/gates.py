"""Training behind gates beside package `stg`, and beside the same network without selection.

    OMP_NUM_THREADS=1 python benchmarks/peers/gates.py                  # STG, 2,000 x 5,000
    OMP_NUM_THREADS=1 python benchmarks/peers/gates.py FOLDER/pcmac.npz # and PEFS

One thread of torch, processor time, rivals in turn. Where something is repeated the least is told:
other work on the machine only ever adds.

STG: hidden layers 60 and 20, batches of 128 and all samples at once, Adam, weight decay 1e-3. The
rates of gates and network are the same in both, as `stg` has but one; its penalty is a mean over
the features, ours a sum, so that its lambda is n_features times ours. The whole training ends for
both after the same number of epochs; shares of selected gates are told.

PEFS: 3 x 200 ReLU with batch normalisation, Adam, weight decay 1e-4, two masks a step on batches of
128. Without selection: the same layers of torch.nn with torch.optim.Adam on batches of 256. Half
of the features are closed where theta is at its lower bound for them, at its upper for the others.
"""

from __future__ import annotations

import argparse
import collections
import collections.abc
import contextlib
import io
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import bitsieve
from bitsieve.gates.bernoulli import BernoulliMasks
from bitsieve.gates.gate import FeatureGates, GaussianGates
from bitsieve.gates.losses import CrossEntropy
from bitsieve.gates.network import GatedMLP
from bitsieve.gates.training import Samples, Settings, Training

N, P, DECAY, RATE, LAM = 2000, 5000, 1e-3, 3e-3, 1e-3


def took(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def in_turn(calls: list[Callable[[], Any]], times: int) -> list[float]:
    rows = [[took(call) for call in calls] for _ in range(times)]
    return [min(column) for column in zip(*rows, strict=True)]


def made() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)).astype(np.float32)
    return X, (X[:, :5] @ [1, -1, 1, 1, -1] + 0.3 * rng.normal(size=N) > 0).astype(np.int64)


def training(
    gates: FeatureGates, X: Any, y: Any, hidden: tuple[int, ...], settings: Settings, lam: float = 0
) -> Training:
    n_classes = int(y.max()) + 1
    network = GatedMLP(X.shape[1], n_classes, hidden, 1, batch_norm=len(hidden) == 3)
    samples = Samples(torch.from_numpy(X), torch.from_numpy(y), None)
    return Training(gates, network, CrossEntropy(n_classes), samples, settings, 1, weight=lam)


def ours(X: Any, y: Any, batch_size: int, lam: float = 0) -> Training:
    settings = Settings(batch_size, "adam", RATE, RATE, DECAY)
    return training(GaussianGates(P), X, y, (60, 20), settings, lam)


def theirs(X: Any, y: Any, batch_size: int, lam: float = 0) -> tuple[Any, Callable[[], Any]]:
    for name in ("Sequence", "Mapping", "Set"):
        setattr(collections, name, getattr(collections.abc, name))
    from stg import STG

    model = STG(
        task_type="classification",
        input_dim=P,
        output_dim=2,
        hidden_dims=[60, 20],
        activation="relu",
        optimizer="Adam",
        learning_rate=RATE,
        weight_decay=DECAY,
        batch_size=batch_size,
        sigma=0.5,
        lam=lam * P,
        device=torch.device("cpu"),
    )
    batches = model.get_dataloader(X, y, shuffle=True)
    return model, lambda: model.train_epoch(batches)


def stg(n_epochs: int) -> None:
    X, y = made()
    print(f"STG, {N:,} x {P:,}: seconds of an epoch while all gates are open, the least of 3")
    for batch_size in (128, N):

        def first() -> Callable[[], Any]:
            made = ours(X, y, batch_size)  # noqa: B023
            return lambda: made.run(1)

        mine, other = [], []
        for _ in range(3):  # the first epoch of each
            mine.append(took(first()))
            other.append(took(theirs(X, y, batch_size)[1]))
        a, b = min(mine), min(other)
        print(f"  batch {batch_size:5}: bitsieve {a:.3f}, stg {b:.3f}: {b / a:.2f} times")
    training = ours(X, y, 128, LAM)
    a = took(lambda: training.run(n_epochs))
    model, epoch = theirs(X, y, 128, LAM)
    with contextlib.redirect_stdout(io.StringIO()):
        b = took(lambda: [epoch() for _ in range(n_epochs)])
    shares = [
        float(training.gates.support().mean()),
        float((model.get_gates("prob") > 0.5).mean()),
    ]
    print(
        f"STG, whole training of {n_epochs} epochs: bitsieve {a:.2f} ({shares[0]:.1%} selected), "
        f"stg {b:.2f} ({shares[1]:.1%} selected): {b / a:.2f} times"
    )


def plain(X: Any, y: Any, size: int) -> Callable[[], Any]:
    """A step of the network without selection, of torch's own parts."""
    layers: list[torch.nn.Module] = []
    n_in = X.shape[1]
    for _ in range(3):
        layers += [torch.nn.Linear(n_in, 200), torch.nn.ReLU(), torch.nn.BatchNorm1d(200)]
        n_in = 200
    network = torch.nn.Sequential(*layers, torch.nn.Linear(n_in, int(y.max()) + 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=1e-4)
    x, target = torch.from_numpy(X), torch.from_numpy(y)
    loss = torch.nn.CrossEntropyLoss()

    def step() -> None:
        rows = torch.randperm(len(x))[:size]
        optimizer.zero_grad()
        loss(network(x[rows]), target[rows]).backward()
        optimizer.step()

    return step


def pefs(path: Path, n_steps: int) -> None:
    with np.load(path, allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float32, order="C"), archive["y"]
    y = np.unique(y, return_inverse=True)[1].astype(np.int64)
    print(f"PEFS, {path.stem}, {X.shape[0]:,} x {X.shape[1]:,}: milliseconds a step")
    settings = Settings(128, "adam", 1e-3, 1e-3, 1e-4, 2)
    start = training(BernoulliMasks(X.shape[1]), X, y, (200, 200, 200), settings)
    half_masks = BernoulliMasks(X.shape[1])
    least = 1.0 / X.shape[1]
    half_masks.theta[:] = 1.0 - least
    half_masks.theta[::2] = least
    half = training(half_masks, X, y, (200, 200, 200), settings)
    step = plain(X, y, 256)
    calls: list[Callable[[], Any]] = [
        lambda: [step() for _ in range(n_steps)],
        lambda: start.run(max_steps=start.step + n_steps),
        lambda: half.run(max_steps=half.step + n_steps),
    ]
    without, first, closed = (seconds / n_steps * 1e3 for seconds in in_turn(calls, 5))
    print(f"  without selection, batch 256: {without:.2f}")
    print(f"  theta = 1/2: {first:.2f}, {first / without:.2f} times")
    print(f"  half of the features closed: {closed:.2f}, {closed / without:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(
        platform.processor() or platform.machine(), bitsieve.get_isa(), "torch", torch.__version__
    )
    stg(given.epochs)
    for path in given.data:
        pefs(path, given.steps)


if __name__ == "__main__":
    main()
