"""Tables of plain numbers, read in one pass; everything else is left to slower readers.

pandas reads a table with many rows as it comes. With very many columns it would take far longer
over the columns than over the numbers, so there each line is cut at its fields of text and the
rest is read as one long column. Whatever is not quite plain (fields that are no numbers, lines too
short or too long, line breaks in quotes) gives None: the slower readers know what to say.
"""

from __future__ import annotations

import codecs
import io
import re
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.data.lines import Header
from bitsieve.data.opening import open_bytes

__all__ = ["MISSING", "Plain", "pandas_options", "read_plain"]

#: What stands for a missing value besides what pandas takes for one.
MISSING = ("?", "---")

_WIDE = 2000  # columns from which one long column is the faster way,
_SHORT = 300  # or from which it is, where there are fewer rows than columns
_GAP = re.compile(rb"[^0-9eE+.,\-\n\r ]|\n\n")  # what numbers have not
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
    if not header.delimiter.isascii():
        return None
    known = encoding.lower().replace("_", "-") in _ENCODINGS
    if not known or header.delimiter == " " or len(header.below) != len(header.fields):
        return None
    if len(texts) == len(header.fields) or header.below[0].startswith("\ufeff"):
        return None
    try:
        if _is_wide(path, header):
            return _read_wide(path, header, sorted(texts), decimal)
        # Looking for missing values takes a tenth of the time, and most tables have none.
        gaps = _has_gaps(path, header, sorted(texts))
        try:
            return _read_tall(path, header, sorted(texts), decimal, gaps=gaps)
        except _NoNumbers:
            return None if gaps else _read_tall(path, header, sorted(texts), decimal, gaps=True)
    except (ValueError, OverflowError, RecursionError):
        return None


class _NoNumbers(ValueError):
    """A column holds something else; perhaps a mark for missing values that was not looked for."""


def _is_wide(path: Path, header: Header) -> bool:
    n_fields = len(header.fields)
    n_rows = path.stat().st_size // (sum(map(len, header.below)) + n_fields)
    return n_fields > _WIDE or n_rows < n_fields > _SHORT


class _Counted(io.RawIOBase):
    """The bytes of a file, with a count of those that matter."""

    def __init__(self, file: Any, delimiter: str) -> None:
        self.file, self.delimiter = file, ord(delimiter)
        self.delimiters = 0
        self.zeros = self.quotes = self.returns = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(len(buffer))
        found = np.frombuffer(data, np.uint8) == self.delimiter
        self.delimiters += int(np.count_nonzero(found))
        self.quotes |= b'"' in data
        self.zeros |= b"\0" in data
        self.returns |= b"\r" in data
        buffer[: len(data)] = data
        return len(data)


def _has_gaps(path: Path, header: Header, texts: list[int]) -> bool:
    """True if the first lines hold fields that are no numbers, which may be missing values."""
    delimiter, n_fields = header.delimiter.encode(), len(header.fields)
    with open_bytes(path) as file:
        lines = file.read(1 << 16).splitlines()[header.line + 1 : -1]
    rests = [
        _cut(line, delimiter, n_fields, texts)[1]
        for line in lines
        if line.count(delimiter) == n_fields - 1
    ]
    fields = b"\n".join(rests).replace(delimiter, b"\n")
    return _GAP.search(fields) is not None


def _read_tall(
    path: Path, header: Header, texts: list[int], decimal: str, *, gaps: bool
) -> Plain | None:
    import pandas  # slow to import

    n_fields = len(header.fields)
    with open_bytes(path) as raw:
        returns = b"\r" in raw.readline(1 << 20)
    with open_bytes(path) as raw:
        if raw.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            raw.seek(0)
        counted = _Counted(raw, header.delimiter)
        buffer = io.BufferedReader(counted, 1 << 18)
        # Line ends are translated, at a price, only where there are some to translate.
        with io.TextIOWrapper(buffer, "utf-8", newline=None if returns else "") as file:
            first = [file.readline() for _ in range(header.line + 1)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # columns of mixed types, dealt with below
                frame = pandas.read_csv(
                    file, sep=header.delimiter, converters=dict.fromkeys(texts, _as_it_stands),
                    na_filter=gaps, **pandas_options(decimal),
                )  # fmt: skip
    n_rows = len(frame)
    if frame.shape[1] != n_fields or counted.returns != returns:
        return None
    # pandas fills up a line that is too short, and refuses one that is too long.
    delimiters = counted.delimiters - sum(line.count(header.delimiter) for line in first)
    if delimiters != n_rows * (n_fields - 1) or counted.zeros:
        return None
    if counted.quotes and _count_lines(path) - len(first) != n_rows:
        return None  # perhaps line breaks in quotes
    found = {j: [text for (text,) in frame[j]] for j in texts}
    if counted.quotes and any('"' in text for column in found.values() for text in column):
        return None
    columns = [j for j in range(n_fields) if j not in found]
    out = np.empty((len(columns), n_rows))
    for row, j in zip(out, columns, strict=True):
        values = frame[j].array.to_numpy()
        if values.dtype.kind not in "iuf":
            raise _NoNumbers
        row[:] = values
    return Plain(n_rows, columns, found, out.T)


def _count_lines(path: Path) -> int:
    with open_bytes(path) as file:
        return sum(1 for _ in file)


def _as_it_stands(text: str) -> tuple[str]:
    """A field that pandas takes for nothing else, such as a missing value."""
    return (text.strip(),)


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
