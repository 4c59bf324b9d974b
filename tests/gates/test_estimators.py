"""STG as a scikit-learn estimator: what it takes, what it finds, what it keeps."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from each import each

pytest.importorskip("torch")

import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from bitsieve._random import Random, Stream
from bitsieve.gates import STGClassifier, STGRegressor
from bitsieve.gates.network import GatedModule
from bitsieve.testing import check_selector

QUICK: dict[str, Any] = {
    "hidden_layer_sizes": (8,),
    "max_epochs": 60,
    "batch_size": 30,
    "learning_rate": 0.05,
    "device": "cpu",
    "random_state": 0,
}
FEW: dict[str, Any] = {**QUICK, "max_epochs": 10, "learning_rate": 0.1}


def _table(n: int = 90, p: int = 10) -> tuple[np.ndarray, np.ndarray]:
    X = Random(5, Stream.tests).normal((n, p))
    return X, X[:, 1] - X[:, 6]


class Body(torch.nn.Sequential):
    """A module of the user's."""

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        super().__init__(
            torch.nn.Linear(n_inputs, 6), torch.nn.Tanh(), torch.nn.Linear(6, n_outputs)
        )


@parametrize_with_checks([STGClassifier(**QUICK), STGRegressor(**QUICK)])
@pytest.mark.slow
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
def test_keeps_the_contract_of_selectors() -> None:
    X, y = _table()
    check_selector(STGClassifier(**FEW), X=X, y=y > 0, skip=["scikit_learn"])
    check_selector(STGRegressor(**FEW), X=X, y=y, skip=["scikit_learn"])


@each("lam", [0.02, "auto"])
def test_classes_of_any_name(lam: Any) -> None:
    X, y = _table()
    codes = np.digitize(y, [-0.7, 0.7])
    names = np.array(["low", "mid", "top"])
    model = STGClassifier(lam=lam, **QUICK).fit(X, names[codes])
    assert model.classes_.tolist() == names.tolist()
    assert {1, 6} <= set(model.get_support(indices=True))
    assert model.score(X, names[codes]) > 0.8
    proba = model.predict_proba(X)
    assert proba.shape == (90, 3)
    assert np.allclose(proba.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))


def test_pickles_arrays_alone() -> None:
    X, y = _table()
    for body in (None, Body):
        model = STGClassifier(2, body=body, **QUICK).fit(X, y > 0)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert not any(
            isinstance(value, (torch.nn.Module, torch.Tensor)) for value in vars(model).values()
        )
        assert not hasattr(clone(model), "support_")


def test_regression_is_in_the_units_of_y() -> None:
    X, y = _table()
    model = STGRegressor(2, **QUICK).fit(X, y)
    shifted = STGRegressor(2, **QUICK).fit(X, 1000.0 * y + 5e4)
    assert model.score(X, y) > 0.8
    assert np.allclose((shifted.predict(X) - 5e4) / 1000.0, model.predict(X), atol=1e-2)


def test_no_feature_predicts_the_prior() -> None:
    X, y = _table()
    labels = np.where(y > 0.5, "a", "b")
    with pytest.warns(UserWarning, match="no feature is selected"):
        model = STGClassifier(lam=50.0, **QUICK).fit(X, labels)
    assert model.n_features_ == 0
    assert not model.gates_.any()
    assert np.allclose(model.predict_proba(X)[0], [np.mean(labels == "a"), np.mean(labels == "b")])
    with pytest.warns(UserWarning, match="no feature is selected"):
        numbers = STGRegressor(lam=50.0, **QUICK).fit(X, y)
    assert np.allclose(numbers.predict(X), y.mean())


def test_weights_move_what_is_learnt() -> None:
    X, y = _table(n=200)
    y = y + Random(6, Stream.tests).normal(200) > 1.0
    plain = STGClassifier(2, **QUICK).fit(X, y)
    even = STGClassifier(2, class_weight="balanced", **QUICK).fit(X, y)
    weighted = STGClassifier(2, **QUICK).fit(X, y, sample_weight=np.where(y, 5.0, 1.0))
    assert even.predict(X).mean() > plain.predict(X).mean()
    assert weighted.predict(X).mean() > plain.predict(X).mean()
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        STGClassifier(**QUICK).fit(X, y, sample_weight=np.zeros(200))


def test_early_stopping_keeps_the_best_epoch() -> None:
    X, y = _table()
    options = {**QUICK, "max_epochs": 400}
    model = STGClassifier(lam=0.01, early_stopping=True, patience=5, **options).fit(X, y > 0)
    assert model.n_iter_ < 400
    assert model.best_validation_loss_ == model.history_["validation_loss"].min()


