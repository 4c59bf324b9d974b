"""The rules of the house, walked with ast: who imports whom, and what loads what.

Rooms are the folders and modules of python/bitsieve. A rule speaks of every import statement,
also those inside functions, except where it says "at the top".
"""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from each import each

import bitsieve

PACKAGE = Path(bitsieve.__file__).parent
ROOT = Path(__file__).resolve().parents[1]

# What a room may take from the package.
ALLOWED = {
    "_errors": set(),
    "_version": set(),
    "_checks": set(),
    "_random": {"_checks", "_core"},
    "_files": set(),
    "_checkpoint": {"_errors", "_files", "_version"},
    "_once": set(),
    "_progress": set(),
    "_scorers": {"_errors"},
    "_threads": {"_checks", "_errors"},
    "_isa": {"_core", "_errors", "_version"},
    "_versions": {"_isa", "_version"},
    "_flips": set(),
    "masks": {"_checks", "_core", "_errors", "_flips"},
    "data": {"_checks", "_core", "_errors", "_random", "_threads", "_version"},
    "datasets": {"data"},
    "estimators": {"_checks"},
    "discrete": {"_checks", "_core", "_errors", "_threads", "data"},
    "filters": {"_checks", "_core", "_errors", "_random", "_threads", "data", "discrete"},
    "causal": {"_checks", "_core", "_errors", "_random", "_threads", "data", "discrete", "masks"},
    "fitness": {
        "_checks",
        "_core",
        "_errors",
        "_isa",
        "_once",
        "_scorers",
        "_threads",
        "_version",
        "data",
        "masks",
    },
    "search": {
        "_checkpoint",
        "_checks",
        "_core",
        "_errors",
        "_progress",
        "_random",
        "_version",
        "masks",
    },
    "gates": {
        "_checkpoint",
        "_checks",
        "_core",
        "_errors",
        "_progress",
        "_random",
        "_threads",
        "data",
        "filters",
        "masks",
    },
    "evaluation": {
        "_checkpoint",
        "_checks",
        "_core",
        "_errors",
        "_random",
        "_once",
        "_scorers",
        "_threads",
        "_version",
        "data",
        "masks",
        "panels",
    },
    "panels": {
        "_checks",
        "_core",
        "_errors",
        "_files",
        "_random",
        "_threads",
        "_version",
        "data",
        "filters",
        "fitness",
    },
    "model_selection": {
        "_checkpoint",
        "_checks",
        "_errors",
        "_random",
        "_scorers",
        "_threads",
        "data",
        "estimators",
        "filters",
        "fitness",
        "panels",
    },
    "selectors": {
        "_checkpoint",
        "_checks",
        "_errors",
        "_once",
        "_random",
        "_scorers",
        "_threads",
        "_version",
        "causal",
        "data",
        "discrete",
        "estimators",
        "filters",
        "fitness",
        "masks",
        "panels",
        "search",
    },
    "testing": {"_errors", "_isa", "_random", "data", "masks", "search"},
    "report": {
        "_checks",
        "_errors",
        "_files",
        "_isa",
        "_version",
        "_versions",
        "causal",
        "data",
        "evaluation",
        "filters",
    },
    "cli": {
        "_errors",
        "_once",
        "_scorers",
        "_threads",
        "_version",
        "causal",
        "data",
        "evaluation",
        "filters",
        "fitness",
        "panels",
        "report",
        "selectors",
    },
    "__main__": {"cli"},
}
# Packages that only some rooms may import at all.
ONLY_IN = {
    "torch": {"gates"},
    "cupy": {"fitness", "filters"},
    "dask": {"distributed"},
    "distributed": {"distributed"},
    "matplotlib": {"report"},
    "typer": {"cli"},
    "polars": {"data"},
    "optuna": {"model_selection"},
}
# Packages that a room may not import, and those it may import only inside functions.
FORBIDDEN = {
    "search": {"sklearn", "scipy", "pandas", "matplotlib", "joblib"},
    "masks": {"sklearn", "scipy", "pandas", "matplotlib", "joblib"},
}
# What one file of such a room may import after all, inside functions.
EXCUSED = {("bitsieve/search/markov.py", "scipy")}  # a sparse solver; no search needs it
LAZY = {"matplotlib", "torch", "cupy", "dask", "polars", "optuna"}
# Names of the top level that need it.
NEED_TORCH = {name for name, home in bitsieve._NAMES.items() if home == "bitsieve.gates"}
HAS_TORCH = importlib.util.find_spec("torch") is not None


