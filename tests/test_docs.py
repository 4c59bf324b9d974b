"""What is written runs: docstrings have their sections, examples give what they say, links lead
somewhere, and the README's commands are those that CI runs.
"""

from __future__ import annotations

import dataclasses
import doctest
import enum
import fnmatch
import importlib
import importlib.util
import inspect
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import bitsieve

ROOT = Path(__file__).resolve().parents[1]
HAS_TORCH = importlib.util.find_spec("torch") is not None
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(bitsieve.__path__, "bitsieve.")
    if not module.name.endswith(("_core", "__main__"))
)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run examples in an empty folder: some write files."""
    monkeypatch.chdir(tmp_path)


# ---- examples ------------------------------------------------------------------------------


ROOMS: dict[str, list[str]] = {}
for _name in ["bitsieve", *MODULES]:
    ROOMS.setdefault(".".join(_name.split(".")[:2]), []).append(_name)


@pytest.mark.parametrize("room", ROOMS)
def test_examples_give_what_they_say(room: str) -> None:
    if room == "bitsieve.gates" and not HAS_TORCH:
        pytest.skip("needs torch")
    failed = {}
    for name in ROOMS[room]:
        module = importlib.import_module(name)
        runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
        for example in doctest.DocTestFinder(exclude_empty=True).find(module, name):
            runner.run(example)
        if runner.failures:
            failed[name] = f"{runner.failures} of {runner.tries} examples"
    assert not failed


def _blocks(page: Path, language: str) -> list[str]:
    fence = re.compile(rf"^```{language}[ \t]*\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
    return fence.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if _blocks(p, "python")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_python_blocks_of_a_page_run(page: Path) -> None:
    if page.name == "gates.md" and not HAS_TORCH:
        pytest.skip("needs torch")
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in _blocks(page, "python"):
        exec(compile(block, str(page), "exec"), namespace)


def test_index_finds_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "docs/index.md"
    (block,) = _blocks(page, "python")
    for seed in (0, 1, 2):
        seeded = block.replace("random_state=0", f"random_state={seed}")
        exec(compile(seeded, str(page), "exec"), {})
    first, *others = capsys.readouterr().out.splitlines()
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert f"`{first}`" in text
    assert f"for table and search alike, find {others[0][0]} and {others[1][0]}:" in text


def test_pytest_is_given_lists_of_clauses() -> None:
    # It warns of iterators, and refuses them from version 10 on.
    texts = [ROOT / "docs/testing.md", Path(bitsieve.testing.__file__)]
    found = [re.findall(r'"check"\), (.*)\)', text.read_text(encoding="utf-8")) for text in texts]
    assert all(each and each[0].startswith("list(") for each in found)


# ---- docstrings ----------------------------------------------------------------------------


def _public() -> Iterator[tuple[str, Any]]:
    """Yield what a user may import: __all__ of the top level and of its rooms."""
    seen: set[int] = set()
    rooms = [name for name in MODULES if re.fullmatch(r"bitsieve\.(?!cli)[a-z]\w+", name)]
    for name in ["bitsieve", *rooms]:
        module = importlib.import_module(name)
        for attribute in getattr(module, "__all__", []):
            if not HAS_TORCH and bitsieve._NAMES.get(attribute) == "bitsieve.gates":
                continue
            value = getattr(module, attribute)
            documented = inspect.isclass(value) or inspect.isfunction(value)
            if documented and value.__module__.startswith("bitsieve") and id(value) not in seen:
                seen.add(id(value))
                yield f"{value.__module__}.{value.__qualname__}", value


def _methods(owner: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(owner).items():
        if name.startswith("_"):
            continue
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if inspect.isfunction(function):
            yield f"{owner.__module__}.{owner.__qualname__}.{name}", function


def _sections(text: str) -> set[str]:
    return set(re.findall(r"^([A-Z][\w ]+)\n-{3,}$", text, flags=re.MULTILINE))


def _parameters(value: Any) -> list[str]:
    names = list(inspect.signature(value).parameters)
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def _is_declared(value: type) -> bool:
    """Tell whether a class only declares: protocols, errors, enumerations, abstract classes."""
    is_protocol = getattr(value, "_is_protocol", False) or inspect.isabstract(value)
    return is_protocol or issubclass(value, (Exception, enum.Enum, dict))


def _fills_in(value: type) -> bool:
    """Tell whether a class fills in an abstract one that is documented itself."""
    bases = value.__mro__[1:]
    return any(inspect.isabstract(base) for base in bases if base in PUBLIC.values())


def _is_result(value: type) -> bool:
    """Tell whether a class only holds what a function returns; the example is with that one."""
    return dataclasses.is_dataclass(value) or hasattr(value, "_fields")


PUBLIC = dict(_public())


def test_the_public_names_are_found() -> None:
    assert {"bitsieve.masks.Masks", "bitsieve._isa.set_isa"} <= set(PUBLIC)
    assert len(PUBLIC) > 15


def _complaints_about_sections(value: Any) -> Iterator[str]:
    text = inspect.getdoc(value) or ""
    first = text.splitlines()[0] if text else ""
    if not first.endswith((".", ":")):
        yield f"the first line must be a sentence, got {first!r}"
    if inspect.isclass(value) and (_is_declared(value) or _fills_in(value)):
        return
    sections = _sections(text)
    if inspect.isclass(value):
        if not sections & {"Parameters", "Attributes"}:
            yield "needs Parameters or Attributes"
        if _is_result(value):
            return
    else:
        if _parameters(value) and "Parameters" not in sections:
            yield "needs Parameters"
        returns = inspect.signature(value).return_annotation
        is_something = returns not in (None, "None", "NoReturn", inspect.Signature.empty)
        if is_something and not sections & {"Returns", "Yields"}:
            yield "needs Returns"
    if "Examples" not in sections or ">>> " not in text.partition("Examples\n")[2]:
        yield "needs Examples that run"


def test_docstrings_have_their_sections() -> None:
    found = {name: list(_complaints_about_sections(value)) for name, value in PUBLIC.items()}
    assert not {name: complaints for name, complaints in found.items() if complaints}


def _not_described(value: Any) -> list[str]:
    text = inspect.getdoc(value) or ""
    described = set(re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :|$)", text, re.MULTILINE))
    names = {n.lstrip("*") for group in described for n in group.split(", ")}
    if inspect.isclass(value) and (_is_declared(value) or _is_result(value) or _fills_in(value)):
        return []
    return [p for p in _parameters(value) if p not in names]


def test_every_parameter_is_described() -> None:
    found = {name: _not_described(value) for name, value in PUBLIC.items()}
    assert not {name: missing for name, missing in found.items() if missing}


def test_methods_have_a_docstring() -> None:
    """A first line that is a sentence; those of a parent class will do."""
    first = {
        name: (inspect.getdoc(getattr(owner, name.rpartition(".")[2])) or "").partition("\n")[0]
        for owner in PUBLIC.values()
        if inspect.isclass(owner)
        for name, _ in _methods(owner)
    }
    assert len(first) > 30
    assert not {name: line for name, line in first.items() if not line.endswith((".", ":"))}


# ---- pages ---------------------------------------------------------------------------------

in_tree = pytest.mark.skipif(not (ROOT / "README.md").is_file(), reason="needs the source tree")


@in_tree
def test_links_lead_somewhere() -> None:
    missing = []
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
        gone = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
        missing += [(page.name, target) for target in gone]
    assert not missing


# What the change log says was true once; what the README names in backticks are mostly outputs.
TODAY = [page for page in PAGES if page.name != "CHANGELOG.md"]
GUIDES = [page for page in TODAY if page.name != "README.md"]


def _quoted(page: Path) -> list[str]:
    """Give what stands in backticks outside of blocks."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"`([^`]+)`", text)


@in_tree
def test_files_and_folders_that_guides_name_are_there() -> None:
    tops = ["cpp", "python", "tests", "docs", "benchmarks"]
    there = [path for path in ROOT.iterdir() if path.is_file()]
    there += [path for top in tops for path in [ROOT / top, *(ROOT / top).rglob("*")]]
    names = ["/" + path.relative_to(ROOT).as_posix() for path in there]
    is_path = re.compile(r"([\w*-]+/)+[\w.*-]*|[\w*-]+\.(py|hpp|cpp|toml|txt)")
    missing = [
        (page.name, quoted)
        for page in GUIDES
        for quoted in _quoted(page)
        if is_path.fullmatch(quoted) and not fnmatch.filter(names, f"*/{quoted.rstrip('/')}")
    ]
    assert not missing


@in_tree
def test_what_guides_name_of_the_package_is_there() -> None:
    named = {
        (page.name, found[0])
        for page in TODAY
        for quoted in _quoted(page)
        if (found := re.match(r"(?:bitsieve|evaluation|filters)(?:\.\w+)+", quoted))
    }
    assert len(named) > 5
    for page, name in sorted(named):
        try:
            pkgutil.resolve_name(name if name.startswith("bitsieve") else f"bitsieve.{name}")
        except (ImportError, AttributeError) as error:
            raise AssertionError(f"{page} names {name}") from error


@in_tree
def test_options_that_pages_name_are_those_of_the_command_line() -> None:
    command = typer.main.get_command(importlib.import_module("bitsieve.cli").app)
    there = {
        option
        for each_command in command.commands.values()  # type: ignore[attr-defined]
        for parameter in each_command.params
        for option in parameter.opts
    }
    named = {(p.name, o) for p in TODAY for q in _quoted(p) for o in re.findall(r"^--\w[\w-]*", q)}
    assert not {(page, option) for page, option in named if option not in there}


@in_tree
def test_the_layout_lists_the_rooms_that_there_are() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (`\S+)[^|]* \| (.*) \|$", text, re.MULTILINE))
    for row, files in (
        ("`cpp/include/bitsieve`,", "cpp/src/*/*.cpp"),
        ("`python/bitsieve`", "python/bitsieve/*/*.py"),
    ):
        named = {quoted for quoted in re.findall(r"`([^`]+)`", rows[row]) if "." not in quoted}
        assert named == {path.parent.name for path in ROOT.glob(files)}


