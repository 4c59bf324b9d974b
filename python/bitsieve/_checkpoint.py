"""Checkpoints: one file a run, in a directory that many runs may share.

A file is a NumPy archive (no pickle) with one JSON member, ``meta.json``, that holds the schema
number and all scalars. It is named by a fingerprint of the data, the parameters, the splits, the
seed policy and the version, so that runs of different problems never meet. It is written whole:
to a temporary file beside it, flushed to the disk, then put in place.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import CheckpointMismatch
from bitsieve._files import write_atomically
from bitsieve._version import __version__

__all__ = ["SCHEMA", "CheckpointStore", "fingerprint"]

SCHEMA = 2
_STALE_SECONDS = 600.0


def fingerprint(parts: Mapping[str, object]) -> str:
    """Hash arrays and scalars by name, with the version and the schema.

    Parameters
    ----------
    parts : mapping
        Values are arrays, numbers, strings, None, or mappings of those.

    Returns
    -------
    str
        Thirty-two hexadecimal digits.

    Examples
    --------
    >>> fingerprint({"a": 1}) == fingerprint({"a": 2})
    False
    """
    digest = hashlib.sha256(f"bitsieve {__version__} schema {SCHEMA}".encode())

    def add(name: str, value: object) -> None:
        if isinstance(value, Mapping):
            digest.update(f"\n{name}{{".encode())
            for key in sorted(value):
                add(str(key), value[key])
            digest.update(b"\n}")
        elif isinstance(value, np.ndarray):
            digest.update(f"\n{name}: {value.dtype.str} {value.shape} ".encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        else:
            plain = value.item() if isinstance(value, np.generic) else value
            digest.update(f"\n{name}: {type(plain).__name__} {plain!r}".encode())

    add("parts", parts)
    return digest.hexdigest()[:32]


class CheckpointStore:
    """The file of one run.

    Parameters
    ----------
    directory : str or path
        Made if it is missing.
    name : str
        The fingerprint of the run.
    kind : str, default "run"
        What the name of the file begins with.
    instead : str, default ", or pass resume=False to start anew"
        What else may be done about a damaged file than to delete it.

    Raises
    ------
    ValueError
        If the directory is no path, or cannot be made.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        name: str,
        *,
        kind: str = "run",
        instead: str = ", or pass resume=False to start anew",
    ) -> None:
        self.name = name
        self._instead = instead
        if isinstance(directory, str) and (not directory or "\0" in directory):
            raise ValueError(f"checkpoint must name a directory, got {directory!r}")
        try:
            self.directory = Path(directory)
        except TypeError as error:
            raise ValueError(
                f"checkpoint must name a directory, got {type(directory).__name__} {directory!r}"
            ) from error
        self.path = self.directory / f"{kind}-{name}.npz"
        self.failed = False
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(
                f"checkpoint must name a directory that exists or can be made, got "
                f"{str(directory)!r}: {error.strerror or error}"
            ) from error
        self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        # A killed process leaves its temporary file; a living one replaces it within a second.
        for path in self.directory.glob(f".{self.path.stem}.*.tmp"):
            try:
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
            except OSError:
                continue

    def load(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Read the file: its scalars and its arrays, or None where there is no file.

        Raises
        ------
        CheckpointMismatch
            If the file is damaged, or is not one that this run could have written.
        """
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CheckpointMismatch(f"cannot read checkpoint {self.path}: {error}") from error
        try:
            with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                damaged = archive.testzip()
                if damaged is not None:
                    raise zipfile.BadZipFile(f"bad checksum of {damaged}")
                meta = json.loads(archive.read("meta.json"))
            with np.load(io.BytesIO(raw), allow_pickle=False) as archive:
                arrays = {key: archive[key] for key in archive.files if key != "meta.json"}
            schema, name = meta["schema"], meta["fingerprint"]
            digest = meta.pop("digest", None)
        except Exception as error:  # whatever a damaged file makes a parser raise
            raise self.mismatch(
                f"is damaged or is not a checkpoint ({type(error).__name__}: {error})"
            ) from error
        if schema != SCHEMA:
            raise self.mismatch(f"has schema {schema!r}, this version reads {SCHEMA}")
        if name != self.name:
            raise self.mismatch(
                f"was written by another run (its fingerprint is {name!r}; was it renamed?)"
            )
        if digest != _digest(meta, arrays):
            raise self.mismatch("was changed after it was written")
        return meta, arrays

    def mismatch(self, fault: str) -> CheckpointMismatch:
        """Return the error that names the file, what is wrong with it and a hint."""
        return CheckpointMismatch(f"checkpoint {self.path} {fault}; delete it{self._instead}")

    def save(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bool:
        """Write the file whole; False if the disk refused, with one warning.

        A refusal never ends a run: hours of search are worth more than their checkpoint.
        """
        buffer = io.BytesIO()
        try:
            np.savez(buffer, **arrays)  # type: ignore[arg-type]
        except ValueError as error:
            # A zip file that is closed in the midst of a member hides the Ctrl-C that struck there.
            if isinstance(error.__context__, KeyboardInterrupt):
                raise error.__context__ from None
            raise
        document = {"schema": SCHEMA, "version": __version__, "fingerprint": self.name, **meta}
        document = json.loads(json.dumps(document, default=str))  # as it will be read
        document["digest"] = _digest(document, arrays)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr("meta.json", json.dumps(document))
        try:
            write_atomically(self.path, buffer.getbuffer())
        except OSError as error:
            if not self.failed:
                warnings.warn(
                    f"cannot write checkpoints in {self.directory} ({error.strerror or error}); "
                    "the run goes on, and what is on the disk is from before",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self.failed = True
            return False
        self.failed = False
        return True


def _digest(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Hash what a file holds: a part that was taken from it may leave no other trace."""
    return fingerprint({"meta": json.dumps(meta, sort_keys=True), "arrays": arrays})
