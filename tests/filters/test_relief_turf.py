"""TuRF: rounds by hand, ranks of those that leave, noise that leaves the distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each

from bitsieve import filters


def made(n: int = 60, p: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(9)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, 4] += y
    X[:, 30] -= y
    return X, y


def by_hand(X: Any, y: Any, score: Any, n_rounds: int, n_dropped: int) -> Any:
    left = list(range(X.shape[1]))
    out = np.full(X.shape[1], np.nan)
    leaving: list[list[tuple[int, float]]] = []
    for turn in range(n_rounds):
        found = dict(zip(left, score(X[:, left], y), strict=True))
        if turn == n_rounds - 1 or len(left) == 1:
            break
        worst = sorted(left, key=lambda f: (found[f], -f))[: min(n_dropped, len(left) - 1)]
        leaving.append([(f, found[f]) for f in worst])
        left = [f for f in left if f not in worst]
    for f in left:
        out[f] = found[f]
    floor = min(found[f] for f in left)
    for group in reversed(leaving):
        top = max(s for _, s in group)
        for f, s in group:
            out[f] = s - top + floor - 1
        floor = min(out[f] for f, _ in group)
    return out


@each(("n_iterations", "fraction"), [(1, None), (4, None), (3, 0.3), (9, 0.25)])
@pytest.mark.parametrize("scorer", ["relieff", "multisurf", "relief"])
def test_rounds(scorer: str, n_iterations: int, fraction: float | None) -> None:
    X, y = made()
    found = filters.turf(
        X, y, scorer=scorer, n_iterations=n_iterations, fraction=fraction, n_neighbors=5
    )
    options = {"n_neighbors": 5} if scorer == "relieff" else {}
    wanted = by_hand(
        X,
        y,
        lambda table, target: getattr(filters, scorer)(table, target, **options),
        n_iterations,
        int(40 * (fraction or 1 / n_iterations)),
    )
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_one_round_is_the_scorer() -> None:
    X, y = made()
    np.testing.assert_array_equal(filters.turf(X, y, n_iterations=1), filters.relieff(X, y))


def test_later_rounds_rank_above_earlier_ones() -> None:
    X, y = made()
    found = filters.turf(X, y, n_iterations=5)
    order = np.argsort(-found)
    # 8 leave a round, 8 are left; one lies between a round and the next.
    steps = found[order[7:-1:8]] - found[order[8::8]]
    np.testing.assert_allclose(steps, 1.0)
    assert {4, 30} <= set(order[:8])


def test_noise_leaves_the_distances() -> None:
    """Two features that matter only together, among noise: rounds bring them up."""
    rng = np.random.default_rng(0)
    better = 0
    for _ in range(5):
        X = rng.normal(size=(150, 150))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        once = filters.relieff(X, y)
        rounds = filters.turf(X, y, n_iterations=10)
        places = [np.sort(np.argsort(np.argsort(-s))[:2]).sum() for s in (once, rounds)]
        better += places[1] < places[0]
    assert better >= 3


def test_options_reach_the_scorer() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 6))
    y = X[:, 2] + 0.1 * rng.normal(size=40)
    assert filters.turf(X, y, scorer="rrelieff", n_iterations=3).argmax() == 2
    weights = np.array([0.0, 0, 0, 0, 0, 1.0])
    labels = y > 0
    found = filters.turf(X, labels, feature_weights=weights, n_iterations=2, n_neighbors=3)
    first = filters.relieff(X, labels, feature_weights=weights, n_neighbors=3)
    assert set(np.argsort(-found)[3:]) == set(np.argsort(-first)[3:])
    X[3, 3] = np.nan
    assert np.isfinite(filters.turf(X, labels, missing="ignore")).all()
    assert np.isfinite(filters.turf(X, labels, diff="ramp", n_instances=10, random_state=0)).all()


def test_a_share_of_features_is_rounded_down() -> None:
    """A fifth of 38 is 7.6: 7 leave a round."""
    X, y = made(p=38)
    order = np.argsort(-(found := filters.turf(X, y, n_iterations=2, fraction=0.2)))
    np.testing.assert_array_equal(np.sort(order[:31]), np.flatnonzero(found >= found[order[30]]))
    assert found[order[31]] == pytest.approx(found[order[30]] - 1.0)


@pytest.mark.parametrize("weighted", [[1, 4, 5], [2]])
def test_feature_weights_follow_their_features(weighted: list[int]) -> None:
    """Two rounds by hand; where those that are left all weigh 0, they weigh alike."""
    rng = np.random.default_rng(9)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6))
    X[:, 4] += y
    weights = np.zeros(6)
    weights[weighted] = np.arange(1, 1 + len(weighted))
    first = filters.relieff(X, y, feature_weights=weights)
    left = np.sort(np.argsort(-first, kind="stable")[:3])
    assert weights[left].any() == (weighted != [2])
    own = weights[left] if weights[left].any() else None
    second = filters.relieff(X[:, left], y, feature_weights=own)
    found = filters.turf(X, y, feature_weights=weights, n_iterations=2)
    np.testing.assert_array_equal(found[left], second)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scorer": "relif"}, "scorer 'relif' is unknown; did you mean 'relief'"),
        ({"scorer": 3}, "scorer 3 is unknown"),
        ({"n_iterations": 0}, "n_iterations must be a whole number from 1 on, got 0"),
        ({"fraction": 1.0}, r"fraction must be a number in \(0, 1\) or None, got 1.0"),
        ({"fraction": 2}, r"fraction must be a number in \(0, 1\) or None, got 2"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    X, y = made()
    with pytest.raises(ValueError, match=message):
        filters.turf(X, y, **options)
