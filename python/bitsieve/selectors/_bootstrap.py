"""Samples drawn again, within each class, from the words of a counter-based generator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitsieve._random import SeedWords, Stream

__all__ = ["draw"]


def draw(
    groups: list[NDArray[np.int64]], size: float, *, replace: bool, key: int, index: int
) -> NDArray[np.int64]:
    """Draw samples of every group; the answer depends on key and index alone.

    Parameters
    ----------
    groups : list of int64 arrays
        Samples of each class, or one group with all of them.
    size : float
        Part of each group to draw, in (0, 1]; one sample at least.
    replace : bool
        Whether a sample may come again.
    key, index : int
        Seed, and number of the draw.

    Returns
    -------
    int64 array
        Samples in rising order.

    Examples
    --------
    >>> import numpy as np
    >>> draw([np.arange(4), np.arange(4, 6)], 0.5, replace=False, key=0, index=0).shape
    (3,)
    """
    n_words = sum(len(group) for group in groups)
    words = SeedWords(key, Stream.bootstrap).take(index * n_words, n_words)
    drawn = []
    first = 0
    for group in groups:
        n = len(group)
        own = words[first : first + n]
        first += n
        wanted = max(1, round(size * n))
        if replace:
            # The high half of 32 bits times n: as good as uniform for any n below millions.
            at = ((own[:wanted] >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)
            drawn.append(group[at.astype(np.int64)])
        else:
            drawn.append(group[np.argsort(own, kind="stable")[:wanted]])
    return np.sort(np.concatenate(drawn))
