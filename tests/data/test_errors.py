"""The words that messages are made of."""

from __future__ import annotations

import pytest

from bitsieve import _errors


def test_kinds():
    assert issubclass(_errors.CheckpointMismatch, ValueError)
    assert issubclass(_errors.MissingExtra, ImportError)


def test_shorten():
    assert _errors.shorten([]) == ""
    assert _errors.shorten(["a"]) == "'a'"
    assert _errors.shorten(range(6)) == "0, 1, 2, 3, 4 and 1 more"


def test_name_columns():
    assert _errors.name_columns([1], ["a", "b"], noun="row") == "1 row ('b')"
    assert _errors.name_columns(list(range(7)), None) == (
        "7 columns (numbers 0, 1, 2, 3, 4 and 2 more)"
    )


def test_closest():
    assert _errors.closest("OUTCOME", ["a", "outcome"]) == "did you mean 'outcome'?"
    assert _errors.closest("x", []) == "there are none"


def test_require():
    with pytest.raises(
        _errors.MissingExtra, match=r"drawing needs no_such_thing.*pip install extra"
    ):
        _errors.require("no_such_thing", "drawing", "extra")
    assert _errors.require("math", "sums").sqrt(4) == 2