class Import(NamedTuple):
    file: str
    line: int
    room: str
    target: str  # "bitsieve.room" or a package
    names: tuple[str, ...]  # what is taken out of it
    at_top: bool


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _targets(node: ast.Import | ast.ImportFrom, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
        return
    module = node.module or ""
    if node.level:
        package = path.relative_to(PACKAGE.parent).with_suffix("").parts[: -node.level]
        module = ".".join((*package, *module.split("."))).rstrip(".")
    if module == "bitsieve":
        for alias in node.names:
            yield f"bitsieve.{alias.name}"
    else:
        yield module


def _walk(tree: ast.AST, at_top: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, at_top
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        yield from _walk(node, at_top and not inside)


def _imports() -> list[Import]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node, at_top in _walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert isinstance(node, (ast.Import, ast.ImportFrom))
            for target in _targets(node, path):
                name = str(path.relative_to(PACKAGE.parent))
                taken = () if isinstance(node, ast.Import) else tuple(a.name for a in node.names)
                found.append(Import(name, node.lineno, _room(path), target, taken, at_top))
    return found


IMPORTS = _imports()


def _told(broken: list[Import]) -> str:
    return "; ".join(f"{i.file}:{i.line} imports {i.target}" for i in broken)


def _within(target: str) -> str | None:
    """Name the room of the package that a target lies in."""
    parts = target.split(".")
    if parts[0] != "bitsieve" or len(parts) == 1:
        return None
    name = parts[1]
    # Names of the lazy top level stand for the module that holds them.
    home = bitsieve._NAMES.get(name, f"bitsieve.{name}")
    return home.split(".")[1]


def test_the_walk_sees_the_package() -> None:
    rooms = {i.room for i in IMPORTS}
    assert {"masks", "data", "fitness", "search", "selectors", "evaluation", "report"} <= rooms
    assert any(i.target.startswith("numpy") for i in IMPORTS if i.room == "masks")


def test_imports_are_absolute() -> None:
    broken = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not broken, broken


@each("room", sorted(ALLOWED))
def test_room_takes_only_what_it_may(room: str) -> None:
    broken = [
        i
        for i in IMPORTS
        if i.room == room
        and (other := _within(i.target)) is not None
        and other not in ALLOWED[room] | {room, "__version__"}
    ]
    assert not broken, _told(broken)


def test_rooms_take_nothing_private_from_each_other() -> None:
    """No module or name with an underscore; those beside the rooms are everybody's."""
    broken = [
        i
        for i in IMPORTS
        if (other := _within(i.target)) not in (None, i.room)
        and (PACKAGE / str(other)).is_dir()
        and any(
            part.startswith("_") and not part.endswith("__")
            for part in (*i.target.split(".")[2:], *i.names)
        )
    ]
    assert not broken, _told(broken)


def test_filters_and_levels_take_X_by_one_entry() -> None:
    """What checks a table stands behind ``data.inputs.check_input``."""
    behind = {"check_matrix", "check_finite", "refuse_merged", "code_categories", "discrete_mask"}
    broken = [i for i in IMPORTS if i.room in ("filters", "discrete") and behind & set(i.names)]
    assert not broken, _told(broken)


def test_selectors_is_the_only_room_that_knows_search_and_fitness() -> None:
    knows: dict[str, set[str]] = {}
    for i in IMPORTS:
        other = _within(i.target)
        if other in ("search", "fitness") and other != i.room:
            knows.setdefault(i.room, set()).add(other)
    both = {room for room, others in knows.items() if others == {"search", "fitness"}}
    assert both <= {"selectors"}


@each("package", sorted(ONLY_IN))
def test_package_stays_in_its_room(package: str) -> None:
    broken = [
        i for i in IMPORTS if i.target.split(".")[0] == package and i.room not in ONLY_IN[package]
    ]
    assert not broken, _told(broken)


@each("room", sorted(FORBIDDEN))
def test_room_does_without(room: str) -> None:
    broken = [
        i
        for i in IMPORTS
        if i.room == room
        and (package := i.target.split(".")[0]) in FORBIDDEN[room]
        and (i.at_top or (i.file, package) not in EXCUSED)
    ]
    assert not broken, _told(broken)


def test_optional_and_slow_packages_are_imported_where_they_are_used() -> None:
    # Nothing imports the room of gates but where a name of it is used: torch may stand at the top.
    broken = [
        i
        for i in IMPORTS
        if i.at_top
        and (package := i.target.split(".")[0]) in LAZY
        and not (package == "torch" and i.room == "gates" and not i.file.endswith("__init__.py"))
    ]
    assert not broken, _told(broken)


def test_no_global_state() -> None:
    pattern = re.compile(
        r"\bnp\.random\.(?!default_rng|Generator|RandomState\b|SeedSequence|Philox|BitGenerator)"
        r"|\brandom\.seed\(|\bsys\.exit\("
    )
    broken = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line) and _room(path) not in ("cli", "__main__")
    ]
    assert not broken, broken


def test_filters_of_warnings_are_put_back() -> None:
    broken = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {
            id(node)
            for scope in ast.walk(tree)
            if isinstance(scope, ast.With)
            and any("catch_warnings" in ast.unparse(item) for item in scope.items)
            for node in ast.walk(scope)
        }
        broken += [
            f"{path.relative_to(PACKAGE)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("warnings.filterwarnings", "warnings.simplefilter")
            and id(node) not in inside
        ]
    assert not broken, broken


