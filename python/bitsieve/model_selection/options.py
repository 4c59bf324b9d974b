"""What a user names, and the space of models that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, plural, shorten
from bitsieve.model_selection.estimators import ESTIMATORS
from bitsieve.model_selection.space import ALL, PREPROCESSING, ModelSpace
from bitsieve.panels import Scaling, log_floor, ranker_by_name

__all__ = ["check_estimators", "check_preprocessing", "check_selectors", "make_space"]

#: What "auto" stands for: the rankers of a panel's plan, and F, beside all features.
SELECTORS = (ALL, "f", "relieff", "mrmr", "rfe")
#: A ranker selects at most so many features where nothing else is asked for.
MOST_FEATURES = 200

Names = tuple[str, ...]


def check_preprocessing(given: Any) -> Names | None:
    """Return the names of preprocessing, None for "auto"."""
    return _names("preprocessing", given, _known("preprocessing", PREPROCESSING))


def check_selectors(given: Any) -> Names | None:
    """Return the names of rankers and "all", None for "auto"."""
    return _names("selectors", given, _selector)


def check_estimators(given: Any) -> Names | None:
    """Return the names of classifiers, None for "auto"."""
    return _names("estimators", given, _known("estimator", tuple(ESTIMATORS)))


def make_space(
    X: NDArray[np.float64],
    *,
    preprocessing: Any,
    selectors: Any,
    estimators: Any,
    max_features: int | None,
    least_train: int,
    seed: int,
) -> ModelSpace:
    """Return the models that are compared.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features)
    preprocessing, selectors, estimators : "auto" or sequence of str
    max_features : int or None
    least_train : int
        Samples of the smallest training part, the most neighbors that there can be.
    seed : int
        For rankers that draw.

    Returns
    -------
    ModelSpace

    Raises
    ------
    ValueError
        If there is no such name, values cannot be logged, or no selection keeps to max_features.
    """
    p = X.shape[1]
    how = check_preprocessing(preprocessing)
    if how is None:
        how = PREPROCESSING[:3] + (("log",) if log_floor(X) is not None else ())
    elif "log" in how:
        Scaling.fit(X, log="always")  # which says what is amiss
    rankers = check_selectors(selectors) or SELECTORS
    most = min(p, MOST_FEATURES if max_features is None else max_features)
    if max_features is not None and max_features < p:
        rankers = tuple(name for name in rankers if name != ALL)
        if not rankers:
            raise ValueError(
                f"selectors=['all'] keeps {plural(p, 'feature')}, and max_features="
                f"{max_features} allows fewer; leave out max_features, or name a ranker"
            )
    return ModelSpace(
        how,
        rankers,
        check_estimators(estimators) or tuple(ESTIMATORS),
        p,
        most_features=most,
        most_neighbors=max(1, min(30, least_train)),
        seed=seed,
    )


def _known(kind: str, names: tuple[str, ...]) -> Callable[[Any], str]:
    def check(name: Any) -> str:
        if not isinstance(name, str) or name not in names:
            raise ValueError(f"there is no {kind} {name!r}; {closest(str(name), names)}")
        return str(name)

    return check


def _selector(name: Any) -> str:
    return ALL if name == ALL else ranker_by_name(name).name


def _names(name: str, value: Any, check: Callable[[Any], str]) -> Names | None:
    """Return names as a tuple, None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be 'auto' or a list of names, got {value!r}")
    given = tuple(value)
    if not given:
        raise ValueError(f"{name} must name at least one, got an empty list")
    found = tuple(check(one) for one in given)
    if len(set(found)) < len(found):
        raise ValueError(f"{name} names one twice: {shorten(given)}")
    return found
