"""Estimators that feature selection is compared with and that scikit-learn has none of.

They are plain scikit-learn estimators and know nothing of masks; what compiles them stands in
``fitness``.
"""

from __future__ import annotations

from bitsieve.estimators.diagonal_lda import DiagonalLDA
from bitsieve.estimators.kernel_ridge import KernelRidgeClassifier

__all__ = ["DiagonalLDA", "KernelRidgeClassifier"]
