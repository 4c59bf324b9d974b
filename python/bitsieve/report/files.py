"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file so that a reader sees the old content or the new, never a part.

    The content goes to a temporary file in the same folder, is flushed to the disk and then
    replaces the target in one step. The folder is made where it is missing.

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
        Where the folder cannot be written or the disk is full; no temporary file stays behind.

    Examples
    --------
    >>> import tempfile
    >>> from bitsieve.report import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(f"{folder}/new/a.txt", b"one").read_bytes()
    b'one'
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes a private file; a result is as readable as any other new file.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return target
