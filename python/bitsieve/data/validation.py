"""What may enter: every check of X, of the names and of y, and the words for refusing.

The rest of the project relies on what passed here: a C-ordered, aligned, native float32 or
float64 array of finite numbers with at least two samples, one feature and one column that
varies; unique names; and, for classification, labels coded as in ``numpy.unique``. NaN passes
only where it was said to stand for a missing value; see :mod:`bitsieve.data.missing`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bitsieve._checks import check_choice
from bitsieve._errors import ManyClassesWarning, MissingValues, NumericTarget, plural, shorten
from bitsieve.data.frames import column_names, is_frame, matrix_of_frame, refuse_text
from bitsieve.data.missing import check_finite, row_chunks

__all__ = [
    "Target",
    "Task",
    "check_discrete",
    "check_dtype",
    "check_matrix",
    "check_names",
    "check_target",
    "check_text",
]

Task = Literal["classification", "regression"]

#: More classes of whole numbers than this may well be a numeric target.
_MANY_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted.

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        The labels or numbers as they came.
    task : {"classification", "regression"}
        Which of the two it is.
    classes : ndarray of shape (n_classes,) or None
        Distinct labels in sorted order; None for regression.
    codes : ndarray of shape (n_samples,) or None
        Int32 position of each label in ``classes``; None for regression.
    """

    y: NDArray[Any]
    task: Task
    classes: NDArray[Any] | None
    codes: NDArray[np.int32] | None


def check_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The type of a feature-major copy: float32 or float64.

    Raises
    ------
    ValueError
        If it is anything else.

    Examples
    --------
    >>> check_dtype("float32")
    dtype('float32')
    """
    shown = repr(dtype)
    try:
        found = np.dtype(dtype)
        if found in (np.dtype(np.float32), np.dtype(np.float64)):
            return found
        shown = str(found)
    except TypeError:  # no type at all
        pass
    raise ValueError(f"dtype must be numpy.float32 or numpy.float64, got {shown}")


def check_matrix(
    X: Any,
    names: Sequence[str] | None = None,
    *,
    allow_nan: bool = False,
    allow_constant: bool = False,
    min_samples: int = 2,
) -> tuple[NDArray[Any], list[str] | None]:
    """Turn samples x features into the one array form used inside, or say why not.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        Numbers; a C-ordered float32 or float64 array is kept, not copied. Others become float32
        where that holds every value of their type, float64 otherwise.
    names : sequence of str, optional
        Feature names; those of a DataFrame by default.
    allow_nan : bool, default False
        Let NaN pass, as a missing value. Infinite values are refused all the same.
    allow_constant : bool, default False
        Let a table pass that has no column that varies.
    min_samples : int, default 2
        Fewest samples, 1 or 2.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        C-ordered, aligned, native float32 or float64, finite but for NaN where that is allowed.
    names : list of str or None
        Feature names.

    Raises
    ------
    ValueError
        If X is sparse, complex, text, ragged, empty, not two-dimensional, has one sample, no
        feature, NaN or infinite values, or no column that varies; if names do not fit.

    Examples
    --------
    >>> X, names = check_matrix([[1, 2], [3, 5]], ["a", "b"])
    >>> X.dtype, names
    (dtype('float64'), ['a', 'b'])
    """
    array, own_names = _as_array(X, allow_masked=allow_nan)
    names = check_names(own_names if names is None else names, array.shape[1])
    _check_shape(array, min_samples)
    if array.dtype.kind == "O":
        array = _numbers_of_objects(array, names)
    elif array.dtype.kind in "USMmV":
        refuse_text(list(range(array.shape[1])), names, array.flat[0].item())
    elif array.dtype.kind not in "biuf":
        raise ValueError(f"Complex data not supported: X has dtype {array.dtype}; pass X.real")
    array = _contiguous(array)
    check_finite(array, names, allow_nan=allow_nan)
    if not allow_constant:
        _check_varies(array, allow_nan=allow_nan)
    return array, names


def check_discrete(given: Any, n_features: int) -> NDArray[np.bool_] | None:
    """One flag a feature, read-only; None where none is set.

    Raises
    ------
    ValueError
        If it holds anything but one flag a feature.

    Examples
    --------
    >>> check_discrete([True, False], 2)
    array([ True, False])
    >>> check_discrete([False, False], 2)
    """
    if given is None:
        return None
    flags = np.array(given)
    if flags.dtype != bool or flags.shape != (n_features,):
        raise ValueError(
            f"discrete must hold one flag (True or False) a column of X, {n_features} in all, got "
            f"dtype {flags.dtype} and shape {flags.shape}"
        )
    flags.setflags(write=False)
    return flags if flags.any() else None


def check_names(given: Any, n_features: int) -> list[str] | None:
    """Feature names as a list of distinct strings.

    Raises
    ------
    ValueError
        If there are too few, too many, or some twice.

    Examples
    --------
    >>> check_names(["a", "a"], 2)
    Traceback (most recent call last):
    ValueError: feature names must be distinct, but 1 comes more than once: 'a'; rename them
    """
    if given is None:
        return None
    names = [str(n) for n in given]
    if len(names) != n_features:
        raise ValueError(
            f"expected {plural(n_features, 'feature name')}, one a column of X, got {len(names)}"
        )
    check_text(names, "feature names")
    if len(set(names)) < len(names):
        twice = [name for name, count in Counter(names).items() if count > 1]
        raise ValueError(
            f"feature names must be distinct, but {len(twice)} "
            f"{'come' if len(twice) > 1 else 'comes'} more than once: {shorten(twice)}; rename them"
        )
    return names


def check_text(texts: Sequence[str], what: str) -> None:
    """Refuse text that no file can hold: with halves of surrogate pairs in it.

    Raises
    ------
    ValueError
        With the first of them.

    Examples
    --------
    >>> check_text(["tp53", "\\ud800"], "feature names")
    Traceback (most recent call last):
    ValueError: 1 of the feature names is no text (lone surrogates): '\\ud800'; rename it
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        bad = [text for text in texts if any("\ud800" <= c <= "\udfff" for c in text)]
        raise ValueError(
            f"{len(bad)} of the {what} {'are' if len(bad) > 1 else 'is'} no text (lone "
            f"surrogates): {shorten(bad)}; rename {'them' if len(bad) > 1 else 'it'}"
        ) from None


