"""Tables in NumPy archives."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest
from bitsieve.data.labels import read_groups, read_labels
from bitsieve.data.request import ReadRequest
from bitsieve.data.table import Table

__all__ = ["read_npz"]

_NAMES = ("names", "feature_names")
_SAMPLES = ("sample_names", "samples", "index")


def read_npz(request: ReadRequest) -> Table:
    """Read X, y and names from an ``.npz`` archive; see :func:`bitsieve.data.read_table`.

    ``X`` goes into the table as it is loaded, without a second copy. Pickled objects are refused.
    """
    if not zipfile.is_zipfile(request.path):
        raise ValueError("not a NumPy archive (or cut short); write one with numpy.savez")
    with np.load(request.path, allow_pickle=False) as archive:
        keys = list(archive.files)
        if "X" not in keys:
            raise ValueError(f"no array named 'X'; {closest('X', keys)}")
        names = _text(archive, _NAMES)
        sample_names = _text(archive, _SAMPLES)
        X = _load(archive, "X")
        if X.ndim != 2:
            raise ValueError(f"X must be samples x features, got shape {X.shape}")
        y, target_name, features = _target(request, archive, keys, X, names, sample_names)
        groups = None
        if request.groups is not None and str(request.groups) in keys:
            groups = _load(archive, str(request.groups))
    if features:
        X = X.T
    if request.groups is not None and groups is None:
        if names is None or request.groups not in names or request.groups == target_name:
            groups = read_groups(request, sample_names, X.shape[0], "array or feature", keys)
        else:
            groups, X, names = _taken_out(str(request.groups), X, names)
    if target_name is not None and names is not None and y is None:
        y, X, names = _taken_out(target_name, X, names)
    return Table(
        X,
        y,
        names=names,
        sample_names=sample_names,
        target_name=target_name,
        task=request.task,
        dtype=request.dtype,
        missing=request.missing,
        groups=groups,
    )


def _taken_out(
    name: str, X: NDArray[Any], names: list[str]
) -> tuple[NDArray[Any], NDArray[Any], list[str]]:
    """Return a column by its name, and the table and the names without it."""
    at = names.index(name)
    return X[:, at].copy(), np.delete(X, at, axis=1), names[:at] + names[at + 1 :]


def _target(
    request: ReadRequest,
    archive: Any,
    keys: list[str],
    X: NDArray[Any],
    names: list[str] | None,
    sample_names: list[str] | None,
) -> tuple[NDArray[Any] | None, str | None, bool]:
    """Target, its name, and whether rows of X are features (y None: a column of X)."""
    target = request.target
    features = request.orient == "features"
    if request.orient == "auto" and names is not None:
        features = len(names) == X.shape[0] != X.shape[1]
    if target is None and "y" not in keys:
        return None, None, features
    if target is None or (isinstance(target, str) and target in keys):
        key = "y" if target is None else str(target)
        if key in ("X", *_NAMES):
            raise ValueError(f"target {key!r} is not an array of labels; the usual name is 'y'")
        y = _load(archive, key)
        if request.orient == "auto" and y.ndim == 1 and len(y) != X.shape[0]:
            features = len(y) == X.shape[1]
        return y, key, features
    if isinstance(target, str) and names is not None and target in names:
        return None, target, features
    if isinstance(target, str) and not Path(target).is_file():
        known = [k for k in keys if k not in ("X", *_NAMES, *_SAMPLES)] + (names or [])
        raise ValueError(
            f"target {target!r} is not an array of the archive, a feature name or a file of "
            f"labels; {closest(target, known)}"
        )
    labels = read_labels(Path(target), request.encoding)
    if request.orient == "auto" and sample_names is None and names is None:
        features = labels.says_features(*X.shape)
    n_samples = X.shape[1] if features else X.shape[0]
    return labels.align(sample_names, n_samples), Path(target).name, features


def _text(archive: Any, keys: tuple[str, ...]) -> list[str] | None:
    key = next((k for k in keys if k in archive.files), None)
    if key is None:
        return None
    array = _load(archive, key)
    if array.ndim != 1:
        raise ValueError(f"{key!r} must be one name a line, got shape {array.shape}")
    if array.dtype.kind == "S":
        try:
            return [name.decode() for name in array.tolist()]
        except UnicodeDecodeError:
            raise ValueError(
                f"{key!r} holds bytes that are not UTF-8; store text: numpy.array(..., dtype=str)"
            ) from None
    return [str(name) for name in array.tolist()]


def _load(archive: Any, key: str) -> NDArray[Any]:
    try:
        return np.asarray(archive[key])
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise ValueError(
            f"array {key!r} holds pickled Python objects, which could run code and are not "
            f"loaded; store plain arrays: numpy.array(..., dtype=str) for text, float for numbers"
        ) from None
    except TypeError as error:
        raise ValueError(f"array {key!r} cannot be read: {error}") from error
