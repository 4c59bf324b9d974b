"""Features that options name: lists of them, files with a name a line, groups of a file."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bitsieve._errors import closest, quoted
from bitsieve.cli.input import JobInput
from bitsieve.report import file_identity

__all__ = ["FEATURE_OPTIONS", "NamedFeatures", "is_file_of_names", "read_features"]

#: Options that are read when the names of the features are known.
FEATURE_OPTIONS = ("forced", "forbidden", "feature-groups")


def is_file_of_names(text: str) -> bool:
    """Tell whether a text stands for a file with a name a line.

    Examples
    --------
    >>> is_file_of_names("@panel.txt"), is_file_of_names("tp53")
    (True, False)
    """
    return text.startswith("@") and len(text) > 1


@dataclass
class NamedFeatures:
    """Reads the features that options name.

    Attributes
    ----------
    names : sequence of str
        Those there are.
    identity : dict
        What identifies each file that was read, by option.
    """

    names: Sequence[str]
    identity: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = frozenset(self.names)

    def listed(self, option: str, texts: Sequence[str]) -> list[str]:
        """Return the names that an option lists, each once.

        Parameters
        ----------
        option : str
            Without its dashes.
        texts : sequence of str
            Names; several with commas, unless the whole is one; or @FILE.

        Raises
        ------
        ValueError
            For what is no feature, and a file that cannot be read.
        """
        found: dict[str, None] = {}
        for text in texts:
            if text in self._known:
                names = [text]
            elif is_file_of_names(text):
                names = [name for _, name in self._lines(option, Path(text[1:]))]
            else:
                names = [name.strip() for name in text.split(",") if name.strip()]
            for name in names:
                if name not in self._known:
                    where = f" {text}" if is_file_of_names(text) else ""
                    raise ValueError(self._unknown(f"--{option}{where}", name))
            found.update(dict.fromkeys(names))
        if not found:
            raise ValueError(f"--{option} must name at least one feature, got none")
        return list(found)

    def groups(self, option: str, path: Path) -> list[list[str]]:
        """Return the groups of a file, one a line.

        Parameters
        ----------
        option : str
            Without its dashes.
        path : Path
            Names between tabs where a line has one, else between commas, in quotes where a name
            has a comma.

        Raises
        ------
        ValueError
            For what is no feature, a feature in two groups, and a file that cannot be read.
        """
        found = []
        seen: dict[str, int] = {}
        for number, line in self._lines(option, path):
            delimiter = "\t" if "\t" in line else ","
            (fields,) = csv.reader([line], delimiter=delimiter, skipinitialspace=True)
            group = list(dict.fromkeys(name.strip() for name in fields if name.strip()))
            for name in group:
                where = f"--{option} {path} line {number}"
                if name not in self._known:
                    raise ValueError(self._unknown(where, name))
                if name in seen:
                    raise ValueError(
                        f"{where}: {quoted(name)} is in the group of line {seen[name]} already"
                    )
                seen[name] = number
            if group:
                found.append(group)
        if not found:
            raise ValueError(f"--{option} {path}: the file holds no names")
        return found

    def _lines(self, option: str, path: Path) -> list[tuple[int, str]]:
        """Return the lines of a file that are not empty, with their numbers from 1 on."""
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            why = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
            raise ValueError(f"--{option} {path}: {why}") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"--{option} {path}: the file is no text in UTF-8") from error
        self.identity[option] = file_identity(path)
        lines = enumerate((line.strip(" \r\n") for line in text.split("\n")), 1)
        return [(number, line) for number, line in lines if line]

    def _unknown(self, where: str, name: str) -> str:
        return f"{where} names {quoted(name)}, which is no feature: {closest(name, self.names)}"


def read_features(chosen: Mapping[str, Any], data: JobInput) -> dict[str, Any]:
    """Return what the options of a search say of features, as a selector takes it.

    Parameters
    ----------
    chosen : mapping of str to object
        Options by name, None where they say nothing.
    data : JobInput
        Its ``identity`` gets the files that are read.

    Returns
    -------
    dict of str to object
        Positions of what --forced, --forbidden and --feature-groups name, a mask of what --start
        names in a file.

    Raises
    ------
    ValueError
        For what is no feature, what no search can be over, and files that cannot be read.
    """
    named = NamedFeatures(data.names)
    place = {name: number for number, name in enumerate(data.names)}
    found: dict[str, Any] = {}
    for option in ("forced", "forbidden"):
        if chosen.get(option) is not None:
            found[option] = sorted(place[name] for name in named.listed(option, chosen[option]))
    path = chosen.get("feature-groups")
    if path is not None:
        groups = named.groups("feature-groups", path)
        found["feature-groups"] = [sorted(place[name] for name in group) for group in groups]
    if found:
        from bitsieve.selectors.named import check_features

        check_features(data.table, *(found.get(option) for option in FEATURE_OPTIONS))
    start = chosen.get("start")
    if start is not None and is_file_of_names(start):
        mask = np.zeros(len(data.names), dtype=bool)
        mask[[place[name] for name in named.listed("start", [start])]] = True
        found["start"] = mask
    data.identity.update(named.identity)
    return found
