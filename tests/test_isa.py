"""Choosing an instruction set: by call, by environment, and what is said when it is not there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from each import each

import bitsieve

LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture
def restored() -> Iterator[None]:
    before = bitsieve.get_isa()
    yield
    bitsieve.set_isa(before)


def _run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "BITSIEVE_ISA"} | variables
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )


def test_levels_are_known_and_ascend() -> None:
    available = bitsieve.available_isas()
    assert available == [level for level in LEVELS if level in available]
    assert available[0] == "baseline"


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("level", bitsieve.available_isas())
def test_set_and_get(level: str) -> None:
    bitsieve.set_isa(level)
    assert bitsieve.get_isa() == level


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("name", ["sse9", "AVX2", ""])
def test_unknown_level_is_refused_and_changes_nothing(name: str) -> None:
    bitsieve.set_isa("baseline")
    with pytest.raises(ValueError, match=f'"{name}" is not available here') as error:
        bitsieve.set_isa(name)
    assert ", ".join(bitsieve.available_isas()) in str(error.value)
    assert bitsieve.get_isa() == "baseline"


def test_best_level_is_the_default() -> None:
    done = _run("import bitsieve; print(bitsieve.get_isa() == bitsieve.available_isas()[-1])")
    assert (done.stdout.strip(), done.returncode) == ("True", 0), done.stderr


@pytest.mark.parametrize("level", bitsieve.available_isas())
def test_environment_chooses(level: str) -> None:
    done = _run("import bitsieve; print(bitsieve.get_isa())", BITSIEVE_ISA=level)
    assert (done.stdout.strip(), done.returncode) == (level, 0), done.stderr


def test_empty_variable_means_the_default() -> None:
    done = _run("import bitsieve; print(bitsieve.get_isa())", BITSIEVE_ISA="")
    assert done.stdout.strip() == bitsieve.available_isas()[-1]


def test_wrong_variable_is_told_when_it_is_first_needed() -> None:
    code = (
        "import bitsieve\n"
        "try:\n    bitsieve.get_isa()\n"
        "except ValueError as error:\n    print(error)\n"
        "bitsieve.set_isa('baseline')\nprint(bitsieve.get_isa())"
    )
    done = _run(code, BITSIEVE_ISA="sse9")
    first, second = done.stdout.strip().splitlines()
    assert '"sse9" is not available here' in first
    assert "baseline" in first
    assert second == "baseline"


def test_show_versions_names_what_a_bug_report_needs(capsys: pytest.CaptureFixture[str]) -> None:
    bitsieve.show_versions()
    printed = capsys.readouterr().out
    assert printed.startswith(f"bitsieve {bitsieve.__version__}\n")
    assert f"instruction set {bitsieve.get_isa()} of" in printed
    for package in ("numpy", "scikit-learn", "pandas"):
        assert f"\n{package} " in printed


@each("name", [None, 2, b"avx2"])
def test_a_name_is_text(name: object) -> None:
    with pytest.raises(ValueError, match="name must be one of 'baseline'"):
        bitsieve.set_isa(name)  # type: ignore[arg-type]
