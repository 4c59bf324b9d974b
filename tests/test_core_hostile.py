"""No argument crashes the compiled core, and what no function can use is refused by all of them."""

from __future__ import annotations

import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

from bitsieve import _core

PROGRAM = Path(__file__).with_name("hostile_core.py")


def test_hostile_arguments() -> None:
    # As a program: a crash is then a failed test, and its last line tells which call it was.
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, "\n".join(done.stderr.splitlines()[-8:])
    assert done.stdout.splitlines() == ["end"]


def test_every_function_is_called() -> None:
    called = {name.partition(" ")[0] for name in runpy.run_path(str(PROGRAM))["CALLS"]}
    for name, member in vars(_core).items():
        if name.startswith("_") or not callable(member):
            continue
        functions = {name: member}
        if inspect.isclass(member):
            functions = {
                f"{name}.{method}": function
                for method, function in vars(member).items()
                if not method.startswith("_") and callable(function)
            }
            assert name in called or str(member.__init__.__doc__).startswith("Initialize self")
        for path, function in functions.items():
            signature = str(function.__doc__).partition("\n")[0]
            without_arguments = re.search(r"\((self: [\w.]+)?\) ->", signature)
            assert without_arguments or path in called or path.partition(".")[2] in called, path
