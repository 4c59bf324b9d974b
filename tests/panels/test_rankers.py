"""Rankings against scikit-learn's and against plain twins, and what they never depend on."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import RFE, f_classif
from sklearn.linear_model import lars_path
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from bitsieve.filters.named import FILTERS
from bitsieve.panels import RANKERS, Scaling, ranker_by_name
from bitsieve.panels.angles import least_angle_order
from bitsieve.panels.elimination import elimination_order, sizes_of_steps

Array = np.ndarray[Any, Any]
DataSet = Callable[[str], tuple[Array, Array, Any]]


def _drawn(n: int, p: int, n_classes: int, seed: int = 0) -> tuple[Array, Array]:
    """A table in which the first ten features say something of the class."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    X[:, :10] += 0.8 * rng.normal(size=(n_classes, min(10, p)))[codes]
    return Scaling.fit(X).apply(X), codes


def _real(dataset: DataSet, name: str, n_features: int) -> tuple[Array, Array]:
    X, y, _ = dataset(name)
    codes = np.unique(y, return_inverse=True)[1]
    return Scaling.fit(X[:, :n_features]).apply(X[:, :n_features]), codes


def _svm(n_classes: int) -> Any:
    machine = SVC(kernel="linear")
    return machine if n_classes == 2 else OneVsRestClassifier(machine)


def _squares(fitted: Any) -> Array:
    machines = getattr(fitted, "estimators_", [fitted])
    total: Array = np.sum([machine.coef_[0] ** 2 for machine in machines], axis=0)
    return total


def test_f_ranks_as_f_classif(dataset: DataSet) -> None:
    for name in ("west", "khan"):
        Z, codes = _real(dataset, name, 2000)
        order = RANKERS["f"].rank(Z, codes, 200)
        assert np.array_equal(order, np.argsort(-f_classif(Z, codes)[0], kind="stable")[:200])


def test_elimination_is_that_of_rfe_one_by_one(dataset: DataSet) -> None:
    for name in ("west", "khan"):
        Z, codes = _real(dataset, name, 25)
        peer = RFE(
            _svm(codes.max() + 1), n_features_to_select=1, step=1, importance_getter=_squares
        ).fit(Z, codes)
        order = elimination_order(Z, codes, share=0.01)
        assert np.array_equal(order, np.argsort(peer.ranking_))


def test_elimination_is_that_of_rfe_step_by_step(dataset: DataSet) -> None:
    for name in ("west", "khan"):
        Z, codes = _real(dataset, name, 1500)
        order = RANKERS["rfe"].rank(Z, codes, 1500)
        before = 1500
        for size in sizes_of_steps(1500):
            if size < 100:
                break
            left = np.sort(order[:before])
            peer = RFE(
                _svm(codes.max() + 1),
                n_features_to_select=size,
                step=before - size,
                importance_getter=_squares,
            ).fit(Z[:, left], codes)
            # The solver stops within 0.001 of the optimum, so that near ties may fall otherwise.
            assert np.isin(left[peer.support_], order[:size]).mean() >= 0.99
            before = size


def _angles_twin(Z: Array, codes: Array, n_features: int) -> list[int]:
    """Equations 2.4 to 2.13 of Efron et al., with a solve of the active Gram matrix a step."""
    y = (codes == 0) - (codes == 0).mean()
    y = y / np.linalg.norm(y)
    mu, active = np.zeros(len(y)), []
    for _ in range(n_features):
        c = Z.T @ (y - mu)
        rest = np.setdiff1d(np.arange(Z.shape[1]), active)
        j = int(rest[np.argmax(np.abs(c[rest]))])
        active.append(j)
        rest = rest[rest != j]
        most, signs = np.abs(c[active]).max(), np.sign(c[active])
        signed = Z[:, active] * signs
        u = signed @ np.linalg.solve(signed.T @ signed, np.ones(len(active)))
        a = Z.T @ u
        steps = np.concatenate([(most - c[rest]) / (1 - a[rest]), (most + c[rest]) / (1 + a[rest])])
        mu = mu + min(most, steps[steps > 1e-14].min(initial=most)) * u
    return active


def test_least_angles_are_those_of_the_paper_and_of_lars_path(dataset: DataSet) -> None:
    for name in ("west", "pomeroy"):
        Z, codes = _real(dataset, name, 3000)
        order = least_angle_order(Z, codes, 200)
        assert order.tolist() == _angles_twin(Z, codes, len(Z) - 1)
        y = (codes == 0) - (codes == 0).mean()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, active, path = lars_path(Z, y, method="lar", max_iter=len(order))
        # From the first change of a sign on lars_path leaves the equal angles.
        signs = np.sign(path[:, 1:])
        turned = (signs[:, 1:] * signs[:, :-1] < 0).any(axis=0)
        same = int(np.argmax(turned)) + 1 if turned.any() else len(active)
        assert same >= 8
        assert active[:same] == order[:same].tolist()


