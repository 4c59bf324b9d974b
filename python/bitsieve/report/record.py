"""The record of a run: what is needed to repeat it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bitsieve._files import write_atomically
from bitsieve._version import __version__
from bitsieve._versions import package_version

__all__ = ["SCHEMA", "environment", "file_identity", "jsonable", "write_run_json"]

#: Number of the layout of run.json; a reader may refuse a number it does not know.
SCHEMA = 1

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib")


def environment() -> dict[str, Any]:
    """Return versions of what the numbers depend on.

    Returns
    -------
    dict
        ``python``, ``platform``, ``machine``, ``cpu_count``, ``packages`` (name to version or
        None), ``isa`` (the instruction set of the compiled loops, None without them) and the
        environment variables that set threads or instruction sets.

    Examples
    --------
    >>> from bitsieve.report import environment
    >>> sorted(environment())[:3]
    ['cpu_count', 'isa', 'machine']
    """
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpu_count": os.cpu_count(),
        "packages": {"bitsieve": __version__} | {name: package_version(name) for name in _PACKAGES},
        "isa": _isa(),
        "variables": {
            name: os.environ[name]
            for name in ("BITSIEVE_ISA", "BITSIEVE_NUM_THREADS", "OMP_NUM_THREADS")
            if name in os.environ
        },
    }


def file_identity(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return name, size and checksum of an input file.

    Parameters
    ----------
    path : path-like
        The file; it is read once.

    Returns
    -------
    dict
        ``path`` (absolute), ``bytes`` and ``sha256`` (hex).

    Raises
    ------
    OSError
        Where it cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bitsieve.report import file_identity
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "x.csv")
    ...     _ = path.write_bytes(b"abc")
    ...     identity = file_identity(path)
    >>> identity["bytes"], identity["sha256"][:8]
    (3, 'ba7816bf')
    """
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        size = file.tell()
    return {"path": str(Path(path).resolve()), "bytes": size, "sha256": digest.hexdigest()}


def jsonable(value: Any) -> Any:
    """Return a value as JSON knows it: arrays as lists, NaN and infinities as null.

    Parameters
    ----------
    value : object
        Mappings, sequences, numpy arrays and scalars, paths, and anything with a ``repr``.

    Returns
    -------
    dict, list, str, int, float, bool or None
    """
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return repr(value)


def write_run_json(path: str | os.PathLike[str], record: Mapping[str, Any]) -> Path:
    """Write the record of a run as JSON in ASCII, with its schema number and the environment.

    Parameters
    ----------
    path : path-like
        The file; written atomically.
    record : mapping
        Command, input, parameters, seed and results. ``schema`` and ``environment`` are added
        where it has none.

    Returns
    -------
    pathlib.Path
        The path written.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import json, tempfile
    >>> from bitsieve.report import write_run_json
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_run_json(f"{folder}/run.json", {"seed": 7})
    ...     json.loads(path.read_text())["seed"]
    7
    """
    whole = {"schema": SCHEMA, "environment": environment(), **record}
    text = json.dumps(jsonable(whole), indent=2, allow_nan=False)
    return write_atomically(path, (text + "\n").encode("ascii"))


def _isa() -> str | None:
    try:
        from bitsieve._isa import get_isa

        return get_isa()
    except ImportError:
        return None
