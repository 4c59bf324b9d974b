"""Selectors with scikit-learn's interface: the one room that knows both search and fitness.

::

    X, y --> data.Table --> fitness.compile --\\
                                               search.run --> support_, best_score_, history_, ...
    parameters --> _make_search ---------------/

    _base.py   everything that all searches share: validation, tags, fit, fitted attributes
    _ranked.py   everything that all rankings share: the best of the scores that a filter gives
    _refusals.py  what scikit-learn expects to be refused, in its words
    _scoring.py  whether a scorer can score a target, before a long search
    cfs.py, fcbf.py  sets of features that do not repeat each other
    discretizer.py  levels in place of numbers, a step of a pipeline
    information.py  MRMR and the other greedy criteria
    relief.py, surf.py  ReliefF and its family
    univariate.py  scores of single features, Gram-Schmidt
    spsa.py    BinarySPSA: its own parameters, and the search that they make
    named.py   short names, as the command line takes them
"""

from __future__ import annotations

from bitsieve.selectors.aggregation import RankAggregation
from bitsieve.selectors.cfs import CFS
from bitsieve.selectors.discretizer import Discretizer
from bitsieve.selectors.ensemble import EnsembleRanker
from bitsieve.selectors.fcbf import FCBF
from bitsieve.selectors.information import MRMR, InformationSelector
from bitsieve.selectors.relief import Relief, ReliefF, RReliefF, TuRF
from bitsieve.selectors.spsa import BinarySPSA
from bitsieve.selectors.surf import SURF, MultiSURF, MultiSURFStar, SURFStar, SWRFStar
from bitsieve.selectors.univariate import GramSchmidt, UnivariateSelector

__all__ = [
    "CFS",
    "FCBF",
    "MRMR",
    "SURF",
    "BinarySPSA",
    "Discretizer",
    "EnsembleRanker",
    "GramSchmidt",
    "InformationSelector",
    "MultiSURF",
    "MultiSURFStar",
    "RReliefF",
    "RankAggregation",
    "Relief",
    "ReliefF",
    "SURFStar",
    "SWRFStar",
    "TuRF",
    "UnivariateSelector",
]
