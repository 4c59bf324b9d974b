"""Damaged and hostile files: a ValueError of one short line that names the file, and no more."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse

from bitsieve.data import Table, opening, read_table

SAMPLES = "id,tp53,egfr,outcome\ns1,1.5,7,sick\ns2,2.5,6,well\ns3,0,1e-3,sick\ns4,1,2,well\n"
FEATURES = '# made up\n"gene"\t"s1"\t"s2"\n"tp53"\t1.5\t2.5\n"egfr"\t7\tNA\n"myc"\t1\t3\n'
X = np.arange(12.0).reshape(4, 3) ** 2


def archive(method: int = zipfile.ZIP_DEFLATED, **arrays: object) -> bytes:
    """Bytes of an archive of NumPy, compressed in any way that zip files know."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, value in arrays.items():
            member = io.BytesIO()
            np.save(member, np.asarray(value))
            file.writestr(f"{name}.npy", member.getvalue())
    return out.getvalue()


def sparse(kind: str) -> bytes:
    out = io.BytesIO()
    scipy.sparse.save_npz(out, scipy.sparse.random(6, 5, 0.4, kind, random_state=0))
    return out.getvalue()


WHOLE = {"y": list("abab"), "names": list("pqr"), "sample_names": list("wxyz")}
FILES = {
    "a.csv": SAMPLES.encode(),
    "b.tsv": FEATURES.encode(),
    "c.csv.gz": gzip.compress(SAMPLES.encode(), mtime=0),
    "d.csv.bz2": bz2.compress(SAMPLES.encode()),
    "e.csv.xz": lzma.compress(SAMPLES.encode()),
    "f.npz": archive(X=X, **WHOLE),
    "g.npz": archive(zipfile.ZIP_STORED, X=X, **WHOLE),
    "h.npz": archive(zipfile.ZIP_LZMA, X=X, **WHOLE),
    "i.npz": archive(zipfile.ZIP_BZIP2, X=X, **WHOLE),
    "j.npz": sparse("csr"),
    "k.npz": sparse("coo"),
    "l.npz": sparse("dia"),
    "m.npz": sparse("bsr"),
}
PIECES = [
    b"", b"\0", b"\xff", b"\n", b"\r", b'"', b",", b"\t", b"1" * 311, b"-", b"9" * 5000, b"\xc3",
    b"nan", b"(", b"{", b"PK\x03\x04", b"\x7f\xff\xff\xff\xff\xff\xff\xff", b"#", b"!", b"'",
]  # fmt: skip


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The bytes cut, flipped, or with pieces put in, over or taken out."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at, what = rng.randrange(len(out) + 1), rng.randrange(5)
        if what == 0:
            del out[at:]
        elif what == 1 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif what == 2:
            out[at:at] = rng.choice(PIECES)
        elif what == 3:
            piece = rng.choice(PIECES)
            out[at : at + len(piece)] = piece
        else:
            del out[at : at + rng.choice([1, 2, 8])]
    return bytes(out)


def check(path, **kwargs):
    """Read the file; what is wrong with it must be one short line that begins with its path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_table(path, **kwargs)
        except ValueError as error:
            said = str(error)
            assert said.startswith(f"{path}: "), said
            assert len(said) <= 300, said
            assert len(said.splitlines()) == 1, said
            return said


def test_damaged_files(tmp_path):
    rng = random.Random(0)
    refused = 0
    for name, data in FILES.items():
        path = tmp_path / name
        path.write_bytes(data)
        target = "outcome" if ".csv" in name else None
        assert isinstance(check(path, target=target, missing="keep"), Table), name
        for _ in range(25):
            path.write_bytes(mutated(rng, data))
            refused += isinstance(check(path, target=target, missing="keep"), str)
    assert refused > 200


def test_damaged_files_of_labels(tmp_path):
    rng = random.Random(1)
    table, labels = tmp_path / "t.csv", tmp_path / "labels.csv"
    table.write_text("id,a\ns1,1\ns2,2\ns3,4\ns4,5\n")
    data = b"id,group,age\ns1,a,1\ns2,b,2\ns3,a,3\ns4,b,4\n"
    for _ in range(80):
        labels.write_bytes(mutated(rng, data))
        check(table, target=f"{labels}:group")
        check(table, target=labels)


# -- archives --------------------------------------------------------------------------------------


def header(shape: str, descr: str = "<f8") -> bytes:
    """The header of a .npy file that gives some shape, whatever follows."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def packed(path, member: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("X.npy", member)


