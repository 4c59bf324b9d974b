"""Reading text: which way round, which target, which names; and every way a file can be bad."""

from __future__ import annotations

import gzip
import time

import numpy as np
import pandas as pd
import pytest
from each import each

from bitsieve.data import read_table

SAMPLES = "id,tp53,egfr,outcome\ns1,1.5,7,sick\ns2,2.5,6,well\ns3,0,1e-3,sick\n"
FEATURES = "gene,s1,s2,s3\noutcome,sick,well,sick\ntp53,1.5,2.5,0\negfr,7,6,1e-3\n"
X = [[1.5, 7], [2.5, 6], [0, 1e-3]]


@pytest.fixture
def write(tmp_path):
    """``write(text, name)`` makes a file and returns its path."""

    def write(text, name="table.csv"):
        path = tmp_path / name
        data = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def is_the_table(table):
    np.testing.assert_array_equal(table.X, X)
    assert table.names == ["tp53", "egfr"]
    assert table.sample_names == ["s1", "s2", "s3"]
    assert table.y.tolist() == ["sick", "well", "sick"]
    assert table.target_name == "outcome"
    assert table.X.flags.c_contiguous


@each("text", [SAMPLES, FEATURES])
@pytest.mark.parametrize(
    ("name", "delimiter"),
    [
        ("t.csv", ","), ("t.csv", ";"), ("t.tsv", "\t"), ("t.tab", "\t"), ("t.txt", "\t"),
        ("t.txt", ","), ("t.txt", ";"), ("t.txt", " "), ("t.txt", "|"), ("T.CSV", ","),
        ("t.csv.gz", ","), ("t.tsv.gz", "\t"), ("t.txt.gz", " "),
    ],
)  # fmt: skip
def test_formats_and_both_ways_round(write, text, name, delimiter):
    is_the_table(read_table(write(text.replace(",", delimiter), name), target="outcome"))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.rstrip("\n"),
        lambda t: "\ufeff" + t,
        lambda t: "\n\n" + t + "\n\n",
        lambda t: t.replace("s1", '"s1"').replace("tp53", '"tp53"').replace("sick", '"sick"'),
        lambda t: t.replace(",", ", "),
    ],
    ids=["crlf", "no end", "bom", "blank lines", "quotes", "blanks"],
)
@each("text", [SAMPLES, FEATURES])
def test_ways_of_writing(write, text, change):
    is_the_table(read_table(write(change(text)), target="outcome"))


@each("text", [SAMPLES, FEATURES])
def test_r_writes_no_header_for_row_names(write, text):
    header, rest = text.split("\n", 1)
    is_the_table(read_table(write(header.split(",", 1)[1] + "\n" + rest), target="outcome"))


def test_pandas_writes_an_empty_header_for_the_index(write):
    frame = pd.read_csv(write(SAMPLES), index_col="id").rename_axis(None)
    is_the_table(read_table(write(frame.to_csv()), target="outcome"))
    numbered = read_table(write(frame.reset_index(drop=True).to_csv()), target="outcome")
    assert numbered.names == ["tp53", "egfr"]
    assert numbered.sample_names == ["0", "1", "2"]


def test_a_gzip_file_under_another_name(write):
    is_the_table(read_table(write(gzip.compress(SAMPLES.encode())), target="outcome"))


def test_target_anywhere(write):
    first = "outcome,tp53,egfr\nsick,1.5,7\nwell,2.5,6\nsick,0,1e-3\n"
    table = read_table(write(first), target="outcome")
    assert table.names == ["tp53", "egfr"]
    assert table.sample_names is None
    distinct = "outcome,tp53,egfr\na,1.5,7\nb,2.5,6\n"
    assert read_table(write(distinct), target="outcome").y.tolist() == ["a", "b"]
    last_row = "gene,s1,s2,s3\ntp53,1.5,2.5,0\negfr,7,6,1e-3\noutcome,sick,well,sick\n"
    is_the_table(read_table(write(last_row), target="outcome"))


