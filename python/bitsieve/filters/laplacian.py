"""The Laplacian score: features that change little between neighbors, without a target."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_choice, check_int, check_number
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import check_input

__all__ = ["laplacian_score"]

Floats = NDArray[np.float64]

#: Values a turn, so that a block of features stays small.
_CHUNK = 1 << 20

#: Bits of a squared distance that count where two are compared.
_BITS = 44

#: The range of float64.
_LEAST, _MOST = np.finfo(np.float64).tiny, np.finfo(np.float64).max

#: Samples up to which all distances are kept at once.
_DENSE = 2048


def laplacian_score(
    X: Any,
    y: Any = None,
    *,
    n_neighbors: int = 5,
    weights: Literal["heat", "binary"] = "heat",
    bandwidth: float | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Tell how well each feature keeps the neighborhoods of the samples; unsupervised.

    He, Cai and Niyogi's score [1]_ is ``L = f' L f / f' D f``, with f the feature less its mean
    weighted by D, S the similarities of neighbors, D its row sums and L = D - S; there the
    *least* is best. Here it is ``1 - L = f' S f / f' D f``: greater is better as everywhere.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        Distances are Euclidean: scale features first where the units differ.
    y : object
        Ignored.
    n_neighbors : int, default 5
        Two samples are neighbors where either is among the so many nearest of the other; equal
        distances go to the lowest index (up to 2048 samples).
    weights : {"heat", "binary"}, default "heat"
        Similarity of neighbors at distance d: ``exp(-d^2 / bandwidth)``, or 1.
    bandwidth : float, optional
        In the square of the features' unit; by default the mean squared distance of neighbors.
    n_jobs : int, optional
        Threads for the search of neighbors among more than 2048 samples; all cores by default.

    Returns
    -------
    ndarray of shape (n_features,)
        In [-1, 1]; -1, the least, for a constant feature.

    Raises
    ------
    ValueError
        If X is not fit for use, ``n_neighbors`` is not below the number of samples, or
        ``bandwidth`` is not positive.

    References
    ----------
    .. [1] X. He, D. Cai, P. Niyogi, "Laplacian score for feature selection", NIPS 2005.

    Examples
    --------
    >>> from bitsieve.filters import laplacian_score
    >>> X = [[0.0, 1.0], [0.1, 0.0], [9.0, 1.0], [9.1, 0.0]]
    >>> laplacian_score(X, n_neighbors=1).round(2)
    array([ 1., -1.])
    """
    array = check_input(X, target=False).X
    n, p = array.shape
    if check_int("n_neighbors", n_neighbors, 1) >= n:
        raise ValueError(
            f"n_neighbors must be below the number of samples ({n}), got {n_neighbors}"
        )
    check_choice("weights", weights, ("heat", "binary"))
    if bandwidth is not None:
        check_number("bandwidth", bandwidth, 0, closed="right", instead="or None")
    array, exponent = _fitting(array)
    if bandwidth is not None and exponent:
        with np.errstate(over="ignore"):
            scaled = np.ldexp(float(bandwidth), -2 * exponent)
        bandwidth = float(np.clip(scaled, _LEAST, _MOST))
    similarity = _similarities(array, n_neighbors, weights, bandwidth, effective_n_jobs(n_jobs))
    degree = np.asarray(similarity.sum(axis=1)).ravel()
    scores = np.empty(p)
    step = max(1, _CHUNK // n)
    for begin in range(0, p, step):
        part = slice(begin, begin + step)
        f = array[:, part].astype(np.float64)
        f -= f[0]
        constant = ~f.any(axis=0)
        f /= np.where(constant, 1.0, np.abs(f).max(axis=0))  # squares fit, whatever the unit
        f -= degree @ f / degree.sum()
        spread = degree @ (f * f)
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.einsum("ij,ij->j", f, similarity @ f) / spread
        scores[part] = np.where(constant | ~(spread > 0), -1.0, np.clip(kept, -1.0, 1.0))
    return scores


def _fitting(X: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return X over a power of two where squared distances would not fit, and that power."""
    most = max(abs(float(X.min())), abs(float(X.max())))
    least = np.sqrt(np.sqrt(float(np.finfo(X.dtype).tiny)))
    if most == 0.0 or least < most < 1 / least:
        return X, 0
    exponent = int(np.frexp(most)[1])
    return np.ldexp(X, -exponent), exponent


def _similarities(
    X: NDArray[Any], k: int, weights: str, bandwidth: float | None, n_threads: int
) -> Any:
    """Return the symmetric matrix S, of compressed rows."""
    import scipy.sparse

    if len(X) <= _DENSE:
        nearest, squares = _nearest(X, k)
    else:
        from sklearn.neighbors import NearestNeighbors

        search = NearestNeighbors(n_neighbors=k, n_jobs=n_threads).fit(X)
        distances, nearest = search.kneighbors()  # a sample is no neighbor of its own
        squares = np.square(distances, dtype=np.float64)
    if weights == "binary":
        values = np.ones(squares.size)
    else:
        width = squares.mean() if bandwidth is None else float(bandwidth)
        values = np.exp(-squares.ravel() / width) if width > 0 else np.ones(squares.size)
    rows = np.repeat(np.arange(len(X)), k)
    shape = (len(X), len(X))
    graph = scipy.sparse.coo_array((values, (rows, nearest.ravel())), shape=shape).tocsr()
    return graph.maximum(graph.T).tocsr()


def _nearest(X: NDArray[Any], k: int) -> tuple[NDArray[np.intp], Floats]:
    """Return the k nearest of each sample, ties to the lowest index, and squared distances.

    By products of columns less their mean, so that a common offset does not eat the digits.
    """
    n, p = X.shape
    gram = np.zeros((n, n))
    step = max(1, _CHUNK // n)
    for begin in range(0, p, step):
        part = X[:, begin : begin + step].astype(np.float64)
        part -= part[0]
        part -= part.mean(axis=0)
        gram += part @ part.T
    own = np.diag(gram)
    squares = np.maximum(own[:, None] + own - 2 * gram, 0.0)
    squares[squares <= 1e-14 * (own[:, None] + own)] = 0.0  # a sample given twice
    np.fill_diagonal(squares, np.inf)
    # Distances that differ by rounding alone are equal.
    unit = np.ldexp(1.0, np.frexp(own + np.median(own))[1] - _BITS)[:, None]
    nearest = np.argsort(np.rint(squares / unit), axis=1, kind="stable")[:, :k]
    return nearest, np.take_along_axis(squares, nearest, axis=1)
