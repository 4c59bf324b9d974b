"""The validation part: samples that a training does not see, and that tell when it is over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._random import Random, Stream

__all__ = ["holdout"]


def holdout(
    n_samples: int,
    fraction: float,
    key: int,
    *,
    strata: NDArray[Any] | None = None,
    groups: NDArray[Any] | None = None,
) -> NDArray[np.bool_]:
    """Draw the samples of the validation part.

    Parameters
    ----------
    n_samples : int
    fraction : float
        Share of the samples, in (0, 1).
    key : int
        In [0, 2**64).
    strata : int array of shape (n_samples,) or None, default None
        Classes, or events: of each the same share is held out, at least one sample where there are
        two, and one is always left.
    groups : int array of shape (n_samples,) or None, default None
        Samples that belong together are held out together. A group counts for the stratum of most
        of its samples.

    Returns
    -------
    bool array of shape (n_samples,)
        None is held out where there is one sample, or group, alone.

    Examples
    --------
    >>> import numpy as np
    >>> strata = np.repeat([0, 1], [20, 10])
    >>> np.bincount(strata[holdout(30, 0.2, 7, strata=strata)]).tolist()
    [4, 2]
    >>> groups = np.arange(30) // 3
    >>> held = holdout(30, 0.2, 7, strata=strata, groups=groups)
    >>> np.unique(np.bincount(groups[held], minlength=10)).tolist()
    [0, 3]
    """
    of_sample = np.zeros(n_samples, np.int64) if strata is None else np.asarray(strata, np.int64)
    unit = np.arange(n_samples) if groups is None else np.unique(groups, return_inverse=True)[1]
    size = np.bincount(unit)
    table = np.zeros((len(size), int(of_sample.max()) + 1), np.int64)
    np.add.at(table, (unit, of_sample), 1)
    stratum = table.argmax(axis=1)
    order = Random(key, Stream.holdout).permutation(len(size))
    held = np.zeros(len(size), dtype=bool)
    for one in np.unique(stratum):
        among = order[stratum[order] == one]
        total = int(size[among].sum())
        before = np.concatenate(([0], np.cumsum(size[among])[:-1]))
        wanted = max(1.0, np.floor(fraction * total + 0.5))
        held[among[:-1][(before < wanted)[:-1]]] = True
    return held[unit]
