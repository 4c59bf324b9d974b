"""Reading NumPy archives, and the registry of formats."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from bitsieve.data import Table, formats, read_table, register_format

X = np.array([[1.5, 7, 2], [2.5, 6, 1], [0, 1e-3, 4], [3, 3, 3.5]])
Y = np.array(["u", "v", "u", "v"])
NAMES = np.array(["a", "b", "c"])


@pytest.fixture
def save(tmp_path):
    """``save(X=..., y=...)`` makes an archive and returns its path."""

    def save(**arrays):
        np.savez(tmp_path / "table.npz", **arrays)
        return tmp_path / "table.npz"

    return save


def test_all_parts(save):
    table = read_table(save(X=X, y=Y, names=NAMES, sample_names=np.array(list("pqrs"))))
    np.testing.assert_array_equal(table.X, X)
    assert table.y.tolist() == Y.tolist()
    assert table.names == ["a", "b", "c"]
    assert table.sample_names == ["p", "q", "r", "s"]
    assert table.target_name == "y"
    assert read_table(save(X=X, feature_names=NAMES.astype("S"))).names == ["a", "b", "c"]
    assert read_table(save(X=X)).y is None


def test_targets(save, tmp_path):
    path = save(X=X, y=Y, time=np.array([1, 2, 3, 4.5]), names=NAMES)
    assert read_table(path, target="time").task == "regression"
    column = read_table(path, target="b")
    assert column.names == ["a", "c"]
    np.testing.assert_array_equal(column.y, X[:, 1])
    np.testing.assert_array_equal(column.X, X[:, [0, 2]])
    (tmp_path / "labels.txt").write_text("m\nn\nm\nn\n")
    assert read_table(path, target=tmp_path / "labels.txt").y.tolist() == ["m", "n", "m", "n"]
    with pytest.raises(ValueError, match=r"target 'tme' is not an array .*did you mean 'time'"):
        read_table(path, target="tme")
    with pytest.raises(ValueError, match="target 'X' is not an array of labels"):
        read_table(path, target="X")


@pytest.mark.parametrize("arrays", [{"y": Y}, {"names": NAMES}, {"y": Y, "names": NAMES}])
def test_orient(save, arrays):
    for orient in ("auto", "features"):
        table = read_table(save(X=X.T.copy(), **arrays), orient=orient)
        np.testing.assert_array_equal(table.X, X)
        assert table.X.flags.c_contiguous
    with pytest.raises(ValueError, match=r"3 samples but y has 4|expected 4 feature names"):
        read_table(save(X=X.T.copy(), **arrays), orient="samples")


BAD = {
    "no X": ({"data": X, "x": X}, r"no array named 'X'; did you mean 'x'\?"),
    "length": ({"X": X, "y": Y[:2]}, "X has 4 samples but y has 2 labels"),
    "pickled X": ({"X": X.astype(object)}, "array 'X' .*holds pickled Python objects.*float"),
    "pickled names": (
        {"X": X, "names": NAMES.astype(object)},
        "'names' .*pickled.*dtype=str",
    ),
    "names": ({"X": X, "names": NAMES[:2]}, "expected 3 feature names, one a column of X, got 2"),
    "two names": ({"X": X, "names": np.ones((3, 2))}, r"one name a line, got shape \(3, 2\)"),
    "1-d": ({"X": X[0]}, r"X must be samples x features, got shape \(3,\)"),
    "nan": ({"X": X * np.nan}, "Input X contains NaN: 12 values in 3 columns"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_archives(save, case):
    arrays, words = BAD[case]
    with pytest.raises(ValueError, match=words) as caught:
        read_table(save(**arrays))
    assert "table.npz: " in str(caught.value)


def test_damaged_archives(save, tmp_path):
    path = save(X=np.random.default_rng(0).random((100, 100)))
    data = path.read_bytes()
    for cut in (10, len(data) // 2, len(data) - 10):
        path.write_bytes(data[:cut])
        with pytest.raises(ValueError, match=r"table\.npz: .*cut short"):
            read_table(path)
    broken = bytearray(data)
    broken[len(data) // 2] ^= 0xFF
    path.write_bytes(broken)
    with pytest.raises(ValueError, match=r"table\.npz: .*damaged"):
        read_table(path)
    path.write_text("not an archive")
    with pytest.raises(ValueError, match=r"table\.npz: not a NumPy archive"):
        read_table(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"table\.npz: the file is empty"):
        read_table(path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_archive_is_loaded_without_a_second_copy(save, dtype):
    big = np.random.default_rng(0).standard_normal((200, 20_000)).astype(dtype)
    path = save(X=big, y=np.arange(200) % 2)
    del big
    tracemalloc.start()
    table = read_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < table.X.nbytes + 8e6
    assert table._feature_major is None


def test_real_archives(data_dir):
    table = read_table(data_dir / "chowdary.npz")
    assert (table.n_samples, table.n_features) == (104, 22283)
    assert table.names[0] == "1007_s_at"
    assert table.classes.tolist() == ["breast", "colon"]


def test_registry(tmp_path):
    seen = []

    def reader(request):
        seen.append(request)
        return Table(np.eye(3), [0, 1, 1])

    register_format([".Test-Format", ".csv.test-format"], reader)
    register_format([".test-format"], reader)
    assert ".test-format" in formats()
    path = tmp_path / "A.TEST-FORMAT"
    path.write_text("x")
    assert read_table(path, target="t", orient="features", task="regression").n_samples == 3
    assert seen[0].path == path
    assert (seen[0].target, seen[0].orient, seen[0].task) == ("t", "features", "regression")
    with pytest.raises(ValueError, match="a suffix starts with a dot, got 'csv'"):
        register_format(["csv"], reader)
    with pytest.raises(ValueError, match=r"'\.csv' has a reader already"):
        register_format([".new-suffix", ".csv"], reader)
    assert ".new-suffix" not in formats()


def test_a_label_too_many_beside_an_archive(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(12.0).reshape(6, 2) ** 2)
    labels = tmp_path / "y.txt"
    labels.write_text("sick\nwell\nwell\nsick\nwell\nsick\nsick\n")
    with pytest.raises(ValueError, match=r"7 labels, .* 6 samples; its first line is no header"):
        read_table(tmp_path / "t.npz", target=labels)
    labels.write_text("outcome\nsick\nwell\nwell\nsick\nwell\nsick\n")
    table = read_table(tmp_path / "t.npz", target=labels)
    assert table.y.tolist() == ["sick", "well", "well", "sick", "well", "sick"]


def test_names_in_another_encoding(tmp_path):
    names = np.array(["grün".encode("latin-1"), b"rot"])
    np.savez(tmp_path / "t.npz", X=[[1.0, 2.0], [3.0, 5.0]], names=names)
    with pytest.raises(ValueError, match=r"t\.npz: 'names' holds bytes that are not UTF-8; store"):
        read_table(tmp_path / "t.npz")
