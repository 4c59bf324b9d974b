"""What the features matter to a fitted estimator, and which of them matter least."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import plural

__all__ = ["Importance", "importances_of", "least_of"]

Floats = NDArray[np.float64]
Importance = str | Callable[[Any], Any]


def importances_of(fitted: Any, getter: Importance) -> Floats:
    """Return the importance of each feature in a fitted estimator.

    Squared coefficients, summed over the functions; else the importances as they are.

    Parameters
    ----------
    fitted : scikit-learn estimator
        Of a pipeline the last step is asked.
    getter : str or callable
        "auto", the name of an attribute (``"named_steps.svc.coef_"``), or a function of the fitted
        estimator.

    Raises
    ------
    ValueError
        If it has neither ``coef_`` nor ``feature_importances_``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> fitted = Ridge(alpha=1).fit(np.array([[1.0, 0.0], [-1.0, 0.0]]), [3.0, -3.0])
    >>> importances_of(fitted, "auto")
    array([4., 0.])
    """
    if callable(getter):
        found = getter(fitted)
    elif getter != "auto":
        try:
            found = attrgetter(getter)(fitted)
        except AttributeError as error:
            raise ValueError(
                f"importance_getter={getter!r} is no attribute of the fitted "
                f"{type(fitted).__name__}: {error}"
            ) from error
    else:
        last = fitted
        while getattr(last, "steps", None):
            last = last.steps[-1][1]
        last = getattr(last, "best_estimator_", last)
        found = getattr(last, "coef_", None)
        if found is None:
            found = getattr(last, "feature_importances_", None)
        if found is None:
            raise ValueError(
                f"{type(last).__name__} has neither coef_ nor feature_importances_: give "
                "importance_getter, or an estimator that has one of them, such as "
                "SVC(kernel='linear')"
            )
    if hasattr(found, "toarray"):
        found = found.toarray()
    values = np.atleast_2d(np.asarray(found, dtype=np.float64))
    # As scikit-learn: importances are squared too, which keeps their order.
    squares: Floats = np.square(values).sum(axis=0)
    return squares


def least_of(importances: Floats, kept: NDArray[np.bool_], count: int) -> NDArray[np.intp]:
    """Places of the least importances, the least first and of equals the lowest.

    Raises
    ------
    ValueError
        Where they are no finite numbers.
    """
    if not np.isfinite(importances).all():
        raise ValueError(
            f"the estimator's importances of {plural(len(importances), 'feature')} are not finite: "
            "scale the features, or penalise their coefficients more"
        )
    if kept.any():
        importances = np.where(kept, np.inf, importances)
    if count == 1:  # a sort takes longer than the fit
        return np.array([np.argmin(importances)])
    return np.argsort(importances, kind="stable")[:count]
