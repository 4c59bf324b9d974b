"""Read a table from a file, by its suffix.

A format is a reader (a function from a :class:`ReadRequest` to a Table) under one or more
suffixes; :func:`register_format` adds one. The readers that come along are in
:mod:`bitsieve.data.text` and :mod:`bitsieve.data.npz`. Whatever goes wrong with a file is a
``ValueError`` that starts with its path.
"""

from __future__ import annotations

import codecs
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

from bitsieve._errors import closest, shorten
from bitsieve.data.lines import undecodable
from bitsieve.data.missing import Missing, check_missing
from bitsieve.data.npz import read_npz
from bitsieve.data.request import Categorical, Orient, ReadRequest
from bitsieve.data.table import Table
from bitsieve.data.text import read_text
from bitsieve.data.validation import Task, check_dtype

__all__ = ["ReadRequest", "formats", "read_table", "register_format"]

Reader = Callable[[ReadRequest], Table]

_readers: dict[str, Reader] = {}


def register_format(suffixes: Iterable[str], reader: Reader) -> None:
    """Make `read_table` use a reader for files that end in one of the suffixes.

    Parameters
    ----------
    suffixes : iterable of str
        Such as ``(".csv", ".csv.gz")``; compared without regard to case, the longest one wins.
    reader : callable
        Takes a :class:`ReadRequest`, returns a :class:`Table`, raises ``ValueError``.

    Raises
    ------
    ValueError
        If a suffix does not start with a dot or has a reader already.

    Examples
    --------
    >>> def read_numbers(request):
    ...     return Table(np.loadtxt(request.path))
    >>> register_format([".numbers"], read_numbers)
    """
    wanted = [s.lower() for s in suffixes]
    for suffix in wanted:
        if not suffix.startswith("."):
            raise ValueError(f"a suffix starts with a dot, got {suffix!r}")
        if _readers.get(suffix, reader) is not reader:
            raise ValueError(f"{suffix!r} has a reader already: {_readers[suffix]}")
    _readers.update(dict.fromkeys(wanted, reader))


def formats() -> list[str]:
    """Suffixes that can be read, in alphabetical order.

    Returns
    -------
    list of str

    Examples
    --------
    >>> ".csv.gz" in formats()
    True
    """
    return sorted(_readers)


