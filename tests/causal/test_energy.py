"""Potentials and energies worked by hand, and minima by iterated conditional modes."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest

from bitsieve.causal.energy import Energy
from bitsieve.causal.energy_fitness import EnergyFitness
from bitsieve.causal.kept_errors import KeptErrors
from bitsieve.causal.potentials import (
    association,
    observation,
    predictive_rank,
    relevance,
)
from bitsieve.causal.terms import PRESETS, Terms
from bitsieve.masks import Masks


class Errors:
    """Errors of pairs from a square table, its diagonal those of single features."""

    def __init__(self, table: object) -> None:
        self.table = np.asarray(table, dtype=np.float64)
        self.single = self.table.diagonal()

    def row(self, feature: int) -> np.ndarray:
        return self.table[feature]


def drawn(seed: int, p: int = 9) -> Energy:
    random = np.random.default_rng(seed)
    table = random.uniform(0.05, 0.5, (p, p))
    table = np.minimum(table, table.T)
    positions = [random.permutation(p) + 1 for _ in range(4)]
    return Energy(positions, Errors(table), n_samples=100, global_blanket=[0, 3])


# Three features in two rankings: positions 1 2 3 and 2 1 3. Alone they err by 0.1, 0.2, 0.2.
POSITIONS = [[1, 2, 3], [2, 1, 3]]
TABLE = [[0.1, 0.05, 0.0], [0.05, 0.2, 0.25], [0.0, 0.25, 0.2]]
# Relevance 1/3, 1/3, 1/6; places by error 1, 2.5, 2.5, so 1, 2/5, 2/5; sums 4/3, 11/15, 17/30.
SCORES = [4 / 3, 11 / 15, 17 / 30]
TOTAL = 79 / 30  # 40/30 + 22/30 + 17/30


def test_equations_by_hand() -> None:
    np.testing.assert_allclose(relevance(POSITIONS), [1 / 3, 1 / 3, 1 / 6])
    np.testing.assert_allclose(predictive_rank([0.1, 0.2, 0.2]), [1, 0.4, 0.4])
    # Shares 40/79, 22/79, 17/79.
    expected = [log(80 / 79), log(66 / 79), log(17 / 79)]
    np.testing.assert_allclose(observation(SCORES, [2, 3, 1]), expected)
    # Error 0.05: log(4 / 0.05); no error with 10 samples: 1/20, log(2 * 20).
    found = association([0.05, 0.0], [4, 2], n_samples=10)
    np.testing.assert_allclose(found, [log(80), log(40)])


def test_energy_by_hand() -> None:
    energy = Energy(POSITIONS, Errors(TABLE), n_samples=10, global_blanket=[1])
    np.testing.assert_allclose(energy.scores, SCORES)
    # Both pairs count, (0, 1) and (1, 0); W of features 0 and 1 is 2 and 3, of the pair 4.
    wanted = -(log(80 / 79) + log(66 / 79) + 2 * log(4 / 0.05))
    assert energy.value([0, 1], [0, 1]) == pytest.approx(wanted, rel=1e-14)
    assert energy.value([1], []) == pytest.approx(-log(44 / 79), rel=1e-14)
    # In both blankets: W is 3 of each, 5 of the pair, the most.
    both = Energy(POSITIONS, Errors(TABLE), n_samples=10, global_blanket=[0, 1])
    wanted = -(log(120 / 79) + log(66 / 79) + 2 * log(5 / 0.05))
    assert both.value([0, 1], [1, 0]) == pytest.approx(wanted, rel=1e-14)
    # Without a blanket, the three pairs: 0.05, the floor 1/20, 0.25.
    plain = Energy(
        POSITIONS, Errors(TABLE), n_samples=10, global_blanket=[1], terms=PRESETS["ebm-lm"]
    )
    wanted = -(log(40 / 79) + log(22 / 79) + log(17 / 79) + 2 * (log(20) + log(20) + log(4)))
    assert plain.value([2, 0, 1], [0, 1]) == pytest.approx(wanted, rel=1e-14)
    # Shares of the two alone: 40/62, 22/62.
    within = Energy(
        POSITIONS,
        Errors(TABLE),
        n_samples=10,
        terms=Terms(association=0, normalize="configuration"),
    )
    assert within.value([0, 1]) == pytest.approx(-log(40 / 62) - log(22 / 62), rel=1e-14)


def test_each_term_alone() -> None:
    make = lambda **terms: Energy(  # noqa: E731
        POSITIONS, Errors(TABLE), n_samples=10, global_blanket=[1], terms=Terms(**terms)
    )
    np.testing.assert_allclose(make(predictive=0).scores, [1 / 3, 1 / 3, 1 / 6])
    np.testing.assert_allclose(make(relevance=0).scores, [1, 0.4, 0.4])
    half, whole, none = (make(association=w).value([0, 1]) for w in (0.5, 1, 0))
    assert half - none == pytest.approx((whole - none) / 2)
    gap = make(association=0, global_blanket=0).value([1]) - make(association=0).value([1])
    assert gap == pytest.approx(log(2))
    gap = make(association=0, local_blanket=3).value([0], [0]) - make(association=0).value([0])
    assert gap == pytest.approx(-log(4))


def test_lm_is_its_ranking() -> None:
    for seed in range(20):
        base = drawn(seed)
        energy = Energy(np.ones((1, 9)), base.errors, n_samples=100, terms=PRESETS["lm"])
        found = energy.minimize(np.arange(4))
        assert sorted(found.features) == sorted(energy.start(4))


@pytest.mark.parametrize("normalize", ["all", "configuration"])
@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_minimum_against_all_configurations(size: int, normalize: str) -> None:
    n_least = 0
    for seed in range(40):
        base = drawn(seed)
        terms = Terms(normalize=normalize, local_blanket=0)  # type: ignore[arg-type]
        energy = Energy(
            np.random.default_rng(seed).permutation(9)[None] + 1,
            base.errors, n_samples=100, global_blanket=[0, 3], terms=terms,
        )  # fmt: skip
        found = energy.minimize(energy.start(size))
        assert found.converged
        assert len(set(found.features)) == size
        assert (np.diff(found.energies) < 0).all()
        assert found.energy == energy.value(found.features)
        least = min(energy.value(c) for c in combinations(range(9), size))
        assert found.energy >= least - 1e-12
        n_least += found.energy <= least + 1e-9
        # No single exchange is better: a mode of each site given the others.
        for site in range(size):
            for other in set(range(9)) - set(found.features.tolist()):
                moved = found.features.copy()
                moved[site] = other
                assert energy.value(moved) >= found.energy - 1e-9
    print(f"size {size}, {normalize}: the least energy in {n_least} of 40")
    assert n_least == 40 if size in (1, 9) else n_least >= 20


def test_local_blanket_is_found_between_sweeps_and_the_best_kept() -> None:
    n_energies, n_earlier = [], 0
    for seed in range(30):
        energy = drawn(seed)
        asked: list[list[int]] = []

        def blanket(chosen: np.ndarray, asked: list[list[int]] = asked) -> list[int]:
            asked.append(sorted(chosen.tolist()))
            return asked[-1] if len(asked) % 2 else []

        found = energy.minimize(energy.start(9)[-3:], local_blanket=blanket, max_sweeps=7)
        assert len(asked) == len(found.energies) <= 8
        at = int(found.energies.argmin())
        assert found.energy == found.energies[at]
        assert sorted(found.features.tolist()) == asked[at]
        local = asked[at] if at % 2 == 0 else []
        assert found.energy == energy.value(found.features, local)
        n_energies.append(len(found.energies))
        n_earlier += at < len(found.energies) - 1
    assert max(n_energies) >= 3  # several sweeps
    assert n_earlier  # the best was not always the last


def test_equal_features_go_to_the_lowest_index() -> None:
    energy = Energy(np.full((2, 5), 3.0), Errors(np.full((5, 5), 0.5)), n_samples=10)
    assert energy.start(2).tolist() == [0, 1]
    found = energy.minimize([4, 2])
    assert found.features.tolist() == [4, 2]  # nothing is lower
    assert len(found.energies) == 1
    errors = np.diag([0.5, 0.1, 0.1, 0.5])  # features 1 and 2 are alike
    twins = Energy(np.full((1, 4), 2.5), Errors(errors), n_samples=10, terms=PRESETS["lm"])
    assert twins.minimize([3]).features.tolist() == [1]
    assert twins.minimize([2]).features.tolist() == [2]


def test_what_is_refused() -> None:
    energy = drawn(0)
    for wrong in ([], [0, 0], [-1], [9], [[0]], [0.7, 1.2], ["a"]):
        with pytest.raises(ValueError, match="configuration is distinct positions below 9"):
            energy.value(wrong)
    for size, n_candidates, name in ((0, 3, "size"), (10, 3, "size"), (2, 0, "n_candidates")):
        with pytest.raises(ValueError, match=name):
            energy.grown(size, n_candidates=n_candidates)
    for wrong in ([9], [-1]):
        with pytest.raises(
            ValueError, match="local_blanket must hold positions of features, from 0"
        ):
            energy.value([0, 1], wrong)
        with pytest.raises(ValueError, match="global_blanket must hold positions"):
            Energy(POSITIONS, Errors(TABLE), n_samples=10, global_blanket=wrong)
    with pytest.raises(ValueError, match="both 0"):
        Terms(relevance=0, predictive=0)
    with pytest.raises(ValueError, match="association"):
        Terms(association=-1)
    with pytest.raises(ValueError, match="same features"):
        Energy([[1, 2]], Errors(TABLE), n_samples=10)
    for positions in ([[0, 1, 2]], [[1, 2, np.nan]]):
        with pytest.raises(ValueError, match="positions must be numbers from 1 on"):
            Energy(positions, Errors(TABLE), n_samples=10)
    with pytest.raises(ValueError, match="terms must be"):
        Energy(POSITIONS, Errors(TABLE), n_samples=10, terms="ebm")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="energy must be"):
        EnergyFitness(3)  # type: ignore[arg-type]
    for wrong in ([9], [-1], [0.5], ["a"]):
        with pytest.raises(ValueError, match="blanket must hold positions of features, from 0"):
            energy.value([0, 1], wrong)


@pytest.mark.parametrize("normalize", ["all", "configuration"])
def test_grown_from_the_best_of_all_pairs(normalize: str) -> None:
    for seed in range(20):
        base = drawn(seed)
        energy = Energy(
            np.random.default_rng(seed).permutation(9)[None] + 1, base.errors, n_samples=100,
            global_blanket=[0, 3], terms=Terms(normalize=normalize),
        )  # fmt: skip
        grown = energy.grown(5)
        pair = min(combinations(range(9), 2), key=energy.value)
        assert sorted(grown[:2].tolist()) == list(pair)
        for size in (2, 3, 4):
            before = grown[:size].tolist()
            rest = [f for f in range(9) if f not in before]
            assert grown[size] == min(rest, key=lambda f: energy.value([*before, f]))
        few = energy.start(4)
        pair = min(combinations(sorted(few.tolist()), 2), key=energy.value)
        assert sorted(energy.grown(2, n_candidates=4).tolist()) == list(pair)


def test_contributions_are_differences() -> None:
    for seed in range(10):
        for normalize in ("all", "configuration"):
            base = drawn(seed)
            energy = Energy(
                [np.random.default_rng(seed).permutation(9) + 1], base.errors, n_samples=100,
                terms=Terms(normalize=normalize),
            )  # fmt: skip
            chosen, local = [6, 1, 4], [4]
            found = energy.contributions(chosen, local)
            whole = energy.value(chosen, local)
            for f in chosen:
                rest = [g for g in chosen if g != f]
                assert found[f] == pytest.approx(energy.value(rest, local) - whole)
            weakest = min(chosen, key=lambda f: found[f])
            rest = [g for g in chosen if g != weakest]
            for f in (0, 2, 8):
                told = energy.value(rest, local) - energy.value([*rest, f], local)
                assert found[f] == pytest.approx(min(told, found[weakest]))


def test_best_swap_is_the_best_of_all() -> None:
    for seed in range(5):
        energy = drawn(seed)
        chosen, local = [4, 0, 7], [0]
        now = energy.value(chosen, local)
        found = {}
        for site in range(3):
            for comes in set(range(9)) - set(chosen):
                other = [*chosen]
                other[site] = comes
                found[site, comes] = energy.value(other, local)
        best = min(found, key=lambda swap: found[swap])
        assert energy.best_swap(chosen, local) == (best if found[best] < now else None)
    least = min(combinations(range(9), 3), key=lambda few: energy.value(few, [0]))
    assert energy.best_swap(least, [0]) is None


def test_energies_make_no_rows() -> None:
    class Pairs(Errors):
        def row(self, feature: int) -> np.ndarray:
            asked.append(feature)
            return super().row(feature)

        def of(self, pairs: np.ndarray) -> np.ndarray:
            return np.array([super(Pairs, self).row(a)[b] for a, b in pairs])

    asked: list[int] = []
    matrix = np.random.default_rng(0).uniform(0.1, 0.5, (9, 9))
    matrix = (matrix + matrix.T) / 2
    places = np.arange(1, 10)[None]
    plain = Energy(places, Errors(matrix), n_samples=50)
    energy = Energy(places, Pairs(matrix), n_samples=50)
    assert energy.value([1, 5, 7, 2]) == plain.value([1, 5, 7, 2])
    assert not asked
    energy.errors.row(5)
    assert energy.value([1, 5, 7, 2]) == plain.value([1, 5, 7, 2])
    assert asked == [5]


def test_kept_errors_forget_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bitsieve.causal.kept_errors._MOST_KEPT", 27)
    asked = []

    class Counted(Errors):
        def row(self, feature: int) -> np.ndarray:
            asked.append(feature)
            return super().row(feature)

    kept = KeptErrors(Counted(np.eye(9)))
    for feature in (0, 1, 2, 0, 3, 1, 0):
        assert kept.row(feature)[feature] == 1
    assert asked == [0, 1, 2, 3, 1]
    assert kept.knows(0)
    assert not kept.knows(2)


def test_fitness_is_minus_the_energy() -> None:
    energy = drawn(2)
    fitness = EnergyFitness(energy, [3])
    masks = Masks.from_indices([[], [4], [0, 3, 5]], 9)
    expected = [0.0, -energy.value([4], [3]), -energy.value([0, 3, 5], [3])]
    assert fitness.evaluate(masks).tolist() == expected
    moving = EnergyFitness(energy, lambda chosen: chosen[:1])
    assert moving.evaluate(masks)[2] == -energy.value([0, 3, 5], [0])
    assert fitness.fingerprint() == EnergyFitness(drawn(2), [3]).fingerprint()
    others = (EnergyFitness(drawn(3), [3]), EnergyFitness(energy), EnergyFitness(energy, [4]))
    assert fitness.fingerprint() not in {other.fingerprint() for other in others}
    with pytest.raises(ValueError, match="masks have 8 features"):
        fitness.evaluate(np.ones((1, 8), dtype=bool))
