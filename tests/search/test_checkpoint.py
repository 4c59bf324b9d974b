"""Checkpoints: a run that goes on is the run that never stopped."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
import zipfile

import numpy as np
import pytest
from each import each
from test_run import Interrupted, same_but_for_seconds, spsa_run
from toys import Planted, Scripted, planted

from bitsieve import _checkpoint as module
from bitsieve._checkpoint import CheckpointStore, fingerprint
from bitsieve._errors import CheckpointMismatch
from bitsieve.search import BinarySPSASearch, run
from bitsieve.search.final import Deadline

P = 150


def toy(**options):
    return Planted(planted(P), noise=0.1, **options)


def assert_same_run(a, b):
    same_but_for_seconds(a.history, b.history)
    assert a.mask == b.mask
    assert (a.best_score, a.best_observed_score) == (b.best_score, b.best_observed_score)
    assert (a.n_evaluations, a.n_iterations, a.seed) == (b.n_evaluations, b.n_iterations, b.seed)
    # By their words, in which every digit stands and NaN equals NaN.
    assert [(f.mask.key(0), repr(f)) for f in a.finalists] == [
        (f.mask.key(0), repr(f)) for f in b.finalists
    ]


def the_file(directory):
    files = [path for path in directory.iterdir() if path.suffix == ".npz"]
    assert len(files) == 1
    return files[0]


# -- going on --------------------------------------------------------------------------------------


@each("folds", ["common", "independent"])
@each("resample", [True, False])
def test_interrupted_anywhere_it_ends_the_same(tmp_path, folds, resample):
    tmp_path = tmp_path / f"{folds}-{resample}"

    def go(fitness, **options):
        search = BinarySPSASearch(P)
        return run(
            search, fitness, max_iter=60, folds=folds, random_state=3, progress=False, **options
        )

    whole = go(toy(resample=resample))
    rng = np.random.default_rng(0)
    done = 0
    while done < 60:
        at = int(rng.integers(1, 15))
        fitness = Interrupted(planted(P), noise=0.1, resample=resample, at=at)
        try:
            result = go(fitness, checkpoint=tmp_path)
        except KeyboardInterrupt as stop:
            partial = stop.partial_result
            assert partial.n_iterations >= min(60, done + (at if resample else 0))
            done = partial.n_iterations
        else:
            break
    result = go(toy(resample=resample), checkpoint=tmp_path)
    assert result.resumed_at == 60
    assert_same_run(result, whole)
    assert sorted(p.name for p in tmp_path.iterdir()) == [the_file(tmp_path).name]


def test_any_error_leaves_a_checkpoint(tmp_path):
    class Fails(Planted):
        def evaluate(self, masks, seeds=0):
            if len(self.calls) == 10:
                raise MemoryError
            return super().evaluate(masks, seeds)

    with pytest.raises(MemoryError):
        spsa_run(Fails(planted(P), noise=0.1), checkpoint=tmp_path)
    result = spsa_run(toy(), checkpoint=tmp_path)
    assert result.resumed_at == 10
    assert_same_run(result, spsa_run(toy()))


def test_a_turn_is_whole_or_it_never_was(tmp_path):
    # Struck between tell and the history, the loop keeps the file from before.
    class Struck(BinarySPSASearch):
        def tell(self, masks, scores):
            super().tell(masks, scores)
            if self.state()["iteration"] == 8:
                raise KeyboardInterrupt

    def go(search, **options):
        return run(search, toy(), max_iter=20, random_state=0, progress=False, **options)

    class Same(BinarySPSASearch):
        pass

    Same.__qualname__ = Struck.__qualname__
    with pytest.raises(KeyboardInterrupt) as caught:
        go(Struck(P), checkpoint=tmp_path)
    assert caught.value.partial_result.n_iterations == 7
    result = go(Same(P), checkpoint=tmp_path)
    assert 1 <= result.resumed_at <= 7
    assert_same_run(result, go(Same(P)))


def test_a_finished_run_is_given_back_without_an_evaluation(tmp_path):
    first = spsa_run(toy(), checkpoint=tmp_path)
    fitness = toy()
    began = time.perf_counter()
    second = spsa_run(fitness, checkpoint=tmp_path)
    assert time.perf_counter() - began < 1.0
    assert fitness.calls == []
    assert_same_run(first, second)
    assert second.stop_reason == first.stop_reason == {"max_iter": 50}
    assert (first.resumed_at, second.resumed_at) == (0, 50)
    assert second.checkpoint == first.checkpoint == str(the_file(tmp_path))
    np.testing.assert_array_equal(first.history["seconds"], second.history["seconds"])


@each(
    "limits",
    [
        {"patience": 4},
        {"max_evaluations": 50},
        {"max_time": 0.05},
        {"max_iter": 30, "callbacks": [lambda at: at.iteration == 9]},
    ],
)
def test_however_it_finished_it_is_given_back(tmp_path, limits):
    tmp_path = tmp_path / "-".join(limits)
    limits = {"max_iter": None, **limits}
    first = spsa_run(toy(), checkpoint=tmp_path, **limits)
    fitness = toy()
    second = spsa_run(fitness, checkpoint=tmp_path, **limits)
    assert fitness.calls == []
    assert_same_run(first, second)
    assert second.stop_reason == first.stop_reason
    assert second.seconds >= first.history["seconds"][-1]


@each("kept", [(1, 1), (1, 7), (3, 2), (10, 4)])
def test_with_finalists_left_out_for_want_of_time_it_is_given_back(tmp_path, monkeypatch, kept):
    tmp_path = tmp_path / str(kept)
    monkeypatch.setattr(Deadline, "affordable", lambda *_: kept)
    first = spsa_run(toy(), checkpoint=tmp_path, max_time=1e6)
    assert (len(first.finalists), first.final_cut is None) == (kept[0], False)
    fitness = toy()
    second = spsa_run(fitness, checkpoint=tmp_path, max_time=1e6)
    assert fitness.calls == []
    assert_same_run(first, second)
    assert second.final_cut == first.final_cut


def test_a_run_that_a_callback_stopped_goes_on_without_it(tmp_path):
    stopped = spsa_run(toy(), checkpoint=tmp_path, callbacks=[lambda at: at.iteration == 9])
    assert stopped.n_iterations == 10
    whole = spsa_run(toy(), checkpoint=tmp_path)
    assert whole.resumed_at == 10
    assert_same_run(whole, spsa_run(toy()))


def test_raised_limits_go_on(tmp_path):
    spsa_run(toy(), checkpoint=tmp_path, max_iter=20)
    longer = spsa_run(toy(), checkpoint=tmp_path, max_iter=45)
    assert longer.resumed_at == 20
    assert_same_run(longer, spsa_run(toy(), max_iter=45))


@each("limits", [{"max_iter": 20}, {"max_evaluations": 70}, {"max_iter": 1000, "patience": 3}])
def test_lowered_limits_begin_anew(tmp_path, limits):
    tmp_path = tmp_path / "-".join(limits)
    spsa_run(toy(), checkpoint=tmp_path, max_iter=45)
    with pytest.warns(RuntimeWarning, match="begins anew"):
        shorter = spsa_run(toy(), checkpoint=tmp_path, **limits)
    assert shorter.resumed_at == 0
    assert_same_run(shorter, spsa_run(toy(), **limits))


@each("random_state", [0, None])
@each("limits", [{"max_iter": 10}, {"max_evaluations": 70}])
def test_lowered_limits_leave_the_longer_file_alone(tmp_path, limits, random_state):
    tmp_path = tmp_path / f"{next(iter(limits))}-{random_state}"
    options = {"checkpoint": tmp_path, "random_state": random_state}
    long = spsa_run(toy(), max_iter=45, **options)
    before = the_file(tmp_path).read_bytes()
    with pytest.warns(RuntimeWarning, match="holds 45 iterations, more than these") as caught:
        shorter = spsa_run(toy(), **options, **limits)
    assert the_file(tmp_path).read_bytes() == before
    assert shorter.checkpoint is None
    assert len(caught) == 1
    assert str(the_file(tmp_path)) in str(caught[0].message)
    again = spsa_run(toy(), max_iter=45, **options)
    assert again.resumed_at == 45
    assert_same_run(again, long)


def test_an_interrupted_run_under_lowered_limits_leaves_the_longer_file_alone(tmp_path):
    spsa_run(toy(), checkpoint=tmp_path, max_iter=45)
    before = the_file(tmp_path).read_bytes()
    fitness = Interrupted(planted(P), noise=0.1, at=5)
    with pytest.raises(KeyboardInterrupt), pytest.warns(RuntimeWarning, match="leaves the file"):
        spsa_run(fitness, checkpoint=tmp_path, max_iter=20)
    assert the_file(tmp_path).read_bytes() == before


def test_resume_false_begins_anew(tmp_path):
    spsa_run(toy(), checkpoint=tmp_path)
    fitness = toy()
    result = spsa_run(fitness, checkpoint=tmp_path, resume=False)
    assert result.resumed_at == 0
    assert fitness.n_evaluations == result.n_evaluations + result.n_final_evaluations


def test_a_drawn_seed_is_stored_and_taken_again(tmp_path):
    first = spsa_run(toy(), random_state=None, checkpoint=tmp_path, max_iter=20)
    again = spsa_run(toy(), random_state=None, checkpoint=tmp_path, max_iter=40)
    assert again.seed == first.seed
    assert again.resumed_at == 20
    assert_same_run(again, spsa_run(toy(), random_state=first.seed, max_iter=40))
    assert spsa_run(toy(), random_state=None, max_iter=20).seed != first.seed


def test_seconds_add_up_over_sessions(tmp_path):
    slow = Interrupted(planted(P), noise=0.1, sleep=0.01, at=20)
    with pytest.raises(KeyboardInterrupt):
        spsa_run(slow, checkpoint=tmp_path)
    result = spsa_run(toy(), checkpoint=tmp_path, max_iter=None, max_time=0.1)
    assert result.n_iterations == 20  # its time was spent before
    assert result.stop_reason == {"max_time": 0.1}


# -- one directory, many runs ----------------------------------------------------------------------


def test_other_problems_are_other_files(tmp_path):
    options = [
        ({}, {}, {}),
        ({"noise": 0.2}, {}, {}),
        ({}, {"c": 0.06}, {}),
        ({}, {"n_features_to_select": 20}, {}),
        ({}, {"start": np.linspace(0.46, 0.54, P)}, {}),
        ({}, {"admit_perturbed": True}, {}),
        ({}, {}, {"random_state": 1}),
        ({}, {}, {"random_state": None}),
        ({}, {}, {"folds": "independent"}),
        ({}, {}, {"n_finalists": 3}),
        ({}, {}, {"n_final_measurements": 3}),
    ]
    for n, (of_fitness, of_search, of_run) in enumerate(options, start=1):
        fitness = Planted(planted(P), **{"noise": 0.1, **of_fitness})
        settings = {"max_iter": 5, "random_state": 0, "progress": False, **of_run}
        result = run(BinarySPSASearch(P, **of_search), fitness, checkpoint=tmp_path, **settings)
        assert result.resumed_at == 0
        assert len(list(tmp_path.iterdir())) == n


def test_other_versions_are_other_files(tmp_path, monkeypatch):
    spsa_run(toy(), checkpoint=tmp_path)
    monkeypatch.setattr(module, "__version__", "0.0.0")
    assert spsa_run(toy(), checkpoint=tmp_path).resumed_at == 0
    assert len(list(tmp_path.iterdir())) == 2


def test_threads_in_one_directory_never_meet(tmp_path):
    results = {}

    def work(i):
        fitness = Planted(planted(P, seed=i), noise=0.1, sleep=0.001)
        for max_iter in (10, 25):
            results[i] = spsa_run(fitness, checkpoint=tmp_path, max_iter=max_iter)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, result in results.items():
        assert result.resumed_at == 10
        assert_same_run(result, spsa_run(Planted(planted(P, seed=i), noise=0.1), max_iter=25))
    assert len(list(tmp_path.iterdir())) == 6


def test_the_same_run_twice_at_once(tmp_path):
    # Both write the same file, whole each time, with the same history.
    results = []

    def work():
        results.append(spsa_run(toy(sleep=0.001), checkpoint=tmp_path))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        assert_same_run(result, results[0])
    assert spsa_run(toy(), checkpoint=tmp_path).resumed_at == 50


def test_fingerprint_sees_names_types_and_values():
    parts = [
        {"a": 1},
        {"a": 2},
        {"a": 1.0},
        {"a": "1"},
        {"b": 1},
        {"a": None},
        {"a": {"b": 1}},
        {"a": {}, "b": 1},
        {"a": np.array([1])},
        {"a": np.array([1.0])},
        {"a": np.array([[1]])},
    ]
    assert len({fingerprint(p) for p in parts}) == len(parts)
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": np.int64(1)})


# -- files that are not what they should be --------------------------------------------------------


def rewrite(path, **changes):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(members["meta.json"])
    members["meta.json"] = json.dumps({**meta, **changes}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_byte(path):
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    path.write_bytes(raw)


@each(
    ("damage", "message"),
    [
        (truncate, "is damaged or is not a checkpoint"),
        (flip_a_byte, "is damaged or is not a checkpoint"),
        (lambda path: path.write_bytes(b""), "is damaged or is not a checkpoint"),
        (lambda path: path.write_text("hello"), "is damaged or is not a checkpoint"),
        (lambda path: np.savez(path, a=np.zeros(3)), "is damaged or is not a checkpoint"),
        (lambda path: rewrite(path, schema=99), "has schema 99, this version reads 2"),
        (lambda path: rewrite(path, fingerprint="abc"), "written by another run .*'abc'.*renamed"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path, damage, message):
    spsa_run(toy(), checkpoint=tmp_path)
    path = the_file(tmp_path)
    damage(path)
    with pytest.raises(CheckpointMismatch, match=message) as caught:
        spsa_run(toy(), checkpoint=tmp_path)
    assert str(path) in str(caught.value)
    assert "resume=False" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert spsa_run(toy(), checkpoint=tmp_path, resume=False).resumed_at == 0
    assert spsa_run(toy(), checkpoint=tmp_path).resumed_at == 50


def test_nothing_is_pickled(tmp_path):
    spsa_run(toy(), checkpoint=tmp_path)
    with zipfile.ZipFile(the_file(tmp_path)) as archive:
        meta = json.loads(archive.read("meta.json"))
    assert meta["schema"] == 2
    with np.load(the_file(tmp_path), allow_pickle=False) as archive:
        for name in archive.files:
            if name != "meta.json":
                assert archive[name].dtype.kind in "iuf"


def test_a_directory_that_cannot_be(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ValueError, match=r"checkpoint must name a directory .*file"):
        spsa_run(toy(), checkpoint=file)
    made = tmp_path / "a" / "b"
    assert spsa_run(toy(), checkpoint=str(made)).checkpoint == str(the_file(made))


def test_a_fitness_without_a_fingerprint(tmp_path):
    class Nameless(Planted):
        fingerprint = None

    with pytest.raises(ValueError, match=r"Nameless has no fingerprint\(\)"):
        spsa_run(Nameless(planted(P)), checkpoint=tmp_path)
    spsa_run(Nameless(planted(P)))


# -- a disk that refuses ---------------------------------------------------------------------------


def test_ctrl_c_while_a_checkpoint_is_packed_is_ctrl_c(tmp_path, monkeypatch):
    whole = spsa_run(toy(), max_iter=20)
    pack, strikes = np.savez, [True]

    def struck(buffer, **arrays):
        if strikes:
            strikes.clear()
            with zipfile.ZipFile(buffer, "w") as archive:
                archive.open("half.npy", "w")
                raise KeyboardInterrupt  # close() finds the open member and raises a ValueError
        pack(buffer, **arrays)

    monkeypatch.setattr(np, "savez", struck)
    with pytest.raises(KeyboardInterrupt) as caught:
        spsa_run(toy(), max_iter=20, checkpoint=tmp_path)
    assert caught.value.partial_result.n_iterations == 1
    assert_same_run(spsa_run(toy(), max_iter=20, checkpoint=tmp_path), whole)


def test_a_full_disk_costs_the_checkpoint_but_not_the_run(tmp_path, monkeypatch):
    spsa_run(toy(), checkpoint=tmp_path, max_iter=10)
    before = the_file(tmp_path).read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr("bitsieve.search.loop._CHECKPOINT_PERIOD", 0.0)
    monkeypatch.setattr("bitsieve.search.loop._CHECKPOINT_SHARE", 0.0)
    refused = r"cannot write checkpoints in .*No space left"
    with pytest.warns(RuntimeWarning, match=refused) as caught:
        result = spsa_run(toy(), checkpoint=tmp_path)
    assert len(caught) == 1
    assert result.checkpoint is None
    assert_same_run(result, spsa_run(toy()))
    # The old file is whole, and no temporary one is left.
    assert the_file(tmp_path).read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_written_once_a_second_at_most(tmp_path, monkeypatch):
    times = []
    save = CheckpointStore.save
    monkeypatch.setattr(
        CheckpointStore, "save", lambda *a: (times.append(time.perf_counter()), save(*a))[1]
    )
    spsa_run(
        toy(sleep=0.002),
        checkpoint=tmp_path,
        max_iter=None,
        max_time=2.5,
        n_finalists=1,
        n_final_measurements=1,
    )
    # After the first iteration, once a second, and at the end.
    assert 3 <= len(times) <= 4
    assert np.diff(times[:-1]).min() >= 1.0


def test_leftovers_of_the_killed_are_removed(tmp_path):
    path = spsa_run(toy(), checkpoint=tmp_path).checkpoint
    stem = os.path.basename(path).removesuffix(".npz")
    old, new = (tmp_path / f".{stem}.{name}.tmp" for name in ("old", "new"))
    other = tmp_path / ".run-other.x.tmp"
    for leftover in (old, new, other):
        leftover.write_text("")
    for leftover in (old, other):
        os.utime(leftover, (0, 0))
    spsa_run(toy(), checkpoint=tmp_path)
    assert [old.exists(), new.exists(), other.exists()] == [False, True, True]


def test_a_search_without_seed(tmp_path):
    asks = [[[1, 0, 0]], [[1, 1, 0]], [[1, 1, 1]]]
    first = run(Scripted(asks), Planted([1, 1, 1]), max_iter=2, checkpoint=tmp_path, random_state=0)
    second = run(Scripted(asks), Planted([1, 1, 1]), checkpoint=tmp_path, random_state=0)
    assert (first.n_iterations, second.resumed_at, second.n_iterations) == (2, 2, 3)