def read_table(
    path: str | os.PathLike[str],
    *,
    target: str | os.PathLike[str] | None = None,
    orient: Orient = "auto",
    index: str | Literal["auto"] | None = "auto",
    categorical: Categorical = "error",
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    task: Task | None = None,
    dtype: DTypeLike = np.float32,
    missing: Missing = "error",
    groups: str | os.PathLike[str] | None = None,
) -> Table:
    """Read samples, features and a target from a file.

    Parameters
    ----------
    path : path-like
        A CSV, TSV or other delimited text file (``.csv``, ``.tsv``, ``.tab``, ``.txt``, each
        also with ``.gz``), or a NumPy archive ``.npz`` with ``X`` and perhaps ``y``, ``names``
        and ``sample_names``.
    target : str or path-like, optional
        What to predict: the name of a column (of a row, where rows are features; of an array,
        in an archive, ``"y"`` by default), or a second file with one label a line, or with two
        columns, sample name and label, matched by name. A name in the table goes before a file.
        One line more than samples is a header line, unless it shows that it is a label: it comes
        again further down, or is a number like the others. A table needs a header line; numbers
        are taken for names only where they count the columns, or stand over row names.
    orient : {"auto", "samples", "features"}
        What a row is. ``"auto"``: where the target is found decides: a column name means that
        rows are samples, a row name that they are features. With a file of labels its sample
        names decide, or else its length. With no target, rows are features if the first column
        holds distinct text and there are more rows than columns; otherwise they are samples.
    index : {"auto", None} or str
        Column that names the rows. ``"auto"``: the first one, if its header is empty or a usual
        name (id, index, sample, gene, probe, ...), or if it holds distinct text. ``None``: no
        column does.
    categorical : {"error", "onehot", "ordinal"}
        What to do with columns of text: refuse; make one 0/1 column a value, named
        ``column=value``, where missing text is the value ``missing``; or number the values in
        sorted order. The table's ``discrete`` flags the columns that came of it, and those of
        True and False. Where rows are features, text is refused all the same.
    delimiter : str, optional
        By default the usual one of the suffix, or what the header line shows.
    decimal : str, default="."
        Decimal mark of a text file.
    encoding : str, default="utf-8"
        Encoding of a text file.
    task : {"classification", "regression"}, optional
        By default decided from the target.
    dtype : {numpy.float32, numpy.float64}
        Type of the table's hot copy.
    missing : {"error", "keep"}
        Refuse missing values, or keep them as NaN. A value is missing where the field is empty, or
        holds NA, NaN, null or what else pandas takes for it. Missing text that is kept is NaN
        among the numbers of ``categorical="ordinal"``, not a category of its own.
    groups : str or path-like, optional
        Which samples belong together, such as those of one patient: the name of a column (of a
        row, where rows are features; of an array, in an archive), which is then no feature, or a
        second file laid out as one of labels.

    Returns
    -------
    Table
        With ``X``, ``y``, ``names``, ``sample_names``, ``target_name``, ``discrete``, ``groups``
        and ``n_missing``.

    Raises
    ------
    ValueError
        If the file is absent, empty, cut short or not what its suffix says; if the target or
        index is not in it; if values or names are not fit for a Table. The message starts with
        the path.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "genes.csv"
    >>> _ = path.write_text("id,tp53,egfr,outcome\\ns1,1.5,7,sick\\ns2,2.5,6,well\\n")
    >>> table = read_table(path, target="outcome")
    >>> table.names, table.sample_names, table.y.tolist()
    (['tp53', 'egfr'], ['s1', 's2'], ['sick', 'well'])
    >>> _ = path.write_text("id,age,stage,outcome\\ns1,51,II,sick\\ns2,,I,well\\n")
    >>> table = read_table(path, target="outcome", categorical="ordinal", missing="keep")
    >>> table.X.tolist(), table.discrete.tolist()
    ([[51.0, 1.0], [nan, 0.0]], [False, True])
    """
    _one_of("orient", orient, ("auto", "samples", "features"))
    _one_of("categorical", categorical, ("error", "onehot", "ordinal"))
    check_missing(missing)
    _one_character("decimal", decimal)
    if delimiter is not None:
        _one_character("delimiter", delimiter)
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(f"there is no encoding named {encoding!r}") from None
    dtype = check_dtype(dtype)
    path = Path(path)
    reader = _reader_of(path)
    request = ReadRequest(
        path=path,
        target=target if target is None or isinstance(target, str) else Path(target),
        orient=orient,
        index=index,
        categorical=categorical,
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        task=task,
        dtype=dtype,
        missing=missing,
        groups=groups if groups is None or isinstance(groups, str) else Path(groups),
    )
    try:
        return reader(request)
    except (EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: the file is damaged or cut short ({error})") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: {undecodable(path, encoding)}") from error
    except MemoryError as error:
        raise ValueError(
            f"{path}: too large for the memory of this machine ({error}); keep fewer columns, "
            "or store float32 in an .npz archive"
        ) from error
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error})") from error
    except ValueError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from error


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {shorten(allowed)}, got {value!r}")


def _one_character(name: str, value: str) -> None:
    if len(value) != 1 or value in '"\r\n':
        raise ValueError(f"{name} must be one character, no quote or line break, got {value!r}")


def _reader_of(path: Path) -> Reader:
    if path.is_dir():
        raise ValueError(f"{path}: is a directory; pass the path of one file in it")
    if not path.exists():
        beside = path.parent
        if not beside.is_dir():
            raise ValueError(f"{path}: no such file, nor such a directory as {beside}")
        files = sorted(f.name for f in beside.iterdir() if f.is_file())
        raise ValueError(f"{path}: no such file; in {beside} {closest(path.name, files)}")
    name = path.name.lower()
    known = [s for s in _readers if name.endswith(s)]
    if not known:
        raise ValueError(f"{path}: no reader for this suffix; known are {', '.join(formats())}")
    if path.stat().st_size == 0:
        raise ValueError(f"{path}: the file is empty")
    return _readers[max(known, key=len)]


register_format(
    [suffix + gz for suffix in (".csv", ".tsv", ".tab", ".txt") for gz in ("", ".gz")], read_text
)
register_format([".npz"], read_npz)
