"""Trainings on a GPU beside the same on the processor.

``BITSIEVE_TEST_DEVICE=cuda pytest tests/gpu`` asks for the GPU and fails without one.

Noise, masks, batches and initial weights have the same bits on both. Sums do not, so that losses
are compared within a tolerance, over as many steps as differences have not grown in. Without a GPU
the processor stands in its place, and everything is equal.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parents[1] / "gates"))

from trainings import make, samples  # noqa: E402

from bitsieve.gates.checkpoint import TrainingStore  # noqa: E402

CPU = torch.device("cpu")
CASES = (
    {"kind": "stg", "validated": True},
    {"kind": "stg", "noise": "sample", "optimizer": "sgd"},
    {"kind": "pefs", "validated": True},
)


def pair(device, **options):
    # Dropout draws other numbers on a GPU.
    options = {"n": 200, "batch_size": 64, "dropout": 0.0, "learning_rate": 0.01, **options}
    return make(device=device, **options), make(device=CPU, **options)


def near(device, one, other, tolerance=2e-3):
    if device.type == "cpu":
        tolerance = 0.0
    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_everything_lies_on_the_device(device):
    training, _ = pair(device)
    tensors = [*training.gates.buffers(), *training.network.parameters(), training.samples.x]
    assert {tensor.device.type for tensor in tensors} == {device.type}


def test_the_same_training(device):
    for options in CASES:
        there, here = pair(device, **options)
        there.run(5), here.run(5)
        for name in ("loss", "penalty", "validation_loss"):
            near(device, there.history[name], here.history[name])
        near(device, there.gates.position().detach().cpu(), here.gates.position().detach())
        near(device, there.outputs(here.samples.x).cpu(), here.outputs(here.samples.x), 0.02)


def test_noise_has_the_same_bits(device):
    there, here = pair(device)
    for step in range(3):
        a, b = (t.gates.sample(3, step, 2).detach().cpu() for t in (there, here))
        assert torch.equal(a, b)


def test_it_finds_the_features(device):
    for options in CASES:
        training, _ = pair(device, **{**options, "learning_rate": 0.05, "optimizer": "adam"})
        training.run(50)
        assert training.gates.support()[:2].all()
        validation = samples(400, 7)
        right = training.outputs(validation.x).argmax(dim=1).cpu() == validation.target
        assert right.float().mean() > 0.9


def test_generators_are_left_as_they_were(device):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    elsewhere = torch.cuda.get_rng_state() if device.type == "cuda" else None
    make(device=device).run(2)
    assert torch.equal(before, torch.get_rng_state())
    if elsewhere is not None:
        assert torch.equal(elsewhere, torch.cuda.get_rng_state())


def test_dropout_is_seeded(device):
    one, other = make(device=device, dropout=0.5).run(2), make(device=device, dropout=0.5).run(2)
    near(device, one.history["loss"], other.history["loss"], 1e-5)


def test_it_goes_on_where_it_stopped(device, tmp_path):
    whole, _ = pair(device)
    whole.run(max_epochs=4)
    first, _ = pair(device)
    first.run(max_steps=6, store=TrainingStore(tmp_path, {}))
    resumed, _ = pair(device)
    assert TrainingStore(tmp_path, {}).restore(resumed)
    resumed.run(max_epochs=4)
    near(device, resumed.history["loss"], whole.history["loss"], 1e-4)


def test_no_step_waits_for_the_device(device):
    """torch raises where a step makes the processor wait; noise is drawn on it, and left out."""
    if device.type != "cuda":
        pytest.skip("needs CUDA: only there can torch tell")
    training, _ = pair(device, batch_size=None)
    training.run(2)
    drawn = training.gates.sample(3, 0, 2).detach()
    training.gates.sample = lambda key, step, n_draws, n_rows: drawn
    torch.cuda.set_sync_debug_mode("error")
    try:
        with torch.enable_grad():
            for _ in range(3):
                training._step()
                training._losses.clear()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_a_loss_that_is_not_finite_names_its_step(device):
    training, _ = pair(device)
    inner, calls = training.loss.of_draws, []

    def of_draws(outputs, target, weight):
        calls.append(1)
        return inner(outputs, target, weight) * (float("nan") if len(calls) >= 6 else 1.0)

    training.loss.of_draws = of_draws
    with pytest.raises(ValueError, match=r"the loss is nan at step 6 \(epoch 2\)"):
        training.run(3)
