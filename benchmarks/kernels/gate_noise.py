"""Time of the noise of stochastic gates, beside the step of a training that it is for.

    OMP_NUM_THREADS=1 python benchmarks/kernels/gate_noise.py

Noise of a step that all samples share, and noise of each of 128 samples: the quantiles of the
gates, exact normal numbers of the same generator in float64, and torch's own. The step is forward
and backward through the gates and a first layer of 64 units alone. PEFS: two masks drawn, and
learned from. A time is the processor's, of the best of ten rounds, one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import bitsieve
from bitsieve._random import Random, Stream
from bitsieve.gates.bernoulli import BernoulliMasks
from bitsieve.gates.gate import GaussianGates
from bitsieve.gates.network import GatedMLP
from bitsieve.gates.noise import noise

BATCH = 128
CPU = torch.device("cpu")


def microseconds(call: Callable[[], Any], n: int) -> float:
    call()
    times = []
    for _ in range(10):
        start = time.process_time()
        for _ in range(n):
            call()
        times.append((time.process_time() - start) / n)
    return 1e6 * min(times)


def exact(shape: tuple[int, ...]) -> torch.Tensor:
    drawn = Random(7, Stream.gates, lane=3).normal(shape)
    return torch.from_numpy(drawn.astype(np.float32))


def main() -> None:
    torch.set_num_threads(1)
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        name = next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")
    print(f"{name}, {bitsieve.get_isa()}, torch {torch.__version__}; microseconds")
    print(f"{'features':>8}  {'noise':7}{'quantiles':>11}{'exact':>9}{'torch':>9}{'step':>9}")
    for p in (500, 5_000, 20_000):
        x = torch.randn(BATCH, p)
        network, gates = GatedMLP(p, 64, (), 0), GaussianGates(p)
        for n_rows in (None, BATCH):
            shape = (1, p) if n_rows is None else (1, BATCH, p)
            n = 20 if n_rows is None else 2
            with torch.no_grad():
                z = gates.sample(7, 3, 1, n_rows)
            z.requires_grad_()

            def step(x: Any = x, z: Any = z, network: Any = network) -> None:
                torch.autograd.grad(network(x, z).square().mean(), [network.weight, z])

            times = [
                microseconds(lambda shape=shape: noise("normal", 7, 3, shape, CPU), n),
                microseconds(lambda shape=shape: exact(shape), n),
                microseconds(lambda shape=shape: torch.randn(shape), n),
                microseconds(step, n),
            ]
            which = "shared" if n_rows is None else "sample"
            print(f"{p:8}  {which:7}{times[0]:11.0f}" + "".join(f"{t:9.0f}" for t in times[1:]))
    print(f"{'features':>8}  {'masks':>7}{'sample':>9}{'learn':>9}")
    for p in (500, 5_000, 20_000):
        masks, losses = BernoulliMasks(p), torch.tensor([0.1, 0.2])
        drawn = masks.sample(7, 0, 2)
        sample = microseconds(lambda masks=masks: masks.sample(7, 0, 2), 20)
        learn = microseconds(lambda m=masks, d=drawn, loss=losses: m.learn(d, loss, 2), 20)
        print(f"{p:8}  {2:7}{sample:9.0f}{learn:9.0f}")


if __name__ == "__main__":
    main()
