"""Features that tell much of what a selected one tells: its substitutes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int, check_number

__all__ = ["Substitutes", "log2_values", "substitutes"]

Floats = NDArray[np.float64]

#: Numbers that are looked at in one go.
_BLOCK = 2_000_000

#: Correlations are compared to so many digits, so that no order of summation decides.
_DIGITS = 9


class Substitutes(NamedTuple):
    """The substitutes of one feature, the strongest first.

    Attributes
    ----------
    features : int64 array
        Their columns.
    correlations : float64 array
        Pearson's r with the feature, in the same order.
    n_found : int
        How many there are in all, of which so many are listed as were asked for.
    """

    features: NDArray[np.int64]
    correlations: Floats
    n_found: int


def substitutes(
    X: Any,
    support: ArrayLike,
    *,
    threshold: float = 0.8,
    most: int = 5,
    floor: float | None = None,
) -> dict[int, Substitutes]:
    """Find for each selected feature those outside the selection that correlate with it.

    A method that selects one of several features which tell the same leaves the others out by
    chance; whoever cannot measure the one may measure another.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples that were selected on.
    support : bool array-like of shape (n_features,)
        The selection.
    threshold : float, default 0.8
        Pearson's absolute correlation that a substitute exceeds, from 0 to below 1.
    most : int, default 5
        List so many of each feature, the strongest; of equal ones those of lowest index.
    floor : float, optional
        Correlate ``log2(max(x, floor))``, where the selection was made on that.

    Returns
    -------
    dict of int to Substitutes
        An entry for each selected feature, in their order. Constant features, and those with
        missing values, have and are none.

    Raises
    ------
    ValueError
        Where the sizes of X and support differ or a number is out of its range.

    Examples
    --------
    >>> from bitsieve.evaluation import substitutes
    >>> X = [[1.0, 2.0, -1.0, 0.0], [2.0, 4.1, -2.0, 1.0], [3.0, 5.9, -3.0, 0.0]]
    >>> found = substitutes(X, [True, False, False, False])
    >>> found[0].features.tolist(), found[0].correlations.round(3).tolist()
    ([2, 1], [-1.0, 0.999])
    """
    check_number("threshold", threshold, 0, 1, closed="left", hint="0.8 is usual")
    check_int("most", most, 1)
    if floor is not None:
        check_number("floor", floor, 0, hint="it is a value of the table, before the log")
    values = np.asarray(X)
    chosen = np.asarray(support, dtype=bool)
    if values.ndim != 2 or chosen.shape != values.shape[1:]:
        raise ValueError(
            "expected X of shape (n_samples, n_features) and a flag for each feature in support, "
            f"but got shapes {values.shape} and {chosen.shape}"
        )
    members = np.flatnonzero(chosen)
    units = _units(log2_values(values[:, members], floor))
    rows, columns, found = [], [], []
    width = max(256, _BLOCK // max(len(values), 1))
    for begin in range(0, len(chosen), width):
        r = units.T @ _units(log2_values(values[:, begin : begin + width], floor))
        member, other = np.nonzero(np.abs(r) > threshold - 1e-6)
        rows.append(member)
        columns.append(other + begin)
        found.append(r[member, other])
    member, other = np.concatenate(rows), np.concatenate(columns)
    r = np.clip(np.concatenate(found).round(_DIGITS), -1.0, 1.0)
    kept = (np.abs(r) > threshold) & ~chosen[other]
    member, other, r = member[kept], other[kept], r[kept]
    order = np.lexsort((other, -np.abs(r), member))
    bounds = np.searchsorted(member[order], np.arange(len(members) + 1))
    out = {}
    for position, feature in enumerate(members.tolist()):
        mine = order[bounds[position] : bounds[position + 1]]
        listed = mine[:most]
        out[feature] = Substitutes(other[listed].astype(np.int64), r[listed], len(mine))
    return out


def log2_values(values: NDArray[Any], floor: float | None) -> NDArray[Any]:
    """Return ``log2(max(x, floor))`` in float64, or the values as they are without a floor."""
    if floor is None:
        return values
    out: Floats = np.log2(np.maximum(values, floor, dtype=np.float64))
    return out


def _units(columns: NDArray[Any]) -> Floats:
    """Centre columns and scale them to length 1; constant and incomplete ones become 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        out: Floats = columns - columns[:1].astype(np.float64)  # exactly 0 where it is constant
        largest = np.abs(out).max(axis=0, initial=0.0)
        out /= np.where(largest > 0, largest, 1.0)  # so that no square leaves float64
        out -= out.mean(axis=0)
        length = np.sqrt((out**2).sum(axis=0))
        out /= np.where(length > 0, length, 1.0)
    out[:, ~np.isfinite(length) | (largest == 0)] = 0.0
    return out
