"""Labels in a file of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, plural, shorten
from bitsieve.data.lines import is_number, open_text, sniff, split, undecodable
from bitsieve.data.request import ReadRequest

__all__ = ["LabelFile", "infer_labels", "read_groups", "read_labels"]

_MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "<NA>"}
_HEADERS = {
    *("class", "classes", "diagnosis", "group", "label", "labels", "outcome", "phenotype"),
    *("response", "status", "target", "y"),
}


def infer_labels(texts: Sequence[str]) -> NDArray[Any]:
    """Labels as whole numbers or numbers where all of them are, otherwise as text.

    Missing ones (empty, NA, NaN, null) become NaN or None.

    Examples
    --------
    >>> infer_labels(["1", "2"]), infer_labels(["a", "2"])
    (array([1, 2]), array(['a', '2'], dtype=object))
    """
    if _are_numbers(texts):
        if all(t.lstrip("+-").isdigit() for t in texts):
            return np.array([int(t) for t in texts])
        return np.array([np.nan if t in _MISSING else float(t) for t in texts])
    out = np.empty(len(texts), dtype=object)
    out[:] = [None if t in _MISSING else t for t in texts]
    return out


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
    """

    path: Path
    names: list[str] | None
    texts: list[str]

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
        if not others or self.first_label is not None:
            return False
        return first.casefold() in _HEADERS or (not is_number(first) and _are_numbers(others))

    def counts(self, n_samples: int) -> bool:
        """True if there is a label for each of so many samples, with or without a header."""
        without = len(self.texts) == n_samples and not self.has_header
        return without or (len(self.texts) == n_samples + 1 and self.first_label is None)

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
                f"the target file {self.path} has {n} lines, which may be labels of {n_columns} "
                f"columns, or a header and labels of {n_rows} rows; say whether rows are features "
                "or samples (orient)"
            )
        return by_column and not by_row

    def hits(self, sample_names: Sequence[str]) -> int:
        """How many of the sample names have a label here."""
        return len(set(self.names or ()) & set(sample_names))

    def align(self, sample_names: Sequence[str] | None, n_samples: int) -> NDArray[Any]:
        """Labels in the order of the samples.

        Raises
        ------
        ValueError
            If a sample has no label or two, or the number of labels does not fit.
        """
        if self.names is None:
            if not self.counts(n_samples):
                raise self._wrong_count(n_samples)
            return infer_labels(self.texts[len(self.texts) - n_samples :])
        if sample_names is None:
            raise ValueError(
                f"the target file {self.path} matches labels by sample name, but the table has no "
                "sample names; say which column holds them (index), or keep labels only"
            )
        of_name: dict[str, str] = {}
        twice = []
        for name, text in zip(self.names, self.texts, strict=True):
            if name in of_name:
                twice.append(name)
            of_name[name] = text
        missing = [name for name in sample_names if name not in of_name]
        if missing:
            raise ValueError(
                f"the target file {self.path} has no label for {len(missing)} of "
                f"{plural(n_samples, 'sample')}: {shorten(missing)}; its names are "
                f"{shorten(self.names)}"
            )
        twice = sorted(set(twice) & set(sample_names))
        if twice:
            raise ValueError(
                f"the target file {self.path} names {plural(len(twice), 'sample')} twice: "
                f"{shorten(twice)}"
            )
        return infer_labels([of_name[name] for name in sample_names])

    def _wrong_count(self, n_samples: int) -> ValueError:
        found = plural(len(self.texts), "label")
        if self.has_header:
            found = f"{plural(len(self.texts) - 1, 'label')} below the header {self.texts[0]!r}"
        why = ""
        if len(self.texts) == n_samples + 1 and self.first_label is not None:
            why = f"; its first line is no header: {self.first_label}"
        return ValueError(
            f"the target file {self.path} has {found}, but there are "
            f"{plural(n_samples, 'sample')}{why}; expected one label a line, one a sample"
        )


def _are_numbers(texts: Sequence[str]) -> bool:
    given = [t for t in texts if t not in _MISSING]
    return bool(given) and all(is_number(t) for t in given)


def read_labels(path: Path, encoding: str = "utf-8") -> LabelFile:
    """Read a file of labels: text of one or two columns.

    Raises
    ------
    ValueError
        If the file is absent, empty, in another encoding, or has more columns.
    """
    if not path.is_file():
        raise ValueError(f"no such target file: {path}")
    try:
        with open_text(path, encoding) as file:
            lines = [line.rstrip("\n") for line in file if line.strip()]
    except UnicodeDecodeError:
        raise ValueError(f"the target file {path}: {undecodable(path, encoding)}") from None
    if not lines:
        raise ValueError(f"the target file {path} is empty")
    delimiter = sniff(lines[0], path)
    rows = [split(line, delimiter) for line in lines]
    widths = sorted({len(row) for row in rows})
    if widths == [1]:
        return LabelFile(path, None, [row[0] for row in rows])
    if widths == [2]:
        return LabelFile(path, [row[0] for row in rows], [row[1] for row in rows])
    raise ValueError(
        f"the target file {path} must have one column (labels) or two (sample name, label), "
        f"but has lines of {shorten(widths)} fields"
    )


def read_groups(
    request: ReadRequest,
    sample_names: Sequence[str] | None,
    n_samples: int,
    noun: str,
    known: Sequence[str],
) -> NDArray[Any]:
    """Read groups from a file of their own, laid out as a file of labels is.

    Parameters
    ----------
    request : ReadRequest
        Its ``groups`` named nothing in the table.
    sample_names, n_samples
        Of the table.
    noun, known
        What a name might have stood for there, for the message.

    Raises
    ------
    ValueError
        If there is no such file either, or it does not fit the samples.
    """
    if request.groups == request.target:
        raise ValueError(f"{str(request.groups)!r} cannot be both the target and the groups")
    if not Path(str(request.groups)).is_file():
        raise ValueError(
            f"groups {str(request.groups)!r} is not a {noun} or a file; "
            f"{closest(str(request.groups), known)}"
        )
    try:
        return read_labels(Path(str(request.groups)), request.encoding).align(
            sample_names, n_samples
        )
    except ValueError as error:
        raise ValueError(str(error).replace("the target file", "the file of groups")) from None
