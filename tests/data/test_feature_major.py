"""The feature-major copy against a slow twin in exact arithmetic.

Swept: grids, offsets, ranges, odd sizes, both formats, block sizes. The twin works on one column
at a time with fractions, so its statements about exactness cannot be wrong by rounding.
"""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from each import each

from bitsieve.data import make_feature_major


def twin_centre(column, dtype):
    """Centre of one column, and whether subtracting it is exact."""
    bits = np.finfo(dtype).nmant + 1
    mean = float(np.clip(np.ascontiguousarray(column).mean(), column.min(), column.max()))
    reach = max(column.max() - mean, mean - column.min())
    if reach == 0:
        return column[0], True
    values = [Fraction(float(x)) for x in column]
    grid = min(
        (
            (v.numerator & -v.numerator).bit_length() - 1 - (v.denominator.bit_length() - 1)
            for v in values
            if v
        ),
    )
    finest = math.frexp(reach)[1] - bits
    if grid >= finest:
        step = Fraction(2) ** max(min(grid, 0), finest)
        return float(round(Fraction(mean) / step) * step), True
    if (column.astype(dtype) == column).all() and 2 * abs(mean) <= column.std():
        return 0.0, True
    return mean, False


def is_exact(column, centre, copied):
    """True if every centred value is x - centre in exact arithmetic."""
    return all(
        Fraction(float(h)) == Fraction(float(x)) - Fraction(float(centre))
        for x, h in zip(column, copied, strict=True)
    )


