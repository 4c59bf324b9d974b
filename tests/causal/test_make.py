"""make_test chooses by what the columns are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each

from bitsieve.causal import ChiSquared, FisherZ, GSquared, PermutationTest, make_test
from bitsieve.data import Table
from bitsieve.discrete import DiscreteTable

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(120, 4))
LEVELS = RNG.integers(0, 3, (120, 4))
TWO = np.where(NUMBERS[:, 0] + RNG.normal(size=120) > 0, "sick", "healthy")
THREE = RNG.choice(["a", "b", "c"], 120)
FRAME = pd.DataFrame(NUMBERS, columns=list("wxyz")).assign(kind=THREE)


@each(
    "X, y, expected",
    [
        (NUMBERS, TWO, FisherZ),
        (NUMBERS, NUMBERS[:, 1], FisherZ),
        (NUMBERS, None, FisherZ),
        (NUMBERS, THREE, GSquared),
        (LEVELS, TWO, GSquared),
        (LEVELS, NUMBERS[:, 1], GSquared),
        (LEVELS, None, GSquared),
        (LEVELS > 1, THREE, GSquared),
        (np.column_stack([NUMBERS, LEVELS]), TWO, GSquared),
        (FRAME, TWO, GSquared),
    ],
)
def test_auto(X: Any, y: Any, expected: type) -> None:
    test = make_test(X, y)
    assert type(test) is expected
    assert test.n_variables == np.shape(X)[1] + (y is not None)
    permuted = make_test(X, y, test="permutation", n_permutations=9)
    assert isinstance(permuted, PermutationTest)
    assert type(permuted.base) is expected


def test_two_classes_are_numbers() -> None:
    test = make_test(NUMBERS, TWO)
    same = FisherZ(np.column_stack([NUMBERS, TWO == "sick"]))
    assert test.test(0, 4, [1]) == same.test(0, 4, [1])
    assert test.test(0, 4).log_p < -10


def test_levels_and_target_are_variables() -> None:
    test = make_test(LEVELS, THREE)
    codes = np.column_stack([LEVELS, np.unique(THREE, return_inverse=True)[1]])
    assert test.test(2, 4, [0]) == GSquared(codes).test(2, 4, [0])
    mixed = make_test(FRAME, TWO, discretization="equal_frequency", n_bins=4)
    assert isinstance(mixed, GSquared)
    cut = DiscreteTable.of(FRAME, discretization="equal_frequency", n_bins=4)
    assert (mixed.table.codes[:, :5] == cut.codes).all()
    assert mixed.names == ["w", "x", "y", "z", "kind", "target"]
    supervised = make_test(NUMBERS, TWO, test="chi2", discretization="mdl")
    assert isinstance(supervised, ChiSquared)
    cut = DiscreteTable.of(NUMBERS, TWO, discretization="mdl")
    assert cut.n_levels[0] > 1
    assert supervised.table.n_levels.tolist() == [*cut.n_levels.tolist(), 2]
    numeric = make_test(LEVELS, NUMBERS[:, 0])
    assert isinstance(numeric, GSquared)
    assert numeric.table.n_levels[-1] == 3


def test_table_brings_its_target() -> None:
    table = Table(NUMBERS, TWO, names=list("wxyz"))
    test = make_test(table)
    assert test.names == ["w", "x", "y", "z", "target"]
    assert test.test(0, 4) == make_test(NUMBERS, TWO).test(0, 4)


def test_settings_arrive() -> None:
    test = make_test(LEVELS, TWO, test="permutation", n_permutations=7, stop_after_hits=2)
    assert isinstance(test, PermutationTest)
    assert (test.n_permutations, test.stop_after_hits) == (7, 2)
    assert not make_test(LEVELS, TWO).test(0, 4, [1, 2]).reliable
    assert make_test(LEVELS, TWO, min_samples_per_cell=1).test(0, 4, [1, 2]).reliable
    told = make_test(NUMBERS.round(), TWO, discrete_features=[0])
    assert isinstance(told, GSquared)


@each(
    "X, y, settings, message",
    [
        (NUMBERS, TWO, {"test": "g3"}, "test must be one of 'auto', 'g2', 'chi2', 'fisher-z'"),
        (NUMBERS, THREE, {"test": "fisher-z"}, "needs a numeric target or two classes, got 3"),
        (FRAME, TWO, {"test": "fisher-z"}, "column 'kind' holds text or categories"),
        (NUMBERS, TWO[:5], {}, "120"),
        (NUMBERS, NUMBERS[:, 0], {"test": "g2", "discretization": "mdl"}, "y"),
        (NUMBERS, None, {"test": "g2", "discretization": "mdl"}, "mdl"),
        (NUMBERS * np.nan, TWO, {}, "NaN"),
    ],
)
def test_bad_input(X: Any, y: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_test(X, y, **settings)


def test_a_constant_column_does_not_decide_the_test() -> None:
    X = np.column_stack([NUMBERS, np.zeros(len(NUMBERS))])
    assert type(make_test(X, TWO)) is FisherZ
    assert type(make_test(NUMBERS > 0, TWO)) is GSquared


def test_half_of_the_columns_decide_the_test() -> None:
    for n_few, kind in ((1, FisherZ), (3, FisherZ), (4, GSquared)):
        assert type(make_test(np.column_stack([NUMBERS, LEVELS[:, :n_few]]), TWO)) is kind


def test_what_the_test_has_no_use_for_is_checked() -> None:
    with pytest.raises(ValueError, match="min_samples_per_cell"):
        make_test(NUMBERS, TWO, min_samples_per_cell=-1)
