"""Why a problem has no kernel, where several kernels say the same; see :class:`Kernel`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core

__all__ = ["refusal_of_instructions", "refusal_of_priors", "refusal_of_single"]


def refusal_of_priors(priors: Any, n_classes: int, *, zeros: bool = False) -> str | None:
    """Return why priors of classes have no kernel, or None: they must sum to 1.

    Parameters
    ----------
    priors : array-like of shape (n_classes,) or None
    n_classes : int
    zeros : bool, default=False
        Whether a class may have none.

    Examples
    --------
    >>> refusal_of_priors([0.5, 0.4], 2)
    'priors that are not positive or do not sum to 1 have no kernel'
    >>> refusal_of_priors([0.0, 1.0], 2, zeros=True)
    """
    if priors is None:
        return None
    numbers = np.asarray(priors)
    if numbers.shape != (n_classes,) or numbers.dtype.kind not in "iuf":
        return f"priors that are not {n_classes} numbers have no kernel"
    fine = np.isfinite(numbers) & (numbers >= 0 if zeros else numbers > 0)
    if not fine.all() or not np.isclose(numbers.sum(), 1):
        bad = "negative" if zeros else "not positive"
        return f"priors that are {bad} or do not sum to 1 have no kernel"
    return None


def refusal_of_single(X: NDArray[Any]) -> str | None:
    """Return why a table of float32 has no kernel, where scikit-learn computes in float32 then.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> refusal_of_single(np.zeros((2, 2)))
    """
    if X.dtype.kind == "f" and X.dtype.itemsize < 8:
        return (
            f"values in {X.dtype} have no kernel, since scikit-learn then rounds every step to it; "
            "give float64"
        )
    return None


def refusal_of_instructions() -> str | None:
    """Return why the instruction set in use has no kernel of a solver, or None if it has.

    Examples
    --------
    >>> import bitsieve
    >>> (refusal_of_instructions() is None) == (bitsieve.get_isa() != "baseline")
    True
    """
    if not _core.has_fma():
        return "this instruction set has no fused multiply-add, which the kernel needs"
    return None
