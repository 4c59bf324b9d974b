"""Labels in a file of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import plural, shorten
from bitsieve.data.lines import is_number, open_text, sniff, split

__all__ = ["LabelFile", "infer_labels", "read_labels"]

_MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "<NA>"}


def infer_labels(texts: Sequence[str]) -> NDArray[Any]:
    """Labels as whole numbers or numbers where all of them are, otherwise as text.

    Missing ones (empty, NA, NaN, null) become NaN or None.

    Examples
    --------
    >>> infer_labels(["1", "2"]), infer_labels(["a", "2"])
    (array([1, 2]), array(['a', '2'], dtype=object))
    """
    given = [t for t in texts if t not in _MISSING]
    if given and all(is_number(t) for t in given):
        if len(given) == len(texts) and all(t.lstrip("+-").isdigit() for t in given):
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

    def counts(self, n_samples: int) -> bool:
        """True if there is a label for each of so many samples, with or without a header."""
        return len(self.texts) in (n_samples, n_samples + 1)

    def says_features(self, n_rows: int, n_columns: int) -> bool:
        """True if the number of labels fits the columns of a table, False if its rows.

        Raises
        ------
        ValueError
            If it would fit both, the one with a header line and the other without.
        """
        n = len(self.texts)
        if n != n_rows != n_columns and sorted((n_rows, n_columns)) == [n - 1, n]:
            raise ValueError(
                f"the target file {self.path} has {n} lines, which may be labels of {n_columns} "
                f"columns, or a header and labels of {n_rows} rows; pass orient='features' or "
                "orient='samples'"
            )
        return self.counts(n_columns) and not self.counts(n_rows)

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
                raise ValueError(
                    f"the target file {self.path} has {plural(len(self.texts), 'line')}, but "
                    f"there are {plural(n_samples, 'sample')}; expected one label a line"
                )
            return infer_labels(self.texts[len(self.texts) - n_samples :])
        if sample_names is None:
            raise ValueError(
                f"the target file {self.path} matches labels by sample name, but the table has no "
                "sample names; say which column holds them (index=...), or keep labels only"
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


def read_labels(path: Path, encoding: str = "utf-8") -> LabelFile:
    """Read a file of labels: text of one or two columns.

    Raises
    ------
    ValueError
        If the file is absent, empty, or has more columns.
    """
    if not path.is_file():
        raise ValueError(f"no such target file: {path}")
    with open_text(path, encoding) as file:
        lines = [line.rstrip("\n") for line in file if line.strip()]
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