def test_least_angles_of_several_classes_are_merged_by_entry() -> None:
    Z, codes = _drawn(40, 300, 4)
    paths = [_angles_twin(Z, (codes != c).astype(int), 12) for c in range(4)]
    order = RANKERS["lars"].rank(Z, codes, 60).tolist()
    done: set[int] = set()
    for step in zip(*paths, strict=True):
        new = set(step) - done
        assert set(order[len(done) : len(done) + len(new)]) == new
        done |= new
    assert len(done) > 30
    first = {path[0] for path in paths}
    y = (codes[:, None] == np.arange(4)) - 0.25
    assert order[0] in first
    assert np.abs(y.T @ Z).max() == pytest.approx(np.abs(y.T @ Z[:, order[0]]).max())


def test_least_angles_pass_over_copies_and_go_on_by_f() -> None:
    Z, codes = _drawn(12, 20, 2)
    Z = np.ascontiguousarray(np.hstack([Z, -Z[:, :5], Z[:, :1] / 2 + Z[:, 1:2] / 2]))
    order = RANKERS["lars"].rank(Z, codes, 26)
    path = least_angle_order(Z, codes, 26)
    assert len(path) == 11
    assert not np.isin(path, np.arange(20, 25)).any()
    by_f = RANKERS["f"].rank(Z, codes, 26)
    assert order.tolist() == [*path, *by_f[~np.isin(by_f, path)]]


def test_the_aggregate_is_the_mean_position() -> None:
    Z, codes = _drawn(30, 250, 3)
    lists = {name: RANKERS[name].rank(Z, codes, 200) for name in ("f", "relieff", "mrmr")}
    place = np.full((3, 250), 201.0)
    for row, order in zip(place, lists.values(), strict=True):
        row[order] = np.arange(1, 201)
    twin = np.lexsort((np.arange(250), place.mean(axis=0)))
    given = RANKERS["aggregate"].rank(Z, codes, 50, others=lists)
    assert given.tolist() == twin[:50].tolist()
    assert np.array_equal(RANKERS["aggregate"].rank(Z, codes, 50), given)
    # Whatever else is compared: lists that are missing, or too short, it makes itself.
    others = {"f": lists["f"], "relieff": lists["relieff"][:60], "jmi": lists["f"][::-1]}
    assert np.array_equal(RANKERS["aggregate"].rank(Z, codes, 50, others=others), given)


def test_rankings_know_neither_the_names_of_classes_nor_threads() -> None:
    for n_classes in (2, 4):
        Z, codes = _drawn(37, 333, n_classes)
        renamed = np.array([7, -1, 3, 2])[codes]
        for ranker in RANKERS.values():
            order = ranker.rank(Z, codes, 60)
            assert order.dtype == np.int64
            assert len(set(order.tolist())) == 60
            assert np.array_equal(ranker.rank(Z, renamed, 60), order), ranker.name
            assert np.array_equal(ranker.rank(Z, codes, 60, n_threads=3), order), ranker.name
            assert np.array_equal(ranker.rank(Z, codes, 17), order[:17]), ranker.name
            assert sorted(ranker.rank(Z, codes, 1000)) == list(range(333)), ranker.name
            assert np.isin(np.arange(10), order[:60]).sum() >= 5, ranker.name


def test_constant_features_come_last_in_their_order() -> None:
    Z, codes = _drawn(20, 30, 2)
    Z[:, [0, 4, 29]] = 0.0
    Z[:, 7] = 3.0
    _, there = np.unique(codes, return_inverse=True)
    for ranker in [*RANKERS.values(), ranker_by_name("jmi"), ranker_by_name("s2n")]:
        order = ranker.rank(Z, there, 30)
        assert order[-4:].tolist() == [0, 4, 7, 29], ranker.name
        lists = {"f": RANKERS["f"].rank(Z, there, 30)}
        assert np.array_equal(ranker.rank(Z, there, 28, others=lists)[-2:], [0, 4])
        assert ranker.rank(np.zeros((20, 3)), codes, 5).tolist() == [0, 1, 2]
        assert ranker.rank(Z[:, 1:2].copy(), codes, 5).tolist() == [0]


def test_every_filter_that_takes_classes_ranks_by_its_name() -> None:
    Z, codes = _drawn(24, 40, 2)
    refused = {"chi2", "rrelieff", "variance"}
    for name in refused:
        with pytest.raises(ValueError, match=f"selector '{name}' "):
            ranker_by_name(name)
    for name, found in FILTERS.items():
        if name in refused:
            continue
        ranker = ranker_by_name(name)
        order = ranker.rank(Z, codes, 25)
        assert len(set(order.tolist())) == 25, name
        if not found.greedy and name not in RANKERS:
            scores = found.rank(Z, codes, random_state=0).scores
            assert np.all(np.diff(scores[order]) <= 0), name
        assert ranker.cost(80, 10_000, 2, 200) > 0


def test_what_cannot_be_ranked_is_refused() -> None:
    Z, codes = _drawn(10, 5, 2)
    with pytest.raises(ValueError, match="unknown selector 'rfee': did you mean 'rfe'"):
        ranker_by_name("rfee")
    with pytest.raises(ValueError, match="two classes or more"):
        RANKERS["rfe"].rank(Z, np.zeros(10, dtype=int), 3)
    with pytest.raises(ValueError, match="n_features must be"):
        RANKERS["f"].rank(Z, codes, 0)
    assert ranker_by_name("ANOVA") is RANKERS["f"]
