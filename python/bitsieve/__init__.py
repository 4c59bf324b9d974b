"""Feature selection for wide data: compiled wrappers and honest errors.

The top level is lazy (PEP 562): importing the package loads neither scikit-learn nor matplotlib,
torch or CuPy. A name is loaded when it is first used; those of the networks behind gates need
torch (``pip install "bitsieve[gates]"``).
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING

from bitsieve._version import __version__

logging.getLogger("bitsieve").addHandler(logging.NullHandler())

__all__ = [
    "CFS",
    "FCBF",
    "MRMR",
    "SURF",
    "AutoSelector",
    "BinarySPSA",
    "DiagonalLDA",
    "Discretizer",
    "EnergySelector",
    "EnsembleRanker",
    "ExhaustiveSearch",
    "FixedSizeSearch",
    "GramSchmidt",
    "InformationSelector",
    "KernelRidgeClassifier",
    "MarkovBlanket",
    "Masks",
    "ModelSearchCV",
    "MultiSURF",
    "MultiSURFStar",
    "PEFSClassifier",
    "PEFSRegressor",
    "RReliefF",
    "RandomSearch",
    "RankAggregation",
    "RecursiveFeatureElimination",
    "Relief",
    "ReliefF",
    "STGClassifier",
    "STGCox",
    "STGRegressor",
    "SURFStar",
    "SWRFStar",
    "SequentialFeatureSelector",
    "StochasticLocalSearch",
    "TuRF",
    "UnivariateSelector",
    "__version__",
    "available_isas",
    "causal",
    "data",
    "datasets",
    "discrete",
    "estimators",
    "evaluation",
    "filters",
    "fitness",
    "gates",
    "get_isa",
    "model_selection",
    "panels",
    "report",
    "search",
    "selectors",
    "set_isa",
    "show_versions",
    "testing",
]

# Where each name lives; all others are rooms.
_NAMES = {
    "AutoSelector": "bitsieve.selectors",
    "BinarySPSA": "bitsieve.selectors",
    "CFS": "bitsieve.selectors",
    "DiagonalLDA": "bitsieve.estimators",
    "Discretizer": "bitsieve.selectors",
    "FCBF": "bitsieve.selectors",
    "EnergySelector": "bitsieve.selectors",
    "EnsembleRanker": "bitsieve.selectors",
    "ExhaustiveSearch": "bitsieve.selectors",
    "FixedSizeSearch": "bitsieve.selectors",
    "GramSchmidt": "bitsieve.selectors",
    "InformationSelector": "bitsieve.selectors",
    "KernelRidgeClassifier": "bitsieve.estimators",
    "MRMR": "bitsieve.selectors",
    "MarkovBlanket": "bitsieve.selectors",
    "Masks": "bitsieve.masks",
    "ModelSearchCV": "bitsieve.model_selection",
    "MultiSURF": "bitsieve.selectors",
    "MultiSURFStar": "bitsieve.selectors",
    "PEFSClassifier": "bitsieve.gates",
    "PEFSRegressor": "bitsieve.gates",
    "RReliefF": "bitsieve.selectors",
    "RandomSearch": "bitsieve.selectors",
    "RankAggregation": "bitsieve.selectors",
    "RecursiveFeatureElimination": "bitsieve.selectors",
    "Relief": "bitsieve.selectors",
    "ReliefF": "bitsieve.selectors",
    "STGClassifier": "bitsieve.gates",
    "STGCox": "bitsieve.gates",
    "STGRegressor": "bitsieve.gates",
    "SURF": "bitsieve.selectors",
    "SURFStar": "bitsieve.selectors",
    "SWRFStar": "bitsieve.selectors",
    "StochasticLocalSearch": "bitsieve.selectors",
    "SequentialFeatureSelector": "bitsieve.selectors",
    "TuRF": "bitsieve.selectors",
    "UnivariateSelector": "bitsieve.selectors",
    "available_isas": "bitsieve._isa",
    "get_isa": "bitsieve._isa",
    "set_isa": "bitsieve._isa",
    "show_versions": "bitsieve._versions",
}

if TYPE_CHECKING:
    from bitsieve import (
        causal,
        data,
        datasets,
        discrete,
        estimators,
        evaluation,
        filters,
        fitness,
        gates,
        model_selection,
        panels,
        report,
        search,
        selectors,
        testing,
    )
    from bitsieve._isa import available_isas, get_isa, set_isa
    from bitsieve._versions import show_versions
    from bitsieve.estimators import DiagonalLDA, KernelRidgeClassifier
    from bitsieve.gates import (
        PEFSClassifier,
        PEFSRegressor,
        STGClassifier,
        STGCox,
        STGRegressor,
    )
    from bitsieve.masks import Masks
    from bitsieve.model_selection import ModelSearchCV
    from bitsieve.selectors import (
        CFS,
        FCBF,
        MRMR,
        SURF,
        AutoSelector,
        BinarySPSA,
        Discretizer,
        EnergySelector,
        EnsembleRanker,
        ExhaustiveSearch,
        GramSchmidt,
        InformationSelector,
        MarkovBlanket,
        MultiSURF,
        MultiSURFStar,
        RandomSearch,
        RankAggregation,
        RecursiveFeatureElimination,
        Relief,
        ReliefF,
        RReliefF,
        StochasticLocalSearch,
        SURFStar,
        SWRFStar,
        TuRF,
        UnivariateSelector,
    )


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'bitsieve' has no attribute {name!r}")
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    return importlib.import_module(f"bitsieve.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
