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

    pairs.py    PairErrors, errors of single features and of pairs by Gaussian naive Bayes;
      |         fitness_pairs.py  FitnessPairErrors, by any estimator; both on _tables_of_pairs.py
      v
    energy.py   Energy, of a set of features, and its minimum by iterated conditional modes
      |-- potentials.py     what features and pairs are worth; _gains.py: sums of them
      |-- terms.py          how much each part counts
      |-- kept_errors.py    errors of pairs, the last ones kept
      |-- local_blanket.py  LocalBlanket, among the features of the set alone
      '-> energy_fitness.py EnergyFitness, of masks, for all other searches

A name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "PRESETS",
    "Blanket",
    "ChiSquared",
    "Energy",
    "EnergyFitness",
    "FisherZ",
    "FitnessPairErrors",
    "GSquared",
    "Independence",
    "IndependenceTest",
    "LocalBlanket",
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
    from bitsieve.causal.energy import Energy
    from bitsieve.causal.energy_fitness import EnergyFitness
    from bitsieve.causal.fisher import FisherZ
    from bitsieve.causal.fitness_pairs import FitnessPairErrors
    from bitsieve.causal.independence import Independence, IndependenceTest, Separation
    from bitsieve.causal.local_blanket import LocalBlanket
    from bitsieve.causal.make import TestName, make_test
    from bitsieve.causal.markov import Method, markov_blanket, markov_blankets, skeleton
    from bitsieve.causal.pairs import PairErrors
    from bitsieve.causal.permutation import PermutationTest
    from bitsieve.causal.separators import Separator, Separators
    from bitsieve.causal.terms import PRESETS, Terms

_HOMES = {
    "PRESETS": "bitsieve.causal.terms",
    "Blanket": "bitsieve.causal.blanket",
    "ChiSquared": "bitsieve.causal.discrete_tests",
    "Energy": "bitsieve.causal.energy",
    "EnergyFitness": "bitsieve.causal.energy_fitness",
    "FisherZ": "bitsieve.causal.fisher",
    "FitnessPairErrors": "bitsieve.causal.fitness_pairs",
    "GSquared": "bitsieve.causal.discrete_tests",
    "Independence": "bitsieve.causal.independence",
    "IndependenceTest": "bitsieve.causal.independence",
    "LocalBlanket": "bitsieve.causal.local_blanket",
    "Method": "bitsieve.causal.markov",
    "PairErrors": "bitsieve.causal.pairs",
    "PermutationTest": "bitsieve.causal.permutation",
    "Separation": "bitsieve.causal.independence",
    "Separator": "bitsieve.causal.separators",
    "Separators": "bitsieve.causal.separators",
    "Terms": "bitsieve.causal.terms",
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
