"""What scikit-learn's checks of estimators expect to be refused, in its own words and types."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitsieve.data.table import Table

__all__ = ["needs_target", "refuse_what_scikit_learn_refuses"]


def needs_target(estimator: object) -> ValueError:
    """Return the error about a target that is None.

    Examples
    --------
    >>> str(needs_target(1))
    'This int estimator requires y to be passed, but the target y is None.'
    """
    return ValueError(
        f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
        "is None."
    )


def refuse_what_scikit_learn_refuses(X: Any) -> None:
    """Refuse tables without a column, and objects that are no numbers.

    Raises
    ------
    ValueError
        For a table without a column, or a :class:`bitsieve.data.Table`.
    TypeError
        For an object that no number can be made of; it names the type.
    """
    if isinstance(X, Table):
        raise ValueError(
            "selectors take arrays and DataFrames, as scikit-learn's do; of a Table pass "
            "table.to_frame() and table.y"
        )
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is "
            "required."
        )
    if isinstance(X, np.ndarray) and X.dtype == object:
        for value in X.flat:
            known = value is None or isinstance(value, (str, bytes)) or hasattr(value, "__float__")
            if not known and type(value).__name__ not in ("NAType", "NaTType"):
                float(value)  # a TypeError that names the type
