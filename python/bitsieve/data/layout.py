"""Which way a text table lies, where its target is, and which column names its rows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from bitsieve._errors import closest, quoted, shorten
from bitsieve.data.finish import names_to_drop
from bitsieve.data.labels import LabelFile, is_missing_label, label_source, read_labels
from bitsieve.data.lines import NO_NUMBER, Header, is_number, named, scan_fields
from bitsieve.data.plain import Plain, read_plain
from bitsieve.data.request import ReadRequest

__all__ = ["DESCRIPTIONS", "Layout", "lay_out"]

_FEATURE_NAMES = {
    *("accession", "ensembl", "ensembl_id", "entrez", "entrez_id", "entrezid", "feature"),
    *("feature_id", "features", "gene", "gene_id", "gene_name", "gene_symbol", "geneid", "genes"),
    *("hgnc_symbol", "id_ref", "probe", "probe_id", "probeid", "probeset", "probeset_id", "symbol"),
}
_SAMPLE_NAMES = {
    *("case_id", "cell", "cell_id", "geo_accession", "patient", "patient_id", "patientid"),
    *("sample", "sample_id", "sample_name", "sampleid", "samples", "subject", "subject_id"),
}
_INDEX_NAMES = {
    *("", "id", "ids", "index", "name", "row.names", "row_names", "rowname", "rownames"),
    *_FEATURE_NAMES,
    *_SAMPLE_NAMES,
}
#: What a column that describes the features is called.
DESCRIPTIONS = {
    *("annotation", "desc", "description", "gene description", "gene title", "gene_description"),
    *("gene_name", "gene_symbol", "gene_title", "symbol", "title"),
}
_UNNAMED = re.compile(r"unnamed: \d+(\.\d+)?")  # what pandas calls a column without a name
_FEW = 5  # columns of text that a plain table may have


@dataclass(frozen=True)
class Layout:
    """Which way the table lies and where things are in it.

    ``lines`` are the numbers of the data lines, ``rows`` their fields in the index column (in the
    first one where there is no index), ``remarks`` the numbers of lines that are no data.
    """

    features: bool
    index: int | None
    rows: list[str]
    lines: list[int]
    remarks: list[int]
    plain: Plain | None = None
    target_name: str | None = None
    target_texts: list[str] | None = None
    labels: LabelFile | None = None


@dataclass(frozen=True)
class _Scan:
    """Fields of the index column, or of the first one, and of the target column."""

    plain: Plain | None
    lines: list[int]
    remarks: list[int]
    rows: list[str]
    targets: list[str]


def lay_out(request: ReadRequest, header: Header) -> Layout:
    """Read what decides on the layout, and all of a plain table on the way.

    Raises
    ------
    ValueError
        If the target or the index is not there, or it cannot be said which way the table lies.
    """
    return _lay_out(request, header, _scan(request, header))


def _scan(request: ReadRequest, header: Header, *, plain: bool = True) -> _Scan:
    """Read the fields that decide on the layout, and the whole table where it is plain."""
    fields, target = header.fields, request.target
    position = _position(request, fields)
    positions = [position]
    if _by_column(request, fields):
        positions.append(fields.index(str(target)))
    elif _is_row_or_column(target):
        plain = False  # the target is a row, which may hold text
    if _is_row_or_column(request.groups) and request.groups not in fields:
        plain = False  # and so may the groups
    found = _try_plain(request, header, positions) if plain else None
    if found is not None:
        rows = found.texts.get(position) or [""] * found.n_rows
        return _Scan(found, [], [], rows, found.texts.get(positions[-1], []))
    lines, texts, remarks = scan_fields(request.path, header, positions, request.encoding)
    return _Scan(None, lines, remarks, texts[0], texts[-1])


def _try_plain(request: ReadRequest, header: Header, positions: list[int]) -> Plain | None:
    fields, position = header.fields, positions[0]
    dropped = _perhaps_dropped(request)
    texts = {j for j, f in enumerate(fields) if f in dropped or f == request.groups}
    texts.update(positions[1:])
    given = request.index == "auto" and (
        _is_usual(fields[position]) or not is_number(header.below[position], request.decimal)
    )
    if given or request.index not in ("auto", None):
        texts.add(position)
    others = {
        j
        for j, f in enumerate(header.below)
        if j not in texts and not is_number(f, request.decimal) and not is_missing_label(f)
    }
    if len(others) > (0 if len(positions) > 1 or request.orient == "samples" else _FEW):
        return None
    return read_plain(
        request.path, header, texts | others, encoding=request.encoding, decimal=request.decimal
    )


def _is_row_or_column(name: str | Path | None) -> bool:
    return isinstance(name, str) and label_source(name) is None


def _perhaps_dropped(request: ReadRequest) -> set[str]:
    """Names that may be meant, before it is known whether a text with commas is one."""
    return {name.strip() for entry in request.drop for name in (entry, *entry.split(","))}


def _position(request: ReadRequest, fields: list[str]) -> int:
    if request.index in ("auto", None):
        return 0
    if request.index not in fields:
        raise ValueError(
            f"no column named {quoted(str(request.index))} to be the index; "
            f"{closest(str(request.index), fields)}"
        )
    return fields.index(str(request.index))


def _by_column(request: ReadRequest, fields: list[str]) -> bool:
    target = request.target
    return isinstance(target, str) and request.orient != "features" and target in fields


def _is_usual(name: str) -> bool:
    return name.casefold() in _INDEX_NAMES or _UNNAMED.fullmatch(name.casefold()) is not None


def _index(request: ReadRequest, fields: list[str], rows: list[str]) -> tuple[int | None, bool]:
    """Column that names the rows, and whether its fields are distinct text."""
    decimal = request.decimal
    numbers = [r for r in rows if r[:1] not in NO_NUMBER and is_number(r, decimal)]
    distinct = not numbers and all(rows) and len(set(rows)) == len(rows)
    if request.index != "auto":
        return (None if request.index is None else _position(request, fields)), distinct
    if fields[0] == request.target or fields == [""]:
        return None, distinct
    name = fields[0].casefold()
    if name and name in _INDEX_NAMES:  # a measurement may be called so
        values = [float(r.replace(decimal, ".")) for r in numbers]
        if any(math.isfinite(v) and not v.is_integer() for v in values):
            return None, distinct
    return (0 if _is_usual(name) or (distinct and len(fields) > 1) else None), distinct


def _lay_out(request: ReadRequest, header: Header, scan: _Scan) -> Layout:
    fields, target, orient = header.fields, request.target, request.orient
    lines, remarks, rows = scan.lines, scan.remarks, scan.rows
    index, distinct = _index(request, fields, rows)
    dropped = names_to_drop(request.drop, dict.fromkeys((*fields, *named(fields), *rows)))
    columns = [f for j, f in enumerate(fields) if j != index and f not in dropped]

    if isinstance(target, str) and _by_column(request, fields):
        if index is not None and fields[index] == target:
            raise ValueError(f"column {quoted(target)} cannot be both the target and the index")
        _refuse_first_sample(fields, index, target, scan.targets)
        return Layout(False, index, rows, lines, remarks, scan.plain, target, scan.targets)
    if isinstance(target, str) and orient != "samples" and target in rows:
        if rows.count(target) > 1:
            raise ValueError(f"the target {quoted(target)} names {rows.count(target)} rows")
        if scan.plain is not None:
            scan = _scan(request, header, plain=False)
        position = _position(request, fields)
        return Layout(True, position, scan.rows, scan.lines, scan.remarks, None, target)
    source = label_source(target)
    if isinstance(target, str) and source is None:
        where = {"samples": "a column", "features": "a row", "auto": "a column, a row"}
        known = {"samples": columns, "features": rows, "auto": columns + rows}[orient]
        raise ValueError(
            f"target {quoted(target)} is not {where[orient]} or a file of labels; "
            f"{closest(target, known)}"
        )
    features = orient == "features"
    name = fields[0].casefold() if index == 0 else ""
    if target is None:
        if orient == "auto":
            unique = distinct or (name in _FEATURE_NAMES and len(set(rows)) == len(rows))
            features = index is not None and unique and len(rows) > len(columns)
            features = features and name not in _SAMPLE_NAMES
        return Layout(features, index, rows, lines, remarks, scan.plain)
    path, column = source or (Path(target), None)
    labels = read_labels(path, request.encoding, column, request.decimal)
    if orient == "auto":
        left = [row for row in rows if row not in dropped] if dropped else rows
        features = _says_features(labels, header, left, columns, name)
    return Layout(
        features, index, rows, lines, remarks, scan.plain, path.name if column is None else column,
        labels=labels,
    )  # fmt: skip


def _says_features(
    labels: LabelFile, header: Header, rows: list[str], columns: list[str], name: str
) -> bool:
    """True if labels in a file of their own belong to the columns."""
    by_row, by_column = labels.hits(rows), labels.hits(columns)
    if by_row == by_column == 0:
        # A description beside the row names is no sample.
        text = [
            f
            for f, first in zip(header.fields, header.below, strict=False)
            if f in columns and f.casefold() in DESCRIPTIONS and not is_number(first)
        ]
        n_columns = len(columns) - len(text)
        if n_columns == len(rows) and labels.counts(n_columns):
            return name in _FEATURE_NAMES
        return labels.says_features(len(rows), n_columns)
    if by_row != by_column:
        return by_column > by_row
    whole = (by_row == len(rows), by_column == len(columns))
    if whole in ((True, False), (False, True)):
        return whole[1]
    if name in _FEATURE_NAMES or name in _SAMPLE_NAMES:
        return name in _FEATURE_NAMES
    raise ValueError(
        f"the names in the target file {labels.path.name} fit rows and columns alike; say whether "
        "rows are features or samples (orient)"
    )


def _refuse_first_sample(
    fields: list[str], index: int | None, target: str, labels: list[str]
) -> None:
    names = [f for j, f in enumerate(fields) if j != index and f != target]
    if target in labels and all(is_number(f) for f in names):
        raise ValueError(
            f"{quoted(target)} names a column, but is also a label in it, and the first line holds "
            f"numbers ({shorten(names, 3)}) like a sample; add a header line"
        )