def peak_of(path, **kwargs) -> tuple[str, int]:
    tracemalloc.start()
    said = check(path, **kwargs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(said, str)
    return said, peak


def test_headers_are_not_believed(tmp_path):
    path = tmp_path / "t.npz"
    for shape in ("(100000, 100000)", "(-1, 3)", "(2, 2)", "(10**9,)", "(1, 2, 3", "()"):
        packed(path, header(shape) + b"\0" * 96)
        said, peak = peak_of(path)
        assert "array 'X'" in said or "shape ()" in said
        assert peak < 10e6
    for descr, words in {
        "|O": "pickled Python objects",
        "<c16": "Complex|length",
        "<U500000000": "length",
        "<M8[s]": "not numbers or text",
        "|V8": "not numbers or text",
    }.items():
        packed(path, header("(4, 3)", descr) + b"\0" * 96)
        with pytest.raises(ValueError, match=words):
            read_table(path)


def test_what_would_become_many_times_larger_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "FREE", 1 << 20)
    zeros = b"\0" * (4 << 20)
    path = tmp_path / "t.npz"
    packed(path, header("(4, 131072)") + zeros)
    said, peak = peak_of(path)
    assert "over 100 times as many" in said
    assert peak < 1e6
    for suffix, module in {"gz": gzip, "bz2": bz2, "xz": lzma}.items():
        path = tmp_path / f"t.csv.{suffix}"
        path.write_bytes(module.compress(b"a,b,c\n" + zeros.replace(b"\0", b"1")))
        assert "over 100 times as many" in check(path)
    huge = {"format": b"csr", "shape": [10**4, 10**6], "data": [1.0], "indices": [0]}
    path = tmp_path / "s.npz"
    path.write_bytes(archive(**huge, indptr=[0] * 10**4 + [1]))
    said, peak = peak_of(path)
    assert "with its zeros" in said
    assert peak < 1e6


def test_zeros_that_shrink_well_are_read(tmp_path):
    X = np.zeros((50, 8000))
    X[::2, 7] = 1
    np.savez_compressed(tmp_path / "t.npz", X=X, y=np.arange(50) % 2)
    assert (tmp_path / "t.npz").stat().st_size < X.nbytes / 200
    np.testing.assert_array_equal(read_table(tmp_path / "t.npz").X, X)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"indices": [0, 99, 1]}, "sparse table is damaged"),
        ({"indices": [0, -1, 1]}, "sparse table is damaged"),
        ({"indptr": [0, 9, 3]}, "sparse table is damaged"),
        ({"indptr": [0, 3, 1]}, "sparse table is damaged"),
        ({"indices": [0.0, 1.0, 2.0]}, "not numbers at whole positions"),
        ({"data": ["a", "b", "c"]}, "not numbers at whole positions"),
        ({"shape": [2, 3, 4]}, "sparse table is damaged"),
        ({"shape": [-2, 3]}, "sparse table is damaged"),
        ({"format": b"xyz"}, "sparse format 'xyz' is not known"),
        ({"format": np.array([], dtype="S3")}, "sparse"),
        ({"format": b"coo"}, "has no array 'row'"),
    ],
)
def test_sparse_tables_with_wrong_positions(tmp_path, change, words):
    whole = {"format": b"csr", "shape": [2, 3], "data": [1.0, 2, 3], "indices": [0, 1, 2]}
    path = tmp_path / "t.npz"
    path.write_bytes(archive(**{**whole, "indptr": [0, 2, 3], **change}))
    assert isinstance(check(path), str)
    with pytest.raises(ValueError, match=words):
        read_table(path)


