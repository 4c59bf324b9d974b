"""The twin and the tables stand beside the tests; importlib mode does not put them on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture
def one_blas_thread() -> Iterator[None]:
    """Many tiny fits: scikit-learn's own threads would only wait for one another."""
    import sklearn
    from threadpoolctl import threadpool_limits

    with (
        threadpool_limits(1),
        sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
    ):
        yield
