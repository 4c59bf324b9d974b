"""Every filter of ``filters/named.py`` keeps the contract, by its line there."""

from __future__ import annotations

from functools import partial

import pytest

from bitsieve.filters.named import FILTERS
from bitsieve.testing import check_filter

# Clauses that a method does not keep, by its definition.
EXCEPTIONS = {
    # A feature that alone makes samples far counts against itself among the far ones.
    "surf-star": ["greater_is_better"],
    "multisurf-star": ["greater_is_better"],
    "swrf-star": ["greater_is_better"],
    # What a round removes stands below what stays: 0 of ReliefF is the middle of the last round.
    "turf": ["constant_features_are_last"],
}


@pytest.mark.parametrize("name", FILTERS)
def test_keeps_the_contract(name: str) -> None:
    method = FILTERS[name]
    for n_classes in (2, 3):
        check_filter(
            partial(method.function, **method.options),
            target=method.target,
            n_classes=n_classes,
            greedy=method.greedy,
            p_values=method.has_p_values,
            positive=method.positive_only,
            missing=method.takes_nan,
            categories=method.takes_categories,
            sparse=method.takes_sparse,
            skip=EXCEPTIONS.get(name, ()),
        )
