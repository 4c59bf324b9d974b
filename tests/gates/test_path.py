"""The walk over lambda: sizes fall, gates that stayed open longest are selected."""

from __future__ import annotations

import signal
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from each import each

pytest.importorskip("torch")

import torch
from sklearn.exceptions import ConvergenceWarning

from bitsieve._random import Random, Stream
from bitsieve.gates import STGClassifier, STGRegressor, path
from bitsieve.gates.gate import GaussianGates, HardConcreteGates
from bitsieve.gates.noiseless import FixedGates
from bitsieve.gates.training import Training

QUICK: dict[str, Any] = {
    "hidden_layer_sizes": (),
    "max_epochs": 60,
    "batch_size": 30,
    "learning_rate": 0.05,
    "device": "cpu",
    "random_state": 0,
}


def _linear(n: int = 120, p: int = 12) -> tuple[np.ndarray, np.ndarray]:
    X = Random(3, Stream.tests).normal((n, p))
    return X, 3.0 * X[:, 4] - 2.0 * X[:, 7] + 2.0 * X[:, 9]


def test_path_of_a_linear_model() -> None:
    X, y = _linear()
    model = STGRegressor(3, **QUICK).fit(X, y)
    assert model.get_support(indices=True).tolist() == [4, 7, 9]
    found = model.path_
    assert (np.diff(found["n_features"]) < 0).all()
    assert (np.diff(found["lam"]) >= 0).all()
    assert np.array_equal(found["support"].to_bool().sum(axis=1), found["n_features"])
    assert np.array_equal(np.sort(np.argsort(-model.scores_)[:3]), [4, 7, 9])
    assert (model.gates_ > 0).sum() == 3
    assert model.gates_.max() <= 1.0
    assert model.lam_ == found["lam"][-1]


def test_every_size_is_reached_exactly() -> None:
    X, y = _linear()
    for size in (1, 2, 5, 12):
        model = STGRegressor(size, **QUICK).fit(X, y)
        assert model.n_features_ == size
        assert np.array_equal(np.sort(model.ranking_)[:size], np.arange(1, size + 1))
        assert (model.ranking_[model.support_] <= size).all()


def test_auto_takes_the_best_row_of_the_validation_part() -> None:
    X, y = _linear()
    model = STGRegressor(**QUICK).fit(X, y)
    found = model.path_
    row = int(np.argmin(found["validation_loss"]))
    assert model.n_features_ == found["n_features"][row]
    assert model.best_validation_loss_ == found["validation_loss"][row]
    smaller = STGRegressor(size_rule="one_standard_error", **QUICK).fit(X, y)
    limit = found["validation_loss"][row] + found["validation_error"][row]
    within = found["n_features"][found["validation_loss"] <= limit]
    assert smaller.n_features_ == within[within > 0].min()


def test_few_epochs_still_make_a_path() -> None:
    X, y = _linear()
    for epochs in (1, 2, 3):
        model = STGClassifier(2, **{**QUICK, "max_epochs": epochs}).fit(X, y > 0)
        assert model.n_features_ == 2
        assert model.n_iter_ == 3  # one for each part of the walk
    for epochs in (8, 13, 20):  # parts of 8 and 13 are rounded up
        model = STGClassifier(2, **{**QUICK, "max_epochs": epochs}).fit(X, y > 0)
        assert model.n_iter_ == epochs


def test_resumes_on_the_same_bits(tmp_path: Any) -> None:
    X, y = _linear()
    whole = STGRegressor(**QUICK).fit(X, y)
    stored = STGRegressor(**QUICK, checkpoint=tmp_path).fit(X, y)
    again = STGRegressor(**QUICK, checkpoint=tmp_path).fit(X, y)
    for one in (stored, again):
        assert np.array_equal(one.predict(X), whole.predict(X))
        for name in ("lam", "n_features", "validation_loss"):
            assert np.array_equal(one.path_[name], whole.path_[name])


def test_a_drawn_seed_is_that_of_the_file(tmp_path: Any) -> None:
    X, y = _linear()
    kept = {**QUICK, "random_state": None, "checkpoint": tmp_path}
    assert STGRegressor(3, **kept).fit(X, y).seed_ == STGRegressor(3, **kept).fit(X, y).seed_


def test_fixed_gates() -> None:
    gates = FixedGates(torch.tensor([0.0, 0.7]))
    assert gates.sample(0, 5, 3).tolist() == [[0.0, pytest.approx(0.7)]] * 3
    assert gates.sample(0, 5, 1, 2).shape == (1, 2, 2)


