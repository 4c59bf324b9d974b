"""Errors of the project, and the words they are made of.

Bad input raises a plain :class:`ValueError` that says what was expected, what came, where, and
what to do. The helpers here keep those sentences alike in every room: lists of names are cut to
the first few and a count, and a misspelt name is answered with the nearest known ones.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "CheckpointMismatch",
    "DuplicateSamplesWarning",
    "ManyClassesWarning",
    "MissingExtra",
    "MissingValues",
    "NumericTarget",
    "TextColumns",
    "TooFewEvaluations",
    "TooManySubsets",
    "caused_by",
    "closest",
    "duration",
    "name_columns",
    "plural",
    "quoted",
    "require",
    "shorten",
]


class CheckpointMismatch(ValueError):
    """A checkpoint was written by another run: other data, parameters, splits or version."""


class DuplicateSamplesWarning(UserWarning):
    """Samples stand more than once in a table, and folds may part them."""


class ManyClassesWarning(UserWarning):
    """Whole numbers were taken for classes although there are very many of them."""


class MissingExtra(ImportError):
    """An optional package that this call needs is not installed."""


class MissingValues(ValueError):
    """X holds NaN where missing values are not taken."""


class NumericTarget(ValueError):
    """y holds numbers where classes are expected."""


class TextColumns(ValueError):
    """X holds text or categories where numbers are expected."""


class TooFewEvaluations(ValueError):
    """A limit on evaluations is below the masks of the first iteration.

    Parameters
    ----------
    limit : str
        As the user gave it.
    n_masks : int
        Of the first iteration.
    """

    def __init__(self, limit: str, n_masks: int) -> None:
        super().__init__(f"{limit} is fewer than the {n_masks} masks of one iteration")
        self.n_masks = n_masks


class TooManySubsets(ValueError):
    """There are more subsets than an exhaustive search takes.

    Parameters
    ----------
    what : str
        How many there are, and how many it takes.
    largest : int
        The greatest size up to which it would take them, 0 where it takes none.
    """

    def __init__(self, what: str, largest: int) -> None:
        way = f"max_size={largest} at most, " if largest else ""
        super().__init__(f"{what}: give {way}fewer features, or search with another method")
        self.what, self.largest = what, largest


def caused_by(error: BaseException, kind: type[BaseException]) -> bool:
    """Tell whether an error is of a kind, or was raised from one that is.

    Examples
    --------
    >>> caused_by(TextColumns("X must hold numbers"), TextColumns)
    True
    >>> caused_by(ValueError("X must hold numbers"), TextColumns)
    False
    """
    found: BaseException | None = error
    while found is not None and not isinstance(found, kind):
        found = found.__cause__
    return found is not None


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them, to two digits.

    Examples
    --------
    >>> duration(0.2), duration(43), duration(200), duration(9000), duration(3e5), duration(1e9)
    ('1 s', '43 s', '3 min', '2.5 h', '3.5 days', '32 years')
    """
    for unit, size, most in (
        ("s", 1.0, 100.0),
        ("min", 60.0, 100.0),
        ("h", 3600.0, 48.0),
        ("days", 86400.0, 730.0),
    ):
        if seconds < most * size:
            count = seconds / size
            digits = 1 if count < 9.95 and size > 60.0 else 0
            return f"{max(1.0, round(count, digits)):g} {unit}"
    return f"{seconds / (365.25 * 86400.0):.0f} years"


_LONGEST = 40


def quoted(text: str) -> str:
    """Text in quotes, its end left out where it is long.

    Examples
    --------
    >>> quoted("tp53"), quoted("x" * 1000)
    ("'tp53'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'")
    """
    return repr(str(text) if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")


def plural(count: int, noun: str) -> str:
    """Count and noun, with an s unless the count is one.

    Examples
    --------
    >>> plural(1, "column"), plural(3, "column")
    ('1 column', '3 columns')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def shorten(items: Iterable[object], limit: int = 5) -> str:
    """First few items in quotes (numbers without), and how many more there are.

    Examples
    --------
    >>> shorten(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    >>> shorten([3, 7])
    '3, 7'
    """
    items = list(items)
    text = ", ".join(quoted(i) if isinstance(i, str) else str(i) for i in items[:limit])
    more = len(items) - limit
    return f"{text} and {more} more" if more > 0 else text


def name_columns(
    indices: Sequence[int], names: Sequence[str] | None, limit: int = 5, noun: str = "column"
) -> str:
    """Columns by name where names are known, else by position counted from 0.

    Examples
    --------
    >>> name_columns([0, 2], ["tp53", "brca1", "egfr"])
    "2 columns ('tp53', 'egfr')"
    >>> name_columns([4], None)
    '1 column (number 4)'
    """
    count = len(indices)
    shown: list[object] = [
        int(i) if names is None else str(names[int(i)]) for i in indices[: limit + 1]
    ]
    text = ", ".join(quoted(s) if isinstance(s, str) else str(s) for s in shown[:limit])
    if count > limit:
        text += f" and {count - limit} more"
    label = "" if names is not None else ("number " if count == 1 else "numbers ")
    return f"{plural(count, noun)} ({label}{text})"


def closest(name: str, known: Iterable[object], limit: int = 3) -> str:
    """Half a sentence that offers the nearest known names, or lists the first ones.

    Examples
    --------
    >>> closest("outcom", ["gene1", "outcome"])
    "did you mean 'outcome'?"
    >>> closest("zzz", ["gene1", "outcome"])
    "there are 'gene1', 'outcome'"
    """
    names = [str(k) for k in known]
    if not names:
        return "there are none"
    folded = {n.casefold(): n for n in reversed(names) if len(n) <= _LONGEST}
    near = difflib.get_close_matches(name[:_LONGEST].casefold(), list(folded), n=limit)
    if near:
        return f"did you mean {' or '.join(quoted(folded[n]) for n in near)}?"
    return f"there are {shorten(names)}"


def require(module: str, purpose: str, install: str | None = None) -> Any:
    """Import an optional package, or say what needs it and how to get it.

    Parameters
    ----------
    module : str
        Name to import, for example ``"pandas"``.
    purpose : str
        What needs it, as the start of a sentence: ``"reading text tables"``.
    install : str, optional
        What to give to ``pip install``; the top-level package by default.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingExtra
        If the package is not installed.

    Examples
    --------
    >>> require("json", "writing results").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        raise MissingExtra(
            f"{purpose} needs {package}, which is not installed; "
            f"run: python -m pip install {install or package}"
        ) from error
