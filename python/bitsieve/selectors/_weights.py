"""Weights of samples, for every fit of a wrapped estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.fitness.taking import last_step, takes_weights

__all__ = ["name_of_weights", "weights_of"]


def weights_of(given: Any, estimator: Any, n_samples: int) -> NDArray[Any] | None:
    """Return weights as an array, None where none were given.

    Raises
    ------
    ValueError
        Where they are not one a sample, or the estimator takes none.
    """
    if given is None:
        return None
    weights = np.array(given)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one value a sample: it has shape {weights.shape}, X has "
            f"{n_samples} samples"
        )
    weighted = last_step(estimator)
    if not takes_weights(weighted):
        raise ValueError(
            f"{type(weighted).__name__} takes no sample_weight in fit; leave sample_weight "
            "out, or take an estimator that does"
        )
    return weights


def name_of_weights(estimator: Any) -> str:
    """Under which name a fit takes weights; of a pipeline, for its last step."""
    names = []
    while steps := getattr(estimator, "steps", None):
        name, estimator = steps[-1]
        names.append(name)
    return "__".join([*names, "sample_weight"])
