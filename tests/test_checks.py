"""Checks of arguments: what passes, in which type, and what is refused in which words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bitsieve._checks import check_choice, check_flag, check_int, check_number


def test_what_passes_comes_back_as_python_has_it() -> None:
    for found, wanted in (
        (check_int("n", np.int8(3), 3, 3), 3),
        (check_number("x", np.float32(0.5), 0, 1), 0.5),
        (check_number("x", 1, 0, 1, closed="right"), 1.0),
        (check_number("x", math.inf, 0, closed="right"), math.inf),
        (check_number("x", -math.inf, closed="both"), -math.inf),
        (check_flag("f", np.True_), True),
        (check_flag("f", None, optional=True), None),
        (check_choice("c", "a", ("a", "b")), "a"),
        (check_choice("c", None, ("a", None)), None),
    ):
        assert (found, type(found)) == (wanted, type(wanted))


def test_what_is_refused() -> None:
    above: dict[str, Any] = {"low": 0}
    for check, value, options, said in (
        (check_int, True, {"least": 0}, "x must be a whole number from 0 on, got True"),
        (check_int, 2.0, {"least": 0, "most": 9}, "x must be a whole number from 0 to 9, got 2.0"),
        (check_int, 10, {"least": 0, "most": 9}, "x must be a whole number from 0 to 9, got 10"),
        (check_number, 0, above, "x must be a finite number above 0, got 0"),
        (check_number, math.nan, above, "x must be a finite number above 0, got nan"),
        (check_number, math.inf, above, "x must be a finite number above 0, got inf"),
        (check_number, 10**400, above, "x must be a finite number above 0, got 1000"),
        (check_number, True, {}, "x must be a finite number, got True"),
        (check_number, np.ones(2), above, "x must be a finite number above 0, got array"),
        (check_number, 1, {"low": 0, "high": 1}, "x must be a number in (0, 1), got 1"),
        (check_number, 0, {**above, "unit": "seconds"}, "x must be a finite number of seconds ab"),
        (check_choice, "c", {"choices": ("a",)}, "x must be 'a', got 'c'"),
        (check_choice, "d", {"choices": ("a", "b", None)}, "x must be 'a', 'b' or None, got 'd'"),
        (check_choice, "x", {"choices": "abcd"}, "x must be one of 'a', 'b', 'c', 'd', got 'x'"),
        (check_choice, np.array(["a"]), {"choices": ("a",)}, "x must be 'a', got array"),
        (check_choice, ["a"], {"choices": ("a",)}, "x must be 'a', got ['a']"),
        (check_flag, None, {}, "x must be True or False, got None"),
        (check_flag, 1, {"optional": True}, "x must be True, False or None, got 1"),
    ):
        with pytest.raises(ValueError, match=r"^x must be") as caught:
            check("x", value, **options)  # type: ignore[operator]
        assert str(caught.value).startswith(said)
