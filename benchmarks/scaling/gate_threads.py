"""Does a training have the same bits on one thread and on two?

    OMP_NUM_THREADS=2 python benchmarks/scaling/gate_threads.py

A row a shape: samples, features, hidden units, batch; whether loss and weights are the same after
a few steps, the greatest difference of the loss, and seconds of the wall and of the processor.
"""

from __future__ import annotations

import platform
import time

import numpy as np
import torch

import bitsieve
from bitsieve.gates.gate import GaussianGates
from bitsieve.gates.losses import CrossEntropy
from bitsieve.gates.network import GatedMLP
from bitsieve.gates.training import Samples, Settings, Training

SHAPES = (
    (200, 20, (16,), 32),
    (1000, 100, (64,), 128),
    (2000, 500, (200, 200, 200), 32),
    (2000, 500, (64,), None),
    (500, 5000, (64,), None),
    (2000, 5000, (64,), 128),
)
STEPS = 10


def train(
    shape: tuple[int, int, tuple[int, ...], int | None], threads: int
) -> tuple[Training, ...]:
    n, p, hidden, batch = shape
    random = np.random.default_rng(0)
    x = random.normal(size=(n, p)).astype(np.float32)
    samples = Samples(torch.from_numpy(x), torch.from_numpy((x[:, 0] > 0).astype(np.int64)), None)
    training = Training(
        GaussianGates(p),
        GatedMLP(p, 2, hidden, 1, batch_norm=True),
        CrossEntropy(2),
        samples,
        Settings(batch_size=batch, n_draws=2),
        1,
        weight=0.01,
        n_threads=threads,
    )
    wall, own = time.perf_counter(), time.process_time()
    training.run(max_steps=STEPS)
    return training, time.perf_counter() - wall, time.process_time() - own


def main() -> None:
    print(f"# {platform.processor() or platform.machine()}, {bitsieve.get_isa()}, ", end="")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads by default")
    print("n\tp\thidden\tbatch\tsame weights\tgreatest difference\twall 1, 2\tprocessor 1, 2")
    for shape in SHAPES:
        (one, wall1, own1), (two, wall2, own2) = train(shape, 1), train(shape, 2)
        a, b = (t.network.weight.detach() for t in (one, two))
        n, p, hidden, batch = shape
        print(
            f"{n}\t{p}\t{'x'.join(map(str, hidden))}\t{batch}\t{torch.equal(a, b)}\t"
            f"{float((a - b).abs().max()):.1e}\t{wall1:.2f}, {wall2:.2f}\t{own1:.2f}, {own2:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
