"""The lines of a delimited text file, before any number is read."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bitsieve._errors import plural, shorten
from bitsieve.data.foreign import refuse_foreign_text
from bitsieve.data.opening import COMPRESSED, open_text

__all__ = [
    "NO_NUMBER",
    "Header",
    "data_lines",
    "is_comment",
    "is_number",
    "read_header",
    "scan_fields",
    "sniff",
    "split",
]

#: Letters that no number begins with, other than inf and nan.
NO_NUMBER = frozenset("abcdefghjklmopqrstuvwxyzABCDEFGHJKLMOPQRSTUVWXYZ")

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
    below : list of str
        Fields of the first line of data.
    """

    fields: list[str]
    delimiter: str
    line: int
    below: list[str] = field(default_factory=list)


def split(line: str, delimiter: str) -> list[str]:
    """Fields of one line, quotes removed.

    Raises
    ------
    ValueError
        If a quote stays open, or a field in quotes is longer than the csv module takes.

    Examples
    --------
    >>> split('"a,b",2', ",")
    ['a,b', '2']
    """
    if delimiter == " ":
        line = line.replace("\t", " ").strip(" ")
    if '"' not in line:
        fields = line.split(delimiter)
        return [f.strip() for f in fields if f or delimiter != " "]
    # An open quote swallows the empty line that is added.
    reader = csv.reader([line, ""], delimiter=delimiter, skipinitialspace=True)
    try:
        fields, closed = next(reader, []), next(reader, None) is not None
    except csv.Error:
        if line.count('"') % 2 == 0:
            most = csv.field_size_limit()
            raise ValueError(f"a field is longer than {most:,} characters") from None
        closed = False  # the quote begins a field that has no end
    if not closed:
        raise ValueError("a quote stays open; quoted fields must not hold line breaks")
    return [field.strip() for field in fields]


def named(fields: Sequence[str]) -> list[str]:
    """Names of columns, those that the header has none for after their position.

    Examples
    --------
    >>> named(["a", ""])
    ['a', 'column_1']
    """
    return [field or f"column_{j}" for j, field in enumerate(fields)]


def is_comment(line: str) -> bool:
    """True if the line may be a remark: it begins with # or, as in files of GEO, with !."""
    return line.startswith(("#", "!"))


def read_header(path: Path, delimiter: str | None, encoding: str, decimal: str = ".") -> Header:
    """First line that is neither blank nor a remark, cut into names.

    Lines that begin with # or ! are remarks. The last one is the header all the same, the sign
    left out, if it begins with # and has as many fields as the line below it, which holds numbers
    unless no blank follows the sign.

    Raises
    ------
    ValueError
        If there is no line, no line after it, the line holds numbers instead of names, or it shows
        that the file is of another format.
    """
    with open_text(path, encoding) as file:
        lines = ((i, line.rstrip("\n")) for i, line in enumerate(file))
        full = ((i, line) for i, line in lines if line.strip())
        first, line = number, remark = next(full, (0, ""))
        refuse_foreign_text(line)
        while is_comment(line):
            number, remark = first, line
            first, line = next(full, (0, ""))
        _, second = next(full, (0, ""))
    if not line:
        raise ValueError(f"the file is empty{' but for remarks' if is_comment(remark) else ''}")
    if "\0" in line:
        raise ValueError("not a text file (it holds zero bytes)")
    if is_comment(remark) and _is_header(remark, line, delimiter, path, decimal):
        line, second = remark.lstrip("#").lstrip(), line
    else:
        number = first
    delimiter = delimiter or sniff(line, path, decimal)
    if delimiter == decimal:
        raise ValueError(f"{decimal!r} cannot be both the delimiter and the decimal mark")
    fields = split(line, delimiter)
    if not second:
        raise ValueError(
            f"the file has one line only, with {len(fields)} fields; expected a header line and "
            "a line for each sample"
        )
    below = split(second, delimiter)
    shorter = len(below) == len(fields) + 1  # as R writes tables: row names have no header
    if shorter and not below[-1]:  # or each line ends in a delimiter, and every name would shift
        raise ValueError(
            "the first line of data has one field more than the header, an empty one at its end: "
            f"take the last {delimiter!r} off each line, or name the first column if it holds row "
            "names"
        )
    if (
        all(is_number(f, decimal) for f in fields)
        and not (shorter and not is_number(below[0], decimal))
        and not _are_positions(fields, below)
    ):
        raise ValueError(
            f"the first line holds numbers ({shorten(fields, 3)}) where column names were "
            "expected; add a header line"
        )
    return Header(["", *fields] if shorter else fields, delimiter, number, below)


