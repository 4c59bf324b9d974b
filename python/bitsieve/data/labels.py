"""Labels in a file of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, plural, quoted, shorten
from bitsieve.data.lines import is_number, sniff, split
from bitsieve.data.opening import open_text, undecodable
from bitsieve.data.request import ReadRequest

__all__ = [
    "LabelFile",
    "infer_labels",
    "is_missing_label",
    "label_source",
    "read_groups",
    "read_labels",
]

_TARGET_FILE = "the target file"  # as messages call it
_MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "<NA>", "?", "---"}
_HEADERS = {
    *("class", "classes", "diagnosis", "group", "label", "labels", "outcome", "phenotype"),
    *("response", "status", "target", "y"),
}


def infer_labels(texts: Sequence[str], decimal: str = ".") -> NDArray[Any]:
    """Labels as whole numbers or numbers where all of them are, otherwise as text.

    Missing ones (empty, NA, NaN, null, ?, ---) become NaN or None. Whole numbers that do not fit in
    64 bits are names.

    Examples
    --------
    >>> infer_labels(["1", "2"]), infer_labels(["a", "2"])
    (array([1, 2]), array(['a', '2'], dtype=object))
    """
    if _are_numbers(texts, decimal):
        given = [t for t in texts if t not in _MISSING]
        whole = all(t.lstrip("+-").isdigit() for t in given)
        if not whole or max(map(len, given)) < 19:
            if whole and len(given) == len(texts):
                return np.array([int(t) for t in texts])
            points = [t.replace(decimal, ".") for t in texts]
            return np.array([np.nan if t in _MISSING else float(t) for t in points])
    out = np.empty(len(texts), dtype=object)
    out[:] = [None if t in _MISSING else t for t in texts]
    return out


def is_missing_label(text: str) -> bool:
    """True if the text stands for a label that is not known."""
    return text in _MISSING


def label_source(target: str | Path | None) -> tuple[Path, str | None] | None:
    """File of labels that a target names, and its column in ``file:column``; None without one.

    Examples
    --------
    >>> label_source("outcome") is None
    True
    """
    if target is None:
        return None
    if _is_file(str(target)):
        return Path(target), None
    name, colon, column = str(target).rpartition(":")
    return (Path(name), column) if colon and column and _is_file(name) else None


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # no name of a file
        return False


@dataclass(frozen=True)
class LabelFile:
    """Lines of a file of labels: one field each, or a sample name and a label.

    Attributes
    ----------
    path : Path
    names : list of str or None
        First fields, where there are two.
    texts : list of str
        The labels as written, a header line perhaps among them.
    bare : bool
        Whether the header line was taken away.
    what : str
        What messages call the file.
    """

    path: Path
    names: list[str] | None
    texts: list[str]
    bare: bool = False
    what: str = _TARGET_FILE

    @property
    def first_label(self) -> str | None:
        """Why the first line is a label, as half a sentence; None where it may be a header."""
        first, others = self.texts[0], self.texts[1:]
        if first in _MISSING:
            return f"{first!r} stands for a missing label"
        if first in others:
            return f"{first!r} comes again further down"
        if others and is_number(first) and _are_numbers(others):
            return f"{first!r} is a number like the others"
        return None

    @property
    def has_header(self) -> bool:
        """True if the first line is a header for certain."""
        first, others = self.texts[0], self.texts[1:]
        if self.bare or not others or self.first_label is not None:
            return False
        return first.casefold() in _HEADERS or (not is_number(first) and _are_numbers(others))

    def counts(self, n_samples: int) -> bool:
        """True if there is a label for each of so many samples, with or without a header."""
        without = len(self.texts) == n_samples and not self.has_header
        one_more = len(self.texts) == n_samples + 1 and not self.bare
        return without or (one_more and self.first_label is None)

    def says_features(self, n_rows: int, n_columns: int) -> bool:
        """True if the number of labels fits the columns of a table, False if its rows.

        Raises
        ------
        ValueError
            If it would fit both, the one with a header line and the other without.
        """
        n = len(self.texts)
        by_column, by_row = self.counts(n_columns), self.counts(n_rows)
        if by_column and by_row and n == n_columns != n_rows:
            raise ValueError(
                f"{self.what} {self.path.name} has {n} lines, which may be labels of "
                f"{n_columns} columns, or a header and labels of {n_rows} rows; say "
                "whether rows are features or samples (orient)"
            )
        return by_column and not by_row

    def hits(self, sample_names: Sequence[str]) -> int:
        """How many of the sample names have a label here."""
        return len(set(self.names or ()) & set(sample_names))

    def align(self, sample_names: Sequence[str] | None, n_samples: int) -> list[str]:
        """Labels in the order of the samples, "" where a sample has none.

        Raises
        ------
        ValueError
            If no sample has a label, one has two, or the number of labels does not fit.
        """
        if self.names is None:
            if not self.counts(n_samples):
                raise self._wrong_count(n_samples)
            return self.texts[len(self.texts) - n_samples :]
        if sample_names is None:
            raise ValueError(
                f"{self.what} {self.path.name} matches labels by sample name, but the table "
                "has no sample names; say which column holds them (index), or keep labels only"
            )
        of_name = dict(zip(self.names, self.texts, strict=True))
        if not self.hits(sample_names):
            raise ValueError(
                f"{self.what} {self.path.name} has no label for any of "
                f"{plural(n_samples, 'sample')} ({shorten(sample_names, 3)}); its names are "
                f"{shorten(self.names, 3)}"
            )
        counts = Counter(self.names)
        twice = sorted(name for name in set(sample_names) if counts[name] > 1)
        if twice:
            raise ValueError(
                f"{self.what} {self.path.name} names {plural(len(twice), 'sample')} twice: "
                f"{shorten(twice)}"
            )
        return [of_name.get(name, "") for name in sample_names]

    def _wrong_count(self, n_samples: int) -> ValueError:
        found = plural(len(self.texts), "label")
        if self.has_header:
            found = f"{plural(len(self.texts) - 1, 'label')} below the header {self.texts[0]!r}"
        why = ""
        if len(self.texts) == n_samples + 1 and self.first_label is not None:
            why = f"; its first line is no header: {self.first_label}"
        return ValueError(
            f"{self.what} {self.path.name} has {found}, but there are "
            f"{plural(n_samples, 'sample')}{why}; expected one label a line, one a sample"
        )


def _are_numbers(texts: Sequence[str], decimal: str = ".") -> bool:
    given = [t for t in texts if t not in _MISSING]
    return bool(given) and all(is_number(t, decimal) for t in given)


def read_labels(
    path: Path,
    encoding: str = "utf-8",
    column: str | None = None,
    decimal: str = ".",
    *,
    what: str = _TARGET_FILE,
) -> LabelFile:
    """Read a file of labels: text of one or two columns, or of more with the name of one of them.

    Where there are several, the first one holds sample names. Lines at the start that begin with #
    are remarks, unless all do.

    Raises
    ------
    ValueError
        If the file is absent, empty, in another encoding, has more columns and none of them is
        named, or has no such column.
    """
    if not path.is_file():
        raise ValueError(f"no such {what.removeprefix('the ')}: {path}")
    try:
        with open_text(path, encoding) as file:
            lines = [line.rstrip("\n") for line in file if line.strip()]
        return replace(_of_lines(path, lines, column, decimal), what=what)
    except UnicodeDecodeError:
        said = undecodable(path, encoding)
        raise ValueError(f"{what} {path.name}: {said}") from None
    except ValueError as error:
        raise ValueError(f"{what} {path.name} {error}") from error


def _of_lines(path: Path, lines: list[str], column: str | None, decimal: str) -> LabelFile:
    start = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    lines = lines[start:]
    if not lines:
        raise ValueError("is empty")
    if any("\0" in line for line in lines):
        raise ValueError("is no text (it holds zero bytes)")
    delimiter = sniff(lines[0], path, decimal)
    delimiter = ";" if delimiter == decimal else delimiter
    try:
        rows = [split(line, delimiter) for line in lines]
    except ValueError as error:
        raise ValueError(f"cannot be read: {error}") from None
    widths = sorted({len(row) for row in rows})
    if column is not None:
        return _column_of(path, rows, column)
    if widths == [1]:
        return LabelFile(path, None, [row[0] for row in rows])
    if widths == [2]:
        return LabelFile(path, [row[0] for row in rows], [row[1] for row in rows])
    if len(widths) == 1:
        raise ValueError(
            f"has {widths[0]} columns ({shorten(rows[0], 4)}); say which one holds the labels: "
            f"{path.name}:COLUMN, such as {quoted(f'{path.name}:{rows[0][1]}')}"
        )
    raise ValueError(
        f"must have one column (labels) or two (sample name, label), or more and a header line, "
        f"but has lines of {shorten(widths)} fields"
    )


def read_groups(
    request: ReadRequest,
    sample_names: Sequence[str] | None,
    n_samples: int,
    noun: str,
    known: Sequence[str],
) -> list[str]:
    """Read groups from a file of their own, laid out and named as a file of labels is.

    Parameters
    ----------
    request : ReadRequest
        Its ``groups`` named nothing in the table.
    sample_names, n_samples
        Of the table.
    noun, known
        What a name might have stood for there, for the message.

    Returns
    -------
    list of str
        One a sample; empty where the file names no group.

    Raises
    ------
    ValueError
        If there is no such file either, or it does not fit the samples.
    """
    given = str(request.groups)
    if given == str(request.target):
        raise ValueError(f"{quoted(given)} cannot be both the target and the groups")
    source = label_source(request.groups)
    if source is None:
        raise ValueError(
            f"groups {quoted(given)} is not a {noun} or a file; {closest(given, known)}"
        )
    path, column = source
    file = read_labels(path, request.encoding, column, request.decimal, what="the file of groups")
    return file.align(sample_names, n_samples)


def _column_of(path: Path, rows: list[list[str]], column: str) -> LabelFile:
    header, rows = rows[0], rows[1:]
    widths = {len(row) for row in rows}
    if widths == {len(header) + 1}:  # as R writes tables: row names have no header
        if not rows[0][-1]:  # or each line ends in a delimiter, and every name would shift
            raise ValueError(
                "has lines of one field more than the header, an empty one at the end: take the "
                "last delimiter off each line, or name the first column if it holds row names"
            )
        header = ["", *header]
    if not rows or widths != {len(header)}:
        raise ValueError(
            f"must have a header line and lines of as many fields, {len(header)}, but has lines of "
            f"{shorten(sorted(widths))} fields"
        )
    if header.count(column) != 1:
        many = f"has {header.count(column)} columns" if column in header else "has no column"
        raise ValueError(f"{many} named {quoted(column)}; {closest(column, header)}")
    at = header.index(column)
    names = [row[0] for row in rows] if at > 0 else None
    return LabelFile(path, names, [row[at] for row in rows], bare=True)
