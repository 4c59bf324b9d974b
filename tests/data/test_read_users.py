"""Files as people have them: remarks, descriptions, labels of their own, names that come twice."""

from __future__ import annotations

import bz2
import lzma
import warnings

import numpy as np
import pytest
import scipy.sparse
from each import each

from bitsieve.data import read_table

HEAD = "ID_REF\tGSM1\tGSM2\tGSM3\tGSM4\n"
ROWS = "1007_s_at\t1.5\t2.5\t0\t3\n1053_at\t7\t6\t5\t1\n117_at\t1\t2\t4\t8\n121_at\t3\t3\t1\t2\n"
GENES = HEAD + ROWS + "1255_g_at\t2\t9\t1\t4\n"
X = [[1.5, 7, 1, 3, 2], [2.5, 6, 2, 3, 9], [0, 5, 4, 1, 1], [3, 1, 8, 2, 4]]


@pytest.fixture
def write(tmp_path):
    """``write(text, name)`` makes a file and returns its path."""

    def write(text, name="genes.tsv"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def is_the_table(table):
    np.testing.assert_array_equal(table.X, X)
    assert table.names == ["1007_s_at", "1053_at", "117_at", "121_at", "1255_g_at"]
    assert table.sample_names == ["GSM1", "GSM2", "GSM3", "GSM4"]


# -- remarks and descriptions ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# exported 2020-01-01\n" + GENES,
        "\n#one\n# two, three\n\n" + GENES,
        '!Series_title\t"demo"\n!series_matrix_table_begin\n' + GENES + "!series_matrix_table_end",
        '!Series_title\t"demo"\n' + GENES.replace("ID_REF", '"ID_REF"').replace("GSM1", '"GSM1"'),
        "#" + GENES,
        "# " + GENES,
        "# made by hand\n#" + GENES,
        GENES.replace("117_at", "# half way\n117_at"),
        GENES + "# the end\n",
    ],
)
def test_remarks(write, text):
    is_the_table(read_table(write(text), orient="features"))


def test_lines_of_data_that_begin_like_remarks(write):
    text = "id,a,b\n#1,1,2\n#2,2,3\n!3,5,8\n"
    assert read_table(write(text, "t.csv"), orient="samples").sample_names == ["#1", "#2", "!3"]
    with pytest.raises(ValueError, match=r"1 of 3 lines does not have 3 fields.* line 3 has"):
        read_table(write(text.replace("#2,2,3", "#2,2"), "t.csv"))
    with pytest.raises(ValueError, match="the file is empty but for remarks"):
        read_table(write("# one\n# two\n"))
    with pytest.raises(ValueError, match="one line only"):
        read_table(write("# one\n" + HEAD))


