"""What is installed: versions, the processor, the instruction set."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys

from bitsieve._version import __version__

__all__ = ["package_version", "show_versions"]

_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "pandas",
    "polars",
    "matplotlib",
    "rich",
    "typer",
)


def package_version(package: str) -> str | None:
    """Return the version of a package, None where it is not installed.

    A package that is imported from its sources has no metadata; its ``__version__`` counts then.

    Examples
    --------
    >>> package_version("no-such-package") is None
    True
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        version = getattr(sys.modules.get(package), "__version__", None)
        return None if version is None else str(version)


def show_versions() -> None:
    """Print the versions and settings that a bug report needs.

    Examples
    --------
    >>> import bitsieve
    >>> bitsieve.show_versions()  # doctest: +ELLIPSIS
    bitsieve ...
    """
    from bitsieve._isa import available_isas, get_isa

    print(f"bitsieve {__version__}")
    for package in _PACKAGES:
        print(package, package_version(package) or "not installed")
    print(f"python {platform.python_version()} on {platform.platform()}")
    print(f"instruction set {get_isa()} of {', '.join(available_isas())}")
    print(f"{os.cpu_count()} processors")
