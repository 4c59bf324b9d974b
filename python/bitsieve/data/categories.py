"""Columns of text become numbers: one a category, or one 0/1 column a category."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import name_columns, plural, shorten
from bitsieve.data.frames import comma_hint, first_text, matrix_of_frame, refuse_text
from bitsieve.data.lines import is_number

__all__ = ["Encoded", "encode_categories"]

Floats = NDArray[np.float32] | NDArray[np.float64]

#: More whole numbers than these are hardly names of categories,
_MANY = 20
#: and so many texts among them hardly categories of their own.
_FEW = 2


@dataclass(frozen=True, eq=False)
class Encoded:
    """A frame as numbers.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples, n_columns)
        Float32 or float64, NaN where a value is missing.
    names : list of str
    discrete : ndarray of shape (n_columns,)
        Bool; columns that were text or booleans.
    """

    matrix: NDArray[Any]
    names: list[str]
    discrete: NDArray[np.bool_]


def encode_categories(
    frame: Any, how: Literal["onehot", "ordinal"], *, keep_missing: bool
) -> Encoded:
    """Replace the columns of text of a pandas DataFrame by numbers, each in its place.

    Parameters
    ----------
    frame : pandas.DataFrame
        As read from text: numbers, booleans, text.
    how : {"onehot", "ordinal"}
        One 0/1 column a value, where missing text is the value ``missing``; or the position of
        the value among the sorted ones of its column.
    keep_missing : bool
        Whether missing text is NaN among positions, or refused.

    Returns
    -------
    Encoded

    Raises
    ------
    ValueError
        If text is missing where that is refused, a column holds numbers with commas, or it holds
        many numbers and one or two other texts, which may stand for a missing value.

    Warns
    -----
    UserWarning
        If most values of a column of text are numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [40.0, 52.0, 47.0], "grade": ["low", None, "high"]})
    >>> found = encode_categories(frame, "ordinal", keep_missing=True)
    >>> found.matrix[:, 1], found.discrete
    (array([ 1., nan,  0.]), array([False,  True]))
    """
    names = [str(name) for name in frame.columns]
    coded, flags = {}, []
    for j, (_, column) in enumerate(frame.items()):
        if _is_boolean(column):
            flags.append(j)
        elif not _is_number(column):
            coded[j] = _levels(column)
    if not coded:
        discrete = np.zeros(len(names), dtype=bool)
        discrete[flags] = True
        return Encoded(matrix_of_frame(frame), names, discrete)
    numbers = np.setdiff1d(np.arange(len(names)), list(coded))
    plain = matrix_of_frame(frame.iloc[:, numbers]) if len(numbers) else np.empty(0, np.float32)
    _check(names, coded, refuse_missing=how == "ordinal" and not keep_missing)
    widths = np.ones(len(names), dtype=np.int64)
    if how == "onehot":
        for j, (values, codes) in coded.items():
            widths[j] = len(values) + bool((codes < 0).any())
    first = np.concatenate([[0], np.cumsum(widths)])
    dtype = np.result_type(plain.dtype, np.float32)
    out: Floats = np.zeros((len(frame), int(first[-1])), dtype=dtype)
    if len(numbers):
        out[:, first[numbers]] = plain
    discrete = np.zeros(out.shape[1], dtype=bool)
    discrete[first[flags]] = True
    renamed = {}
    for j, (values, codes) in coded.items():
        part = slice(int(first[j]), int(first[j + 1]))
        discrete[part] = True
        if how == "ordinal":
            out[:, first[j]] = np.where(codes < 0, np.nan, codes)
            continue
        values = [*values, "missing"][: widths[j]]
        out[:, part] = np.where(codes < 0, len(values) - 1, codes)[:, None] == range(len(values))
        renamed[j] = [f"{names[j]}={value}" for value in values]
    names = [name for j, own in enumerate(names) for name in renamed.get(j, [own])]
    return Encoded(out, names, discrete)


def _is_boolean(column: Any) -> bool:
    """True for True and False, and nothing else but missing values."""
    if column.dtype.kind != "O":
        return bool(column.dtype.kind == "b")
    infer = sys.modules["pandas"].api.types.infer_dtype
    return bool(infer(column, skipna=True) == "boolean")


def _is_number(column: Any) -> bool:
    return bool(sys.modules["pandas"].api.types.is_numeric_dtype(column.dtype))


def _levels(column: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Sorted values of a column, and the position of each sample's, -1 where it is missing."""
    found = column.to_numpy(dtype=object)
    known = sys.modules["pandas"].notna(found)
    codes = np.full(len(column), -1, dtype=np.int64)
    texts = np.array([str(v) for v in found[known]])
    values, codes[known] = np.unique(texts, return_inverse=True)
    return [str(v) for v in values], codes


def _are_numbers_with_commas(values: list[str]) -> bool:
    others = [value for value in values if not is_number(value)]
    return bool(others) and all(map(comma_hint, others))


def _are_measurements(values: list[str]) -> bool:
    """True for fractions or many numbers with a text or two, such as a mark for missing ones."""
    numbers = [float(value) for value in values if is_number(value)]
    many = len(numbers) > _MANY or not all(number.is_integer() for number in numbers)
    return many and len(values) - len(numbers) <= _FEW


def _check(
    names: list[str],
    coded: dict[int, tuple[list[str], NDArray[np.int64]]],
    *,
    refuse_missing: bool,
) -> None:
    holes = {j: int((codes < 0).sum()) for j, (_, codes) in coded.items() if (codes < 0).any()}
    if holes and refuse_missing:
        s = "s" if len(holes) > 1 else ""
        raise ValueError(
            f"Input X contains NaN: {plural(sum(holes.values()), 'value')} missing in text "
            f"column{s} {shorten(names[j] for j in holes)}; fill them in, drop the column{s}, or "
            "pass missing='keep' to keep them as NaN, or categorical='onehot', where a missing "
            "value is one of the values"
        )
    slips = [j for j, (values, _) in coded.items() if _are_numbers_with_commas(values)]
    if slips:
        refuse_text(slips, names, first_text(coded[slips[0]][0]))
    mixed = [j for j, (values, _) in coded.items() if 2 * sum(map(is_number, values)) > len(values)]
    marked = [j for j in mixed if _are_measurements(coded[j][0])]
    shown = marked or mixed
    if not shown:
        return
    said = (
        f"{name_columns(shown, names)} {'hold' if len(shown) > 1 else 'holds'} numbers, but also "
        f"text such as {first_text(coded[shown[0]][0])!r}"
    )
    if marked:
        raise ValueError(f"{said}; leave the field empty where a value is missing, or correct it")
    warnings.warn(
        f"{said}; {'they are' if len(shown) > 1 else 'it is'} taken as categories", stacklevel=2
    )
