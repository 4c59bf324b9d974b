"""What an answer must not depend on: history, batch, threads, form of the masks, process."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tables
import twin_knn
from each import each
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

import bitsieve
from bitsieve import Masks, _core
from bitsieve.fitness import Fitness, compile
from bitsieve.fitness.describe import describe

N, P = 65, 150
KINDS = ("scales", "close", "integers", "outlier")


def _data(kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return tables.table(kind, rng, N, P), np.arange(N) % 3


def _fitness(kind: str, k: int = 1, **options) -> Fitness:
    return compile(KNeighborsClassifier(k), *_data(kind), **{"cv": 5, "n_jobs": 1, **options})


def _masks(seed: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([tables.masks(rng, P), rng.random((12, P)) < 0.95, tables.masks(rng, P)])


def _alone(kind: str, masks: np.ndarray, k: int = 1, **options) -> np.ndarray:
    """Each mask asked of a fitness that knows nothing yet."""
    return np.concatenate([_fitness(kind, k, **options).evaluate_splits(mask) for mask in masks])


@each("k", [1, 3])
@each("kind", KINDS)
def test_history_order_and_size_of_batches(kind: str, k: int) -> None:
    masks = _masks()
    expected = _alone(kind, masks, k)
    fitness = _fitness(kind, k)
    rng = np.random.default_rng(3)
    for size in (1, 2, 3, 7, len(masks)):
        order = rng.permutation(len(masks))
        for start in range(0, len(masks), size):
            part = order[start : start + size]
            np.testing.assert_array_equal(fitness.evaluate_splits(masks[part]), expected[part])
        # A walk of close masks makes the kept state worth its keep.
        walk = np.tile(masks[order[0]], (6, 1))
        walk[np.arange(6), rng.integers(0, P, 6)] ^= True
        for mask in walk:
            fitness.evaluate(mask)


@each("n_jobs", [1, 2, 3])
@each("kind", KINDS)
def test_threads(kind: str, n_jobs: int) -> None:
    masks = _masks()
    expected = _alone(kind, masks)
    fitness = _fitness(kind, n_jobs=n_jobs)
    for _ in range(3):
        np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
    base = masks[5]
    np.testing.assert_array_equal(
        fitness.evaluate_splits(Masks.neighbors(base, P)),
        _fitness(kind).evaluate_splits(base ^ np.eye(P, dtype=bool)),
    )


def test_instruction_sets_mix() -> None:
    """A state made under one instruction set serves the others."""
    masks = _masks()
    before = bitsieve.get_isa()
    fitness = _fitness("scales")
    answers = []
    try:
        for name in bitsieve.available_isas() * 2:
            bitsieve.set_isa(name)
            answers.append(fitness.evaluate_splits(masks))
            answers.append(_fitness("scales").evaluate_splits(masks))
    finally:
        bitsieve.set_isa(before)
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])


FORK = """
    import os, sys, numpy as np
    from sklearn.neighbors import KNeighborsClassifier
    from bitsieve import Masks
    from bitsieve.fitness import compile

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(171, 900)), np.arange(171) % 3
    masks = rng.random((24, 900)) < 0.5
    fitness = compile(KNeighborsClassifier(1), X, y, cv=5, n_jobs=3)
    expected = fitness.evaluate_splits(masks)  # the pool has worked
    near = fitness.evaluate_splits(Masks.neighbors(masks[0], 900))
    for generation in range(3):  # children of children
        pid = os.fork()
        if pid:
            _, status = os.waitpid(pid, 0)
            again = np.array_equal(fitness.evaluate_splits(masks), expected)
            os._exit(0 if again and os.waitstatus_to_exitcode(status) == 0 else 1)
        if not np.array_equal(fitness.evaluate_splits(masks), expected):
            os._exit(2)
        if not np.array_equal(fitness.evaluate_splits(Masks.neighbors(masks[0], 900)), near):
            os._exit(3)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_after_a_fork() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORK)],
        timeout=120,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)


@each(
    "options",
    [
        {},
        {"cv": 3, "n_repeats": 4, "random_state": 5},
        {"cv": 3, "n_repeats": 4},
        {"cv": StratifiedKFold(3, shuffle=True)},
        {"cv": ShuffleSplit(4, random_state=np.random.RandomState(0))},
        {"cv": 3, "n_repeats": 2, "random_state": np.random.RandomState(0)},
        {"resample": True, "n_repeats": 2},
        {"scoring": "f1_macro"},
        {"scoring": "balanced_accuracy", "k": 5},
    ],
)
def test_after_pickling(options: dict) -> None:
    """The copy answers alike, also where the splits were drawn without a seed."""
    fitness = _fitness("integers", **options)
    masks = _masks()
    expected = fitness.evaluate_splits(masks, 9)
    copy = pickle.loads(pickle.dumps(fitness))
    np.testing.assert_array_equal(copy.evaluate_splits(masks, 9), expected)
    assert (copy.kernel, copy.n_splits) == (fitness.kernel, fitness.n_splits)
    assert copy.fingerprint() == fitness.fingerprint()


def test_splits_from_a_generator_pickle() -> None:
    X, y = _data("integers")
    folds = list(StratifiedKFold(4).split(X, y))
    fitness = compile(KNeighborsClassifier(1), X, y, cv=(fold for fold in folds))
    expected = fitness.evaluate_splits(_masks())
    np.testing.assert_array_equal(
        expected, compile(KNeighborsClassifier(1), X, y, cv=folds).evaluate_splits(_masks())
    )
    copy = pickle.loads(pickle.dumps(fitness))
    np.testing.assert_array_equal(copy.evaluate_splits(_masks()), expected)


