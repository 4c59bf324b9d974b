"""Loops inside one case, for what only multiplies: seeds, sizes, types, threads, instruction sets.

``@each`` stands where ``@pytest.mark.parametrize`` would and takes the same two arguments, but the
values run one after the other in one case. What fails is told with the values that it failed for.
Fixtures are made once a case, so that a test which writes or patches clears up after itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

import bitsieve

Test = Callable[..., None]


def each(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each of the values, in one case."""
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [dict(zip(keys, row if len(keys) > 1 else (row,), strict=True)) for row in values]
    assert rows, f"no values for {keys}"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        assert set(keys) <= set(signature.parameters), f"{test.__name__} has no {keys}"

        @functools.wraps(test)
        def loop(*args: Any, **fixtures: Any) -> None:
            skipped: list[BaseException] = []
            for row in rows:
                try:
                    test(*args, **fixtures, **row)
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except BaseException as error:
                    error.add_note("with " + ", ".join(f"{k} = {v!r:.80}" for k, v in row.items()))
                    raise
            assert len(skipped) in (0, len(rows)), "some values skip: let the test return there"
            if skipped:
                raise skipped[0]

        left = [p for name, p in signature.parameters.items() if name not in keys]
        loop.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return loop

    return decorate


def each_isa(test: Test) -> Test:
    """Run a test on every instruction set of this processor, in one case."""

    @functools.wraps(test)
    def on_one(*args: Any, isa: str, **others: Any) -> None:
        before = bitsieve.get_isa()
        bitsieve.set_isa(isa)
        try:
            test(*args, isa=isa, **others)
        finally:
            bitsieve.set_isa(before)

    return each("isa", bitsieve.available_isas())(on_one)
