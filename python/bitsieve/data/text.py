"""Tables in delimited text: CSV, TSV, gzipped or not.

The header line and one or two fields of each line are looked at first; they decide the delimiter,
which way the table lies, where the target is and which column names the rows. Then the numbers
are read in one pass, by pandas, or line by line where there are very many columns. Where rows are
features, a row of labels is taken out before that: it would turn every column into text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, name_columns, plural, shorten
from bitsieve.data.categories import encode_categories
from bitsieve.data.frames import comma_hint, first_text, matrix_of_frame
from bitsieve.data.labels import LabelFile, infer_labels, read_groups, read_labels
from bitsieve.data.lines import (
    Header,
    data_lines,
    is_number,
    open_text,
    read_header,
    scan_fields,
    split,
)
from bitsieve.data.request import ReadRequest
from bitsieve.data.table import Table
from bitsieve.data.wide import read_wide

__all__ = ["read_text"]

_WIDE = 2000  # columns from which line by line is the faster way
_INDEX_NAMES = {
    *("", "id", "ids", "index", "name", "sample", "samples", "sample_id", "sampleid", "patient"),
    *("patient_id", "gene", "genes", "gene_id", "geneid", "gene_symbol", "symbol", "probe"),
    *("probe_id", "probeid", "probeset", "id_ref", "feature", "features", "feature_id", "rownames"),
}


@dataclass(frozen=True)
class _Layout:
    """Which way the table lies and where things are in it.

    ``lines`` are the numbers of the data lines, ``rows`` their fields in the index column (in the
    first one where there is no index).
    """

    features: bool
    index: int | None
    lines: list[int]
    rows: list[str]
    target_name: str | None = None
    target_texts: list[str] | None = None
    labels: LabelFile | None = None


def read_text(request: ReadRequest) -> Table:
    """Read a delimited text file; see :func:`bitsieve.data.read_table` for what it does."""
    header = read_header(request.path, request.delimiter, request.encoding)
    if header.delimiter == request.decimal:
        raise ValueError(f"{request.decimal!r} cannot be both the delimiter and the decimal mark")
    _refuse_twice(header.fields)
    layout = _lay_out(request, header)
    return (_read_features if layout.features else _read_samples)(request, header, layout)


def _read_samples(request: ReadRequest, header: Header, layout: _Layout) -> Table:
    fields, rows = header.fields, layout.rows
    sample_names = None if layout.index is None else rows
    drop = set() if layout.index is None else {layout.index}
    y: Any = None
    if layout.labels is not None:
        y = layout.labels.align(sample_names, len(rows))
    elif layout.target_name is not None and layout.target_texts is not None:
        y = infer_labels(layout.target_texts)
        drop.add(fields.index(layout.target_name))
    groups: Any = None
    if request.groups is not None:
        if request.groups in fields and request.groups != layout.target_name:
            at = fields.index(str(request.groups))
            drop.add(at)
            groups = infer_labels(scan_fields(request.path, header, [at], request.encoding)[1][0])
        else:
            groups = read_groups(request, sample_names, len(rows), "column", fields)
    keep = [j for j in range(len(fields)) if j not in drop]
    if not keep:
        raise ValueError("no column is left for features besides the target and the index")
    names = [fields[j] or f"column_{j}" for j in keep]
    matrix = discrete = None
    if len(fields) > _WIDE and request.decimal == ".":
        matrix = read_wide(request.path, header, len(rows), drop, request.encoding)
    if matrix is None:
        frame = _read_frame(request, header, keep, n_rows=len(rows))
        frame.columns = names
        if request.categorical == "error":
            matrix = matrix_of_frame(frame)
        else:
            encoded = encode_categories(
                frame, request.categorical, keep_missing=request.missing == "keep"
            )
            matrix, names, discrete = encoded.matrix, encoded.names, encoded.discrete
        del frame
    return _table(request, layout, matrix, y, names, sample_names, discrete, groups)


def _read_features(request: ReadRequest, header: Header, layout: _Layout) -> Table:
    fields, rows, skip = header.fields, list(layout.rows), []
    keep = [j for j in range(len(fields)) if j != layout.index]
    sample_names = [fields[j] or f"column_{j}" for j in keep]
    y: Any = None
    if layout.labels is not None:
        y = layout.labels.align(sample_names, len(keep))
    elif layout.target_name is not None:
        at = rows.index(layout.target_name)
        skip = [layout.lines[at]]
        y = _row_of_labels(request, header, skip[0], keep)
    groups: Any = None
    if request.groups is not None:
        if rows.count(str(request.groups)) == 1 and request.groups != layout.target_name:
            skip.append(layout.lines[rows.index(str(request.groups))])
            groups = _row_of_labels(request, header, skip[-1], keep)
        else:
            groups = read_groups(request, sample_names, len(keep), "row", rows)
    rows = [row for row, line in zip(rows, layout.lines, strict=True) if line not in skip]
    names = None if layout.index is None else rows
    frame = _read_frame(request, header, keep, n_rows=len(rows), skip=skip)
    _refuse_text_rows(frame, names)
    matrix = matrix_of_frame(frame).T
    return _table(request, layout, matrix, y, names, sample_names, groups=groups)


def _row_of_labels(
    request: ReadRequest, header: Header, number: int, keep: list[int]
) -> NDArray[Any]:
    """Return the fields of one line as labels, one a kept column."""
    lines = data_lines(request.path, header, request.encoding)
    texts = split(next(line for at, line in lines if at == number), header.delimiter)
    return infer_labels([texts[j] if j < len(texts) else "" for j in keep])


def _table(
    request: ReadRequest,
    layout: _Layout,
    matrix: NDArray[Any],
    y: Any,
    names: list[str] | None,
    sample_names: list[str] | None,
    discrete: NDArray[np.bool_] | None = None,
    groups: Any = None,
) -> Table:
    return Table(
        matrix,
        y,
        names=names,
        sample_names=sample_names,
        target_name=layout.target_name,
        task=request.task,
        dtype=request.dtype,
        missing=request.missing,
        discrete=discrete,
        groups=groups,
    )


def _lay_out(request: ReadRequest, header: Header) -> _Layout:
    fields, target, orient = header.fields, request.target, request.orient
    named = request.index not in ("auto", None)
    if named and request.index not in fields:
        raise ValueError(
            f"no column named {request.index!r} to be the index; "
            f"{closest(str(request.index), fields)}"
        )
    position = fields.index(str(request.index)) if named else 0
    by_column = isinstance(target, str) and orient != "features" and target in fields
    positions = [position, fields.index(target)] if by_column else [position]  # type: ignore[arg-type]
    lines, found = scan_fields(request.path, header, positions, request.encoding)
    rows = found[0]
    distinct = len(set(rows)) == len(rows) and not any(is_number(r) or not r for r in rows)
    index: int | None = position if named else None
    if request.index == "auto" and fields[0] != target:
        usual = fields[0].casefold() in _INDEX_NAMES
        index = 0 if usual or (distinct and len(fields) > 1) else None
    columns = [f for j, f in enumerate(fields) if j != index]

    if isinstance(target, str) and by_column:
        if index is not None and fields[index] == target:
            raise ValueError(f"column {target!r} cannot be both the target and the index")
        _refuse_first_sample(fields, index, target, found[1])
        return _Layout(False, index, lines, rows, target, found[1])
    if isinstance(target, str) and orient != "samples" and target in rows:
        if rows.count(target) > 1:
            raise ValueError(f"the target {target!r} names {rows.count(target)} rows")
        return _Layout(True, position, lines, rows, target)
    if isinstance(target, str) and not Path(target).is_file():
        where = {"samples": "a column", "features": "a row", "auto": "a column, a row"}
        known = {"samples": columns, "features": rows, "auto": columns + rows}[orient]
        raise ValueError(
            f"target {target!r} is not {where[orient]} or a file of labels; "
            f"{closest(target, known)}"
        )
    features = orient == "features"
    if target is None:
        if orient == "auto":
            features = distinct and index is not None and len(rows) > len(columns)
        return _Layout(features, index, lines, rows)
    labels = read_labels(Path(target), request.encoding)
    if orient == "auto":
        by_row, by_name = labels.hits(rows), labels.hits(columns)
        features = by_name > by_row
        if by_row == by_name == 0:
            features = labels.says_features(len(rows), len(columns))
    return _Layout(features, index, lines, rows, Path(target).name, labels=labels)


def _read_frame(
    request: ReadRequest,
    header: Header,
    keep: list[int],
    *,
    n_rows: int,
    skip: Sequence[int] = (),
) -> Any:
    import pandas  # slow to import

    n_fields = len(header.fields)
    options: dict[str, Any] = {}
    if int(pandas.__version__.partition(".")[0]) < 3:  # later versions always round correctly
        options["float_precision"] = "round_trip"
    with open_text(request.path, request.encoding) as file:
        frame = pandas.read_csv(
            file,
            sep=r"\s+" if header.delimiter == " " else header.delimiter,
            header=None,
            names=range(n_fields),
            dtype=dict.fromkeys(set(range(n_fields)) - set(keep), str),
            skiprows=[*range(header.line + 1), *skip],
            decimal=request.decimal,
            skipinitialspace=True,
            low_memory=False,
            **options,
        )
    if len(frame) != n_rows:
        raise ValueError(
            f"{plural(n_rows, 'line')} of data give {plural(len(frame), 'row')}; "
            "quoted fields must not hold line breaks"
        )
    return frame[keep]


def _refuse_text_rows(frame: Any, names: list[str] | None) -> None:
    import pandas  # slow to import

    text = [j for j in frame.columns if not pandas.api.types.is_numeric_dtype(frame[j].dtype)]
    bad: NDArray[np.bool_] = np.zeros(len(frame), dtype=bool)
    for j in text:
        column = frame[j]
        bad |= (pandas.to_numeric(column, errors="coerce").isna() & column.notna()).to_numpy()
    rows = np.flatnonzero(bad).tolist()
    if rows:
        example = first_text(frame.loc[rows[0], text].dropna())
        way_out = comma_hint(example) or "drop these rows, or name one as the target"
        raise ValueError(
            f"{name_columns(rows, names, noun='row')} {'hold' if len(rows) > 1 else 'holds'} text, "
            f"such as {example!r}; features must be numbers: {way_out}"
        )


def _refuse_first_sample(
    fields: list[str], index: int | None, target: str, labels: list[str]
) -> None:
    names = [f for j, f in enumerate(fields) if j != index and f != target]
    if target in labels and all(is_number(f) for f in names):
        raise ValueError(
            f"{target!r} names a column, but is also a label in it, and the first line holds "
            f"numbers ({shorten(names, 3)}) like a sample; add a header line"
        )


def _refuse_twice(fields: list[str]) -> None:
    twice = [name for name, count in Counter(fields).items() if count > 1 and name]
    if twice:
        raise ValueError(
            f"the header has {plural(len(twice), 'name')} more than once: {shorten(twice)}; "
            "rename these columns"
        )
