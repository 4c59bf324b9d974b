"""CSV files that are safe to open: names from a file neither start formulas nor move a cursor."""

from __future__ import annotations

import csv
import io
import os
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bitsieve._files import write_atomically

__all__ = ["cell", "write_csv"]

# What a spreadsheet takes for the start of a formula, or drops before it looks for one.
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
# Control, format (they turn or hide text), line and paragraph separators, halves of a character.
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Cs")


def cell(text: str) -> str:
    r"""Return text as it is safe in a cell of a CSV file.

    A leading ``=``, ``+``, ``-``, ``@``, tab or line break gets an apostrophe before it, so that a
    spreadsheet takes no name for a formula. Characters that are not seen are written as ``\xNN``,
    ``\uNNNN`` or ``\UNNNNNNNN``.

    Parameters
    ----------
    text : str
        Such as the name of a feature.

    Returns
    -------
    str

    Examples
    --------
    >>> cell("=1+1"), cell("tp53"), cell("a\u202eb")
    ("'=1+1", 'tp53', 'a\\u202eb')
    """
    apostrophe = "'" if text.startswith(_STARTS) else ""
    if text.isprintable():
        return apostrophe + text
    return apostrophe + "".join(
        _escape(c) if unicodedata.category(c) in _UNSEEN else c for c in text
    )


def write_csv(
    path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Path:
    """Write a CSV file (UTF-8, quoted where needed), every text in it through :func:`cell`.

    Parameters
    ----------
    path : path-like
        The file; written atomically.
    header : sequence of str
    rows : iterable of sequences
        Text and numbers.

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
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_csv(f"{folder}/a.csv", ["feature", "score"], [("@a", -1)]).read_text())
    feature,score
    '@a,-1
    <BLANKLINE>
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow([cell(value) if isinstance(value, str) else value for value in row])
    return write_atomically(path, text.getvalue().encode())


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
