"""The samples that ``fit`` of a classifier was given, checked."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import column_or_1d, validate_data

from bitsieve.data.copies import warn_of_copies
from bitsieve.data.groups import group_codes
from bitsieve.data.refusals import needs_target, refuse_what_scikit_learn_refuses
from bitsieve.data.table import Table

__all__ = ["table_of_classes"]


def table_of_classes(estimator: Any, X: Any, y: Any, groups: Any) -> Table:
    """Return what ``fit`` was given as a table, and set what scikit-learn expects about features.

    Parameters
    ----------
    estimator : scikit-learn estimator
        It gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like or DataFrame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), or of shape (n_samples, 1), or None
        Class labels.
    groups : array-like of shape (n_samples,) or None
        Samples that belong together.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        Where X or y are not fit for use.

    Warns
    -----
    DuplicateSamplesWarning
        Where samples stand twice that no group holds together; seen from who called ``fit``.
    """
    refuse_what_scikit_learn_refuses(X)
    if y is None:
        raise needs_target(estimator)
    if getattr(y, "ndim", 1) == 2:
        y = column_or_1d(y, warn=True)
    table = Table(X, y, task="classification")
    # The table has checked the values; what is left are names and number of the features.
    validate_data(estimator, X, y, skip_check_array=True)
    warn_of_copies(
        table.X, None if groups is None else group_codes(groups, table.n_samples), stacklevel=3
    )
    return table
