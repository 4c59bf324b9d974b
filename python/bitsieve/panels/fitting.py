"""Candidates fitted to all samples of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bitsieve.panels.classifiers import LinearFitted, NeighborsFitted, classifier_by_name
from bitsieve.panels.design import Candidate
from bitsieve.panels.ranking import Ranked

__all__ = ["FittedCandidate", "fit_candidates"]


@dataclass(frozen=True)
class FittedCandidate:
    """A candidate fitted to a training part.

    Attributes
    ----------
    candidate : Candidate
    features : int64 array of shape (size,)
        Best first.
    Z : float64 array of shape (n_samples, size)
        The training samples, scaled.
    fitted : LinearFitted or NeighborsFitted
        On the Gram matrix of Z.
    """

    candidate: Candidate
    features: NDArray[np.int64]
    Z: NDArray[np.float64]
    fitted: LinearFitted | NeighborsFitted


def fit_candidates(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    ranked: Ranked,
    wanted: Sequence[Candidate],
) -> list[FittedCandidate]:
    """Fit candidates to all samples of a table.

    Parameters
    ----------
    X, codes, n_classes
        As for :func:`run_race`.
    ranked : Ranked
        Of the same table.
    wanted : sequence of Candidate

    Returns
    -------
    list of FittedCandidate
        In the order of ``wanted``.
    """
    found: list[FittedCandidate] = []
    tables: dict[tuple[bool, str, int], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    scaled = {log: scaling.apply(X) for log, scaling in ranked.scalings.items()}
    with threadpool_limits(limits=1, user_api="blas"):
        for candidate in wanted:
            features = ranked.features(candidate)
            key = (candidate.log, candidate.selector, candidate.size)
            if key not in tables:
                mine = scaled[candidate.log][:, features]
                tables[key] = mine, mine @ mine.T
            Z, gram = tables[key]
            model = classifier_by_name(candidate.classifier)
            fitted = model.fit(gram, codes, n_classes, n_features=len(features))
            assert isinstance(fitted, (LinearFitted, NeighborsFitted))
            found.append(FittedCandidate(candidate, features, Z, fitted))
    return found
