"""Data to try things on: bundled sets by name, and made tables whose answer is known.

Examples
--------
>>> from bitsieve import datasets
>>> datasets.load("breast_cancer").X.shape
(569, 30)
"""

from __future__ import annotations

from bitsieve.data.datasets import (
    Dataset,
    Microarray,
    load,
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_microarray,
    names,
)

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
