"""One key, three streams: every seed of a run is a word of Philox4x64-10 under (key, stream)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import key_of

__all__ = ["FOLDS", "MEASUREMENT", "START", "RandomState", "SeedWords", "check_random_state"]

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

FOLDS = 2
MEASUREMENT = 3
START = 8  # 4 to 7 are the selectors' and the evaluation's
_BLOCK = 1024  # words drawn at a time, a multiple of Philox's four


def check_random_state(random_state: RandomState) -> int:
    """Turn what users pass as ``random_state`` into one key in [0, 2**64).

    Parameters
    ----------
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        None asks the operating system; a generator is drawn from once.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If it is none of these, or an integer outside [0, 2**64).

    Examples
    --------
    >>> check_random_state(7)
    7
    """
    return key_of(random_state)


class SeedWords:
    """The words of one stream by their number, drawn in blocks and kept for the next call.

    Examples
    --------
    >>> words = SeedWords(7, FOLDS)
    >>> int(words.take(1000, 2)[1]) == words.one(1001)
    True
    """

    __slots__ = ("_first", "_key", "_stream", "_words")

    def __init__(self, key: int, stream: int) -> None:
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
        """Words ``first`` to ``first + count - 1``."""
        start = first - self._first
        if start < 0 or start + count > len(self._words):
            self._fill(first, count)
            start = first - self._first
        return self._words[start : start + count]
