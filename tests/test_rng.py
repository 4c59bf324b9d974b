"""Random numbers: the words of numpy's Philox, and what plain twins make of the same words."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from enum import IntEnum
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import bitsieve
from bitsieve import _core
from bitsieve._random import (
    Random,
    SeedWords,
    Stream,
    outer_seeds,
    resampling_integers,
    seeded,
    with_seed,
)

MAX = 2**64 - 1
# Of key 0: sums, products and roots alone, so that no platform may give other bits.
NORMAL = [
    "-0x1.baef55eaddf38p+0",
    "0x1.15d45661427e0p+0",
    "0x1.278d24b4ee4e7p+0",
    "0x1.000b8ec1eb96ap-2",
    "0x1.b0ed491f46fe0p-1",
    "0x1.3e2ea548bbac2p-5",
]
PACKAGE = Path(bitsieve.__file__).parent
CPP = Path(__file__).parents[1] / "cpp"


def words_of_numpy(key: int, stream: int, block: int, n: int, lane: int = 0) -> np.ndarray:
    # numpy steps its counter before it makes a block, so block b is its counter b - 1.
    counter = (block - 1 + (lane << 64)) % 2**256
    return np.random.Philox(key=np.array([key, stream], np.uint64), counter=counter).random_raw(n)


def test_words_are_those_of_numpy() -> None:
    for key, stream, block in product((0, 1, 2**63, MAX), (0, 1, 3, MAX), (0, 1, 1000, 2**63)):
        for lane in (0, 1, MAX - 1):
            ours = _core.philox(key, stream, block, 23, lane)
            assert ours.dtype == np.uint64
            np.testing.assert_array_equal(ours, words_of_numpy(key, stream, block, 23, lane))
    # Random123's kat_vectors: philox4x64-10, counter and key all zero.
    known = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    assert [int(word) for word in _core.philox(0, 0, 0, 4)] == known


class Twin:
    """Plain Python on the words of numpy, one at a time."""

    def __init__(self, key: int, stream: int, lane: int, position: int) -> None:
        words = words_of_numpy(key, stream, 0, position + 3000, lane)[position:]
        self._words: Iterator[int] = iter(words.tolist())
        self.used = 0

    def word(self) -> int:
        self.used += 1
        return next(self._words)

    def uniform(self) -> float:
        return (self.word() >> 11) / 2**53

    def normal(self) -> float:
        # The standard library's inverse, at the middle of the word's part of [0, 1).
        word = self.word()
        if word >> 63:
            return -statistics.NormalDist().inv_cdf((MAX - word + 0.5) / 2**64)
        return statistics.NormalDist().inv_cdf((word + 0.5) / 2**64)

    def below(self, bound: int) -> int:
        while True:  # as often in each of `bound` parts of equal size: what is left over is redrawn
            high, low = divmod(self.word() * bound, 2**64)
            if low >= 2**64 % bound:
                return high

    def shuffled(self, n: int, n_steps: int) -> list[int]:
        values = list(range(n))
        for last in range(n - 1, max(n - 1 - n_steps, 0), -1):
            at = self.below(last + 1)
            values[last], values[at] = values[at], values[last]
        return values


def test_numbers_are_those_of_the_twin() -> None:
    for key, lane, position in ((0, 0, 0), (7, 0, 5), (MAX, 3, 2), (1, MAX, 1023)):
        for stream in (Stream.search, Stream.tests):
            twin = Twin(key, stream, lane, position)
            random = Random(key, stream, lane=lane, position=position)
            assert random.uniform((3, 5)).ravel().tolist() == [twin.uniform() for _ in range(15)]
            normal = random.normal(200)
            # The standard library takes a logarithm of the system's, ours has its own.
            wanted = [twin.normal() for _ in range(200)]
            np.testing.assert_allclose(normal, wanted, rtol=1e-14)
            for bound in (1, 2, 10, 2**32 + 1, 2**62 + 2**61, 2**63):  # a quarter is drawn again
                drawn = random.integers(bound, 30)
                assert drawn.tolist() == [twin.below(bound) for _ in range(30)], bound
            for n in (0, 1, 2, 65):
                assert random.permutation(n).tolist() == twin.shuffled(n, n)
            for n, k in ((0, 0), (5, 0), (1, 1), (9, 9), (40, 30), (300, 5)):  # dense and sparse
                wanted = twin.shuffled(n, k)[::-1][:k]
                assert random.choice(n, k).tolist() == wanted
            assert random.words(3).tolist() == [twin.word() for _ in range(3)]
            assert random.position == position + twin.used


def test_shapes_types_and_places() -> None:
    random = Random(3, Stream.tests)
    for drawn, kind, shape in (
        (random.words((2, 3)), np.uint64, (2, 3)),
        (random.uniform(4), np.float64, (4,)),
        (random.normal((0, 2)), np.float64, (0, 2)),
        (random.integers(2**63, (1, 2, 3)), np.int64, (1, 2, 3)),
        (random.permutation(4), np.int64, (4,)),
        (random.choice(2**63, 4), np.int64, (4,)),
    ):
        assert (drawn.dtype, drawn.shape) == (kind, shape)
    # Any part may be drawn alone, and lanes and streams share no word.
    whole = Random(3, Stream.tests).normal(50)
    parts = [Random(3, Stream.tests, position=at).normal(5) for at in range(0, 50, 5)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    drawn = [
        set(Random(key, stream, lane=lane).words(64).tolist())
        for key, stream, lane in product((0, 1), Stream, (0, 1, 2))
    ]
    assert len(set.union(*drawn)) == 64 * len(drawn)
    # Fewer are the beginning of more, however they are kept.
    for k in (0, 1, 10, 100):
        some = Random(5, Stream.tests).choice(1000, k)
        np.testing.assert_array_equal(some, Random(5, Stream.tests).choice(1000, 1000)[:k])
    far = Random(5, Stream.tests).choice(2**63, 1000)
    assert len(set(far.tolist())) == 1000
    assert far.max() > 2**62
    words = SeedWords(7, Stream.folds)
    for first, count in ((0, 5), (3, 2000), (5000, 1), (2, 4)):
        wanted = Random(7, Stream.folds, position=first).words(count)
        np.testing.assert_array_equal(words.take(first, count), wanted)
        assert words.one(first) == wanted[0]


def test_normal_numbers_have_the_same_bits_everywhere() -> None:
    found = [float(x).hex() for x in Random(0, Stream.tests).normal(6)]
    assert found == NORMAL
    x, n = Random(1, Stream.tests).normal(200_000), 200_000
    # Of all the words that there are, the outermost.
    assert np.abs(x).max() < 9.3
    assert np.count_nonzero(np.abs(x) > 1.4395) == pytest.approx(0.15 * n, abs=5 * 160)
    words = Random(1, Stream.tests).words(n)
    tail = (np.where(words >> np.uint64(63) == 1, ~words, words).astype(np.float64) + 0.5) / 2**64
    wanted = np.where(words >> np.uint64(63) == 1, -1, 1) * scipy.special.ndtri(tail)
    np.testing.assert_allclose(x, wanted, rtol=1e-14, atol=1e-15)
    assert np.array_equal(np.argsort(x, kind="stable"), np.argsort(words, kind="stable"))


def test_distributions() -> None:
    """Kolmogorov-Smirnov and chi-squared at fixed keys; each fails once in a thousand keys."""
    n = 50_000
    random = Random(2, Stream.tests)
    p_values = [
        scipy.stats.kstest(random.uniform(n), "uniform").pvalue,
        scipy.stats.kstest(random.normal(n), "norm").pvalue,
        scipy.stats.kstest(np.abs(random.normal(n)) ** 2, "chi2", args=(1,)).pvalue,
        scipy.stats.pearsonr(random.normal(n)[:-1], random.normal(n)[1:]).pvalue,
    ]
    for bound in (2, 3, 10, 1000):
        counts = np.bincount(random.integers(bound, n), minlength=bound)
        p_values.append(scipy.stats.chisquare(counts).pvalue)
    high = random.integers(3 * 2**61, n) // 2**61  # an eighth would be too many without rejection
    p_values.append(scipy.stats.chisquare(np.bincount(high, minlength=3)).pvalue)
    orders = [random.permutation(4) @ [64, 16, 4, 1] for _ in range(6000)]
    p_values.append(scipy.stats.chisquare(np.unique(orders, return_counts=True)[1]).pvalue)
    pairs = [random.choice(40, 2) @ [40, 1] for _ in range(15_600)]
    counts = np.bincount(np.bincount(pairs, minlength=1600)[~np.eye(40, dtype=bool).ravel()])
    assert counts @ np.arange(len(counts)) == 15_600  # never one twice
    p_values.append(scipy.stats.chisquare(np.bincount(pairs)[np.unique(pairs)]).pvalue)
    bits = np.unpackbits(random.words(4096).view(np.uint8).reshape(4096, 8), axis=1)
    ones = bits.sum(axis=0, dtype=np.int64)
    p_values.append(float(scipy.stats.chi2.sf(((ones - 2048) ** 2 / 1024).sum(), 64)))
    assert min(p_values) > 0.001, p_values


def test_what_is_refused() -> None:
    place = (1, Stream.tests, 0, 0)
    for wrong in (-1, 2**64):
        with pytest.raises((TypeError, OverflowError)):
            _core.philox(wrong, 1, 0, 1)
    for bound in (0, 2**63 + 1):
        with pytest.raises(ValueError, match=r"bound must lie in \[1, 2\^63\]"):
            _core.random_below(*place, bound, 1)
    with pytest.raises(ValueError, match=r"k must lie in \[0, n\]"):
        _core.random_choice(*place, 3, 4)
    with pytest.raises(ValueError, match=r"n must lie in \[0, 2\^63\]"):
        _core.random_choice(*place, 2**63 + 1, 4)


def test_seeds_of_estimators() -> None:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    model = make_pipeline(DecisionTreeClassifier(), RandomForestClassifier(random_state=5))
    model.steps.append(("last", RandomForestClassifier()))
    given = seeded(model, 7).get_params()
    words = Random(7, Stream.estimators).words(2) >> np.uint64(32)
    # In the order of the names.
    assert given["decisiontreeclassifier__random_state"] == words[0]
    assert given["last__random_state"] == words[1]
    assert given["randomforestclassifier__random_state"] == 5
    assert model.get_params()["last__random_state"] is None
    assert seeded(model.steps[1][1], 7) is model.steps[1][1]
    same = with_seed(model, 9)
    assert same is model
    assert [step.random_state for _, step in model.steps] == [9, 5, 9]


def test_what_numpy_draws_for_known_results_stays() -> None:
    assert outer_seeds(8, 3).tolist() == [382842644, 623270298, 1502920020]
    draw = resampling_integers(8)
    assert [draw(10, 4).tolist(), draw(3, 5).tolist()] == [[3, 9, 9, 4], [1, 2, 2, 1, 1]]


def test_streams_are_named_once() -> None:
    assert issubclass(Stream, IntEnum)
    assert sorted(Stream) == list(range(1, len(Stream) + 1))
    # Words that results rest on.
    assert [Stream.search, Stream.folds, Stream.measurement, Stream.estimators] == [1, 2, 3, 4]
    assert [Stream.bootstrap, Stream.rankers, Stream.outer_folds, Stream.start] == [5, 6, 7, 8]


def _code_lines(folder: Path, *suffixes: str) -> Iterator[tuple[str, str]]:
    """Every line of the sources with its place, without comments and examples."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in suffixes:
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                code = re.split(r"//|(?:^|\s)#\s|>>>", line)[0]
                yield f"{path.relative_to(folder).as_posix()}:{number}", code


def test_nothing_else_draws() -> None:
    # What users pass, and a test of theirs that sees who uses a global generator.
    mine = {"_random.py", "_checks.py", "fitness/describe.py", "testing/_contract.py"}
    broken = [
        f"{place} {line.strip()}"
        for place, line in _code_lines(PACKAGE, ".py")
        if (
            re.search(r"\b(np|numpy)\.random\b|^\s*(import|from) random\b", line)
            and place.partition(":")[0] not in mine
        )
        or re.search(r"\b(SeedWords|Random)\([^)]*,\s*\d", line)
        or (re.search(r"\b_core\.(philox|random_)", line) and "_random.py" not in place)
    ]
    assert not broken, broken
    if not CPP.is_dir():
        return
    std = r"std::(\w+_distribution|mt19937\w*|random_device|default_random_engine|shuffle)\b"
    std += r"|#include <random>|\brand\(\)"
    bare = r"PhiloxStream\s*(\w+\s*)?[({][^,)]*,\s*\d|philox4x64\([^,)]*,\s*\d"
    broken = [
        f"{place} {line.strip()}"
        for place, line in _code_lines(CPP, ".cpp", ".hpp")
        if re.search(f"{std}|{bare}", line)
    ]
    assert not broken, broken
