"""State, checkpoints and interrupts: what goes on has the bits of what never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trainings import PLAIN, make, same  # noqa: E402

import bitsieve  # noqa: E402
from bitsieve._errors import CheckpointMismatch  # noqa: E402
from bitsieve.gates import checkpoint as module  # noqa: E402
from bitsieve.gates.checkpoint import TrainingStore  # noqa: E402

KINDS = (
    {"kind": "stg", "validated": True, "patience": 50},
    {**PLAIN, "validated": True, "patience": 50},
    {"kind": "pefs", "optimizer": "sgd"},
)


def test_both_ways_to_gradients_are_among_them():
    assert [make(**options)._learner.plain is not None for options in KINDS] == [False, True, False]


def test_a_state_within_an_epoch_goes_on():
    for options in KINDS:
        whole = make(**options).run(4)
        for step in (1, 3, 5, 8):
            stopped = make(**options).run(max_steps=step)
            # Early stopping ends every run with the best weights; the state is from before.
            other = make(**options)
            other.set_state(_state_at(step, options))
            assert other.step == stopped.step == step
            same(other.run(max_epochs=4), whole)
            assert other.history.keys() == whole.history.keys()


def _state_at(step, options):
    """The state after a step, as a checkpoint takes it."""
    found = []

    class Store:
        def is_due(self):
            return True

        def save(self, training):
            if training.step == step:
                found.append(training.state())

    make(**options).run(4, store=Store())
    return found[0]


def test_states_of_others_are_refused():
    state = make().run(2).state()
    with pytest.raises(ValueError, match="of the seed 3, expected 4"):
        make(key=4).set_state(state)
    with pytest.raises(ValueError, match=r"weight is float32 of shape \(6, 5\), expected"):
        make(hidden=(7,)).set_state(state)
    with pytest.raises(ValueError, match="do not belong together"):
        make().set_state({**state, "step": np.array(5)})
    with pytest.raises(ValueError, match="named otherwise"):
        make(hidden=(5, 5)).set_state(state)


def interrupt_at(training, place, count):
    """Strike when a function is called for the count-th time: before it, or after it."""
    owner, name, when = place
    inner, calls = getattr(owner(training), name), []

    def struck(*args, **kwargs):
        calls.append(1)
        if len(calls) == count and when == "before":
            signal.raise_signal(signal.SIGINT)
        found = inner(*args, **kwargs)
        if len(calls) == count and when == "after":
            signal.raise_signal(signal.SIGINT)
        return found

    setattr(owner(training), name, struck)


PLACES = (
    (lambda t: t.gates, "sample", "before"),
    (lambda t: t.loss, "of_draws", "after"),
    (lambda t: t.loss, "gradient", "after"),
    (lambda t: t._optimizer, "step", "before"),
    (lambda t: t._optimizer, "step", "after"),
    (lambda t: t.gates, "learn", "after"),
    (lambda t: t, "_finish_epoch", "before"),
    (lambda t: t, "_loss_of", "before"),
    (lambda t: t._best, "keep", "after"),
    (lambda t: t._history, "append", "before"),
    (lambda t: t, "_ends", "before"),
)


def test_ctrl_c_anywhere_and_on_it_goes(tmp_path):
    for number, options in enumerate(KINDS):
        whole = make(**options).run(4)
        for count in (2, 5):
            for which, place in enumerate(PLACES):
                training = make(**options)
                parts = {"run": f"{number} {count} {which}"}
                try:
                    interrupt_at(training, place, count)
                    training.run(max_epochs=4, store=TrainingStore(tmp_path, parts))
                except KeyboardInterrupt:
                    assert training.stop_reason == {"interrupted": True}
                resumed = make(**options)
                assert TrainingStore(tmp_path, parts).restore(resumed)
                assert resumed.step == training.step
                same(resumed.run(max_epochs=4), whole)


def test_an_interrupt_waits_for_the_end_of_the_step():
    for options in ({}, PLAIN):
        training = make(**options)
        interrupt_at(training, (lambda t: t._optimizer, "step", "before"), 5)
        with pytest.raises(KeyboardInterrupt):
            training.run(4)
        same(training, make(**options).run(max_steps=5))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_leaves_the_best_epoch():
    for options in ({}, PLAIN):
        training = make(**options, validated=True, patience=100, learning_rate=0.3)
        interrupt_at(training, (lambda t: t.gates, "sample", "before"), 62)
        with pytest.raises(KeyboardInterrupt):
            training.run(100)
        assert training.epoch == 20
        best = min(training.history["validation_loss"])
        assert training.loss_of(training.validation) == best


def test_an_error_within_a_step_leaves_the_last_file(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PERIOD", 0.0)
    monkeypatch.setattr(module, "_SHARE", 0.0)
    training = make()
    inner, calls = training.loss.of_draws, []

    def of_draws(outputs, target, weight):
        calls.append(1)
        if len(calls) == 5:  # batch normalisation has learnt of it by now
            raise RuntimeError("out of memory")
        return inner(outputs, target, weight)

    training.loss.of_draws = of_draws
    with pytest.raises(RuntimeError, match="out of memory"):
        training.run(4, store=TrainingStore(tmp_path, {}))
    resumed = make()
    assert TrainingStore(tmp_path, {}).restore(resumed)
    assert resumed.step == 4
    same(resumed.run(max_epochs=4), make().run(4))


def test_raised_limits_go_on_and_lower_ones_begin_anew(tmp_path):
    options = {"validated": True, "patience": 50, "learning_rate": 0.3}
    first = make(**options).run(max_epochs=3, store=TrainingStore(tmp_path, {}))
    more, store = make(**options), TrainingStore(tmp_path, {})
    assert store.restore(more, max_epochs=6)
    assert more.epoch == first.epoch
    same(more.run(max_epochs=6, store=store), make(**options).run(6))
    fewer, store = make(**options), TrainingStore(tmp_path, {})
    file = next(tmp_path.glob("training-*.npz"))
    before = file.read_bytes()
    with pytest.warns(RuntimeWarning, match="6 epochs .* begins anew and leaves the file alone"):
        assert not store.restore(fewer, max_epochs=2)
    same(fewer.run(max_epochs=2, store=store), make(**options).run(2))
    assert store.path is None
    assert file.read_bytes() == before


def test_resume_can_be_declined_and_the_key_is_known_before(tmp_path):
    make().run(max_epochs=2, store=TrainingStore(tmp_path, {}))
    assert TrainingStore(tmp_path, {}).stored_key == 3
    declined = TrainingStore(tmp_path, {}, resume=False)
    assert declined.stored_key is None
    assert not declined.restore(make())
    assert not TrainingStore(tmp_path, {"other": 1}).restore(make())


def test_what_the_caller_keeps_beside_comes_back(tmp_path):
    store = TrainingStore(tmp_path, {})
    store.beside = {"stage": np.array(3), "sizes": np.array([5, 4])}
    make().run(max_epochs=2, store=store)
    other = TrainingStore(tmp_path, {})
    assert other.restore(make())
    assert other.beside["stage"] == 3
    assert other.beside["sizes"].tolist() == [5, 4]


def test_files_of_others_are_refused(tmp_path):
    make().run(max_epochs=2, store=TrainingStore(tmp_path, {}))
    store = TrainingStore(tmp_path, {})
    with pytest.raises(CheckpointMismatch, match="holds what no such training writes"):
        store.restore(make(hidden=(9,)))
    file = next(tmp_path.glob("training-*.npz"))
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(CheckpointMismatch, match="is damaged"):
        TrainingStore(tmp_path, {})


def test_callbacks_are_asked_once_about_an_epoch_after_a_resume(tmp_path):
    seen, parts = [], {}
    training = make()
    interrupt_at(training, (lambda t: t.gates, "sample", "before"), 7)
    with pytest.raises(KeyboardInterrupt):
        training.run(
            max_epochs=4,
            callbacks=[lambda t: seen.append(t.epoch)],
            store=TrainingStore(tmp_path, parts),
        )
    resumed, store = make(), TrainingStore(tmp_path, parts)
    store.restore(resumed)
    resumed.run(max_epochs=4, callbacks=[lambda t: seen.append(t.epoch)], store=store)
    assert seen == [1, 2, 3, 4]


def test_what_a_callback_ended_has_ended(tmp_path):
    seen = []

    def third(training):
        seen.append(training.epoch)
        return training.epoch == 3

    whole = make().run(max_epochs=9, after_epoch=third, store=TrainingStore(tmp_path, {}))
    resumed, store = make(), TrainingStore(tmp_path, {})
    store.restore(resumed)
    resumed.run(max_epochs=9, after_epoch=third, store=store)
    assert seen == [1, 2, 3]
    assert resumed.stop_reason == {"callback": True}
    same(resumed, whole)
    # In the same process, or for one who has no callback, the next run goes on.
    assert whole.run(1, third).epoch == 4
    other = make()
    TrainingStore(tmp_path, {}).restore(other)
    assert other.run(max_epochs=5).epoch == 5
    assert seen == [1, 2, 3, 4]


def test_an_error_within_a_plain_step_leaves_the_last_file(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PERIOD", 0.0)
    monkeypatch.setattr(module, "_SHARE", 0.0)
    training = make(**PLAIN)
    inner, calls = training.loss.gradient, []

    def gradient(*args):
        calls.append(1)
        if len(calls) == 5:  # rows have been brought up to date by now
            raise RuntimeError("out of memory")
        return inner(*args)

    training.loss.gradient = gradient
    with pytest.raises(RuntimeError, match="out of memory"):
        training.run(4, store=TrainingStore(tmp_path, {}))
    resumed = make(**PLAIN)
    assert TrainingStore(tmp_path, {}).restore(resumed)
    assert resumed.step == 4
    whole = make(**PLAIN).run(4)
    same(resumed.run(max_epochs=4), whole)
    training.loss.gradient = inner  # nor does it hinder the training itself
    same(training.run(max_epochs=4), whole)


def test_a_full_disk_is_told_once_and_the_training_goes_on(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("bitsieve._checkpoint.write_atomically", full)
    monkeypatch.setattr(module, "_PERIOD", 0.0)
    monkeypatch.setattr(module, "_SHARE", 0.0)
    store = TrainingStore(tmp_path, {})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        training = make().run(max_epochs=4, store=store)
    assert [str(w.message)[:24] for w in told] == ["cannot write checkpoints"]
    same(training, make().run(4))
    assert store.path is None


def test_about_a_second_between_two_writings(tmp_path, monkeypatch):
    class Clock:
        now = 0.0

        @classmethod
        def perf_counter(cls):
            return cls.now

    monkeypatch.setattr(module, "time", Clock)
    store, written = TrainingStore(tmp_path, {}), []
    inner = store._store.save

    def save(meta, arrays):
        written.append(Clock.now)
        return inner(meta, arrays)

    store._store.save = save
    training = make()
    step = training._step

    def slow_step():
        Clock.now += 0.3
        step()

    training._step = slow_step
    training.run(max_epochs=4, store=store)
    assert written[0] == 0.0
    # 3.6 s in steps of 0.3 s, and the end.
    np.testing.assert_allclose(written, [0.0, 1.2, 2.4, 3.6])


_KILLED = """
import os, signal, sys
sys.path.insert(0, {here!r})
from trainings import PLAIN, make
from bitsieve.gates import checkpoint
checkpoint._PERIOD = checkpoint._SHARE = 0.0
training = make(**{options}, validated=True, patience=50)
store = checkpoint.TrainingStore({directory!r}, {{}})
store.restore(training)
last, step = training.step + 4, training._step
def struck():
    step()
    if training.step == last:
        os.kill(os.getpid(), signal.SIGKILL)
training._step = struck
training.run(max_epochs=4, store=store)
print("ended")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("options", [{}, PLAIN], ids=["autograd", "plain"])
def test_killed_again_and_again(tmp_path, options):
    source = _KILLED.format(
        here=str(Path(__file__).parent), directory=str(tmp_path), options=options
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(bitsieve.__file__).parent.parent)}
    for _ in range(10):
        done = subprocess.run(
            [sys.executable, "-c", source], env=environment, capture_output=True, text=True
        )
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout == "ended\n"
    resumed = make(**options, validated=True, patience=50)
    assert TrainingStore(tmp_path, {}).restore(resumed)
    same(resumed.run(max_epochs=4), make(**options, validated=True, patience=50).run(4))
