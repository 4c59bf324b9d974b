"""One pass over a plain table reads what the slower readers do, to the last bit, or nothing."""

from __future__ import annotations

import gzip
import random
import warnings

import numpy as np
import pytest

from bitsieve.data import layout, plain, read_table

SAMPLES = "id,tp53,egfr,kras,y\ns1,1.5,7,2,u\ns2,2.5,6,3,v\ns3,0,1e-3,9,u\ns4,1,2,3,v\n"
FEATURES = "gene,s1,s2,s3\ntp53,1.5,2.5,0\negfr,7,6,1e-3\nmyc,1,2,3\nkras,4,5,6\n"
CASES = [
    (SAMPLES, {"target": "y"}),
    (SAMPLES, {"target": "y", "categorical": "ordinal"}),
    (SAMPLES.replace(",", "\t"), {"target": "y", "delimiter": "\t"}),
    (FEATURES, {}),
    (FEATURES, {"orient": "features"}),
]
PIECES = [
    "", "NA", "?", "---", "nan", "inf", "x", "1_0", "0x1F", "1.", "+.5", "1e400", "1" * 311,
    "12345678901234567890", "9007199254740993", '"1"', '"', " ", "\t", " 5 ", "\n", "\r", "\r\n",
    ",", "\n\n", "#", "!", "# note", "\0", "é", "true", "-", "1d5", "1e", "None", "1 2", ";", "007",
    "\x0b", "\x1c", "\u2028", "\ufeff", "1,5", "3.141592653589793238462643", "5e-324", '"a\nb"',
]  # fmt: skip


@pytest.fixture
def passes(monkeypatch):
    """``passes(width)`` sets from how many columns on lines are cut; True where one pass did it."""
    done: list[bool] = []

    def spy(*args, **kwargs):
        found = plain.read_plain(*args, **kwargs)
        done.append(found is not None)
        return found

    def passes(width: int | None):
        done.clear()
        if width is None:
            monkeypatch.setattr(layout, "read_plain", lambda *_, **__: None)
        else:
            monkeypatch.setattr(layout, "read_plain", spy)
            monkeypatch.setattr(plain, "_is_wide", lambda _, header: len(header.fields) > width)
        return done

    return passes


