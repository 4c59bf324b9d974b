"""The device that these checks run on: CUDA where there is any, else the processor in its place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def device() -> Any:
    """What BITSIEVE_TEST_DEVICE names, ``auto`` by default."""
    pytest.importorskip("torch")
    from bitsieve.gates.device import check_device

    return check_device(os.environ.get("BITSIEVE_TEST_DEVICE", "auto"))


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
