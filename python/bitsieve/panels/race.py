"""Every candidate panel of a table, scored by repeated cross-validation with its selection inside.

One ranking of a training part serves all sizes, and one Gram matrix, grown from size to size, all
classifiers. Selectors that are costly must earn their further repeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from bitsieve.panels.classifiers import classifier_by_name
from bitsieve.panels.design import Candidate, Design
from bitsieve.panels.ranking import Orders, rank_scaled
from bitsieve.panels.scaling import Scaling

__all__ = ["Race", "run_race"]


@dataclass(frozen=True)
class Race:
    """What the candidates said of samples that they had not seen.

    Attributes
    ----------
    design : Design
    codes : int32 array of shape (n_samples,)
    n_classes : int
    decisions : float64 array of shape (n_candidates, n_repeats, n_samples, n_functions)
        Out of fold. One function for two classes (positive says class 1), else one a class.
    orders : list of dict
        For each inner training part the ranking by (log, selector), best first.
    """

    design: Design
    codes: NDArray[np.int32]
    n_classes: int
    decisions: NDArray[np.float64]
    orders: list[Orders]

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates, in the order of ``decisions``."""
        return self.design.candidates


def run_race(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    design: Design,
    folds: NDArray[np.int32],
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Race:
    """Score every candidate by repeated cross-validation, its selection repeated in each part.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features)
    codes : int32 array of shape (n_samples,)
        Numbers of classes from 0 on.
    n_classes : int
    design : Design
    folds : int32 array of shape (n_repeats, n_samples)
        The test fold of each sample in each repeat.
    seed : int, default 0
        For rankers that draw.
    n_jobs : int or None, default None
        Processes; the answer does not depend on it.

    Returns
    -------
    Race
    """
    parts = [(row, fold) for row in folds for fold in np.unique(row)]
    if n_jobs is not None:
        n_jobs = min(n_jobs, len(parts))  # joblib would start all of them
    answers = Parallel(n_jobs=n_jobs)(
        delayed(_part)(X, codes, n_classes, design, row != fold, row == fold, seed)
        for row, fold in parts
    )
    n_functions = 1 if n_classes == 2 else n_classes
    decisions = np.empty((len(design.candidates), len(folds), len(codes), n_functions))
    repeat = 0
    for number, ((row, fold), (found, _)) in enumerate(zip(parts, answers, strict=True)):
        if number and row is not parts[number - 1][0]:
            repeat += 1
        decisions[:, repeat, row == fold] = found
    return Race(design, codes, n_classes, decisions, [orders for _, orders in answers])


class _PanelGrams(NamedTuple):
    is_ranked: bool
    size: int
    gram: NDArray[np.float64]
    cross: NDArray[np.float64]
    diagonal: NDArray[np.float64]


def _part(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    design: Design,
    train: NDArray[np.bool_],
    test: NDArray[np.bool_],
    seed: int,
) -> tuple[NDArray[np.float64], Orders]:
    """Return what candidates trained on one part decide of another, and their rankings."""
    n_functions = 1 if n_classes == 2 else n_classes
    mine, known = X[train], codes[train]
    out = np.empty((len(design.candidates), int(test.sum()), n_functions))
    orders: Orders = {}
    place = 0
    with threadpool_limits(limits=1, user_api="blas"):
        for log in design.logs:
            scaling = Scaling.fit(mine, log="always" if log else "never")
            Z, others = scaling.apply(mine), scaling.apply(X[test])
            ranked = rank_scaled(Z, known, design, seed, 1)
            orders |= {(log, name): order for name, order in ranked.items()}
            for panel in _panels(Z, others, ranked, design):
                names = design.classifiers if panel.is_ranked else design.on_all
                for model in map(classifier_by_name, names):
                    fitted = model.fit(panel.gram, known, n_classes, n_features=panel.size)
                    out[place] = fitted.decide(panel.cross, panel.diagonal)
                    place += 1
    return out, orders


def _panels(
    Z: NDArray[np.float64],
    others: NDArray[np.float64],
    ranked: Mapping[str, NDArray[np.int64]],
    design: Design,
) -> Iterator[_PanelGrams]:
    """Yield the Gram matrices of each panel, in the order of the design."""
    for selector in design.selectors if design.sizes else ():
        order = ranked[selector]
        gram, cross = np.zeros((len(Z), len(Z))), np.zeros((len(others), len(Z)))
        diagonal, before = np.zeros(len(others)), 0
        for size in design.sizes:
            mine, theirs = Z[:, order[before:size]], others[:, order[before:size]]
            gram, cross = gram + mine @ mine.T, cross + theirs @ mine.T
            diagonal = diagonal + np.square(theirs).sum(axis=1)
            before = size
            yield _PanelGrams(True, size, gram, cross, diagonal)
    if design.on_all:
        squares = np.square(others).sum(axis=1)
        yield _PanelGrams(False, design.n_features, Z @ Z.T, others @ Z.T, squares)
