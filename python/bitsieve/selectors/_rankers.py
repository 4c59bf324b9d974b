"""What counts as a ranker: a name, a score function, or an estimator that ranks.

::

    "relieff" ------------- filters.named ---\\
    f(X, y) -> scores ------------------------> rank_with -> Ranked: scores, order, p-values
    estimator: scores_, ranking_ -- clone, fit/
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from bitsieve._errors import plural
from bitsieve._random import seeded
from bitsieve.data.frames import is_frame
from bitsieve.data.validation import check_matrix
from bitsieve.filters.named import NamedFilter, Ranked, filter_by_name

__all__ = ["name_of", "needs_target", "positive_only", "rank_with", "resolve", "table_of", "takes"]


def resolve(ranker: Any, parameter: str = "rankers") -> Any:
    """Return a ranker that can be used: a name becomes its filter, others stay what they are.

    Parameters
    ----------
    ranker : str, callable or estimator
    parameter : str, default "rankers"
        For the message alone.

    Raises
    ------
    ValueError
        For an unknown name, or something that cannot rank.
    """
    if isinstance(ranker, str):
        return filter_by_name(ranker)
    if isinstance(ranker, NamedFilter):
        return ranker
    if isinstance(ranker, type) or not (hasattr(ranker, "fit") or callable(ranker)):
        raise ValueError(
            f"{parameter} must be names such as 'relieff', functions of (X, y) that return scores, "
            f"or estimators with scores_ or ranking_ after fit, got {ranker!r}"
        )
    return ranker


def name_of(ranker: Any) -> str:
    """Return what to call a ranker in a message or a table.

    Examples
    --------
    >>> name_of(len), name_of(filter_by_name("F"))
    ('len', 'f')
    """
    if isinstance(ranker, NamedFilter):
        return ranker.name
    if hasattr(ranker, "fit"):
        return type(ranker).__name__
    return str(getattr(ranker, "__name__", None) or type(ranker).__name__)


def needs_target(ranker: Any) -> bool:
    """Tell whether a ranker, resolved or not, cannot do without y."""
    ranker = _found(ranker)
    if isinstance(ranker, NamedFilter):
        return ranker.target != "none"
    tags = getattr(ranker, "__sklearn_tags__", None)
    return bool(tags().target_tags.required) if callable(tags) else True


def positive_only(ranker: Any) -> bool:
    """Tell whether a ranker, resolved or not, says that it refuses values below zero."""
    ranker = _found(ranker)
    if isinstance(ranker, NamedFilter):
        return ranker.positive_only
    tags = getattr(ranker, "__sklearn_tags__", None)
    return bool(tags().input_tags.positive_only) if callable(tags) else False


def takes(ranker: Any, what: Literal["nan", "sparse"]) -> bool:
    """Tell whether a ranker, resolved or not, takes missing values or sparse matrices.

    A function cannot be asked, so it is not given any.
    """
    ranker = _found(ranker)
    if isinstance(ranker, NamedFilter):
        return ranker.takes_nan if what == "nan" else ranker.takes_sparse
    tags = getattr(ranker, "__sklearn_tags__", None)
    if not callable(tags):
        return False
    found = tags().input_tags
    return bool(found.allow_nan if what == "nan" else found.sparse)


def table_of(X: Any, *, allow_nan: bool, allow_sparse: bool) -> Any:
    """Return X as every ranker may take it.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    allow_nan, allow_sparse : bool
        Whether NaN may stand for a missing value, and a sparse matrix stay one.

    Returns
    -------
    DataFrame, sparse matrix or ndarray
        A frame as it is: its columns may hold what is no number, so the rankers decide. A sparse
        matrix by rows. Anything else as a checked array.

    Raises
    ------
    ValueError
        Where X is no table of numbers.
    """
    if is_frame(X):
        return X
    if allow_sparse and issparse(X):
        return X.tocsr()
    return check_matrix(X, allow_nan=allow_nan, allow_constant=True)[0]


def rank_with(
    ranker: Any,
    X: Any,
    y: Any,
    *,
    n_features: int,
    n_greedy: int,
    n_jobs: int | None,
    key: int | None,
    groups: NDArray[np.int64] | None = None,
) -> Ranked:
    """Rank all features with one ranker.

    Parameters
    ----------
    ranker : NamedFilter, callable or estimator
        From :func:`resolve`; an estimator is cloned.
    X, y
        As the user passed them.
    n_features : int
        Columns of X.
    n_greedy : int
        How many features a greedy method known by name should take.
    n_jobs : int or None
        Threads of a method known by name, and of an estimator that leaves them open.
    key : int or None
        Sets the seeds that an estimator or a method leaves open; None leaves them.
    groups : int array of shape (n_samples,), optional
        Samples that belong together, for an estimator whose ``fit`` takes groups.

    Returns
    -------
    Ranked

    Raises
    ------
    ValueError
        What the ranker says about X or y with its name before it; or where it returns something
        else than a score a feature.
    """
    try:
        if isinstance(ranker, NamedFilter):
            seed = None if key is None else key % 2**32
            return ranker.rank(X, y, n_features=n_greedy, n_jobs=n_jobs, random_state=seed)
        if hasattr(ranker, "fit"):
            return _rank_with_estimator(ranker, X, y, n_jobs, key, n_features, groups)
        scores, p_values = _parts(ranker(X, y))
    except ValueError as error:
        raise ValueError(f"{name_of(ranker)}: {error}") from error
    return Ranked(_checked(scores, ranker, n_features), None, p_values)


def _found(ranker: Any) -> Any:
    """Return the filter of a known name, and anything else as it is: fit will refuse it."""
    if isinstance(ranker, str):
        with suppress(ValueError):
            return filter_by_name(ranker)
    return ranker


def _rank_with_estimator(
    ranker: Any,
    X: Any,
    y: Any,
    n_jobs: int | None,
    key: int | None,
    n_features: int,
    groups: NDArray[np.int64] | None,
) -> Ranked:
    fitted = clone(ranker if key is None else seeded(ranker, key))
    if n_jobs is not None and fitted.get_params(deep=False).get("n_jobs", 1) is None:
        fitted.set_params(n_jobs=n_jobs)
    by_groups = groups is not None and has_fit_parameter(fitted, "groups")
    fitted.fit(X, y, **({"groups": groups} if by_groups else {}))
    scores, ranking = getattr(fitted, "scores_", None), getattr(fitted, "ranking_", None)
    if hasattr(fitted, "order_"):
        return Ranked(np.asarray(scores, np.float64), np.asarray(fitted.order_, dtype=np.int64))
    if scores is not None:
        p_values = getattr(fitted, "pvalues_", None)
        return Ranked(_checked(scores, ranker, n_features), None, p_values)
    if ranking is not None:  # as scikit-learn's RFE: 1 is the best, and several may have it
        return Ranked(_checked(-np.asarray(ranking, dtype=np.float64), ranker, n_features))
    raise ValueError("has neither scores_ nor ranking_ after fit, so it ranks no features")


def _parts(returned: Any) -> tuple[Any, Any]:
    """Return scores and p-values of what a score function returned, as SelectKBest does."""
    if isinstance(returned, tuple) and len(returned) == 2:
        return returned
    return returned, None


def _checked(scores: Any, ranker: Any, n_features: int) -> NDArray[np.float64]:
    values = np.asarray(scores)
    if values.shape != (n_features,) or values.dtype.kind not in "biuf":
        raise ValueError(
            f"{name_of(ranker)} must return one score a feature, that is "
            f"{plural(n_features, 'number')}, got an array of shape {values.shape} and dtype "
            f"{values.dtype}; a greedy method goes by its name, such as 'mrmr', or as a selector"
        )
    if (
        n_features > 1
        and values.dtype.kind in "iu"
        and callable(ranker)
        and np.array_equal(np.sort(values), np.arange(n_features))
    ):
        raise ValueError(
            f"{name_of(ranker)} returned each whole number from 0 to {n_features - 1} once, which "
            "may be an order or scores; return scores as floats, greater for better features"
        )
    if np.isnan(values).all():
        raise ValueError(f"{name_of(ranker)} returned NaN for every feature")
    return values.astype(np.float64)