# -- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["hex", "rot13", "base64", "undefined", "\0", "latin-99"])
def test_encodings_that_are_not_of_text(tmp_path, encoding):
    (tmp_path / "t.csv").write_text(SAMPLES)
    with pytest.raises(ValueError, match="no encoding of text named"):
        read_table(tmp_path / "t.csv", encoding=encoding)


def test_numbers_that_no_float_holds(tmp_path):
    path, many = tmp_path / "t.csv", "1" * 311
    path.write_text(f"a,b,y\n{many},1,u\n2,2,v\n")
    with pytest.raises(ValueError, match=r"infinity: 1 value in 1 column \('a'\)"):
        read_table(path, target="y")
    path.write_text(f"g,s1,s2\na,{many},1\nb,x,2\nc,2,3\n")
    with pytest.raises(ValueError, match=r"1 row \('b'\) holds text, such as 'x'"):
        read_table(path, orient="features")
    path.write_text("a,y\n123456789012345678901234567890,u\n2,v\n")
    assert read_table(path, target="y").X[0, 0] == 123456789012345678901234567890.0
    for digits in (20, 311, 5000):
        path.write_text(f"a,y\n1,{'1' * digits}\n2,{'1' * (digits - 1)}2\n3,{'1' * digits}\n")
        assert len(read_table(path, target="y").classes) == 2
        check(path, target="y", task="regression")


def test_long_fields(tmp_path):
    path, long = tmp_path / "t.csv", "x" * 200_000
    for text, words in {
        f"a,{long}\n1,2\n3,4\n": None,
        f'a,"{long}"\n1,2\n3,4\n': "longer than 131,072 characters",
        f'a,b\n"{long}",2\n3,4\n': "a field is longer than 131,072 characters",
        f"a,b,c\n{long},2,5\n{long}y,4,6\n": None,
        f"a,b\n1,{long}\n3,4\n": r"holds text or other values, such as 'xxx+\.\.\.'",
        f"a,{long},{long}\n1,2,3\n3,4,4\n": "more than once: 'xxx",
    }.items():
        path.write_text(text)
        said = check(path)
        if words is None:
            assert isinstance(said, Table)
        else:
            with pytest.raises(ValueError, match=words):
                read_table(path)
    check(path, target=long)
    check(path, index=long)
    check(path, drop=long)


def test_a_long_path_keeps_its_end(tmp_path):
    folder = tmp_path / ("d" * 150)
    folder.mkdir()
    for name in ("table.csv", "absent.csv"):
        path = folder / name
        if name == "table.csv":
            path.write_text("a,b\n1\n2,3\n")
        with pytest.raises(ValueError, match=rf"^\.\.\.d+/{name}: ") as caught:
            read_table(path)
        assert len(str(caught.value)) <= 300


def test_zeros_and_halves_of_characters(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,\0\n2,3\n4,5\n")
    assert isinstance(check(path), str)
    path.write_bytes(b"a,b\\ud800,y\n1,2,u\n3,4,v\n")
    with pytest.raises(ValueError, match="holds lone surrogates as unicode_escape"):
        read_table(path, encoding="unicode_escape")
    for kwargs, words in {
        "names": "1 of the feature names is no text",
        "sample_names": "1 of the sample names is no text",
        "y": "1 of the labels is no text",
    }.items():
        with pytest.raises(ValueError, match=words):
            Table([[1.0, 2], [3, 4]], **{kwargs: ["a", "\ud800"]})
        np.savez(tmp_path / "t.npz", X=[[1.0, 2], [3, 4]], **{kwargs: ["a", "\ud800"]})
        with pytest.raises(ValueError, match=words):
            read_table(tmp_path / "t.npz")
