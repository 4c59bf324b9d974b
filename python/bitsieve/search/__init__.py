"""Searches over feature subsets, and the one loop that drives them.

::

    Search (ask, tell)  <----  run  ---->  Fitness (evaluate)
    BinarySPSASearch            |
    SequentialSearch            |
    FixedSizeMaskSearch         |
    StochasticLocalMaskSearch   |
    AnnealingMaskSearch         |
    ExhaustiveMaskSearch        |
    RandomMaskSearch            +--> RunResult, checkpoint files, a progress bar

A search sees masks and scores and nothing else; this room imports neither a fitness, nor data, nor
scikit-learn. A new search is a class with the methods of :class:`Search`; it gets budgets,
checkpoints, history and final measurement from :func:`run`. One that has an answer of its own also
has :meth:`~RecommendingSearch.recommend`. :class:`UnitSearch` stands around one whose features are
to move in groups, or not at all.
"""

from __future__ import annotations

from bitsieve.search.annealing import AnnealingMaskSearch
from bitsieve.search.exhaustive import ExhaustiveMaskSearch
from bitsieve.search.fixed_size import FixedSizeMaskSearch
from bitsieve.search.iteration import Callback, Iteration
from bitsieve.search.local import StochasticLocalMaskSearch
from bitsieve.search.local_presets import LOCAL_PRESETS, LocalPreset
from bitsieve.search.local_starts import best_of_scores
from bitsieve.search.markov import MarkovAnalysis, all_masks, markov_analysis
from bitsieve.search.presets import PRESETS, Preset, preset_of
from bitsieve.search.protocol import Fitness, RecommendingSearch, Search, SeededSearch
from bitsieve.search.random_masks import RandomMaskSearch
from bitsieve.search.result import Finalist, RunResult
from bitsieve.search.run import run
from bitsieve.search.sequential import SequentialSearch
from bitsieve.search.spsa import BinarySPSASearch
from bitsieve.search.units import UnitSearch

__all__ = [
    "LOCAL_PRESETS",
    "PRESETS",
    "AnnealingMaskSearch",
    "BinarySPSASearch",
    "Callback",
    "ExhaustiveMaskSearch",
    "Finalist",
    "Fitness",
    "FixedSizeMaskSearch",
    "Iteration",
    "LocalPreset",
    "MarkovAnalysis",
    "Preset",
    "RandomMaskSearch",
    "RecommendingSearch",
    "RunResult",
    "Search",
    "SeededSearch",
    "SequentialSearch",
    "StochasticLocalMaskSearch",
    "UnitSearch",
    "all_masks",
    "best_of_scores",
    "markov_analysis",
    "preset_of",
    "run",
]
