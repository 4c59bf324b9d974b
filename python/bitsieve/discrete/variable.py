"""One discrete variable: a target, a feature, or several taken together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._errors import plural

__all__ = ["Variable", "as_variable"]


@dataclass(frozen=True, eq=False)
class Variable:
    """One variable of levels.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,)
        Int32, in ``[0, n_levels)``.
    n_levels : int
        Some may not occur.
    """

    codes: NDArray[np.int32]
    n_levels: int

    @classmethod
    def of(cls, labels: ArrayLike) -> Self:
        """Number the labels that occur, in sorted order.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            Of one type.

        Raises
        ------
        ValueError
            If they are not a list, or have no order.

        Examples
        --------
        >>> Variable.of(["b", "a", "b"])
        Variable(codes=array([1, 0, 1], dtype=int32), n_levels=2)
        """
        values = np.asarray(labels)
        if values.ndim != 1 or values.size == 0:
            raise ValueError(f"labels must have shape (n_samples,), got {values.shape}")
        try:
            levels, codes = np.unique(values, return_inverse=True)
        except TypeError:
            raise ValueError(
                "labels must be numbers or text, but there are both; pass them as text"
            ) from None
        return cls(codes.astype(np.int32).reshape(-1), len(levels))

    def combined(self, other: Variable) -> Variable:
        """Return both as one: a level for each combination that occurs, in lexical order.

        Examples
        --------
        >>> Variable.of([0, 0, 1]).combined(Variable.of([0, 1, 1]))
        Variable(codes=array([0, 1, 2], dtype=int32), n_levels=3)
        """
        return Variable.of(self.codes.astype(np.int64) * other.n_levels + other.codes)


def as_variable(given: Variable | ArrayLike, n_samples: int, what: str) -> Variable:
    """Return a variable of codes, of the length of a table.

    Parameters
    ----------
    given : Variable or array-like of int, shape (n_samples,)
        Codes from 0 on.
    n_samples : int
    what : str
        What the user calls it.

    Raises
    ------
    ValueError
        If there are too many or too few, or some are no codes.
    """
    found: Any = given
    if not isinstance(given, Variable):
        codes = np.asarray(given)
        if codes.ndim != 1 or codes.dtype.kind not in "iu" or codes.size == 0 or codes.min() < 0:
            raise ValueError(
                f"{what} must be codes from 0 on, one a sample, got dtype {codes.dtype} and shape "
                f"{codes.shape}; Variable.of numbers labels"
            )
        most = int(codes.max())
        if most >= 1 << 24:
            raise ValueError(
                f"{what} must have codes below 2^24, got {most}; Variable.of numbers those that "
                "occur"
            )
        found = Variable(codes.astype(np.int32), most + 1)
    if len(found.codes) != n_samples:
        raise ValueError(
            f"the table has {plural(n_samples, 'sample')} but {what} has {len(found.codes)}; pass "
            "one code a sample"
        )
    return found  # type: ignore[no-any-return]
