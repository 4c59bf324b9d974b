"""Classifiers of panels by name, all on one n x n Gram matrix of standardised features.

::

    K, codes -> linear.py, ridge.py          -> dual coefficients and an intercept
             -> neighbors.py (kNN)           -> the samples themselves
    products with new samples -> decide -> a decision a class -> predicted_codes

BLAS may round a product otherwise with another number of threads: who needs the same bits always
holds it to one thread, as the race of candidates does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, quoted
from bitsieve.panels.gram import LinearFitted
from bitsieve.panels.linear import LinearSVM, ShrunkenLDA
from bitsieve.panels.neighbors import NearestNeighbors, NeighborsFitted
from bitsieve.panels.ridge import RidgeLOO

__all__ = [
    "CLASSIFIERS",
    "Classifier",
    "Fitted",
    "LinearFitted",
    "LinearSVM",
    "NearestNeighbors",
    "NeighborsFitted",
    "RidgeLOO",
    "ShrunkenLDA",
    "classifier_by_name",
    "predicted_codes",
]


class Fitted(Protocol):
    """A classifier that was fitted to a Gram matrix."""

    def decide(
        self, cross: NDArray[np.float64], diagonal: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Decisions for samples, of shape (n_test, n_functions).

        There is one function for two classes, positive for class 1, else one a class. ``cross``,
        of shape (n_test, n_samples), holds inner products with the training samples and
        ``diagonal`` squared lengths.
        """
        ...


class Classifier(Protocol):
    """What can be fitted to a Gram matrix.

    Attributes
    ----------
    name : str
        As users type it.
    label : str
        As a report says it.
    is_linear : bool
        Whether it has coefficients; its fitted form is then a :class:`LinearFitted`.
    """

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def is_linear(self) -> bool: ...

    def fit(
        self,
        K: NDArray[np.float64],
        codes: NDArray[np.integer],
        n_classes: int,
        *,
        n_features: int,
    ) -> Fitted:
        """Fit to K = Z Z' of shape (n_samples, n_samples), made of ``n_features`` features.

        ``codes`` holds numbers of classes from 0 on. A class without a sample is never predicted.
        """
        ...


#: Classifiers that a race compares.
CLASSIFIERS: Mapping[str, Classifier] = MappingProxyType(
    {one.name: one for one in (ShrunkenLDA(), LinearSVM(), RidgeLOO(), NearestNeighbors())}
)


def classifier_by_name(name: str) -> Classifier:
    """Return a classifier by its name.

    Parameters
    ----------
    name : str
        One of :data:`CLASSIFIERS`, or ``"1nn"``, ``"3nn"`` and so on for another number of
        neighbors than 5.

    Returns
    -------
    Classifier

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> classifier_by_name("lda").label, classifier_by_name("1nn").label
    ('shrunken LDA', '1 nearest neighbor')
    """
    if isinstance(name, str):
        if name in CLASSIFIERS:
            return CLASSIFIERS[name]
        count = re.fullmatch(r"([1-9][0-9]{0,2})nn", name)
        if count is not None:
            label = f"{count[1]} nearest neighbor{'s' * (count[1] != '1')}"
            return NearestNeighbors(int(count[1]), name=name, label=label)
    said = quoted(name) if isinstance(name, str) else repr(name)
    raise ValueError(f"there is no classifier {said}; {closest(str(name), CLASSIFIERS)}")


def predicted_codes(decisions: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class that decisions say, the lowest of equal ones.

    Parameters
    ----------
    decisions : float64 array of shape (n_samples, n_functions)

    Returns
    -------
    int64 array of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> predicted_codes(np.array([[-0.5], [0.0], [2.0]])).tolist()
    [0, 0, 1]
    >>> predicted_codes(np.array([[0.2, 0.4, 0.4]])).tolist()
    [1]
    """
    if decisions.shape[1] == 1:
        return (decisions[:, 0] > 0).astype(np.int64)
    codes: NDArray[np.int64] = np.argmax(decisions, axis=1).astype(np.int64)
    return codes