@in_tree
def test_settings_and_numbers_of_the_guides_are_those_of_the_code() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sources = [*ROOT.glob("cpp/**/*.cpp"), *ROOT.glob("python/**/*.py"), *ROOT.glob("tests/*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in sources)
    settings = set(re.findall(r"`(BITSIEVE_\w+)`", contributing))
    assert len(settings) == 3
    assert not {name for name in settings if f'"{name}"' not in code}
    assert all(f"`{isa}`" in contributing for isa in bitsieve.available_isas())
    (patience,) = re.findall(r"patience = std::chrono::microseconds\((\d+)\)", code)
    assert f"looks for work for {patience} microseconds" in (ROOT / "docs/speed.md").read_text()


@in_tree
def test_readme_starts_with_the_job_and_the_tests() -> None:
    first, second = _blocks(ROOT / "README.md", "sh")[:2]
    assert first.strip().splitlines() == [
        "pip install . && bitsieve select --dataset breast_cancer --max-features 10"
    ]
    assert second.strip().splitlines() == ["pip install -r tests/requirements.txt && pytest -n 2"]


@in_tree
def test_what_the_tests_need_is_what_pyproject_says() -> None:
    # pip takes no extra without building the package again, hence the file.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "tests/requirements.txt").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    assert listed == project["optional-dependencies"]["test"]


@in_tree
def test_change_log_and_version_agree() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (?:\[?v?([\w.]+)\]?)", text, flags=re.MULTILINE)
    assert headings[0] in ("Unreleased", bitsieve.__version__)


@in_tree
def test_named_jobs_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    jobs = set(re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text("utf-8"), re.M))
    named = set(re.findall(r"`(\w+)`", text.partition("`nox -l`")[2].partition(".ci/run")[0]))
    assert named == jobs


@in_tree
def test_wheels_are_built_for_every_python_that_is_claimed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    claimed = {
        line.rpartition(" ")[2].replace(".", "")
        for line in settings["project"]["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line)
    }
    built = set(settings["tool"]["cibuildwheel"]["build"])
    assert built == {f"cp{version}-*" for version in claimed}
