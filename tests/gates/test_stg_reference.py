"""STG beside the package ``stg`` on its own task: two moons among columns of noise."""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import io
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from sklearn.datasets import make_moons

from bitsieve.gates import STGClassifier

N_RUNS, N_EPOCHS = 10, 2000
#: Of the package, whose penalty is a mean over the features; ours is a sum.
LAM, N_FEATURES = 0.5, 20


def _task(seed: int) -> tuple[Any, Any]:
    """Two moons in the first two of 20 columns, 300 samples to learn on and 700 others."""
    random = np.random.default_rng(seed)
    moons, y = make_moons(1000, noise=0.1, random_state=seed)
    X = np.hstack([moons, random.normal(size=(1000, N_FEATURES - 2))])
    order = random.permutation(1000)
    return X[order], y[order]


def _theirs(seed: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Selected by the package, which needs names that Python moved."""
    for name in ("Sequence", "Set", "Mapping", "Iterable", "Callable", "MutableMapping"):
        monkeypatch.setattr(collections, name, getattr(collections.abc, name), raising=False)
    stg = pytest.importorskip("stg", exc_type=ImportError)
    X, y = _task(seed)
    with torch.random.fork_rng(), contextlib.redirect_stdout(io.StringIO()):
        torch.manual_seed(seed)
        model = stg.STG(
            task_type="classification",
            input_dim=N_FEATURES,
            output_dim=2,
            hidden_dims=[60, 20],
            activation="tanh",
            optimizer="SGD",
            learning_rate=0.1,
            batch_size=300,
            feature_selection=True,
            sigma=0.5,
            lam=LAM,
            random_state=seed,
            device="cpu",
        )
        model.fit(
            X[:300],
            y[:300],
            nr_epochs=N_EPOCHS,
            valid_X=X[300:],
            valid_y=y[300:],
            print_interval=N_EPOCHS,
        )
        gates = model.get_gates(mode="prob")
    found: list[int] = np.flatnonzero(np.asarray(gates) > 0.5).tolist()
    return found


def _ours(seed: int) -> list[int]:
    X, y = _task(seed)
    model = STGClassifier(
        lam=LAM / N_FEATURES,
        hidden_layer_sizes=(60, 20),
        activation="tanh",
        optimizer="sgd",
        learning_rate=0.1,
        weight_decay=0.0,
        batch_size=None,
        max_epochs=N_EPOCHS,
        standardize=False,
        device="cpu",
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no feature is selected")
        model.fit(X[:300], y[:300])
    found: list[int] = model.get_support(indices=True).tolist()
    return found


@pytest.mark.slow
def test_finds_the_moons_as_often_as_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = [_theirs(seed, monkeypatch) == [0, 1] for seed in range(N_RUNS)]
    ours = [_ours(seed) == [0, 1] for seed in range(N_RUNS)]
    print(f"right features of {N_RUNS} runs: {sum(ours)} here, {sum(theirs)} by stg")
    assert sum(ours) >= sum(theirs)
