"""The table: what is kept, what is made, what it costs."""

from __future__ import annotations

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bitsieve.data import Table, read_table


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_array_is_kept(dtype):
    X = np.random.default_rng(0).standard_normal((5, 7)).astype(dtype)
    assert np.shares_memory(Table(X).X, X)
    X.setflags(write=False)
    assert np.shares_memory(Table(X).X, X)


def test_other_layouts_are_converted_once():
    X = np.random.default_rng(0).standard_normal((50, 700))
    for other in (np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2]):
        table = Table(other)
        np.testing.assert_array_equal(table.X, X)
        assert table.X.flags.c_contiguous
        assert table.X.flags.aligned
    raw = np.zeros(X.nbytes + 1, np.uint8)
    odd = raw[1:].view(X.dtype).reshape(X.shape)
    odd[...] = X
    assert not odd.flags.aligned
    assert Table(odd).X.flags.aligned


def test_columns_in_other_order_give_the_same_rows():
    X = np.random.default_rng(0).standard_normal((20, 30))
    order = np.random.default_rng(1).permutation(30)
    one, two = Table(X), Table(X[:, order])
    np.testing.assert_array_equal(two.features, one.features[order])
    np.testing.assert_array_equal(two.centre, one.centre[order])


def test_the_hot_copy_is_made_once_and_late():
    table = Table(np.random.default_rng(0).standard_normal((40, 3000)))
    assert table._feature_major is None
    with ThreadPoolExecutor(4) as pool:
        copies = list(pool.map(lambda _: table.feature_major, range(8)))
    assert all(copy is copies[0] for copy in copies)
    assert table.features is copies[0].features
    assert table.max_abs.shape == table.centre.shape == (3000,)


def test_dtype():
    X = np.random.default_rng(0).standard_normal((9, 4))
    assert Table(X).features.dtype == np.float32
    assert Table(X, dtype=np.float64).features.dtype == np.float64
    with pytest.raises(ValueError, match=r"numpy\.float32 or numpy\.float64, got int32"):
        Table(X, dtype=np.int32)
    with pytest.raises(ValueError, match=r"1 column \('b'\) do not fit in float32"):
        _ = Table([[1, 1e300], [2, 0]], names=["a", "b"]).features


def test_sizes_and_repr():
    table = Table(np.eye(3), [1, 2, 1], names=["a", "b", "c"])
    assert (table.n_samples, table.n_features) == (3, 3)
    assert repr(table) == "Table(3 samples x 3 features, classification: 1 2, 2 1)"
    assert repr(Table(np.eye(3))) == "Table(3 samples x 3 features, no target)"
    assert repr(Table(np.eye(3), [0.5, 1, 2])) == "Table(3 samples x 3 features, regression)"
    assert repr(Table(np.eye(7), list("abcdefg"))).endswith("'e' 1 and 2 more)")
    one = Table([[1.0], [2.0]])
    assert repr(one) == "Table(2 samples x 1 feature, no target)"


def test_pickle_leaves_the_copy_behind():
    table = Table(np.random.default_rng(0).standard_normal((10, 500)), [0, 1] * 5)
    features = table.features
    data = pickle.dumps(table)
    assert len(data) < table.X.nbytes * 1.2
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.features, features)
    assert again.fingerprint() == table.fingerprint()


def test_fingerprint_sees_every_part():
    X, y = np.arange(12.0).reshape(4, 3), [0, 1, 0, 1]
    base = Table(X, y, names=["a", "b", "c"]).fingerprint()
    changed = X.copy()
    changed[3, 2] = np.nextafter(changed[3, 2], 100)
    others = {
        Table(changed, y, names=["a", "b", "c"]).fingerprint(),
        Table(X, [0, 1, 1, 0], names=["a", "b", "c"]).fingerprint(),
        Table(X, ["0", "1", "0", "1"], names=["a", "b", "c"]).fingerprint(),
        Table(X, y, names=["a", "b", "d"]).fingerprint(),
        Table(X, y).fingerprint(),
        Table(X.reshape(6, 2), [0, 1] * 3, names=["a", "b"]).fingerprint(),
    }
    assert len(others) == 6
    assert base not in others
    assert Table(X.copy(), y, names=["a", "b", "c"]).fingerprint() == base


