"""What every search refuses to be told, and to go on from."""

import math

import numpy as np
import pytest
from each import each

from bitsieve import Masks
from bitsieve.search import (
    BinarySPSASearch,
    ExhaustiveMaskSearch,
    FixedSizeMaskSearch,
    RandomMaskSearch,
    SequentialSearch,
    StochasticLocalMaskSearch,
    UnitSearch,
)
from bitsieve.search.checks import check_parameters_of_state

P = 9
SEARCHES = [
    lambda: BinarySPSASearch(P),
    lambda: BinarySPSASearch(P, second_order=True),
    lambda: ExhaustiveMaskSearch(P, n_asked=100),
    lambda: FixedSizeMaskSearch(P, size=3),
    lambda: RandomMaskSearch(P),
    lambda: SequentialSearch(P),
    lambda: SequentialSearch(P, direction="backward"),
    lambda: StochasticLocalMaskSearch(P, p_noise=0.0),
    lambda: UnitSearch(SequentialSearch(P), range(P)),
]


@each("new", SEARCHES)
def test_a_tell_of_other_masks_or_without_finite_scores_changes_nothing(new):
    search = new()
    with pytest.raises(ValueError, match="tell needs the masks of an ask before it"):
        search.tell(Masks.full(P), np.zeros(1))
    search.tell(search.ask(), np.zeros(len(search.ask())))
    masks, before = search.ask(), search.state()
    n = len(masks)
    others = masks.to_bool()
    others[-1, 0] ^= True
    with pytest.raises(ValueError, match="tell needs the masks of the last ask, in their order"):
        search.tell(Masks.from_bool(others), np.zeros(n))
    with pytest.raises(ValueError, match=f"one score a mask, {n}, got {n + 1}"):
        search.tell(masks, np.zeros(n + 1))
    with pytest.raises(ValueError, match=rf"one score a mask, {n}, got shape \({n}, 1\)"):
        search.tell(masks, np.zeros((n, 1)))
    for place in (0, n - 1):
        for bad in (math.nan, math.inf, -math.inf):
            scores = np.zeros(n)
            scores[place] = bad
            with pytest.raises(ValueError, match=f"finite, got {bad} for mask {place} of the ask"):
                search.tell(masks, scores)
    after = search.state()
    assert all(np.array_equal(before[name], after[name], equal_nan=_is_float(before[name]))
               for name in before)  # fmt: skip
    search.tell(Masks.from_bool(masks.to_bool()), np.zeros(n))  # equal ones, in other memory


def _is_float(value):
    return np.asarray(value).dtype.kind == "f"


@each("new", SEARCHES)
def test_a_state_with_an_entry_less_is_refused_by_its_name(new):
    state = new().state()
    for name in state:
        with pytest.raises(ValueError, match=f"the state lacks {name}"):
            new().set_state({key: value for key, value in state.items() if key != name})


def test_parameters_are_told_where_they_are_short():
    own = {"a": 1, "tol": math.nan, "start": np.zeros(3, bool), "b": "x"}
    check_parameters_of_state(own, own, {**own, "tol": float("nan"), "more": 0})
    for name, value, message in (
        ("a", 2, "a=2, this one has 1"),
        ("tol", 0.5, "tol=0.5, this one has nan"),
        ("b", "y", "b=y, this one has x"),
        ("start", np.ones(3, bool), "another start"),
        ("start", "random", "another start"),
        ("a", np.ones(3), "another a"),
    ):
        with pytest.raises(ValueError, match=f"the state is of a search with {message}"):
            check_parameters_of_state(own, own, {**own, name: value})
    with pytest.raises(ValueError, match=r"tol=nan, this one has 0\.5"):
        check_parameters_of_state({**own, "tol": 0.5}, {"tol": 0.5}, own)
