"""PEFS estimators: what they select, what they predict, what goes on from where."""

from __future__ import annotations

import pickle
import signal
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sklearn.base import clone  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from bitsieve.gates import PEFSClassifier, PEFSRegressor  # noqa: E402
from bitsieve.gates.training import Training  # noqa: E402

QUICK: dict[str, Any] = {
    "hidden_layer_sizes": (16,),
    "learning_rate": 0.01,
    "batch_size": 64,
    "random_state": 0,
}


def task(seed: int, n_features: int = 12, n: int = 240) -> tuple[Any, Any]:
    """Two features and their product decide; the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, (X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1] > 0.3).astype(int)


def test_the_features_that_matter_are_found() -> None:
    found = []
    for seed in range(3):
        X, y = task(seed)
        model = PEFSClassifier(eps=0.3, max_iter=300, **{**QUICK, "random_state": seed})
        model.fit(X[:200], y[:200])
        found.append(model.support_.nonzero()[0].tolist())
        assert model.score(X[200:], y[200:]) > 0.8
    assert found == [[0, 1]] * 3


def test_a_regressor_finds_them_and_answers_in_the_units_of_y() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 12))
    y = 100.0 + 7.0 * X[:, 0] - 5.0 * np.abs(X[:, 1])
    model = PEFSRegressor(eps=0.3, max_iter=400, **QUICK).fit(X[:200], y[:200])
    assert model.support_.nonzero()[0].tolist() == [0, 1]
    assert model.score(X[200:], y[200:]) > 0.9
    average = clone(model).set_params(predict_by="average").fit(X[:200], y[:200])
    np.testing.assert_array_equal(average.theta_, model.theta_)
    assert average.score(X[200:], y[200:]) > 0.7


def test_more_weight_on_the_number_of_features_leaves_fewer() -> None:
    X, y = task(3, n_features=20)
    sizes, sums = [], []
    for eps in (0.0, 0.2, 0.5):
        model = PEFSClassifier(eps=eps, max_iter=200, **QUICK).fit(X, y)
        sizes.append(model.n_features_)
        sums.append(model.theta_.sum())
        np.testing.assert_array_equal(model.support_, model.theta_ >= 0.5)
        assert model.theta_.min() >= 1 / 20
        assert model.theta_.max() <= 1 - 1 / 20
    assert sizes[0] > sizes[1] >= sizes[2]
    assert sums[0] > sums[1] > sums[2]


def test_a_prior_is_an_eps() -> None:
    X, y = task(3)
    prior = 1 / (1 + np.exp(0.2))
    by_prior = PEFSClassifier(prior=prior, max_iter=40, **QUICK).fit(X, y)
    by_eps = PEFSClassifier(eps=0.2, max_iter=40, **QUICK).fit(X, y)
    np.testing.assert_allclose(by_prior.theta_, by_eps.theta_, rtol=1e-9)
    each = np.full(12, 0.5)
    each[3] = 1e-3
    against = PEFSClassifier(prior=each, max_iter=40, **QUICK).fit(X, y)
    assert against.theta_.argmin() == 3
    assert not against.support_[3]


def test_so_many_features_are_selected_and_theta_is_near() -> None:
    X, y = task(5, n_features=20)
    for size in (2, 6):
        model = PEFSClassifier(size, max_iter=400, **QUICK).fit(X, y)
        assert model.n_features_ == size
        assert model.support_[:2].all()
        assert model.theta_[model.support_].min() >= model.theta_[~model.support_].max()
        assert abs((model.theta_ >= 0.5).sum() - size) <= 3


def test_one_seed_has_the_same_bits_and_a_pickle_too() -> None:
    X, y = task(0)
    one = PEFSClassifier(max_iter=30, dropout=0.2, **QUICK).fit(X, y)
    two = PEFSClassifier(max_iter=30, dropout=0.2, **QUICK).fit(X, y)
    other = PEFSClassifier(max_iter=30, dropout=0.2, **{**QUICK, "random_state": 1}).fit(X, y)
    np.testing.assert_array_equal(one.theta_, two.theta_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(
        one.predict_proba(X), pickle.loads(pickle.dumps(one)).predict_proba(X)
    )
    assert not np.array_equal(one.theta_, other.theta_)


def test_a_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    X, y = task(0)
    whole = PEFSClassifier(max_iter=37, **QUICK).fit(X, y)
    PEFSClassifier(max_iter=14, checkpoint=tmp_path, **QUICK).fit(X, y)
    assert len(list(tmp_path.iterdir())) == 1
    again = PEFSClassifier(max_iter=37, checkpoint=tmp_path, **QUICK).fit(X, y)
    np.testing.assert_array_equal(whole.theta_, again.theta_)
    np.testing.assert_array_equal(whole.predict_proba(X), again.predict_proba(X))
    assert again.n_iter_ == 37
    # Without a seed of its own, a training goes on with the stored one.
    free = {**QUICK, "random_state": None}
    first = PEFSClassifier(max_iter=14, checkpoint=tmp_path, **free).fit(X, y)
    second = PEFSClassifier(max_iter=37, checkpoint=tmp_path, **free).fit(X, y)
    assert first.seed_ == second.seed_
    # Another eps is another training.
    PEFSClassifier(max_iter=14, eps=0.5, checkpoint=tmp_path, **QUICK).fit(X, y)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("options", [{}, {"predict_by": "average"}, {"structure": "dynamic"}])
def test_what_was_learnt_before_an_interrupt_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    X, y = task(2)
    kept = {**QUICK, **options, "eps": 0.3, "device": "cpu", "progress": False, "n_jobs": 1}
    whole = PEFSClassifier(**kept, max_iter=60).fit(X, y)
    step = Training._step

    def step_and_stop(training: Training) -> None:
        step(training)
        if training.step % 25 == 0:
            signal.raise_signal(signal.SIGINT)

    model = PEFSClassifier(**kept, max_iter=60, checkpoint=tmp_path / "stored")
    for n_steps in (25, 50):
        with monkeypatch.context() as patch:
            patch.setattr(Training, "_step", step_and_stop)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X, y)
        so_far = PEFSClassifier(**kept, max_iter=n_steps).fit(X, y)
        assert model.n_iter_ == n_steps
        for name in ("theta_", "support_", "gates_", "ranking_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(so_far, name), name)
        np.testing.assert_array_equal(model.predict_proba(X), so_far.predict_proba(X))
        assert model.history_["loss"].tolist() == so_far.history_["loss"].tolist()
    model.fit(X, y)
    assert model.n_iter_ == 60
    np.testing.assert_array_equal(model.theta_, whole.theta_)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_averages_are_means_of_probabilities_and_asked_for_before_fit() -> None:
    X, y = task(0)
    model = PEFSClassifier(max_iter=40, predict_by="average", n_prediction_draws=3, **QUICK)
    model.fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    network = model._network(12)
    gates = model._make_gates(12)
    gates.theta.copy_(torch.from_numpy(model.theta_))
    with torch.no_grad():
        outputs = network(model._scale.apply(X), model._drawn(gates))
    expected = torch.softmax(outputs.double(), dim=-1).mean(dim=0).numpy()
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X[7:9]), probabilities[7:9], rtol=1e-5)
    with pytest.raises(ValueError, match="fit again"):
        model.set_params(predict_by="mask").predict(X)


def test_a_dynamic_structure_is_pruned_to_a_plain_network() -> None:
    X, y = task(2)
    model = PEFSClassifier(
        eps=0.2,
        structure="dynamic",
        structure_eps=0.3,
        max_iter=400,
        **{**QUICK, "hidden_layer_sizes": (16, 16, 16)},
    )
    model.fit(X[:200], y[:200])
    assert model.theta_structure_.shape == (3 * 16 + 2,)
    assert 1 <= len(model.hidden_layer_sizes_) <= 3
    assert sum(model.hidden_layer_sizes_) < 48
    assert model.support_[:2].all()
    assert model.score(X[200:], y[200:]) > 0.75
    average = clone(model).set_params(predict_by="average").fit(X[:200], y[:200])
    np.testing.assert_array_equal(average.theta_, model.theta_)
    assert average.score(X[200:], y[200:]) > 0.75


def test_of_two_features_the_one_that_matters_is_selected() -> None:
    X = np.random.default_rng(0).normal(size=(120, 2))
    for best in range(2):
        y = (X[:, best] > 0).astype(int)
        model = PEFSClassifier(1, max_iter=100, gate_learning_rate=0.05, **QUICK).fit(X, y)
        assert model.support_.nonzero()[0].tolist() == [best]


def test_theta_of_many_features_moves_faster_by_default() -> None:
    for n_features, rate in ((12, 1 / 12), (500, 1 / 500), (4000, 0.0015)):
        assert PEFSClassifier()._make_gates(n_features).rate == pytest.approx(rate)
    dynamic = PEFSClassifier(structure="dynamic", hidden_layer_sizes=(50, 50))
    assert dynamic._make_gates(20).rate == pytest.approx(1 / 121)
    assert PEFSClassifier(gate_learning_rate=0.3)._make_gates(4000).rate == 0.3


def test_nothing_selected_is_said_and_the_shares_are_predicted() -> None:
    X, y = task(2)
    y = np.random.default_rng(0).permutation(y)
    with pytest.warns(UserWarning, match="no feature is selected"):
        model = PEFSClassifier(eps=5.0, max_iter=40, **QUICK).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / len(y))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"eps": -0.1}, "eps"),
        ({"prior": 1.0}, "prior"),
        ({"prior": [0.5, 0.5]}, "prior"),
        ({"batch_size": 1}, "batches of two"),
        ({"structure": "grown"}, "structure"),
        ({"predict_by": "median"}, "predict_by"),
        ({"n_draws": 1}, "n_draws"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_features_to_select": 13}, "n_features_to_select"),
        ({"gate_learning_rate": 0.0}, "gate_learning_rate"),
        ({"structure": "dynamic", "hidden_layer_sizes": ()}, "hidden_layer_sizes"),
        ({"structure": "dynamic", "body": torch.nn.Linear}, "structure='fixed'"),
    ],
)
def test_refusals(parameters: dict[str, Any], words: str) -> None:
    X, y = task(0)
    with pytest.raises(ValueError, match=words):
        PEFSClassifier(**{**QUICK, "max_iter": 2, **parameters}).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [PEFSClassifier, PEFSRegressor])
def test_scikit_learn_checks(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator(eps=0.0, max_iter=120, **QUICK))