@each("options", [{"lam": 0.05}, {"n_features_to_select": 3}, {}])
def test_ctrl_c_keeps_what_there_is_and_goes_on_to_the_same_bits(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    X, y = _linear()
    kept = {**QUICK, "max_epochs": 20, "batch_size": None, **options}
    whole = STGRegressor(**kept).fit(X, y)
    stored = tmp_path / "-".join(["at", *options])
    finish, n_finished = Training._finish_epoch, 0

    def finish_and_stop(training: Training) -> None:
        nonlocal n_finished
        finish(training)
        n_finished += 1
        if n_finished % 7 == 0:
            signal.raise_signal(signal.SIGINT)

    n_interrupts = 0
    while True:
        model = STGRegressor(**kept, checkpoint=stored)
        try:
            with monkeypatch.context() as patch:
                patch.setattr(Training, "_finish_epoch", finish_and_stop)
                model.fit(X, y)
            break
        except KeyboardInterrupt:
            n_interrupts += 1
            assert np.isfinite(model.predict(X)).all()
            assert model.n_features_ == model.support_.sum() == (model.gates_ > 0).sum()
            assert model.transform(X).shape == (120, model.n_features_)
            assert len(model.history_["loss"]) == model.n_iter_
    assert n_interrupts >= 2
    for name in ("gates_", "scores_", "ranking_"):
        assert np.array_equal(getattr(model, name), getattr(whole, name)), name
    assert np.array_equal(model.history_["loss"], whole.history_["loss"])
    assert np.array_equal(model.predict(X), whole.predict(X))


def test_a_walk_too_short_to_close_the_gates_says_so() -> None:
    X = Random(3, Stream.tests).normal((60, 8))
    model = STGClassifier(2, max_epochs=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="too short to tell the gates apart: . are open"):
        model.fit(X, X[:, 1] > 0)
    assert model.n_features_ == 2


def _wide(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """60 samples of 600 features; the class is told by two of them."""
    X = Random(seed, Stream.tests).normal((60, 600))
    return X, X[:, 5] + X[:, 300] > 0


def test_defaults_find_what_matters_among_ten_times_as_many_features_as_samples() -> None:
    found = []
    for seed in range(2):
        X, y = _wide(seed)
        model = STGClassifier(4, random_state=0).fit(X, y)
        found.append(model.support_[[5, 300]])
        assert (model.ranking_[[5, 300]] <= 6).any()
    assert np.mean(found) >= 0.75


def test_a_path_on_which_no_gate_opens_says_so_and_takes_the_usual_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = _linear()
    monkeypatch.setattr(path, "FIRST", 1e3)
    monkeypatch.setattr(path, "LEAST", 1e2)
    with pytest.warns(ConvergenceWarning, match="no gate opened on the path over lambda"):
        model = STGRegressor(**QUICK).fit(X, y)
    assert model.n_features_ == 10
    assert model.path_["n_features"].tolist() == [0]


def test_few_open_gates_at_the_end_are_told() -> None:
    for n_open, told in ((1, True), (2, False), (5, False)):
        scores = np.linspace(1.0, 0.0, 20)
        gates = SimpleNamespace(support=lambda n=n_open: np.arange(20) < n)
        walk = SimpleNamespace(
            problem=SimpleNamespace(n_features=20),
            scores=scores,
            training=SimpleNamespace(gates=gates),
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            support = path.Walk._most_open(walk, 4)  # type: ignore[arg-type]
        assert np.flatnonzero(support).tolist() == [0, 1, 2, 3]
        assert any("only 1 had open gates" in str(w.message) for w in caught) == told
        assert len(caught) == told


def test_a_hard_concrete_gate_learns_as_much_faster_as_its_range_is_wider() -> None:
    X, y = _linear()
    kept = {**QUICK, "gate": "hard_concrete", "learning_rate": 0.01}
    mine = STGRegressor(3, **kept).fit(X, y)
    told = STGRegressor(3, gate_learning_rate=0.035, **kept).fit(X, y)
    other = STGRegressor(3, gate_learning_rate=0.01, **kept).fit(X, y)
    assert np.array_equal(mine.scores_, told.scores_)
    assert not np.array_equal(mine.scores_, other.scores_)


@each("gate", [GaussianGates(3), GaussianGates(3, sigma=0.1), HardConcreteGates(3)])
def test_a_held_gate_is_still_opened_and_closed_by_noise(gate: Any) -> None:
    (parameter,) = gate.parameters()
    with torch.no_grad():
        parameter.copy_(torch.tensor([-100.0, 0.1, 100.0]))
    gate.hold()
    drawn = gate.sample(7, 0, 20_000)
    is_open, is_whole = (drawn > 0).float().mean(0), (drawn == 1).float().mean(0)
    assert 0.01 < is_open[0] < 0.05
    assert 0.4 < is_whole[2] < 0.95
    assert parameter[1].item() == pytest.approx(0.1)
