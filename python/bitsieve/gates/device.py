"""Where a training runs, and torch as it was before and after."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from bitsieve._checks import check_choice
from bitsieve._threads import effective_n_jobs

__all__ = ["DEVICES", "check_device", "n_threads", "seed", "torch_for"]

#: What may be asked for.
DEVICES = ("cpu", "cuda", "auto")


def check_device(name: object) -> torch.device:
    """Return the device of a name: ``"auto"`` is CUDA's current one where there is any.

    Raises
    ------
    ValueError
        For another name, or where CUDA is asked for and torch has none.

    Examples
    --------
    >>> check_device("cpu")
    device(type='cpu')
    """
    name = check_choice("device", name, DEVICES)
    if name == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    if name == "auto":
        return torch.device("cpu")
    has = "sees no CUDA device" if torch.version.cuda else "was built without CUDA"
    raise ValueError(f"device='cuda' needs a GPU, but torch {has}; use device='auto' or 'cpu'")


def n_threads(n_jobs: int | None) -> int:
    """Return the threads of torch that ``n_jobs`` stands for: None is one.

    Sums of floating-point numbers may depend on how they are divided among threads: with two, most
    shapes give the same bits, and others do not (2,000 samples at once, 500 features, 64 units:
    5e-8 in the weights after ten steps; ``benchmarks/scaling/gate_threads.py``). So the default is
    a number that no machine changes; all cores (-1) must be asked for.

    Examples
    --------
    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    return 1 if n_jobs is None else effective_n_jobs(n_jobs)


@contextmanager
def torch_for(device: torch.device, threads: int) -> Iterator[None]:
    """Set torch as a training needs it, and put back everything, after errors too.

    Inside there are so many threads, float32 by default, gradients, and random numbers that may
    be seeded. The generators of the processor and of the device, the number of threads, the
    default type and the modes of gradients are afterwards what they were.
    """
    dtype, before = torch.get_default_dtype(), torch.get_num_threads()
    devices = [] if device.type == "cpu" else [device.index]
    with (
        torch.random.fork_rng(devices=devices),
        torch.inference_mode(False),
        torch.enable_grad(),
    ):
        try:
            torch.set_default_dtype(torch.float32)
            if threads != before:
                torch.set_num_threads(threads)
            yield
        finally:
            torch.set_default_dtype(dtype)
            if threads != before:
                torch.set_num_threads(before)


def seed(number: int, device: torch.device) -> None:
    """Seed the generators of the processor and of one device, and of no other."""
    torch.default_generator.manual_seed(number)
    if device.type == "cuda":
        torch.cuda.default_generators[device.index].manual_seed(number)
