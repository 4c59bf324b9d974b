"""With a test that reads a graph every method returns the blankets of that graph, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import dag
import numpy as np
import pytest
from dag import Oracle, d_separated, random_dag
from each import each

from bitsieve.causal import Independence, markov_blanket, markov_blankets
from bitsieve.causal.markov import METHODS


@cache
def _oracle(seed: int) -> Oracle:
    """Of a graph of 1 to 10 variables; it remembers its answers for all methods."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 11))
    return Oracle(random_dag(rng, p, rng.uniform(0.5, 4.0)))


@pytest.mark.parametrize("method", METHODS)
def test_every_blanket_of_many_graphs(method: str) -> None:
    sizes = []
    for seed in range(60):
        graph, p = _oracle(seed).graph, _oracle(seed).n_variables
        found = markov_blankets(_oracle(seed), method=method, max_conditioning=p, n_jobs=1)
        for target, blanket in enumerate(found):
            told = f"seed {seed}, {method}, {target}: {np.argwhere(graph).tolist()}"
            assert blanket.target == target
            assert set(blanket.parents_children) == dag.parents_children(graph, target), told
            wanted = dag.spouses(graph, target)
            assert set(blanket.spouses) == set(wanted), told
            if METHODS[method].local:
                assert blanket.spouses == wanted, told
            outside = set(range(p)) - set(blanket.members) - {target}
            assert set(blanket.separators) == outside, told
            for x, separator in blanket.separators.items():
                assert d_separated(graph, x, target, separator.given), told
            assert np.array_equal(blanket.strengths > 2, np.isin(np.arange(p), blanket.members))
            sizes.append(len(blanket.members))
    assert max(sizes) >= 7
    assert sizes.count(0) >= 5


@each("method", ["hiton-mb", "mmmb"])
def test_without_symmetry_a_descendant_may_stay(method: str) -> None:
    # 1 -> 2 -> 0 and 3 beside both: given 2 alone the way 1 -> 2 <- 3 -> 0 opens.
    graph = np.zeros((4, 4), dtype=np.int8)
    graph[[1, 2, 3, 3], [2, 0, 0, 2]] = 1
    test = Oracle(graph)
    assert 0 in markov_blanket(test, 1, method=method, symmetric=False).parents_children
    assert markov_blanket(test, 1, method=method).parents_children == (2,)


class Unsure(Oracle):
    """Sets of more than ``most`` variables, or some pairs, are beyond its samples."""

    most = 99
    pairs: tuple[set[int], ...] = ()

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Independence:
        if len(given) > self.most or {x, y} in self.pairs:
            return Independence(0.0, 0.0, 0, False)
        return super().test(x, y, given)


@pytest.mark.parametrize("method", METHODS)
def test_a_test_that_is_not_reliable_removes_nothing(method: str) -> None:
    # 0 and 1 need both of 2 and 3 to be apart.
    graph = np.zeros((4, 4), dtype=np.int8)
    graph[[0, 0, 2, 3], [2, 3, 1, 1]] = 1
    test = Unsure(graph)
    assert markov_blanket(test, 0, method=method).members == (2, 3)
    test.most = 1
    if METHODS[method].local:
        assert markov_blanket(test, 0, method=method).members == (1, 2, 3)
    else:  # what is taken third was never tested given the first two: not added
        assert len(markov_blanket(test, 0, method=method).members) == 2


@pytest.mark.parametrize("method", METHODS)
def test_a_test_that_is_not_reliable_adds_nothing(method: str) -> None:
    graph = np.zeros((3, 3), dtype=np.int8)
    graph[[0, 1], [1, 2]] = 1
    test = Unsure(graph)
    test.pairs = ({0, 1},)
    found = markov_blanket(test, 0, method=method)
    assert 1 not in found.members
    assert 1 not in found.separators
    assert "no test of the two was reliable" in found.why_not(1)
    assert found.strengths[1] == 0.0


def test_ties_go_to_the_lowest_position() -> None:
    # All associations are alike: 1 is tried first and separates 2 from 0.
    graph = np.zeros((3, 3), dtype=np.int8)
    graph[[1, 2], [0, 1]] = 1
    found = markov_blanket(Oracle(graph), 0)
    assert found.members == (1,)
    assert found.separators[2].given == (1,)
