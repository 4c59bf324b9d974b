"""Slow and obvious twins of the solvers' Gram matrices, in plain numpy and exact fractions.

What they define: the mean of a column, the unit, the products rounded once to it, the rule that
says when they are too coarse, and the float64 sums that stand in their place. A fused multiply-add
is made of exact fractions, rounded once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

BLOCK = 64  # features of a float64 sum before it is added
PRECISION, LIKELY = 1e-11, 1e-13


def centred(X: Array) -> tuple[Array, Array]:
    """Columns less their means, one after the other from the first sample's value on."""
    X = np.asarray(X).astype(np.float64)
    sums = np.zeros(X.shape[1])
    for row in X[1:]:
        sums += row - X[0]
    means = X[0] + sums / len(X)
    return X - means, means


def unit(Z: Array) -> float:
    most, squares = (Z * Z).max(), np.zeros(len(Z))
    for begin in range(0, Z.shape[1], BLOCK):  # in this order alone to have the bits
        part = np.zeros(len(Z))
        for column in Z[:, begin : begin + BLOCK].T:
            part += column * column
        squares += part
    if most == 0:
        return 1.0
    exponents = math.frexp(most)[1] - 51, math.frexp(squares.max())[1] - 62
    return math.ldexp(1.0, max(*exponents, -1000))


def units(Z: Array, mask: Array, unit: float) -> Array:
    """Sums of products, each rounded once to a multiple of the unit, ties to even."""
    total = np.zeros((len(Z), len(Z)), np.int64)
    for f in np.flatnonzero(mask):
        column = [Fraction(float(z)) / Fraction(unit) for z in Z[:, f]]
        scale = Fraction(unit)
        total += np.array([[round(a * b * scale) for b in column] for a in column], np.int64)
    return total


def is_fine(Z: Array, mask: Array, total: Array) -> bool:
    """Whether the unit is fine beside the least diagonal of a sample that is not all zero."""
    some, size = (Z[:, mask] != 0).any(axis=1), mask.sum()
    if not some.any():
        return True
    least = np.diag(total)[some].min()
    return size <= PRECISION * least and math.sqrt(size) <= LIKELY * least


def fma(a: float, b: float, c: float) -> float:
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def doubles(Z: Array, mask: Array) -> Array:
    """Features in ascending order, a chain of fused multiply-adds a block, blocks added."""
    n, features = len(Z), np.flatnonzero(mask)
    total = np.zeros((n, n))
    for begin in range(0, len(features), BLOCK):
        part = np.zeros((n, n))
        for f in features[begin : begin + BLOCK]:
            for i in range(n):
                for j in range(n):
                    part[i, j] = fma(Z[i, f], Z[j, f], part[i, j])
        total = total + part if begin else part
    return total


def gram(X: Array, mask: Array) -> tuple[Array, bool]:
    """The matrix of a boolean mask over the centred columns, and whether it is of integers."""
    Z, _ = centred(X)
    one = unit(Z)
    total = units(Z, mask, one)
    if is_fine(Z, mask, total):
        return total * one, True
    return doubles(Z, mask), False
