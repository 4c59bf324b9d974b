"""When a sequence of runs goes on, and when it ends."""

import pytest

from bitsieve import Masks
from bitsieve.search.halving import Halving


def mask(*features):
    return Masks.from_indices([features], 8)


def told(halving, *pairs):
    return [halving.take(masks, score) for masks, score in pairs]


def test_a_run_of_one_feature_has_nothing_to_halve():
    halving = Halving(8, patience=1)
    assert told(halving, (mask(3), 0.5), (mask(1, 2), 0.5)) == [None, None]
    assert halving.has_ended
    assert halving.n_runs == 1


def test_a_run_of_all_its_features_has_nothing_to_halve():
    halving = Halving(8, patience=1)
    assert told(halving, (Masks.full(8), 0.5), (mask(1), 0.4)) == [None, None]
    assert halving.has_ended
    assert halving.n_runs == 1
    halving = Halving(8, patience=1)
    told(halving, (mask(1, 2, 3), 0.5), (mask(1), 0.4))
    told(halving, (mask(1, 2, 3), 0.6), (mask(1), 0.4))  # of three features all three
    assert halving.has_ended
    assert halving.n_runs == 2


@pytest.mark.parametrize(("second", "ends"), [(0.4, True), (0.5, True), (0.6, False)])
def test_a_run_that_is_no_better_than_the_one_before_is_the_last(second, ends):
    halving = Halving(8, patience=1)
    first = told(halving, (mask(1, 2, 3, 4), 0.5), (mask(1), 0.5))
    assert first[0] is None
    assert first[1] == mask(1, 2, 3, 4)
    then = told(halving, (mask(1, 2), second), (mask(1), 0.1))
    assert then[0] is None
    assert then[1] is None if ends else then[1] == mask(1, 2)
    assert halving.has_ended is ends
    assert halving.n_runs == (2 if ends else 3)


def test_the_first_of_equal_masks_is_kept_and_an_equal_one_is_no_improvement():
    halving = Halving(8, patience=2)
    masks = told(halving, (mask(1, 2), 0.5), (mask(3, 4, 5), 0.5), (mask(6, 7), 0.5))
    assert masks[:2] == [None, None]
    assert masks[2] == mask(1, 2)


def test_an_empty_mask_is_never_the_best():
    halving = Halving(8, patience=1)
    assert told(halving, (mask(1, 2), 0.5), (Masks.empty(8), 0.9))[1] == mask(1, 2)
