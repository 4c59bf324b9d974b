"""Which input columns a fitted selector kept, seen through scikit-learn's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline


def is_selecting(step: Any) -> bool:
    """Whether a transformer keeps some of its input columns unchanged (it has get_support)."""
    return hasattr(step, "get_support")


def steps_of(selector: Any) -> list[tuple[str, Any]]:
    """Return the steps of a pipeline, without the ones that pass through; a selector is one."""
    if isinstance(selector, Pipeline):
        return [(n, s) for n, s in selector.steps if s is not None and s != "passthrough"]
    return [("selector", selector)]


def last_selecting_step(selector: Any) -> Any:
    """Return the last step that selects.

    Raises
    ------
    ValueError
        Where no step has ``get_support``.
    """
    selecting = [step for _, step in steps_of(selector) if is_selecting(step)]
    if not selecting:
        raise ValueError(
            "selector must select features: an object with get_support, or a Pipeline with such a "
            f"step, but none was found in {selector!r}"
        )
    return selecting[-1]


def without_selection(selector: Any) -> Pipeline | None:
    """Return an unfitted clone that keeps every feature, or None where nothing is left.

    Parameters
    ----------
    selector : selector or Pipeline
        Steps with get_support are dropped, the others (a scaler) stay.
    """
    kept = [(name, clone(step)) for name, step in steps_of(selector) if not is_selecting(step)]
    return Pipeline(kept) if kept else None


def support_of(selector: Any, n_features: int) -> NDArray[np.bool_]:
    """Return the support of a fitted selector in terms of the columns that went in.

    Parameters
    ----------
    selector : fitted selector or Pipeline
        In a pipeline the supports of all selecting steps are composed; every other step must
        return as many columns as it takes, in their order.
    n_features : int
        Number of columns that went in.

    Returns
    -------
    bool array of shape (n_features,)

    Raises
    ------
    ValueError
        Where a step changes the number of columns without having get_support.
    """
    kept = np.arange(n_features)
    for name, step in steps_of(selector):
        if is_selecting(step):
            kept = kept[np.asarray(step.get_support(), dtype=bool)]
            continue
        n_in = int(getattr(step, "n_features_in_", len(kept)))
        n_out = _n_outputs(step, n_in)
        if n_in != len(kept) or n_out != n_in:
            raise ValueError(
                f"step {name!r} of the pipeline turns {len(kept)} columns into {n_out}, so a "
                "selected column no longer stands for one feature. Put it outside the pipeline, "
                "or use steps that keep the columns, such as StandardScaler"
            )
    support = np.zeros(n_features, dtype=bool)
    support[kept] = True
    return support


def _n_outputs(step: Any, n_in: int) -> int:
    """Return the number of columns that a fitted step returns, n_in where it does not say."""
    try:
        return len(step.get_feature_names_out())
    except (AttributeError, ValueError):
        # Steps without names, or without names for an array: one to one is the usual case, and
        # the next step's n_features_in_ is checked against it.
        return n_in
