"""Any search, over units: features that move together, and some that do not move at all.

::

    inner search --masks of units--> UnitSearch --masks of features--> the loop
                <---- the same ----             <------ scores -------

A unit is a feature of its own or a group of them. Features of no unit are fixed: always in a mask
(forced) or never. The inner search knows of none of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.masks import Masks
from bitsieve.search.checks import check_asked
from bitsieve.search.protocol import Scores, Search, State

__all__ = ["UnitSearch", "name_of"]

_CELLS = 1 << 24  # masks x features that are written out at once, a byte each
_ROOM = "units/"  # what the adapter adds to a state


class UnitSearch:
    """A search over units, as one over features.

    Parameters
    ----------
    inner : Search
        A search over the units: its ``n_features`` is their number.
    unit_of : array-like of int, shape (n_features,)
        The unit of each feature, from 0 on; -1 for features that are fixed.
    forced : array-like of bool, shape (n_features,), optional
        Which of the fixed features every mask has; none by default.

    Attributes
    ----------
    inner : Search
    n_features : int
        Of the masks that it asks for.
    n_units : int

    Raises
    ------
    ValueError
        If a unit has no feature, a forced feature is in one, or the inner search is over another
        number of them.

    Notes
    -----
    ``recommend``, ``feature_scores`` and ``set_seed`` are there where the inner search has them.
    By ``feature_scores`` the features of a unit have its score, forced ones more than any, and
    those that are never in less than any. ``state()`` is that of the inner search, with the units
    in three entries more.

    A compact batch stays compact, so that the neighbors of one mask take memory that grows with
    the number of features that they flip.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve import Masks
    >>> class Flips:
    ...     n_features = 2
    ...     def ask(self):
    ...         return Masks.neighbors([True, False], 2)
    >>> search = UnitSearch(Flips(), [0, -1, 1, 0, -1], forced=[False, True, False, False, False])
    >>> search.ask().to_bool().astype(int)
    array([[0, 1, 0, 0, 0],
           [1, 1, 1, 1, 0]])
    """

    def __init__(self, inner: Search, unit_of: ArrayLike, forced: ArrayLike | None = None) -> None:
        units = np.array(unit_of)
        if units.ndim != 1 or not units.size or units.dtype.kind not in "iu":
            raise ValueError(
                "unit_of must be whole numbers of shape (n_features,), got "
                f"{units.dtype} of shape {units.shape}"
            )
        self._unit_of = units.astype(np.intp)
        p, m = len(units), int(inner.n_features)
        self._forced = np.zeros(p, dtype=bool) if forced is None else np.array(forced)
        if self._forced.dtype != np.bool_ or self._forced.shape != (p,):
            raise ValueError(
                f"forced must be boolean of shape ({p},), got {self._forced.dtype} of shape "
                f"{self._forced.shape}"
            )
        free = np.flatnonzero(self._unit_of >= 0)
        self._sizes = np.bincount(self._unit_of[free], minlength=m)
        if self._unit_of.min() < -1 or len(self._sizes) != m or not self._sizes.all():
            raise ValueError(
                f"unit_of must have each unit from 0 to {m - 1} of the inner search, and -1 for "
                f"fixed features, got numbers from {units.min()} to {units.max()}"
            )
        if np.any(self._forced & (self._unit_of >= 0)):
            feature = int(np.flatnonzero(self._forced & (self._unit_of >= 0))[0])
            raise ValueError(f"feature {feature} is forced, so it can be in no unit")
        self.inner = inner
        self.n_features, self.n_units = p, m
        # Features by unit: those of unit u are _members[_starts[u] : _starts[u + 1]].
        self._members = free[np.argsort(self._unit_of[free], kind="stable")].astype(np.int64)
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)])
        self._are_single = len(free) == m
        # Where a feature finds its bit beside those of the units: a zero and a one come after them.
        self._place = np.where(self._unit_of >= 0, self._unit_of, m + self._forced)
        kind = type(inner)
        self._own: State = {
            f"{_ROOM}search": f"{kind.__module__}.{kind.__qualname__}",
            f"{_ROOM}unit_of": self._unit_of.astype(np.int32 if m < 2**31 else np.int64),
            f"{_ROOM}forced": self._forced,
        }
        for value in (self._forced, self._own[f"{_ROOM}unit_of"]):
            cast("NDArray[Any]", value).setflags(write=False)
        self._asked: tuple[Masks, Masks] | None = None  # by the inner search, and by this one
        self._answer: tuple[Masks, Masks] | None = None  # the same of the last recommendation
        for name, method in (
            ("evaluations_left", getattr(inner, "evaluations_left", None)),
            ("recommend", self._recommend),
            ("feature_scores", self._feature_scores),
            ("set_seed", self._set_seed),
        ):
            if callable(getattr(inner, name, None)):
                setattr(self, name, method)

    # -- masks ---------------------------------------------------------------------------------

    def widen(self, masks: Masks) -> Masks:
        """Return masks of units as masks of features; a compact batch stays compact.

        Parameters
        ----------
        masks : Masks
            Over the units.

        Returns
        -------
        Masks

        Raises
        ------
        ValueError
            If they are over another number of units.
        """
        if masks.n_features != self.n_units:
            raise ValueError(
                f"{type(self.inner).__name__} is over {self.n_units} units, but its masks have "
                f"{masks.n_features}"
            )
        if not masks.is_compact:
            return self._dense(masks.words)
        assert masks.base is not None and masks.indptr is not None and masks.indices is not None
        base = self._dense(masks.base[None])
        if self._are_single:
            return Masks.from_flips(base, masks.indptr, self._members[masks.indices])
        sizes = self._sizes[masks.indices]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        # Member number j of the flip that begins at ends[k] stands j after its unit's first.
        offsets = np.repeat(self._starts[masks.indices] - ends[:-1], sizes)
        flips = self._members[offsets + np.arange(ends[-1])]
        return Masks.from_flips(base, ends[masks.indptr], flips)

    def _dense(self, words: NDArray[np.uint64]) -> Masks:
        n, p, m = len(words), self.n_features, self.n_units
        wide = np.zeros((n, -(-p // 64) * 8), dtype=np.uint8)
        step = max(1, _CELLS // max(p, m))
        for first in range(0, n, step):
            part = np.ascontiguousarray(words[first : first + step], dtype="<u8").view(np.uint8)
            bits = np.empty((len(part), m + 2), dtype=np.uint8)
            bits[:, :m] = np.unpackbits(part, axis=1, count=m, bitorder="little")
            bits[:, m:] = 0, 1
            moved = np.take(bits, self._place, axis=1, mode="clip")
            packed = np.packbits(moved, axis=1, bitorder="little")
            wide[first : first + step, : packed.shape[1]] = packed
        found = wide.view("<u8").astype(np.uint64, copy=False)
        return Masks.from_words(found, p, copy=False)

    # -- the search ----------------------------------------------------------------------------

    def ask(self) -> Masks:
        """Return what the inner search asks for, as masks of features."""
        masks = self.inner.ask()
        if self._asked is None or self._asked[0] is not masks:
            self._asked = (masks, self.widen(masks))
        return self._asked[1]

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Hand the scores of the last ask to the inner search, with its own masks.

        Raises
        ------
        ValueError
            If the masks are not those of the last ask, or the inner search refuses the scores.
        """
        narrow, wide = self._asked or (None, None)
        check_asked(wide, masks)
        assert narrow is not None
        self.inner.tell(narrow, scores)
        self._asked = None

    def stop(self) -> Mapping[str, object]:
        """Return the inner search's reasons to stop."""
        return self.inner.stop()

    @property
    def stops_itself(self) -> bool:
        """Whether :meth:`stop` may ever answer."""
        return bool(getattr(self.inner, "stops_itself", True))

    def eligible(self) -> NDArray[np.bool_]:
        """Return which masks of the last ask may become the best."""
        return self.inner.eligible()

    def state(self) -> State:
        """Return the state of the inner search, and the units."""
        return {**self.inner.state(), **self._own}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of such a search over the same units.

        Raises
        ------
        ValueError
            If it is of other units or of another search, or the inner search refuses it.
        """
        for name, own in self._own.items():
            if name not in state:
                raise ValueError(f"the state lacks {name}")
            if not np.array_equal(state[name], own):
                what = name.removeprefix(_ROOM)
                raise ValueError(f"the state is of a search over units with another {what}")
        self.inner.set_state({k: v for k, v in state.items() if k not in self._own})
        self._asked = self._answer = None

    #: There where the inner search has them.
    evaluations_left: Callable[[], tuple[int, str]]
    recommend: Callable[[], Masks]
    feature_scores: Callable[[], NDArray[np.float64]]
    set_seed: Callable[[int], None]

    def _set_seed(self, seed: int) -> None:
        """Take a seed for the inner search."""
        cast("Any", self.inner).set_seed(seed)
        self._asked = self._answer = None

    def _recommend(self) -> Masks:
        """Return the inner search's answer, as a mask of features."""
        found = cast("Any", self.inner).recommend()
        if not isinstance(found, Masks):
            return cast("Masks", found)  # whoever asked says what is wrong with it
        known = self._answer
        # Mostly the same as before, and a mask of units is sooner compared than widened.
        if known is None or not (known[0] is found or known[0] == found):
            known = self._answer = (found, self.widen(found))
        return known[1]

    def _feature_scores(self) -> NDArray[np.float64]:
        """Return the inner search's weights: those of a unit for all of its features."""
        units = np.asarray(cast("Any", self.inner).feature_scores(), dtype=np.float64)
        ends = [np.nextafter(units.min(), -np.inf), np.nextafter(units.max(), np.inf)]
        scores: NDArray[np.float64] = np.concatenate([units, ends])[self._place]
        return scores

    def __repr__(self) -> str:
        fixed = self.n_features - len(self._members)
        return (
            f"<UnitSearch: {self.n_units} units of {self.n_features} features, {fixed} fixed, "
            f"{self.inner!r}>"
        )


def name_of(search: object) -> str:
    """Return the name of a search's class, within units that of the search within.

    Examples
    --------
    >>> class Flips:
    ...     n_features = 2
    >>> name_of(UnitSearch(Flips(), [0, 1, 1]))
    'Flips'
    """
    return type(search.inner if isinstance(search, UnitSearch) else search).__name__
