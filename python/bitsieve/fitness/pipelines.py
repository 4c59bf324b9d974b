"""Pipelines of a scaler and a model, which kernels serve as one."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

__all__ = ["Parts", "parts_of"]

_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")


@dataclass(frozen=True, eq=False)
class Parts:
    """An estimator as kernels see it.

    Attributes
    ----------
    model : scikit-learn estimator
        The last step of a pipeline that was taken apart, else the estimator itself.
    scaler : scikit-learn transformer or None
        What is fitted before it on each training part.
    reason : str or None
        Why a pipeline was not taken apart.
    """

    model: Any
    scaler: Any = None
    reason: str | None = None


def parts_of(estimator: Any) -> Parts:
    """Take a pipeline of at most one scaler and a model apart.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Pipelines within pipelines are one; steps that are None or "passthrough" are none.

    Returns
    -------
    Parts
        Of any other estimator: itself, and where it is a pipeline the reason.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> parts = parts_of(make_pipeline(StandardScaler(), KNeighborsClassifier(1)))
    >>> parts.scaler, parts.model
    (StandardScaler(), KNeighborsClassifier(n_neighbors=1))
    >>> parts_of(make_pipeline(PCA(), KNeighborsClassifier(1))).reason
    'PCA before a model has no kernel'
    """
    steps = list(_steps(estimator))
    if steps == [estimator]:
        return Parts(estimator)
    if not steps:
        return Parts(estimator, reason="a pipeline without a model has no kernel")
    *before, model = steps
    for step in before:
        if not _is_scaler(step):
            return Parts(estimator, reason=f"{type(step).__name__} before a model has no kernel")
    if len(before) > 1:
        return Parts(estimator, reason="more than one scaler before a model has no kernel")
    return Parts(model, before[0] if before else None)


def _steps(estimator: Any) -> Any:
    if not _is_pipeline(estimator):
        yield estimator
        return
    for _, step in estimator.steps:
        if step is not None and not isinstance(step, str):  # "passthrough"
            yield from _steps(step)


def _is_pipeline(estimator: Any) -> bool:
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and type(estimator) is module.Pipeline


def _is_scaler(step: Any) -> bool:
    module = sys.modules.get("sklearn.preprocessing")
    return module is not None and type(step) in [getattr(module, name) for name in _SCALERS]
