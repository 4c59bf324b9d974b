"""How groups reach the steps of a selection, and which steps cannot take them."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn import get_config
from sklearn.feature_selection import RFECV
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from bitsieve.evaluation.support import steps_of

__all__ = ["group_params", "warn_of_ungrouped_steps"]


def group_params(selector: Any, groups: Any) -> dict[str, Any]:
    """Return what ``fit`` of a selector is called with, so that groups reach whoever takes them.

    Parameters
    ----------
    selector : selector or Pipeline
        Unfitted, and the caller's own: with scikit-learn's metadata routing switched on, its steps
        are made to ask for groups.
    groups : array-like of shape (n_samples,)

    Returns
    -------
    dict

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bitsieve import BinarySPSA
    >>> selector = BinarySPSA(KNeighborsClassifier(1))
    >>> group_params(selector, [1, 1, 2]), group_params(StandardScaler(), [1, 1, 2])
    ({'groups': [1, 1, 2]}, {})
    >>> group_params(make_pipeline(StandardScaler(), selector), [1, 1, 2])
    {'binaryspsa__groups': [1, 1, 2]}
    """
    takers = [(name, step) for name, step in steps_of(selector) if _takes_groups(step)]
    if not takers:
        return {}
    if not isinstance(selector, Pipeline):
        return {"groups": groups}
    if not get_config()["enable_metadata_routing"]:
        return {f"{name}__groups": groups for name, _ in takers}
    for _, step in takers:
        if has_fit_parameter(step, "groups"):
            step.set_fit_request(groups=True)
    return {"groups": groups}


def warn_of_ungrouped_steps(selector: Any, estimator: Any) -> None:
    """Warn of every step, and of an estimator, with folds of its own that take no groups."""
    for step in [*(step for _, step in steps_of(selector)), estimator]:
        if _takes_groups(step) or not hasattr(step, "get_params"):
            continue
        own = [
            name
            for name, value in step.get_params(deep=True).items()
            if (name == "cv" or name.endswith("__cv")) and value != "prefit"
        ]
        if own:
            warnings.warn(
                f"{type(step).__name__} has folds of its own ({own[0]}) and takes no groups: they "
                "may part what belongs together, and its choice is then made by scores that are "
                "too good. The outer folds keep the groups",
                UserWarning,
                stacklevel=3,
            )


def _takes_groups(step: Any) -> bool:
    if has_fit_parameter(step, "groups"):
        return True
    # Without routing of metadata one selector of scikit-learn hands groups to its folds.
    routed = get_config()["enable_metadata_routing"] or isinstance(step, RFECV)
    if not routed or not hasattr(step, "get_metadata_routing"):
        return False
    return bool(get_routing_for_object(step).consumes("fit", {"groups"}))
