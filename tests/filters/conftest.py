"""What the tests of this room share.

The twins stand beside the tests; importlib mode does not put them on the path. Reference values
of Weka lie beside the folder of real data, as ``reference/weka.json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bitsieve

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=bitsieve.available_isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test on every instruction set of this processor."""
    before = bitsieve.get_isa()
    bitsieve.set_isa(request.param)
    yield request.param
    bitsieve.set_isa(before)


@pytest.fixture(scope="session")
def weka(data_dir: Path) -> dict[str, Any]:
    """Scores that Weka 3.6.14 gives, by data set; skips without them."""
    path = data_dir.parent / "reference" / "weka.json"
    if not path.is_file():
        pytest.skip(f"needs reference values: {path} is not there")
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values
