"""Read a table from a file, by its suffix.

A format is a reader (a function from a :class:`ReadRequest` to a Table) under one or more
suffixes; :func:`register_format` adds one. The readers that come along are in
:mod:`bitsieve.data.text` and :mod:`bitsieve.data.npz`. Whatever goes wrong with a file is a
``ValueError`` of one line, of 300 characters at most, that starts with its path.
"""

from __future__ import annotations

import codecs
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

from bitsieve._checks import check_choice
from bitsieve._errors import closest, quoted
from bitsieve.data.foreign import foreign_suffix, refuse_foreign_bytes
from bitsieve.data.missing import Missing, check_missing
from bitsieve.data.npz import read_npz
from bitsieve.data.opening import COMPRESSED, is_compressed, undecodable
from bitsieve.data.request import Categorical, Duplicates, Orient, ReadRequest
from bitsieve.data.table import Table
from bitsieve.data.text import read_text
from bitsieve.data.validation import Task, check_dtype

__all__ = ["ReadRequest", "formats", "read_table", "register_format"]

Reader = Callable[[ReadRequest], Table]

#: Characters of a message, and of the path in it.
_LONGEST, _LONGEST_PATH = 300, 120

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
    drop: str | Sequence[str] = (),
    duplicates: Duplicates = "error",
    categorical: Categorical = "error",
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    task: Task | None = None,
    dtype: DTypeLike = np.float32,
    missing: Missing = "error",
    groups: str | os.PathLike[str] | None = None,
    to_predict: bool = False,
) -> Table:
    """Read samples, features and a target from a file.

    Parameters
    ----------
    path : path-like
        A CSV, TSV or other delimited text file (``.csv``, ``.tsv``, ``.tab``, ``.txt``, each
        also with ``.gz``, ``.bz2`` or ``.xz``), or a NumPy archive ``.npz`` with ``X`` and perhaps
        ``y``, ``names`` and ``sample_names``, or with a matrix of ``scipy.sparse.save_npz``. Lines
        of text before the header that begin with # or ! are remarks, and so are such lines further
        down that have another number of fields.
    target : str or path-like, optional
        What to predict: the name of a column (of a row, where rows are features; of an array,
        in an archive, ``"y"`` by default), or a second file with one label a line, or with two
        columns, sample name and label, matched by name. Of a file with more columns and a header
        line, ``"labels.csv:group"`` takes one; its first column holds the sample names. A name in
        the table goes before a file. Samples without a label are left out, with a warning.
        One line more than samples is a header line, unless it shows that it is a label: it comes
        again further down, or is a number like the others. A table needs a header line; numbers
        are taken for names only where they count the columns, or stand over row names.
    orient : {"auto", "samples", "features"}
        What a row is. ``"auto"``: where the target is found decides: a column name means that
        rows are samples, a row name that they are features. With a file of labels its sample
        names decide, or else its length. With no target, rows are features if there are more rows
        than columns and the first column holds distinct text, or is called gene, probe, ID_REF or
        the like and holds each value once; otherwise they are samples. Where rows are features, a
        column of text besides the row names is a description: left out, with a warning.
    index : {"auto", None} or str
        Column that names the rows. ``"auto"``: the first one, if its header is empty, ``Unnamed:
        0`` or a usual name (id, index, rownames, sample, gene, probe, ...) and it holds no
        fractions, or if it holds distinct text. ``None``: no column does.
    drop : str or sequence of str
        Columns that are no features, or, where rows are features, rows or columns to leave out. A
        text with commas that is no name stands for several.
    duplicates : {"error", "mean", "max", "first"}
        What to do with features of one name, such as probes of one gene: refuse them; take the
        mean of each sample; or keep the one with the highest mean over the samples (of equal ones
        the first), or the first. The feature stands where the first one stood.
    categorical : {"error", "onehot", "ordinal"}
        What to do with columns of text: refuse; make one 0/1 column a value, named
        ``column=value``, where missing text is the value ``missing``; or number the values in
        sorted order. The table's ``discrete`` flags the columns that came of it, and those of
        True and False. Where rows are features, text is refused all the same.
    delimiter : str, optional
        By default the usual one of the suffix, or what the header line shows.
    decimal : str, default="."
        Decimal mark of a text file; with a comma, the delimiter is looked for elsewhere.
    encoding : str, default="utf-8"
        Encoding of a text file.
    task : {"classification", "regression"}, optional
        By default decided from the target.
    dtype : {numpy.float32, numpy.float64}
        Type of the table's feature-major copy.
    missing : {"error", "keep"}
        Refuse missing values, or keep them as NaN. A value is missing where the field is empty, or
        holds NA, NaN, null or what else pandas takes for it, ``?`` or ``---``. Missing
        text that is kept is NaN among the numbers of ``categorical="ordinal"``, not a category of
        its own.
    groups : str or path-like, optional
        Which samples belong together, such as those of one patient: the name of a column (of a
        row, where rows are features; of an array, in an archive), which is then no feature, or a
        second file named and laid out as one of labels.
    to_predict : bool, default False
        The samples are only to be predicted: one is enough, no column need vary, and the target
        may hold one class.

    Returns
    -------
    Table
        With ``X``, ``y``, ``names``, ``sample_names``, ``target_name``, ``discrete``, ``groups``
        and ``n_missing``; ``label_match`` says how a file of labels met the samples, ``notes``
        what was left out.

    Raises
    ------
    ValueError
        If the file is absent, empty, cut short or not what its suffix says; if the target or
        index is not in it; if values or names are not fit for a Table. The message is one line of
        at most 300 characters and starts with the path. Compressed data that take more than 256 MiB
        and 100 times their size in the file (1000 times, a sparse matrix with its zeros) are
        refused before memory is taken for them.

    Warns
    -----
    UserWarning
        For each of the table's `notes`.

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
    check_choice("orient", orient, ("auto", "samples", "features"))
    check_choice("categorical", categorical, ("error", "onehot", "ordinal"))
    check_choice("duplicates", duplicates, ("error", "mean", "max", "first"))
    check_missing(missing)
    _one_character("decimal", decimal)
    if delimiter is not None:
        _one_character("delimiter", delimiter)
    _check_encoding(encoding)
    dtype = check_dtype(dtype)
    path = Path(path)
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
        drop=(drop,) if isinstance(drop, str) else tuple(drop),
        duplicates=duplicates,
        to_predict=to_predict,
    )
    try:
        table = _reader_of(path)(request)
    except UnicodeDecodeError as error:
        raise _refusal(path, undecodable(path, encoding)) from error
    except UnicodeEncodeError as error:
        said = f"holds lone surrogates as {encoding}, which are no text; pass its own encoding"
        raise _refusal(path, said) from error
    except MemoryError as error:
        said = (
            f"too large for the memory of this machine ({error}); keep fewer columns, or store "
            "float32 in an .npz archive"
        )
        raise _refusal(path, said) from error
    except OSError as error:
        raise _refusal(path, f"cannot be read ({error})") from error
    except ValueError as error:
        raise _refusal(path, str(error)) from error
    table.notes = tuple(request.notes)
    for note in table.notes:
        warnings.warn(f"{path.name}: {note}", stacklevel=2)
    return table


def _refusal(path: Path, said: str) -> ValueError:
    """The error for a file: one line, the path first, the middle left out of what is too long."""
    where, said = str(path), " ".join(said.split())
    if len(where) > _LONGEST_PATH:
        where = f"...{where[3 - _LONGEST_PATH :]}"
    most = _LONGEST - len(where) - 2
    if len(said) > most:
        end = most // 3
        said = f"{said[: most - end - 5]} ... {said[-end:]}"
    return ValueError(f"{where}: {said}")


def _check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, ValueError):
        raise ValueError(f"there is no encoding of text named {encoding!r}") from None


def _one_character(name: str, value: str) -> None:
    if len(value) != 1 or value in '"\r\n':
        raise ValueError(f"{name} must be one character, no quote or line break, got {value!r}")


def _reader_of(path: Path) -> Reader:
    if path.is_dir():
        raise ValueError("is a directory; pass the path of one file in it")
    if not path.exists():
        beside = path.parent
        if not beside.is_dir():
            raise ValueError(f"no such file, nor such a directory as {quoted(str(beside))}")
        files = sorted(f.name for f in beside.iterdir() if f.is_file())
        raise ValueError(f"no such file; in its folder {closest(path.name, files)}")
    name = path.name.lower()
    known = [s for s in _readers if name.endswith(s)]
    if not known:
        said = foreign_suffix(path)
        raise ValueError(
            said or f"no reader for this suffix; known are {', '.join(_short_formats())}"
        )
    if path.stat().st_size == 0:
        raise ValueError("the file is empty")
    return _readers[max(known, key=len)]


def _short_formats() -> list[str]:
    """Suffixes that can be read, compressed ones once."""
    plain = [s for s in formats() if not s.endswith(COMPRESSED)]
    others = [s for s in formats() if s.endswith(COMPRESSED) and Path(s).stem not in plain]
    return [*plain, *others, f"text also with {', '.join(COMPRESSED)}"]


def _read_text(request: ReadRequest) -> Table:
    if not is_compressed(request.path):
        with open(request.path, "rb") as file:
            refuse_foreign_bytes(file.read(8))
    return read_text(request)


register_format(
    [s + c for s in (".csv", ".tsv", ".tab", ".txt") for c in ("", *COMPRESSED)], _read_text
)
register_format([".npz"], read_npz)
