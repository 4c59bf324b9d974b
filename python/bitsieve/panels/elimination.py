"""Recursive feature elimination by a linear support vector machine, on Gram matrices.

With Z in n rows the machine sees Z through Z Z' alone, so that a step costs a solve of n x n and a
pass over the features that are left: ``w = Z' a`` with the dual coefficients a.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.panels.linear import TOLERANCE

__all__ = ["SHARE", "elimination_order", "sizes_of_steps"]

Floats = NDArray[np.float64]

#: Share of the remaining features that a step drops, at least one.
SHARE = 0.2


def elimination_order(
    Z: Floats, codes: NDArray[np.integer], *, share: float = SHARE, C: float = 1.0
) -> NDArray[np.int64]:
    """Rank all features by when a linear SVM would drop them.

    Each step fits the machine on what is left, one class versus the rest, and drops the features
    whose squared coefficients, summed over these functions, are least [1]_, as scikit-learn's
    ``RFE`` does.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Standardised float64 in C order.
    codes : ndarray of shape (n_samples,)
        Classes 0, 1, ..., two or more.
    share : float, default 0.2
        Of the features that are left, how many a step drops.
    C : float, default 1.0
        Penalty of the machine.

    Returns
    -------
    ndarray of shape (n_features,)
        Int64, the last that is left first. Features that one step drops are ordered by their
        coefficients, and by position where these are equal.

    References
    ----------
    .. [1] I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification
       using support vector machines", Machine Learning 46 (2002) 389-422, section V.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0, 0.1], [1.0, -0.2], [-1.0, 0.3], [-1.0, -0.2]])
    >>> elimination_order(Z, np.array([0, 0, 1, 1]))
    array([0, 1])
    """
    p = Z.shape[1]
    n_classes = int(codes.max()) + 1
    functions = np.arange(n_classes if n_classes > 2 else 1)
    signs = np.where(codes == functions[:, None], 1, -1).astype(np.int8)
    order = np.empty(p, dtype=np.int64)
    names, table = np.arange(p), Z  # of the columns of the table; those at `left` are left
    left = np.arange(p)
    gram = table @ table.T
    for size in sizes_of_steps(p, share):
        dual = _core.dual_svm(gram, signs, C, TOLERANCE)[0]
        criterion = np.square(dual @ table).sum(axis=0)[left]
        ranked = np.argsort(-criterion, kind="stable")
        dropped, left = left[ranked[size:]], np.sort(left[ranked[:size]])
        order[size : size + len(dropped)] = names[dropped]
        if 2 * size > table.shape[1]:
            gone = table[:, dropped]
            gram -= gone @ gone.T
        else:  # made anew by halves, so that passes get short and rounding does not add up
            names, table = names[left], table[:, left]
            left = np.arange(size)
            gram = table @ table.T
    return order


def sizes_of_steps(n_features: int, share: float = SHARE) -> Iterator[int]:
    """Yield how many features are left after each step, 0 at last.

    Examples
    --------
    >>> list(sizes_of_steps(30, 0.5))
    [15, 8, 4, 2, 1, 0]
    """
    left = n_features
    while left:
        left -= max(1, int(share * left))
        yield left
