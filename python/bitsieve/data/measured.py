"""Which features of a table were measured elsewhere too: a list of names, or another table."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, plural, quoted
from bitsieve.data.foreign import refuse_foreign_bytes
from bitsieve.data.io import read_table
from bitsieve.data.lines import is_comment, split
from bitsieve.data.opening import open_text, undecodable

__all__ = ["MeasuredFeatures", "read_measured_features"]

_DELIMITERS = (",", "\t", ";")
#: Characters of a line that may be a name.
_LONGEST = 300
_HINT = "give feature names, one a line, or a table whose header or first column holds them"


@dataclass(frozen=True, eq=False)
class MeasuredFeatures:
    """What a file says of the features of a table.

    Attributes
    ----------
    keep : bool array of shape (n_features,)
        Which of them it names.
    n_listed : int
        Different names in the file.
    where : {"lines", "header", "first column", "names"}
        Where they stood: one a line, in the header of a table, in its first column, or in the
        names of an archive.
    """

    keep: NDArray[np.bool_]
    n_listed: int
    where: str

    @property
    def n_kept(self) -> int:
        """Features of the table that the file names."""
        return int(self.keep.sum())

    def text(self) -> str:
        """Say how many features are left.

        Examples
        --------
        >>> MeasuredFeatures(np.array([True, False, True]), 5, "lines").text()
        '2 of 3 features were measured elsewhere too (5 names, one a line)'
        """
        place = {"lines": "one a line", "names": "names of an archive"}.get(
            self.where, f"in the {self.where}"
        )
        return (
            f"{self.n_kept} of {plural(len(self.keep), 'feature')} were measured elsewhere too "
            f"({plural(self.n_listed, 'name')}, {place})"
        )


def read_measured_features(
    path: str | os.PathLike[str], names: Sequence[str], *, encoding: str = "utf-8"
) -> MeasuredFeatures:
    """Read which features of a table another platform measures.

    Parameters
    ----------
    path : path-like
        A list of names, one a line; or a table in delimited text (also ``.gz``, ``.bz2``,
        ``.xz``) or an archive ``.npz`` with ``names``. What is read is whatever holds the most of
        the table's names: whole lines, the header line, or the first column. Lines that start
        with # or ! are remarks. No value of the table is looked at.
    names : sequence of str
        Features of the table that is to be restricted.
    encoding : str, default "utf-8"

    Returns
    -------
    MeasuredFeatures

    Raises
    ------
    ValueError
        If the file is absent, empty, no text, or holds none of the names; one line that starts
        with its path.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "platform.txt"
    >>> _ = path.write_text("tp53\\nmyc\\nkras\\n")
    >>> read_measured_features(path, ["egfr", "tp53", "myc"]).keep.tolist()
    [False, True, True]
    """
    path = Path(path)
    known = set(names)
    try:
        if path.name.lower().endswith(".npz"):
            readings = {"names": read_table(path, missing="keep", to_predict=True).names or []}
        else:
            readings = _readings(path, encoding)
    except UnicodeDecodeError:
        raise ValueError(f"{path}: {undecodable(path, encoding)}") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        said = str(error)
        raise ValueError(said if said.startswith(str(path)) else f"{path}: {said}") from None
    found = {where: list(dict.fromkeys(texts)) for where, texts in readings.items()}
    if not any(found.values()):
        raise ValueError(f"{path}: the file holds no names; {_HINT}")
    # Of readings that hold as many, the first.
    where = max(found, key=lambda one: _hits(found[one], known))
    listed = set(found[where])
    keep = np.array([name in listed for name in names], dtype=bool)
    if not keep.any():
        raise ValueError(f"{path}: {_none_of(found, names)}")
    return MeasuredFeatures(keep, len(listed), where)


def _readings(path: Path, encoding: str) -> dict[str, list[str]]:
    """Every way to take the file: whole lines, the header, the first column."""
    if path.is_dir():
        raise ValueError(f"is a directory; {_HINT}")
    if not path.exists():
        raise ValueError(f"no such file; {_HINT}")
    with open(path, "rb") as file:
        refuse_foreign_bytes(file.read(8))
    lines: list[str] = []
    firsts: dict[str, list[str]] = {delimiter: [] for delimiter in _DELIMITERS}
    header: str | None = None
    with open_text(path, encoding) as text:
        for line in text:
            line = line.rstrip("\r\n")
            if not line.strip() or is_comment(line):
                continue
            header = line if header is None else header
            if len(line) <= _LONGEST:
                lines.append(_unquoted(line))
            for delimiter, found in firsts.items():
                found.append(_unquoted(line.partition(delimiter)[0]))
    if header is None:
        return {}
    # The delimiter is the one that parts the header into the most fields.
    delimiter = max(_DELIMITERS, key=header.count)
    fields = split(header, delimiter) if header.count(delimiter) else []
    return {
        "lines": lines,
        "header": [_unquoted(field) for field in fields],
        "first column": firsts[delimiter] if fields else [],
    }


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text


def _hits(texts: Iterable[str], known: Collection[str]) -> int:
    return sum(text in known for text in texts)


def _none_of(found: dict[str, list[str]], names: Sequence[str]) -> str:
    texts = max(found.values(), key=len)
    folded = {name.casefold(): name for name in names}
    alike = next((text for text in texts if text.casefold() in folded), None)
    hint = (
        f"{quoted(alike)} is written {quoted(folded[alike.casefold()])} in the table"
        if alike is not None
        else f"the table has {quoted(names[0])}, {closest(names[0], texts[:10_000])}"
    )
    return f"none of {plural(len(texts), 'name')} is a feature of the table: {hint}; {_HINT}"