def test_target_types(write):
    numbers = "a,b,y\n1,2,0\n3,4,1\n5,7,0\n"
    assert read_table(write(numbers), target="y").y.dtype.kind == "i"
    assert read_table(write(numbers), target="y", task="regression").task == "regression"
    assert read_table(write(numbers.replace("7,0", "7,.5")), target="y").task == "regression"
    rows = "gene,s1,s2,s3\ny,0,1,0\na,1,3,5\nb,2,4,7\n"
    table = read_table(write(rows), target="y")
    assert table.y.tolist() == [0, 1, 0]
    assert table.y.dtype.kind == "i"
    assert read_table(write(numbers), dtype=np.float64).dtype == np.float64


def test_without_a_target(write):
    wide = "id,a,b,c\ns1,1,2,3\ns2,4,5,7\n"
    table = read_table(write(wide))
    assert table.y is None
    assert table.names == ["a", "b", "c"]
    tall = "gene,s1,s2\na,1,4\nb,2,5\nc,3,7\n"
    turned = read_table(write(tall))
    np.testing.assert_array_equal(turned.X, table.X)
    assert turned.names == table.names
    assert turned.sample_names == table.sample_names
    assert read_table(write(tall), orient="samples").names == ["s1", "s2"]
    assert read_table(write("a,b\n1,2\n3,4\n5,7\n")).names == ["a", "b"]
    assert read_table(write("a\n1\n2\n")).names == ["a"]


def test_orient_is_obeyed(write):
    both = "y,a,b\ny,1,2\na,3,5\n"
    assert read_table(write(both), target="y", orient="features").y.tolist() == [1, 2]
    with pytest.raises(ValueError, match="is not a row or a file of labels"):
        read_table(write(SAMPLES), target="outcome", orient="features")
    with pytest.raises(ValueError, match="is not a column or a file of labels"):
        read_table(write(FEATURES), target="outcome", orient="samples")
    with pytest.raises(ValueError, match="orient must be 'auto', 'samples' or 'features', got"):
        read_table(write(SAMPLES), orient="rows")


def test_index(write):
    text = "tp53,key,outcome\n1,7,a\n2,8,b\n4,9,a\n"
    table = read_table(write(text), target="outcome", index="key")
    assert table.names == ["tp53"]
    assert table.sample_names == ["7", "8", "9"]
    assert read_table(write(text), target="outcome").names == ["tp53", "key"]
    numbered = "ID,tp53\n007,1\n008,2\n"
    assert read_table(write(numbered)).sample_names == ["007", "008"]
    assert read_table(write(numbered), index=None).names == ["ID", "tp53"]
    with pytest.raises(
        ValueError, match=r"no column named 'kye' to be the index; did you mean 'key"
    ):
        read_table(write(text), index="kye")
    with pytest.raises(ValueError, match="'key' cannot be both the target and the index"):
        read_table(write(text), index="key", target="key")
    genes = "chip,gene,s1,s2\n1,a,1,2\n2,b,3,5\n"
    turned = read_table(write(genes), index="gene", orient="features")
    assert turned.names == ["a", "b"]
    assert turned.sample_names == ["chip", "s1", "s2"]
    assert read_table(write("s1,s2\n1,2\n3,5\n"), orient="features", index=None).names is None


def test_names_that_look_like_missing_values(write):
    table = read_table(write("id,NA,b,y\nNA,1,2,u\nnan,3,5,v\n"), target="y")
    assert table.names == ["NA", "b"]
    assert table.sample_names == ["NA", "nan"]


def test_decimal_and_encoding(write):
    table = read_table(write("id;a;y\ns1;1,5;u\ns2;2,5;v\n"), target="y", decimal=",")
    np.testing.assert_array_equal(table.X, [[1.5], [2.5]])
    latin = "id,grün,y\ns1,1,u\ns2,2,v\n".encode("latin-1")
    assert read_table(write(latin), target="y", encoding="latin-1").names == ["grün"]
    with pytest.raises(ValueError, match=r"table\.csv: line 1 is not utf-8 text; save .* as UTF-8"):
        read_table(write(latin), target="y")


def test_numbers_are_read_to_the_last_bit(write):
    values = np.random.default_rng(0).standard_normal((20, 50)) * 10.0 ** np.arange(-25, 25)
    path = write(pd.DataFrame(values, columns=[f"g{j}" for j in range(50)]).to_csv(index=False))
    np.testing.assert_array_equal(read_table(path).X, values)


CATEGORIES = "id,sex,age,y\np1,f,50,u\np2,m,60,v\np3,f,71,u\n"


