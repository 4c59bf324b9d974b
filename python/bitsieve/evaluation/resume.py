"""Finished outer folds on the disk, so that a stopped evaluation goes on.

One file a fold, named by a fingerprint of the data, the procedure, the two parts of the fold, its
number and seed, and the version. More repeats therefore find the folds of fewer again, and any
other evaluation finds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from bitsieve._checkpoint import CheckpointStore, fingerprint
from bitsieve.evaluation.alternatives import ScoredAlternative
from bitsieve.evaluation.fold import FoldScores, Procedure
from bitsieve.evaluation.predictions import FoldOutputs
from bitsieve.evaluation.tasks import Task

__all__ = ["FoldStore", "fingerprint_of"]

#: Parameters that change nothing but the time, or what is shown.
_WITHOUT_EFFECT = ("checkpoint", "n_jobs", "progress", "resume", "verbose")
_NUMBERS = ("honest", "full", "chance", "observed", "remeasured", "seconds")


def fingerprint_of(procedure: Procedure, scoring: str, X: Any, y: Any, groups: Any) -> str:
    """Return what tells an evaluation from all others, but for its folds.

    Parameters
    ----------
    procedure : Procedure
    scoring : str
        Name of the scorer.
    X, y, groups
        The data, as they were given.

    Returns
    -------
    str
    """
    scorer: Any = procedure.scorer
    if type(scorer).__name__ == "_PassthroughScorer":
        scorer = None  # the estimator's own score
    options = {
        "function": getattr(scorer, "_score_func", scorer),
        "response": getattr(scorer, "_response_method", None),
        "sign": getattr(scorer, "_sign", 1),
        **getattr(scorer, "_kwargs", {}),
    }
    return fingerprint(
        {
            "X": joblib.hash(X),
            "y": joblib.hash(y),
            "groups": joblib.hash(groups),
            "selector": _described(procedure.selector),
            "estimator": _described(procedure.estimator),
            "scoring": scoring,
            "scorer": {name: _described(value) for name, value in options.items()},
        }
    )


class FoldStore:
    """The file of one outer fold.

    Parameters
    ----------
    directory : str or path
        Made if it is missing.
    evaluation : str
        What :func:`fingerprint_of` returns.
    task : Task
    labels : array or None
        The classes that predictions are told by; None for numbers.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        evaluation: str,
        task: Task,
        *,
        labels: NDArray[Any] | None,
    ) -> None:
        parts = {
            "evaluation": evaluation,
            "fold": task.fold,
            "seed": task.seed,
            "train": task.train,
            "test": task.test,
        }
        self._store = CheckpointStore(directory, fingerprint(parts), kind="fold", instead="")
        self._labels = labels

    def load(self) -> FoldScores | None:
        """Return what the fold found before, None where it has not been finished.

        Raises
        ------
        CheckpointMismatch
            Where the file is damaged.
        """
        saved = self._store.load()
        if saved is None:
            return None
        meta, arrays = saved
        full = arrays.get("full predicted")
        return FoldScores(
            **{name: float(arrays[name]) for name in _NUMBERS},
            support=arrays["support"],
            outputs=self._outputs("", meta, arrays),
            full_predicted=None if full is None else self._named(full, meta["full coded"]),
            stopped_early=meta["stopped_early"],
            is_cut=meta["is_cut"],
            claimed_by=meta["claimed_by"],
            alternatives={
                name: ScoredAlternative(
                    float(arrays[f"{i} score"]),
                    int(arrays[f"{i} n_features"]),
                    self._outputs(f"{i} ", meta, arrays),
                )
                for i, name in enumerate(meta["alternatives"])
            },
        )

    def save(self, found: FoldScores) -> None:
        """Write what the fold found, whole or not at all; a full disk only warns."""
        arrays: dict[str, Any] = {name: np.array(getattr(found, name)) for name in _NUMBERS}
        arrays["support"] = found.support
        meta: dict[str, Any] = {
            "stopped_early": found.stopped_early,
            "is_cut": found.is_cut,
            "claimed_by": found.claimed_by,
            "alternatives": list(found.alternatives),
        }
        self._put("", found.outputs, meta, arrays)
        if found.full_predicted is not None:
            arrays["full predicted"], meta["full coded"] = self._coded(found.full_predicted)
        for i, other in enumerate(found.alternatives.values()):
            arrays[f"{i} score"] = np.array(other.score)
            arrays[f"{i} n_features"] = np.array(other.n_features)
            self._put(f"{i} ", other.outputs, meta, arrays)
        self._store.save(meta, arrays)

    def _put(
        self, prefix: str, outputs: FoldOutputs, meta: dict[str, Any], arrays: dict[str, Any]
    ) -> None:
        meta[f"{prefix}response"] = outputs.response
        for name in ("predicted", "values", "classes"):
            value = getattr(outputs, name)
            if value is not None:
                arrays[prefix + name], meta[f"{prefix}{name} coded"] = self._coded(value)

    def _outputs(
        self, prefix: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> FoldOutputs:
        parts = {
            name: self._named(arrays[prefix + name], meta[f"{prefix}{name} coded"])
            if prefix + name in arrays
            else None
            for name in ("predicted", "values", "classes")
        }
        return FoldOutputs(response=meta[f"{prefix}response"], **parts)  # type: ignore[arg-type]

    def _coded(self, values: NDArray[Any]) -> tuple[NDArray[Any], bool]:
        """Return an array that a file can hold: positions in the labels in place of objects."""
        if values.dtype.kind != "O":
            return values, False
        places = {} if self._labels is None else {one: i for i, one in enumerate(self._labels)}
        try:
            return np.array([places[one] for one in values], dtype=np.int64), True
        except (KeyError, TypeError) as error:
            raise ValueError(
                "checkpoint= stores predicted classes that are among those of y, but "
                f"{error.args[0]!r} was predicted; leave checkpoint out"
            ) from error

    def _named(self, values: NDArray[Any], coded: bool) -> NDArray[Any]:
        if not coded:
            return values
        assert self._labels is not None
        return np.asarray(self._labels[values])


def _described(value: Any) -> object:
    """Return what tells a parameter from another: of an estimator its type and parameters."""
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        kind = type(value)
        params = {
            name: _described(one)
            for name, one in value.get_params(deep=False).items()
            if name not in _WITHOUT_EFFECT
        }
        return {"type": f"{kind.__module__}.{kind.__qualname__}", **params}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return {str(i): _described(one) for i, one in enumerate(value)}
    if isinstance(value, Mapping):
        return {str(name): _described(one) for name, one in value.items()}
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return str(joblib.hash(value))
