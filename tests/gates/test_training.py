"""The loop: batches, weights, draws, limits, early stopping, callbacks, divergence."""

from __future__ import annotations

import copy
from itertools import chain, pairwise

import numpy as np
import pytest
from each import each

torch = pytest.importorskip("torch")

from trainings import PLAIN, make, same, samples  # noqa: E402

from bitsieve._random import Random, Stream  # noqa: E402
from bitsieve.gates.samples import Samples, batch_bounds  # noqa: E402


def test_batches_cover_all_and_leave_nobody_alone():
    for n in range(1, 80):
        for size in (None, *range(1, 90)):
            bounds = batch_bounds(n, size)
            assert bounds[0][0] == 0
            assert bounds[-1][1] == n
            assert all(a[1] == b[0] for a, b in pairwise(bounds))
            sizes = [end - first for first, end in bounds]
            assert max(sizes) - min(sizes) <= 1
            most = n if size is None else size
            assert min(sizes) >= 2 or n == 1 or most == 1
            assert max(sizes) <= most or (most == 2 and max(sizes) == 3)
            assert len(sizes) == -(-n // min(n, most)) or most == 2


def test_each_epoch_takes_every_sample_once_in_an_order_of_its_own():
    training = make(n=45)
    # The numbers of the samples stand in a feature of their own.
    rows = []
    of_rows = training.network.of_rows
    training.samples.x[:, 5] = torch.arange(45, dtype=torch.float32)
    training.network.of_rows = lambda x, batch, z: (
        rows.append(x[batch, 5].int().tolist()),
        of_rows(x, batch, z),
    )[1]
    training.run(2)
    assert [len(r) for r in rows] == [15, 15, 15] * 2
    first, second = list(chain(*rows[:3])), list(chain(*rows[3:]))
    assert sorted(first) == sorted(second) == list(range(45))
    for epoch, order in enumerate((first, second)):
        assert order == Random(3, Stream.batches, lane=epoch).permutation(45).tolist()
    assert training.step == 6


def test_odd_samples_in_pairs_train_under_batch_norm():
    training = make(n=7, batch_size=2)
    training.run(3)
    assert all(np.isfinite(training.history["loss"]))


def plain(training, n_steps):
    """Slow twin of full-batch steps with a Gaussian gate, in float64 and with torch's Adam."""
    gates, network = copy.deepcopy(training.gates), copy.deepcopy(training.network).double()
    mu = gates.mu.detach().double().requires_grad_()
    data, settings = training.samples, training.settings
    x = data.x.double()
    weight = torch.ones(len(x)) if data.weight is None else data.weight
    weight = weight.double() / weight.double().sum()
    optimizer = torch.optim.Adam(
        [
            {"params": list(network.parameters()), "weight_decay": settings.weight_decay},
            {"params": [mu]},
        ],
        lr=settings.learning_rate,
    )
    told = []
    for step in range(n_steps):
        with torch.no_grad():
            eps = (gates.sample(training.key, step, settings.n_draws) - 0.5) / gates.sigma
            # What is clipped has no gradient; the rest is linear in mu.
            inside = (eps.abs() < 0.5 / gates.sigma - 1e-6).double()
            fixed = gates.sample(training.key, step, settings.n_draws).double()
        z = fixed + inside * (mu - mu.detach())
        loss = 0.0
        for draw in z:
            logits = network.rest((x * draw) @ network.weight + network.bias)
            chosen = torch.log_softmax(logits, 1)[torch.arange(len(x)), data.target]
            loss = loss - (weight * chosen).sum() / settings.n_draws
        penalty = training.weight * torch.special.ndtr((mu + 0.5) / gates.sigma).sum()
        optimizer.zero_grad()
        (loss + penalty).backward()
        optimizer.step()
        gates.mu.data.copy_(mu.detach())
        told.append((loss.item(), penalty.item()))
    return np.array(told), mu.detach().numpy(), network.weight.detach().numpy()


def test_steps_are_those_of_a_slow_twin():
    for weighted in (False, True):
        training = make(
            n=30,
            batch_size=None,
            n_draws=3,
            dropout=0.0,
            batch_norm=False,
            data=samples(30, 0, weighted),
        )
        told, mu, weight = plain(training, 20)
        training.run(20)
        np.testing.assert_allclose(training.history["loss"], told[:, 0], rtol=2e-4)
        np.testing.assert_allclose(training.history["penalty"], told[:, 1], rtol=2e-4)
        np.testing.assert_allclose(training.gates.mu.detach(), mu, atol=2e-4)
        training.network.rows.advance(training.network.rows.all)  # those not selected may owe steps
        np.testing.assert_allclose(training.network.weight.detach(), weight, atol=1e-3)


def test_a_weight_of_two_is_a_sample_twice():
    data = samples(20, 0)
    twice = Samples(*(torch.cat([t, t[:5]]) for t in (data.x, data.target)))
    weight = torch.ones(20)
    weight[:5] = 2.0
    options = {"batch_size": None, "dropout": 0.0, "batch_norm": False}
    one = make(data=Samples(data.x, data.target, weight), **options).run(15)
    other = make(data=twice, **options).run(15)
    np.testing.assert_allclose(one.history["loss"], other.history["loss"], rtol=1e-4)
    unweighted = make(data=data, **options).run(15)
    assert not np.allclose(one.history["loss"], unweighted.history["loss"], rtol=1e-3)


def test_noise_of_each_sample_is_its_own():
    shapes = []
    training = make(noise="sample", n=20, batch_size=None)
    of_rows = training.network.of_rows
    training.network.of_rows = lambda x, batch, z: (
        shapes.append(tuple(z.shape)),
        of_rows(x, batch, z),
    )[1]
    training.run(1)
    assert shapes == [(2, 20, 6)]


def test_history_has_a_row_an_epoch():
    training = make(validated=True).run(4)
    assert list(training.history) == [
        "epoch",
        "loss",
        "validation_loss",
        "penalty",
        "n_selected",
        "weight",
    ]
    assert training.history["epoch"] == [1, 2, 3, 4]
    assert training.history["weight"] == [0.05] * 4
    assert training.history["n_selected"][-1] == training.gates.support().sum()
    assert training.history["validation_loss"][-1] == training.loss_of(training.validation)
    assert np.isnan(make().run(1).history["validation_loss"]).all()


def test_same_seed_same_bits_and_another_seed_others():
    for options in ({"kind": "stg"}, {"kind": "pefs"}, PLAIN):
        one, other = (make(**options, validated=True).run(4) for _ in range(2))
        same(one, other)
        assert make(**options, key=4).run(4).history["loss"] != one.history["loss"]


def test_runs_one_after_the_other_are_one_run():
    for options in ({}, PLAIN):
        whole = make(**options, validated=True).run(5)
        same(make(**options, validated=True).run(2).run(3), whole)


def test_limits_of_epochs_and_steps():
    assert make().run(2).stop_reason == {"max_epochs": 2}
    training = make().run(max_steps=7)
    assert (training.step, training.epoch, training.stop_reason) == (7, 2, {"max_steps": 7})
    assert training.history["epoch"] == [1, 2]
    training.run(max_epochs=4)
    same(training, make().run(4))
    assert training.run(max_epochs=4).step == 12
    training = make().run(3, max_epochs=2)
    assert training.epoch == 2


def test_max_time_ends_after_an_epoch_at_least(monkeypatch):
    from bitsieve.gates import training as module

    now = iter(range(1000))
    monkeypatch.setattr(module.time, "perf_counter", lambda: float(next(now)))
    training = make().run(max_time=1.0)
    assert (training.epoch, training.step) == (1, 3)
    longer = make().run(max_time=20.0)
    assert 3 < longer.step < 25
    assert longer.stop_reason == {"max_time": 20.0}
    assert longer.seconds >= 20.0


def test_what_nothing_ends_is_refused():
    with pytest.raises(ValueError, match="nothing ends this training: give max_epochs"):
        make().run()
    with pytest.raises(ValueError, match="patience needs a validation part"):
        make(patience=3)


def test_callbacks_are_called_after_each_epoch_and_end_it():
    seen, others = [], []
    training = make().run(
        10,
        callbacks=[lambda t: seen.append((t.epoch, t.history["loss"][-1])) or t.epoch == 3],
        after_epoch=lambda t: others.append(t.epoch),
    )
    assert [epoch for epoch, _ in seen] == others == [1, 2, 3]
    assert [loss for _, loss in seen] == training.history["loss"]
    assert training.stop_reason == {"callback": True}
    same(training, make().run(3))
    named = make().run(10, callbacks=[lambda t: "enough"])
    assert named.stop_reason == {"callback": "enough"}
    # The next run goes on, and the callback is asked about the next epoch alone.
    training.run(1, callbacks=[lambda t: seen.append((t.epoch, 0))])
    assert [epoch for epoch, _ in seen] == [1, 2, 3, 4]


def test_early_stopping_puts_the_best_epoch_back():
    for kind in ("stg", "pefs"):
        options = {"kind": kind, "validated": True, "learning_rate": 0.3}
        training = make(patience=4, **options).run(200)
        assert training.stop_reason == {"patience": 4}
        losses = training.history["validation_loss"]
        best = int(np.argmin(losses))
        assert training.best_epoch == best + 1 == training.epoch - 4
        assert training.loss_of(training.validation) == losses[best]
        there = make(**options).run(best + 1)
        there.network.rows.advance(there.network.rows.all)  # those not selected may owe steps
        for name, value in there.network.state_dict().items():
            assert torch.equal(training.network.state_dict()[name], value), name
        for name, value in there.gates.state_dict().items():
            assert torch.equal(training.gates.state_dict()[name], value), name
        assert training.gates.support().sum() == training.history["n_selected"][best]


def test_the_best_is_put_back_where_a_limit_ends_it():
    training = make(validated=True, patience=100, learning_rate=0.3).run(30)
    assert training.stop_reason == {"max_epochs": 30}
    assert training.best_epoch < 30
    best = min(training.history["validation_loss"])
    assert training.loss_of(training.validation) == best


def test_the_best_epoch_does_not_tell_which_rows_owed_steps():
    runs, owed = [], 0
    for eager in (False, True):
        training = make(kind="pefs", validated=True, patience=3, learning_rate=0.2)
        training.gates.rate = 0.2  # masks close
        rows = training.network.rows

        def look(training, rows=rows, eager=eager):
            nonlocal owed
            owed += int((rows.step - rows.last).sum())
            if eager:
                rows.advance(rows.all)

        for weight in (0.0, 0.1):  # the second begins where the best of the first was put back
            training.weight = weight
            training.run(30, look)
        rows.advance(rows.all)
        runs.append(training)
    assert owed > 20
    same(*runs)


def test_samples_by_column_are_those_by_row():
    by_row = samples(45, 0)
    by_column = Samples(by_row.x.T.contiguous().T, by_row.target)
    assert not by_column.x.is_contiguous()
    one, other = make(data=by_row).run(3), make(data=by_column).run(3)
    assert other.samples.x.is_contiguous()  # else each step would copy what is closed
    same(one, other)


def test_another_weight_of_the_penalty_begins_early_stopping_anew():
    training = make(validated=True, patience=3, learning_rate=0.3).run(200)
    ended = training.epoch
    assert training.run(5).epoch == ended
    training.weight = 0.5
    training.run(2)
    assert training.epoch == ended + 2
    assert training.best_epoch > ended


@each("options", [{"kind": "stg"}, {"kind": "pefs"}, PLAIN])
def test_a_loss_that_is_not_finite_says_where_and_what_to_try(options):
    options = {"batch_norm": False, **options}
    training = make(learning_rate=1e30, optimizer="sgd", **options)
    with pytest.raises(ValueError, match=r"is (nan|inf|-inf) at step") as caught:
        training.run(50)
    text = str(caught.value)
    assert "the loss " in text
    assert "lower learning_rate (it is 1e+30)" in text
    assert "standardize=True" in text
    # On the processor nothing moves after it: the step named is the next one.
    assert f"at step {training.step + 1:,} (epoch {training.epoch + 1:,})" in text


def test_the_first_bad_step_is_named():
    training = make()
    inner, calls = training.loss.of_draws, []

    def of_draws(outputs, target, weight):
        calls.append(1)
        losses = inner(outputs, target, weight)
        return losses * (float("nan") if len(calls) >= 8 else 1.0)

    training.loss.of_draws = of_draws
    with pytest.raises(ValueError, match=r"the loss is nan at step 8 \(epoch 3\)"):
        training.run(50)
    assert len(calls) == 8


def test_the_first_bad_plain_step_is_named_and_moves_nothing():
    training, good = make(**PLAIN), make(**PLAIN).run(max_steps=7)
    training.run(max_steps=7)
    training.samples.x[:] = float("nan")
    with pytest.raises(ValueError, match=r"the loss is nan at step 8 \(epoch 3\)"):
        training.run(50)
    for module, other in ((training.gates, good.gates), (training.network.rest, good.network.rest)):
        for one, expected in zip(module.parameters(), other.parameters(), strict=True):
            assert torch.equal(one, expected)


def test_a_device_is_asked_seldom_and_names_the_same_step(monkeypatch):
    """What a GPU does, on the processor: no step waits for a number."""
    from bitsieve.gates import training as module

    for look, last in ((2, 8), (64, 15)):
        monkeypatch.setattr(module, "_LOOK", look)
        training = make()
        training._looks = False
        inner, calls = training.loss.of_draws, []

        def of_draws(outputs, target, weight, inner=inner, calls=calls):
            calls.append(1)
            losses = inner(outputs, target, weight)
            return losses * (float("nan") if len(calls) >= 8 else 1.0)

        training.loss.of_draws = of_draws
        with pytest.raises(ValueError, match=r"the loss is nan at step 8 \(epoch 3\)"):
            training.run(5)
        assert len(calls) == last


def test_looking_seldom_changes_no_bit():
    for options in ({}, {"validated": True, "patience": 3}):
        training = make(**options)
        training._looks = False
        same(training.run(6), make(**options).run(6))


def test_weights_that_are_not_finite_are_found():
    training = make().run(1)
    with torch.no_grad():
        training.network.weight[2, 1] = float("inf")
    training.gates.sample = lambda key, step, n, rows: torch.zeros(n, 6)  # nothing sees it
    training.network.forward = lambda x, z: training.network.rest(
        torch.zeros(len(z), len(x), 5) + training.network.bias
    )
    with pytest.raises(
        ValueError, match=r"the weights hold NaN or infinity at step 48 \(epoch 16\)"
    ):
        training.run(100)


def test_validation_that_is_not_finite_is_found():
    training = make(validated=True)
    training.validation.x[0, 0] = float("nan")
    with pytest.raises(ValueError, match=r"the validation loss is nan at step 3 \(epoch 1\)"):
        training.run(100)
