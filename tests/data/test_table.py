"""The table: what is kept, what is made, what it costs."""

from __future__ import annotations

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from bitsieve.data import Table


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
    assert table._hot is None
    with ThreadPoolExecutor(4) as pool:
        copies = list(pool.map(lambda _: table.hot, range(8)))
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


def test_nothing_public_can_be_changed():
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
    table = Table(X, y)
    for each in (table, pickle.loads(pickle.dumps(table))):
        for name in ("X", "y", "classes", "codes", "features", "centre", "max_abs"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(each, name)[...] = 1
    X[0, 0] = y[0] = 1  # the user's own arrays stay theirs
