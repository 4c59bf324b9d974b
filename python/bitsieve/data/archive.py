"""Arrays out of a zip archive, each looked at before anything is allocated for it."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bitsieve._errors import quoted
from bitsieve.data.opening import check_expansion

__all__ = ["Archive"]


class Archive:
    """The arrays of an ``.npz`` file, by name.

    An array is refused before it is allocated if its header does not give as many bytes as the
    archive holds for it, or many times more than it takes there. Pickled objects are refused.

    Parameters
    ----------
    path : Path

    Raises
    ------
    ValueError
        If it is no archive, or anything in it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.npz"
    >>> np.savez(path, X=[[1.0, 2.0]])
    >>> with Archive(path) as archive:
    ...     archive.names, archive["X"]
    (['X'], array([[1., 2.]]))
    """

    def __init__(self, path: Path) -> None:
        if not zipfile.is_zipfile(path):
            raise ValueError("not a NumPy archive (or cut short); write one with numpy.savez")
        self._size = path.stat().st_size
        try:
            self._zip = zipfile.ZipFile(path)
        except Exception as error:  # zipfile raises what it comes across
            _damaged(error)
        members = {info.filename: info for info in self._zip.infolist()}
        self._members = {
            name.removesuffix(".npy"): info
            for name, info in members.items()
            if name.endswith(".npy")
        }

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return list(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> NDArray[Any]:
        info = self._members[name]
        try:
            with self._zip.open(info) as member:
                size = _size_of(member, name)
                if member.tell() + size != info.file_size:
                    raise ValueError("its length is not that of its header")
                check_expansion(info.file_size, min(info.compress_size, self._size))
            with self._zip.open(info) as member:
                return np.asarray(npy.read_array(member, allow_pickle=False))
        except MemoryError:
            raise
        except ValueError as error:
            raise ValueError(f"array {quoted(name)} cannot be read: {error}") from error
        except Exception as error:  # zipfile and numpy raise what they come across
            _damaged(error, f"array {quoted(name)}: ")

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()


def _size_of(member: Any, name: str) -> int:
    """Bytes that an array takes, by its header."""
    version = npy.read_magic(member)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version} of its header is not known")
    shape, _, dtype = readers[version](member)
    if dtype.hasobject:
        raise ValueError(
            "it holds pickled Python objects, which could run code and are not loaded; store plain "
            "arrays: numpy.array(..., dtype=str) for text, float for numbers"
        )
    if dtype.kind not in "biufcSU" or min(shape, default=0) < 0:
        raise ValueError(f"it holds {dtype} of shape {shape}, not numbers or text")
    return int(math.prod(shape) * dtype.itemsize)


def _damaged(error: Exception, where: str = "") -> NoReturn:
    said = str(error) or type(error).__name__
    raise ValueError(f"{where}the file is damaged or cut short ({said})") from error
