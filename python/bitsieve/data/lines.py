"""The lines of a delimited text file, before any number is read."""

from __future__ import annotations

import codecs
import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, cast

from bitsieve._errors import plural, shorten

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
    "undecodable",
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


def undecodable(path: Path, encoding: str) -> str:
    """Where a file that could not be decoded is not what it was taken for, and the way out."""
    with gzip.open(path) if is_gzip(path) else open(path, "rb") as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            where, way_out = f"the text is UTF-16, not {encoding}", "encoding='utf-16'"
        else:
            file.seek(0)
            number = next((n for n, line in enumerate(file, 1) if not _decodes(line, encoding)), 0)
            where = f"line {number} is not {encoding} text" if number else f"no {encoding} text"
            way_out = "its encoding, such as encoding='latin-1'"
    return f"{where}; save the file as UTF-8, or, in Python, pass {way_out}"


def _decodes(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def split(line: str, delimiter: str) -> list[str]:
    """Fields of one line, quotes removed.

    Raises
    ------
    ValueError
        If a quote stays open.

    Examples
    --------
    >>> split('"a,b",2', ",")
    ['a,b', '2']
    """
    if delimiter == " ":
        line = line.replace("\t", " ").strip(" ")
    # An open quote swallows the empty line that is added.
    reader = csv.reader([line, ""], delimiter=delimiter, skipinitialspace=True)
    try:
        fields, closed = next(reader, []), next(reader, None) is not None
    except csv.Error:  # the field that a quote begins is longer than csv allows
        closed = False
    if not closed:
        raise ValueError("a quote stays open; quoted fields must not hold line breaks")
    return [field.strip() for field in fields]


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
    below = split(second, delimiter)
    shorter = len(below) == len(fields) + 1  # as R writes tables: row names have no header
    if (
        all(is_number(f) for f in fields)
        and not (shorter and not is_number(below[0]))
        and not _are_positions(fields, below)
    ):
        raise ValueError(
            f"the first line holds numbers ({shorten(fields, 3)}) where column names were "
            "expected; add a header line"
        )
    return Header(["", *fields] if shorter else fields, delimiter, number)


def _are_positions(fields: list[str], below: list[str]) -> bool:
    """True for a header 0, 1, 2, ... or 1, 2, 3, ... that is not just as well a sample."""
    counted = any(fields == [str(i + first) for i in range(len(fields))] for first in (0, 1))
    return counted and (len(fields) > 3 or not all(f.lstrip("+-").isdigit() for f in below))


def data_lines(path: Path, header: Header, encoding: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line after the header that is not blank."""
    tabs = header.delimiter == "\t"  # a line of tabs alone has empty fields
    with open_text(path, encoding) as file:
        for number, line in enumerate(file):
            if number > header.line and (line.strip(" \t\n") or (tabs and "\t" in line)):
                yield number, line.rstrip("\n")


def scan_fields(
    path: Path, header: Header, positions: Sequence[int], encoding: str
) -> tuple[list[int], list[list[str]]]:
    """Line numbers, and for each position the fields there, as they are written.

    Raises
    ------
    ValueError
        If lines have more or fewer fields than the header, or a quote stays open.
    """
    delimiter, last, n_fields = header.delimiter, max(positions), len(header.fields)
    uneven: list[tuple[int, int]] = []
    numbers: list[int] = []
    found: list[list[str]] = [[] for _ in positions]
    for number, line in data_lines(path, header, encoding):
        if '"' in line or delimiter == " ":
            try:
                fields = split(line, delimiter)
            except ValueError as error:
                raise ValueError(f"line {number + 1}: {error}") from None
            count = len(fields)
        else:
            fields = line.split(delimiter, last + 1)
            count = line.count(delimiter) + 1
        numbers.append(number)
        if count != n_fields:
            uneven.append((number, count))
        for texts, position in zip(found, positions, strict=True):
            texts.append(fields[position].strip() if position < len(fields) else "")
    if uneven:
        number, count = uneven[0]
        raise ValueError(
            f"{len(uneven)} of {plural(len(numbers), 'line')} "
            f"{'do' if len(uneven) > 1 else 'does'} not have {plural(n_fields, 'field')}, as the "
            f"header has: line {number + 1} has {count}; the delimiter is taken to be "
            f"{delimiter!r}, and a missing value is an empty field"
        )
    return numbers, found


def is_number(text: str) -> bool:
    """True if float() takes it, other than in Python's own ways of writing.

    Examples
    --------
    >>> is_number("1e-3"), is_number("x"), is_number("1_000")
    (True, False, False)
    """
    if "_" in text or not text.isascii():
        return False
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
