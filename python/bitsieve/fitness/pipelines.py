"""Pipelines of a scaler and a model, which kernels serve as one."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

from bitsieve import _core

__all__ = ["Parts", "parts_of", "scaler_options"]

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
    if not steps or not _ends_in_a_model(estimator):
        return Parts(estimator, reason="a pipeline without a model has no kernel")
    *before, model = steps
    for step in before:
        if not _is_scaler(step):
            return Parts(estimator, reason=f"{type(step).__name__} before a model has no kernel")
    if len(before) > 1:
        return Parts(estimator, reason="more than one scaler before a model has no kernel")
    reason = _refusal_of_scaler(before[0]) if before else None
    if reason is not None:
        return Parts(estimator, reason=reason)
    return Parts(model, before[0] if before else None)


def scaler_options(scaler: Any) -> _core.ScalerOptions:
    """Return what the core takes of a scaler.

    Parameters
    ----------
    scaler : scikit-learn transformer or None
        The ``scaler`` of a :class:`bitsieve.fitness.Problem`: None, or one that was not refused.

    Returns
    -------
    ScalerOptions
        For the core's models and its ``FoldScaler``. Steps of a pipeline are given no weights of
        samples, so none are honoured.

    Examples
    --------
    >>> from sklearn.preprocessing import RobustScaler
    >>> from bitsieve.fitness.pipelines import scaler_options
    >>> scaler_options(RobustScaler(quantile_range=(10, 90), with_centering=False))
    <ScalerOptions robust>
    """
    if scaler is None:
        return _core.ScalerOptions("none")
    name = type(scaler).__name__
    if name == "StandardScaler":
        return _core.ScalerOptions(
            "standard", center=bool(scaler.with_mean), scale=bool(scaler.with_std)
        )
    if name == "MinMaxScaler":
        low, high = map(float, scaler.feature_range)
        return _core.ScalerOptions("min_max", low=low, high=high)
    if name == "MaxAbsScaler":
        return _core.ScalerOptions("max_abs")
    low, high = (float(q) / 100 for q in scaler.quantile_range)
    return _core.ScalerOptions(
        "robust",
        low=low,
        high=high,
        center=bool(scaler.with_centering),
        scale=bool(scaler.with_scaling),
        divisor=_normal_width(low, high) if scaler.unit_variance else 1.0,
    )


def _refusal_of_scaler(scaler: Any) -> str | None:
    """Say which option of a scaler has no kernel, or would be refused by its ``fit``."""
    if getattr(scaler, "clip", False):
        return "clip=True has no kernel"
    if type(scaler).__name__ == "MinMaxScaler":
        low, high = map(float, scaler.feature_range)
        if not (low < high and math.isfinite(high - low)):
            return f"feature_range={scaler.feature_range!r} has no kernel"
    if type(scaler).__name__ == "RobustScaler":
        low, high = (float(q) / 100 for q in scaler.quantile_range)
        if not 0 <= low <= high <= 1:
            return f"quantile_range={scaler.quantile_range!r} has no kernel"
        if scaler.unit_variance and not (0 < low < high < 1):
            return f"unit_variance=True with {scaler.quantile_range!r} has no kernel"
    return None


def _normal_width(low: float, high: float) -> float:
    """Return how far apart two quantiles of a standard normal are."""
    from scipy.stats import norm

    return float(norm.ppf(high) - norm.ppf(low))


def _steps(estimator: Any) -> Any:
    if not _is_pipeline(estimator):
        yield estimator
        return
    for _, step in estimator.steps:
        if not _passes(step):
            yield from _steps(step)


def _passes(step: Any) -> bool:
    return step is None or isinstance(step, str)  # "passthrough"


def _ends_in_a_model(estimator: Any) -> bool:
    while _is_pipeline(estimator):
        if _passes(estimator.steps[-1][1]):
            return False
        estimator = estimator.steps[-1][1]
    return True


def _is_pipeline(estimator: Any) -> bool:
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and type(estimator) is module.Pipeline


def _is_scaler(step: Any) -> bool:
    module = sys.modules.get("sklearn.preprocessing")
    return module is not None and type(step) in [getattr(module, name) for name in _SCALERS]
