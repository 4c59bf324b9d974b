"""Tables in NumPy archives, and sparse ones as SciPy stores them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, plural, quoted
from bitsieve.data.archive import Archive
from bitsieve.data.finish import drop_features, finish_table, names_to_drop
from bitsieve.data.labels import LabelFile, label_source, read_groups, read_labels
from bitsieve.data.opening import allowed_size
from bitsieve.data.request import ReadRequest
from bitsieve.data.table import Table

__all__ = ["read_npz"]

_NAMES = ("names", "feature_names")
_SAMPLES = ("sample_names", "samples", "index")

#: What scipy.sparse stores of a matrix besides its values.
_SPARSE = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}

#: How many times larger than its file a sparse table may become.
_MOST_SPARSE = 1000


def read_npz(request: ReadRequest) -> Table:
    """Read X, y and names from an ``.npz`` archive; see :func:`bitsieve.data.read_table`.

    ``X`` goes into the table as it is loaded, without a second copy. Pickled objects are refused.
    An archive of ``scipy.sparse.save_npz`` is taken for ``X`` without names.
    """
    if request.index not in ("auto", None):
        raise ValueError(
            f"no index can be named in an archive ({quoted(str(request.index))}): its sample names "
            "are the array 'sample_names'"
        )
    with Archive(request.path) as archive:
        keys = archive.names
        sparse = {"format", "shape", "data"} <= set(keys)
        if "X" not in keys and not sparse:
            raise ValueError(f"no array named 'X'; {closest('X', keys)}")
        names = _text(archive, _NAMES)
        sample_names = _text(archive, _SAMPLES)
        X = archive["X"] if "X" in keys else _dense(archive, request.path.stat().st_size)
        if X.ndim != 2:
            raise ValueError(f"X must be samples x features, got shape {X.shape}")
        y, target_name, features, labels = _target(request, archive, X, names, sample_names)
        groups: Any = None
        if request.groups is not None and str(request.groups) in archive.names:
            groups = archive[str(request.groups)]
    if features:
        X = X.T
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(
            f"expected {plural(X.shape[1], 'feature name')}, one a column of X, got {len(names)}"
        )
    if request.groups is not None and groups is None:
        if names is None or request.groups not in names or request.groups == target_name:
            groups = read_groups(request, sample_names, X.shape[0], "array or feature", keys)
        else:
            groups, X, names = _taken_out(str(request.groups), X, names)
    if target_name is not None and names is not None and y is None:
        y, X, names = _taken_out(target_name, X, names)
    if request.drop:
        if names is None:
            raise ValueError("the features have no names, so none can be dropped")
        X, names, _ = drop_features(X, names, names_to_drop(request.drop, names))
    return finish_table(
        request, X, y, names=names, sample_names=sample_names, target_name=target_name,
        labels=labels, groups=groups,
    )  # fmt: skip


def _taken_out(
    name: str, X: NDArray[Any], names: list[str]
) -> tuple[NDArray[Any], NDArray[Any], list[str]]:
    """Return a column by its name, and the table and the names without it."""
    at = names.index(name)
    return X[:, at].copy(), np.delete(X, at, axis=1), names[:at] + names[at + 1 :]


def _target(
    request: ReadRequest,
    archive: Archive,
    X: NDArray[Any],
    names: list[str] | None,
    sample_names: list[str] | None,
) -> tuple[Any, str | None, bool, LabelFile | None]:
    """Target (None: a column of X), its name, whether rows of X are features, and its file."""
    target, keys = request.target, archive.names
    features = request.orient == "features"
    if request.orient == "auto" and names is not None:
        features = len(names) == X.shape[0] != X.shape[1]
    if target is None and "y" not in keys:
        return None, None, features, None
    if target is None or (isinstance(target, str) and target in keys):
        key = "y" if target is None else str(target)
        if key in ("X", *_NAMES):
            raise ValueError(f"target {key!r} is not an array of labels; the usual name is 'y'")
        y = archive[key]
        if request.orient == "auto" and y.ndim == 1 and len(y) != X.shape[0]:
            features = len(y) == X.shape[1]
        return y, key, features, None
    if isinstance(target, str) and names is not None and target in names:
        return None, target, features, None
    source = label_source(target)
    if isinstance(target, str) and source is None:
        known = [k for k in keys if k not in ("X", *_NAMES, *_SAMPLES)] + (names or [])
        raise ValueError(
            f"target {quoted(target)} is not an array of the archive, a feature name or a file of "
            f"labels; {closest(target, known)}"
        )
    path, column = source or (Path(target), None)
    labels = read_labels(path, request.encoding, column, request.decimal)
    if request.orient == "auto" and sample_names is None and names is None:
        features = labels.says_features(*X.shape)
    n_samples = X.shape[1] if features else X.shape[0]
    texts = labels.align(sample_names, n_samples)
    return texts, path.name if column is None else column, features, labels


def _text(archive: Archive, keys: tuple[str, ...]) -> list[str] | None:
    key = next((k for k in keys if k in archive), None)
    if key is None:
        return None
    array = archive[key]
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


def _dense(archive: Archive, stored: int) -> NDArray[Any]:
    """The matrix that ``scipy.sparse.save_npz`` wrote, every index of it checked."""
    import scipy.sparse  # slow to import

    kind = "".join(archive["format"].reshape(-1)[:1].astype("U8").tolist())
    if kind not in _SPARSE:
        raise ValueError(f"sparse format {kind!r} is not known; there are {', '.join(_SPARSE)}")
    lacking = [key for key in _SPARSE[kind] if key not in archive]
    if lacking:
        raise ValueError(f"the sparse table has no array {lacking[0]!r}")
    shape = tuple(int(n) for n in archive["shape"].reshape(-1).tolist())
    data, parts = archive["data"], [archive[key] for key in _SPARSE[kind]]
    if data.dtype.kind not in "biuf" or any(part.dtype.kind not in "iu" for part in parts):
        raise ValueError(f"the sparse table holds {data.dtype}, not numbers at whole positions")
    size = math.prod(shape) * data.dtype.itemsize
    if size > allowed_size(stored, _MOST_SPARSE):
        raise ValueError(
            f"the sparse table of shape {shape} would take {size:,} bytes with its zeros, over "
            f"{_MOST_SPARSE} times its file; keep fewer features"
        )
    try:
        made = getattr(scipy.sparse, f"{kind}_matrix")
        where = (tuple(parts),) if kind == "coo" else parts
        matrix = made((data, *where), shape=shape)
        if kind not in ("coo", "dia"):
            matrix.check_format(full_check=True)  # toarray() trusts the positions
        return np.asarray(matrix.toarray())
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(f"the sparse table is damaged ({error})") from error
