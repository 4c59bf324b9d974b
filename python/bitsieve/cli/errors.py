"""Errors as one line and an exit code, and output that nobody may read."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, TextIO

import typer

from bitsieve.cli.signals import what_stopped

__all__ = ["give_up", "in_options", "one_line_errors", "show"]

#: Parameters of selectors and readers, and the options that stand for them.
_OPTIONS = {
    "alpha": "alpha",
    "max_conditioning": "max-conditioning",
    "min_samples_per_cell": "min-samples-per-cell",
    "test": "test",
    "cv": "cv",
    "feature_groups": "feature-groups",
    "forbidden_features": "forbidden",
    "forced_features": "forced",
    "max_evaluations": "max-evaluations",
    "covariates": "covariates",
    "estimators": "estimators",
    "max_iter": "max-iter",
    "max_time": "max-time",
    "n_features_to_select": "n-features",
    "n_jobs": "jobs",
    "n_restarts": "restarts",
    "n_repeats": "repeats",
    "parsimony": "parsimony",
    "scoring": "scoring",
    "selectors": "selectors",
    "size_penalty": "size-penalty",
    "start": "start",
    "step": "step",
    "stability": "stability",
}
_PARAMETER = re.compile(rf"\b({'|'.join(_OPTIONS)})=('?)([\w.-]+)\2")
_GROUP = re.compile(r"\bfeature_groups\[(\d+)\]")
#: Names that nobody writes who means something else.
_ALONE = re.compile(r"\b(feature_groups|forbidden_features|forced_features|size_penalty)\b")
_SUBJECT = re.compile(rf"^({'|'.join(_OPTIONS)})(?:\[[01]\])? (?=must |names )")
#: A pair of sizes, which was typed as a range or, of two equal ones, as a number.
_SIZES = re.compile(r"\bn_features_to_select=\((\d+), (\d+)\)")


def show(text: str) -> None:
    """Write to stdout; a reader that has had enough, such as head, is no error."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up(sys.stdout)


def _fail(message: str, code: int) -> NoReturn:
    """Say what went wrong on one line of stderr and leave with an exit code."""
    line = " ".join(str(message).split())
    try:
        from bitsieve.report.outcome import printable

        line = printable(line)
    except ImportError:  # what a signal cut short, as NumPy, is not imported again
        line = line.encode("ascii", "backslashreplace").decode()
    # Not through a console: a long line must stay one line.
    try:
        sys.stderr.write(f"bitsieve: error: {line}\n")
        sys.stderr.flush()
    except OSError:
        give_up(sys.stderr)  # the exit code is all that is left to say
    raise typer.Exit(code)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn exceptions into one line and an exit code."""
    try:
        yield
    except (typer.Exit, SystemExit):
        raise
    except BaseException as error:
        if os.environ.get("BITSIEVE_TRACEBACK"):
            raise
        if isinstance(error, OSError):
            give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(0) from error
        _fail(*_line_and_code(error))


def _line_and_code(error: BaseException) -> tuple[str, int]:
    """Return what to say about an exception, and the exit code."""
    chain: BaseException | None = error
    while chain is not None:
        # An import that Ctrl-C cuts short may raise something else because of it.
        if isinstance(chain, KeyboardInterrupt):
            what, code = what_stopped(chain)
            return f"stopped by {what} before there was anything to write", code
        chain = chain.__cause__ or chain.__context__
    if hasattr(error, "format_message"):  # how typer says that the command line is wrong
        return str(error.format_message()), int(getattr(error, "exit_code", 2))
    if isinstance(error, (ValueError, FileNotFoundError, ImportError)):
        return _text(error), 2
    if isinstance(error, OSError):
        return _text(error), 1
    if isinstance(error, MemoryError):
        return "out of memory", 1
    return (
        f"{type(error).__name__}: {error} (this is a fault of the program; set "
        "BITSIEVE_TRACEBACK=1 to see where)",
        1,
    )


def give_up(stream: TextIO) -> None:
    """Let a stream lead nowhere if it takes no more, so that closing it does not fail again."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _text(error: BaseException) -> str:
    """Return the message of an exception; of a system error its reason and file."""
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}"
    return in_options(str(error)) or type(error).__name__


def in_options(message: str) -> str:
    """Return a message of the library with the options that the user typed, not its parameters.

    Examples
    --------
    >>> in_options("n_features_to_select=7 is more than the 5 features")
    '--n-features 7 is more than the 5 features'
    >>> in_options("scoring='f1' cannot score this target; lower cv=50")
    '--scoring f1 cannot score this target; lower --cv 50'
    >>> in_options("n_features_to_select=(1, 1) is less than the 2 forced features")
    '--n-features 1 is less than the 2 forced features'
    >>> in_options("n_jobs must be a whole number, got 0")
    '--jobs must be a whole number, got 0'
    >>> in_options("feature 'a' cannot be both in forced_features and in forbidden_features")
    "feature 'a' cannot be both in --forced and in --forbidden"
    """
    message = message.replace("pass resume=False to start anew", "give another --checkpoint")
    message = _SIZES.sub(
        lambda found: f"--n-features {found[1]}{'' if found[1] == found[2] else f'-{found[2]}'}",
        message,
    )
    message = _SUBJECT.sub(lambda found: f"--{_OPTIONS[found[1]]} ", message)
    message = _PARAMETER.sub(lambda found: f"--{_OPTIONS[found[1]]} {found[3]}", message)
    message = _GROUP.sub(lambda found: f"group {int(found[1]) + 1} of --feature-groups", message)
    return _ALONE.sub(lambda found: f"--{_OPTIONS[found[1]]}", message)
