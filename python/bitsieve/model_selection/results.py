"""What a search found, as the table of scikit-learn's searches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray

from bitsieve.model_selection.evaluation import Evaluations

__all__ = ["results_of"]


def results_of(
    evaluations: Evaluations, turns: list[list[int]], told: NDArray[np.float64]
) -> dict[str, Any]:
    """Return ``cv_results_``.

    Parameters
    ----------
    evaluations : Evaluations
    turns : list of list of int
        The places of the models that each turn proposed.
    told : float64 array of shape (n_models,)
        Mean scores, minus infinity in place of NaN.

    Returns
    -------
    dict of arrays
        An entry for each model, in the order in which they were first proposed.
    """
    scores, models = np.array(evaluations.scores), evaluations.models
    results: dict[str, Any] = {"params": [dict(model) for model in models]}
    for name in dict.fromkeys(name for model in models for name in model):
        column: Any = MaskedArray(np.empty(len(models), dtype=object), mask=True)
        for place, model in enumerate(models):
            if name in model:
                column[place] = model[name]
        results[f"param_{name}"] = column
    for split in range(scores.shape[1]):
        results[f"split{split}_test_score"] = scores[:, split]
    results["mean_test_score"] = scores.mean(axis=1)
    results["std_test_score"] = scores.std(axis=1)
    better = told[None, :] > told[:, None]
    results["rank_test_score"] = 1 + better.sum(axis=1)
    first: dict[int, int] = {}
    for turn, places in enumerate(turns):
        for place in places:
            first.setdefault(place, turn)
    # Ctrl-C may strike after the scores of a turn.
    results["iteration"] = np.array([first.get(i, len(turns)) for i in range(len(models))])
    return results
