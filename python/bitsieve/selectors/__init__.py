"""Selectors with scikit-learn's interface: the one room that knows both search and fitness.

::

    X, y --> data.Table --> fitness.compile --\\
                                               search.run --> support_, best_score_, history_, ...
    parameters --> _make_search ---------------/

    X, y --> a function of filters --> scores, order --> support_, scores_, ranking_

Searches: ``_base.py`` has everything that all share (fit, fitted attributes); ``_wrapping.py`` what
all do that stand around an estimator (input, tags).

    spsa.py          BinarySPSA: its own parameters, and the search that they make
    local.py         StochasticLocalSearch
    exhaustive.py    ExhaustiveSearch: every subset
    random_search.py RandomSearch: subsets at random
    fixed_size.py    FixedSizeSearch: swaps at a given size
    sequential.py    SequentialFeatureSelector; the sizes it is to go to: _size_range.py, what it
                     found of each: _sizes.py
    _cost.py         what a search or an elimination takes
    _space.py        what moves: free features and groups; _features.py: as users name them
    _penalty.py      a fitness that charges for features; _restarts.py: the best of several seeds
    _starts.py       features or a filter's scores, to start from; _limits.py: limits and shares
    _finalists.py    weights of features, by the finalists that hold them
    named.py         short names, as the command line takes them

Elimination by coefficients: ``recursive.py``, RecursiveFeatureElimination, on
``panels/recursive.py``.

    _eliminating.py        its runs, on all samples and in folds
    _elimination_folds.py  the folds; _elimination_sizes.py: the sizes, and the one to take
    _elimination_store.py  what is on the disk of it
    _weights.py            weights of samples

Panels: ``auto.py``, AutoSelector, on the room ``panels``.

Rankings: ``_ranked.py`` has everything that all share, the best of what a filter gives.

    relief.py, surf.py  ReliefF and its family, on _relief_base.py
    univariate.py    scores of single features, Gram-Schmidt
    information.py   MRMR and the other greedy criteria
    cfs.py, fcbf.py  sets of features that do not repeat each other
    blanket.py       MarkovBlanket: what makes all else independent of the target
    aggregation.py   several rankers, one ranking; what a ranker may be: _rankers.py
    energy.py        EnergySelector: the set of least energy, of rankings, errors and blankets
                     (_energy_parts.py), searched by _energy_search.py, its terms chosen by
                     _energy_learning.py; nested_subsets.py: subsets of 2, 4, 8, ... features
    ensemble.py      one ranker on many samples, drawn by _bootstrap.py
    discretizer.py   levels in place of numbers, a step of a pipeline
"""

from __future__ import annotations

from bitsieve.selectors.aggregation import RankAggregation
from bitsieve.selectors.auto import AutoSelector
from bitsieve.selectors.blanket import MarkovBlanket
from bitsieve.selectors.cfs import CFS
from bitsieve.selectors.discretizer import Discretizer
from bitsieve.selectors.energy import EnergySelector
from bitsieve.selectors.ensemble import EnsembleRanker
from bitsieve.selectors.exhaustive import ExhaustiveSearch
from bitsieve.selectors.fcbf import FCBF
from bitsieve.selectors.fixed_size import FixedSizeSearch
from bitsieve.selectors.information import MRMR, InformationSelector
from bitsieve.selectors.local import StochasticLocalSearch
from bitsieve.selectors.nested_subsets import NestedSubsets
from bitsieve.selectors.random_search import RandomSearch
from bitsieve.selectors.recursive import RecursiveFeatureElimination
from bitsieve.selectors.relief import Relief, ReliefF, RReliefF, TuRF
from bitsieve.selectors.sequential import SequentialFeatureSelector
from bitsieve.selectors.spsa import BinarySPSA
from bitsieve.selectors.surf import SURF, MultiSURF, MultiSURFStar, SURFStar, SWRFStar
from bitsieve.selectors.univariate import GramSchmidt, UnivariateSelector

__all__ = [
    "CFS",
    "FCBF",
    "MRMR",
    "SURF",
    "AutoSelector",
    "BinarySPSA",
    "Discretizer",
    "EnergySelector",
    "EnsembleRanker",
    "ExhaustiveSearch",
    "FixedSizeSearch",
    "GramSchmidt",
    "InformationSelector",
    "MarkovBlanket",
    "MultiSURF",
    "MultiSURFStar",
    "NestedSubsets",
    "RReliefF",
    "RandomSearch",
    "RankAggregation",
    "RecursiveFeatureElimination",
    "Relief",
    "ReliefF",
    "SURFStar",
    "SWRFStar",
    "SequentialFeatureSelector",
    "StochasticLocalSearch",
    "TuRF",
    "UnivariateSelector",
]