def what(path, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = read_table(path, missing="keep", **kwargs)
        except ValueError as error:
            return str(error)
    X = np.where(np.isnan(table.X), np.nan, table.X).tobytes()
    return X, table.X.shape, table.names, table.sample_names, repr(table.y)


def changed(rng: random.Random, text: str) -> str:
    """Text with a piece put in, or in place of a field or of some characters."""
    at, piece = rng.randrange(len(text)), rng.choice(PIECES)
    start = end = at
    kind = rng.randrange(3)
    if kind == 1:
        end += rng.choice([1, 2, 4])
    if kind == 2:
        start = max(text.rfind(c, 0, at) for c in ",\t\n") + 1
        end = min(i for c in ",\t\n" if (i := (text + c).find(c, at)) >= 0)
    return text[:start] + piece + text[max(end, start) :]


def test_both_ways_say_the_same(tmp_path, passes):
    rng = random.Random(0)
    path = tmp_path / "t.csv"
    quick = 0
    for _ in range(150):
        text, kwargs = rng.choice(CASES)
        for _ in range(rng.choice([1, 1, 2])):
            text = changed(rng, text)
        path.write_text(text, encoding="utf-8", newline="")
        passes(None)
        slow = what(path, **kwargs)
        for width in (2000, 1):
            done = passes(width)
            assert what(path, **kwargs) == slow, (width, text)
            quick += any(done)
    assert quick > 60


def numbers(rng: np.random.Generator) -> list[str]:
    """Ways to write numbers, each with what float() makes of it to the last bit."""
    values = rng.standard_normal(300) * 10.0 ** rng.integers(-300, 300, 300)
    long = ["".join(map(str, rng.integers(0, 10, k))) for k in rng.integers(1, 40, 100)]
    return [
        *map(repr, values.tolist()),
        *(f"{v:.{k % 25}e}" for k, v in enumerate(values.tolist())),
        *(f"{a}.{b}e{k - 50}" for k, (a, b) in enumerate(zip(long[::2], long[1::2], strict=True))),
        *(repr(n + 0.5 * (n % 2)) for n in range(2**53 - 10, 2**53 + 10)),
        *("5e-324", "2.2250738585072011e-308", "1.7976931348623157e308", "9007199254740993"),
        *("2.4703282292062328e-324", "0.1", "-0.0", "1e23", "8.5e22"),
    ]


@pytest.mark.parametrize("width", [2000, 1])
def test_numbers_have_the_bits_of_float(tmp_path, passes, width):
    for seed in range(3):
        texts = numbers(np.random.default_rng(seed))
        texts = texts[: len(texts) // 4 * 4]
        rows = [texts[i : i + 4] for i in range(0, len(texts), 4)]
        wanted = np.array([[float(t) for t in row] for row in rows])
        path = tmp_path / "t.tsv"
        lines = ["gene\ta\tb\tc\td", *("\t".join([f"g{i}", *r]) for i, r in enumerate(rows))]
        path.write_text("\n".join(lines) + "\n")
        done = passes(width)
        table = read_table(path, orient="features")
        assert done == [True]
        assert table.X.T.tobytes("C") == wanted.tobytes()


@pytest.mark.parametrize("width", [2000, 1])
def test_what_is_plain(tmp_path, passes, width):
    wanted = read_table(_write(tmp_path, "w.csv", SAMPLES), target="y", orient="samples")
    quoted = "\n".join(
        ",".join(f'"{f}"' if j in (0, 4) else f for j, f in enumerate(line.split(",")))
        for line in SAMPLES.splitlines()
    )
    for name, text in {
        "t.csv": SAMPLES,
        "a.csv": "# made up\n" + SAMPLES,
        "q.csv": quoted,
        "r.csv": SAMPLES.replace("\n", "\r\n"),
        "b.csv": "\ufeff" + SAMPLES + "\n \n",
        "c.csv.gz": SAMPLES,
        "t.tsv": SAMPLES.replace(",", "\t"),
        "e.csv": SAMPLES.rstrip("\n"),
    }.items():
        done = passes(width)
        table = read_table(_write(tmp_path, name, text), target="y")
        assert done == [True], name
        np.testing.assert_array_equal(table.X, wanted.X)
        assert (table.names, table.sample_names) == (wanted.names, wanted.sample_names)
        assert table.y.tolist() == wanted.y.tolist()
    for name, text in {
        "text.csv": SAMPLES.replace("1.5", "x"),
        "long.csv": SAMPLES.replace("1.5", "1.5,"),
        "short.csv": SAMPLES.replace("2.5,6", "6"),
        "both.csv": SAMPLES.replace("1.5,", "").replace("2.5", "2.5,5"),
        "breaks.csv": SAMPLES.replace("s1", '"s\n1"'),
        "comma.csv": SAMPLES.replace("s1", '"s,1"').replace("2.5,6", "6"),
        "zeros.csv": SAMPLES.replace("1.5", "1\0"),
        "remark.csv": SAMPLES.replace("s3", "# note\ns3"),
    }.items():
        done = passes(width)
        what(_write(tmp_path, name, text), target="y")
        assert not any(done), name


def test_fields_cut_out_of_wide_lines(tmp_path, passes):
    """Names and labels stand anywhere, next to each other too."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 99, (6, 9)).astype(str)
    values[:, 4] = list("ababab")
    for at in range(9):
        if at == 4:
            continue
        values[:, at] = [f"n{i}" for i in range(6)]
        head = [f"c{j}" for j in range(9)]
        text = "\n".join(",".join(row) for row in [head, *values.tolist()]) + "\n"
        done = passes(1)
        table = read_table(_write(tmp_path, "t.csv", text), target="c4", index=f"c{at}")
        assert done == [True]
        keep = [j for j in range(9) if j not in (4, at)]
        np.testing.assert_array_equal(table.X, values[:, keep].astype(float))
        assert table.sample_names == values[:, at].tolist()
        assert table.y.tolist() == list("ababab")
        values[:, at] = rng.integers(0, 99, 6).astype(str)


def _write(folder, name, text):
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path
