"""Fixed inputs still get the answers on record, so that work on the inside changes none.

Compiled cases to the last bit, on every instruction set; the others to nine digits. After a change
that is meant, ``python tests/golden/freeze.py`` renews the record and says what differs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import bitsieve

sys.path.insert(0, str(Path(__file__).parent))

from cases import CASES, Case, answer
from digests import digests

RECORD = json.loads(Path(__file__).with_name("digests.json").read_text())


def _differs(case: Case, found: dict[str, dict[str, str]]) -> list[str]:
    kept: dict[str, Any] = RECORD[case.name]
    kind = "bits" if case.exact else "digits"
    names = sorted(kept.keys() | found.keys())
    return [n for n in names if kept.get(n, {}).get(kind) != found.get(n, {}).get(kind)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answers_are_those_on_record(case: Case) -> None:
    assert _differs(case, digests(answer(case))) == []


@pytest.mark.parametrize("isa", bitsieve.available_isas())
def test_every_instruction_set_gives_the_bits_on_record(isa: str) -> None:
    before = bitsieve.get_isa()
    bitsieve.set_isa(isa)
    try:
        exact = [case for case in CASES if case.exact]
        assert {case.name: _differs(case, digests(answer(case))) for case in exact} == {
            case.name: [] for case in exact
        }
    finally:
        bitsieve.set_isa(before)


def test_nothing_on_record_has_lost_its_case() -> None:
    assert sorted(RECORD) == sorted(case.name for case in CASES)
