"""Features that were measured elsewhere: lists, headers, first columns, archives, and refusals."""

from __future__ import annotations

import gzip
import random

import numpy as np
import pytest

from bitsieve.data import read_measured_features

NAMES = ["tp53", "EGFR", "a,b", "kras-1", "1553_at"]


def kept(tmp_path, content, name="f.txt"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    found = read_measured_features(path, NAMES)
    return [n for n, keep in zip(NAMES, found.keep, strict=True) if keep], found


def test_lists_and_tables(tmp_path):
    cases = {
        "tp53\nEGFR\nother\n": (["tp53", "EGFR"], "lines", 3),
        "﻿tp53\r\n\r\n  EGFR \r\n": (["tp53", "EGFR"], "lines", 2),
        "# remark, tp53\n!x\n\"tp53\"\ntp53\n": (["tp53"], "lines", 1),
        "1553_at": (["1553_at"], "lines", 1),
        "gene\ntp53\n": (["tp53"], "lines", 2),
        "id,tp53,\"a,b\",outcome\ns1,1,2,x\ns2,3,4,y\n": (["tp53", "a,b"], "header", 4),
        "id;EGFR;kras-1\ns1;1,5;2\n": (["EGFR", "kras-1"], "header", 3),
        "gene\ts1\ts2\ntp53\t1\t2\nEGFR\t3\t4\n": (["tp53", "EGFR"], "first column", 3),
        "\"gene\",\"s1\"\n\"tp53\",1\n\"zzz\",2\n": (["tp53"], "first column", 3),
        "tp53,EGFR\n": (["tp53", "EGFR"], "header", 2),
    }  # fmt: skip
    for content, (expected, where, count) in cases.items():
        names, found = kept(tmp_path, content)
        assert (names, found.where, found.n_listed) == (expected, where, count), content
        assert found.n_kept == len(expected)
    assert kept(tmp_path, gzip.compress(b"tp53\nEGFR\n"), "f.csv.gz")[0] == ["tp53", "EGFR"]
    np.savez(tmp_path / "f.npz", X=np.eye(3), names=["EGFR", "x", "tp53"])
    found = read_measured_features(tmp_path / "f.npz", NAMES)
    assert (found.keep.tolist(), found.where) == ([True, True, False, False, False], "names")
    assert found.text() == (
        "2 of 5 features were measured elsewhere too (3 names, names of an archive)"
    )
    assert kept(tmp_path, "id,tp53\n")[1].text() == (
        "1 of 5 features were measured elsewhere too (2 names, in the header)"
    )


def test_refusals(tmp_path):
    cases = {
        "": "the file holds no names",
        "\n# tp53\n": "the file holds no names",
        "TP53\nx\n": "none of 2 names is a feature of the table: 'TP53' is written 'tp53' in the",
        "tp533\n": "none of 1 name is a feature of the table: the table has 'tp53', did you mean "
        "'tp533'",
        b"\xff\xfet\0p\0": "the text is UTF-16",
        b"caf\xe9\n": "line 1 is not utf-8 text",
        b"PK\x03\x04xxxx": "",
        gzip.compress(b"tp53\n" * 99)[:-9]: "the file is damaged or cut short",
    }
    for content, expected in cases.items():
        with pytest.raises(ValueError, match=r"f\.txt: ") as caught:
            kept(tmp_path, content)
        assert expected in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1
    for path in (tmp_path, tmp_path / "no.txt"):
        with pytest.raises(ValueError, match=r"is a directory|no such file"):
            read_measured_features(path, NAMES)


def test_damaged_files(tmp_path):
    rng = random.Random(0)
    data = b"id,tp53,EGFR\ns1,1,2\ns2,3,4\n"
    for number in range(150):
        out = bytearray(gzip.compress(data, mtime=0) if number % 2 else data)
        for _ in range(rng.choice([1, 3])):
            out[rng.randrange(len(out))] = rng.randrange(256)
        try:
            kept(tmp_path, bytes(out))
        except ValueError as error:
            said = str(error)
            assert said.startswith(str(tmp_path)), said
            assert len(said.splitlines()) == 1, said