def check_target(
    y: Any, n_samples: int, task: Task | None = None, *, min_classes: int = 2
) -> Target:
    """Labels or numbers to predict, coded and named.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any one type, or numbers.
    n_samples : int
        Samples in X.
    task : {"classification", "regression"}, optional
        By default as scikit-learn's ``type_of_target`` decides: numbers with a fractional part
        are a regression target, everything else is classes.
    min_classes : int, default 2
        Fewest classes, 1 or 2.

    Returns
    -------
    Target
        y, task, classes and codes.

    Raises
    ------
    ValueError
        If the length is wrong, values are missing or infinite, types are mixed, there is one
        class only, or y does not suit the task.

    Examples
    --------
    >>> target = check_target(["b", "a", "b"], 3)
    >>> target.task, target.classes.tolist(), target.codes.tolist()
    ('classification', ['a', 'b'], [1, 0, 1])
    """
    check_choice("task", task, ("classification", "regression", None))
    y = _as_vector(y)
    if len(y) != n_samples:
        raise ValueError(
            f"X has {plural(n_samples, 'sample')} but y has {plural(len(y), 'label')} "
            f"(inconsistent numbers of samples: [{n_samples}, {len(y)}])"
        )
    continuous = y.dtype.kind == "f" and bool((y != np.rint(y)).any())
    if task is None:
        task = "regression" if continuous else "classification"
    if task == "regression":
        if y.dtype.kind not in "biuf":
            raise ValueError(
                f"a regression target must hold numbers, but y holds {y.flat[0]!r}; "
                "for classes use a classifier or a filter for classes"
            )
        return Target(y, "regression", None, None)
    if continuous:
        example = y[np.flatnonzero(y != np.rint(y))[0]]
        raise NumericTarget(
            "Unknown label type: continuous. Classes were expected, but y holds numbers such as "
            f"{example:.6g}; use a regressor or a filter for numbers, or bin y into classes first"
        )
    classes, codes = np.unique(y, return_inverse=True)
    if classes.dtype.kind in "OU":
        check_text([str(label) for label in classes.tolist()], "labels")
    if len(classes) < min_classes:
        raise ValueError(
            "classification needs two classes or more, but y has 1 class: "
            f"{shorten(classes.tolist())} for all {plural(n_samples, 'sample')}"
        )
    if y.dtype.kind in "iuf" and len(classes) > max(_MANY_CLASSES, n_samples / 3):
        warnings.warn(
            f"y holds {len(classes)} distinct whole numbers over "
            f"{plural(n_samples, 'sample')} and is taken for classes; if they are numbers to "
            "predict, say so (task='regression') or take a method for numbers",
            ManyClassesWarning,
            stacklevel=2,
        )
    return Target(y, "classification", classes, codes.reshape(-1).astype(np.int32))


