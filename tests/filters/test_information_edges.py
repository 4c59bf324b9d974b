"""What a variable that is known may hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each

from bitsieve.filters import conditional_mutual_information, joint_mutual_information

X = np.arange(24.0).reshape(8, 3) % 5
Y = np.arange(8) % 2


@each(
    "given",
    [
        np.array(["a", None] * 4, dtype=object),
        [0.0, 1.0, 2.0, np.nan, 1.0, np.nan, np.nan, np.nan],
        pd.Series(["a", None, "b", "c"] * 2),
        pd.Series(["a", None, "b", "c"] * 2, dtype="category"),
        pd.Series([1, None, 2, 3] * 2, dtype="Int64"),
        pd.to_datetime(pd.Series(["2020-01-01", None, "2020-01-02", "2020-01-03"] * 2)),
    ],
)
@pytest.mark.parametrize("score", [conditional_mutual_information, joint_mutual_information])
def test_missing_values_of_the_known_variable(score: Any, given: Any) -> None:
    with pytest.raises(ValueError, match=r"given has \d missing values \(the first at [13],"):
        score(X, Y, given)


def test_numbers_beside_text() -> None:
    with pytest.raises(ValueError, match="given must hold numbers or text"):
        conditional_mutual_information(X, Y, np.array([1, "a"] * 4, dtype=object))
