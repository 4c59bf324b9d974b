"""What an estimator takes beside finite numbers: missing values, weights of samples."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.utils import get_tags

__all__ = ["last_step", "takes_missing", "takes_weights"]


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, and any other estimator as it is."""
    steps = getattr(estimator, "steps", None)
    return last_step(steps[-1][1]) if steps else estimator


def takes_missing(estimator: Any) -> bool:
    """Tell whether an estimator can be fitted to a table with missing values.

    Notes
    -----
    The estimator's own tag decides. A pipeline has none of its own: its steps are asked in turn,
    up to an imputer.

    Examples
    --------
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> takes_missing(KNeighborsClassifier())
    False
    >>> takes_missing(make_pipeline(StandardScaler(), SimpleImputer(), KNeighborsClassifier()))
    True
    """
    for step in [step for _, step in getattr(estimator, "steps", [("", estimator)])]:
        if step is None or isinstance(step, str):  # "passthrough"
            continue
        if hasattr(step, "steps"):
            if not takes_missing(step):
                return False
        elif not get_tags(step).input_tags.allow_nan:
            return False
        if _imputes(step):
            return True
    return True


def _imputes(step: Any) -> bool:
    inner = getattr(step, "steps", None)
    if inner is not None:
        return any(_imputes(each) for _, each in inner)
    return any("imput" in kind.__name__.lower() for kind in type(step).__mro__)


def takes_weights(estimator: Any) -> bool:
    """Tell whether ``fit`` takes ``sample_weight``, by name or among any others.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> takes_weights(Ridge()), takes_weights(KNeighborsClassifier())
    (True, False)
    """
    parameters = inspect.signature(estimator.fit).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    return "sample_weight" in parameters or inspect.Parameter.VAR_KEYWORD in kinds
