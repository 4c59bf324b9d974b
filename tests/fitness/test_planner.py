"""Gram matrices are wrong by no more than their bounds say, whatever they are made from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from each import each, each_isa
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import Masks
from bitsieve.fitness import KnnFitness, compile

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

N, P = 33, 70
EMPTY, STATE, FULL, PAIR_FIRST, PAIR_SECOND = range(5)


def table(kind: str, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Values, and the features that are large beside the others."""
    large = np.arange(P) % 10 == 3
    X = rng.normal(size=(N, P))
    if kind == "far from zero":
        X += 1e9
    elif kind == "scales":
        X *= np.where(large, 1e6, 10.0 ** rng.uniform(-3, 1, P))
    elif kind == "below the unit":  # of a kept state, which rounds such products to nothing
        X = np.where(X > 0, 1.0, -1.0) * np.where(large, 1.0, 0.3**0.5 * 2.0**-24.5)
    elif kind == "near copies":
        X[1::2] = X[:-1:2] * (1 + 1e-7 * X[1::2])
    elif kind == "one far off":
        X[N // 2] *= 1e5
    elif kind in ("whole numbers", "large whole numbers"):
        X = rng.integers(0, 4, (N, P)).astype(np.float64)
        if kind == "large whole numbers":  # still multiples of 1, and whole in float32
            X[:, large] = np.where(rng.random((N, large.sum())) < 0.5, -(2.0**30), 2.0**30)
    return X, large


def walk(rng: np.random.Generator, large: Bools) -> Iterator[Bools]:
    """Batches of masks that have the planner start from each of its origins."""
    for _ in range(8):  # large masks, until the full one pays
        yield rng.permutation(P)[None] >= 2
    for k in range(6):
        yield (rng.random((2, P)) < 0.3) & (~large | (k % 2 == 0))
    for allowed in (np.ones(P, bool), ~large):
        base = (rng.random(P) < 0.6) & allowed
        near = np.tile(base, (10, 1))
        near[np.arange(9), rng.choice(np.flatnonzero(allowed), 9, replace=False)] ^= True
        yield near
    small = rng.permutation(np.flatnonzero(~large))
    base, first, second = large.copy(), large.copy(), np.zeros(P, bool)
    base[small[:30]] = first[small[:35]] = second[small[:20]] = second[small[35:41]] = True
    far, near = small[:25], np.r_[small[:4], small[25:46]]
    apart = [np.isin(np.arange(P), names) for names in (small[:4], far, near)]
    for pair in ([base, first, second], apart):  # again, until the sum of the pair's states pays
        for _ in range(60):
            yield np.stack(pair)


def distances(values: Floats) -> Floats:
    """Squared distances, from differences: wrong by a share of about 2^-50 of themselves."""
    return ((values[:, None] - values[None]) ** 2).sum(axis=2)


KINDS = ["standard", "far from zero", "scales", "below the unit", "near copies", "one far off"]


@each_isa
@each("kind", [*KINDS, "whole numbers", "large whole numbers"])
def test_errors_are_within_bounds_that_mean_something(isa: str, kind: str) -> None:
    rng = np.random.default_rng(7)
    X, large = table(kind, rng)
    fitness = compile(KNeighborsClassifier(1), X, np.arange(N) % 2, cv=2, n_jobs=1)
    assert isinstance(fitness, KnnFitness)
    assert fitness.table.exact == ("whole" in kind)
    centred = fitness.table.features[:, :N].T.astype(np.float64)
    everything = (centred**2).sum(axis=1).max()
    seen, exact_from, last = set(), set(), (b"", b"")
    widest = worst = 0.0
    for k, masks in enumerate(walk(rng, large)):
        answer = fitness._core.matrices(Masks.from_bool(masks).words, 1 + k % 2)
        if last == (last := (masks.tobytes(), answer[-1].tobytes())):
            continue
        of_batch = answer[1].max()
        for mask, gram, squares, bounds, exact, origin in zip(masks, *answer, strict=True):
            seen.add(int(origin))
            if exact:
                exact_from.add(int(origin))
            assert exact == (not bounds.any())
            np.testing.assert_array_equal(gram, gram.T)
            allowed = np.add.outer(np.sqrt(bounds), np.sqrt(bounds)) ** 2
            single = squares.astype(np.float32)
            right = [distances(values[:, mask]) for values in (X, centred)]
            for found in (
                np.add.outer(squares, squares) - 2 * gram.astype(np.float64),
                (np.add.outer(single, single) - 2 * gram).astype(np.float64),
            ):
                for expected in right:
                    error = np.abs(found - expected)
                    assert (error <= allowed * (1 + 1e-6)).all(), (k, origin, error.max())
                    worst = max(worst, error.max())
            # No wider than what the matrix was made from can lose, with half as much again.
            source = {EMPTY: squares.max(), STATE: of_batch}.get(origin, everything)
            assert allowed.max() <= 2.0**-15 * source + 2.0**-39 * everything, (k, origin)
            widest = max(widest, allowed.max())
    # (Sums of products that are all one number, but for the sign, round to hardly anything.)
    assert widest <= 300 * worst or kind == "below the unit"
    assert seen == {EMPTY, STATE, FULL, PAIR_FIRST, PAIR_SECOND}
    # Whole numbers are exact wherever they come from, but for a kept state whose unit is not.
    exact_where = {"whole numbers": seen, "large whole numbers": {EMPTY}}
    assert exact_from == exact_where.get(kind, set())
