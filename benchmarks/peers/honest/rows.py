"""Rows on disk: one for a procedure, a set and an outer fold, written as soon as it is known."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["Row", "Rows"]


@dataclass(frozen=True)
class Row:
    """What a procedure did in an outer fold; `features` is None where it needs all of them."""

    set: str
    repeat: int
    fold: int
    procedure: str
    samples: list[int]
    predicted: list[int]
    features: list[int] | None
    n_features: int
    chosen: dict[str, Any]
    seconds: float

    @property
    def key(self) -> tuple[str, int, int, str]:
        return self.set, self.repeat, self.fold, self.procedure


class Rows:
    """All rows of a folder; each process appends to a file of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.known = {row.key for row in self.read(folder)}

    def append(self, rows: list[Row]) -> None:
        with (self._folder / f"rows-{os.getpid()}.jsonl").open("a") as file:
            file.write("".join(json.dumps(asdict(row)) + "\n" for row in rows))
        self.known.update(row.key for row in rows)

    @staticmethod
    def read(folder: Path) -> Iterator[Row]:
        for path in sorted(folder.glob("rows-*.jsonl")):
            for line in path.read_text().splitlines():
                with suppress(json.JSONDecodeError):  # a stopped run may leave half a line
                    yield Row(**json.loads(line))
