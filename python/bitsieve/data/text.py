"""Tables in delimited text: CSV, TSV, compressed or not.

The header line and the line below it are looked at first. Where the table looks plain, numbers
and row names are then read in one pass (:mod:`bitsieve.data.plain`). Otherwise one or two fields
of each line are scanned, and pandas reads the rest. Either way these fields decide which way the
table lies, where the target is and which column names the rows. Where rows are features, a row of
labels is taken out before the numbers are read: it would turn every column into text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import name_columns, plural, quoted, shorten
from bitsieve.data.categories import encode_categories
from bitsieve.data.finish import drop_features, finish_table, names_to_drop
from bitsieve.data.frames import comma_hint, first_text, matrix_of_frame
from bitsieve.data.labels import is_missing_label, read_groups
from bitsieve.data.layout import DESCRIPTIONS, Layout, lay_out
from bitsieve.data.lines import (
    Header,
    data_lines,
    is_number,
    named,
    read_header,
    scan_fields,
    split,
)
from bitsieve.data.opening import open_text
from bitsieve.data.plain import pandas_options
from bitsieve.data.request import ReadRequest
from bitsieve.data.table import Table

__all__ = ["read_text"]


def read_text(request: ReadRequest) -> Table:
    """Read a delimited text file; see :func:`bitsieve.data.read_table` for what it does."""
    header = read_header(request.path, request.delimiter, request.encoding, request.decimal)
    _refuse_twice(request, header.fields, all_of_them=request.duplicates == "error")
    layout = lay_out(request, header)
    return (_read_features if layout.features else _read_samples)(request, header, layout)


def _read_samples(request: ReadRequest, header: Header, layout: Layout) -> Table:
    fields, rows, plain = header.fields, layout.rows, layout.plain
    sample_names = None if layout.index is None else rows
    away = set() if layout.index is None else {layout.index}
    y: Any = None
    if layout.labels is not None:
        y = layout.labels.align(sample_names, len(rows))
    elif layout.target_name is not None and layout.target_texts is not None:
        y = layout.target_texts
        away.add(fields.index(layout.target_name))
    groups: Any = None
    if request.groups is not None:
        if request.groups in fields and request.groups != layout.target_name:
            at = fields.index(str(request.groups))
            away.add(at)
            groups = _texts_of(request, header, layout, at)
        else:
            groups = read_groups(request, sample_names, len(rows), "column", fields)
    called = named(fields)
    dropped = names_to_drop(request.drop, dict.fromkeys((*fields, *called)))
    if layout.labels is None and layout.target_name in dropped:
        raise ValueError(f"{quoted(str(layout.target_name))} is the target and cannot be dropped")
    keep = [j for j, f in enumerate(fields) if j not in away and dropped.isdisjoint((f, called[j]))]
    if not keep:
        raise ValueError("no column is left for features besides the target and the index")
    names = [called[j] for j in keep]
    discrete = None
    if plain is not None and plain.columns == keep:
        matrix = plain.matrix
    else:
        frame = _read_frame(request, header, keep, n_rows=len(rows), skip=layout.remarks)
        frame.columns = names
        if request.categorical == "error":
            matrix = matrix_of_frame(frame)
        else:
            encoded = encode_categories(
                frame, request.categorical, keep_missing=request.missing == "keep"
            )
            matrix, names, discrete = encoded.matrix, encoded.names, encoded.discrete
        del frame
    return finish_table(
        request, matrix, y, names=names, sample_names=sample_names,
        target_name=layout.target_name, discrete=discrete, labels=layout.labels, groups=groups,
    )  # fmt: skip


def _texts_of(request: ReadRequest, header: Header, layout: Layout, at: int) -> list[str]:
    """Return the fields of one column as they are written."""
    if at == layout.index:
        return list(layout.rows)
    if layout.plain is not None and at in layout.plain.texts:
        return list(layout.plain.texts[at])
    return scan_fields(request.path, header, [at], request.encoding)[1][0]


def _read_features(request: ReadRequest, header: Header, layout: Layout) -> Table:
    fields, rows, plain = header.fields, list(layout.rows), layout.plain
    _refuse_twice(request, fields, all_of_them=True)
    lines, skip = list(layout.lines), list(layout.remarks)

    def take_row(name: str) -> list[str]:
        """Take a row of labels out, and return its fields."""
        at = rows.index(name)
        del rows[at]
        skip.append(lines.pop(at))
        line = next(
            line
            for number, line in data_lines(request.path, header, request.encoding)
            if number == skip[-1]
        )
        return split(line, header.delimiter)

    called = named(fields)
    away = names_to_drop(request.drop, dict.fromkeys((*rows, *fields, *called)))
    targets = members = None
    if layout.labels is None and layout.target_name in away:
        raise ValueError(f"{quoted(str(layout.target_name))} is the target and cannot be dropped")
    if layout.labels is None and layout.target_name is not None:
        targets = take_row(layout.target_name)
    if request.groups is not None and rows.count(str(request.groups)) == 1 and lines:
        members = take_row(str(request.groups))
    no_samples = away.difference(rows)
    keep = [
        j
        for j, f in enumerate(fields)
        if j != layout.index and no_samples.isdisjoint((f, called[j]))
    ]
    if lines and layout.index is not None and away.intersection(rows):  # they may hold text
        skip += [line for line, row in zip(lines, rows, strict=True) if row in away]
        rows = [row for row in rows if row not in away]
        if not rows:
            raise ValueError("no feature is left after what is to be dropped")
    if plain is not None and all(
        _is_description(fields[j], plain.texts[j]) for j in plain.texts if j in keep
    ):
        samples = [j for j in keep if j not in plain.texts]
        matrix = plain.matrix
    else:
        frame = _read_frame(request, header, keep, n_rows=len(rows), skip=skip)
        texts = [
            j for j in keep if not _is_numeric(frame[j]) and _is_description(fields[j], frame[j])
        ]
        samples = [j for j in keep if j not in texts] or keep
        frame = frame[samples]
        _refuse_text_rows(frame, None if layout.index is None else rows)
        matrix = matrix_of_frame(frame)
        del frame
    descriptions = [fields[j] for j in keep if j not in samples]
    if descriptions:
        request.notes.append(
            f"{name_columns([*range(len(descriptions))], descriptions)} "
            f"{'hold' if len(descriptions) > 1 else 'holds'} text and "
            f"{'are no samples' if len(descriptions) > 1 else 'is no sample'}: left out"
        )
    if not samples:
        raise ValueError("no column is left for samples besides the index")
    sample_names = [called[j] for j in samples]
    y: Any = None
    if layout.labels is not None:
        y = layout.labels.align(sample_names, len(samples))
    elif targets is not None:
        y = [targets[j] if j < len(targets) else "" for j in samples]
    groups: Any = None
    if members is not None:
        groups = [members[j] if j < len(members) else "" for j in samples]
    elif request.groups is not None:
        groups = read_groups(request, sample_names, len(samples), "row", rows)
    matrix, names = matrix.T, None if layout.index is None else rows
    if names is not None and away.intersection(names):
        matrix, names, _ = drop_features(matrix, names, away)
    return finish_table(
        request, matrix, y, names=names, sample_names=sample_names,
        target_name=layout.target_name, labels=layout.labels, groups=groups,
    )  # fmt: skip


def _is_description(name: str, values: Any) -> bool:
    """True for a column of which most is text, or some if it is called so; no commas in numbers."""
    known = [v for v in values if isinstance(v, str) and not is_missing_label(v)]
    texts = [v for v in known if not is_number(v) and comma_hint(v) is None]
    return len(texts) > (0 if name.casefold() in DESCRIPTIONS else len(known) // 2)


def _is_numeric(column: Any) -> bool:
    import pandas  # slow to import

    return bool(pandas.api.types.is_numeric_dtype(column.dtype))


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
    with open_text(request.path, request.encoding) as file:
        frame = pandas.read_csv(
            file,
            sep=r"\s+" if header.delimiter == " " else header.delimiter,
            names=range(n_fields),
            dtype=dict.fromkeys(set(range(n_fields)) - set(keep), str),
            skiprows=[*range(header.line + 1), *skip],
            low_memory=False,
            skipinitialspace=True,
            **pandas_options(request.decimal),
        )
    if len(frame) != n_rows or not isinstance(frame.index, pandas.RangeIndex):
        raise ValueError(
            f"{plural(n_rows, 'line')} of data give {plural(len(frame), 'row')}; "
            "quoted fields must not hold line breaks"
        )
    frame = frame[keep]
    for place, j in enumerate(keep):  # pandas leaves whole numbers of more than 64 bits
        if not _is_numeric(frame[j]):
            given = [None if pandas.isna(v) else str(v) for v in frame[j]]
            if all(v is None or is_number(v, request.decimal) for v in given):
                points = [
                    None if v is None else float(v.replace(request.decimal, ".")) for v in given
                ]
                frame.isetitem(place, np.array(points, dtype=np.float64))
    return frame


def _refuse_text_rows(frame: Any, names: list[str] | None) -> None:
    text = [j for j in frame.columns if not _is_numeric(frame[j])]
    bad: NDArray[np.bool_] = np.zeros(len(frame), dtype=bool)
    for j in text:
        bad |= [isinstance(value, str) and not is_number(value) for value in frame[j]]
    rows = np.flatnonzero(bad).tolist()
    if rows:
        example = first_text(frame.loc[rows[0], text].dropna())
        way_out = comma_hint(example) or "drop these rows, or name one as the target"
        raise ValueError(
            f"{name_columns(rows, names, noun='row')} {'hold' if len(rows) > 1 else 'holds'} text, "
            f"such as {shorten([example])}; features must be numbers: {way_out}"
        )


def _refuse_twice(request: ReadRequest, fields: list[str], *, all_of_them: bool) -> None:
    """Refuse a header with a name twice; or, if not all of them, with the target or the index."""
    twice = [name for name, count in Counter(fields).items() if count > 1 and name]
    if not all_of_them:
        twice = [name for name in twice if name in (request.target, request.index)]
    if twice:
        raise ValueError(
            f"the header has {plural(len(twice), 'name')} more than once: {shorten(twice)}; "
            "rename these columns, or, where they are features, say duplicates='mean', 'max' or "
            "'first' (--duplicates)"
        )
