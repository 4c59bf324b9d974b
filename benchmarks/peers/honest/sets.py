"""Tables to judge procedures on, and the outer folds that all of them share."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

__all__ = ["CHOOSE", "CONFIRM", "MADE", "N_REPEATS", "N_SPLITS", "REAL", "SETS", "Set", "load"]
__all__ += ["half_of", "outer_folds"]

N_SPLITS = 5
N_REPEATS = 4
SEED = 20261128

REAL = (
    "tox_171",
    "chowdary",
    "khan",
    "singh",
    "gravier",
    "su",
    "west",
    "glioma",
    "pomeroy",
    "colon_disc",
    "leukemia_disc",
    "warpAR10P",
)
# Few strong genes; many weak ones; correlated blocks; near chance.
MADE: dict[str, dict[str, float]] = {
    "made_strong": {"n_informative": 10, "n_redundant": 0, "class_sep": 1.5},
    "made_weak": {"n_informative": 300, "n_redundant": 0, "class_sep": 0.5},
    "made_blocks": {"n_informative": 20, "n_redundant": 400, "class_sep": 1.0, "n_classes": 3},
    "made_chance": {"n_informative": 10, "n_redundant": 10, "class_sep": 0.6, "batch_effect": 0.5},
}
SETS = (*REAL, *MADE)

# Sorted by the error of the SVM on all features and dealt out in turn: what is designed is chosen
# on the first half and confirmed on the second.
CHOOSE = ("warpAR10P", "su", "chowdary", "tox_171", "made_blocks", "glioma", "made_strong", "west")
CONFIRM = (
    "khan",
    "leukemia_disc",
    "made_weak",
    "singh",
    "colon_disc",
    "gravier",
    "pomeroy",
    "made_chance",
)


@dataclass(frozen=True, eq=False)
class Set:
    """A table: X float64, codes 0 to C - 1, and the class names in the order of the codes."""

    name: str
    X: NDArray[np.float64] = field(repr=False)
    codes: NDArray[np.int64] = field(repr=False)
    classes: list[str]

    @property
    def n_classes(self) -> int:
        return len(self.classes)


@cache
def load(name: str) -> Set:
    """The table of that name, with real ones from the folder that BITSIEVE_TEST_DATA names."""
    if name in MADE:
        from bitsieve.datasets import make_microarray

        made = make_microarray(100, 4000, random_state=1, **MADE[name])  # type: ignore[arg-type]
        X, y = made.X, made.y
    else:
        folder = Path(os.environ["BITSIEVE_TEST_DATA"])
        with np.load(folder / f"{name}.npz", allow_pickle=False) as data:
            X, y = data["X"], data["y"]
    classes, codes = np.unique(y, return_inverse=True)
    return Set(name, np.ascontiguousarray(X, dtype=np.float64), codes, [str(c) for c in classes])


def outer_folds(name: str) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Training and test samples of the 4 x 5 outer folds: repeat r, fold k is entry 5 r + k."""
    codes = load(name).codes
    folds = RepeatedStratifiedKFold(n_splits=N_SPLITS, n_repeats=N_REPEATS, random_state=SEED)
    return list(folds.split(np.zeros((codes.size, 1)), codes))


def half_of(name: str) -> str:
    """Which half a set belongs to: "choose", "confirm"."""
    return "choose" if name in CHOOSE else "confirm"
