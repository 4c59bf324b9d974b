"""Files as bytes and as text: compressed or not, and never more of them than their size allows."""

from __future__ import annotations

import codecs
import importlib
import io
import zlib
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

__all__ = [
    "COMPRESSED",
    "check_expansion",
    "is_compressed",
    "open_bytes",
    "open_text",
    "undecodable",
]

#: What a compressed file may become without being asked,
FREE = 256 << 20
#: and how many times its size beyond that. Tables of numbers shrink to a fifth or so.
MOST = 100

#: Suffixes of compressed text.
COMPRESSED = (".gz", ".bz2", ".xz")

_STARTS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def allowed_size(stored: int, most: int = MOST) -> int:
    """Bytes that so many bytes of a file may become: 256 MiB, or `most` times as many.

    Examples
    --------
    >>> allowed_size(10**5), allowed_size(10**7)
    (268435456, 1000000000)
    """
    return max(FREE, most * stored)


def check_expansion(size: int, stored: int) -> None:
    """Refuse what becomes too much larger than it is stored, before it takes memory.

    Parameters
    ----------
    size, stored : int
        Bytes in memory, and in the file.

    Raises
    ------
    ValueError
        If it is larger.

    Examples
    --------
    >>> check_expansion(10**8, 10**5)
    >>> check_expansion(10**10, 10**7)
    Traceback (most recent call last):
    ValueError: 10,000,000 bytes of the file become more than 1,000,000,000 in memory, over 100 ...
    """
    if size > allowed_size(stored):
        raise ValueError(
            f"{stored:,} bytes of the file become more than {allowed_size(stored):,} in memory, "
            f"over {MOST} times as many; store it uncompressed if it is to be trusted"
        )


def is_compressed(path: Path) -> bool:
    """True if the file starts as gzip, bzip2 or xz files do, whatever its name."""
    return _module_of(path) is not None


def open_bytes(path: Path) -> BinaryIO:
    """Open a file as the bytes in it, expanded where they are compressed.

    Raises
    ------
    ValueError
        On opening or reading, if compressed data are damaged, cut short or become far too many.
    """
    module = _module_of(path)
    if module is None:
        return open(path, "rb")
    return io.BufferedReader(_Expanded(path, module), 1 << 17)


def open_text(path: Path, encoding: str) -> TextIO:
    """Open a text file, compressed or not, without its byte-order mark."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, newline=None)


def undecodable(path: Path, encoding: str) -> str:
    """Where a file that could not be decoded is not what it was taken for, and a hint."""
    with open_bytes(path) as file:
        if file.read(2) in _BOMS:
            where, way_out = f"the text is UTF-16, not {encoding}", "encoding='utf-16'"
        else:
            file.seek(0)
            number = next((n for n, line in enumerate(file, 1) if not _decodes(line, encoding)), 0)
            where = f"line {number} is not {encoding} text" if number else f"no {encoding} text"
            way_out = "its encoding, such as encoding='latin-1'"
    return f"{where}; save the file as UTF-8, or, in Python, pass {way_out}"


class _Expanded(io.RawIOBase):
    """The bytes of a compressed file, counted."""

    def __init__(self, path: Path, module: str) -> None:
        try:
            library = importlib.import_module(module)
        except ImportError:
            raise ValueError(f"this Python comes without {module}; expand the file first") from None
        self._damaged = (EOFError, zlib.error, *([library.LZMAError] if module == "lzma" else []))
        self._stored = path.stat().st_size
        self._file: Any = library.open(path, "rb")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        try:
            data = cast(bytes, self._file.read(len(buffer)))
        except self._damaged as error:
            raise ValueError(f"the file is damaged or cut short ({error})") from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise ValueError(f"the file is damaged or cut short ({error})") from error
        check_expansion(self._file.tell(), self._stored)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _module_of(path: Path) -> str | None:
    with open(path, "rb") as file:
        start = file.read(6)
    return next((name for magic, name in _STARTS.items() if start.startswith(magic)), None)


def _decodes(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
