"""Clauses of the fitness contract."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks
from bitsieve.testing._contract import (
    Contract,
    expect,
    global_generators_untouched,
    refused,
    same,
)
from bitsieve.testing._draws import order, uniforms

__all__ = ["CONTRACT", "Given", "MakeFitness"]

Array = NDArray[Any]
MakeFitness = Callable[[int], Any]
_SEED, _OTHER_SEED = 7, 2**63 + 11


@dataclass(frozen=True, eq=False)
class Given:
    make: MakeFitness
    threads: tuple[int, ...]
    others: tuple[MakeFitness, ...]
    estimator: Any
    X: Any
    y: Any
    scoring: Any
    rtol: float
    n_masks: int

    @cached_property
    def n_features(self) -> int:
        return int(self.make(1).n_features)

    @cached_property
    def masks(self) -> NDArray[np.bool_]:
        """None and all, single ones, some of each size, and some that are close to one another."""
        p = self.n_features
        drawn = uniforms(1, self.n_masks, p) < uniforms(2, self.n_masks, 1)
        near = np.tile(drawn[-1], (4, 1))
        near[1, p // 2] ^= True
        near[2, order(3, p)[:3]] ^= True
        single = np.arange(p)[None] == p - 1
        none, every = np.zeros((1, p), bool), np.ones((1, p), bool)
        return np.concatenate([drawn, none, every, single, near, ~near[:1], drawn[:1]])

    @cached_property
    def seeds(self) -> NDArray[np.uint64]:
        """A seed for each mask, some of them alike."""
        words = np.array([_SEED, 0, _OTHER_SEED, 1, 2**64 - 1], dtype=np.uint64)
        return words[order(4, len(self.masks)) % len(words)]

    @cached_property
    def alone(self) -> Array:
        """What a fitness that knows nothing yet answers to each mask and its seed."""
        rows = [
            _answer(self.make(1), mask[None], int(seed))
            for mask, seed in zip(self.masks, self.seeds, strict=True)
        ]
        return np.concatenate(rows)


CONTRACT: Contract[Given] = Contract("fitness")


# -- what the clauses share ------------------------------------------------------------------------


def _answer(fitness: Any, masks: NDArray[np.bool_] | Masks, seeds: Any = _SEED) -> Array:
    """The scores of each split where there are splits, of the mask where there are none."""
    batch = masks if isinstance(masks, Masks) else Masks.from_bool(masks)
    split = getattr(fitness, "evaluate_splits", None)
    return np.asarray(fitness.evaluate(batch, seeds) if split is None else split(batch, seeds))


def _same_scores(got: Array, expected: Array, masks: NDArray[np.bool_], when: str) -> None:
    expect(
        got.shape == expected.shape and got.dtype == expected.dtype,
        f"{when} the scores are {got.dtype} of shape {got.shape}, not {expected.dtype} of shape "
        f"{expected.shape}",
    )
    for i in range(len(got)):
        expect(
            same(np.asarray(got[i]), np.asarray(expected[i])),
            f"{when} the scores of {_named(masks[i])} are {got[i]}, not {expected[i]}",
        )


def _named(mask: NDArray[np.bool_]) -> str:
    features = np.flatnonzero(mask).tolist()
    if len(features) > 6:
        return f"a mask of {len(features)} features ({', '.join(map(str, features[:6]))}, ...)"
    return f"the mask of features {features}" if features else "the empty mask"


def _is_fresh(fitness: Any) -> bool:
    fresh = fitness.resample
    expect(isinstance(fresh, (bool, np.bool_)), f"resample is {fresh!r}, neither True nor False")
    return bool(fresh)


def _is_whole(fitness: Any) -> bool:
    """Whether it offers what those of ``bitsieve.fitness`` do, or just what the loop needs."""
    return hasattr(fitness, "evaluate_splits")


# -- clauses ---------------------------------------------------------------------------------------


@CONTRACT.clause
def _one_score_a_mask(given: Given) -> None:
    """evaluate gives float64 of shape (n_masks,), finite, also for the empty mask and no masks"""
    fitness = given.make(1)
    for masks in (given.masks, given.masks[:1], given.masks[:0]):
        scores = fitness.evaluate(Masks.from_bool(masks))
        expect(
            isinstance(scores, np.ndarray)
            and scores.dtype == np.float64
            and scores.shape == (len(masks),),
            f"{len(masks)} masks gave {scores!r:.80}, not float64 of shape ({len(masks)},)",
        )
        for i in np.flatnonzero(~np.isfinite(scores)):
            expect(False, f"the score of {_named(masks[i])} is {scores[i]}")


@CONTRACT.clause
def _mean_over_splits(given: Given) -> None:
    """evaluate is the mean of evaluate_splits, (n_masks, n_splits) in C order, over the splits"""
    fitness = given.make(1)
    if not _is_whole(fitness):
        return
    masks = Masks.from_bool(given.masks)
    splits = fitness.evaluate_splits(masks, given.seeds)
    shape = (len(masks), fitness.n_splits)
    expect(
        splits.dtype == np.float64 and splits.shape == shape and splits.flags.c_contiguous,
        f"evaluate_splits gave {splits.dtype} of shape {splits.shape}, not float64 of {shape} in C",
    )
    expect(fitness.evaluate_splits(masks[:0]).shape == (0, shape[1]), "no masks, another shape")
    scores = fitness.evaluate(masks, given.seeds)
    _same_scores(scores, splits.mean(axis=1), given.masks, "asked by evaluate,")
    for seed in (0, _SEED):
        pairs = fitness.splits(seed)
        expect(len(pairs) == shape[1], f"splits({seed}) has {len(pairs)} pairs, not {shape[1]}")
        again = fitness.splits(seed)
        for (train, test), pair in zip(pairs, again, strict=True):
            expect(
                same(np.asarray(train), np.asarray(pair[0]))
                and same(np.asarray(test), np.asarray(pair[1])),
                f"splits({seed}) differ from call to call",
            )


@CONTRACT.clause
def _alone_or_together(given: Given) -> None:
    """a score does not depend on the batch it came in, nor on the batches before"""
    fitness = given.make(1)
    n = len(given.masks)
    for step, size in enumerate((n, 1, 3, 7, n)):
        shuffled = order(10 + step, n)
        for first in range(0, n, size):
            part = shuffled[first : first + size]
            got = _answer(fitness, given.masks[part], given.seeds[part])
            when = f"in a batch of {len(part)}, after {step} rounds of other batches,"
            _same_scores(got, given.alone[part], given.masks[part], when)


@CONTRACT.clause
def _compact_or_expanded(given: Given) -> None:
    """masks score alike as a base with flips (one each, or some) and as masks written down"""
    p = given.n_features
    flips = order(5, p)[:8]
    for base in (given.masks[0], given.masks[0] & False, given.masks[0] | True):
        for ends in (np.arange(1, len(flips) + 1), [0, 2, 4, len(flips)]):
            compact = Masks.from_flips(base, [0, *ends], flips)
            written = compact.to_bool()
            fitnesses = {n_jobs: given.make(n_jobs) for n_jobs in given.threads}
            # What is kept of a neighborhood must not outlive the folds of its seed.
            fresh = _is_fresh(fitnesses[given.threads[0]])
            for seeds in (given.seeds[: len(written)], *((_SEED, _OTHER_SEED) if fresh else ())):
                expected = _answer(given.make(1), written, seeds)
                for n_jobs, fitness in fitnesses.items():
                    got = _answer(fitness, compact, seeds)
                    when = f"as flips of {_named(base)} with n_jobs={n_jobs}"
                    _same_scores(got, expected, written, when)


@CONTRACT.clause
def _swaps_and_flips(given: Given) -> None:
    """masks of two flips, many of which share one, score alike beside masks of one and of three"""
    p = given.n_features
    flips = order(8, p)
    pairs = [(flips[0], f) for f in flips[1:18]] + [(f, flips[-1]) for f in flips[:-1][:17]]
    ones = [(f,) for f in flips[:17]]
    # So mixed that no list stands beside its kind.
    lists = [*pairs, *ones, tuple(flips[:3]), (), (flips[0], flips[0])]
    mixed = [lists[k] for k in order(9, len(lists))]
    indptr = np.cumsum([0, *map(len, mixed)])
    compact = Masks.from_flips(given.masks[0], indptr, [f for part in mixed for f in part])
    written = compact.to_bool()
    expected = _answer(given.make(1), written)
    for n_jobs in given.threads:
        got = _answer(given.make(n_jobs), compact)
        _same_scores(got, expected, written, f"of pairs of flips with n_jobs={n_jobs}")


@CONTRACT.clause
def _walks_end_alike(given: Given) -> None:
    """a walk of close masks ends in the scores that a new fitness gives"""
    p = given.n_features
    fitness = given.make(given.threads[-1])
    mask = given.masks[0].copy()
    flips = (uniforms(6, 20, 3) * p).astype(int)
    for step, near in enumerate(flips):
        mask[near] ^= True
        other = mask ^ (np.arange(p) == near[0])
        got = _answer(fitness, np.stack([mask, other]))
        if step % 10 == 9:
            expected = _answer(given.make(1), mask[None])
            _same_scores(got[:1], expected, mask[None], f"after a walk of {step + 1} steps")


@CONTRACT.clause
def _threads(given: Given) -> None:
    """the number of threads does not show in any bit"""
    for n_jobs in given.threads:
        fitness = given.make(n_jobs)
        for masks in (slice(None), slice(0, 1), slice(None)):
            got = _answer(fitness, given.masks[masks], given.seeds[masks])
            _same_scores(got, given.alone[masks], given.masks[masks], f"with n_jobs={n_jobs}")


@CONTRACT.clause
def _callers_at_once(given: Given) -> None:
    """several Python threads may ask at once"""
    fitness = given.make(given.threads[-1])
    before = getattr(fitness, "n_evaluations", None)
    n_asked = len(given.masks) // 2

    def ask(k: int) -> None:
        part = order(20 + k, len(given.masks))[:n_asked]
        got = _answer(fitness, given.masks[part], given.seeds[part])
        _same_scores(got, given.alone[part], given.masks[part], "asked by four threads at once,")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(8)))
    if before is not None:
        counted = fitness.n_evaluations - before
        expect(counted == 8 * n_asked, f"{counted} of 8 x {n_asked} were counted")


@CONTRACT.clause
def _instruction_sets(given: Given) -> None:
    """every instruction set that the kernel takes gives the same bits"""
    from bitsieve._isa import available_isas, get_isa, set_isa

    kernel = getattr(given.make(1), "kernel", None)
    if kernel is None:
        return
    expected, before = given.alone, get_isa()
    try:
        for name in available_isas():
            set_isa(name)
            fitness = given.make(given.threads[-1])
            if fitness.kernel != kernel:  # refused, for want of a fused multiply-add
                continue
            got = _answer(fitness, given.masks, given.seeds)
            _same_scores(got, expected, given.masks, f"on {name}")
    finally:
        set_isa(before)


@CONTRACT.clause
def _seeds(given: Given) -> None:
    """one seed stands for the same seed for each mask; only fresh folds look at it"""
    fitness = given.make(1)
    answers = []
    for seed in (0, _SEED, _OTHER_SEED):
        got = _answer(fitness, given.masks, seed)
        for form in (np.full(3, seed, dtype=np.uint64), [seed] * 3, np.uint64(seed)):
            once = _answer(fitness, given.masks[:3], form)
            _same_scores(once, got[:3], given.masks, f"with seed {seed} as {type(form).__name__}")
        answers.append(got)
    differ = any(not same(answer, answers[0]) for answer in answers)
    if _is_fresh(fitness):
        expect(differ, "resample is True, but three seeds gave the same scores")
    else:
        expect(not differ, "resample is False, but the scores depend on the seed")


@CONTRACT.clause
def _resampled(given: Given) -> None:
    """resampled(), where there is one, is None or the same model with folds from the seeds"""
    fitness = given.make(1)
    if not hasattr(fitness, "resampled"):
        return
    fresh = fitness.resampled()
    if fresh is None:
        return
    expect(_is_fresh(fresh), "resampled() has resample=False")
    expect(fresh.n_features == given.n_features, f"resampled() has {fresh.n_features} features")
    answers = [_answer(fresh, given.masks, seed) for seed in (0, _SEED, _OTHER_SEED)]
    expect(
        any(not same(answer, answers[0]) for answer in answers),
        "three seeds gave resampled() the same scores",
    )
    again = given.make(1).resampled()
    _same_scores(_answer(again, given.masks, 0), answers[0], given.masks, "resampled once more,")


@CONTRACT.clause
def _counts_evaluations(given: Given) -> None:
    """n_evaluations, where there is one, counts every mask asked, and none that was refused"""
    fitness = given.make(1)
    if not hasattr(fitness, "n_evaluations"):
        return
    expect(fitness.n_evaluations == 0, f"new, it has counted {fitness.n_evaluations}")
    fitness.evaluate(Masks.from_bool(given.masks))
    _answer(fitness, given.masks[[0, 0, 0]])
    if _is_whole(fitness):
        refused(lambda: fitness.evaluate(Masks.full(given.n_features + 1)), "a mask too wide")
    expected = len(given.masks) + 3
    expect(
        fitness.n_evaluations == expected,
        f"after {expected} masks it has counted {fitness.n_evaluations}",
    )


@CONTRACT.clause
def _refuses_bad_masks(given: Given) -> None:
    """masks of another width, integers and other shapes raise ValueError in one line"""
    fitness = given.make(1)
    if not _is_whole(fitness):
        return
    p = given.n_features
    for masks, what in (
        (Masks.full(p + 1), f"Masks of {p + 1} features"),
        (np.ones((2, p + 1), bool), f"a bool array of {p + 1} columns"),
        (np.ones((2, p), int), "an array of zeros and ones"),
        ([[0]], "a list of indices"),
        (np.ones((1, 1, p), bool), "an array of three dimensions"),
        (np.ones((2, p)), "an array of floats"),
    ):
        for method in (fitness.evaluate, fitness.evaluate_splits):
            said = refused(lambda method=method, masks=masks: method(masks), what)  # type: ignore[misc]
            expect("\n" not in said and said, f"{what} was refused in several lines or none")


@CONTRACT.clause
def _refuses_bad_seeds(given: Given) -> None:
    """seeds that are negative, no integers, too large or too few raise ValueError in one line"""
    fitness = given.make(1)
    if not _is_whole(fitness):
        return
    masks = Masks.from_bool(given.masks[:3])
    for seeds in (
        -1, 2**64, 1.0, True, "1", None, [1, 2], [-1, 0, 1], [0.5, 1.0, 2.0], [[0, 1, 2]],
    ):  # fmt: skip
        what = f"seeds {seeds!r} for 3 masks"
        said = refused(lambda seeds=seeds: fitness.evaluate(masks, seeds), what)  # type: ignore[misc]
        expect("\n" not in said and said, f"{what} were refused in several lines or none")


@CONTRACT.clause
def _takes_bool_arrays(given: Given) -> None:
    """bool arrays of any layout and read-only ones are taken as Masks are, and stay as they were"""
    fitness = given.make(1)
    if not _is_whole(fitness):
        return
    masks, seeds = given.masks.copy(), given.seeds.copy()
    masks.setflags(write=False)
    seeds.setflags(write=False)
    for form in (masks, masks.tolist(), np.asfortranarray(masks), masks[:, ::-1].copy()[:, ::-1]):
        got = fitness.evaluate_splits(form, seeds)
        _same_scores(got, given.alone, masks, f"as {type(form).__name__}")
    got = fitness.evaluate_splits(masks[0], int(seeds[0]))
    _same_scores(got, given.alone[:1], masks[:1], "as one row")
    expect(same(masks, given.masks) and same(seeds, given.seeds), "masks or seeds were written to")


@CONTRACT.clause
def _pickles(given: Given) -> None:
    """a pickled copy answers alike and has the same fingerprint"""
    fitness = given.make(1)
    if not hasattr(fitness, "fingerprint"):
        return
    _answer(fitness, given.masks[:3])
    copy = pickle.loads(pickle.dumps(fitness))
    got = _answer(copy, given.masks, given.seeds)
    _same_scores(got, given.alone, given.masks, "after pickling")
    expect(copy.fingerprint() == fitness.fingerprint(), "pickled, it has another fingerprint")


@CONTRACT.clause
def _fingerprints(given: Given) -> None:
    """a fingerprint is the same for the same data and options, and differs for any others"""
    fitness = given.make(1)
    if not hasattr(fitness, "fingerprint"):
        return
    own = fitness.fingerprint()
    expect(isinstance(own, str) and own, f"fingerprint() is {own!r}, no text")
    _answer(fitness, given.masks)
    expect(fitness.fingerprint() == own, "after an evaluation it has another fingerprint")
    for n_jobs in given.threads:
        expect(given.make(n_jobs).fingerprint() == own, f"n_jobs={n_jobs} has its own fingerprint")
    seen = {own}
    for number, make in enumerate(given.others):
        other = make(1).fingerprint()
        expect(other not in seen, f"number {number} of others has the fingerprint of another")
        seen.add(other)


@CONTRACT.clause
def _says_what_serves_it(given: Given) -> None:
    """kernel is a name or None; where it is None, fallback_reason says why"""
    fitness = given.make(1)
    if not _is_whole(fitness):
        return
    kernel = fitness.kernel
    expect(kernel is None or (isinstance(kernel, str) and kernel), f"kernel is {kernel!r}")
    if hasattr(fitness, "fallback_reason"):
        reason = fitness.fallback_reason
        fits = reason is None if kernel is not None else isinstance(reason, str) and bool(reason)
        expect(fits, f"kernel is {kernel!r} and fallback_reason {reason!r}")
    expect(repr(kernel) in repr(fitness), f"repr does not tell kernel={kernel!r}: {fitness!r}")


@CONTRACT.clause
def _leaves_global_generators(given: Given) -> None:
    """it neither draws from nor seeds the generators that all code shares"""
    with global_generators_untouched():
        _answer(given.make(1), given.masks, given.seeds)


@CONTRACT.clause
def _equals_cross_val_score(given: Given) -> None:
    """on the same splits the score is that of cross_val_score, of the empty mask a dummy's"""
    if given.estimator is None:
        return
    from sklearn import config_context
    from sklearn.base import clone, is_classifier
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import cross_val_score
    from threadpoolctl import threadpool_limits

    fitness = given.make(1)
    X, y = np.asarray(given.X), np.asarray(given.y)
    scorer = check_scoring(given.estimator, scoring=given.scoring)
    found = _answer(fitness, given.masks, given.seeds)
    for mask, seed, got in zip(given.masks, given.seeds, found, strict=True):
        if mask.any():
            estimator, columns = clone(given.estimator), X[:, mask]
        else:
            classifier = is_classifier(given.estimator)
            estimator = DummyClassifier(strategy="prior") if classifier else DummyRegressor()
            columns = X[:, :1]
        splits = fitness.splits(int(seed))
        # Many tiny fits: scikit-learn's own threads would only wait for one another.
        with threadpool_limits(1), config_context(assume_finite=True):
            wanted = cross_val_score(estimator, columns, y, scoring=scorer, cv=splits)
        expect(
            np.allclose(got, wanted, rtol=given.rtol, atol=1e-12),
            f"the scores of {_named(mask)} under seed {seed} are {got}, cross_val_score gives "
            f"{wanted}",
        )