def test_to_frame():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}, index=["s1", "s2"])
    pd.testing.assert_frame_equal(Table(frame).to_frame(), frame)


def test_memory_above_a_kept_array_is_one_float32_table():
    X = np.random.default_rng(0).standard_normal((200, 20_000))
    y = np.arange(200) % 2
    tracemalloc.start()
    table = Table(X, y)
    _ = table.features
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000 * 208 * 4 + 16e6


@pytest.mark.parametrize("dtype", ["x", "int32", "float32x", 3, object()])
def test_other_types_of_the_hot_copy_are_refused(dtype):
    with pytest.raises(ValueError, match=r"dtype must be numpy\.float32 or numpy\.float64, got "):
        Table([[1.0], [2.0]], dtype=dtype)


def test_groups_are_numbered_by_their_names(tmp_path: Path) -> None:
    assert Table([[1.0], [2.0], [4.0]], groups=["b", "a", "b"]).groups.tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match=r"groups must have one value a sample, shape \(2,\)"):
        Table([[1.0], [2.0]], groups=["a"])
    path = tmp_path / "t.csv"
    path.write_text("patient,g1,g2,y\np1,1,2,a\np1,2,1,b\np3,3,5,a\n")
    table = read_table(path, target="y", index=None, groups="patient")
    assert table.names == ["g1", "g2"]
    assert table.groups.tolist() == [0, 0, 1]
    turned = tmp_path / "turned.csv"
    turned.write_text("id,s1,s2,s3\npatient,p1,p1,p3\ny,a,b,a\ng1,1,2,3\ng2,2,1,5\n")
    other = read_table(turned, target="y", groups="patient")
    assert (other.names, other.groups.tolist()) == (["g1", "g2"], [0, 0, 1])
    np.testing.assert_array_equal(other.X, table.X)
    (tmp_path / "groups.txt").write_text("7\n7\n9\n")
    by_file = read_table(path, target="y", index="patient", groups=tmp_path / "groups.txt")
    assert by_file.groups.tolist() == [0, 0, 1]
    archive = tmp_path / "t.npz"
    np.savez(archive, X=table.X, y=[0, 1, 0], patient=[1, 1, 3], names=["g1", "g2"])
    assert read_table(archive, groups="patient").groups.tolist() == [0, 0, 1]
    column = read_table(archive, groups="g1")
    assert (column.names, column.groups.tolist()) == (["g2"], [0, 1, 2])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("pateint", "groups 'pateint' is not a column or a file; did you mean 'patient'"),
        ("y", "'y' cannot be both the target and the groups"),
        ("g2", "groups are missing for 1 sample"),
    ],
)
def test_bad_groups_of_a_file_are_named(tmp_path: Path, groups: str, message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("patient,g1,g2,y\np1,1,2,a\np1,2,,b\np3,3,5,a\n")
    with pytest.raises(ValueError, match=message):
        read_table(path, target="y", index="patient", groups=groups)


def test_nothing_public_can_be_changed():
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
    table = Table(X, y)
    for each in (table, pickle.loads(pickle.dumps(table))):
        for name in ("X", "y", "classes", "codes", "features", "centre", "max_abs"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(each, name)[...] = 1
    X[0, 0] = y[0] = 1  # the user's own arrays stay theirs


def test_groups_from_one_column_of_a_file_follow_the_samples_that_stay(tmp_path: Path) -> None:
    path = tmp_path / "genes.tsv"
    path.write_text("gene\ts1\ts2\ts3\ts4\ng1\t1\t2\t3\t4\ng2\t4\t3\t2\t1\n")
    (tmp_path / "samples.csv").write_text(
        "sample,group,patient\ns4,b,p2\ns3,a,p2\ns2,,p1\ns1,a,p1\n"
    )
    samples = str(tmp_path / "samples.csv")
    with pytest.warns(UserWarning, match="1 of 4 samples has no label in samples.csv"):
        table = read_table(path, target=f"{samples}:group", groups=f"{samples}:patient")
    assert table.sample_names == ["s1", "s3", "s4"]
    assert table.groups.tolist() == [0, 1, 1]
