"""The particle swarm beside a plain loop, and on functions whose best point is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bitsieve._random import Random, Stream
from bitsieve.model_selection import ParticleSwarm

Floats = NDArray[np.float64]


class TwinSwarm:
    """One particle and one coordinate after the other."""

    def __init__(self, d: int, m: int, n_iter: int, w: Any, c1: float, c2: float, key: int) -> None:
        drawn = Random(key, Stream.search).uniform((2, m, d))
        self.x = [[float(drawn[0, i, j]) for j in range(d)] for i in range(m)]
        self.v = [[float(drawn[1, i, j]) - 0.5 for j in range(d)] for i in range(m)]
        self.own: list[tuple[float, list[float]]] = [(-np.inf, list(x)) for x in self.x]
        self.best = (-np.inf, list(self.x[0]))
        self.given = (n_iter, w, c1, c2, key)
        self.t = 0

    def tell(self, scores: Floats) -> None:
        n_iter, (first, last), c1, c2, key = self.given
        for i, score in enumerate(scores):
            if score > self.own[i][0]:
                self.own[i] = (score, list(self.x[i]))
        for i, score in enumerate(scores):
            if score > self.best[0]:
                self.best = (score, list(self.x[i]))
        w = first + (last - first) * min(self.t / max(n_iter - 1, 1), 1.0)
        self.t += 1
        m, d = len(self.x), len(self.x[0])
        drawn = Random(key, Stream.search, lane=self.t).uniform((2, m, d))
        for i in range(m):
            for j in range(d):
                x, v = self.x[i][j], self.v[i][j]
                v = w * v
                v += c1 * drawn[0, i, j] * (self.own[i][1][j] - x)
                v += c2 * drawn[1, i, j] * (self.best[1][j] - x)
                v = max(-0.5, min(0.5, v))
                x += v
                if x < 0 or x > 1:
                    x, v = max(0.0, min(1.0, x)), -0.5 * v
                self.x[i][j], self.v[i][j] = x, v


def _sphere(center: Floats) -> Any:
    return lambda X: -np.square(X - center).sum(axis=1)


def _steps(center: Floats) -> Any:
    """Choices of three and a valley: as models are, flat in between."""
    return lambda X: (
        -np.abs(np.floor(3 * X) - np.floor(3 * center)).sum(axis=1)
        - np.square(X[:, :2] - center[:2]).sum(axis=1)
    )


def test_it_is_the_loop_in_every_bit() -> None:
    for d, m, n_iter in ((1, 1, 0), (3, 5, 1), (7, 4, 9)):
        given = {"n_iter": n_iter, "inertia": (0.9, 0.3), "cognitive": 1.5, "social": 1.0}
        swarm = ParticleSwarm(d, n_particles=m, key=d, **given)  # type: ignore[arg-type]
        twin = TwinSwarm(d, m, n_iter, (0.9, 0.3), 1.5, 1.0, d)
        function = _steps(np.full(d, 0.4))
        for turn in range(12):
            points = swarm.ask()
            np.testing.assert_array_equal(points, twin.x)
            assert ((points >= 0) & (points <= 1)).all()
            scores = np.round(function(points), 1)  # some are equal
            scores[turn % m] = np.nan if turn % 4 == 3 else scores[turn % m]
            swarm.tell(scores)
            twin.tell(scores)
            assert swarm.best_score == twin.best[0]
            np.testing.assert_array_equal(swarm.best, twin.best[1])


def test_a_step_by_hand() -> None:
    swarm = ParticleSwarm(1, n_particles=2, n_iter=3, inertia=(1.2, 0.4), key=3)
    (a,), (b,) = swarm.ask()
    swarm.tell([1.0, 2.0])  # both were best where they are, and b is the best of all
    start = Random(3, Stream.search).uniform((2, 2, 1))[1].ravel() - 0.5
    _, social = Random(3, Stream.search, lane=1).uniform((2, 2, 1))
    moved = 1.2 * start[0] + 2.0 * social[0, 0] * (b - a), 1.2 * start[1]
    expected = [x + np.clip(v, -0.5, 0.5) for x, v in zip((a, b), moved, strict=True)]
    np.testing.assert_allclose(swarm.ask().ravel(), np.clip(expected, 0, 1))
    assert swarm.best.tolist() == [b]
    assert swarm.best_score == 2.0


def test_it_finds_better_points_than_as_many_draws() -> None:
    for make, d in ((_sphere, 4), (_sphere, 12), (_steps, 8)):
        found, drawn = [], []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            function = make(rng.random(d))
            swarm = ParticleSwarm(d, key=seed)
            for _ in range(26):
                swarm.tell(function(swarm.ask()))
            found.append(swarm.best_score)
            drawn.append(function(rng.random((260, d))).max())
        assert np.mean(np.array(found) >= drawn) >= 0.9
        assert np.mean(found) > np.mean(drawn)


def test_it_is_a_function_of_its_key() -> None:
    def path(key: int) -> Floats:
        swarm = ParticleSwarm(3, key=key)
        points = []
        for _ in range(5):
            points.append(swarm.ask())
            np.testing.assert_array_equal(swarm.ask(), points[-1])
            swarm.tell(_sphere(np.full(3, 0.5))(points[-1]))
        return np.array(points)

    np.testing.assert_array_equal(path(1), path(1))
    assert not (path(1)[0] == path(2)[0]).any()


def test_bad_input_is_told() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"n_dimensions": 0}, "n_dimensions must be a whole number from 1 on, got 0"),
        ({"n_particles": 0}, "n_particles must be a whole number from 1 on, got 0"),
        ({"n_iter": -1}, "n_iter must be a whole number from 0 on, got -1"),
        ({"inertia": 0.7}, "inertia must be two numbers, the first and the last, got 0.7"),
        ({"inertia": (1.2, -1)}, "inertia must be a finite number from 0 on, got -1"),
        ({"social": "much"}, "social must be a finite number from 0 on, got 'much'"),
        ({"key": -1}, "key must lie in"),
    ]
    for given, message in cases:
        with pytest.raises(ValueError, match=message):
            ParticleSwarm(**{"n_dimensions": 2, **given})
    with pytest.raises(ValueError, match="10 scores are expected, got shape \\(3,\\)"):
        ParticleSwarm(2).tell([1.0, 2.0, 3.0])
