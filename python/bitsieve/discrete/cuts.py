"""Cut points that some samples decide, and levels of these and of other samples by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_choice
from bitsieve._errors import plural
from bitsieve._threads import effective_n_jobs
from bitsieve.data.frames import column_names, is_frame
from bitsieve.data.inputs import Inputs, check_input
from bitsieve.data.table import Table
from bitsieve.discrete._cuts import Cuts
from bitsieve.discrete._levels import (
    METHODS,
    CutCost,
    Levels,
    Method,
    Missing,
    Options,
    cut,
    inputs_for,
)
from bitsieve.discrete.categories import Categories
from bitsieve.discrete.table import DiscreteTable

__all__ = ["CutPoints", "checked_cuts", "find_cuts"]


@dataclass(frozen=True, eq=False)
class CutPoints:
    """Where columns are cut, and how labels of categories are numbered.

    A value that equals a cut point belongs to the level below it.

    Attributes
    ----------
    values : ndarray of shape (n_cuts,)
        Float64, those of all columns one after the other, ascending within each.
    begin : ndarray of shape (n_features + 1,)
        Int64; the cuts of column f are ``values[begin[f]:begin[f + 1]]``.
    names : list of str or None
        Feature names.
    categories : Categories
        Labels of the columns of a frame that held categories or text.
    missing : {"error", "level"}
        Whether NaN is refused, or a level of its own, the last one of each column.

    See Also
    --------
    find_cuts : makes one.
    """

    values: NDArray[np.float64]
    begin: NDArray[np.int64]
    names: list[str] | None
    categories: Categories
    missing: Missing

    @property
    def n_features(self) -> int:
        """Columns."""
        return len(self.begin) - 1

    @property
    def n_levels(self) -> NDArray[np.int32]:
        """Levels of each column, int32, the one for missing values among them."""
        return (np.diff(self.begin) + (2 if self.missing == "level" else 1)).astype(np.int32)

    def columns(self) -> list[NDArray[np.float64]]:
        """Cut points as one array a column."""
        return Cuts(self.values, self.begin).columns()

    def apply(self, X: Any, *, n_jobs: int | None = None) -> DiscreteTable:
        """Number the level of each value, of the same samples or of others.

        Parameters
        ----------
        X : array-like, DataFrame or Table of shape (n_samples, n_features)
            One sample or more. Values beyond those that decided the cuts belong to the first and
            the last level.
        n_jobs : int or None, default None
            Threads.

        Returns
        -------
        DiscreteTable
            With :attr:`n_levels`, whatever occurs.

        Raises
        ------
        ValueError
            If X has other columns, a category that was not there, or missing values that are
            refused.

        Examples
        --------
        >>> cuts = find_cuts([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"])
        >>> cuts.apply([[-3.0], [5.1]]).codes.ravel()
        array([0, 1], dtype=uint8)
        """
        n_threads = effective_n_jobs(n_jobs)
        keep = self.missing == "level"
        self._refuse_other_names(X)
        inputs = check_input(
            self.categories.encode(X),
            target=False,
            missing="keep" if keep else "error",
            min_samples=1,
        )
        if inputs.n_features != self.n_features:
            raise ValueError(
                f"X has {plural(inputs.n_features, 'feature')}, but the cut points are of "
                f"{self.n_features}; pass the same columns"
            )
        codes = Cuts(self.values, self.begin).apply(
            inputs.X, missing_level=keep, n_threads=n_threads
        )
        n_levels = self.n_levels
        absent = n_levels - 1 if keep else np.full_like(n_levels, -1)
        return DiscreteTable.of_levels(Levels(codes, n_levels), inputs.names, absent, n_threads)

    def _refuse_other_names(self, X: Any) -> None:
        """Refuse named columns in another order, which would be cut where others are."""
        names = column_names(X) if is_frame(X) else X.names if isinstance(X, Table) else None
        if self.names is None or names is None:
            return
        if len(names) != self.n_features:
            raise ValueError(
                f"X has {plural(len(names), 'feature')}, but the cut points are of "
                f"{self.n_features}; pass the same columns"
            )
        for j, (name, own) in enumerate(zip(names, self.names, strict=True)):
            if name != own:
                raise ValueError(
                    f"column number {j} of X is {name!r}, but the cut points are of {own!r}; pass "
                    "the same columns in the same order"
                )


def find_cuts(
    X: Any,
    y: Any = None,
    *,
    method: Method = "mdl",
    n_bins: int = 10,
    bins: Any = None,
    n_sd: float = 1.0,
    cut_cost: CutCost = "samples",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    n_jobs: int | None = None,
) -> CutPoints:
    """Learn where to cut each column, from these samples alone.

    Parameters
    ----------
    X, y, method, n_bins, bins, n_sd, cut_cost, missing, discrete_features, n_jobs
        As for :func:`bitsieve.filters.discretize`.

    Returns
    -------
    CutPoints
        Its ``apply`` gives the levels of these samples and of any others.

    Raises
    ------
    ValueError
        As :func:`bitsieve.filters.discretize`.

    Examples
    --------
    >>> find_cuts([[0.0], [4.0], [10.0]], method="equal_width", n_bins=4).columns()
    [array([2.5, 5. , 7.5])]
    """
    options = Options(
        method=method,
        n_bins=n_bins,
        bins=bins,
        n_sd=n_sd,
        cut_cost=cut_cost,
        missing=missing,
        n_threads=effective_n_jobs(n_jobs),
    )
    inputs, cuts = checked_cuts(X, y, options, discrete_features)
    labels = Categories.of(X, inputs.coded)
    return CutPoints(cuts.values, cuts.begin, inputs.names, labels, missing)


def checked_cuts(X: Any, y: Any, options: Options, discrete_features: Any) -> tuple[Inputs, Cuts]:
    """Check everything and cut every column; see :func:`find_cuts`."""
    if options.method is None or options.method == "auto":
        check_choice("method", options.method, METHODS)
    inputs = inputs_for(X, y, options, discrete_features)
    return inputs, cut(inputs, options)
