"""The record of a job: what every command writes into run.json, and how files are written."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bitsieve._version import __version__
from bitsieve.cli.input import JobInput
from bitsieve.report.record import jsonable

__all__ = ["command_of", "json_line", "parameters_of", "record_of", "try_all"]


def record_of(data: JobInput, repeat: str, interrupted: bool = False) -> dict[str, Any]:
    """Return the part of a record that tells version, command and data.

    Parameters
    ----------
    data : JobInput
    repeat : str
        A command that gives the same numbers.
    interrupted : bool, default False

    Returns
    -------
    dict
    """
    return {
        "bitsieve": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "status": "interrupted" if interrupted else "complete",
        "command": shlex.join(["bitsieve", *sys.argv[1:]]),
        "repeat": repeat,
        "input": data.identity,
        "data": data.described(),
        "doubts": [asdict(doubt) for doubt in data.doubts],
    }


def parameters_of(job: Any) -> dict[str, Any]:
    """Return the options of a job, but for those that are of its surroundings alone."""
    return {key: value for key, value in asdict(job).items() if key not in ("force", "progress")}


def command_of(name: str, file: Path | None, options: Mapping[str, Any]) -> str:
    """Return a command line: options without a value are left out, those with several repeated.

    Examples
    --------
    >>> command_of("rank", Path("x.csv"), {"method": ("f", "t"), "top": 3, "seed": None})
    'bitsieve rank x.csv --method f --method t --top 3'
    """
    words = ["bitsieve", name]
    if file is not None:
        words.append(str(file))
    for option, value in options.items():
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None:
                words += [f"--{option}", str(one)]
    return shlex.join(words)


def json_line(record: Mapping[str, Any]) -> str:
    """Return a record as one JSON object in ASCII, with a final newline."""
    return json.dumps(jsonable(record), allow_nan=False) + "\n"


def try_all(*writers: Callable[[], object]) -> None:
    """Call each, whatever becomes of the others.

    Raises
    ------
    OSError
        Of the first that failed, after all were tried.
    """
    failures: list[OSError] = []
    for write in writers:
        try:
            write()
        except OSError as error:
            failures.append(error)
    if failures:
        raise failures[0]
