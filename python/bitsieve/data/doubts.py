"""What in a table is hardly meant: columns that are no features, classes that are one or none.

A column that counts the samples, copies the target or holds the time to the event would be found
by every method, and say nothing about new samples. Each rule goes by values, and by names only
where values alone cannot tell; measurements must pass them all, in tables of any width.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import shorten

if TYPE_CHECKING:
    from bitsieve.data.table import Table

__all__ = ["Doubt", "find_doubts", "refused_target"]

Columns = NDArray[np.intp]

_FEWEST = 5  # samples below which an order or a pattern means nothing
_LONG = 10  # samples from which a permutation of a range does, whatever the name
_BY_CHANCE = 100  # as many to one that a column of few values is no copy of the target by chance
_MOST_CLASSES = 20  # that numbers may stand for
_MANY_CLASSES = 10  # of numbers, that must have some samples each
_PROBES = 8  # rows that are looked at first: most columns are out after them

_ID = {
    *("id", "ids", "idx", "identifier", "barcode", "accession", "mrn", "rowid", "recordid"),
    *("patientid", "subjectid", "sampleid", "caseid", "studyid", "participantid", "donorid"),
    *("rownumber", "rownr", "samplenumber", "patientnumber"),
}
_UNIT = {"patient", "subject", "sample", "participant", "specimen", "donor", "unnamed"}
_NUMBER = {"no", "nr", "num", "number", "index", "row", "case", "record"}  # as a whole name
_ORDER = {"order", "injection", "acquisition", "date", "timestamp"}
_TURN = {"run", "sequence", "scan"}  # an order, unless it is the length of one or the like
_UNITS = {"time", "days", "weeks", "months", "years", "t"}
_TIME = _UNITS | {"survival", "followup", "futime", "survtime", "tte", "ttp"}
_EVENT = {
    *("event", "death", "dead", "died", "deceased", "survived", "alive", "relapse", "relapsed"),
    *("recurrence", "progression", "censor", "censored", "censoring", "fustat", "vitalstatus"),
}
_ENDPOINT = {"os", "pfs", "dfs", "rfs", "efs", "dmfs", "dss"}
# Besides them nothing stands in such a name: a reaction time or a marital status is something else.
_BESIDE = {
    *("to", "of", "in", "is", "until", "last", "first", "overall", "free", "disease", "patient"),
    *(
        "follow",
        "up",
        "contact",
        "vital",
        "status",
        "indicator",
        "survival",
        "surv",
        "followup",
        "e",
    ),
}
_VOCABULARY = (
    _ID | _UNIT | _NUMBER | _ORDER | _TURN | _TIME | _EVENT | _ENDPOINT | {"follow", "status"}
)
_SUFFIXES = {"csv", "tsv", "tab", "txt", "gz"}


@dataclass(frozen=True)
class Doubt:
    """A column that is evidently no feature, or classes that are hardly meant.

    Attributes
    ----------
    kind : {"column", "classes"}
    names : tuple of str
        The column, or the classes.
    why : str
        The reason: what stands after the name of a column, or a whole sentence about classes.
    """

    kind: Literal["column", "classes"]
    names: tuple[str, ...]
    why: str


def find_doubts(table: Table) -> list[Doubt]:
    """Return what is doubtful in a table; see :meth:`bitsieve.data.Table.doubts`."""
    found: dict[int, str] = {}
    if table.n_samples >= _FEWEST:
        telling = _telling(table.names or [])
        for rule in (_copies, _counters):
            found = dict(rule(table)) | found
        for named_rule in (_identifiers, _orders, _follow_ups):
            found = dict(named_rule(table, telling)) | found
    names = table.names or [f"x{j}" for j in range(table.n_features)]
    columns = [Doubt("column", (names[j],), found[j]) for j in sorted(found)]
    return columns + list(_classes(table))


def refused_target(table: Table) -> str | None:
    """Tell why a target is no set of classes that a panel could tell apart.

    A target of numbers, one of more than 20 numbers or of more than 10 with under five samples
    each, the follow-up time of an event, and an event whose follow-up time is a column.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str or None
        What to say after the name of the file; None where the target is fit.

    Examples
    --------
    >>> from bitsieve.data import Table
    >>> refused_target(Table([[1.0], [2.0], [3.0]], [0.5, 1.5, 2.5], target_name="age"))
    "the target 'age' holds numbers (3 different ones, from 0.5 to 2.5), and a panel tells ..."
    >>> refused_target(Table([[1.0], [2.0], [3.0]], ["a", "b", "a"])) is None
    True
    """
    if table.y is None:
        return None
    name = "" if table.target_name is None else f" {table.target_name!r}"
    said = [word for word in _apart(table.target_name or "").split() if word not in _SUFFIXES]
    telling = _telling(table.names or [])
    known = table.names or []
    times = [known[j] for j, words in telling.items() if _is_time(words) and _runs(table.X[:, j])]
    events = [
        known[j] for j, words in telling.items() if _is_event(words) and _is_flag(table.X[:, j])
    ]
    levels = np.unique(table.y)
    if _is_event(said) and 2 <= len(levels) <= 4 and times:
        return (
            f"the target{name} is an event and {shorten(times)} its follow-up time: a survival "
            "outcome, which takes a Cox model; to tell those with the event from those without, "
            "leave the time out (--drop), where all were followed for as long"
        )
    n, is_number = table.n_samples, table.y.dtype.kind in "iuf"
    many = len(levels) > _MOST_CLASSES or (len(levels) > _MANY_CLASSES and n < 5 * len(levels))
    if not is_number or (table.task != "regression" and not many):
        return None
    numbers = f"{len(levels):,} different ones, from {levels[0]:g} to {levels[-1]:g}"
    if _is_time(said) and _runs(np.asarray(table.y, np.float64)):
        event = f" with the event {shorten(events)}" if events else ""
        return (
            f"the target{name} is a follow-up time{event} ({numbers}): a survival outcome, which "
            "takes a Cox model, and a panel tells classes apart"
        )
    return (
        f"the target{name} holds numbers ({numbers}), and a panel tells classes apart; make "
        "classes of them first, such as above and below a limit that is known beforehand"
    )


# -- columns -----------------------------------------------------------------------------------


def _copies(table: Table) -> Iterator[tuple[int, str]]:
    """One value a class and one class a value; or a straight line in a target of numbers."""
    X, n = table.X, table.n_samples
    if table.codes is None:
        if table.y is not None and n >= _LONG:
            yield from _lines(table)
        return
    counts = np.bincount(table.codes)
    rows = np.linspace(0, n - 1, min(n, _PROBES)).astype(np.intp)
    probe = np.sort(X[rows], axis=0)
    changes = (probe[1:] != probe[:-1]) & ~np.isnan(probe[1:])
    few = np.flatnonzero(changes.sum(axis=0) < len(counts))
    # Of all ways to part the samples into sets of such sizes, one is a copy.
    alike = np.bincount(counts)[1:]
    ways = math.lgamma(n + 1) - sum(math.lgamma(k + 1) for k in (*counts, *alike))
    if not len(few) or ways < math.log(_BY_CHANCE * len(few)):
        return
    levels: list[NDArray[np.floating]] = []
    for code in range(len(counts)):
        values = X[np.ix_(table.codes == code, few)]
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            low = np.where(known, values, np.inf).min(axis=0)
            same = low == np.where(known, values, -np.inf).max(axis=0)
        # A value of some samples of the class stands for those whose value is missing.
        same &= 2 * known.sum(axis=0) >= len(values)
        few, levels = few[same], [level[same] for level in [*levels, low]]
    if len(few):
        sorted_levels = np.sort(np.array(levels), axis=0)
        for j in few[(sorted_levels[1:] != sorted_levels[:-1]).all(axis=0)]:
            yield int(j), "has one value for each class, as a copy of the target has"


def _lines(table: Table) -> Iterator[tuple[int, str]]:
    assert table.y is not None
    y = np.asarray(table.y, np.float64)
    first, last = int(np.argmin(y)), int(np.argmax(y))
    if y[first] == y[last]:
        return
    middle = int(np.argsort(y, kind="stable")[len(y) // 2])
    X = table.X
    low, high = X[first].astype(np.float64), X[last].astype(np.float64)
    share = (y[middle] - y[first]) / (y[last] - y[first])
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(low + share * (high - low) - X[middle]) <= 1e-5 * np.abs(high - low)
    for j in np.flatnonzero(near & (low != high)):
        column = X[:, j].astype(np.float64)
        line = low[j] + (y - y[first]) / (y[last] - y[first]) * (high[j] - low[j])
        room = 8 * np.finfo(np.float32).eps * np.abs([low[j], high[j]]).max()
        if np.all(np.abs(column - line) <= room):
            yield int(j), "is the target itself, or a straight line in it"


def _counters(table: Table) -> Iterator[tuple[int, str]]:
    """Whole numbers that number the samples; unless many columns do, as in a table of ranks."""
    X, n = table.X, table.n_samples
    head = X[:_PROBES]
    maybe = (head == np.rint(head)).all(axis=0)
    if not maybe.any():
        return
    steps = np.diff(head, axis=0)
    is_ordered = (steps > 0).all(axis=0) | (steps < 0).all(axis=0)
    is_range = X.max(axis=0) - X.min(axis=0) == n - 1
    # In a few samples of many columns, whole numbers of that range differ by chance.
    chance = math.lgamma(n + 1) - n * math.log(n) + math.log(maybe.sum())
    by_range = n >= _LONG and chance < -math.log(_BY_CHANCE)
    found = []
    for j in np.flatnonzero(maybe & (is_ordered | is_range)):
        column = X[:, j]
        steps = np.diff(column)
        if np.any(column != np.rint(column)):
            continue
        if abs(steps[0]) == 1.0 and np.all(steps == steps[0]):
            found.append((int(j), "counts the samples"))
        elif n >= _LONG and (np.all(steps > 0) or np.all(steps < 0)):
            found.append((int(j), "numbers the samples in their order"))
        elif by_range and is_range[j] and len(np.unique(column)) == n:
            found.append((int(j), "numbers the samples"))
    if len(found) <= max(2, table.n_features // 20):
        yield from found


def _identifiers(table: Table, telling: dict[int, list[str]]) -> Iterator[tuple[int, str]]:
    """Whole numbers, or categories, of which nearly every sample has its own."""
    n, categories = table.n_samples, set(table.discrete_columns)
    for j in sorted(categories | set(telling)):
        name, is_category = telling.get(j, []), j in categories
        # A volume of a sample, or a weight of a patient, is a measurement.
        says_unit = _UNIT & set(name) and all(w in _UNIT | _NUMBER or w.isdigit() for w in name)
        says_id = not _ID.isdisjoint(name) or says_unit
        if not (says_id or is_category or says_unit or " ".join(name) in _NUMBER):
            continue
        column = table.X[:, j]
        if np.any(column != np.rint(column)):
            continue
        n_values = len(np.unique(column))
        if is_category and n_values == n >= _LONG:
            yield j, "has another text in every sample, as a name or an identifier has"
        elif n_values == n:
            yield j, "is named and numbered like an identifier"
        elif says_id and 2 * n_values >= n:
            yield j, "is named like an identifier that samples share, which may be their groups"


def _orders(table: Table, telling: dict[int, list[str]]) -> Iterator[tuple[int, str]]:
    """Named after the order of measurement, and rising or falling along the samples."""
    for j, name in telling.items():
        in_turn = set(name) <= _TURN | _UNIT | _NUMBER
        if _ORDER.isdisjoint(name) and not (in_turn and _TURN & set(name)):
            continue
        column = table.X[:, j]
        steps = np.diff(column)
        monotone = bool(np.all(steps >= 0) or np.all(steps <= 0))
        if monotone and 2 * len(np.unique(column)) >= table.n_samples:
            yield j, "follows the order of the samples"


def _follow_ups(table: Table, telling: dict[int, list[str]]) -> Iterator[tuple[int, str]]:
    """The time to an event and whether it came: both are outcomes, neither can predict."""
    target = [word for word in _apart(table.target_name or "").split() if word not in _SUFFIXES]
    times = [j for j, name in telling.items() if _is_time(name) and _runs(table.X[:, j])]
    events = [j for j, name in telling.items() if _is_event(name) and _is_flag(table.X[:, j])]
    n_classes = 0 if table.classes is None else len(table.classes)
    of_event = _is_event(target) and 2 <= n_classes <= 4
    if events or of_event:
        for j in times:
            yield j, "is a follow-up time, known only after its event"
    if times or (_is_time(target) and n_classes == 0):
        for j in events:
            yield j, "is the event of a follow-up time"


def _is_time(words: list[str]) -> bool:
    known = set(words)
    says = _TIME & known or _ENDPOINT & known or "follow up" in " ".join(words)
    return bool(says) and known <= _TIME | _EVENT | _ENDPOINT | _BESIDE and not _is_event(words)


def _is_event(words: list[str]) -> bool:
    known = set(words)
    says = _EVENT & known or "status" in known or ("e" in known and _ENDPOINT & known)
    return bool(says) and known <= _EVENT | _ENDPOINT | _BESIDE


def _runs(column: NDArray[np.floating]) -> bool:
    """Tell whether values are lengths of time: none negative, and many of them."""
    known = column[~np.isnan(column)]
    return bool(len(known) and known.min() >= 0 and 4 * len(np.unique(known)) >= len(known))


def _is_flag(column: NDArray[np.floating]) -> bool:
    known = column[~np.isnan(column)]
    return 2 <= len(np.unique(known)) <= 4


def _telling(names: Sequence[str]) -> dict[int, list[str]]:
    """Return the words of the names that a rule may go by, by position."""
    text = _apart("\n".join(name.replace("\n", " ") for name in names))
    if _VOCABULARY.isdisjoint(text.split()):  # nearly always, and there may be a million names
        return {}
    lines = [line.split() for line in text.split("\n")]
    return {j: words for j, words in enumerate(lines) if not _VOCABULARY.isdisjoint(words)}


def _apart(text: str) -> str:
    """Put spaces between words as people join them: days_to_death, OS.time, followUp."""
    return re.sub(r"[^\w\n]|_", " ", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())


# -- classes -----------------------------------------------------------------------------------


def _classes(table: Table) -> Iterator[Doubt]:
    if table.classes is None or table.codes is None:
        return
    labels = [str(label) for label in table.classes]
    counts = np.bincount(table.codes).tolist()
    alike: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        alike.setdefault("".join(label.split()).casefold(), []).append(i)
    groups = [group for group in alike.values() if len(group) > 1]
    if groups:
        names = tuple(labels[i] for group in groups for i in group)
        shown = "; ".join(
            ", ".join(f"{labels[i]!r} ({counts[i]:,})" for i in group) for group in groups[:3]
        )
        more = f" and {len(groups) - 3} more" if len(groups) > 3 else ""
        yield Doubt(
            "classes",
            names,
            f"labels that differ in case or spaces alone are different classes: {shown}{more}; "
            "write them alike if they mean the same",
        )
    single = [label for label, count in zip(labels, counts, strict=True) if count == 1]
    # So many numbers are hardly classes, which is said where they are taken for such.
    are_numbers = table.classes.dtype.kind in "iuf" and len(labels) > max(20, table.n_samples // 4)
    if single and not are_numbers:
        classes = "classes" if len(single) > 1 else "the class"
        have = "have" if len(single) > 1 else "has"
        yield Doubt(
            "classes",
            tuple(single),
            f"{classes} {shorten(single)} {have} one sample: it cannot be in a training and in a "
            "test part at once, so it is never predicted; leave it out, or merge it with another",
        )
