"""Nearest neighbors on the Gram matrix of a panel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitsieve.panels.gram import Codes, Floats, check_gram

__all__ = ["NearestNeighbors", "NeighborsFitted", "neighbor_shares"]


def neighbor_shares(
    distances: Floats, codes: Codes, n_classes: int, n_neighbors: int
) -> NDArray[np.float64]:
    """Share of each class among the nearest samples, or for two classes the difference.

    Parameters
    ----------
    distances : float64 array of shape (n_test, n_samples)
        Finite; or any growing function of them. Of equal ones the lowest index is nearest.
    codes : int array of shape (n_samples,)
    n_classes : int
    n_neighbors : int

    Returns
    -------
    float64 array of shape (n_test, n_functions)

    Examples
    --------
    >>> import numpy as np
    >>> neighbor_shares(np.array([[3.0, 1.0, 2.0]]), np.array([0, 1, 1]), 2, 3).round(3).tolist()
    [[0.333]]
    """
    left, rows = distances.copy(), np.arange(len(distances))
    nearest = np.empty((len(distances), n_neighbors), dtype=codes.dtype)
    for place in range(n_neighbors):  # few: sorting all would cost more
        found = left.argmin(axis=1)
        left[rows, found] = np.inf
        nearest[:, place] = codes[found]
    if n_classes == 2:
        votes = 2.0 * nearest.sum(axis=1, keepdims=True) - n_neighbors
    else:
        votes = (nearest[:, :, None] == np.arange(n_classes)).sum(axis=1).astype(np.float64)
    shares: NDArray[np.float64] = votes / n_neighbors
    return shares


@dataclass(frozen=True, eq=False)
class NeighborsFitted:
    """What nearest neighbors keep of a Gram matrix.

    Attributes
    ----------
    diagonal : float64 array of shape (n_samples,)
        Squared lengths of the training samples.
    codes : int array of shape (n_samples,)
    n_classes, n_neighbors : int
    """

    diagonal: Floats
    codes: Codes
    n_classes: int
    n_neighbors: int

    def decide(self, cross: Floats, diagonal: Floats) -> Floats:
        """Decisions for samples.

        Parameters
        ----------
        cross : float64 array of shape (n_test, n_samples)
            Inner products with the training samples.
        diagonal : float64 array of shape (n_test,)
            Their squared lengths.

        Returns
        -------
        float64 array of shape (n_test, n_functions)
        """
        distances = diagonal[:, None] + self.diagonal - 2.0 * cross
        return neighbor_shares(distances, self.codes, self.n_classes, self.n_neighbors)


@dataclass(frozen=True)
class NearestNeighbors:
    """The classes of the nearest training samples, by Euclidean distance.

    Parameters
    ----------
    n_neighbors : int, default 5
        All samples where there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.1], [-0.9, 0.0]])
    >>> fitted = NearestNeighbors(1).fit(Z @ Z.T, np.array([1, 1, 0, 0]), 2, n_features=2)
    >>> fitted.decide(Z @ Z.T, np.square(Z).sum(axis=1)).ravel().tolist()
    [1.0, 1.0, -1.0, -1.0]
    """

    n_neighbors: int = 5
    name: str = "knn"
    label: str = "nearest neighbors"
    is_linear: bool = False

    def fit(self, K: Floats, codes: Codes, n_classes: int, *, n_features: int) -> NeighborsFitted:
        """Keep what decisions need; arguments and errors are those of the linear classifiers."""
        check_gram(K, codes, n_classes, n_features)
        return NeighborsFitted(
            np.diagonal(K).copy(), codes.copy(), n_classes, min(self.n_neighbors, len(K))
        )
