"""Training behind gates beside package `stg`, and beside the same network without selection.

    OMP_NUM_THREADS=1 python benchmarks/peers/gates.py                  # STG, 2,000 x 5,000
    OMP_NUM_THREADS=1 python benchmarks/peers/gates.py FOLDER/pcmac.npz # and PEFS

One thread of torch, processor time, rivals in turn. Where something is repeated the least is told:
other work on the machine only ever adds.

STG: hidden layers 60 and 20, batches of 128 and all samples at once, Adam, weight decay 1e-3. The
rates of gates and network are the same in both, as `stg` has but one; its penalty is a mean over
the features, ours a sum, so that its lambda is n_features times ours. A whole training has a rate
at which gates close within tens of steps; both go as many epochs, and both must end with at most
5 % of the gates open. What they then select is told, and how many of the five features that tell
the class are among it. Beside it is a step once the gates have closed: where `stg` goes on to
multiply all features, ours is what some dozens of small calls take.

PEFS: 3 x 200 ReLU with batch normalisation, Adam, weight decay 1e-4, two masks a step on batches of
128. Without selection: the same layers of torch.nn with torch.optim.Adam on batches of 256, as it
comes and fused. Half of the features are closed where theta is at its lower bound for them, at its
upper for the others.
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

N, P, DECAY, RATE = 2000, 5000, 1e-3, 3e-3
WHOLE_RATE, LAM, INFORMATIVE = 2e-2, 2e-3, 5


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


def ours(X: Any, y: Any, batch_size: int, rate: float = RATE, lam: float = 0) -> Training:
    settings = Settings(batch_size, "adam", rate, rate, DECAY)
    return training(GaussianGates(P), X, y, (60, 20), settings, lam)


def theirs(
    X: Any, y: Any, batch_size: int, rate: float = RATE, lam: float = 0
) -> tuple[Any, Callable[[], Any]]:
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
        learning_rate=rate,
        weight_decay=DECAY,
        batch_size=batch_size,
        sigma=0.5,
        lam=lam * P,
        device=torch.device("cpu"),
    )
    batches = model.get_dataloader(X, y, shuffle=True)
    return model, lambda: model.train_epoch(batches)


def stg(n_steps: int) -> None:
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
    for batch_size, n_epochs in ((128, n_steps // -(-N // 128)), (N, n_steps)):
        whole(X, y, batch_size, n_epochs)


def whole(X: Any, y: Any, batch_size: int, n_epochs: int) -> None:
    """Whole trainings of both in turn, and an epoch after the last."""
    mine, other = [], []
    for _ in range(1 if batch_size == N else 5):
        training = ours(X, y, batch_size, WHOLE_RATE, LAM)
        model, epoch = theirs(X, y, batch_size, WHOLE_RATE, LAM)
        mine.append(took(lambda: training.run(n_epochs)))  # noqa: B023
        with contextlib.redirect_stdout(io.StringIO()):
            other.append(took(lambda: [epoch() for _ in range(n_epochs)]))  # noqa: B023
    a, b = min(mine), min(other)
    each = ", ".join(f"{theirs / ours:.2f}" for ours, theirs in zip(mine, other, strict=True))
    print(
        f"STG, whole training, batch {batch_size}, {n_epochs} epochs, the least of {len(mine)}: "
        f"bitsieve {a:.2f}, stg {b:.2f}: {b / a:.2f} times ({each})"
    )
    selected = training.gates.support(), np.asarray(model.get_gates("prob")) > 0.5
    for name, support in zip(("bitsieve", "stg"), selected, strict=True):
        if support.mean() > 0.05:
            raise SystemExit(f"{name} ends with {support.mean():.1%} of the gates open")
        print(f"  {name} selects {support.sum()}, {support[:INFORMATIVE].sum()} of {INFORMATIVE}")
    a, b = in_turn([lambda: training.run(1), epoch], 5)
    print(f"  an epoch more: bitsieve {a:.4f}, stg {b:.4f}: {b / a:.2f} times")


def plain(X: Any, y: Any, size: int, *, fused: bool) -> Callable[[], Any]:
    """A step of the network without selection, of torch's own parts."""
    layers: list[torch.nn.Module] = []
    n_in = X.shape[1]
    for _ in range(3):
        layers += [torch.nn.Linear(n_in, 200), torch.nn.ReLU(), torch.nn.BatchNorm1d(200)]
        n_in = 200
    network = torch.nn.Sequential(*layers, torch.nn.Linear(n_in, int(y.max()) + 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=1e-4, fused=fused)
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
    steps = [plain(X, y, 256, fused=fused) for fused in (False, True)]
    calls: list[Callable[[], Any]] = [
        lambda: [steps[0]() for _ in range(n_steps)],
        lambda: [steps[1]() for _ in range(n_steps)],
        lambda: start.run(max_steps=start.step + n_steps),
        lambda: half.run(max_steps=half.step + n_steps),
    ]
    without, fused, first, closed = (seconds / n_steps * 1e3 for seconds in in_turn(calls, 5))
    print(f"  without selection, batch 256: {without:.2f}, with fused Adam {fused:.2f}")
    for name, mine in (("theta = 1/2", first), ("half of the features closed", closed)):
        print(f"  {name}: {mine:.2f}, {mine / without:.2f} times, {mine / fused:.2f} of fused")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--stg-steps", type=int, default=320)
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(
        platform.processor() or platform.machine(), bitsieve.get_isa(), "torch", torch.__version__
    )
    stg(given.stg_steps)
    for path in given.data:
        pefs(path, given.steps)


if __name__ == "__main__":
    main()
