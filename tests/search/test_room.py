"""Rules of the room: what a search may import, and what importing it costs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import bitsieve.search

ROOM = Path(bitsieve.search.__file__).parent
OURS = {"_checkpoint", "_checks", "_core", "_errors", "_files", "_progress", "_random", "_version"}
OURS |= {"masks", "search"}
STANDARD = sys.stdlib_module_names


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            if node.module == "bitsieve":
                yield from (f"bitsieve.{alias.name}" for alias in node.names)
            else:
                yield node.module


def test_a_search_sees_masks_and_scores_only():
    files = sorted(ROOM.glob("*.py"))
    assert len(files) > 5
    for file in files:
        for name in imports(ast.parse(file.read_text())):
            top, _, rest = name.partition(".")
            if top == "bitsieve":
                assert rest.split(".")[0] in OURS, f"{file.name} imports {name}"
            else:
                assert top in STANDARD | {"numpy", "rich", "scipy"}, f"{file.name} imports {name}"


def test_importing_the_room_loads_neither_rich_nor_scikit_learn():
    code = (
        "import sys, bitsieve.search; "
        "print(sorted({'rich', 'sklearn', 'scipy', 'pandas', 'matplotlib', 'joblib', 'torch',"
        "'bitsieve.fitness', 'bitsieve.data', 'bitsieve.selectors'} & set(sys.modules)))"
    )
    package = str(ROOM.parent.parent)
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": package},
    )
    assert out.stdout.strip() == "[]"


def test_public_names_have_docstrings():
    for name in bitsieve.search.__all__:
        thing = getattr(bitsieve.search, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__doc__, name
