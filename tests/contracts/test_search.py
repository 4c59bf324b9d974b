"""Every search keeps the contract; a new one joins by a line of SEARCHES."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from bitsieve.search import (
    AnnealingMaskSearch,
    BinarySPSASearch,
    ExhaustiveMaskSearch,
    FixedSizeMaskSearch,
    RandomMaskSearch,
    SequentialSearch,
    StochasticLocalMaskSearch,
)
from bitsieve.testing import check_search

# Name to the class and the options that make it; each entry is a variant of the others.
SEARCHES: dict[str, tuple[Any, dict[str, Any]]] = {
    "spsa": (BinarySPSASearch, {}),
    "spsa, gain of the paper": (BinarySPSASearch, {"gain": "paper"}),
    "spsa, one feature": (BinarySPSASearch, {"n_features_to_select": 1}),
    "spsa, noise": (BinarySPSASearch, {"injected_noise": 0.2}),
    "spsa, second order": (BinarySPSASearch, {"second_order": True}),
    "spsa, halving": (BinarySPSASearch, {"halving_patience": 3}),
    "spsa, all may win": (BinarySPSASearch, {"admit_perturbed": True, "stop_when_decided": True}),
    "sequential": (SequentialSearch, {}),
    "sequential, backward": (SequentialSearch, {"direction": "backward"}),
    "sequential, floating": (SequentialSearch, {"floating": True}),
    "sequential, floating, strict": (SequentialSearch, {"floating": "mlxtend"}),
    "sequential, rounds": (SequentialSearch, {"plus_l_minus_r": (3, 1)}),
    "sequential, several at a time": (SequentialSearch, {"step": 3}),
    "sequential, until it stalls": (SequentialSearch, {"tol": 0.1}),
    "sequential, patient": (SequentialSearch, {"patience": 2}),
    "exhaustive, up to 1 feature": (ExhaustiveMaskSearch, {"max_size": 1, "n_asked": 3}),
    "swaps": (FixedSizeMaskSearch, {"size": 1, "n_asked": 30}),
    "swaps, best pairs and kicks": (
        FixedSizeMaskSearch,
        {"size": 1, "moves": "best_pairs", "n_paired": 1, "n_kicks": 2},
    ),
    "random": (RandomMaskSearch, {}),
    "local": (StochasticLocalMaskSearch, {}),
    "local, adaptive": (StochasticLocalMaskSearch, {"preset": "adaptivesls"}),
    "local, noise that adapts": (StochasticLocalMaskSearch, {"preset": "adaptivenoise"}),
    "local, strict": (
        StochasticLocalMaskSearch,
        {"preset": "markovsls", "p_restart": 0.3, "neighborhood": 3 / 4},
    ),
    "annealing": (AnnealingMaskSearch, {"n_steps": 40, "n_probes": 5}),
    "annealing, one feature": (AnnealingMaskSearch, {"size": 1, "n_steps": 30, "n_probes": 4}),
    "random, one feature": (RandomMaskSearch, {"max_size": 1, "n_asked": 1}),
}


def _variants(kind: Any, options: dict[str, Any]) -> list[Any]:
    found = [partial(kind, **o) for k, o in SEARCHES.values() if k is kind and o != options]
    if kind is BinarySPSASearch:
        for name, value in {"c": 0.06, "step_fraction": 0.01, "n_averaged": 7}.items():
            found.append(partial(kind, **options, **{name: value}))
        if "n_features_to_select" not in options:
            found.append(lambda p: kind(p, **options, start=np.linspace(0.46, 0.54, p)))
    if kind is AnnealingMaskSearch:
        for name, value in {"n_steps": 7, "n_probes": 3, "p_accept": 0.3, "cooling": 0.1}.items():
            found.append(partial(kind, **{**options, name: value}))
    if kind is StochasticLocalMaskSearch:
        for name, value in {
            "p_restart": 0.2,
            "p_noise": 0.2,
            "adapt_restart": 0.2,
            "adapt_noise": 0.1,
            "adapt_window": 3,
            "neighborhood": 1,
            "restart": "random" if "preset" not in options else "zeros",
            "admit_empty": True,
        }.items():
            found.append(partial(kind, **{**options, name: value}))
        found.append(lambda p: kind(p, **options, start=np.arange(p) % 3 == 0))
    return found


@pytest.mark.parametrize("name", SEARCHES)
def test_keeps_the_contract(name: str) -> None:
    kind, options = SEARCHES[name]
    check_search(partial(kind, **options), variants=_variants(kind, options))
