"""Causal: tests of conditional independence and Markov blankets.

::

    X, y -- make_test (make.py) --> discrete_tests.py  GSquared, ChiSquared   on _compiled.py
                                    fisher.py          FisherZ                     |
                                    permutation.py     PermutationTest             v
                                              independence.py: the contract, IndependenceTest

A name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "ChiSquared",
    "FisherZ",
    "GSquared",
    "Independence",
    "IndependenceTest",
    "PermutationTest",
    "Separation",
    "make_test",
]

if TYPE_CHECKING:
    from bitsieve.causal.discrete_tests import ChiSquared, GSquared
    from bitsieve.causal.fisher import FisherZ
    from bitsieve.causal.independence import Independence, IndependenceTest, Separation
    from bitsieve.causal.make import make_test
    from bitsieve.causal.permutation import PermutationTest

_HOMES = {
    "ChiSquared": "bitsieve.causal.discrete_tests",
    "FisherZ": "bitsieve.causal.fisher",
    "GSquared": "bitsieve.causal.discrete_tests",
    "Independence": "bitsieve.causal.independence",
    "IndependenceTest": "bitsieve.causal.independence",
    "PermutationTest": "bitsieve.causal.permutation",
    "Separation": "bitsieve.causal.independence",
    "make_test": "bitsieve.causal.make",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