def _is_header(remark: str, below: str, delimiter: str | None, path: Path, decimal: str) -> bool:
    """True if what looks like a remark names the columns of the line below it."""
    if not remark.startswith("#"):
        return False
    delimiter = delimiter or sniff(remark, path, decimal)
    fields = split(below, delimiter)
    same = len(fields) == len(split(remark, delimiter)) > 1
    return same and (remark[1:2] != " " or any(is_number(f, decimal) for f in fields[1:]))


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
) -> tuple[list[int], list[list[str]], list[int]]:
    """Line numbers, for each position the fields there, as they are written, and remarks.

    A line that begins with # or ! and has another number of fields than the header is a remark,
    unless lines of data begin so too.

    Raises
    ------
    ValueError
        If lines have more or fewer fields than the header, or a quote stays open.
    """
    delimiter, last, n_fields = header.delimiter, max(positions), len(header.fields)
    uneven: list[tuple[int, int]] = []
    remarks: dict[int, tuple[str, int]] = {}
    marks: set[str] = set()
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
        if count != n_fields:
            if is_comment(line):
                remarks[number] = (line[0], count)
                continue
            uneven.append((number, count))
        elif is_comment(line):
            marks.add(line[0])
        numbers.append(number)
        for texts, position in zip(found, positions, strict=True):
            texts.append(fields[position].strip() if position < len(fields) else "")
    cut = [(number, count) for number, (mark, count) in remarks.items() if mark in marks]
    if uneven or cut:
        n_lines = len(numbers) + len(cut)
        uneven = sorted(uneven + cut)
        number, count = uneven[0]
        raise ValueError(
            f"{len(uneven)} of {plural(n_lines, 'line')} "
            f"{'do' if len(uneven) > 1 else 'does'} not have {plural(n_fields, 'field')}, as the "
            f"header has: line {number + 1} has {count}; the delimiter is taken to be "
            f"{delimiter!r}, and a missing value is an empty field"
        )
    return numbers, found, list(remarks)


def is_number(text: str, decimal: str = ".") -> bool:
    """True if float() takes it, other than in Python's own ways of writing.

    Examples
    --------
    >>> is_number("1e-3"), is_number("x"), is_number("1_000"), is_number("1,5", ",")
    (True, False, False, True)
    """
    if text[:1] in NO_NUMBER or "_" in text or not text.isascii():
        return False
    try:
        float(text.replace(decimal, ".") if decimal != "." and "." not in text else text)
    except ValueError:
        return False
    return True


def sniff(line: str, path: Path, decimal: str = ".") -> str:
    """The delimiter: the usual one of the suffix, or else the one that the line holds most of."""
    name = path.name.lower()
    for compressed in COMPRESSED:
        name = name.removesuffix(compressed)
    usual = _USUAL.get(Path(name).suffix)
    others = "\t,;|" if usual is None else usual
    others = others.replace(decimal, "") + decimal * (decimal in others)
    if usual is not None:
        return next((d for d in others if d in line), usual[0])
    counts = {d: line.count(d) for d in others}
    best = max(counts, key=lambda d: counts[d])
    if counts[best]:
        return best
    return " " if " " in line.strip() else ","
