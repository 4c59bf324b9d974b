"""Formats that are not read, by suffix or by how a file starts, and a hint for each."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["foreign_suffix", "refuse_foreign_bytes", "refuse_foreign_text"]

_GCT = "a GCT file", "delete its first two lines and save it as .tsv (Description is left out)"
_SOFT = "a GEO SOFT file", "take the series matrix (.txt.gz) of GEO"
_ARFF = "an ARFF file", "pandas.DataFrame(scipy.io.arff.loadarff(path)[0]).to_csv('table.csv')"
_ANNDATA = "an HDF5 file (h5ad)", "anndata.read_h5ad(path).to_df().to_csv('table.csv')"
_PARQUET = "a Parquet file", "pandas.read_parquet(path).to_csv('table.csv')"
_FEATHER = "an Arrow file", "pandas.read_feather(path).to_csv('table.csv')"
_EXCEL = "a spreadsheet", "save its sheet as CSV"
_R = "a file of R", "write.csv(table, 'table.csv')"
_PICKLE = "a pickle, which could run code", "save the table as CSV"
_NPY = "a single NumPy array", "numpy.savez('table.npz', X=X, y=y)"
_MATLAB = "a MATLAB file", "numpy.savez('table.npz', **scipy.io.loadmat(path))"
_MARKET = (
    "a Matrix Market file",
    "scipy.sparse.save_npz('table.npz', scipy.io.mmread(path).T.tocsr())",
)
_MARKUP = "a page of HTML or XML", "download the table itself"

_SUFFIXES = {
    ".gct": _GCT, ".soft": _SOFT, ".arff": _ARFF, ".h5ad": _ANNDATA, ".h5": _ANNDATA,
    ".hdf5": _ANNDATA, ".parquet": _PARQUET, ".feather": _FEATHER, ".arrow": _FEATHER,
    ".xlsx": _EXCEL, ".xls": _EXCEL, ".ods": _EXCEL, ".rds": _R, ".rda": _R, ".rdata": _R,
    ".pkl": _PICKLE, ".pickle": _PICKLE, ".npy": _NPY, ".mat": _MATLAB, ".mtx": _MARKET,
    ".html": _MARKUP, ".xml": _MARKUP,
}  # fmt: skip

_STARTS = {
    b"\x89HDF\r\n\x1a\n": _ANNDATA,
    b"PAR1": _PARQUET,
    b"ARROW1": _FEATHER,
    b"PK\x03\x04": ("a zip archive or a spreadsheet", "save its sheet as CSV, or expand it"),
    b"\xd0\xcf\x11\xe0": _EXCEL,
    b"\x93NUMPY": _NPY,
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "expand it"),
}

_LINES = {
    re.compile(r"#1\.[0-9]\s*"): _GCT,
    re.compile(r"\^[A-Za-z]+ ?=.*"): _SOFT,
    re.compile(r"@relation\b.*", re.IGNORECASE): _ARFF,
    re.compile(r"%%MatrixMarket.*"): _MARKET,
    re.compile(r"<(\?xml|!doctype|html)\b.*", re.IGNORECASE): _MARKUP,
}


def foreign_suffix(path: Path) -> str | None:
    """What a file is that is known by its suffix and not read, and a hint."""
    name = path.name.lower()
    for compressed in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(compressed)
    found = _SUFFIXES.get(Path(name).suffix)
    return None if found is None else _said(found)


def refuse_foreign_bytes(start: bytes) -> None:
    """Refuse a text file that starts as other files do.

    Raises
    ------
    ValueError
        With the name of the format and a hint.
    """
    for magic, found in _STARTS.items():
        if start.startswith(magic):
            raise ValueError(_said(found))


def refuse_foreign_text(line: str) -> None:
    """Refuse a text file whose first line is that of another format.

    Raises
    ------
    ValueError
        With the name of the format and a hint.

    Examples
    --------
    >>> refuse_foreign_text("gene,s1,s2")
    >>> refuse_foreign_text("#1.2")
    Traceback (most recent call last):
    ValueError: this is a GCT file, a format that is not read yet; convert it: delete ...
    """
    for pattern, found in _LINES.items():
        if pattern.fullmatch(line[:200].strip()):
            raise ValueError(_said(found))


def _said(found: tuple[str, str]) -> str:
    return f"this is {found[0]}, a format that is not read yet; convert it: {found[1]}"