def columns(n):
    """Name -> column of n values."""
    rng = np.random.default_rng(n)
    z = rng.standard_normal(n)
    return {
        "normal": z,
        "float32 normal": z.astype(np.float32),
        "float32 far from 0": (z + 30).astype(np.float32) * np.float32(1.1),
        "float32 log scale": rng.uniform(8, 15, n).astype(np.float32),
        "integers": rng.integers(-1000, 1000, n),
        "bytes": rng.integers(0, 256, n),
        "three values": rng.integers(-1, 2, n) * 2,
        "halves": rng.integers(0, 9, n) / 2,
        "sixteenths far away": 5e6 + rng.integers(0, 100, n) / 16,
        "large integers": rng.integers(0, 2**30, n) * 256,
        "large offset": 1e9 + z,
        "larger offset": 1e15 + np.rint(z * 10),
        "two decimals": np.round(z * 100, 2),
        "tiny": z * 1e-25,
        "huge": z * 1e30,
        "zeros": np.zeros(n),
        "constant": np.full(n, 0.1),
        "constant huge": np.full(n, 1e300),
        "one spike": np.where(np.arange(n) == n // 2, 1e6, 0.1),
        "minus zero": np.where(rng.random(n) < 0.5, -0.0, 1.0),
        "powers of two": 2.0 ** rng.integers(-4, 5, n),
    }


@each("dtype", [np.float32, np.float64])
@each("n", [2, 3, 15, 16, 17, 100])
def test_equals_twin(n, dtype):
    made = columns(n)
    X = np.column_stack(list(made.values())).astype(np.float64)
    copied = make_feature_major(X, dtype=dtype, names=list(made))
    ld = -(-n // 16) * 16
    assert copied.features.shape == (X.shape[1], ld)
    assert copied.features.dtype == dtype
    assert copied.features.flags.c_contiguous
    assert copied.features.ctypes.data % 64 == 0
    assert not copied.features.flags.writeable
    assert not copied.features[:, n:].any()
    for j, name in enumerate(made):
        centre, exact = twin_centre(X[:, j], dtype)
        values = copied.features[j, :n]
        assert copied.centre[j] == pytest.approx(centre, rel=1e-15, abs=1e-300), name
        if exact:
            assert copied.centre[j] == centre, name
        assert copied.exact_features[j] == exact, name
        if exact:
            assert is_exact(X[:, j], copied.centre[j], values), name
        np.testing.assert_array_equal(values, (X[:, j] - copied.centre[j]).astype(dtype), name)
        assert copied.max_abs[j] == np.abs(values).max(), name
    assert copied.exact == copied.exact_features.all()


def test_what_is_exact_in_float32():
    """The kinds of column that must lose nothing, and those that cannot help it."""
    made = columns(100)
    X = np.column_stack(list(made.values())).astype(np.float64)
    exact = dict(zip(made, make_feature_major(X).exact_features, strict=True))
    lossy = {name for name, yes in exact.items() if not yes}
    assert lossy == {
        "normal", "large integers", "two decimals", "tiny", "huge",
        "one spike", "large offset",
    }  # fmt: skip


def test_large_offset_keeps_small_differences():
    """Near 1e9 float64 has steps of 1.2e-7 and float32 of 64: none of the former is lost."""
    x = 1e9 + np.linspace(0, 1, 11)
    copied = make_feature_major(x[:, None])
    assert copied.exact
    back = copied.features[0, :11].astype(np.float64) + copied.centre[0]
    np.testing.assert_array_equal(back, x)
    assert np.float32(x[0]) == np.float32(x[-1])


def test_integers_are_centred_on_an_integer():
    """So that products stay integers and ties stay ties."""
    X = np.random.default_rng(0).integers(0, 256, (50, 7)).astype(np.float32)
    copied = make_feature_major(X)
    np.testing.assert_array_equal(copied.centre, np.rint(X.mean(axis=0, dtype=np.float64)))
    assert (copied.features == np.rint(copied.features)).all()


@each("order", ["C", "F"])
def test_block_size_and_order_do_not_show(order):
    X = np.asarray(np.random.default_rng(1).standard_normal((37, 203)), order=order)
    X[:, ::3] = np.rint(X[:, ::3] * 10)
    whole = make_feature_major(X)
    for block in (1, 2, 16, 50, 203, 999):
        part = make_feature_major(X, block_columns=block)
        for name in ("features", "centre", "max_abs", "exact_features"):
            np.testing.assert_array_equal(getattr(part, name), getattr(whole, name))


def test_read_only_input():
    X = np.arange(12.0).reshape(4, 3)
    X.setflags(write=False)
    assert make_feature_major(X).exact


def test_overflow_names_columns_and_way_out():
    X = np.ones((4, 3))
    X[0, 1], X[1, 2] = 1e39, -1e300
    with pytest.raises(ValueError, match=r"2 columns \('b', 'c'\) do not fit in float32.*float64"):
        make_feature_major(X, names=["a", "b", "c"])
    copied = make_feature_major(X, dtype=np.float64)
    assert copied.max_abs[1] == 0.75e39


@each("x", [[1e308, -1e308, 1e307], [1.7e308, 1.7e308, -1.7e308], [1.7e308, *[-1.2e308] * 3]])
def test_the_whole_range_of_float64_survives(x):
    copied = make_feature_major(np.array(x)[:, None], dtype=np.float64)
    assert np.isfinite(copied.features).all()
    assert copied.max_abs[0] >= 1e308


def test_underflow_names_columns():
    X = np.array([[1.0, 1e-40], [2.0, 3e-40]])
    with pytest.raises(ValueError, match=r"\('small'\) are too small for float32.*float64"):
        make_feature_major(X, names=["fine", "small"])
    assert make_feature_major(X, dtype=np.float64).max_abs[1] == pytest.approx(1e-40)


def test_dtype_is_one_of_two():
    with pytest.raises(ValueError, match=r"numpy\.float32 or numpy\.float64, got float16"):
        make_feature_major(np.ones((3, 2)), dtype=np.float16)


@pytest.mark.parametrize("integers", [False, True])
def test_memory_is_one_float32_table(integers):
    X = np.random.default_rng(0).standard_normal((200, 20_000))
    if integers:
        np.rint(X * 100, out=X)
    tracemalloc.start()
    copied = make_feature_major(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert copied.features.nbytes == 20_000 * 208 * 4
    assert peak < copied.features.nbytes + 16e6


def test_real_data(dataset):
    for name in ("tox_171", "warpAR10P", "vehicle", "khan"):
        X, _, _ = dataset(name)
        copied = make_feature_major(np.ascontiguousarray(X, dtype=np.float64))
        back = copied.features[:, : len(X)].T.astype(np.float64) + copied.centre
        error = np.abs(back - X) / np.maximum(copied.max_abs, 1e-30)
        assert error.max() <= 2**-24, name
        if X.dtype.kind in "iu":
            assert copied.exact, name
            np.testing.assert_array_equal(back, X)


def test_copies_compare_by_identity():
    X = np.random.default_rng(0).standard_normal((4, 3))
    one, two = make_feature_major(X), make_feature_major(X)
    assert one == one
    assert one != two
    assert len({one, two}) == 2