def test_categorical(write):
    with pytest.raises(ValueError, match=r"1 column \('sex'\) holds text .*'f'"):
        read_table(write(CATEGORIES), target="y")
    onehot = read_table(write(CATEGORIES), target="y", categorical="onehot")
    assert onehot.names == ["sex=f", "sex=m", "age"]
    np.testing.assert_array_equal(onehot.X, [[1, 0, 50], [0, 1, 60], [1, 0, 71]])
    ordinal = read_table(write(CATEGORIES), target="y", categorical="ordinal")
    assert ordinal.names == ["sex", "age"]
    np.testing.assert_array_equal(ordinal.X, [[0, 50], [1, 60], [0, 71]])
    holes = CATEGORIES.replace("p2,m", "p2,")
    with pytest.raises(ValueError, match=r"NaN: 1 value missing in text column 'sex'; .*onehot"):
        read_table(write(holes), target="y", categorical="ordinal")
    assert read_table(write(holes), target="y", categorical="onehot").names == [
        "sex=f", "sex=missing", "age",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="categorical must be 'error', 'onehot' or 'ordinal'"):
        read_table(write(CATEGORIES), categorical="dummies")


LABELS = {
    "labels": "sick\nwell\nsick\n",
    "labels with a header": "outcome\nsick\nwell\nsick\n",
    "by name": "s3,sick\ns1,sick\ns2,well\n",
    "by name with a header": "id,outcome\ns2,well\ns3,sick\ns1,sick\nextra,well\n",
    "by name, quoted": '"s1","sick"\n"s2","well"\n"s3","sick"\n',
}


@each("labels", LABELS)
@each("as_path", [True, False])
@each("rows", ["samples", "features"])
def test_target_in_a_second_file(write, labels, as_path, rows):
    text = {
        "samples": "id,tp53,egfr\ns1,1.5,7\ns2,2.5,6\ns3,0,1e-3\n",
        "features": "gene,s1,s2,s3\ntp53,1.5,2.5,0\negfr,7,6,1e-3\n"
        + "".join(f"{name},1,2,3\n" for name in "abcd"),
    }[rows]
    target = write(LABELS[labels], "labels.csv")
    path = write(text)
    table = read_table(path, target=target if as_path else str(target))
    np.testing.assert_array_equal(table.X[:, :2], X)
    assert table.y.tolist() == ["sick", "well", "sick"]
    assert table.target_name == "labels.csv"


def test_a_number_of_labels_that_fits_both_ways(write):
    path, labels = write("a,b,c\n1,2,3\n4,5,7\n"), write("u\nv\nw\n", "labels.txt")
    with pytest.raises(ValueError, match=r"3 lines, which may be labels of 3 columns, or a header"):
        read_table(path, target=labels)
    turned = read_table(path, target=labels, orient="features")
    assert turned.y.tolist() == ["u", "v", "w"]
    labels = write("y\nu\nv\n", "labels.txt")
    assert read_table(path, target=labels, orient="samples").y.tolist() == ["u", "v"]


def test_bad_label_files(write, tmp_path):
    path = write("id,a\ns1,1\ns2,2\ns3,4\n")
    with pytest.raises(ValueError, match=r"table\.csv: no such target file: .*none\.csv"):
        read_table(path, target=tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"labels\.txt has 5 labels, but there are 3 samples"):
        read_table(path, target=write("a\nb\n" * 2 + "a\n", "labels.txt"))
    with pytest.raises(ValueError, match=r"no label for any of 3 samples \('s1', .* are 't1'"):
        read_table(path, target=write("t1 a\nt2 b\n", "labels.txt"), orient="samples")
    with pytest.raises(ValueError, match=r"names 1 sample twice: 's2'"):
        read_table(path, target=write("s1 a\ns2 b\ns2 c\ns3 a\n", "labels.txt"))
    with pytest.raises(ValueError, match=r"one column .*two .*lines of 1, 3 fields"):
        read_table(path, target=write("a,b,c\nx\n", "labels.csv"))
    with pytest.raises(ValueError, match=r"labels\.csv is empty"):
        read_table(path, target=write("\n", "labels.csv"))
    with pytest.raises(ValueError, match=r"the table has no sample names; say which .*index"):
        read_table(write("a,b\n1,2\n2,3\n"), target=write("s1,a\ns2,b\n", "labels.csv"))