@each(
    "options",
    [
        {"noise": "sample"},
        {"n_draws": 3},
        {"gate": "hard_concrete"},
        {"gate": "l1"},
        {"batch_norm": True, "dropout": 0.1},
        {"optimizer": "sgd", "learning_rate": 0.3},
        {"body": Body},
    ],
)
def test_options_find_the_features(options: dict[str, Any]) -> None:
    X, y = _table(n=200)
    model = STGClassifier(2, **{**QUICK, **options}).fit(X, y > 0)
    assert model.get_support(indices=True).tolist() == [1, 6]


def test_no_gate_selects_all() -> None:
    X, y = _table()
    model = STGClassifier(gate="none", **QUICK).fit(X, y > 0)
    assert model.support_.all()
    assert model.score(X, y > 0) > 0.9


@each(
    "options, words",
    [
        ({"lam": "best"}, "lam must be"),
        ({"lam": -1.0}, "lam must be"),
        ({"gate": "open"}, "gate must be"),
        ({"noise": "row"}, "noise must be"),
        ({"hidden_layer_sizes": (0,)}, "hidden_layer_sizes"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"n_features_to_select": 11}, "n_features_to_select"),
        ({"device": "tpu"}, "device must be"),
        ({"body": 3}, "body must be"),
        ({"max_epochs": 0}, "max_epochs"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    X, y = _table()
    with pytest.raises(ValueError, match=words):
        STGClassifier(**{**QUICK, **options}).fit(X, y > 0)


@pytest.mark.slow
@each("seed", range(3))
def test_finds_an_interaction(seed: int) -> None:
    X = Random(seed, Stream.tests).normal((400, 30))
    y = np.sign(X[:, 0] * X[:, 1] + X[:, 2])
    model = STGClassifier(3, max_epochs=250, device="cpu", random_state=seed).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 2]


def test_copies_are_small_and_alike() -> None:
    X, y = _table(n=60, p=400)
    model = STGClassifier(3, **FEW).fit(X, y > 0)
    # Weights of the features that are not selected are not kept: 8 units a feature are 13 kB.
    assert sum(value.nbytes for value in model._state.values()) < 1000
    dumped = pickle.dumps(model)
    assert len(dumped) < 60_000
    expected = model.predict_proba(X)
    for again in (pickle.loads(dumped), copy.deepcopy(model)):
        assert np.array_equal(again.predict_proba(X), expected)
        again.fit(X, y > 1)
    assert np.array_equal(model.predict_proba(X), expected)


def test_threads_change_no_bit_of_small_shapes() -> None:
    X, y = _table()
    one = STGClassifier(2, n_jobs=1, **FEW).fit(X, y > 0)
    before = torch.get_num_threads()
    two = STGClassifier(2, n_jobs=2, **FEW).fit(X, y > 0)
    assert np.array_equal(two.gates_, one.gates_)
    assert np.array_equal(two.history_["loss"], one.history_["loss"])
    assert np.array_equal(two.predict_proba(X), one.predict_proba(X))
    assert torch.get_num_threads() == before


def test_gates_of_each_sample_before_a_body() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = GatedModule(Body(4, 3))
        x, z = torch.randn(5, 4), torch.rand(2, 5, 4)
    outputs = network(x, z)
    assert outputs.shape == (2, 5, 3)
    for draw in range(2):
        for row in range(5):
            one = network.body((x[row] * z[draw, row])[None])[0]
            assert torch.allclose(outputs[draw, row], one, atol=1e-6)
    shared = z[:, :1].expand_as(z)
    assert torch.allclose(network(x, shared), network(x, z[:, 0]), atol=1e-6)


@pytest.mark.slow
@each("seed", range(3))
def test_walks_where_the_network_could_remember_every_sample(seed: int) -> None:
    X = Random(seed, Stream.tests).normal((200, 10))
    y = X[:, 1] - X[:, 6] + Random(seed + 50, Stream.tests).normal(200) > 1.0
    model = STGClassifier(2, **{**QUICK, "random_state": seed}).fit(X, y)
    assert model.get_support(indices=True).tolist() == [1, 6]


def test_a_class_that_weighs_nothing_is_never_predicted() -> None:
    X, y = _table()
    weight = np.where(y > 0, 0.0, 1.0)
    for size in (None, 2):
        model = STGClassifier(size, lam=0.02, **{**FEW, "max_epochs": 2})
        model.fit(X, y > 0, sample_weight=weight)
        assert not model.predict(X).any()
        assert np.array_equal(model.predict_proba(X), np.tile([1.0, 0.0], (len(X), 1)))
        assert (model.decision_function(X) < 0).all()


def test_values_whose_variance_is_no_number_are_refused() -> None:
    X = Random(3, Stream.tests).normal((30, 3))
    for unit in (1e160, 1e-160):
        with pytest.raises(ValueError, match="column 1 of X holds values of"):
            STGRegressor(max_epochs=1).fit(X * [1.0, unit, 1.0], X[:, 0])
        with pytest.raises(ValueError, match="y holds values of"):
            STGRegressor(max_epochs=1).fit(X, X[:, 0] * unit)