@each("dtype", [np.float64, np.float32, np.int16])
def test_x_is_neither_written_nor_copied_in_meaning(dtype: type) -> None:
    rng = np.random.default_rng(8)
    values = (100 * rng.normal(size=(40, 30))).astype(dtype)
    y = np.arange(40) % 2
    y.setflags(write=False)
    masks = rng.random((10, 30)) < 0.5
    splits = [(np.arange(20), np.arange(20, 40))]
    expected = twin_knn.evaluate_splits(values, y, masks, splits, 3)
    for X in (values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2]):
        before = X.copy()
        X.setflags(write=False)
        fitness = compile(KNeighborsClassifier(3), X, y, cv=splits)
        np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
        np.testing.assert_array_equal(X, before)
    masks.setflags(write=False)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


def test_arguments_stay_as_they_are() -> None:
    estimator = KNeighborsClassifier(3)
    before = dict(estimator.__dict__)
    compile(estimator, *_data("integers")).evaluate(_masks())
    assert estimator.__dict__ == before


def test_fingerprint_of_a_callable_scorer_knows_no_address() -> None:
    """Else no other process would know the fitness again."""
    X, y = _data("integers")
    source = "def right(estimator, X, y):\n    return float((estimator.predict(X) == y).mean())"
    prints = set()
    for _ in range(2):
        module = {"__name__": "scorers"}
        exec(source, module)
        prints.add(compile(KNeighborsClassifier(1), X, y, scoring=module["right"]).fingerprint())
    assert len(prints) == 1


def test_sets_are_described_alike_in_whatever_order_they_lie() -> None:
    """Strings have another hash in each process, and sets of them another order."""
    one, other = frozenset((0, 8)), frozenset((8, 0))
    assert repr(one) != repr(other)
    assert describe(one) == describe(other) != describe((0, 8))
    assert describe(lambda x: x in {0, 8}) == describe(lambda x: x in {8, 0})
    assert describe(lambda x: x in {0, 8}) != describe(lambda x: x in {0, 9})


def test_scorers_of_one_scope_have_their_own_fingerprints() -> None:
    def scorer(sign: int):
        return lambda estimator, X, y: sign * estimator.score(X, y)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    prints = {
        compile(KNeighborsClassifier(1), X, y, scoring=scorer(sign)).fingerprint()
        for sign in (1, -1, 1)
    }
    assert len(prints) == 2


class Nameless:
    def score(self, estimator, X, y):
        return estimator.score(X, y)


def test_a_scorer_known_by_its_address_has_no_fingerprint() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    fitness = compile(KNeighborsClassifier(1), X, y, scoring=Nameless().score)
    assert fitness.evaluate(np.ones((1, 4), bool))[0] >= 0
    with pytest.raises(ValueError, match=r"a checkpoint must recognise .*Nameless"):
        fitness.fingerprint()


def test_a_fork_during_an_evaluation_leaves_the_child_a_working_fitness() -> None:
    script = """
import os, threading, time
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from bitsieve.fitness import compile

rng = np.random.default_rng(0)
X, y = rng.normal(size=(200, 3000)), np.arange(200) % 2
fitness = compile(KNeighborsClassifier(1), X, y, n_jobs=2)
mask = rng.random((1, 3000)) < 0.5
truth = fitness.evaluate(mask)[0]
masks = rng.random((400, 3000)) < 0.5
thread = threading.Thread(target=fitness.evaluate, args=(masks,))
thread.start()
for _ in range(5):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        os._exit(0 if fitness.evaluate(mask)[0] == truth else 1)
    end = time.monotonic() + 20
    while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, 9)
            raise SystemExit("the child hangs")
        time.sleep(0.01)
    assert done[1] == 0, done
thread.join()
"""
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_words_past_the_last_feature_are_refused_everywhere() -> None:
    rng = np.random.default_rng(0)
    fitness = compile(KNeighborsClassifier(1), rng.normal(size=(30, 5)), np.arange(30) % 2)
    core, past = fitness._core, np.array([2**64 - 1], dtype=np.uint64)
    none, seeds = np.empty(0, np.int64), np.zeros(1, np.uint64)
    score = _core.Score("accuracy")
    with pytest.raises(ValueError, match="past the last feature"):
        core.state(past)
    with pytest.raises(ValueError, match="past the last feature"):
        core.evaluate_flips(past, none, np.zeros(2, np.int64), seeds, score, 1)
    with pytest.raises(ValueError, match="past the last feature"):
        core.evaluate(past[None], seeds, score, 1)


@each("power", [-58, -62, -66])
def test_flushing_denormals_to_zero_changes_no_answer(power: int) -> None:
    torch = pytest.importorskip("torch", reason="sets the flag of the processor")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)), np.arange(60) % 3
    masks = rng.random((40, 40)) < 0.5
    truth = compile(KNeighborsClassifier(1), X, y, n_jobs=1).evaluate(masks)
    fitness = compile(KNeighborsClassifier(1), X * 2.0**power, y, n_jobs=1)
    if not torch.set_flush_denormal(True):
        pytest.skip("the processor does not flush denormals")
    try:
        scores = fitness.evaluate(masks)
    finally:
        torch.set_flush_denormal(False)
    assert np.array_equal(scores, truth)
