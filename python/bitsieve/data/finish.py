"""The last steps of every reader: labels to samples, names that come twice, and the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, plural, quoted, shorten
from bitsieve.data.labels import LabelFile, infer_labels, is_missing_label
from bitsieve.data.request import Duplicates, ReadRequest
from bitsieve.data.table import Table

__all__ = ["drop_features", "finish_table", "names_to_drop"]


def names_to_drop(drop: Iterable[str], known: Collection[str]) -> set[str]:
    """Names out of a list in which a text with commas may stand for several.

    Raises
    ------
    ValueError
        If one is not known.

    Examples
    --------
    >>> sorted(names_to_drop(["a,b", "c,d"], ["a", "b", "c,d"]))
    ['a', 'b', 'c,d']
    """
    found: set[str] = set()
    for entry in drop:
        names = [entry] if entry in known else [name.strip() for name in entry.split(",")]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(
                f"there is nothing named {quoted(unknown[0])} to drop; {closest(unknown[0], known)}"
            )
        found.update(names)
    return found


def drop_features(
    matrix: NDArray[Any], names: list[str], away: Collection[str], discrete: Any = None
) -> tuple[NDArray[Any], list[str], Any]:
    """Matrix, names and flags without the features of some names."""
    keep = [j for j, name in enumerate(names) if name not in away]
    if not keep:
        raise ValueError("no feature is left after what is to be dropped")
    flags = None if discrete is None else discrete[keep]
    return matrix[:, keep], [names[j] for j in keep], flags


def finish_table(
    request: ReadRequest,
    matrix: NDArray[Any],
    y: Any,
    *,
    names: list[str] | None,
    sample_names: list[str] | None,
    target_name: str | None,
    discrete: NDArray[np.bool_] | None = None,
    labels: LabelFile | None = None,
    groups: list[str] | NDArray[Any] | None = None,
) -> Table:
    """Make the table.

    Parameters
    ----------
    request : ReadRequest
    matrix : ndarray of shape (n_samples, n_features)
    y : list of str, ndarray or None
        Labels: as written, where a list.
    names, sample_names, target_name, discrete
        As in :class:`Table`; names may come twice.
    labels : LabelFile or None
        Where they are from, if that is a file of their own.
    groups : list of str, ndarray or None
        The group of each sample: as written, where a list.

    Returns
    -------
    Table
        Without the samples that have no label, which `request.notes` tells.

    Raises
    ------
    ValueError
        If no sample has a label, names come twice and are not to be merged, or the values are not
        fit for a table.
    """
    if isinstance(y, list):
        known = np.array([not is_missing_label(text) for text in y])
        if not known.all():
            request.notes.append(_without_label(known, sample_names, labels))
            matrix = matrix[known]
            y = [text for text, is_known in zip(y, known, strict=True) if is_known]
            if groups is not None:
                groups = [group for group, k in zip(groups, known, strict=True) if k]
            if sample_names is not None:
                sample_names = [n for n, k in zip(sample_names, known, strict=True) if k]
        y = infer_labels(y, request.decimal)
    if isinstance(groups, list) and all(isinstance(group, str) for group in groups):
        groups = infer_labels(groups, request.decimal)
    if names is not None:
        matrix, names, discrete = _merged(matrix, names, discrete, request.duplicates)
    table = Table(
        matrix,
        y,
        names=names,
        sample_names=sample_names,
        target_name=target_name,
        task=request.task,
        dtype=request.dtype,
        missing=request.missing,
        discrete=discrete,
        groups=groups,
        to_predict=request.to_predict,
    )
    if labels is not None:
        table.label_match = "in order" if labels.names is None else "by name"
    return table


def _without_label(
    known: NDArray[np.bool_], sample_names: list[str] | None, labels: LabelFile | None
) -> str:
    lost = np.flatnonzero(~known).tolist()
    where = "" if labels is None else f" in {labels.path.name}"
    if len(lost) == len(known):
        raise ValueError(f"none of {plural(len(known), 'sample')} has a label{where}")
    shown = shorten(lost if sample_names is None else [sample_names[i] for i in lost])
    counted = ", counted from 0" if sample_names is None else ""
    return (
        f"{len(lost)} of {plural(len(known), 'sample')} "
        f"{'have' if len(lost) > 1 else 'has'} no label{where} and "
        f"{'are' if len(lost) > 1 else 'is'} left out: {shown}{counted}"
    )


def _merged(
    matrix: NDArray[Any],
    names: list[str],
    discrete: NDArray[np.bool_] | None,
    how: Duplicates,
) -> tuple[NDArray[Any], list[str], NDArray[np.bool_] | None]:
    """One feature a name, at the place of its first one."""
    positions: dict[str, list[int]] = {}
    if len(set(names)) == len(names) == matrix.shape[1]:
        return matrix, names, discrete
    for j, name in enumerate(names):
        positions.setdefault(name, []).append(j)
    twice = {name: at for name, at in positions.items() if len(at) > 1}
    if how == "error" or len(names) != matrix.shape[1]:
        _refuse_twice(names, matrix.shape[1])
    nameless = [name for name in twice if is_missing_label(name)]
    if nameless:
        raise ValueError(
            f"{len(twice[nameless[0]])} features have no name ({quoted(nameless[0])}), so they "
            f"are not the same one: drop them (drop={nameless}, --drop {nameless[0]!r}), or name "
            "them"
        )
    coded = [name for name, at in twice.items() if discrete is not None and discrete[at].any()]
    if coded and how != "first":
        raise ValueError(
            f"{shorten(coded)} {'come' if len(coded) > 1 else 'comes'} more than once and "
            f"{'hold' if len(coded) > 1 else 'holds'} categories, which have no {how}: take "
            "duplicates='first' (--duplicates first), or rename them"
        )
    first = [at[0] for at in positions.values()]
    out = matrix[:, first]
    if how == "mean" and out.dtype.kind != "f":
        out = out.astype(np.float64)
    for k, at in enumerate(positions.values()):
        if len(at) > 1 and how != "first":
            out[:, k] = _merge(matrix[:, at], how)
    return out, list(positions), None if discrete is None else discrete[first]


def _merge(columns: NDArray[Any], how: Duplicates) -> NDArray[Any]:
    known = ~np.isnan(columns)
    values = np.where(known, columns, 0.0)
    if how == "mean":
        count = known.sum(axis=1)
        out: NDArray[Any] = np.full(len(count), np.nan)
        np.divide(values.sum(axis=1), count, where=count > 0, out=out)
        return out
    count = known.sum(axis=0)
    means = np.divide(values.sum(axis=0), count, where=count > 0, out=np.full(len(count), -np.inf))
    return np.asarray(columns[:, int(means.argmax())])


def _refuse_twice(names: Sequence[str], n_features: int) -> None:
    if len(names) != n_features:
        raise ValueError(
            f"expected {plural(n_features, 'feature name')}, one a column of X, got {len(names)}"
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    raise ValueError(
        f"feature names must be distinct, but {len(twice)} "
        f"{'come' if len(twice) > 1 else 'comes'} more than once: {shorten(twice)}; rename them, "
        "or say duplicates='mean', 'max' or 'first' (--duplicates)"
    )
