"""First lines: what is a header, and what is the first sample, in tables and in files of labels."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

from bitsieve.data import read_table

TABLE = "a,b\n" + "".join(f"{i}.5,{i * i}\n" for i in range(6))
SICK = ["sick", "well", "well", "sick", "well", "sick"]


@pytest.fixture
def write(tmp_path):
    """``write(text, name)`` makes a file and returns its path."""

    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def lines(*labels):
    return "".join(f"{label}\n" for label in labels)


HEADERS = {
    "none": ([], SICK, SICK),
    "word": (["outcome"], SICK, SICK),
    "any word": (["x7"], SICK, SICK),
    "word over numbers": (["grade"], [1, 2, 1, 2, 3, 3], [1, 2, 1, 2, 3, 3]),
    "number over words, as pandas writes": (["0"], SICK, SICK),
    "a class of one sample": ([], ["rare", *SICK[1:]], ["rare", *SICK[1:]]),
}


@pytest.mark.parametrize("case", HEADERS)
def test_labels_with_and_without_a_header(write, case):
    header, labels, expected = HEADERS[case]
    table = read_table(write(TABLE), target=write(lines(*header, *labels), "y.txt"))
    assert table.y.tolist() == expected


@each("orient", ["auto", "samples"])
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([*SICK, "sick"], r"y\.txt has 7 labels, but there are 6 samples; its first line is no "
                          r"header: 'sick' comes again further down"),
        (range(7), r"7 labels, .* 6 samples; its first line is no header: '0' is a number like "
                   "the others"),
        (["NA", *SICK], "7 labels, .* 6 samples; its first line is no header: 'NA' stands for a "
                        "missing label"),
        (["outcome", *SICK[1:]], r"5 labels below the header 'outcome', but there are 6 samples"),
        (["grade", 1, 2, 1, 2, 3], "5 labels below the header 'grade', but there are 6 samples"),
        ([*SICK, "a", "b"], "8 labels, but there are 6 samples"),
    ],
)  # fmt: skip
def test_no_label_goes_to_the_next_sample(write, orient, labels, words):
    with pytest.raises(ValueError, match=words):
        read_table(write(TABLE), target=write(lines(*labels), "y.txt"), orient=orient)


def test_a_header_decides_which_way_the_labels_lie(write):
    table = write("a,b,c\n1,2,3\n4,5,7\n")
    turned = read_table(table, target=write(lines("u", "v", "u"), "y.txt"))
    assert turned.y.tolist() == ["u", "v", "u"]
    upright = read_table(table, target=write(lines("class", "u", "v"), "y.txt"))
    assert upright.y.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match=r"3 lines, which may be labels of 3 columns, or a header"):
        read_table(table, target=write(lines("u", "v", "w"), "y.txt"))


@pytest.mark.parametrize(
    "text",
    [
        "7,120,3,0\n4,98,5,1\n9,77,2,0\n1,143,8,1\n",
        "7\t120\t3\n4\t98\t5\n9\t77\t2\n",
        "0,1\n1,0\n1,1\n",
        "1\n0\n1\n",
        "3,2,1,0\n4,98,5,1\n9,77,2,0\n",
        "7,120,3\n4,98,5,1\n9,77,2,0\n",
        "-1,1.5\n2,3\n3,5\n",
    ],
)
def test_a_first_sample_is_not_taken_for_a_header(write, text):
    with pytest.raises(ValueError, match=r"first line holds numbers .*add a header line"):
        read_table(write(text))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0,1,2,3\n7,120,3,0\n4,98,5,1\n", ["0", "1", "2", "3"]),
        ("1,2,3,4\n7,120,3,0\n4,98,5,1\n", ["1", "2", "3", "4"]),
        ("0,1\n0.5,2\n4,98\n", ["0", "1"]),
        (",0,1\n0,5,2\n1,98,4\n", ["0", "1"]),
        ("7157,1956\ns1,5,2\ns2,98,4\n", ["7157", "1956"]),
        ("id,7157,1956\n1,5,2\n2,98,4\n", ["7157", "1956"]),
        ("400.5,401.5\ns1,5,2\ns2,98,4\n", ["400.5", "401.5"]),
        ("1_1,1_2\n5,2\n98,4\n", ["1_1", "1_2"]),
    ],
)
def test_numbers_that_are_names(write, text, names):
    table = read_table(write(text))
    assert table.names == names
    assert table.n_samples == 2
    assert table.X.max() >= 98


def test_a_target_named_by_the_first_sample(write):
    text = "7,120,3,sick\n4,98,5,well\n9,77,2,sick\n"
    with pytest.raises(ValueError, match=r"'sick' .*also .*label.*add a header line"):
        read_table(write(text), target="sick")


def test_labels_that_look_like_numbers_with_underscores(write):
    table = read_table(write("a,y\n1,1_0\n2,10\n3,1_0\n"), target="y")
    assert table.y.tolist() == ["1_0", "10", "1_0"]
    np.testing.assert_array_equal(table.X[:, 0], [1, 2, 3])
