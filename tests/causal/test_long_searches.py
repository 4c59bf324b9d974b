"""Ctrl-C in a long search for a separating set, callers at once, and after a fork."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from interrupted import interrupt

from bitsieve.causal import GSquared

SETUP = """
    from bitsieve.causal import FisherZ, GSquared, PermutationTest

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    X[:, 1] = X[:, 0]
    {make}
    pool = list(range(2, 60))

    def few():
        return [test.separate(0, 1, pool[:8], alpha=0.01, max_size=3).weakest.log_p]

    def long():
        {long}
"""
DEEP = "test.separate(0, 1, pool, alpha=0.01, max_size=9)"


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_interrupt() -> None:
    made = [
        ("test = FisherZ(X)", DEEP),
        ("test = GSquared((X > 0).astype(int), min_samples_per_cell=0)", DEEP),
        (
            "test = FisherZ(X); slow = PermutationTest(test, n_permutations=2**31)",
            "slow.test(2, 3)",
        ),
    ]
    interrupt(*(SETUP.format(make=make, long=long) for make, long in made))


def _questions() -> list[tuple[int, int]]:
    return [(x, y) for x in range(12) for y in range(x)]


def _ask(test: GSquared, pair: tuple[int, int]) -> object:
    pool = [v for v in range(12) if v not in pair][:6]
    return test.separate(*pair, pool, alpha=0.7, max_size=3)


def _test() -> GSquared:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1500, 12))
    X[:, 1:] ^= X[:, :-1] & rng.integers(0, 2, (1500, 11))
    return GSquared(X, cache_size=64)


def test_callers_at_once() -> None:
    """One test, asked by many threads; the lock of the interpreter is free meanwhile."""
    expected = [_ask(_test(), pair) for pair in _questions()]
    shared = _test()
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(lambda pair: _ask(shared, pair), _questions())) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork() -> None:
    test = _test()
    expected = [_ask(test, pair) for pair in _questions()]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = int([_ask(test, pair) for pair in _questions()] != expected)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
