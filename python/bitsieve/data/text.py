"""Tables in delimited text: CSV, TSV, gzipped or not.

The header line and one field of each line are looked at first; they decide the delimiter, which
way the table lies, where the target is and which column names the rows. Then pandas reads the
numbers in one pass. Where rows are features, a row of labels is taken out before that, since a
single text row would turn every column into text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, name_columns, plural, require, shorten
from bitsieve.data.frames import matrix_of_frame
from bitsieve.data.labels import LabelFile, infer_labels, read_labels
from bitsieve.data.lines import (
    Header,
    first_fields,
    is_gzip,
    is_number,
    open_text,
    read_header,
    split,
)
from bitsieve.data.request import ReadRequest
from bitsieve.data.table import Table

__all__ = ["read_text"]

_INDEX_NAMES = {
    *("", "id", "ids", "index", "name", "sample", "samples", "sample_id", "sampleid", "patient"),
    *("patient_id", "gene", "genes", "gene_id", "geneid", "gene_symbol", "symbol", "probe"),
    *("probe_id", "probeid", "probeset", "id_ref", "feature", "features", "feature_id", "rownames"),
}


@dataclass(frozen=True)
class _Layout:
    """Which way the table lies and where things are in it."""

    rows_are_features: bool
    index: int | None
    rows: list[str]
    row_lines: list[int]
    target_name: str | None
    labels: LabelFile | None


def read_text(request: ReadRequest) -> Table:
    """Read a delimited text file; see :func:`bitsieve.data.read_table` for what it does."""
    header = read_header(request.path, request.delimiter, request.encoding)
    _refuse_twice(header.fields)
    layout = _lay_out(request, header)
    if layout.rows_are_features:
        return _read_features(request, header, layout)
    return _read_samples(request, header, layout)


def _read_samples(request: ReadRequest, header: Header, layout: _Layout) -> Table:
    frame = _read_frame(request, header, layout.index, ())
    sample_names = _take_names(frame, layout)
    y: Any = None
    if layout.labels is not None:
        y = layout.labels.align(sample_names, len(frame))
    elif layout.target_name is not None:
        y = frame.pop(header.fields.index(layout.target_name)).to_numpy()
    if frame.shape[1] == 0:
        raise ValueError("no column is left for features besides the target and the index")
    frame.columns = [header.fields[j] or f"column_{j}" for j in frame.columns]
    if request.categorical != "error":
        frame = _encode(frame, request.categorical)
    names = list(frame.columns)
    matrix = matrix_of_frame(frame)
    del frame
    return Table(
        matrix,
        y,
        names=names,
        sample_names=sample_names,
        target_name=layout.target_name,
        task=request.task,
        dtype=request.dtype,
    )


def _read_features(request: ReadRequest, header: Header, layout: _Layout) -> Table:
    skip: list[int] = []
    labels: list[str] | None = None
    if layout.target_name is not None and layout.labels is None:
        skip = [layout.row_lines[layout.rows.index(layout.target_name)]]
        labels = _fields_of_line(request, header, skip[0])
    frame = _read_frame(request, header, layout.index, skip)
    names = _take_names(frame, layout, skip)
    columns = list(frame.columns)
    sample_names = [header.fields[j] or f"column_{j}" for j in columns]
    y: Any = None
    if layout.labels is not None:
        y = layout.labels.align(sample_names, len(columns))
    elif labels is not None:
        y = infer_labels([labels[j] if j < len(labels) else "" for j in columns])
    _refuse_text_rows(frame, names)
    return Table(
        matrix_of_frame(frame).T,
        y,
        names=names,
        sample_names=sample_names,
        target_name=layout.target_name,
        task=request.task,
        dtype=request.dtype,
    )


def _lay_out(request: ReadRequest, header: Header) -> _Layout:
    fields = header.fields
    target = request.target
    if request.index not in ("auto", None) and request.index not in fields:
        raise ValueError(
            f"no column named {request.index!r} to be the index; {closest(request.index, fields)}"
        )
    named = request.index in fields and request.index != "auto"
    position = fields.index(request.index) if named else 0  # type: ignore[arg-type]
    scanned = list(first_fields(request.path, header, position, request.encoding))
    lines, rows = [n for n, _ in scanned], [t for _, t in scanned]
    text = not any(is_number(r) or not r for r in rows) and len(set(rows)) == len(rows)
    index: int | None = position if named else None
    if request.index == "auto" and fields[0] != target:
        usual = fields[0].casefold() in _INDEX_NAMES
        index = 0 if usual or (text and len(fields) > 1) else None

    target_name: str | None = None
    labels: LabelFile | None = None
    columns = [f for j, f in enumerate(fields) if j != index]
    features = request.orient == "features"
    if isinstance(target, str) and request.orient != "features" and target in fields:
        if index is not None and fields[index] == target:
            raise ValueError(f"column {target!r} cannot be both the target and the index")
        features, target_name = False, target
    elif isinstance(target, str) and request.orient != "samples" and target in rows:
        features, target_name, index = True, target, position
        if rows.count(target) > 1:
            raise ValueError(f"the target {target!r} names {rows.count(target)} rows")
    elif isinstance(target, str) and not Path(target).is_file():
        where = {"samples": "a column", "features": "a row", "auto": "a column, a row"}
        known = {"samples": columns, "features": rows, "auto": columns + rows}[request.orient]
        raise ValueError(
            f"target {target!r} is not {where[request.orient]} or a file of labels; "
            f"{closest(target, known)}"
        )
    elif target is not None:
        labels = read_labels(Path(target), request.encoding)
        target_name = Path(target).name
        if request.orient == "auto":
            features = _labels_say_features(labels, rows, columns)
    elif request.orient == "auto":
        features = text and index is not None and len(rows) > len(columns)
    return _Layout(features, index, rows, lines, target_name, labels)


def _labels_say_features(labels: LabelFile, rows: list[str], columns: list[str]) -> bool:
    by_row, by_column = labels.hits(rows), labels.hits(columns)
    if by_row or by_column:
        return by_column > by_row
    return labels.says_features(len(rows), len(columns))


def _read_frame(
    request: ReadRequest, header: Header, index: int | None, skip: Sequence[int]
) -> Any:
    pandas = require("pandas", "reading text tables")
    n_fields = len(header.fields)
    options: dict[str, Any] = {}
    if int(pandas.__version__.partition(".")[0]) < 3:  # later versions always round correctly
        options["float_precision"] = "round_trip"
    frame = pandas.read_csv(
        request.path,
        sep=r"\s+" if header.delimiter == " " else header.delimiter,
        header=None,
        names=range(n_fields),
        skiprows=[*range(header.line + 1), *skip],
        dtype=None if index is None else {index: str},
        compression="gzip" if is_gzip(request.path) else None,
        encoding=request.encoding,
        decimal=request.decimal,
        skipinitialspace=True,
        low_memory=False,
        **options,
    )
    if not isinstance(frame.index, pandas.RangeIndex):
        raise ValueError(
            f"lines hold more fields than the header, which has {n_fields}; "
            f"the delimiter is taken to be {header.delimiter!r}"
        )
    if not len(frame):
        raise ValueError("there is no line of data after the header")
    return frame


def _take_names(frame: Any, layout: _Layout, skip: Sequence[int] = ()) -> list[str] | None:
    if layout.index is None:
        return None
    column = frame.pop(layout.index)
    # What was scanned is what was written; pandas takes "NA" for a missing name.
    pairs = zip(layout.row_lines, layout.rows, strict=True)
    rows = [name for line, name in pairs if line not in skip]
    return rows if len(rows) == len(frame) else [str(name).strip() for name in column]


def _fields_of_line(request: ReadRequest, header: Header, number: int) -> list[str]:
    with open_text(request.path, request.encoding) as file:
        for i, line in enumerate(file):
            if i == number:
                return split(line.rstrip("\n"), header.delimiter)
    raise AssertionError("the line was there a moment ago")


def _encode(frame: Any, how: str) -> Any:
    """Replace text columns by numbers, in place of each column."""
    pandas = require("pandas", "reading text tables")
    parts = []
    for name in frame.columns:
        column = frame[name]
        if pandas.api.types.is_numeric_dtype(column.dtype):
            parts.append(column)
            continue
        missing = int(column.isna().sum())
        if missing and how == "ordinal":
            raise ValueError(
                f"Input X contains NaN: {plural(missing, 'value')} missing in text column "
                f"{name!r}; fill them in, drop the column, or pass categorical='onehot', where "
                "a missing value is one of the values"
            )
        column = column.astype(object).where(column.notna(), "missing")
        values, codes = np.unique(column.to_numpy().astype(str), return_inverse=True)
        if how == "ordinal":
            parts.append(pandas.Series(codes, name=name, dtype="int32"))
        else:
            for k, value in enumerate(values):
                parts.append(pandas.Series((codes == k).astype(np.uint8), name=f"{name}={value}"))
    return pandas.concat(parts, axis=1)


def _refuse_text_rows(frame: Any, names: list[str] | None) -> None:
    pandas = require("pandas", "reading text tables")
    text = [j for j in frame.columns if not pandas.api.types.is_numeric_dtype(frame[j].dtype)]
    bad: NDArray[np.bool_] = np.zeros(len(frame), dtype=bool)
    for j in text:
        column = frame[j]
        bad |= (pandas.to_numeric(column, errors="coerce").isna() & column.notna()).to_numpy()
    rows = np.flatnonzero(bad).tolist()
    if rows:
        example = next(v for v in frame.loc[rows[0], text] if isinstance(v, str))
        raise ValueError(
            f"{name_columns(rows, names, noun='row')} {'hold' if len(rows) > 1 else 'holds'} text, "
            f"such as {example!r}; features must be numbers: drop these rows, or name one as the "
            "target"
        )


def _refuse_twice(fields: list[str]) -> None:
    twice = [name for name, count in Counter(fields).items() if count > 1 and name]
    if twice:
        raise ValueError(
            f"the header has {plural(len(twice), 'name')} more than once: {shorten(twice)}; "
            "rename these columns"
        )
