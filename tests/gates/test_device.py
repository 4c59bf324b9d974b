"""Devices and threads; torch is left as it was found."""

from __future__ import annotations

import signal
import threading

import pytest
from each import each

torch = pytest.importorskip("torch")

from trainings import make, same  # noqa: E402

from bitsieve.gates.device import check_device, n_threads, torch_for  # noqa: E402
from bitsieve.gates.interrupts import whole  # noqa: E402

CPU = torch.device("cpu")


def found():
    """What torch is set to."""
    return (
        torch.get_num_threads(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_rng_state().numpy().tobytes(),
    )


def test_names_of_devices(monkeypatch):
    assert check_device("cpu") == CPU
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda' or 'auto', got 'gpu'"):
        check_device("gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert check_device("auto") == CPU
    with pytest.raises(ValueError, match=r"device='cuda' needs a GPU, but torch .* CUDA.*; use"):
        check_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    assert check_device("auto") == check_device("cuda") == torch.device("cuda", 1)


def test_one_thread_unless_asked(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert n_threads(None) == 1
    assert n_threads(2) == 2
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        n_threads(0)


@each("ending", ["well", "badly", "by Ctrl-C"])
def test_torch_is_left_as_it_was(ending):
    before = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(3)
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(5)
    try:
        with torch.no_grad():
            there = found()
            inside = []

            def callback(training):
                inside.append(found()[:3])
                torch.rand(3)
                if ending == "badly":
                    raise RuntimeError("no")
                if ending == "by Ctrl-C":
                    signal.raise_signal(signal.SIGINT)

            with torch_for(CPU, 1):  # the default type is that of new layers
                training = make(n_threads=2)
            error = {"well": None, "badly": RuntimeError, "by Ctrl-C": KeyboardInterrupt}[ending]
            if error is None:
                training.run(2, callbacks=[callback])
            else:
                with pytest.raises(error):
                    training.run(2, callbacks=[callback])
            training.outputs(training.samples.x)
            assert found() == there
            assert set(inside) == {(2, torch.float32, True)}
    finally:
        torch.set_num_threads(before[0])
        torch.set_default_dtype(before[1])


def test_neither_the_users_generator_nor_threads_of_others_change_the_bits():
    torch.manual_seed(1)
    one = make().run(3)
    torch.manual_seed(2)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        same(make().run(3), one)
    finally:
        torch.set_num_threads(before)


def test_samples_are_moved_once():
    training = make()
    assert training.samples.to(CPU).x is training.samples.x
    assert training.samples.to(CPU).x.data_ptr() == training.samples.x.data_ptr()


def test_a_signal_waits_for_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        with whole():
            signal.raise_signal(signal.SIGINT)
            done.append("inside")
        done.append("after")
    assert done == ["inside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_inside_is_not_lost_without_a_signal_and_other_threads_do_nothing():
    with pytest.raises(RuntimeError, match="mine"), whole():
        raise RuntimeError("mine")
    found = []

    def other():
        with whole():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
