"""A table of levels, made once and counted many times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve import _core
from bitsieve._checks import is_whole
from bitsieve._errors import plural
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs
from bitsieve.data.validation import check_names
from bitsieve.discrete._given import given_levels
from bitsieve.discrete._levels import (
    CutCost,
    Discretization,
    Levels,
    Missing,
    Options,
    check_discretization,
    inputs_for,
    levels,
)
from bitsieve.discrete._sparse import SparseLevels, sparse_levels
from bitsieve.discrete.variable import Variable, as_variable

__all__ = ["DiscreteTable"]

#: Combinations of levels of a target and what is given.
_MOST_CELLS = 1 << 24


class DiscreteTable:
    """Levels of samples x features, and how often they meet.

    Parameters
    ----------
    codes : array-like of int, shape (n_samples, n_features)
        Levels, from 0 to 254.
    n_levels : array-like of int, shape (n_features,), optional
        Levels that a feature may have; by default one more than its largest code. Some may not
        occur.
    names : sequence of str, optional
        Feature names.
    missing_level : array-like of int, shape (n_features,), optional
        The level of each feature that stands for missing values, -1 where none does; by default
        there is none.
    n_jobs : int or None, default None
        Threads that count.

    Attributes
    ----------
    n_samples, n_features : int
    n_levels : ndarray of shape (n_features,)
        Int32.
    names : list of str or None
    missing_level : ndarray of shape (n_features,)
        Int32.
    is_sparse : bool
        Whether the entries of a sparse matrix alone are kept.

    Raises
    ------
    ValueError
        If codes are no such numbers, or the rest does not fit to them.

    Examples
    --------
    >>> table = DiscreteTable.of([[0, 7], [0, 7], [1, 7], [1, 9]])
    >>> table.n_levels, table.codes[:, 1]
    (array([2, 2], dtype=int32), array([0, 0, 0, 1], dtype=uint8))
    >>> table.contingency([0, 0, 1, 1])[1]  # levels of the second feature x target
    array([[2, 1],
           [0, 1]])
    """

    n_levels: NDArray[np.int32]
    names: list[str] | None
    missing_level: NDArray[np.int32]
    _levels: Levels | SparseLevels
    _n_threads: int

    def __init__(
        self,
        codes: ArrayLike,
        n_levels: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
        missing_level: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        found, absent = given_levels(codes, n_levels, missing_level)
        self._set(found, check_names(names, len(found.n_levels)), absent, effective_n_jobs(n_jobs))

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        *,
        discretization: Discretization | None = "auto",
        n_bins: int = 10,
        cut_cost: CutCost = "samples",
        missing: Missing = "error",
        discrete_features: Any = "auto",
        max_levels: int | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Turn numbers and categories into levels.

        For cut points that training samples alone decide, see
        :func:`bitsieve.discrete.find_cuts`.

        Parameters
        ----------
        X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
            Numbers. Text, categories and booleans of a data frame are levels by themselves.
            Entries that a sparse matrix does not hold are zeros, and it is never made dense as a
            whole.
        y : array-like of shape (n_samples,), optional
            Class labels, for ``discretization="mdl"`` alone; those of a Table by default.
        discretization : str or None, default "auto"
            ``"auto"`` takes a column of whole numbers as it is if it has no more distinct values
            than half of the samples (10 are always granted, 64 is the limit), and cuts every other
            one in three: below, within and above one standard deviation around its mean. None
            takes all columns as they are and refuses those that are no levels. ``"mdl"``,
            ``"equal_width"``, ``"equal_frequency"`` and ``"mean_sd"`` cut all columns; see
            :func:`bitsieve.filters.discretize`.
        n_bins, cut_cost
            See there.
        missing : {"error", "level"}, default "error"
            NaN is refused, or is a level of its own, above all others of its column.
        discrete_features : "auto", bool, bool mask, positions or names, default "auto"
            Columns that hold levels already, up to 255 of them.
        max_levels : int or None, default None
            Most distinct values of a column that is taken as levels unasked, in place of the
            limits of ``"auto"``.
        n_jobs : int or None, default None
            Threads.

        Returns
        -------
        DiscreteTable

        Raises
        ------
        ValueError
            If X or y are not fit for use, or a parameter is out of its range.

        Examples
        --------
        >>> DiscreteTable.of([[0.5], [1.0], [9.0]], discretization="equal_width", n_bins=2).codes
        array([[0],
               [0],
               [1]], dtype=uint8)
        """
        options = Options(
            method=check_discretization(discretization),
            n_bins=n_bins,
            cut_cost=cut_cost,
            missing=missing,
            max_levels=max_levels,
            n_threads=effective_n_jobs(n_jobs),
        )
        inputs = inputs_for(X, y, options, discrete_features, sparse=True, wholes=True)
        return cls.of_inputs(inputs, options)

    @classmethod
    def of_inputs(cls, inputs: Inputs, options: Options) -> Self:
        """Turn what :func:`bitsieve.data.inputs.check_input` returned into levels.

        Parameters
        ----------
        inputs : Inputs
            With classes where the method is "mdl".
        options : Options
            In their ranges.

        Returns
        -------
        DiscreteTable

        Raises
        ------
        ValueError
            If columns are no levels where they are promised, or would have too many of them.
        """
        found: Levels | SparseLevels
        found = sparse_levels(inputs, options) if inputs.is_sparse else levels(inputs, options)
        absent = np.full(len(found.n_levels), -1, dtype=np.int32)
        if inputs.has_missing:
            holes = np.isnan(inputs.X).any(axis=0)
            absent[holes] = found.n_levels[holes] - 1
        return cls.of_levels(found, inputs.names, absent, options.n_threads)

    @classmethod
    def of_levels(
        cls,
        found: Levels | SparseLevels,
        names: list[str] | None,
        missing_level: NDArray[np.int32],
        n_threads: int,
    ) -> Self:
        """Return a table of levels that nobody has to check."""
        table = cls.__new__(cls)
        table._set(found, names, missing_level, n_threads)
        return table

    def _set(
        self,
        found: Levels | SparseLevels,
        names: list[str] | None,
        missing_level: NDArray[np.int32],
        n_threads: int,
    ) -> None:
        self._levels = found
        self.n_levels = found.n_levels
        self.names = names
        self.missing_level = missing_level
        self._n_threads = n_threads

    @property
    def is_sparse(self) -> bool:
        """Whether the entries of a sparse matrix alone are kept."""
        return isinstance(self._levels, SparseLevels)

    @property
    def n_samples(self) -> int:
        """Rows."""
        if isinstance(self._levels, SparseLevels):
            return self._levels.n_samples
        return len(self._levels.codes)

    @property
    def n_features(self) -> int:
        """Columns."""
        return len(self.n_levels)

    @property
    def codes(self) -> NDArray[np.uint8]:
        """All levels, C-ordered uint8 of shape (n_samples, n_features); of a sparse table a copy.

        Those of a dense table are read-only.
        """
        if isinstance(self._levels, SparseLevels):
            out = np.empty((self.n_samples, self.n_features), dtype=np.uint8)
            for f in range(self.n_features):
                out[:, f] = self._levels.column(f)
            return out
        view = self._levels.codes.view()
        view.setflags(write=False)
        return view

    @cached_property
    def core(self) -> _core.DiscreteTable:
        """The table as the compiled counters take it, by bit planes; made when first asked for."""
        if isinstance(self._levels, SparseLevels):
            return self._levels.table(self._n_threads)
        return _core.DiscreteTable(self._levels.codes, self.n_levels, self._n_threads)

    def variable(self, features: int | Sequence[int] | NDArray[np.integer[Any]]) -> Variable:
        """Return one feature, or several as one variable.

        Parameters
        ----------
        features : int or sequence of int
            Several become one variable with a level for each combination that occurs: a set to
            condition on.

        Returns
        -------
        Variable

        Raises
        ------
        ValueError
            If a feature is not there.

        Examples
        --------
        >>> table = DiscreteTable([[0, 1], [1, 1], [0, 0]])
        >>> table.variable([0, 1]).codes
        array([1, 2, 0], dtype=int32)
        """
        wanted = self._positions(features)
        found = self._column(int(wanted[0])) if len(wanted) else None
        for feature in wanted[1:].tolist():
            assert found is not None
            found = found.combined(self._column(feature))
        if found is None:  # nothing is given
            return Variable(np.zeros(self.n_samples, dtype=np.int32), 1)
        return found

    def contingency(
        self,
        target: Variable | ArrayLike,
        *,
        features: int | Sequence[int] | NDArray[np.integer[Any]] | None = None,
        given: Variable | ArrayLike | None = None,
    ) -> NDArray[np.int64]:
        """Count the samples of each level of features together with a target.

        Parameters
        ----------
        target : Variable or array-like of int, shape (n_samples,)
            Codes from 0 on: classes, or another feature (``table.variable(f)``).
        features : int or sequence of int, optional
            Which ones; all by default.
        given : Variable or array-like of int, shape (n_samples,), optional
            Count apart for each level of a variable that is known: one feature or several
            (``table.variable([f, g])``).

        Returns
        -------
        ndarray of shape (n_listed, n_levels, n_target) or (n_listed, n_given, n_levels, n_target)
            Int64. ``n_levels`` is that of the feature that has most of those listed; others have
            zeros past their own. The numbers of levels that occur nowhere are kept.

        Raises
        ------
        ValueError
            If a feature is not there, or target and given are not one code a sample.

        Examples
        --------
        >>> table = DiscreteTable([[0, 1], [1, 1], [0, 0], [1, 1]])
        >>> table.contingency([0, 0, 1, 1], features=[0])
        array([[[1, 1],
                [1, 1]]])
        >>> table.contingency([0, 0, 1, 1], features=[0], given=table.variable(1)).shape
        (1, 2, 2, 2)
        """
        y = as_variable(target, self.n_samples, "target")
        wanted = None if features is None else self._positions(features)
        own = self.n_levels if wanted is None else self.n_levels[wanted]
        n_codes = int(own.max(initial=1))
        if given is None:
            counts = self.core.contingency(y.codes, y.n_levels, n_codes, wanted)
            return counts.astype(np.int64)
        z = as_variable(given, self.n_samples, "given")
        n_cells = y.n_levels * z.n_levels
        if n_cells > _MOST_CELLS:
            raise ValueError(
                f"target and given have {y.n_levels} x {z.n_levels} combinations of levels, but "
                f"{_MOST_CELLS} can be counted apart; give fewer variables"
            )
        both = z.codes * np.int32(y.n_levels) + y.codes
        counts = self.core.contingency(both, n_cells, n_codes, wanted)
        apart = counts.reshape(len(own), n_codes, z.n_levels, y.n_levels)
        return np.ascontiguousarray(apart.transpose(0, 2, 1, 3), dtype=np.int64)

    def take(self, samples: ArrayLike) -> DiscreteTable:
        """Return the table of some samples, with the same levels; it is dense.

        Parameters
        ----------
        samples : array-like of int or bool
            Positions or flags.

        Returns
        -------
        DiscreteTable

        Raises
        ------
        ValueError
            If a sample is not there, or none is taken.

        Examples
        --------
        >>> DiscreteTable([[0], [2], [1]]).take([2, 0]).n_levels
        array([3], dtype=int32)
        """
        wanted = np.atleast_1d(np.asarray(samples))
        if wanted.ndim != 1:
            raise ValueError(f"samples must be a list of positions or flags, got {wanted.ndim}D")
        if wanted.size == 0:
            raise ValueError("samples must be positions or flags, one at least, got none")
        try:
            codes = np.ascontiguousarray(self.codes[np.arange(self.n_samples)[wanted]])
        except IndexError as error:
            raise ValueError(
                f"samples must be positions in [0, {self.n_samples}) or flags: {error}"
            ) from None
        if len(codes) == 0:
            raise ValueError("samples must be positions or flags, one at least, got none")
        return self.of_levels(
            Levels(codes, self.n_levels), self.names, self.missing_level, self._n_threads
        )

    def _column(self, feature: int) -> Variable:
        if isinstance(self._levels, SparseLevels):
            codes = self._levels.column(feature)
        else:
            codes = self._levels.codes[:, feature]
        return Variable(codes.astype(np.int32), int(self.n_levels[feature]))

    def _positions(self, features: Any) -> NDArray[np.int64]:
        listed = list(features) if isinstance(features, Iterable) else [features]
        for feature in listed:
            if not is_whole(feature) or not 0 <= feature < self.n_features:
                raise ValueError(
                    f"features must be positions in [0, {self.n_features}), got {feature!r}"
                )
        return np.array(listed, dtype=np.int64)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "core"}

    def __repr__(self) -> str:
        shape = f"{plural(self.n_samples, 'sample')} x {plural(self.n_features, 'feature')}"
        most = plural(int(self.n_levels.max()), "level")
        return f"DiscreteTable({shape}, up to {most}{', sparse' if self.is_sparse else ''})"
