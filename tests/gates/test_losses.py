"""Losses against slow twins, finite differences, scikit-learn and lifelines."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.typing import NDArray
from sklearn.metrics import log_loss, mean_squared_error

torch = pytest.importorskip("torch")

from bitsieve.gates.losses import (  # noqa: E402
    TIES,
    CoxPartialLikelihood,
    CrossEntropy,
    Loss,
    SquaredError,
)

Floats = NDArray[np.float64]


def slow_cox(eta: Floats, event: Any, time: Floats, weight: Floats, ties: str) -> float:
    """Minus the log partial likelihood, for each event; one event after the other."""
    there = weight > 0
    eta, event, time, weight = eta[there], event[there], time[there], weight[there]
    scaled = weight * np.exp(eta)
    total = 0.0
    for t in np.unique(time[event]):
        tied = event & (time == t)
        at_risk, of_tied, d = scaled[time >= t].sum(), scaled[tied].sum(), int(tied.sum())
        total += weight[tied] @ eta[tied]
        for rank in range(d):
            off = rank / d * of_tied if ties == "efron" else 0.0
            share = weight[tied].mean() if ties == "efron" else weight[tied][rank]
            total -= share * np.log(at_risk - off)
    return -total / float(weight[event].sum())


def survival_of(
    seed: int, n: int, n_times: int
) -> tuple[Floats, NDArray[np.bool_], Floats, Floats]:
    rng = np.random.default_rng(seed)
    eta = 2 * rng.normal(size=n)
    time = rng.integers(1, n_times + 1, n).astype(float)
    event = rng.random(n) < 0.6
    event[rng.integers(n)] = True
    return eta, event, time, rng.uniform(0.2, 3.0, n)


def cox(
    eta: Floats, event: Any, time: Floats, weight: Floats | None = None, ties: str = "efron"
) -> float:
    outputs = torch.from_numpy(np.atleast_2d(eta))[..., None]
    target = torch.from_numpy(np.column_stack((event, time)).astype(np.float64))
    of = None if weight is None else torch.from_numpy(weight)
    found = CoxPartialLikelihood(ties).of_draws(outputs, target, of)
    assert found.shape == (len(outputs),)
    return float(found[0])


@each("seed", range(20))
@each("ties", TIES)
@each("n, n_times", [(2, 1), (3, 2), (17, 4), (40, 1), (65, 500), (120, 9)])
def test_cox_is_its_slow_twin(seed: int, ties: str, n: int, n_times: int) -> None:
    eta, event, time, weight = survival_of(seed, n, n_times)
    ones = np.ones(n)
    assert np.isclose(cox(eta, event, time, None, ties), slow_cox(eta, event, time, ones, ties))
    weighted = slow_cox(eta, event, time, weight, ties)
    assert np.isclose(cox(eta, event, time, weight, ties), weighted)
    weight[: n // 3] = 0
    if (event & (weight > 0)).any():
        without = cox(eta[n // 3 :], event[n // 3 :], time[n // 3 :], weight[n // 3 :], ties)
        assert np.isclose(cox(eta, event, time, weight, ties), without, rtol=1e-13)


def test_draws_are_apart_and_order_does_not_matter() -> None:
    _, event, time, weight = survival_of(3, 50, 8)
    eta = np.random.default_rng(0).normal(size=(4, 50))
    target = torch.from_numpy(np.column_stack((event, time)).astype(np.float64))
    turned = torch.from_numpy(np.random.default_rng(1).permutation(50))
    for ties in TIES:
        loss, of = CoxPartialLikelihood(ties), torch.from_numpy(weight)
        outputs = torch.from_numpy(eta)[..., None]
        found = loss.of_draws(outputs, target, of)
        alone = [cox(row, event, time, weight, ties) for row in eta]
        assert np.allclose(found, alone, rtol=1e-13)
        again = loss.of_draws(outputs[:, turned], target[turned], of[turned])
        assert np.allclose(found, again, rtol=1e-13)


def test_ties_differ_only_where_events_tie() -> None:
    eta, event, time, weight = survival_of(1, 30, 6)
    assert cox(eta, event, time, weight, "efron") < cox(eta, event, time, weight, "breslow")
    time = np.arange(30) / 7
    assert cox(eta, event, time, weight, "efron") == cox(eta, event, time, weight, "breslow")


@each("ties", TIES)
def test_whole_weights_are_copies_where_ties_are_breslows(ties: str) -> None:
    eta, event, time, _ = survival_of(5, 30, 7)
    counts = np.random.default_rng(2).integers(1, 4, 30)
    copied = cox(*(np.repeat(a, counts) for a in (eta, event, time)), None, ties)
    weighted = cox(eta, event, time, counts.astype(float), ties)
    assert np.isclose(copied, weighted) == (ties == "breslow")  # Efron's copies tie, weights do not


@each("ties", TIES)
@each("n_times", [3, 30])
def test_gradient_of_cox_is_that_of_finite_differences(ties: str, n_times: int) -> None:
    eta, event, time, weight = survival_of(4, 30, n_times)
    weight[:3] = 0
    outputs = torch.from_numpy(np.stack((eta, -eta)))[..., None].requires_grad_()
    target = torch.from_numpy(np.column_stack((event, time)).astype(np.float64))
    loss = CoxPartialLikelihood(ties)
    for of in (None, torch.from_numpy(weight)):
        assert torch.autograd.gradcheck(lambda o, of=of: loss.of_draws(o, target, of), (outputs,))


@each("ties", TIES)
def test_cox_neither_overflows_nor_divides_by_nothing(ties: str) -> None:
    eta, event, time, _ = survival_of(6, 40, 5)
    for factor in (1e3, 1e6, 1e30):
        outputs = torch.tensor(eta * factor, dtype=torch.float32)[None, :, None].requires_grad_()
        target = torch.from_numpy(np.column_stack((event, time)).astype(np.float64))
        loss = CoxPartialLikelihood(ties).of_draws(outputs, target, None)
        loss.sum().backward()
        assert torch.isfinite(loss).all()
        assert torch.isfinite(outputs.grad).all()
        assert loss.dtype == torch.float32
        assert float(loss.detach()) > 0
    assert np.isclose(cox(eta + 1e6, event, time, None, ties), cox(eta, event, time, None, ties))


def test_batch_without_events_has_loss_0_and_no_gradient() -> None:
    time = torch.arange(6, dtype=torch.float64)
    event = torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    for of, seen in ((None, torch.zeros(6)), (1 - event, event)):  # none, or one of weight 0
        outputs = torch.randn(3, 6, 1, requires_grad=True)
        target = torch.stack((seen.double(), time), dim=1)
        loss = CoxPartialLikelihood().of_draws(outputs, target, of)
        loss.sum().backward()
        assert loss.tolist() == [0.0, 0.0, 0.0]
        assert not outputs.grad.any()


def test_choice_of_ties_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="ties must be 'efron' or 'breslow', got 'exact'"):
        CoxPartialLikelihood("exact")


@each("weighted", [False, True])
@each("n_times", [12, 10**6])
def test_cox_has_the_value_and_the_optimum_of_lifelines(weighted: bool, n_times: int) -> None:
    lifelines = pytest.importorskip("lifelines")
    import pandas as pd

    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 3))
    _, event, time, weight = survival_of(8, 120, n_times)
    frame = pd.DataFrame(X).assign(time=time, event=event)
    options: dict[str, Any] = {}
    if weighted:
        frame["weight"], options = weight, {"weights_col": "weight", "robust": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = lifelines.CoxPHFitter().fit(frame, "time", "event", **options)
    beta = theirs.params_.to_numpy()
    of = weight if weighted else None
    share = weight[event].sum() if weighted else event.sum()
    found = cox(X @ beta, event, time, of)
    assert np.isclose(-found * share, theirs.log_likelihood_, rtol=1e-9)
    # Their estimate is where our gradient vanishes.
    b = torch.tensor(beta, requires_grad=True)
    outputs = (torch.from_numpy(X) @ b)[None, :, None]
    target = torch.from_numpy(np.column_stack((event, time)).astype(np.float64))
    weights = torch.from_numpy(weight) if weighted else None
    CoxPartialLikelihood().of_draws(outputs, target, weights).sum().backward()
    assert b.grad is not None
    assert float(b.grad.abs().max()) < 1e-5


@each("n_classes", [2, 4])
def test_cross_entropy_is_scikit_learns(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    outputs = torch.from_numpy(3 * rng.normal(size=(2, 25, n_classes)))
    codes = np.r_[np.arange(n_classes), rng.integers(n_classes, size=25 - n_classes)]
    weight, of_class = rng.uniform(0, 2, 25), rng.uniform(0.1, 2, n_classes)
    target = torch.from_numpy(codes)
    p = torch.softmax(outputs, dim=-1).numpy()
    plain, classed = CrossEntropy(n_classes), CrossEntropy(n_classes, torch.from_numpy(of_class))
    w = torch.from_numpy(weight)
    for loss, given, total in (
        (plain, None, None),
        (plain, w, weight),
        (classed, None, of_class[codes]),
        (classed, w, weight * of_class[codes]),
    ):
        found = loss.of_draws(outputs, target, given)
        theirs = [log_loss(codes, one, sample_weight=total) for one in p]
        assert np.allclose(found, theirs, rtol=1e-12)


def test_cross_entropy_of_classes_is_torchs() -> None:
    outputs, target = torch.randn(1, 30, 3), torch.arange(30) % 3
    of_class = torch.tensor([0.2, 1.0, 3.0])
    theirs = torch.nn.functional.cross_entropy(outputs[0], target, weight=of_class)
    found = CrossEntropy(3, of_class.double()).of_draws(outputs, target, None)
    assert found.dtype == torch.float32
    assert torch.allclose(found[0], theirs)


def test_squared_error_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    outputs, y, weight = rng.normal(size=(3, 20, 1)), rng.normal(size=20), rng.uniform(0, 2, 20)
    for given in (None, weight):
        of = None if given is None else torch.from_numpy(given)
        found = SquaredError().of_draws(torch.from_numpy(outputs), torch.from_numpy(y), of)
        theirs = [mean_squared_error(y, one[:, 0], sample_weight=given) for one in outputs]
        assert np.allclose(found, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "target", "n_outputs"),
    [
        (CrossEntropy(3), torch.arange(12) % 3, 3),
        (SquaredError(), torch.linspace(-1, 1, 12, dtype=torch.float64), 1),
    ],
    ids=["classes", "numbers"],
)
def test_gradients_are_those_of_finite_differences(loss: Loss, target: Any, n_outputs: int) -> None:
    outputs = torch.randn(2, 12, n_outputs, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(12, dtype=torch.float64)
    weight[4] = 0
    for of in (None, weight):
        assert torch.autograd.gradcheck(lambda o, of=of: loss.of_draws(o, target, of), (outputs,))
        loss.of_draws(outputs, target, of).sum().backward()
    # A batch in which nothing counts.
    outputs.grad = None
    nothing = loss.of_draws(outputs, target, torch.zeros(12, dtype=torch.float64))
    nothing.sum().backward()
    assert nothing.tolist() == [0.0, 0.0]
    assert not outputs.grad.any()
