"""The order in which least angle regression takes features, one regression a class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["least_angle_order"]

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

#: Residual correlation, as a share of the first, below which a path has ended.
_NOTHING = 1e-10
#: Squared share of a feature that the active ones leave over, below which it is one of them.
_COPY = 1e-12
#: Difference in slope, and in correlation over the greatest, below which a feature is a copy.
_COPIED = 1e-9


def least_angle_order(Z: Floats, codes: Codes, n_features: int) -> NDArray[np.int64]:
    """Return features in the order in which least angle regression takes them.

    One regression a class, of its membership (centred, of unit length) on the features [1]_; two
    classes need one. The regressions go side by side, and of what they take at the same step the
    feature that is correlated the most comes first; one taken before is passed over.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Float64 in C order, columns centred.
    codes : ndarray of shape (n_samples,)
        Classes 0, 1, ..., two or more.
    n_features : int
        How many to take.

    Returns
    -------
    ndarray of shape (n_taken,)
        Int64. Fewer than asked for where all regressions end before, which is after n_samples - 1
        steps at the latest.

    References
    ----------
    .. [1] B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, "Least angle regression", Annals of
       Statistics 32 (2004) 407-499, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0, 0.5], [1.0, -0.5], [-1.0, 1.0], [-1.0, -1.0]])
    >>> least_angle_order(Z, np.array([0, 0, 1, 1]), 2)
    array([0])
    """
    n_classes = int(codes.max()) + 1
    paths = [_Path(Z, codes == c) for c in range(n_classes if n_classes > 2 else 1)]
    taken: dict[int, None] = {}
    while paths and len(taken) < n_features:
        entered = sorted(path.enter() for path in paths)
        taken.update(dict.fromkeys(feature for _, feature in entered if feature >= 0))
        paths = [path for path in paths if not path.has_ended]
        if paths:
            directions = np.array([path.direction() for path in paths])
            for path, slopes in zip(paths, directions @ Z, strict=True):
                path.move(slopes)
    return np.fromiter(taken, dtype=np.int64)[:n_features]


class _Path:
    """One regression: its correlations with all features, and an orthonormal basis of the active.

    With X = Q R for the active columns and s the signs of their correlations, the direction that
    has the same correlation with all of them is ``u = Q z``, ``R' z = s``. A new feature appends
    one number to z and leaves the others as they are.
    """

    def __init__(self, Z: Floats, member: NDArray[np.bool_]) -> None:
        y = member - member.mean()
        y /= np.sqrt((y * y).sum())
        self._Z = Z
        self._correlation = y @ Z
        self._is_out = np.zeros(Z.shape[1], dtype=bool)  # active, or says what active ones say
        self._basis = np.empty((min(Z.shape), len(Z)))
        self._z = np.empty(len(self._basis))
        self._n_active = 0
        self._direction = np.zeros(len(Z))
        self._most = self._first = float(np.abs(self._correlation).max())
        self.has_ended = False

    def enter(self) -> tuple[float, int]:
        """Take the feature that is correlated the most, the lowest of equals.

        Returns minus its correlation, and its position or -1 where none is taken.
        """
        size = np.abs(self._correlation)
        size[self._is_out] = -1.0
        feature = int(np.argmax(size))
        k = self._n_active
        if k == len(self._basis) or self._most <= _NOTHING * self._first or size[feature] < 0.0:
            self.has_ended = True
            return 0.0, -1
        self._is_out[feature] = True
        column = self._Z[:, feature]
        rest, along = column.copy(), np.zeros(k)
        for _ in range(2):  # once more, so that the basis stays orthogonal
            part = self._basis[:k] @ rest
            rest -= part @ self._basis[:k]
            along += part
        length = float(np.sqrt(rest @ rest))
        if length * length <= _COPY * float(column @ column):
            return 0.0, -1
        sign = 1.0 if self._correlation[feature] > 0 else -1.0
        self._z[k] = (sign - along @ self._z[:k]) / length
        self._basis[k] = rest / length
        self._direction += self._z[k] * self._basis[k]
        self._n_active = k + 1
        return -float(size[feature]), feature

    def direction(self) -> Floats:
        """Return the direction whose product with each active column is the sign of that."""
        return self._direction

    def move(self, slopes: Floats) -> None:
        """Go on until another feature is correlated as the active ones are.

        Parameters
        ----------
        slopes : ndarray of shape (n_features,)
            Products of the direction with all columns.
        """
        correlation, most = self._correlation, self._most
        step = most
        for sign in (1.0, -1.0):
            apart, closing = most - sign * correlation, 1.0 - sign * slopes
            # What goes along with the active ones never joins them: their copies, for one.
            self._is_out |= (closing <= _COPIED) & (apart <= _COPIED * most)
            reached = np.full(len(apart), np.inf)
            np.divide(apart, closing, out=reached, where=(closing > _COPIED) & ~self._is_out)
            step = min(step, max(0.0, float(reached.min())))
        correlation -= step * slopes
        self._most = most - step
