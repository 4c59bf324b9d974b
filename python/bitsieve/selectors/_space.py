"""What a search moves: free features and groups of them; the others are always in or never."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int, is_whole
from bitsieve._errors import plural
from bitsieve.data import Table
from bitsieve.search import Search, UnitSearch
from bitsieve.selectors._features import feature_positions, group_positions, told
from bitsieve.selectors._starts import filter_scores

__all__ = ["Space"]


class Space:
    """The units of a search over the features of a table.

    A unit is a free feature or a group of them, which move together; units are numbered by their
    lowest features, so that ties to the lowest unit are ties to the lowest feature. A forced
    feature is in every mask and a forbidden one in none: a search sees neither.

    Parameters
    ----------
    table : Table
    forced, forbidden : as :func:`feature_positions` takes them, default None
    groups : as :func:`group_positions` takes them, default None
        A feature that is in none is a unit of its own.

    Attributes
    ----------
    table : Table
    n_features : int
    n_units : int
        Those that are free.
    n_forced : int
        Units that are always in: forced features, those of one group counted as one.
    is_plain : bool
        Whether every feature is a unit of its own, so that masks of units are those of features.
    unit_of : int array of shape (n_features,)
        -1 for features that are forced or forbidden.
    forced : bool array of shape (n_features,)

    Raises
    ------
    ValueError
        Where a feature is both forced and forbidden or a group only partly either of them, where
        nothing is left to search, and for what names no feature.

    Examples
    --------
    >>> table = Table([[1.0, 2.0, 3.0, 0.0], [2.0, 1.0, 4.0, 1.0]], [0, 1], names=list("abcd"))
    >>> space = Space(table, forced=["b"], groups=[["a", "d"]])
    >>> space.n_units, space.n_forced, space.unit_of
    (2, 1, array([ 0, -1,  1,  0]))
    >>> space.unit_scores([1.0, 9.0, 3.0, 2.0])
    array([1.5, 3. ])
    """

    def __init__(
        self, table: Table, *, forced: Any = None, forbidden: Any = None, groups: Any = None
    ) -> None:
        p = table.n_features
        self.table, self.n_features = table, p
        always = feature_positions("forced_features", forced, table)
        never = feature_positions("forbidden_features", forbidden, table)
        both = np.intersect1d(always, never)
        if len(both):
            raise ValueError(
                f"{told(both, table.names)} cannot be both in forced_features and in "
                "forbidden_features"
            )
        lowest = np.arange(p)  # of the features that move with each
        for number, members in enumerate(group_positions("feature_groups", groups, table)):
            for name, some in (("forced_features", always), ("forbidden_features", never)):
                inside = np.isin(members, some)
                if inside.any() and not inside.all():
                    raise ValueError(
                        f"feature_groups[{number}] moves as one, but of it {name} has "
                        f"{told(members[inside], table.names)} and not "
                        f"{told(members[~inside], table.names)}"
                    )
            lowest[members] = members[0]
        self.n_forced = len(np.unique(lowest[always]))
        self.forced = np.zeros(p, dtype=bool)
        self.forced[always] = True
        free = np.ones(p, dtype=bool)
        free[always] = free[never] = False
        if not free.any():
            raise ValueError(
                f"nothing is left to search: of {plural(p, 'feature')} {len(always)} are in "
                f"forced_features and {len(never)} in forbidden_features"
            )
        units, unit_of = np.unique(lowest[free], return_inverse=True)
        self.n_units = len(units)
        self.unit_of = np.full(p, -1)
        self.unit_of[free] = unit_of
        self.is_plain = self.n_units == p
        self._sizes = np.bincount(unit_of)
        self._scored: list[tuple[Any, NDArray[np.float64]]] = []
        for array in (self.unit_of, self.forced):
            array.setflags(write=False)

    def features(self, name: str, given: Any) -> NDArray[np.bool_]:
        """Return the features that a parameter names as a mask, bool of shape (n_features,).

        Parameters
        ----------
        name : str
            Of the parameter, for messages.
        given : as :func:`feature_positions` takes it

        Raises
        ------
        ValueError
            For what names no feature.
        """
        mask = np.zeros(self.n_features, dtype=bool)
        mask[feature_positions(name, given, self.table)] = True
        return mask

    def units_of(self, mask: ArrayLike) -> NDArray[np.bool_]:
        """Return a mask of features as one of units: a unit is in where all of its features are.

        Parameters
        ----------
        mask : bool array of shape (n_features,)

        Returns
        -------
        bool array of shape (n_units,)

        Raises
        ------
        ValueError
            If it has another shape or type.
        """
        array = np.asarray(mask)
        if array.dtype != np.bool_ or array.shape != (self.n_features,):
            raise ValueError(
                f"a mask must be boolean of shape ({self.n_features},), got {array.dtype} of shape "
                f"{array.shape}"
            )
        inside = self.unit_of[array & (self.unit_of >= 0)]
        found: NDArray[np.bool_] = np.bincount(inside, minlength=self.n_units) == self._sizes
        return found

    def unit_scores(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return scores of features as scores of units, each the mean over its features.

        Parameters
        ----------
        scores : array-like of float, shape (n_features,)

        Returns
        -------
        float64 array of shape (n_units,)

        Raises
        ------
        ValueError
            If it has another shape.
        """
        array = np.asarray(scores, dtype=np.float64)
        if array.shape != (self.n_features,):
            raise ValueError(
                f"scores must be one a feature, {self.n_features}, got shape {array.shape}"
            )
        if self.is_plain:
            return array.copy()
        free = self.unit_of >= 0
        totals = np.bincount(self.unit_of[free], weights=array[free], minlength=self.n_units)
        means: NDArray[np.float64] = totals / self._sizes
        return means

    def filter_scores(
        self, name: str, given: Any, *, n_features: int | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return scores of units by a filter, computed once for all restarts of a fit.

        Parameters
        ----------
        name : str
            Of the parameter, for messages.
        given : str, callable or array-like of shape (n_features,)
            The name of a filter, a function of (X, y), or one score a feature.
        n_features : int or None, default None
            How many features a greedy filter is to order at least.
        n_jobs : int or None, default None
            Threads of a filter.

        Returns
        -------
        float64 array of shape (n_units,)
            Finite, greater is better, the mean over the unit's features.

        Raises
        ------
        ValueError
            For a name that no filter has, and for anything but one finite number a feature.
        """
        for known, scores in self._scored:
            if known is given:
                return scores.copy()
        found = filter_scores(name, given, self.table, n_features=n_features, n_jobs=n_jobs)
        scores = self.unit_scores(found)
        self._scored.append((given, scores))
        return scores.copy()

    def size(self, n_features_to_select: int, *, least: int = 1) -> int:
        """Return how many of the units a search is to select, for what the user asked for.

        Parameters
        ----------
        n_features_to_select : int
            Units that are to be in, the forced ones among them.
        least : int, default 1
            How few of the free units the search can select.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If there are not so many units, or the forced ones leave no room.
        """
        n = check_int("n_features_to_select", n_features_to_select, 1)
        most = self.n_forced + self.n_units
        if n > most:
            what = f"{most} features"
            if not self.is_plain:
                what = f"{most} that there are, groups counted as one and forbidden ones not at all"
            raise ValueError(f"n_features_to_select={n} is more than the {what}")
        if n < self.n_forced + least:
            raise ValueError(
                f"n_features_to_select={n} leaves nothing to search: {self.n_forced} are forced, "
                f"so it must be at least {self.n_forced + least}"
            )
        return n - self.n_forced

    def sizes(self, n_features_to_select: Any) -> tuple[int, int]:
        """Return how many of the units a search is to select at least and at most.

        Parameters
        ----------
        n_features_to_select : int, (int, int) or None
            A size, or the ends of a range, as :meth:`size` takes them; None means all sizes.

        Returns
        -------
        (int, int)

        Raises
        ------
        ValueError
            For a range that is none, and sizes that cannot be.

        Examples
        --------
        >>> table = Table([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0]], [0, 1])
        >>> space = Space(table, forced=[1])
        >>> space.sizes(None), space.sizes((2, 3)), space.sizes(3)
        ((1, 2), (1, 2), (2, 2))
        """
        given = n_features_to_select
        if given is None:
            return 1, self.n_units
        if not isinstance(given, (tuple, list, np.ndarray)) or np.ndim(given) == 0:
            size = self.size(given)
            return size, size
        if len(given) != 2 or not all(is_whole(end) for end in given) or given[0] > given[1]:
            raise ValueError(
                "n_features_to_select must be a size, (least, greatest) or None, got "
                f"{tuple(given)!r}"
            )
        return self.size(given[0]), self.size(given[1])

    def widened(self, search: Search) -> Search:
        """Return a search over the units as one over the features: itself, where they are one.

        Parameters
        ----------
        search : Search
            Over ``n_units``.

        Returns
        -------
        Search
        """
        return search if self.is_plain else UnitSearch(search, self.unit_of, self.forced)
