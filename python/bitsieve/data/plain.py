"""Tables of plain numbers, read in one pass; everything else is left to slower readers.

pandas reads a table with many rows as it comes. With very many columns it would take far longer
over the columns than over the numbers, so there each line is cut at its fields of text and the
rest is read as one long column. Whatever is not quite plain (fields that are no numbers, lines too
short or too long, line breaks in quotes) gives None: the slower readers know what to say.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.data.frames import matrix_of_frame
from bitsieve.data.lines import Header
from bitsieve.data.opening import open_bytes

__all__ = ["MISSING", "Plain", "pandas_options", "read_plain"]

#: What stands for a missing value besides what pandas takes for one.
MISSING = ("?", "---")

_WIDE = 2000  # columns from which one long column is the faster way
_BLOCK = 1 << 22
_ENCODINGS = ("utf-8", "utf8", "ascii", "us-ascii")


@dataclass(frozen=True, eq=False)
class Plain:
    """A table of plain numbers.

    Attributes
    ----------
    n_rows : int
        Lines of data.
    columns : list of int
        Positions of the columns of numbers.
    texts : dict of int to list of str
        Fields of the columns that were asked for as text, by position.
    matrix : ndarray of shape (n_rows, len(columns))
        NaN where a value is missing.
    """

    n_rows: int
    columns: list[int]
    texts: dict[int, list[str]]
    matrix: NDArray[Any]


def pandas_options(decimal: str) -> dict[str, Any]:
    """Options with which pandas reads the same numbers as float() does."""
    import pandas  # slow to import

    options: dict[str, Any] = {
        "header": None,
        "decimal": decimal,
        "skipinitialspace": True,
        "na_values": list(MISSING),
    }
    if int(pandas.__version__.partition(".")[0]) < 3:  # later versions always round correctly
        options["float_precision"] = "round_trip"
    return options


def read_plain(
    path: Path, header: Header, texts: Collection[int], *, encoding: str, decimal: str
) -> Plain | None:
    """Numbers of a table, and its columns of text at some positions.

    Parameters
    ----------
    path : Path
        The file.
    header : Header
        Its first lines.
    texts : collection of int
        Positions of columns that are read as text.
    encoding, decimal : str
        As in :func:`bitsieve.data.read_table`.

    Returns
    -------
    Plain or None
        None where the table is not plain; see above.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bitsieve.data.lines import read_header
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "genes.csv"
    >>> _ = path.write_text("gene,s1,s2\\ntp53,1.5,7\\negfr,NA,6\\n")
    >>> header = read_header(path, None, "utf-8")
    >>> plain = read_plain(path, header, [0], encoding="utf-8", decimal=".")
    >>> plain.texts, plain.matrix.tolist()
    ({0: ['tp53', 'egfr']}, [[1.5, 7.0], [nan, 6.0]])
    """
    known = encoding.lower().replace("_", "-") in _ENCODINGS
    if not known or header.delimiter == " " or len(header.below) != len(header.fields):
        return None
    if len(texts) == len(header.fields) or header.below[0].startswith("\ufeff"):
        return None
    try:
        if len(header.fields) > _WIDE:
            return _read_wide(path, header, sorted(texts), decimal)
        return _read_tall(path, header, sorted(texts), decimal)
    except (ValueError, OverflowError, RecursionError):
        return None


class _Counted(io.RawIOBase):
    """The bytes of a file, with a count of those that matter."""

    def __init__(self, file: Any, delimiter: str) -> None:
        self.file, self.delimiter = file, delimiter.encode()
        self.delimiters = self.lines = self.zeros = self.quotes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(len(buffer))
        self.delimiters += data.count(self.delimiter)
        self.quotes += b'"' in data
        self.zeros += b"\0" in data
        self.lines += data.count(b"\n")
        buffer[: len(data)] = data
        return len(data)


def _read_tall(path: Path, header: Header, texts: list[int], decimal: str) -> Plain | None:
    import pandas  # slow to import

    n_fields = len(header.fields)
    with open_bytes(path) as raw:
        counted = _Counted(raw, header.delimiter)
        buffer = io.BufferedReader(counted, _BLOCK >> 2)
        with io.TextIOWrapper(buffer, "utf-8-sig", newline=None) as file:
            first = [file.readline() for _ in range(header.line + 1)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # columns of mixed types, dealt with below
                frame = pandas.read_csv(
                    file, sep=header.delimiter, names=range(n_fields), index_col=False,
                    converters=dict.fromkeys(texts, _as_it_stands), **pandas_options(decimal),
                )  # fmt: skip
    n_rows = len(frame)
    # pandas fills up a line that is too short, and refuses one that is too long.
    delimiters = counted.delimiters - sum(line.count(header.delimiter) for line in first)
    if delimiters != n_rows * (n_fields - 1) or counted.zeros:
        return None
    lines = counted.lines - len(first)
    if counted.quotes and lines not in (n_rows, n_rows - 1):  # perhaps line breaks in quotes
        return None
    found = {j: [text.strip() for (text,) in frame.pop(j)] for j in texts}
    if not all(isinstance(d, np.dtype) and d.kind in "iuf" for d in set(frame.dtypes)):
        return None
    return Plain(n_rows, list(frame.columns), found, matrix_of_frame(frame))


def _as_it_stands(text: str) -> tuple[str]:
    """A field that pandas takes for nothing else, such as a missing value."""
    return (text,)


def _read_wide(path: Path, header: Header, texts: list[int], decimal: str) -> Plain | None:
    delimiter, n_fields = header.delimiter.encode(), len(header.fields)
    width = n_fields - len(texts)
    found: dict[int, list[str]] = {j: [] for j in texts}
    blocks: list[NDArray[Any]] = []
    pending: list[bytes] = []
    size = 0
    with open_bytes(path) as file:
        for number, line in enumerate(file):
            line = line.rstrip(b"\r\n")
            if b"\r" in line or b"\0" in line:
                return None
            if number <= header.line or not line.strip(b" "):
                continue
            if line.count(delimiter) != n_fields - 1:
                return None
            fields, rest = _cut(line, delimiter, n_fields, texts)
            if b'"' in rest:
                return None
            for j, text in zip(texts, fields, strict=True):
                unquoted = _unquoted(text.decode())
                if unquoted is None:
                    return None
                found[j].append(unquoted)
            pending.append(rest)
            size += len(rest)
            if size > _BLOCK:
                blocks.append(_one_column(pending, delimiter, decimal, width))
                pending, size = [], 0
    if pending:
        blocks.append(_one_column(pending, delimiter, decimal, width))
    n_rows = sum(map(len, blocks))
    out: NDArray[Any] = np.empty((n_rows, width))
    at = 0
    for k, block in enumerate(blocks):
        out[at : at + len(block)] = block
        at += len(block)
        blocks[k] = block[:0].copy()  # let go of it
    return Plain(n_rows, [j for j in range(n_fields) if j not in found], found, out)


def _cut(
    line: bytes, delimiter: bytes, n_fields: int, texts: list[int]
) -> tuple[list[bytes], bytes]:
    """The fields at some positions, and all others as they stand."""
    left = [j for j in texts if j < n_fields // 2]
    right = [j for j in texts if j >= n_fields // 2]
    if left and right and right[0] - left[-1] == 1:  # nothing between them
        fields = line.split(delimiter)
        kept = [field for j, field in enumerate(fields) if j not in texts]
        return [fields[j] for j in texts], delimiter.join(kept)
    rest, before, after = line, list[bytes](), list[bytes]()
    if left:
        *before, rest = line.split(delimiter, left[-1] + 1)
    if right:
        rest, *after = rest.rsplit(delimiter, n_fields - right[0])
    fields = [before[j] for j in left] + [after[j - right[0]] for j in right]
    kept = [f for j, f in enumerate(before) if j not in left]
    kept += [rest] + [f for j, f in enumerate(after, right[0] if right else 0) if j not in right]
    return fields, delimiter.join(kept)


def _unquoted(text: str) -> str | None:
    """A field without its quotes, None where they are not just around it."""
    text = text.strip()
    if '"' in text:
        text = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else '"'
    return None if '"' in text else text.strip()


def _one_column(lines: list[bytes], delimiter: bytes, decimal: str, width: int) -> NDArray[Any]:
    import pandas  # slow to import

    data = b"\n".join(lines).replace(delimiter, b"\n") + b"\n"
    column = pandas.read_csv(
        io.BytesIO(data), sep=delimiter.decode(), names=[0], index_col=False, dtype=np.float64,
        skip_blank_lines=False, low_memory=False, **pandas_options(decimal),
    )  # fmt: skip
    values: NDArray[Any] = column[0].to_numpy()
    return values.reshape(len(lines), width)  # fails where fields are lost
