"""Causal: tests of conditional independence and Markov blankets.

::

    data -- GSquared, ChiSquared (discrete_tests.py), FisherZ (fisher.py) --> IndependenceTest
                                                                 (independence.py: the contract)

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
    "Separation",
]

if TYPE_CHECKING:
    from bitsieve.causal.discrete_tests import ChiSquared, GSquared
    from bitsieve.causal.fisher import FisherZ
    from bitsieve.causal.independence import Independence, IndependenceTest, Separation

_HOMES = {
    "ChiSquared": "bitsieve.causal.discrete_tests",
    "FisherZ": "bitsieve.causal.fisher",
    "GSquared": "bitsieve.causal.discrete_tests",
    "Independence": "bitsieve.causal.independence",
    "IndependenceTest": "bitsieve.causal.independence",
    "Separation": "bitsieve.causal.independence",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