def test_descriptions_are_no_samples(write):
    text = GENES.replace("ID_REF", "NAME\tDescription")
    for k, line in enumerate(ROWS.splitlines()):
        name = line.split("\t")[0]
        text = text.replace(name, f"{name}\t{['a gene', 'NA', 'kinase, weak', '3'][k]}")
    text = text.replace("1255_g_at", "1255_g_at\tone more")
    labels = write("GSM3 b\nGSM4 b\nGSM1 a\nGSM2 a\n", "labels.txt")
    ordered = write("a\na\nb\nb\n", "ordered.txt")
    said = r"genes\.tsv: 1 column \('Description'\) holds text and is no sample: left out"
    for target in (labels, ordered):
        with pytest.warns(UserWarning, match=said):
            table = read_table(write(text), target=target)
        is_the_table(table)
        assert table.y.tolist() == list("aabb")
        assert len(table.notes) == 1
    with pytest.warns(UserWarning, match=said):
        is_the_table(read_table(write(text.replace("\ta gene", "\t3")), orient="features"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(write(text), target=labels, drop="Description")
    is_the_table(table)
    assert table.notes == ()
    with pytest.raises(ValueError, match=r"2 rows .*'1007_s_at'.* hold text, such as 'x'"):
        read_table(write(GENES.replace("1.5", "x").replace("7\t6", "y\t6")), orient="features")


# -- labels in a file of their own -----------------------------------------------------------------


SHEET = "sample,group,age\nGSM2,b,31.5\nGSM1,a,30\nGSM4,b,33\nGSM3,a,32\nGSM9,b,1\n"


def test_a_column_of_a_file_of_labels(write):
    path, sheet = write(GENES), write(SHEET, "sheet.csv")
    table = read_table(path, target=f"{sheet}:group")
    is_the_table(table)
    assert table.y.tolist() == list("abab")
    assert (table.target_name, table.label_match) == ("group", "by name")
    assert read_table(path, target=f"{sheet}:age").y.tolist() == [30, 31.5, 32, 33]
    two = write("sample\tgroup\nGSM1\ta\nGSM2\tb\nGSM3\ta\nGSM4\tb\n", "two.tsv")
    assert read_table(path, target=f"{two}:group").y.tolist() == list("abab")
    one = write("group\na\nb\na\nb\n", "one.txt")
    table = read_table(path, target=f"{one}:group")
    assert (table.y.tolist(), table.label_match) == (list("abab"), "in order")
    r = write("group age\nGSM1 a 1\nGSM2 b 2\nGSM3 a 3\nGSM4 b 4\n", "r.txt")
    assert read_table(path, target=f"{r}:group").y.tolist() == list("abab")
    with pytest.raises(
        ValueError, match=r"sheet\.csv has 3 columns .*: sheet\.csv:COLUMN.*:group'"
    ):
        read_table(path, target=sheet)
    with pytest.raises(ValueError, match=r"no column named 'grup'; did you mean 'group'"):
        read_table(path, target=f"{sheet}:grup")
    with pytest.raises(ValueError, match="is not a column, a row or a file of labels"):
        read_table(path, target=f"{sheet.with_name('none.csv')}:group")
    with pytest.raises(ValueError, match=r"header line and lines of as many fields, 3, .* 2, 3"):
        read_table(path, target=f"{write(SHEET + 'GSM8,b', 'sheet.csv')}:group")


def test_a_label_column_of_the_table_goes_before_a_file(write, monkeypatch):
    path = write("id,a,b,y.txt\ns1,1,2,u\ns2,3,5,v\n", "t.csv")
    monkeypatch.chdir(path.parent)
    write("p\nq\n", "y.txt")
    table = read_table(path, target="y.txt")
    assert (table.y.tolist(), table.label_match) == (["u", "v"], None)
    table = read_table(write("id,a,b\ns1,1,2\ns2,3,5\n", "t.csv"), target="y.txt")
    assert (table.y.tolist(), table.label_match) == (["p", "q"], "in order")


def test_samples_without_a_label_are_left_out_and_named(write):
    path = write(GENES)
    labels = write("GSM1 a\nGSM3 b\nGSM4 b\n", "sub.txt")
    said = r"1 of 4 samples has no label in sub\.txt and is left out: 'GSM2'"
    with pytest.warns(UserWarning, match=said):
        table = read_table(path, target=labels)
    np.testing.assert_array_equal(table.X, np.array(X)[[0, 2, 3]])
    assert (table.sample_names, table.y.tolist()) == (["GSM1", "GSM3", "GSM4"], ["a", "b", "b"])
    assert table.notes[0].startswith("1 of 4 samples")
    for gap in ("", "NA", "?", "null"):
        text = f"id,a,b,y\ns1,1,2,1\ns2,3,5,{gap}\ns3,4,4,2\ns4,0,1,1\n"
        with pytest.warns(UserWarning, match=r"1 of 4 samples has no label and is left out: 's2'"):
            table = read_table(write(text, "t.csv"), target="y")
        assert (table.y.tolist(), table.y.dtype.kind) == ([1, 2, 1], "i")
    text = GENES + "y\tu\t\tv\tNA\n"
    with pytest.warns(UserWarning, match=r"2 of 4 samples have no label .*: 'GSM2', 'GSM4'"):
        assert read_table(write(text, "y.tsv"), target="y").X.tolist() == [X[0], X[2]]
    ordered = write("a\nNA\nb\nb\n", "sub.txt")
    with pytest.warns(UserWarning, match=r"1 of 4 samples has no label in sub\.txt"):
        assert read_table(path, target=ordered, orient="features").y.tolist() == ["a", "b", "b"]
    no_names = write("a,y\n1,u\n2,\n3,v\n", "t.csv")
    with pytest.warns(UserWarning, match=r"left out: 1, counted from 0"):
        assert read_table(no_names, target="y").X.tolist() == [[1], [3]]
    np.savez(path.with_name("t.npz"), X=X, sample_names=["GSM1", "GSM2", "GSM3", "GSM4"])
    labels = write("GSM1 a\nGSM3 b\nGSM4 b\n", "sub.txt")
    with pytest.warns(UserWarning, match=said):
        assert read_table(path.with_name("t.npz"), target=labels).X.tolist() == [X[0], X[2], X[3]]


# -- which way round, and which column names the rows ----------------------------------------------


def test_numeric_gene_ids(write):
    text = GENES.replace("1007_s_at", "7157").replace("1053_at", "1956").replace("117_at", "2")
    text = text.replace("121_at", "3").replace("1255_g_at", "4")
    for first in ("ID_REF", "gene_id", "ENTREZID"):
        table = read_table(write(text.replace("ID_REF", first)))
        np.testing.assert_array_equal(table.X, X)
        assert table.names == ["7157", "1956", "2", "3", "4"]
    upright = read_table(write(text.replace("ID_REF", "patient_id")))
    assert upright.sample_names == ["7157", "1956", "2", "3", "4"]
    numbered = text.replace("GSM", "")  # gene 2, 3 and 4, and samples 1 to 4
    labels = write("1 a\n2 b\n3 a\n4 b\n", "labels.txt")
    assert read_table(write(numbered), target=labels).n_samples == 4
    square = "k\t1\t2\n1\t3\t4\n2\t5\t7\n"
    two = write("1 a\n2 b\n", "labels.txt")
    assert read_table(write(square.replace("k", "gene")), target=two).names == ["1", "2"]
    assert read_table(write(square.replace("k", "sample")), target=two).sample_names == ["1", "2"]
    with pytest.raises(ValueError, match=r"fit rows and columns alike; say .* \(orient\)"):
        read_table(write(square.replace("k", "id")), target=two)


def test_columns_that_name_the_rows(write):
    for name in ("Unnamed: 0", "unnamed: 0.1", "", "rownames", "row.names", "ID", "Sample_Name"):
        table = read_table(write(f"{name},a,b,y\n3,1,2,u\n4,3,5,v\n9,2,2,u\n", "t.csv"), target="y")
        assert (table.names, table.sample_names) == (["a", "b"], ["3", "4", "9"])
    for name in ("index", "name", "id"):  # fractions are measurements, whatever they are called
        table = read_table(write(f"{name},a,y\n1.33,1,u\n1.52,3,v\n", "t.csv"), target="y")
        assert (table.names, table.sample_names) == ([name, "a"], None)
    table = read_table(write("a,Unnamed: 0,y\n1,0,u\n3,1,v\n", "t.csv"), target="y")
    assert table.names == ["a", "Unnamed: 0"]


def test_drop(write):
    text = 'id,a,b,"c,d",note,y\ns1,1,2,3,x,u\ns2,3,5,8,z,v\n'
    path = write(text, "t.csv")
    for drop, names in {
        ("note",): ["a", "b", "c,d"],
        ("note,a",): ["b", "c,d"],
        ("note", "c,d"): ["a", "b"],
        ("note, a ,b",): ["c,d"],
        ("id", "note"): ["a", "b", "c,d"],
    }.items():
        assert read_table(path, target="y", drop=drop).names == names
    assert read_table(path, target="y", drop="note").names == ["a", "b", "c,d"]
    for drop, words in {
        "nte": "nothing named 'nte' to drop; did you mean 'note'",
        "y": "'y' is the target and cannot be dropped",
        "a,b,note,c": "nothing named 'c' to drop",
    }.items():
        with pytest.raises(ValueError, match=words):
            read_table(path, target="y", drop=drop)
    with pytest.raises(ValueError, match="no column is left for features"):
        read_table(path, target="y", drop=["a,b,note", "c,d"])
    table = read_table(write(GENES), orient="features", drop="GSM2,117_at")
    assert table.names == ["1007_s_at", "1053_at", "121_at", "1255_g_at"]
    assert table.sample_names == ["GSM1", "GSM3", "GSM4"]
    np.savez(path.with_name("t.npz"), X=X, names=list("pqrst"))
    assert (
        read_table(path.with_name("t.npz"), drop="q,t").X.tolist()
        == np.array(X)[:, [0, 2, 3]].tolist()
    )
    np.savez(path.with_name("t.npz"), X=X)
    with pytest.raises(ValueError, match="have no names"):
        read_table(path.with_name("t.npz"), drop="q")


def test_drop_offers_columns_and_takes_those_without_a_name(write):
    path = write("id,a,b,,y\ns1,1,2,,u\ns2,3,5,,v\n", "t.csv")
    with pytest.raises(ValueError, match="there are 'id', 'a', 'b', '', 'y' and"):
        read_table(path, target="y", drop="zzzz")
    assert read_table(path, target="y", drop="column_3").names == ["a", "b"]


def test_rows_of_text_can_be_dropped(write):
    text = "gene,s1,s2,s3\nA,1,2,3\nward,n,m,n\nB,4,5,7\ny,u,u,v\n"
    table = read_table(write(text, "t.csv"), target="y", drop="ward")
    assert (table.names, table.X.tolist()) == (["A", "B"], [[1, 4], [2, 5], [3, 7]])
    table = read_table(write(text, "t.csv"), target="y", drop="ward,s2", groups="ward")
    assert (table.groups.tolist(), table.X.tolist()) == ([0, 0], [[1, 4], [3, 7]])
    for drop, words in {"y": "'y' is the target", "A,B,ward": "no feature is left"}.items():
        with pytest.raises(ValueError, match=words):
            read_table(write(text, "t.csv"), target="y", drop=drop)


def test_a_delimiter_at_the_end_of_lines_is_no_name_of_rows(write):
    lines = "1,4,7,\n2,5,8,\n3,6,9,\n"
    labels = write("u\nv\nu\n", "labels.txt")
    for missing in ("error", "keep"):
        with pytest.raises(ValueError, match="one field more than the header, an empty one"):
            read_table(write(f"a,b,c\n{lines}", "t.csv"), target=labels, missing=missing)
    table = read_table(
        write("a,b\ns1,1,4\ns2,2,\ns3,3,6\n", "t.csv"), missing="keep", orient="samples"
    )
    assert (table.names, table.sample_names) == (["a", "b"], ["s1", "s2", "s3"])
    sheet = write("id,group,age\ns1,u,40,\ns2,v,50,\n", "sheet.csv")
    with pytest.raises(ValueError, match="has lines of one field more than the header"):
        read_table(write("id,a\ns1,1\ns2,2\n", "t.csv"), target=f"{sheet}:group")


def test_an_archive_has_no_index_column(tmp_path):
    np.savez(tmp_path / "t.npz", X=X)
    with pytest.raises(ValueError, match="no index can be named in an archive"):
        read_table(tmp_path / "t.npz", index="id")


# -- names that come twice -------------------------------------------------------------------------


TWICE = "symbol\ts1\ts2\nA\t1\t2\nB\t9\t8\nA\t4\t1\nC\t5\t7\nA\t1\t4\n"


def test_duplicates(write):
    path = write(TWICE)
    for how, a in {"mean": [2, 7 / 3], "max": [4, 1], "first": [1, 2]}.items():
        table = read_table(path, orient="features", duplicates=how)
        assert table.names == ["A", "B", "C"]
        np.testing.assert_allclose(table.X, [[a[0], 9, 5], [a[1], 8, 7]], rtol=1e-15)
    with pytest.raises(ValueError, match=r"1 comes .*: 'A'; .* duplicates='mean', 'max' or 'fir"):
        read_table(path, orient="features")
    with pytest.raises(ValueError, match="duplicates must be one of"):
        read_table(path, duplicates="median")
    upright = "id,A,B,A,y\ns1,1,2,5,u\ns2,3,5,9,v\n"
    table = read_table(write(upright, "t.csv"), target="y", duplicates="mean")
    assert (table.names, table.X.tolist()) == (["A", "B"], [[3, 2], [6, 5]])
    for target, text in {"y": upright.replace("B", "y"), "A": upright}.items():
        with pytest.raises(ValueError, match="more than once"):
            read_table(write(text, "t.csv"), target=target, duplicates="first")
    with pytest.raises(ValueError, match="header has 1 name more than once: 's1'"):
        read_table(write(TWICE.replace("s2", "s1")), orient="features", duplicates="mean")
    np.savez(path.with_name("t.npz"), X=[[1.0, 2, 5], [3, 4, 9]], names=list("aba"))
    assert read_table(path.with_name("t.npz"), duplicates="max").X.tolist() == [[5, 2], [9, 4]]


def test_duplicates_with_gaps(write):
    text = TWICE.replace("4\t1", "\t").replace("A\t1\t4", "A\t\t7").replace("C\t5", "C\t")
    for how, a in {"mean": [1, 4.5], "max": [np.nan, 7], "first": [1, 2]}.items():
        table = read_table(write(text), orient="features", duplicates=how, missing="keep")
        np.testing.assert_array_equal(table.X, [[a[0], 9, np.nan], [a[1], 8, 7]])


def test_features_without_a_name_are_not_the_same_one(write):
    text = TWICE.replace("A", "---")
    with pytest.raises(ValueError, match=r"3 features have no name \('---'\).*--drop '---'"):
        read_table(write(text), orient="features", duplicates="mean")
    table = read_table(write(text), orient="features", duplicates="mean", drop="---")
    assert table.names == ["B", "C"]


def test_duplicate_categories(write):
    path = write("id,a,b,a,y\np,x,1,z,u\nq,z,2,z,v\n", "t.csv")
    with pytest.raises(ValueError, match=r"'a' comes more than once and holds categories"):
        read_table(path, target="y", categorical="ordinal", duplicates="mean")
    table = read_table(path, target="y", categorical="ordinal", duplicates="first")
    assert (table.names, table.discrete.tolist()) == (["a", "b"], [True, False])


# -- numbers and formats ---------------------------------------------------------------------------


def test_decimal_commas(write):
    plain = read_table(write(GENES), orient="features")
    for text, name in {
        GENES.replace(".", ","): "t.tsv",
        GENES.replace(".", ",").replace("\t", ";"): "t.csv",
        GENES.replace(".", ",").replace("\t", ";").replace("GSM1", "GSM1, old"): "u.csv",
    }.items():
        table = read_table(write(text, name), orient="features", decimal=",")
        np.testing.assert_array_equal(table.X, plain.X)
        with pytest.raises(ValueError, match=r"decimal=',' \(--decimal ,\)|fields, as the header"):
            read_table(write(text, name), orient="features")
    text = "1,5;a;y\n2,5;1,25;0,5\n3,5;2;1,5\n"
    table = read_table(write(text, "t.csv"), target="y", decimal=",")
    assert (table.X.tolist(), table.y.tolist()) == ([[2.5, 1.25], [3.5, 2]], [0.5, 1.5])
    labels = write("0,5\n1,5\n", "labels.csv")
    table = read_table(write(text, "t.csv"), target=labels, decimal=",", drop="y", index=None)
    assert table.y.tolist() == [0.5, 1.5]


@each("mark", ["---", "?", "NA", "null", "", "NaN"])
def test_marks_for_missing_values(write, mark):
    table = read_table(write(GENES.replace("1.5", mark)), orient="features", missing="keep")
    assert np.isnan(table.X[0, 0])
    assert table.n_missing == 1
    with pytest.raises(ValueError, match=r"NaN: 1 value in 1 column \('1007_s_at'\)"):
        read_table(write(GENES.replace("1.5", mark)), orient="features")


def test_compressed_text(write):
    for suffix, module in {"bz2": bz2, "xz": lzma}.items():
        data = module.compress(GENES.encode())
        is_the_table(read_table(write(data, f"t.tsv.{suffix}"), orient="features"))
        is_the_table(read_table(write(data, "t.tsv"), orient="features"))
        labels = write(module.compress(b"a\nb\na\nb\n"), f"labels.txt.{suffix}")
        assert read_table(write(GENES), target=labels).y.tolist() == list("abab")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_archives(write, tmp_path, kind):
    wanted = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3], [4, 0, 0.0]])
    path = tmp_path / "sparse.npz"
    for made in (scipy.sparse.coo_matrix(wanted), scipy.sparse.coo_array(wanted)):
        scipy.sparse.save_npz(path, made.asformat(kind))
        labels = write("a\nb\na\nb\n", "labels.txt")
        table = read_table(path, target=labels)
        np.testing.assert_array_equal(table.X, wanted)
        assert (table.y.tolist(), table.names, table.label_match) == (
            list("abab"),
            None,
            "in order",
        )
        assert read_table(path).y is None


