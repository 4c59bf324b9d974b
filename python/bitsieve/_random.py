"""Every random number of the package, from the words of Philox4x64-10 under (key, stream, lane).

A key is a user's seed. A stream says what is drawn (:class:`Stream`, an enum of the compiled core),
so that no two things are drawn from the same words; a lane is a stream of its own below it, one for
each repeat, sample or iteration. A word is a function of key, stream, lane and its number: whoever
draws it, in whatever order and on however many threads, gets the same.

:class:`Random` draws numbers in order, :class:`SeedWords` gives words by their number, and
:func:`seeded` fills the ``random_state`` of estimators. :func:`outer_seeds` and
:func:`resampling_integers` are numpy's own words, kept for the sake of numbers that are known:
the only ones in the package.

References
----------
Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import key_of
from bitsieve._core import Stream

__all__ = [
    "Random",
    "SeedWords",
    "Size",
    "Stream",
    "outer_seeds",
    "resampling_integers",
    "seed_of_32_bits",
    "seeded",
    "with_seed",
]

Size: TypeAlias = int | tuple[int, ...]

_BLOCK = 1024  # words drawn at a time, a multiple of Philox's four


class Random:
    """Numbers of one stream, drawn in order; the same as those of ``PhiloxStream`` in C++.

    Parameters
    ----------
    key : int
        In [0, 2**64): see :func:`bitsieve._checks.key_of`.
    stream : Stream
        What is drawn.
    lane : int, default 0
        In [0, 2**64).
    position : int, default 0
        Number of the first word, in [0, 2**64).

    Attributes
    ----------
    position : int
        Number of the next word. It may be set, to skip words or to go on where another stopped.

    Examples
    --------
    >>> random = Random(7, Stream.tests)
    >>> random.uniform(3).round(3), random.position
    (array([0.514, 0.173, 0.436]), 3)
    >>> random.integers(10, (2, 3)).tolist()
    [[9, 3, 0], [9, 9, 9]]
    >>> random.permutation(5).tolist(), random.choice(1_000_000, 2).tolist()
    ([2, 1, 3, 4, 0], [839146, 658922])
    >>> again = Random(7, Stream.tests, position=3)
    >>> again.integers(10, 6).tolist()
    [9, 3, 0, 9, 9, 9]
    """

    __slots__ = ("_key", "_lane", "_stream", "position")

    def __init__(self, key: int, stream: Stream, *, lane: int = 0, position: int = 0) -> None:
        self._key = key
        self._stream = stream
        self._lane = lane
        self.position = position

    def words(self, size: Size) -> NDArray[np.uint64]:
        """Words as they are: uint64 of the shape ``size``."""
        n = _count(size)
        before = self.position % 4
        drawn = _core.philox(
            self._key, self._stream, self.position // 4, before + n, lane=self._lane
        )
        self.position += n
        return drawn[before:].reshape(size)

    def uniform(self, size: Size) -> NDArray[np.float64]:
        """Float64 in [0, 1) of the shape ``size``, multiples of 2**-53. A word each."""
        return self._real(_core.random_uniform, size)

    def normal(self, size: Size) -> NDArray[np.float64]:
        """Standard normal float64 of the shape ``size``. A word each, the same on every platform.

        The inverse of the distribution function, by algorithm AS 241 (Wichura, "The percentage
        points of the normal distribution", Applied Statistics 37, 1988).
        """
        return self._real(_core.random_normal, size)

    def integers(self, bound: int, size: Size) -> NDArray[np.int64]:
        """Int64 in [0, bound) of the shape ``size``, all equally likely; bound up to 2**63.

        Lemire, "Fast random integer generation in an interval", ACM Transactions on Modeling and
        Computer Simulation 29, 2019. A word each, and another in less than bound of 2**64 cases.
        """
        drawn, self.position = _core.random_below(
            self._key, self._stream, self._lane, self.position, bound, _count(size)
        )
        return drawn.reshape(size)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """0, ..., n - 1 in random order, int64 of shape (n,): Fisher and Yates from the end."""
        drawn, self.position = _core.random_permutation(
            self._key, self._stream, self._lane, self.position, n
        )
        return drawn

    def choice(self, n: int, k: int) -> NDArray[np.int64]:
        """k of 0, ..., n - 1 without replacement, in the order drawn: int64 of shape (k,).

        Those that :meth:`permutation` would put last, last but one and so on, so that fewer are
        the beginning of more. O(k) words and memory, however large n is.
        """
        drawn, self.position = _core.random_choice(
            self._key, self._stream, self._lane, self.position, n, k
        )
        return drawn

    def _real(self, draw: Any, size: Size) -> NDArray[np.float64]:
        n = _count(size)
        drawn: NDArray[np.float64] = draw(self._key, self._stream, self._lane, self.position, n)
        self.position += n
        return drawn.reshape(size)


def _count(size: Size) -> int:
    return math.prod(size) if isinstance(size, tuple) else size


class SeedWords:
    """The words of one stream by their number, drawn in blocks and kept for the next call.

    Parameters
    ----------
    key : int
        In [0, 2**64).
    stream : Stream

    Examples
    --------
    >>> words = SeedWords(7, Stream.folds)
    >>> int(words.take(1000, 2)[1]) == words.one(1001)
    True
    """

    __slots__ = ("_first", "_key", "_stream", "_words")

    def __init__(self, key: int, stream: Stream) -> None:
        self._key = key
        self._stream = stream
        self._first = 0
        self._words: NDArray[np.uint64] = np.empty(0, np.uint64)

    def _fill(self, first: int, count: int) -> None:
        self._first = first - first % 4
        size = max(_BLOCK, first - self._first + count)
        self._words = _core.philox(self._key, self._stream, self._first // 4, size)

    def one(self, index: int) -> int:
        """Word number ``index`` as a Python integer."""
        if not 0 <= index - self._first < len(self._words):
            self._fill(index, 1)
        return int(self._words[index - self._first])

    def take(self, first: int, count: int) -> NDArray[np.uint64]:
        """Words ``first`` to ``first + count - 1``: uint64 of shape (count,)."""
        start = first - self._first
        if start < 0 or start + count > len(self._words):
            self._fill(first, count)
            start = first - self._first
        return self._words[start : start + count]


def _unset(estimator: Any) -> list[str]:
    """Parameters ``random_state``, at any depth, that are None."""
    return sorted(
        name
        for name, value in estimator.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    )


def seeded(estimator: Any, key: int) -> Any:
    """Return a clone whose every ``random_state=None`` is a number drawn from the key.

    Parameters
    ----------
    estimator : estimator
        It stays as it is.
    key : int
        In [0, 2**64), for example that of a search.

    Returns
    -------
    estimator
        The same object where there is nothing to set. Numbers lie in [0, 2**32), one for each
        parameter in the order of their names, all different.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier()
    >>> seeded(tree, 7).random_state == seeded(tree, 7).random_state
    True
    >>> tree.random_state is None
    True
    """
    unset = _unset(estimator)
    if not unset:
        return estimator
    from sklearn.base import clone

    words = SeedWords(key, Stream.estimators).take(0, len(unset))
    # scikit-learn takes seeds of 32 bits.
    values = {name: int(word) >> 32 for name, word in zip(unset, words, strict=True)}
    return clone(estimator).set_params(**values)


def with_seed(estimator: Any, seed: int) -> Any:
    """Set every ``random_state=None`` of an estimator to one number, and return the estimator.

    Parameters
    ----------
    estimator : estimator
        It is changed.
    seed : int
        In [0, 2**32).

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> with_seed(DecisionTreeClassifier(), 7).random_state
    7
    """
    unset = _unset(estimator)
    return estimator.set_params(**dict.fromkeys(unset, seed)) if unset else estimator


def seed_of_32_bits(random_state: object) -> int:
    """Return a seed in [0, 2**32), as scikit-learn takes it, for what users pass.

    Parameters
    ----------
    random_state : int, numpy Generator or RandomState, or None

    Examples
    --------
    >>> seed_of_32_bits(7), seed_of_32_bits(2**32 + 1)
    (7, 1)
    """
    return key_of(random_state) % 2**32


def outer_seeds(key: int, n: int) -> NDArray[np.int64]:
    """Return the seeds of the estimators in n outer folds: int64 of shape (n,), in [0, 2**31).

    They are words of numpy's SeedSequence, as in all results of nested cross-validation so far.

    Examples
    --------
    >>> outer_seeds(0, 2).tolist()
    [1484405855, 1838574579]
    """
    return (np.random.SeedSequence(key).generate_state(n) >> 1).astype(np.int64)


def resampling_integers(key: int) -> Callable[[int, int], NDArray[np.int64]]:
    """Return what draws the resamples behind an interval: ``draw(bound, n)`` in [0, bound).

    It is numpy's generator on Philox, as in all intervals so far; new code takes :class:`Random`.

    Examples
    --------
    >>> resampling_integers(0)(10, 3).tolist()
    [0, 0, 6]
    """
    generator = np.random.Generator(np.random.Philox(key=key))

    def draw(bound: int, n: int) -> NDArray[np.int64]:
        return generator.integers(0, bound, n)

    return draw
