"""A batch of feature subsets, packed 64 features a word.

Neighborhoods stay compact (a base and lists of flips), so that the p one-flip neighbors of a
mask never become p x p bits unless somebody asks for the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve import _core, _flips
from bitsieve._checks import check_int

Words = NDArray[np.uint64]


def _n_words(n_features: int) -> int:
    return (n_features + 63) // 64


def _pack(masks: NDArray[np.bool_]) -> Words:
    return _core.mask_pack(np.ascontiguousarray(masks))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


class Masks:
    """An immutable batch of feature subsets.

    Build one with :meth:`from_bool`, :meth:`from_indices`, :meth:`from_words`,
    :meth:`from_flips`, :meth:`neighbors`, :meth:`swaps`, :meth:`empty` or :meth:`full`.

    Attributes
    ----------
    n_features : int
        Number of features p that a mask has.
    words : ndarray of uint64, shape (n_masks, ceil(p / 64))
        Bit ``f % 64`` of word ``f // 64`` is feature ``f``; bits past p are zero.
    is_compact : bool
        Whether the batch is a base mask and lists of flips. ``words`` then expands it.
    base, indptr, indices : ndarray or None
        The compact form: mask ``i`` is ``base`` with ``indices[indptr[i]:indptr[i + 1]]`` flipped.

    Examples
    --------
    >>> from bitsieve import Masks
    >>> masks = Masks.from_indices([[0, 2], [1]], n_features=3)
    >>> masks.to_bool()
    array([[ True, False,  True],
           [False,  True, False]])
    >>> masks.counts()
    array([2, 1])
    """

    __slots__ = ("_is_single", "_words", "base", "indices", "indptr", "n_features")

    _words: Words | None
    _is_single: bool | None  # whether all lists have one flip; None where nobody looked
    n_features: int
    base: Words | None
    indptr: NDArray[np.int64] | None
    indices: NDArray[np.int64] | None

    def __init__(self) -> None:
        raise TypeError(
            "make masks with Masks.from_bool, from_indices, from_words, from_flips, neighbors, "
            "swaps, empty or full"
        )

    @classmethod
    def _make(
        cls,
        n_features: int,
        words: Words | None,
        base: Words | None = None,
        indptr: NDArray[np.int64] | None = None,
        indices: NDArray[np.int64] | None = None,
        *,
        is_single: bool | None = None,
    ) -> Masks:
        self = object.__new__(cls)
        self.n_features = n_features
        self._words = words
        self._is_single = is_single
        self.base, self.indptr, self.indices = base, indptr, indices
        return self

    @classmethod
    def from_bool(cls, masks: ArrayLike) -> Masks:
        """Pack a boolean array.

        Parameters
        ----------
        masks : array-like of bool, shape (n_masks, n_features) or (n_features,)

        Returns
        -------
        Masks

        Raises
        ------
        ValueError
            If the array is not boolean (0/1 integers and index lists are refused, since they are
            easily taken for one another) or not one- or two-dimensional.
        """
        array = np.asarray(masks)
        if array.dtype != np.bool_:
            raise ValueError(
                f"masks must be a boolean array of shape (n_masks, n_features), got dtype "
                f"{array.dtype}; use Masks.from_indices for lists of feature indices, or "
                f".astype(bool) for an array of zeros and ones"
            )
        if array.ndim == 1:
            array = array[None, :]
        if array.ndim != 2 or array.shape[1] == 0:
            raise ValueError(
                f"masks must have shape (n_masks, n_features) with at least one feature, "
                f"got {np.shape(masks)}"
            )
        return cls._make(array.shape[1], _frozen(_pack(array)))

    @classmethod
    def from_indices(cls, subsets: Iterable[Iterable[int]], n_features: int) -> Masks:
        """Pack lists of feature indices, one list a mask.

        Parameters
        ----------
        subsets : iterable of iterables of int
            Indices in ``[0, n_features)``; their order and repetitions do not matter.
        n_features : int

        Returns
        -------
        Masks

        Raises
        ------
        ValueError
            If an index is out of range or not a whole number.
        """
        _check_n_features(n_features)
        lists = [np.asarray(list(subset)) for subset in subsets]
        array = np.zeros((len(lists), n_features), dtype=bool)
        for i, indices in enumerate(lists):
            if indices.size == 0:
                continue
            if indices.ndim != 1 or indices.dtype.kind not in "iu":
                raise ValueError(f"subset {i} must be a list of whole numbers, got {indices!r}")
            if indices.min() < 0 or indices.max() >= n_features:
                raise ValueError(
                    f"subset {i} has indices from {indices.min()} to {indices.max()}; with "
                    f"n_features={n_features} they must lie in [0, {n_features - 1}]"
                )
            array[i, indices] = True
        return cls._make(n_features, _frozen(_pack(array)))

    @classmethod
    def from_words(cls, words: Words, n_features: int, *, copy: bool = True) -> Masks:
        """Take packed words as they are.

        Parameters
        ----------
        words : ndarray of uint64, shape (n_masks, ceil(n_features / 64))
        n_features : int
        copy : bool, default True
            False promises that nobody changes the array from now on, and holds a read-only view
            of it where it is in C order.

        Returns
        -------
        Masks

        Raises
        ------
        ValueError
            If shape or dtype are wrong or a bit past ``n_features`` is set.

        Examples
        --------
        >>> import numpy as np
        >>> words = np.array([[5], [2]], dtype=np.uint64)
        >>> masks = Masks.from_words(words, n_features=3, copy=False)
        >>> masks.indices_of(0), np.shares_memory(masks.words, words)
        (array([0, 2]), True)
        """
        _check_n_features(n_features)
        if copy:
            array = np.array(words, order="C", copy=True)
        else:
            array = np.asarray(words, order="C").view()
        if array.dtype != np.uint64 or array.ndim != 2 or array.shape[1] != _n_words(n_features):
            raise ValueError(
                f"words must be uint64 of shape (n_masks, {_n_words(n_features)}) for "
                f"{n_features} features, got {array.dtype} of shape {array.shape}"
            )
        used = n_features % 64
        last = array[0, -1] if len(array) == 1 else array[:, -1].max(initial=0)
        if used and int(last) >> used:
            raise ValueError(f"words have bits set past feature {n_features - 1}")
        return cls._make(n_features, _frozen(array))

    @classmethod
    def from_flips(cls, base: Masks | ArrayLike, indptr: ArrayLike, indices: ArrayLike) -> Masks:
        """Make masks that differ from one base by lists of flips, in compact form.

        Lists of two that share a flip, as swaps do, cost a compiled fitness little more than
        one-flip neighbors: they are the neighbors of the base with that flipped.

        Parameters
        ----------
        base : Masks of one, or array of bool, shape (n_features,)
        indptr : array of int, shape (n_masks + 1,)
            Ascends from 0 to the number of indices.
        indices : array of int
            Mask ``i`` is the base with the features ``indices[indptr[i]:indptr[i + 1]]`` flipped.
            One that stands twice in a list is flipped twice, which changes nothing.

        Returns
        -------
        Masks

        Raises
        ------
        ValueError
            If the base is not one mask, an index is out of range, or the lists do not ascend from
            0 to the end of the indices.

        Examples
        --------
        >>> base = [True, True, False, False]
        >>> masks = Masks.from_flips(base, indptr=[0, 0, 1, 4], indices=[2, 0, 1, 3])
        >>> [masks.indices_of(i).tolist() for i in range(3)]
        [[0, 1], [0, 1, 2], [3]]
        """
        n_features, words = _one_mask("base", base)
        starts, flips = _flips.checked_lists(n_features, indptr, indices)
        return cls._make(n_features, None, _frozen(words.copy()), _frozen(starts), _frozen(flips))

    @classmethod
    def swaps(
        cls,
        mask: Masks | ArrayLike,
        *,
        out: ArrayLike | None = None,
        in_: ArrayLike | None = None,
    ) -> Masks:
        """Make the masks that exchange one feature of a mask for another, in compact form.

        Parameters
        ----------
        mask : Masks of one, or array of bool, shape (n_features,)
        out : array of int, optional
            Features that may leave; by default all of the mask, ascending.
        in_ : array of int, optional
            Features that may come; by default all others, ascending.

        Returns
        -------
        Masks
            ``len(out) * len(in_)`` of them: mask ``a * len(in_) + b`` is without ``out[a]`` and
            with ``in_[b]``.

        Raises
        ------
        ValueError
            If the mask is not one mask, or lacks a feature that is to leave or has one that is to
            come.

        Notes
        -----
        Memory is that of two flips a mask: all 445,260 swaps of 20 of 22,283 features take 11 MB.
        A compiled fitness whose kernel has a pass for one-flip neighbors answers them in
        ``min(len(out), len(in_))`` passes.

        Examples
        --------
        >>> swaps = Masks.swaps([True, True, False, False])
        >>> [swaps.indices_of(i).tolist() for i in range(4)]
        [[1, 2], [1, 3], [0, 2], [0, 3]]
        >>> Masks.swaps([True, True, False, False], out=[0], in_=[3]).to_bool()
        array([[False,  True, False,  True]])
        """
        n_features, words = _one_mask("mask", mask)
        has = _core.mask_unpack(words[None], n_features)[0]
        leave = _members("out", out, has)
        come = _members("in_", in_, ~has)
        pairs = np.empty((len(leave), len(come), 2), dtype=np.int64)
        pairs[:, :, 0] = leave[:, None]
        pairs[:, :, 1] = come
        indptr = np.arange(0, pairs.size + 1, 2, dtype=np.int64)
        return cls._make(
            n_features, None, _frozen(words.copy()), _frozen(indptr), _frozen(pairs.reshape(-1))
        )

    @classmethod
    def neighbors(
        cls, base: ArrayLike | Words, n_features: int, flips: ArrayLike | None = None
    ) -> Masks:
        """Make the one-flip neighbors of a mask, in compact form.

        Parameters
        ----------
        base : array of bool, shape (n_features,), or of uint64 words
        n_features : int
        flips : array of int, optional
            The features to flip, one a neighbor; by default each feature in turn.

        Returns
        -------
        Masks

        Raises
        ------
        ValueError
            If a flip is out of range or the base has another number of features.

        Notes
        -----
        With up to five nearest neighbors all n_flips of them cost a compiled fitness one matrix of
        the base and then ``n_samples**2`` steps a flip, whatever the size of the base: 2,000 flips
        of 3,000 samples take some seconds on one core. With more neighbors each is evaluated by
        itself, which costs ``n_samples**2`` steps a feature of its mask. Ctrl-C stops either.
        """
        _check_n_features(n_features)
        array = np.asarray(base)
        if array.dtype == np.uint64:
            words = cls.from_words(np.atleast_2d(array), n_features, copy=False).words[0]
        else:
            words = _base_of(array, n_features)
        if flips is None:
            indices = np.arange(n_features, dtype=np.int64)
        else:
            given = np.asarray(flips)
            if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
                raise ValueError("flips must be a list of feature indices")
            indices = given.astype(np.int64)
            # A negative one is above all others as an unsigned number.
            if indices.size and indices.view(np.uint64).max() >= n_features:
                raise ValueError(f"flips must lie in [0, {n_features - 1}]")
        indptr = np.arange(indices.size + 1, dtype=np.int64)
        arrays = (_frozen(words.copy()), _frozen(indptr), _frozen(indices))
        return cls._make(n_features, None, *arrays, is_single=True)

    @classmethod
    def empty(cls, n_features: int) -> Masks:
        """Return the one mask without features."""
        _check_n_features(n_features)
        return cls._make(n_features, _frozen(np.zeros((1, _n_words(n_features)), np.uint64)))

    @classmethod
    def full(cls, n_features: int) -> Masks:
        """Return the one mask with all features."""
        _check_n_features(n_features)
        return cls.from_bool(np.ones((1, n_features), dtype=bool))

    @classmethod
    def concatenate(cls, batches: Sequence[Masks]) -> Masks:
        """Join batches over the same features, in order."""
        if not batches:
            raise ValueError("need at least one batch to concatenate")
        sizes = {batch.n_features for batch in batches}
        if len(sizes) != 1:
            raise ValueError(f"batches have different numbers of features: {sorted(sizes)}")
        words = np.concatenate([batch.words for batch in batches])
        return cls._make(sizes.pop(), _frozen(words))

    @property
    def is_compact(self) -> bool:
        return self.base is not None

    @property
    def words(self) -> Words:
        if self._words is None:
            assert self.base is not None and self.indptr is not None and self.indices is not None
            words = _flips.expand(self.base, self.indptr, self.indices)
            self._words = _frozen(words)
        return self._words

    def to_bool(self) -> NDArray[np.bool_]:
        """Return the masks as a boolean array of shape (n_masks, n_features)."""
        return _core.mask_unpack(np.ascontiguousarray(self.words), self.n_features)

    def counts(self) -> NDArray[np.int64]:
        """Return the number of features in each mask, shape (n_masks,)."""
        if self._words is None and self.base is not None:
            assert self.indptr is not None and self.indices is not None
            base = _core.mask_unpack(self.base[None], self.n_features)[0]
            return _flips.counts_of(base, self.indptr, self.indices)  # not written down
        return _core.mask_counts(np.ascontiguousarray(self.words))

    def indices_of(self, i: int) -> NDArray[np.int64]:
        """Return the features of mask ``i``, ascending."""
        return np.flatnonzero(self[i].to_bool()[0]).astype(np.int64)

    def key(self, i: int) -> bytes:
        """Return mask ``i`` as bytes: equal masks, equal keys."""
        return bytes((self.words if len(self) == 1 and i == 0 else self.words[i]).tobytes())

    def find(self, mask: Masks) -> int:
        """Return the place of the first mask that equals another.

        Parameters
        ----------
        mask : Masks
            A batch of one, of as many features.

        Returns
        -------
        int
            -1 where none is equal.

        Raises
        ------
        ValueError
            If it is no batch of one, or has another number of features.

        Examples
        --------
        >>> near = Masks.neighbors([True, False, False], 3)
        >>> near.find(Masks.from_indices([[0, 2]], 3)), near.find(Masks.full(3))
        (2, -1)
        """
        if len(mask) != 1 or mask.n_features != self.n_features:
            raise ValueError(f"mask must be one of {self.n_features} features, got {mask!r}")
        if self._words is not None and len(self._words) == 1:
            return 0 if self is mask or self._words.tobytes() == mask.words.tobytes() else -1
        wanted = mask.words[0]
        if self._words is None:
            assert self.base is not None and self.indptr is not None and self.indices is not None
            if self._is_single is None:
                self._is_single = _flips.are_single(self.indptr)
            if self._is_single:
                return _core.mask_find_flip(self.base, wanted, self.indices)
            differs = _core.mask_unpack((self.base ^ wanted)[None], self.n_features)[0]
            flips = np.flatnonzero(differs).astype(np.int64)
            rows = _flips.rows_with(flips, self.indptr, self.indices)
            return next((int(row) for row in rows if self[row] == mask), -1)
        rows = np.flatnonzero((self._words == wanted).all(axis=1))
        return int(rows[0]) if len(rows) else -1

    def __len__(self) -> int:
        if self.indptr is not None:
            return len(self.indptr) - 1
        assert self._words is not None
        return len(self._words)

    def __getitem__(self, which: int | slice | NDArray[Any] | Sequence[int]) -> Masks:
        if isinstance(which, (int, np.integer)):
            i = int(which)
            if not -len(self) <= i < len(self):
                raise IndexError(f"mask {i} of {len(self)}")
            rows: Any = [i % len(self)]
        elif self._words is None:
            rows = np.arange(len(self))[which]
        else:
            rows = which
        if self._words is None:
            assert self.base is not None and self.indptr is not None and self.indices is not None
            indptr, indices = _flips.rows_of(np.asarray(rows, np.int64), self.indptr, self.indices)
            return Masks._make(self.n_features, None, self.base, _frozen(indptr), _frozen(indices))
        return Masks._make(self.n_features, _frozen(self._words[rows].copy()))

    def __iter__(self) -> Iterator[Masks]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Masks):
            return NotImplemented
        if self is other:
            return True
        return self.n_features == other.n_features and np.array_equal(self.words, other.words)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        if self.is_compact:
            return _rebuild, (self.n_features, None, self.base, self.indptr, self.indices)
        return _rebuild, (self.n_features, self._words)

    def __repr__(self) -> str:
        form = "compact, " if self.is_compact else ""
        return f"<Masks: {form}{len(self)} of {self.n_features} features>"


def _one_mask(name: str, given: Masks | ArrayLike) -> tuple[int, Words]:
    """Return the number of features and the words of one mask, or say what came instead."""
    if isinstance(given, Masks):
        if len(given) != 1:
            raise ValueError(f"{name} must be one mask, got {len(given)}")
        return given.n_features, given.words[0]
    array = np.asarray(given)
    n_features = array.shape[-1] if array.ndim else 0
    return n_features, _base_of(array, n_features, name)


def _members(name: str, given: ArrayLike | None, of: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the features to swap, all there may be by default."""
    if given is None:
        return np.flatnonzero(of).astype(np.int64)
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            f"{name} must be a list of feature indices, got {array.dtype} of shape {array.shape}"
        )
    if array.size and (array.min() < 0 or array.max() >= len(of)):
        raise ValueError(f"{name} must lie in [0, {len(of) - 1}]")
    features = array.astype(np.int64)
    wrong = features[~of[features]]
    if wrong.size:
        where = "not in the mask" if name == "out" else "in the mask already"
        raise ValueError(f"{name} has feature {wrong[0]}, which is {where}")
    return features


def _base_of(array: NDArray[Any], n_features: int, name: str = "base") -> Words:
    packed = Masks.from_bool(array)
    if len(packed) != 1 or packed.n_features != n_features:
        raise ValueError(
            f"{name} must be one mask of {n_features} features, got shape {array.shape}"
        )
    words: Words = packed.words[0]
    return words


def _rebuild(n_features: int, *arrays: Any) -> Masks:
    return Masks._make(n_features, *(None if a is None else _frozen(a) for a in arrays))


def _check_n_features(n_features: int) -> None:
    check_int("n_features", n_features, 1)
