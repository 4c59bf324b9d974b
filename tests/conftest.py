"""Fixtures that every room uses.

Real data lie outside the project, in a folder of ``NAME.npz`` files with ``X``, ``y`` and perhaps
``names``. The environment variable BITSIEVE_TEST_DATA names the folder; without it the tests that
need it skip and say so.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# What the rooms share stands beside this file; importlib mode does not put it on the path.
sys.path.insert(0, str(Path(__file__).parent))

# In the background of a shell Ctrl-C is ignored, by the tests and by what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DataSet = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], "list[str] | None"]


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of real data sets; skips without it."""
    folder = os.environ.get("BITSIEVE_TEST_DATA")
    if not folder:
        pytest.skip("needs real data: set BITSIEVE_TEST_DATA to a folder of NAME.npz files")
    path = Path(folder)
    if not path.is_dir():
        pytest.skip(f"needs real data: BITSIEVE_TEST_DATA={folder} is not a folder")
    return path


@pytest.fixture(scope="session")
def dataset(data_dir: Path) -> Callable[[str], DataSet]:
    """``dataset(name)`` gives X, y, names of a real data set, or skips where it is not there."""

    def load(name: str) -> DataSet:
        path = data_dir / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"needs real data: {path} is not there")
        with np.load(path, allow_pickle=False) as archive:
            names = archive["names"].tolist() if "names" in archive.files else None
            return archive["X"], archive["y"], names

    return load
