"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes | memoryview) -> Path:
    """Write a file so that a reader sees the old content or the new, never a part.

    The content goes to a temporary file in the same folder (a dot, the start of the name, and
    ``.tmp``), is flushed to the disk and then replaces the target in one step; the folder is
    flushed after it. The folder is made where it is missing. The file is as readable as any other
    new one.

    Parameters
    ----------
    path : path-like
        The file.
    content : bytes
        All of its content.

    Returns
    -------
    pathlib.Path
        The path written.

    Raises
    ------
    OSError
        Where the folder cannot be written or the disk is full, with the name of the file; no
        temporary file stays behind.

    Examples
    --------
    >>> import tempfile
    >>> from bitsieve.report import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(f"{folder}/new/a.txt", b"one").read_bytes()
    b'one'
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, content)
    except OSError as error:
        error.filename, error.filename2 = str(target), None  # not the temporary name, nor none
        raise
    _flush_folder(target.parent)
    return target


def _replace(target: Path, content: bytes | memoryview) -> None:
    # The start of the name alone: a name may be as long as the file system allows.
    temporary = target.parent / f".{target.stem[:40]}.{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # Not tempfile: its files are private, and widening them needs the umask, which can only be
    # read by changing it for all threads.
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _flush_folder(folder: Path) -> None:
    """Let the new name itself reach the disk, where a folder can be flushed.

    Some file systems refuse; the file is in its place by then, so that is no failure.
    """
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
