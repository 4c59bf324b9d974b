"""Data to try things on: scikit-learn's bundled sets, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest
from bitsieve.data.microarray import Microarray, make_microarray
from bitsieve.data.validation import Task

__all__ = [
    "Dataset",
    "Microarray",
    "load",
    "load_breast_cancer",
    "load_diabetes",
    "load_digits",
    "load_iris",
    "load_wine",
    "make_microarray",
    "names",
]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table, its target, and what they are.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n_samples, n_features)
        Float64.
    y : ndarray of shape (n_samples,)
        Class numbers, or float64 for regression.
    names : list of str
        Feature names.
    target_names : list of str
        What the class numbers stand for; empty for regression.
    task : {"classification", "regression"}
    """

    name: str
    X: NDArray[np.float64] = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    names: list[str] = field(repr=False)
    target_names: list[str]
    task: Task


def names() -> list[str]:
    """Names that `load` takes.

    Returns
    -------
    list of str

    Examples
    --------
    >>> names()
    ['breast_cancer', 'diabetes', 'digits', 'iris', 'wine']
    """
    return sorted(_LOADERS)


def load(name: str) -> Dataset:
    """One of the bundled sets.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no set of that name.

    Examples
    --------
    >>> load("iris").X.shape
    (150, 4)
    """
    if name not in _LOADERS:
        raise ValueError(f"no data set named {name!r}; {closest(name, _LOADERS)}")
    return _LOADERS[name]()


def load_breast_cancer() -> Dataset:
    """Breast tumours, 569 samples, 30 features of cell nuclei, malignant (0) or benign (1).

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = load_breast_cancer()
    >>> data.X.shape, data.names[0], data.target_names
    ((569, 30), 'mean radius', ['malignant', 'benign'])
    """
    return _bundled("breast_cancer", "classification")


def load_iris() -> Dataset:
    """Iris flowers, 150 samples, 4 features, 3 species.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_iris().target_names
    ['setosa', 'versicolor', 'virginica']
    """
    return _bundled("iris", "classification")


def load_wine() -> Dataset:
    """Wines, 178 samples, 13 chemical features, 3 cultivars.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_wine().X.shape
    (178, 13)
    """
    return _bundled("wine", "classification")


def load_digits() -> Dataset:
    """Handwritten digits, 1797 samples, 64 pixels, 10 classes.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_digits().names[:2]
    ['pixel_0_0', 'pixel_0_1']
    """
    return _bundled("digits", "classification")


def load_diabetes() -> Dataset:
    """Disease progression of 442 patients, 10 features, a regression target.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_diabetes().task
    'regression'
    """
    return _bundled("diabetes", "regression")


def _bundled(name: str, task: Task) -> Dataset:
    from sklearn import datasets as bundled  # slow to import

    bunch = getattr(bundled, f"load_{name}")()
    return Dataset(
        name=name,
        X=np.ascontiguousarray(bunch.data, dtype=np.float64),
        y=np.asarray(bunch.target),
        names=[str(n) for n in bunch.feature_names],
        target_names=[str(n) for n in getattr(bunch, "target_names", ())],
        task=task,
    )


_LOADERS: dict[str, Callable[[], Dataset]] = {
    "breast_cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
