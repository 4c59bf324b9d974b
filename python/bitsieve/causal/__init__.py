"""Causal: tests of conditional independence and Markov blankets.

::

    X, y -- make_test (make.py) --> discrete_tests.py  GSquared, ChiSquared   on _compiled.py
                                    fisher.py          FisherZ                     |
                                    permutation.py     PermutationTest             v
                                              independence.py: the contract, IndependenceTest
                                                                                   |
    markov.py  markov_blanket(s)  <-- assembly.py  symmetry, spouses <-- hiton.py, mmpc.py, iamb.py
      |                                                                  fill in a neighbors.py
      v
    blanket.py  Blanket, with its separators.py; copies.py: variables that stand twice

    energy.py   the energy of a set of features, on blankets and errors of pairs
    pairs.py    PairErrors, errors of single features and of pairs

A name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "Blanket",
    "ChiSquared",
    "Energy",
    "FisherZ",
    "GSquared",
    "Independence",
    "IndependenceTest",
    "Method",
    "PairErrors",
    "PermutationTest",
    "Separation",
    "Separator",
    "Separators",
    "Terms",
    "TestName",
    "make_test",
    "markov_blanket",
    "markov_blankets",
    "skeleton",
]

if TYPE_CHECKING:
    from bitsieve.causal.blanket import Blanket
    from bitsieve.causal.discrete_tests import ChiSquared, GSquared
    from bitsieve.causal.energy import Energy, Terms
    from bitsieve.causal.fisher import FisherZ
    from bitsieve.causal.independence import Independence, IndependenceTest, Separation
    from bitsieve.causal.make import TestName, make_test
    from bitsieve.causal.markov import Method, markov_blanket, markov_blankets, skeleton
    from bitsieve.causal.pairs import PairErrors
    from bitsieve.causal.permutation import PermutationTest
    from bitsieve.causal.separators import Separator, Separators

_HOMES = {
    "Blanket": "bitsieve.causal.blanket",
    "ChiSquared": "bitsieve.causal.discrete_tests",
    "Energy": "bitsieve.causal.energy",
    "FisherZ": "bitsieve.causal.fisher",
    "GSquared": "bitsieve.causal.discrete_tests",
    "Independence": "bitsieve.causal.independence",
    "IndependenceTest": "bitsieve.causal.independence",
    "Method": "bitsieve.causal.markov",
    "PairErrors": "bitsieve.causal.pairs",
    "PermutationTest": "bitsieve.causal.permutation",
    "Separation": "bitsieve.causal.independence",
    "Separator": "bitsieve.causal.separators",
    "Separators": "bitsieve.causal.separators",
    "Terms": "bitsieve.causal.energy",
    "TestName": "bitsieve.causal.make",
    "make_test": "bitsieve.causal.make",
    "markov_blanket": "bitsieve.causal.markov",
    "markov_blankets": "bitsieve.causal.markov",
    "skeleton": "bitsieve.causal.markov",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
