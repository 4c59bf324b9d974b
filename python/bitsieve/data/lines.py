"""The lines of a delimited text file, before any number is read."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, cast

from bitsieve._errors import shorten

__all__ = [
    "Header",
    "data_lines",
    "is_gzip",
    "is_number",
    "open_text",
    "read_header",
    "scan_fields",
    "sniff",
    "split",
]

_USUAL = {".csv": ",;\t|", ".tsv": "\t,;|", ".tab": "\t,;|"}


@dataclass(frozen=True)
class Header:
    """First line of a table and what it tells.

    Attributes
    ----------
    fields : list of str
        Names of the columns, "" where there is none.
    delimiter : str
        One character; a blank stands for any run of white space.
    line : int
        Number of the header's line, counted from 0.
    """

    fields: list[str]
    delimiter: str
    line: int


def is_gzip(path: Path) -> bool:
    """True if the file starts as gzip files do, whatever its name."""
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def open_text(path: Path, encoding: str) -> TextIO:
    """Open a text file, compressed or not, without its byte-order mark."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    if is_gzip(path):
        return cast(TextIO, gzip.open(path, "rt", encoding=encoding, newline=None))
    return open(path, encoding=encoding, newline=None)


def split(line: str, delimiter: str) -> list[str]:
    """Fields of one line, quotes removed.

    Examples
    --------
    >>> split('"a,b",2', ",")
    ['a,b', '2']
    """
    reader = csv.reader([line], delimiter=delimiter, skipinitialspace=delimiter == " ")
    return [field.strip() for field in next(reader, [])]


def read_header(path: Path, delimiter: str | None, encoding: str) -> Header:
    """First line that is not blank, cut into names.

    Raises
    ------
    ValueError
        If there is no line, no line after it, or the line holds numbers instead of names.
    """
    with open_text(path, encoding) as file:
        lines = ((i, line.rstrip("\n")) for i, line in enumerate(file))
        full = ((i, line) for i, line in lines if line.strip())
        number, line = next(full, (0, ""))
        _, second = next(full, (0, ""))
    if not line:
        raise ValueError("the file is empty")
    if "\0" in line:
        raise ValueError("not a text file (it holds zero bytes)")
    delimiter = delimiter or sniff(line, path)
    fields = split(line, delimiter)
    if not second:
        raise ValueError(
            f"the file has one line only, with {len(fields)} fields; expected a header line and "
            "a line for each sample"
        )
    if all(is_number(f) for f in fields) and not all(f.lstrip("-").isdigit() for f in fields):
        raise ValueError(
            f"the first line holds numbers ({shorten(fields, 3)}) where column names were "
            "expected; add a header line"
        )
    if len(split(second, delimiter)) == len(fields) + 1:
        fields = ["", *fields]  # as R writes tables: row names have no header
    return Header(fields, delimiter, number)


def data_lines(path: Path, header: Header, encoding: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line after the header that is not blank."""
    with open_text(path, encoding) as file:
        for number, line in enumerate(file):
            if number > header.line and not line.isspace():
                yield number, line.rstrip("\n")


def scan_fields(
    path: Path, header: Header, positions: Sequence[int], encoding: str
) -> tuple[list[int], list[list[str]]]:
    """Line numbers, and for each position the fields there, as they are written."""
    delimiter, last = header.delimiter, max(positions)
    numbers: list[int] = []
    found: list[list[str]] = [[] for _ in positions]
    for number, line in data_lines(path, header, encoding):
        if '"' in line or delimiter == " ":
            fields = split(line, delimiter)
        else:
            fields = line.split(delimiter, last + 1)
        numbers.append(number)
        for texts, position in zip(found, positions, strict=True):
            texts.append(fields[position].strip() if position < len(fields) else "")
    return numbers, found


def is_number(text: str) -> bool:
    """True if float() takes it.

    Examples
    --------
    >>> is_number("1e-3"), is_number("x")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def sniff(line: str, path: Path) -> str:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    usual = _USUAL.get(suffix)
    if usual is not None:
        return next((d for d in usual if d in line), usual[0])
    counts = {d: line.count(d) for d in "\t,;|"}
    best = max(counts, key=lambda d: counts[d])
    if counts[best]:
        return best
    return " " if " " in line.strip() else ","
