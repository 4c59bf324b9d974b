"""Blankets of data: real networks, copies, degenerate tables, threads, messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dag
import numpy as np
import pytest
from each import each

from bitsieve._random import Random, Stream
from bitsieve.causal import (
    Blanket,
    FisherZ,
    GSquared,
    PermutationTest,
    make_test,
    markov_blanket,
    markov_blankets,
    skeleton,
)
from bitsieve.causal.copies import representatives
from bitsieve.causal.markov import METHODS


def _network(data_dir: Path, name: str) -> tuple[Any, Any]:
    path = data_dir / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"needs real data: {path} is not there")
    with np.load(path) as archive:
        return archive["data"], archive["graph"]


def _mean_f1(found: list[Blanket], graph: Any) -> float:
    return float(np.mean([dag.f1(set(b.members), dag.blanket(graph, b.target)) for b in found]))


def _mixture(seed: int, n: int = 2000) -> np.ndarray:
    """parent, spouse, child, effect of the child, noise, target."""
    parent, spouse, other, *noise = np.random.default_rng(seed).normal(size=(6, n))
    target = parent + noise[0]
    child = target + spouse + noise[1]
    return np.column_stack([parent, spouse, child, child + noise[2], other, target])


@each("method", ["hiton-mb", "mmmb", "pcmb"])
def test_lucas(method: str, dataset: Any) -> None:
    X, y, names = dataset("lucas0")
    test = make_test(X, y)
    test.names = [*names, "Lung_cancer"]
    found = markov_blanket(test, "Lung_cancer", method=method)
    members = {names[x] for x in found.members}
    assert members == {"Smoking", "Genetics", "Fatigue", "Coughing", "Allergy"}
    assert {names[x] for x in found.spouses} == {"Allergy"}
    assert found.why_not("Allergy").startswith(
        "Allergy is in the blanket of Lung_cancer, a spouse through Coughing (p = "
    )
    assert found.why_not("Anxiety").startswith("Anxiety is not in the blanket of Lung_cancer: ")
    assert found.why_not("Yellow_Fingers").startswith(
        "Yellow_Fingers is not in the blanket of Lung_cancer: given Smoking the two are independent"
    )


# pyCausalFS 0.23's HITON_MB at alpha 0.01 on the same data: 0.988, 0.974, 0.905.
@pytest.mark.parametrize(
    ("name", "alpha", "least"),
    [
        ("bn_lucas0_2000", 0.01, 0.988),
        ("bn_child_5000", 0.01, 0.974),
        ("bn_alarm_5000", 0.01, 0.97),
        ("bn_gaussian_1000x300", 0.01, 0.75),
        ("bn_gaussian_1000x300", 0.001, 0.81),
    ],
)
def test_networks(name: str, alpha: float, least: float, data_dir: Path) -> None:
    data, graph = _network(data_dir, name)
    test = (GSquared if data.dtype.kind == "i" else FisherZ)(data)
    for method in ("hiton-mb", "mmmb", "pcmb"):
        found = markov_blankets(test, method=method, alpha=alpha)
        assert _mean_f1(found, graph) >= least, method


@each("method", ["iamb", "inter-iamb", "fast-iamb", "gs"])
def test_networks_by_growing(method: str, data_dir: Path) -> None:
    data, graph = _network(data_dir, "bn_gaussian_1000x300")
    found = markov_blankets(FisherZ(data), range(60), method=method, alpha=0.001)
    assert _mean_f1(found, graph) >= 0.75


@pytest.mark.parametrize("method", METHODS)
def test_small_mixture(method: str) -> None:
    found = markov_blanket(FisherZ(_mixture(1)), 5, method=method, alpha=0.001)
    assert (found.parents_children, found.spouses) == ((0, 2), {1: (2,)})
    assert found.edges == [(5, 0), (5, 2), (2, 1)]
    assert found.associations[4] < 3 < found.associations[0]


# -- copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_of_copies_the_first_stays(method: str) -> None:
    X = _mixture(2)
    plain = markov_blanket(FisherZ(X), 5, method=method, alpha=0.001)
    for copied in (0, 1, 2):  # a parent, a spouse, a child; in other units and turned around
        twice = np.column_stack([X, 3.0 - 2.54 * X[:, copied]])
        found = markov_blanket(FisherZ(twice), 5, method=method, alpha=0.001)
        assert (found.parents_children, found.spouses) == (plain.parents_children, plain.spouses)
        assert found.copies == {6: copied}
        assert found.strengths[6] == 0.0
        assert "says the same as variable" in found.why_not(6)
        first = markov_blanket(FisherZ(twice[:, ::-1]), 1, method=method, alpha=0.001)
        assert set(first.members) == ({6 - x for x in plain.members} - {6 - copied}) | {0}


@pytest.mark.parametrize("method", METHODS)
def test_of_copied_levels_the_first_stays(method: str) -> None:
    codes = (_mixture(3) > 0).astype(int)
    plain = markov_blanket(GSquared(codes), 5, method=method)
    twice = np.column_stack([codes, 1 - codes[:, 0], codes[:, 2]])
    found = markov_blanket(GSquared(twice), 5, method=method)
    assert found.members == plain.members
    assert 0 in found.members
    assert found.copies == {6: 0, 7: 2}


@pytest.mark.parametrize("method", METHODS)
def test_of_near_copies_one_stays(method: str) -> None:
    X = _mixture(4)
    X[:, 4] = X[:, 0] + 1e-3 * X[:, 4]
    found = markov_blanket(FisherZ(X), 5, method=method, alpha=0.001)
    assert len({0, 4} & set(found.members)) == 1
    assert {1, 2} <= set(found.members)


@pytest.mark.parametrize("method", METHODS)
def test_of_a_target_that_stands_twice_the_copy_is_the_blanket(method: str) -> None:
    X = _mixture(5)
    for test in (
        FisherZ(np.column_stack([X, X[:, 5]])),
        GSquared(np.column_stack([X, X[:, 5]]) > 0),
    ):
        for target, other in ((5, 6), (6, 5)):
            found = markov_blanket(test, target, method=method)
            assert found.members == (other,)
            assert found.separators[0].given == (other,)
            assert "given variable" in found.why_not(0)
            assert found.strengths[other] >= 2.0


# -- degenerate tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_constant_variables_are_in_no_blanket(method: str) -> None:
    X = _mixture(6)
    X[:, 4] = 7.0
    for test in (FisherZ(X), GSquared((X > 0).astype(int))):
        blankets = markov_blankets(test, method=method, alpha=0.001)
        assert all(4 not in found.members for found in blankets)
        assert blankets[4].members == ()
        assert {0, 2} <= set(blankets[5].members)


@pytest.mark.parametrize("method", METHODS)
def test_a_deterministic_target(method: str) -> None:
    a, b, c = np.random.default_rng(7).integers(0, 2, (3, 1000))
    found = markov_blanket(GSquared(np.column_stack([a, b, c, a & b])), 3, method=method)
    assert found.members == (0, 1)
    x, y, z = np.random.default_rng(7).normal(size=(3, 1000))
    found = markov_blanket(FisherZ(np.column_stack([x, y, z, x - 2 * y])), 3, method=method)
    assert found.members == (0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_too_few_samples_give_an_empty_blanket(method: str) -> None:
    codes = np.random.default_rng(8).permuted(np.tile(np.arange(30), (4, 1)), axis=1).T
    found = markov_blanket(GSquared(codes), 0, method=method)  # 30 levels, 30 samples
    assert found.members == ()
    assert found.separators == {}
    assert not found.strengths.any()
    assert not found.associations.any()
    assert markov_blanket(FisherZ(np.eye(3)), 0, method=method).members == ()


@pytest.mark.parametrize("method", METHODS)
def test_one_or_two_variables(method: str) -> None:
    X = _mixture(9)[:, [0, 5]]
    assert markov_blanket(FisherZ(X[:, :1]), 0, method=method).members == ()
    assert markov_blanket(FisherZ(X), 0, method=method).members == (1,)


def test_more_variables_than_samples() -> None:
    X = np.random.default_rng(10).normal(size=(40, 500))
    X[:, 0] = X[:, 1] + 0.1 * X[:, 0]
    for method in METHODS:
        found = markov_blanket(FisherZ(X), 0, method=method, alpha=1e-4)
        assert {1} <= set(found.members), method
        assert len(found.members) <= 4, method


# -- all variables, threads, messages --------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_any_number_of_threads_gives_the_same(method: str) -> None:
    X = np.random.default_rng(11).normal(size=(300, 40))
    X[:, 1:] += 0.6 * X[:, :-1]
    one = markov_blankets(FisherZ(X), method=method, n_jobs=1)
    many = markov_blankets(FisherZ(X, n_jobs=3), method=method, n_jobs=3)
    alone = [markov_blanket(FisherZ(X), target, method=method) for target in range(40)]
    for a, b, c in zip(one, many, alone, strict=True):
        for other in (b, c):
            assert repr(a) == repr(other)  # names the members and the number of tests
            assert a.separators == other.separators
            assert a.spouses == other.spouses
            assert np.array_equal(a.strengths, other.strengths)
            assert np.array_equal(a.associations, other.associations)


def test_skeleton_joins_what_either_found() -> None:
    blankets = markov_blankets(FisherZ(_mixture(12)), alpha=0.001)
    found = skeleton(blankets)
    assert found == {0: (5,), 1: (2,), 2: (1, 3, 5), 3: (2,), 4: (), 5: (0, 2)}
    assert skeleton(blankets[5:]) == {5: (0, 2)}


def test_sentences() -> None:
    test = FisherZ(_mixture(13))
    test.names = ["parent", "spouse", "child", "effect", "other", "target"]
    found = markov_blanket(test, "target", alpha=0.001)
    assert found.why_not("target") == "target is the target"
    assert found.why_not(0).startswith("parent is in the blanket of target, a parent or child")
    assert found.why_not("other").startswith(
        "other is not in the blanket of target: the two are independent (p = 0."
    )
    assert "given child the two are independent" in found.why_not("effect")
    assert repr(found).startswith(
        "Blanket(target: parents and children parent, child; spouses spouse; hiton-mb, alpha = "
    )
    with pytest.raises(ValueError, match="there is no variable 'efect': did you mean 'effect'"):
        found.why_not("efect")
    with pytest.raises(ValueError, match="position from 0 to 5 or a name, got 6"):
        found.why_not(6)


def test_bad_parameters() -> None:
    test = FisherZ(_mixture(14, 50))
    for told, options in {
        "method must be one of 'hiton-mb', .*, got 'hiton'": {"method": "hiton"},
        "alpha must be a number in .0, 1., got 1.5": {"alpha": 1.5},
        "max_conditioning must be a whole number from 0 on, got -1": {"max_conditioning": -1},
        "symmetric must be True or False, got 'and'": {"symmetric": "and"},
        "n_jobs must be": {"n_jobs": 0},
    }.items():
        with pytest.raises(ValueError, match=told):
            markov_blanket(test, 0, **options)
    with pytest.raises(ValueError, match="target must be the position of a variable, from 0 to 5"):
        markov_blanket(test, 6)
    test.names = list("abcdef")
    with pytest.raises(ValueError, match="there is no variable 'g'"):
        markov_blankets(test, ["a", "g"])


def test_thousands_of_copies_are_told_at_once() -> None:
    column = Random(0, Stream.tests).normal((50, 1))
    X = np.column_stack([np.repeat(column, 3000, axis=1) * np.arange(1, 3001), column**3])
    found = representatives(FisherZ(X))
    assert found[:3000].tolist() == [0] * 3000
    assert found[3000] == 3000


def test_two_samples_of_numbers_tell_nothing() -> None:
    found = markov_blanket(FisherZ(Random(0, Stream.tests).normal((2, 5))), 4)
    assert found.members == ()
    assert found.copies == {}


def test_an_alpha_that_no_permutation_reaches_is_refused() -> None:
    X = Random(0, Stream.tests).normal((100, 2))
    test = make_test(X[:, :1], X[:, 0] > 0, test="permutation", n_permutations=99)
    assert markov_blanket(test, 1, alpha=0.01).members == (0,)
    with pytest.raises(ValueError, match=r"n_permutations=99 .* alpha=0\.005: give 199"):
        markov_blanket(test, 1, alpha=0.005)


def test_what_is_no_test_and_no_list_is_refused() -> None:
    X = Random(0, Stream.tests).normal((20, 2))
    with pytest.raises(ValueError, match=r"test must be a test of independence.*got ndarray"):
        markov_blanket(X, 0)  # type: ignore[arg-type]
    for targets in ("ab", 1):
        with pytest.raises(ValueError, match="targets must be a list"):
            markov_blankets(FisherZ(X), targets)  # type: ignore[arg-type]
    assert markov_blanket(FisherZ(X), 0, max_conditioning=2**70).target == 0


@each("method", list(METHODS))
def test_among_a_few_is_the_blanket_of_their_table(method: str) -> None:
    X = np.column_stack([_mixture(4), _mixture(4)[:, :2]])  # the parent and spouse stand twice
    few = [7, 6, 4, 3, 2]
    for data in (X, np.digitize(X, [-1.0, 1.0])):
        test = FisherZ(data) if data is X else GSquared(data)
        columns = sorted([*few, 5])
        other = type(test)(np.ascontiguousarray(data[:, columns]))
        found = markov_blanket(test, 5, among=few, method=method, alpha=0.001)
        theirs = markov_blanket(other, columns.index(5), method=method, alpha=0.001)
        assert found.members == tuple(columns[x] for x in theirs.members)
        assert found.parents_children == tuple(columns[x] for x in theirs.parents_children)
        np.testing.assert_array_equal(found.log_p[columns], theirs.log_p)
        np.testing.assert_array_equal(found.strengths[columns], theirs.strengths)
        assert {x: s.given for x, s in found.separators.items()} == {
            columns[x]: tuple(columns[z] for z in s.given) for x, s in theirs.separators.items()
        }
        assert (
            found.why_not(0)
            == "variable 0 is not in the blanket of variable 5: it was not looked at"
        )


def test_among_what_is_no_list_of_variables_is_refused() -> None:
    test = FisherZ(_mixture(0, 100))
    assert markov_blanket(test, 5, among=[]).members == ()
    for among in (3, "a", [9], [0.5]):
        with pytest.raises(ValueError, match="among"):
            markov_blanket(test, 5, among=among)


def test_hopeless_tests_are_not_asked_for() -> None:
    """Samples for no test but that of two alone: what is associated is the blanket, at once."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, (60, 400))
    codes[:, :300] = np.where(random.uniform(size=(60, 300)) < 0.6, codes[:, -1:], codes[:, :300])
    test = GSquared(codes)  # 9 cells need 45 samples, 27 need 135
    found = markov_blanket(test, 399)
    assert found.parents_children == tuple(np.flatnonzero(found.log_p <= np.log(0.01)))
    assert len(found.members) > 200
    assert not found.is_conditional
    assert "no test given another feature is reliable" in found.why_not(found.members[0])
    assert markov_blanket(GSquared(np.tile(codes[:, [0, 1, 399]], (9, 1))), 2).is_conditional
    assert test.n_tests <= 400 * 400  # of two alone, from either side
    assert test.hopeful(np.array([1, 2]), 399).all()
    assert not test.hopeful(np.array([1, 2]), 399, (3,)).any()
    permuted = PermutationTest(test, n_permutations=99)
    assert not permuted.hopeful(np.array([1, 2]), 399, (3,)).any()


def test_whole_numbers_of_many_values_are_numbers_of_few_samples_too() -> None:
    """Whole numbers, a value for every second sample: no levels, with any number of samples."""
    random = np.random.default_rng(0)
    for n in (40, 82, 500):
        X = random.integers(0, n // 2, (n, 6))
        assert isinstance(make_test(X, np.arange(n) % 2), FisherZ), n