BAD = {
    "absent target": (SAMPLES, "outcom", r"target 'outcom' is not a column, a row or a file of lab"
                      r"els; did you mean 'outcome'\?"),
    "empty": ("", None, "the file is empty"),
    "blank": ("\n \n", None, "the file is empty"),
    "header only": ("a,b,c\n", None, "one line only, with 3 fields; expected a header line and"),
    "no header": ("1.5,2\n3,4\n", None, r"first line holds numbers \('1.5', '2'\).*add a header"),
    "duplicate names": ("a,b,a,b\n1,2,3,4\n2,2,2,2\n", None, "2 names more than once: 'a', 'b'"),
    "duplicate rows": ("gene,s1,s2\ny,u,v\na,1,2\na,3,5\n", "y",
                       "distinct, but 1 comes more than once: 'a'"),
    "target twice": ("gene,s1,s2\ny,1,2\ny,3,5\na,1,2\n", "y", "target 'y' names 2 rows"),
    "text": ("a,b,y\n1,x,u\n2,z,v\n", "y", r"1 column \('b'\) holds text .*'x'; "
             r"leave them out \(--drop NAME\)"),
    "text row": ("gene,s1,s2\ny,u,v\na,1,2\nstage,II,III\n", "y",
                 r"1 row \('stage'\) holds text, such as 'II'; .*name one as the target"),
    "missing": ("a,b,y\n1,,u\n2,5,v\n3,NA,v\n", "y", r"NaN: 2 values in 1 column \('b'\)"),
    "no label": ("a,y\n1,\n2,NA\n3,?\n", "y", "none of 3 samples has a label"),
    "no label in a row": ("g,s1,s2\ny,,null\na,1,2\n", "y", "none of 2 samples has a label"),
    "infinite": ("a,y\ninf,u\n2,v\n", "y", r"infinity: 1 value in 1 column \('a'\)"),
    "ragged": ("a,b\n1,2\n3,4,5\n", None,
               "1 of 2 lines does not have 2 fields, as the header has: line 3 has 3"),
    "ragged at once": ("a,b\n1,2,3,4\n3,4,5,6\n", None,
                       "2 of 2 lines do not have 2 fields, as the header has: line 2 has 4; the del"
                       "imiter is taken to be ','"),
    "short": ("a,b,y\n1,2,u\n\n3,v\n4,5,u\n", "y", "does not have 3 .*: line 4 has 2; "),
    "underscore": ("a,y\n-0.13,u\n1_000,v\n", "y", r"1 column \('a'\) holds text .*'1_000'"),
    "other digits": ("a,y\n-0.13,u\n٣,v\n", "y", r"1 column \('a'\) holds text .*'٣'"),
    "decimal commas": ("a;y\n1;u\n-2,5;v\n", "y",
                       r"such as '-2,5'; .*decimal point.*read .* decimal=',' \(--decimal ,\)"),
    "decimal commas in a row": ("g;s1;s2\ny;u;v\na;1,5;2,5\nb;1;2\n", "y",
                                r"1 row \('a'\) holds text, such as '1,5'; .*decimal point"),
    "text beside a number": ("g,s1,s2,s3\na,1,2,3\nb,4,5,x\nc,y,7,8\nd,6,9,8\n", None,
                             r"2 rows \('b', 'c'\) hold text, such as 'x'"),
    "text in a column of text": ("g,s1,s2,s3\na,1,2,3\nb,4,1_0,8\nc,5,x,8\nd,z,7,8\n", None,
                                 r"3 rows \('b', 'c', 'd'\) hold text, such as '1_0'"),
    "a line of tabs": ("a\tb\n1\t2\n\t\n3\t5\n", None, r"NaN: 2 values in 2 columns"),
    "a quote that stays open": ("a,b\n1,2\n3,\"5" + "0" * 200_000 + "\n4,5\n", None,
                                "line 3: a quote stays open; quoted"),
    "one class": ("a,y\n1,u\n2,u\n", "y", "y has 1 class: 'u'"),
    "only a target": ("id,y\ns1,u\ns2,v\n", "y", "no column is left for features"),
    "one sample": ("a,b\n1,2\n", None, "n_samples=1"),
    "constant": ("a,b\n1,2\n1,2\n", None, "X is constant"),
    "binary": (b"PK\x03\x04\x00\x00\x00\n\x00\x00", None, "this is a zip archive or a sp"),
    "zeros": ("a,b\0\n1,2\n", None, r"not a text file \(it holds zero bytes\)"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files(write, case):
    text, target, words = BAD[case]
    path = write(text)
    with pytest.raises(ValueError, match=words) as caught:
        read_table(path, target=target)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there(write, tmp_path):
    write(SAMPLES, "genes.csv")
    with pytest.raises(
        ValueError, match=r"gene\.csv: no such file; in its folder did you mean 'genes\.csv'"
    ):
        read_table(tmp_path / "gene.csv")
    with pytest.raises(ValueError, match="no such file, nor such a directory as"):
        read_table(tmp_path / "nowhere" / "genes.csv")
    with pytest.raises(ValueError, match="is a directory; pass the path of one file"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match=r"no reader for this suffix; known are \.csv, "):
        read_table(write(SAMPLES, "genes.xyz"))


@pytest.mark.parametrize("rest", [0, 0.3, 0.9, 0.99])
def test_truncated_gzip(write, tmp_path, rest):
    rng = np.random.default_rng(0)
    text = "a,b,y\n" + "".join(
        f"{a},{b},{i % 2}\n" for i, (a, b) in enumerate(rng.random((5000, 2)))
    )
    data = gzip.compress(text.encode())
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(data[: 12 + int(rest * (len(data) - 12))])
    with pytest.raises(ValueError, match=r"cut\.csv\.gz: .*(damaged or cut short|empty)"):
        read_table(path, target="y")


def test_damaged_gzip(write, tmp_path):
    data = bytearray(gzip.compress(SAMPLES.encode() * 50))
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "bad.csv.gz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"bad\.csv\.gz: "):
        read_table(path, target="outcome")


@pytest.mark.parametrize("rows", ["samples", "features"])
def test_wide_files_read_in_seconds(tmp_path, rows):
    values = np.round(np.random.default_rng(0).standard_normal((30, 22_000)), 3)
    names = [f"g{j}" for j in range(22_000)]
    frame = pd.DataFrame(values, columns=names, index=[f"s{i}" for i in range(30)])
    frame["y"] = ["u", "v"] * 15
    (frame if rows == "samples" else frame.T).to_csv(tmp_path / "wide.csv")
    start = time.perf_counter()
    table = read_table(tmp_path / "wide.csv", target="y")
    assert time.perf_counter() - start < 5
    np.testing.assert_array_equal(table.X, values)
    assert table.names == names
    assert table.y.tolist() == ["u", "v"] * 15


def test_real_files(data_dir):
    formats = data_dir / "formats"
    if not formats.is_dir():
        pytest.skip(f"needs real data: {formats} is not there")
    wave = read_table(formats / "waveform-21.tsv.gz", target="target")
    assert (wave.n_samples, wave.n_features) == (5000, 21)
    assert np.bincount(wave.codes).tolist() == [1657, 1647, 1696]
    adult = read_table(formats / "adult.csv.gz", target="income", categorical="onehot")
    assert "sex=Female" in adult.names
    assert set(np.unique(adult.X[:, adult.names.index("sex=Female")])) == {0, 1}
    assert adult.classes.tolist() == ["<=50K", ">50K"]


def test_wide_files_with_errors_say_the_same(tmp_path):
    """Wide tables are read line by line; what is wrong with them is found all the same."""
    values = np.round(np.random.default_rng(0).standard_normal((6, 3000)), 3).astype(object)
    path = tmp_path / "wide.csv"

    def read(row, column, value):
        changed = values.copy()
        changed[row, column] = value
        frame = pd.DataFrame(changed, columns=[f"g{j}" for j in range(3000)])
        frame["y"] = ["NA one", "None"] * 3
        frame.to_csv(path, index=False)
        return read_table(path, target="y")

    table = read(0, 0, 1.5)
    np.testing.assert_array_equal(table.X[1:], values[1:].astype(float))
    assert table.classes.tolist() == ["NA one", "None"]
    for value, words in {
        "": r"NaN: 1 value in 1 column \('g7'\)",
        "NA": r"NaN: 1 value in 1 column \('g7'\)",
        "nan": r"NaN: 1 value in 1 column \('g7'\)",
        "inf": r"infinity: 1 value in 1 column \('g7'\)",
        "x": r"1 column \('g7'\) holds text .* 'x'",
        "1_0": r"1 column \('g7'\) holds text .* '1_0'",
    }.items():
        with pytest.raises(ValueError, match=words):
            read(3, 7, value)
    np.testing.assert_array_equal(read(3, 7, " 12 ").X[3, 7], 12)
    path.write_text(path.read_text().rstrip("\n") + ",5\n")
    with pytest.raises(ValueError, match=r"not have 3001 fields, .*: line 7 has 3002"):
        read_table(path, target="y")


def test_line_breaks_in_quotes_are_refused(write):
    with pytest.raises(ValueError, match="quoted fields must not hold line breaks"):
        read_table(write('id,note,a\n1,"x\ny",2\n2,"z",3\n'))


def test_short_lines_between_blanks(write):
    text = "a b y \n1 2  u\n  3 4 v  \n4 5 u\n"
    assert read_table(write(text, "t.txt"), target="y").X.tolist() == [[1, 2], [3, 4], [4, 5]]
    with pytest.raises(ValueError, match=r"1 of 3 lines does not have 3 .*: line 4 has 2; "):
        read_table(write(text.replace("4 5", "4"), "t.txt"), target="y")


@each("blank", ["\r", " \r\n", "\t\n", "\r\r\n"])
def test_blank_lines_of_all_kinds(write, blank):
    is_the_table(read_table(write(blank + SAMPLES + blank), target="outcome"))


def test_tabs_between_blanks(write):
    text = SAMPLES.replace(",", " ").replace("2.5 ", "2.5 \t")
    is_the_table(read_table(write(text, "t.txt"), target="outcome"))
    with pytest.raises(ValueError, match=r"does not have 4 fields, .*: line 3 has 5"):
        read_table(write(text.replace("2.5", "2\t5"), "t.txt"), target="outcome")


def test_utf_16_is_named(write):
    path = write(SAMPLES.encode("utf-16"))
    with pytest.raises(ValueError, match=r"UTF-16, not utf-8; save the file as UTF-8, or, in Py"):
        read_table(path, target="outcome")
    is_the_table(read_table(path, target="outcome", encoding="utf-16"))


def test_a_byte_far_down_is_found(write):
    text = "a,b,y\n" + "1.25,2.5,u\n2.5,7.5,v\n" * 3000
    path = write(text.encode() + "1,2,grün\n".encode("latin-1"), "t.csv.gz")
    with pytest.raises(ValueError, match=r"t\.csv\.gz: line 6002 is not utf-8 text"):
        read_table(path, target="y")


def test_the_file_of_labels_is_named_where_it_is_at_fault(write):
    labels = write("grün\nrot\n".encode("latin-1"), "labels.txt")
    with pytest.raises(ValueError, match=r"target file .*labels\.txt: line 1 is not utf-8 text"):
        read_table(write("a\n1\n2\n"), target=labels)


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"encoding": "latin-99"}, "no encoding of text named 'latin-99'"),
        ({"delimiter": ",,"}, "delimiter must be one character, .* got ',,'"),
        ({"delimiter": ""}, "delimiter must be one character, .* got ''"),
        ({"decimal": "comma"}, "decimal must be one character, .* got 'comma'"),
        ({"decimal": ",", "delimiter": ","}, "',' cannot be both the delimiter and the decimal"),
        ({"decimal": ","}, "',' cannot be both the delimiter and the decimal"),
        ({"dtype": "x"}, r"dtype must be numpy\.float32 or numpy\.float64, got 'x'"),
        ({"dtype": "int32"}, r"dtype must be numpy\.float32 or numpy\.float64, got int32"),
    ],
)
def test_bad_arguments(write, kwargs, words):
    with pytest.raises(ValueError, match=words):
        read_table(write(SAMPLES), target="outcome", **kwargs)


def test_messages_hold_for_the_command_line_too(write):
    path = write("a,b,c\n1,2,3\n4,5,7\n")
    with pytest.raises(ValueError, match=r"say .* \(orient\)"):
        read_table(path, target=write("u\nv\nw\n", "labels.txt"))
    with pytest.raises(ValueError, match=r"n_samples=1 .*a file \(orient\)"):
        read_table(write("a,b\n1,2\n"))
