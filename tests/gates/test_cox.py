"""STGCox: right features, the optimum of lifelines, targets of all forms, scikit-learn's tools."""

from __future__ import annotations

import pickle
import signal
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

torch = pytest.importorskip("torch")

import bitsieve.gates._base as base  # noqa: E402
from bitsieve.gates import STGCox  # noqa: E402
from bitsieve.gates.survival import (  # noqa: E402
    EventKFold,
    Survival,
    baseline_hazard,
    concordance_index,
)
from bitsieve.gates.training import Training  # noqa: E402

BETA = np.array([1.2, 0.0, -0.8, 0.0, 0.0, 0.0, 0.0, 0.0])
QUICK: dict[str, Any] = {"max_epochs": 50, "lam": 0.02, "random_state": 0}


def sample(seed: int = 0, n: int = 250) -> tuple[Any, Any]:
    """Exponential times whose hazard is exp(X BETA), a fifth censored, in tied days."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(BETA)))
    time = np.ceil(20 * rng.exponential(np.exp(-X @ BETA)))
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(n) < 0.8, time
    return X, y


def test_it_finds_the_features_and_orders_the_risks() -> None:
    for seed in range(3):
        X, y = sample(seed)
        model = STGCox(lam=0.03, max_epochs=100, random_state=seed).fit(X, y)
        assert model.get_support(indices=True).tolist() == [0, 2]
        assert model.transform(X).tolist() == X[:, [0, 2]].tolist()
        X_new, y_new = sample(seed + 100)
        risk = model.predict(X_new)
        assert risk.shape == (250,)
        assert np.corrcoef(risk, X_new @ BETA)[0, 1] > 0.98
        assert model.score(X_new, y_new) == concordance_index(y_new, risk)
        assert model.score(X_new, y_new) > 0.75
        assert model.score(X_new, y_new) < concordance_index(y_new, X_new @ BETA) + 0.01


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_without_gates_it_is_the_cox_model_of_lifelines(ties: str) -> None:
    lifelines = pytest.importorskip("lifelines")
    X, y = sample()
    frame = pd.DataFrame(X).assign(time=y["time"], event=y["event"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = lifelines.CoxPHFitter().fit(frame, "time", "event")
    model = STGCox(
        gate="none",
        lam=0.0,
        ties=ties,
        weight_decay=0.0,
        max_epochs=250,
        random_state=0,
    ).fit(X, y)
    ours = np.linalg.lstsq(X - X.mean(axis=0), model.predict(X) - model.predict(X).mean())[0]
    # Theirs has Efron's ties alone; Breslow's shrink the coefficients.
    difference = np.abs(ours - theirs.params_.to_numpy()).max()
    assert (difference < 1e-3) == (ties == "efron")
    assert difference < 0.2
    if ties == "efron":
        times = model.event_times_[[0, 3, 30]]  # between events theirs interpolates
        expected = theirs.predict_survival_function(frame.iloc[:20], times=times).to_numpy().T
        found = model.predict_survival_function(X[:20], times)
        assert np.abs(found - expected).max() < 2e-3


def test_survival_is_the_baseline_to_the_power_of_the_risk() -> None:
    X, y = sample()
    model = STGCox(**QUICK).fit(X, y)
    risk = model.predict(X)
    times, hazard = baseline_hazard(Survival(y["event"], y["time"]), risk)
    assert model.event_times_.tolist() == times.tolist()
    assert np.allclose(model.cumulative_baseline_hazard_, hazard)
    found = model.predict_survival_function(X)
    assert np.allclose(found, np.exp(-hazard) ** np.exp(risk)[:, None])
    assert (np.diff(found, axis=1) <= 0).all()
    at = [0.0, times[0], np.nextafter(times[1], 0), times[1], 1e9]
    one = model.predict_cumulative_hazard_function(X[:1], times=at)[0]
    assert np.allclose(one, np.exp(risk[0]) * hazard[[0, 0, 0, 1, -1]] * [0, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="times must be a list of numbers, none of them NaN"):
        model.predict_survival_function(X, times=[np.nan])


def test_every_form_of_the_target_trains_the_same() -> None:
    X, y = sample(n=80)
    columns = np.column_stack((y["event"], y["time"]))
    risk = STGCox(**QUICK).fit(X, y).predict(X)
    for form in (columns, columns[:, ::-1], pd.DataFrame(columns, columns=["event", "time"])):
        model = STGCox(**QUICK).fit(X, form)
        assert model.predict(X).tolist() == risk.tolist()
        assert model.score(X, form) == concordance_index(y, risk)
    assert STGCox(**{**QUICK, "random_state": 1}).fit(X, y).predict(X).tolist() != risk.tolist()


def test_names_of_a_frame_are_kept() -> None:
    X, y = sample(n=80)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = STGCox(**QUICK).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    expected = np.array(list("abcdefgh"))[model.support_].tolist()
    assert model.get_feature_names_out().tolist() == expected


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: y["time"], "y must hold an event and a time a sample"),
        (lambda y: y[:-1], "X has 60 samples but y has 59 times"),
        (lambda y: np.column_stack((np.zeros(60), y["time"])), "y has no event: all 60 times"),
        (lambda y: np.column_stack((y["event"], -y["time"])), "from 0 on, got -"),
    ],
)
def test_targets_are_refused_in_words(change: Callable[[Any], Any], words: str) -> None:
    X, y = sample(n=60)
    with pytest.raises(ValueError, match=words):
        STGCox(**QUICK).fit(X, change(y))
    with pytest.raises(ValueError, match="ties must be 'efron' or 'breslow', got 'exact'"):
        STGCox(ties="exact").fit(X, y)


def test_scikit_learns_tools_take_it() -> None:
    X, y = sample(n=150)
    model = STGCox(**QUICK, ties="breslow")
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.get_params()["ties"] == "breslow"
    for cv in (3, EventKFold(3, shuffle=True, random_state=0)):
        scores = cross_val_score(model, X, y, cv=cv, error_score="raise")
        assert scores.shape == (3,)
        assert scores.min() > 0.6
    folds = list(EventKFold(3, shuffle=True, random_state=0).split(X, y))
    by_hand = [clone(model).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]
    assert scores.tolist() == by_hand
    search = GridSearchCV(model, {"lam": [0.02, 5.0]}, cv=EventKFold(2), error_score="raise")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no feature is selected")
        search.fit(X, y)
    assert search.best_params_ == {"lam": 0.02}
    piped = make_pipeline(StandardScaler(), model).fit(X, y)
    assert piped.score(X, y) == model.fit(X, y).score(X, y)


def test_pickle_predicts_the_same() -> None:
    X, y = sample(n=100)
    model = STGCox(**QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.predict_survival_function(X).tolist() == (
        model.predict_survival_function(X).tolist()
    )


def test_it_walks_to_a_size_and_chooses_one() -> None:
    X, y = sample()
    two = STGCox(2, max_epochs=200, random_state=0).fit(X, y)
    assert two.get_support(indices=True).tolist() == [0, 2]
    model = STGCox(lam="auto", max_epochs=200, random_state=0).fit(X, y)
    assert model.support_[[0, 2]].all()
    row = int(np.argmin(model.path_["validation_loss"]))
    assert model.path_["n_features"][row] == model.n_features_
    assert np.corrcoef(model.predict(X), X @ BETA)[0, 1] > 0.97


def test_weights_of_0_leave_samples_out() -> None:
    X, y = sample(n=120)
    weight = np.repeat([1.0, 0.0], [90, 30])
    mixed = np.vstack((X[:90], 100 * X[90:]))
    model = STGCox(**QUICK, standardize=False).fit(mixed, y, sample_weight=weight)
    alone = STGCox(**QUICK, standardize=False).fit(X[:90], y[:90])
    difference = model.predict(X) - alone.predict(X)  # a constant has no part in the likelihood
    assert np.ptp(difference) < 1e-3
    assert np.ptp(alone.predict(X)) > 1
    assert np.allclose(
        model.predict_survival_function(X, [5.0, 9.0]),
        alone.predict_survival_function(X, [5.0, 9.0]),
        atol=1e-3,
    )
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        model.fit(X, y, weights=weight)


def test_batches_may_be_without_events() -> None:
    X, y = sample(n=100)
    y["event"] = False
    y["event"][:5] = True
    model = STGCox(**{**QUICK, "max_epochs": 5, "lam": 0.0}, batch_size=8).fit(X, y)
    assert np.isfinite(model.history_["loss"]).all()
    assert np.isfinite(model.predict(X)).all()


def test_noise_is_rejected_on_real_data(data_dir: Any) -> None:
    path = data_dir / "metabric_survival.npz"
    if not path.is_file():
        pytest.skip(f"needs real data: {path} is not there")
    with np.load(path, allow_pickle=False) as archive:
        X, y = archive["X"], np.column_stack((archive["event"], archive["time"]))
    X = np.hstack((X, np.random.default_rng(0).normal(size=(len(X), 50)))).astype(np.float64)
    train, test = next(EventKFold(4, shuffle=True, random_state=0).split(X, y))
    model = STGCox(lam=0.01, max_epochs=100, random_state=0).fit(X[train], y[train])
    assert model.support_[8], "age at diagnosis"
    assert not model.support_[9:].any()
    assert model.score(X[test], y[test]) > 0.58


def test_the_validation_part_shares_the_events_and_keeps_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = sample(n=120)
    draw, parts = base.holdout, []

    def keep(*args: Any, **options: Any) -> Any:
        parts.append(draw(*args, **options))
        return parts[-1]

    monkeypatch.setattr(base, "holdout", keep)
    few = {**QUICK, "max_epochs": 5, "early_stopping": True, "validation_fraction": 0.25}
    STGCox(**few).fit(X, y)
    event = y["event"]
    assert parts[0][event].sum() == round(0.25 * event.sum())
    assert parts[0][~event].sum() == round(0.25 * (~event).sum())
    groups = np.arange(120) // 4
    STGCox(**few).fit(X, y, groups=groups)
    assert set(np.bincount(groups[parts[1]], minlength=30)) == {0, 4}


def test_ctrl_c_leaves_a_model_and_a_file_to_go_on_from(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = sample(n=80)
    few = {**QUICK, "max_epochs": 12}
    whole = STGCox(**few).fit(X, y)
    model = STGCox(**few, checkpoint=tmp_path, progress=False, device="cpu", n_jobs=1)
    finish = Training._finish_epoch

    def stop(training: Training) -> None:
        finish(training)
        if training.epoch == 5:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "_finish_epoch", stop)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert model.n_iter_ == 5
    assert model.predict_survival_function(X).shape == (80, len(model.event_times_))
    model.fit(X, y)
    assert model.n_iter_ == 12
    assert model.predict(X).tolist() == whole.predict(X).tolist()
    assert model.history_["loss"].tolist() == whole.history_["loss"].tolist()
    assert model.cumulative_baseline_hazard_.tolist() == whole.cumulative_baseline_hazard_.tolist()
