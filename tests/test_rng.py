"""The counter-based generator gives the bits of numpy's Philox, from any block on."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

from bitsieve import _core

MAX = 2**64 - 1


def _twin(seed: int, stream: int, offset: int, n: int) -> np.ndarray:
    # numpy steps its counter before it makes a block, so block b is its counter b - 1.
    key = np.array([seed, stream], dtype=np.uint64)
    generator = np.random.Philox(key=key, counter=(offset - 1) % 2**256)
    return generator.random_raw(n)


@each("seed", [0, 1, 42, 2**63, MAX])
@each("stream", [0, 1, 2, 3, MAX])
@each("offset", [0, 1, 1000, 2**63])
def test_bits_of_numpy(seed: int, stream: int, offset: int) -> None:
    ours = _core.philox(seed, stream, offset, 23)
    assert ours.dtype == np.uint64
    np.testing.assert_array_equal(ours, _twin(seed, stream, offset, 23))


def test_known_answer() -> None:
    # Random123's kat_vectors: philox4x64-10, counter and key all zero.
    expected = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    assert [int(word) for word in _core.philox(0, 0, 0, 4)] == expected


def test_a_stream_may_be_drawn_in_parts() -> None:
    whole = _core.philox(7, 1, 0, 40)
    parts = [_core.philox(7, 1, block, 8) for block in range(0, 10, 2)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert len(_core.philox(7, 1, 0, 0)) == 0


def test_streams_and_seeds_share_nothing() -> None:
    draws = [
        set(_core.philox(seed, stream, 0, 256).tolist()) for seed in (0, 1) for stream in (1, 2, 3)
    ]
    assert len(set.union(*draws)) == 6 * 256


def test_bits_are_balanced() -> None:
    bits = np.unpackbits(_core.philox(3, 1, 0, 4096).view(np.uint8).reshape(4096, 8), axis=1)
    # 4096 draws a bit: the standard error is 32, five of them happen once in 30,000 tests of 64.
    assert np.abs(bits.sum(axis=0, dtype=np.int64) - 2048).max() < 5 * 32


@each("seed", [-1, 2**64])
def test_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises((TypeError, OverflowError)):
        _core.philox(seed, 1, 0, 1)
