"""Expression tables whose answer is known.

A value is ``level + spread * z`` for a gene with its own level and spread, as on a log2 scale of
expression. The z of a gene is standard normal noise within a class and a batch; to it is added

* for an *informative* gene, the mean of the sample's class: means differ from gene to gene, and
  the two classes furthest apart in it are `class_sep` apart;
* for a *redundant* gene, nothing, but it is made of an informative one: correlated 0.9 (or -0.9)
  with it within a class, so it knows of the classes only what that one knows;
* for every gene, the mean of the sample's batch, normal with standard deviation `batch_effect`.

Batches are as good as independent of classes, so a batch effect hides classes, but never makes
them up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import RandomState, check_int, check_number, key_of
from bitsieve._random import Random, Stream

__all__ = ["Microarray", "make_microarray"]

_CORRELATION = 0.9


@dataclass(frozen=True, eq=False)
class Microarray:
    """A made table and the answer to it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Float32, C order.
    y : ndarray of shape (n_samples,)
        Int64 class numbers.
    names : list of str
        Feature names, ``g0``, ``g1``, ...
    informative : ndarray of shape (n_informative,)
        Int64 positions of the features that depend on the class, ascending.
    redundant : ndarray of shape (n_redundant,)
        Int64 positions of their noisy copies, ascending.
    parents : ndarray of shape (n_redundant,)
        Int64 position of the informative feature that each redundant one is made of.
    batch : ndarray of shape (n_samples,)
        Int64 batch numbers.
    seed : int
        The seed used; pass it as `random_state` for the same table.
    """

    X: NDArray[np.float32] = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)
    names: list[str] = field(repr=False)
    informative: NDArray[np.int64]
    redundant: NDArray[np.int64]
    parents: NDArray[np.int64]
    batch: NDArray[np.int64] = field(repr=False)
    seed: int

    @property
    def support(self) -> NDArray[np.bool_]:
        """Mask of the informative features, shape (n_features,)."""
        mask = np.zeros(self.X.shape[1], dtype=bool)
        mask[self.informative] = True
        return mask


def make_microarray(
    n_samples: int = 100,
    n_features: int = 20_000,
    *,
    n_informative: int = 20,
    n_redundant: int = 20,
    n_classes: int = 2,
    class_sep: float = 2.0,
    batch_effect: float = 0.0,
    n_batches: int = 2,
    random_state: RandomState = None,
) -> Microarray:
    """Make an expression table of which it is known what matters.

    Values are made in float32, row by row: there are no temporaries of the table's size.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the table.
    n_informative : int
        Features whose mean depends on the class.
    n_redundant : int
        Noisy copies of informative features, correlated 0.9 within a class.
    n_classes : int
        Classes, as equal in size as can be.
    class_sep : float
        Distance between the two outermost class means of an informative feature, in standard
        deviations within a class.
    batch_effect : float
        Standard deviation of the batch means of every feature, in the same unit; 0 for none.
    n_batches : int
        Batches, as equal in size as can be, drawn without regard to class.
    random_state : int, Generator, RandomState or None
        Seed; None draws one, which is kept in `seed`.

    Returns
    -------
    Microarray

    Raises
    ------
    ValueError
        If the numbers do not fit together.

    Examples
    --------
    >>> data = make_microarray(60, 500, n_informative=3, n_redundant=2, random_state=0)
    >>> data.X.shape, data.X.dtype.name, np.bincount(data.y).tolist()
    ((60, 500), 'float32', [30, 30])
    >>> data.informative.size, int(data.support.sum())
    (3, 3)
    """
    _check(n_samples, n_features, n_informative, n_redundant, n_classes, n_batches)
    class_sep = check_number("class_sep", class_sep, 0, closed="left")
    batch_effect = check_number("batch_effect", batch_effect, 0, closed="left")
    seed = key_of(random_state)
    random = Random(seed, Stream.microarray)
    y = random.permutation(n_samples) % n_classes
    batch = random.permutation(n_samples) % n_batches
    places = random.choice(n_features, n_informative + n_redundant)
    informative, redundant = np.sort(places[:n_informative]), np.sort(places[n_informative:])
    which = np.arange(n_redundant) % max(n_informative, 1)
    sign = _signs(random, n_redundant).astype(np.float32)
    means = (class_sep * _class_means(random, n_classes, n_informative)).astype(np.float32)
    level = (8.0 + 2.0 * random.normal(n_features)).astype(np.float32)
    spread = np.exp(-0.7 + 0.4 * random.normal(n_features)).astype(np.float32)
    shift = (batch_effect * random.normal((n_batches, n_features))).astype(np.float32)

    X = np.empty((n_samples, n_features), dtype=np.float32)
    own = np.float32(np.sqrt(1 - _CORRELATION**2))
    for i, row in enumerate(X):
        row[:] = random.normal(n_features)
        row[informative] += means[y[i]]
        copies = np.float32(_CORRELATION) * sign * row[informative[which]]
        row[redundant] = copies + own * row[redundant]
        if batch_effect:
            row += shift[batch[i]]
        row *= spread
        row += level
    return Microarray(
        X=X,
        y=y,
        names=[f"g{j}" for j in range(n_features)],
        informative=informative,
        redundant=redundant,
        parents=informative[which],
        batch=batch,
        seed=seed,
    )


def _signs(random: Random, n: int) -> NDArray[np.float64]:
    return np.where(random.uniform(n) < 0.5, -1.0, 1.0)


def _class_means(random: Random, n_classes: int, n: int) -> NDArray[np.float64]:
    """Class means of each feature, centred, the outermost two at distance 1."""
    if n_classes == 2:
        half = 0.5 * _signs(random, n)
        return np.stack([half, -half])
    means = random.normal((n_classes, n))
    means -= means.mean(axis=0)
    return np.asarray(means / np.ptp(means, axis=0))


def _check(
    n_samples: int,
    n_features: int,
    n_informative: int,
    n_redundant: int,
    n_classes: int,
    n_batches: int,
) -> None:
    for name, value, least in (
        ("n_samples", n_samples, 1),
        ("n_features", n_features, 1),
        ("n_informative", n_informative, 0),
        ("n_redundant", n_redundant, 0),
        ("n_classes", n_classes, 2),
        ("n_batches", n_batches, 1),
    ):
        check_int(name, value, least)
    if n_samples < n_classes:
        raise ValueError(
            f"expected a sample of each class, got n_classes={n_classes}, n_samples={n_samples}"
        )
    if n_informative + n_redundant > n_features:
        raise ValueError(
            f"n_informative={n_informative} and n_redundant={n_redundant} must not exceed "
            f"n_features={n_features} together"
        )
    if n_redundant and not n_informative:
        raise ValueError("redundant features are made of informative ones, and n_informative=0")