@pytest.mark.parametrize(
    ("name", "start", "words"),
    [
        ("t.gct", b"#1.2\n4\t2\n", "GCT file, .*delete its first two lines"),
        ("t.txt", b"#1.2\n4\t2\nNAME\tDescription\ts1\n", "GCT file, .*delete its first two"),
        ("t.csv", b"#1.3\n", "GCT file"),
        ("t.arff", b"@relation r\n", "ARFF file, .*loadarff"),
        ("t.txt", b"@RELATION r\n@attribute a numeric\n", "ARFF file"),
        ("t.h5ad", b"x", r"HDF5 file \(h5ad\), .*read_h5ad"),
        ("t.csv", b"\x89HDF\r\n\x1a\n", "HDF5 file"),
        ("t.xlsx", b"PK\x03\x04", "spreadsheet, .*save its sheet as CSV"),
        ("t.csv", b"PK\x03\x04", "zip archive or a spreadsheet"),
        ("t.parquet", b"PAR1", "Parquet file, .*read_parquet"),
        ("t.tsv", b"PAR1", "Parquet file"),
        ("t.soft.gz", b"x", "GEO SOFT file, .*series matrix"),
        ("t.txt", b"^DATABASE = GeoMiame\n", "GEO SOFT file"),
        ("t.rds", b"x", "a file of R, .*write.csv"),
        ("t.pkl", b"x", "pickle"),
        ("t.npy", b"x", "single NumPy array, .*savez"),
        ("t.mtx", b"x", "Matrix Market"),
        ("t.csv", b"<!DOCTYPE html>\n<html>\n", "HTML"),
    ],
)
def test_other_formats_are_named_with_the_way_out(write, name, start, words):
    with pytest.raises(ValueError, match=words) as caught:
        read_table(write(start, name))
    assert "a format that is not read yet; convert it: " in str(caught.value)
    assert len(str(caught.value)) <= 300