def _as_array(X: Any, *, allow_masked: bool) -> tuple[NDArray[Any], list[str] | None]:
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise ValueError(
            f"Sparse input is not supported, got {type(X).__name__} of shape {X.shape}; "
            "pass X.toarray()"
        )
    if is_frame(X):
        if 0 in X.shape:
            return np.empty(X.shape), column_names(X)
        return matrix_of_frame(X), column_names(X)
    if isinstance(X, np.ma.MaskedArray) and bool(np.ma.getmaskarray(X).any()):
        if allow_masked:
            return np.ma.filled(X.astype(np.float64), np.nan), None
        raise MissingValues(
            f"Input X contains NaN: {plural(int(np.ma.getmaskarray(X).sum()), 'value')} masked; "
            "fill them in with X.filled(...)"
        )
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"X must be samples x features, all rows of one length: {error}") from None
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, samples x features, got {array.ndim}D array instead of shape "
            f"{array.shape}; use X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample"
        )
    return array, None


def _check_shape(array: NDArray[Any], min_samples: int) -> None:
    n_samples, n_features = array.shape
    if n_samples == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of "
            f"{min_samples} is required"
        )
    if n_features == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required"
        )
    if n_samples < min_samples:
        raise ValueError(
            f"X has n_samples=1 (shape={array.shape}) while a minimum of 2 is required; "
            "if rows are features, pass X.T, or say so where X comes from a file (orient)"
        )


def _numbers_of_objects(array: NDArray[Any], names: list[str] | None) -> NDArray[np.float64]:
    text = np.zeros(array.shape[1], dtype=bool)
    example: object = None
    for row in array:
        for j, value in enumerate(row):
            if isinstance(value, (str, bytes)) or not _is_real(value):
                example = value if not text.any() else example
                text[j] = True
    if text.any():
        refuse_text(np.flatnonzero(text).tolist(), names, example)
    out = np.empty(array.shape)
    for i, row in enumerate(array):
        out[i] = [np.nan if _is_missing(v) else float(v) for v in row]
    return out


def _is_real(value: object) -> bool:
    return _is_missing(value) or (hasattr(value, "__float__") and not isinstance(value, complex))


def _is_missing(value: object) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
    )


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    dtype = array.dtype
    small = dtype.itemsize <= (4 if dtype.kind == "f" else 2)
    wanted = np.dtype(np.float32 if small else np.float64)
    if dtype == wanted and dtype.isnative and array.flags.c_contiguous and array.flags.aligned:
        return array
    out = np.empty(array.shape, dtype=wanted)
    step = max(16, (1 << 17) // array.shape[0])  # blocks keep both sides of a transpose in cache
    with np.errstate(over="ignore"):
        for start in range(0, array.shape[1], step):
            out[:, start : start + step] = array[:, start : start + step]
    return out


def _check_varies(array: NDArray[Any], *, allow_nan: bool) -> None:
    first = array[0]
    if allow_nan:  # the first known value of each column, NaN where there is none
        first = array[(~np.isnan(array)).argmax(axis=0), np.arange(array.shape[1])]
    chunks = row_chunks(array)
    if not any(((chunk != first) & (chunk == chunk)).any() for chunk in chunks):
        raise ValueError(
            f"X is constant: none of its {plural(array.shape[1], 'column')} varies over the "
            f"{array.shape[0]} samples, so there is nothing to select"
        )


def _as_vector(y: Any) -> NDArray[Any]:
    if isinstance(y, np.ma.MaskedArray):
        _refuse_in_y("NaN", np.ma.getmaskarray(y).reshape(-1))
    array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead")
    if array.dtype.kind in "cMmV":
        raise ValueError(f"y must hold labels or real numbers, got dtype {array.dtype}")
    if array.dtype.kind == "O":
        missing = np.fromiter((_is_missing(v) for v in array), dtype=bool, count=len(array))
        _refuse_in_y("NaN", missing)
        array = _one_type(array)
    if array.dtype.kind == "f":
        _refuse_in_y("NaN", np.isnan(array))
        _refuse_in_y("infinity", np.isinf(array))
    return array


def _refuse_in_y(what: str, where: NDArray[np.bool_]) -> None:
    positions = np.flatnonzero(where)
    if positions.size:
        raise ValueError(
            f"Input y contains {what}: {positions.size} of {plural(len(where), 'label')} (at "
            f"{shorten(positions.tolist())}, counted from 0); drop these samples from X and y"
        )


def _one_type(array: NDArray[Any]) -> NDArray[Any]:
    if all(isinstance(v, str) for v in array) or all(isinstance(v, bytes) for v in array):
        return array
    if all(isinstance(v, (bool, int, float, np.number, np.bool_)) for v in array):
        return np.array(array.tolist())
    kinds = sorted({type(v).__name__ for v in array})
    raise ValueError(
        f"Unknown label type: y mixes {', '.join(kinds)}; make all labels text, "
        "for example [str(label) for label in y]"
    )