def _loaded_by(code: str) -> set[str]:
    code += "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light() -> None:
    heavy = {
        "sklearn",
        "scipy",
        "pandas",
        "matplotlib",
        "torch",
        "polars",
        "joblib",
        "cupy",
        "optuna",
    }
    start = time.perf_counter()
    loaded = _loaded_by("import bitsieve")
    print(f"python -c 'import bitsieve': {time.perf_counter() - start:.3f} s")
    assert not loaded & (heavy | {"numpy", "typer", "rich"})
    assert not _loaded_by("import bitsieve; bitsieve.Masks") & heavy
    assert not _loaded_by("import bitsieve; bitsieve.search.run") & (heavy - {"joblib"})
    assert not _loaded_by("import bitsieve.gates; dir(bitsieve.gates)") & (heavy | {"numpy"})


def test_without_torch_its_names_say_what_to_install() -> None:
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch':\n"
        "            raise ModuleNotFoundError('No module named torch', name='torch')\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "import bitsieve, bitsieve.gates\n"
        "said = []\n"
        f"for name in {sorted(NEED_TORCH)}:\n"
        "    for owner in (bitsieve, bitsieve.gates):\n"
        "        try:\n            getattr(owner, name)\n"
        "        except ImportError as error:\n            said.append(str(error))\n"
        f"assert len(said) == {2 * len(NEED_TORCH)}, said\n"
        "end = ' needs torch: pip install \"bitsieve[gates]\"'\n"
        "assert all(one.endswith(end) for one in said)\n"
        "assert bitsieve.ReliefF\n"
    )
    assert len(NEED_TORCH) == 5
    _loaded_by(code)


def test_help_is_light() -> None:
    heavy = {"numpy", "sklearn", "scipy", "pandas", "matplotlib", "torch", "polars"}
    code = (
        "import sys; sys.argv = ['bitsieve', '--help']\n"
        "from bitsieve.cli import main\n"
        "import contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    try:\n        main()\n    except SystemExit:\n        pass\n"
    )
    start = time.perf_counter()
    loaded = _loaded_by(code)
    print(f"bitsieve --help: {time.perf_counter() - start:.3f} s")
    assert not loaded & heavy


def test_every_public_name_is_there() -> None:
    for name in bitsieve.__all__:
        if HAS_TORCH or name not in NEED_TORCH:
            assert getattr(bitsieve, name) is not None
    assert sorted(bitsieve.__all__) == dir(bitsieve)
    rooms = {path.parent.name for path in PACKAGE.glob("[a-z]*/__init__.py")} - {"cli"}
    assert rooms <= set(bitsieve.__all__)
    with pytest.raises(AttributeError, match="module 'bitsieve' has no attribute 'nothing'"):
        bitsieve.nothing  # noqa: B018


CPP = ROOT / "cpp"
in_tree = pytest.mark.skipif(not CPP.is_dir(), reason="needs the source tree")


def _included(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, flags=re.MULTILINE)


@in_tree
def test_cpp_below_the_bindings_knows_no_python() -> None:
    sources = [p for folder in ("include", "src") for p in (CPP / folder).rglob("*.[ch]pp")]
    assert len(sources) > 5
    broken = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in sources
        for name in _included(path)
        if name == "Python.h" or name.startswith(("pybind11", "numpy"))
    ]
    assert not broken, broken


@in_tree
def test_files_with_instruction_set_flags_include_no_standard_templates() -> None:
    # An inline std:: template compiled with wider instructions could be the copy all link.
    allowed = {"immintrin.h", "arm_neon.h", "cstddef", "cstdint", "body.hpp"}
    allowed |= {f"body_{name}.hpp" for name in ("gaussian", "lanes", "ranks", "flips", "single")}
    rooms = ("relief", "information", "svm", "univariate")
    rooms += ("additive", "algebra", "neighbor", "scaled", "search", "solver")
    allowed |= {f"body_{room}.hpp" for room in rooms}
    allowed |= {
        f"bitsieve/isa/{name}.hpp" for name in ("kernels", *(f"{r}_kernels" for r in rooms))
    }
    allowed |= {"body_rows.hpp", "bitsieve/isa/row_kernels.hpp"}
    allowed |= {"body_pairs.hpp", "bitsieve/isa/pair_kernels.hpp"}
    found = {name for path in (CPP / "src" / "isa").iterdir() for name in _included(path)}
    headers = (CPP / "include" / "bitsieve" / "isa").iterdir()
    found |= {name for path in headers for name in _included(path)}
    assert found <= allowed, found - allowed


@in_tree
def test_nothing_depends_on_the_place_it_lies_in() -> None:
    absolute = re.compile(r"""(?<![\w.~:/*-])/(?:home|root|Users|work|opt|mnt)/\w""")
    suffixes = {".py", ".pyi", ".cpp", ".hpp", ".md", ".toml", ".txt", ".cff", ""}
    skipped = {"build", "dist", "venv", "bitsieve-out", "__pycache__"}
    broken = []
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        hidden = {part for part in parts if part.startswith(".")} - {".ci", ".gitignore"}
        if hidden or skipped & set(parts):
            continue
        if not path.is_file() or path.suffix not in suffixes:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if absolute.search(line):
                broken.append(f"{path.relative_to(ROOT)}:{number}")
    assert not broken, broken
