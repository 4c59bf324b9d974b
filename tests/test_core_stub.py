"""The stub of the compiled core says what the module has: names, arguments and types."""

from __future__ import annotations

import ast
import re
from enum import Enum
from pathlib import Path

import bitsieve
from bitsieve import _core

STUB = Path(bitsieve.__file__).with_name("_core.pyi")

Signatures = dict[str, str]


def _normalised(annotation: str) -> str:
    """Write a type as the stub does, whichever version of pybind11 printed it."""
    rules = (
        (r"typing\.Supports(?:Int|Index) \| typing\.Supports(?:Int|Index)", "int"),
        (r"typing\.SupportsFloat \| typing\.SupportsIndex", "float"),
        (r"typing\.SupportsInt", "int"),
        (r"typing\.SupportsFloat", "float"),
        (r"(?:numpy\.typing\.)?NDArray\[(?:numpy|np)\.(\w+?)_?\]", r"array of \1"),
        (r"numpy\.ndarray\[numpy\.(\w+?)_?\]", r"array of \1"),
        (r"bitsieve\._core\.", ""),
        # pybind11 knows of a function only that it is one; the stub may say of what.
        (r"(?:collections\.abc\.)?Callable(?:\[\[.*?\], [^\]]*\])?", "callable"),
    )
    for pattern, replacement in rules:
        annotation = re.sub(pattern, replacement, annotation)
    return annotation


def _described(function: ast.FunctionDef) -> str:
    arguments = function.args
    parts = []
    for argument in arguments.posonlyargs + arguments.args:
        if argument.arg in ("self", "arg0") and not parts:
            continue
        parts.append((argument.arg, argument.annotation))
    parts.append(("*", None))
    parts += [(argument.arg, argument.annotation) for argument in arguments.kwonlyargs]
    text = ", ".join(
        name if note is None else f"{name}: {_normalised(ast.unparse(note))}"
        for name, note in parts
    )
    assert function.returns is not None
    return f"({text}) -> {_normalised(ast.unparse(function.returns))}"


def _from_stub() -> Signatures:
    found: Signatures = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _described(node)
        elif isinstance(node, ast.AnnAssign):
            found[ast.unparse(node.target)] = ast.unparse(node.annotation)
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.Assign):  # a member of an enum
                    found[f"{node.name}.{ast.unparse(method.targets[0])}"] = ast.unparse(
                        method.value
                    )
                if not isinstance(method, ast.FunctionDef):
                    continue
                is_property = any(ast.unparse(d) == "property" for d in method.decorator_list)
                text = _described(method)
                found[f"{node.name}.{method.name}"] = (
                    f"property -> {text.partition(' -> ')[2]}" if is_property else text
                )
    return found


def _parsed(doc: str, name: str) -> str:
    """Read the signature that pybind11 writes into the first line of a docstring."""
    line = doc.strip().splitlines()[0]
    # Defaults are printed as values, which need not be Python; a stub writes "..." for all.
    line = re.sub(r" = [^,)]+", " = ...", line)
    line = re.sub(r"^\(", f"{name}(", line)
    # A property's getter names its argument by position.
    line = re.sub(r"\((arg0|self): [\w.]+", "(self", line)
    node = ast.parse(f"def {line}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    return _described(node)


def _from_module() -> Signatures:
    found: Signatures = {}
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        if not callable(value):
            found[name] = type(value).__name__
            continue
        if not isinstance(value, type):
            found[name] = _parsed(value.__doc__, name)
            continue
        if issubclass(value, Enum):
            found |= {f"{name}.{member.name}": str(member.value) for member in value}
            continue
        for attribute, member in vars(value).items():
            if attribute.startswith("_") and attribute != "__init__":
                continue
            if str(member.__doc__).startswith("Initialize self"):
                continue  # a base class that nobody makes
            if isinstance(member, property):
                text = _parsed(str(member.fget.__doc__), attribute)
                found[f"{name}.{attribute}"] = f"property -> {text.partition(' -> ')[2]}"
            else:
                found[f"{name}.{attribute}"] = _parsed(member.__doc__, attribute)
    return found


def test_stub_and_module_have_the_same_names() -> None:
    assert sorted(_from_stub()) == sorted(_from_module())


def test_stub_and_module_have_the_same_signatures() -> None:
    stub, module = _from_stub(), _from_module()

    def agree(ours: str, theirs: str) -> bool:
        # pybind11 knows of a tuple only that it is one; the stub may say what is in it.
        bare = theirs.endswith(("tuple", "list", "dict"))
        return ours.startswith(f"{theirs}[") if bare else ours == theirs

    found = {name: (stub.get(name, ""), theirs) for name, theirs in module.items()}
    assert not {name: both for name, both in found.items() if not agree(*both)}
