"""The folder of a job: nothing of another run is overwritten unless it is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bitsieve.report.record import jsonable

__all__ = ["refuse_other_run"]

_SHOWN = 100  # characters of another run's command


def refuse_other_run(
    out: Path, files: Sequence[str], *, repeat: str, identity: Mapping[str, Any]
) -> None:
    """Refuse a folder that holds the files of another run, before the work starts.

    The same run is the same command line, but for what changes no number (threads, checkpoints),
    on the same content; a seed that is drawn anew makes another one.

    Parameters
    ----------
    out : Path
    files : sequence of str
        What the job would write.
    repeat, identity
        The command that gives the same numbers, and checksums of what was read, as run.json holds
        them under "repeat" and "input".

    Raises
    ------
    ValueError
        Where one of the files is there and run.json does not tell of this run.
    """
    there = [name for name in files if (out / name).exists()]
    if not there:
        return
    found = _record(out / "run.json")
    is_same_input = _content(found.get("input")) == _content(identity)
    before, seed = str(found.get("repeat")), f"--seed {found.get('seed')}"
    if before == repeat and is_same_input:
        return
    way = ""
    if "repeat" not in found:
        of = "something else"
    elif before.replace(f" {seed}", "") == repeat and is_same_input:
        of, way = "this run with the seed that was drawn for it", f"{seed} to repeat it, "
    else:
        shown = str(found.get("command"))
        of = f"another run, {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}...'}"
    raise ValueError(
        f"--out {out} holds {', '.join(there)} of {of}: give {way}another --out, or --force to "
        "overwrite"
    )


def _record(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _content(identity: Any) -> Any:
    """Return what identifies input wherever it lies."""
    if not isinstance(identity, Mapping):
        return identity
    return {k: _content(v) for k, v in jsonable(identity).items() if k != "path"}
