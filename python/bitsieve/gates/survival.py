"""Times and events: what a survival target is, how risks are scored, folds that share events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold

from bitsieve._errors import plural
from bitsieve.data.frames import is_frame

__all__ = [
    "EventKFold",
    "Survival",
    "baseline_hazard",
    "check_survival",
    "concordance_index",
]

_FORMS = (
    "pass a structured array with a bool field 'event' and a field 'time', a data frame with "
    "columns event and time, or an array of two columns, event and time"
)


@dataclass(frozen=True, eq=False)
class Survival:
    """A follow-up time for each sample, and whether its event came then.

    Attributes
    ----------
    event : bool ndarray of shape (n_samples,)
        False is censored: no event until the time.
    time : float64 ndarray of shape (n_samples,)
    """

    event: NDArray[np.bool_]
    time: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.time)

    def columns(self) -> NDArray[np.float64]:
        """Return event and time as float64 of shape (n_samples, 2)."""
        return np.column_stack((self.event, self.time)).astype(np.float64)


def check_survival(y: Any, n_samples: int | None = None) -> Survival:
    """Read a survival target in any of its forms, or say what is wrong with it.

    Parameters
    ----------
    y : structured array, DataFrame or array-like of shape (n_samples, 2)
        A structured array of two fields, as scikit-survival has it: the field of booleans is the
        event, else the fields are known by the names "event" and "time". The columns of a frame are
        known by these names too. Columns without them are event and time in this order; the other
        order is taken where only the second column holds nothing but 0 and 1. Where both do, they
        cannot be told apart, which is refused.
    n_samples : int, optional
        Samples that there must be.

    Returns
    -------
    Survival

    Raises
    ------
    ValueError
        If y is none of these, its length is wrong, a time is negative, infinite or NaN, an event
        is neither 0 nor 1, or there is no event at all.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([(True, 5.0), (False, 3.0)], dtype=[("event", bool), ("time", float)])
    >>> check_survival(y)
    Survival(event=array([ True, False]), time=array([5., 3.]))
    >>> check_survival([[5.0, 1], [3.0, 0]])
    Survival(event=array([ True, False]), time=array([5., 3.]))
    >>> check_survival([[1, 1], [0, 1]])
    Traceback (most recent call last):
    ValueError: y is ambiguous: both columns hold nothing but 0 and 1, so that event and time ...
    """
    if isinstance(y, Survival):
        found = y
    else:
        first, second, names, are_bool = _two_columns(y)
        if n_samples is not None and len(first) != n_samples:
            raise ValueError(
                f"X has {plural(n_samples, 'sample')} but y has {plural(len(first), 'time')}"
            )
        for column, name in ((first, names[0]), (second, names[1])):
            _refuse_unknown(column, name)
        swapped = _is_time_first(first, second, names, are_bool)
        event, time = (second, first) if swapped else (first, second)
        _refuse_events(event)
        found = Survival(event == 1.0, time)
    if n_samples is not None and len(found) != n_samples:
        raise ValueError(
            f"X has {plural(n_samples, 'sample')} but y has {plural(len(found), 'time')}"
        )
    _refuse_times(found.time)
    if not found.event.any():
        raise ValueError(
            f"y has no event: all {plural(len(found), 'time')} are censored, so that nothing "
            "tells a greater risk"
        )
    return found


def concordance_index(y: Any, risk: ArrayLike) -> float:
    """Return Harrell's concordance index: how often the greater risk has the earlier event.

    Pairs are comparable where the earlier time is that of an event; at the same time an event
    stands before a censored sample, and two events are not comparable. Equal risks count half.

    Parameters
    ----------
    y : structured array, DataFrame or array-like of shape (n_samples, 2)
        See :func:`check_survival`.
    risk : array-like of shape (n_samples,)
        Greater is riskier.

    Returns
    -------
    float
        In [0, 1]; 0.5 for risks that tell nothing.

    Raises
    ------
    ValueError
        If y is no survival target, a risk is NaN, or no two samples are comparable.

    Notes
    -----
    In time of order n log n: the risks of those with a longer time are counted below each event's
    risk, bit by bit of their ranks.

    Examples
    --------
    >>> y = [[1, 2.0], [1, 4.0], [0, 5.0]]
    >>> concordance_index(y, [0.9, 0.1, 0.4])
    0.6666666666666666
    """
    risk = np.asarray(risk, dtype=np.float64).reshape(-1)
    found = check_survival(y, len(risk))
    if np.isnan(risk).any():
        raise ValueError(f"risk is NaN for {plural(int(np.isnan(risk).sum()), 'sample')}")
    # Longest first, at the same time the censored first: whoever an event is compared with
    # stands before all events of its own time.
    order = np.lexsort((found.event, -found.time))
    event, time = found.event[order], found.time[order]
    ranks = np.unique(risk[order], return_inverse=True)[1].reshape(-1)
    same = np.flatnonzero(np.r_[True, (time[1:] != time[:-1]) | (event[1:] != event[:-1])])
    starts = np.repeat(same, np.diff(np.r_[same, len(time)]))
    less, equal = _count_below(ranks, starts[event], ranks[event])
    n_pairs = int(starts[event].sum())
    if n_pairs == 0:
        raise ValueError(
            "the concordance index has no value: no event has a sample with a longer time"
        )
    return (int(less.sum()) + 0.5 * int(equal.sum())) / n_pairs


def baseline_hazard(
    y: Survival, log_risk: NDArray[np.float64], weight: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Breslow's estimate of the cumulative hazard of a sample with ``log_risk`` 0.

    Parameters
    ----------
    y : Survival
    log_risk : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,), optional

    Returns
    -------
    times : float64 ndarray of shape (n_times,)
        Distinct times of events, ascending.
    hazard : float64 ndarray of shape (n_times,)
        From each of these times on.

    Examples
    --------
    >>> import numpy as np
    >>> y = Survival(np.array([True, True, False]), np.array([1.0, 2.0, 3.0]))
    >>> baseline_hazard(y, np.zeros(3))[1].round(3)
    array([0.333, 0.833])
    """
    weight = np.ones(len(y)) if weight is None else weight
    times, at = np.unique(y.time, return_inverse=True)
    top = log_risk.max()
    at_risk = np.bincount(at, weight * np.exp(log_risk - top))[::-1].cumsum()[::-1]
    events = np.bincount(at, weight * y.event)
    kept = events > 0
    hazard: NDArray[np.float64] = np.exp(-top) * np.cumsum(events[kept] / at_risk[kept])
    return times[kept], hazard


class EventKFold(StratifiedKFold):  # type: ignore[misc]
    """Folds that share the events evenly: stratified by event, for scikit-learn's ``cv``.

    Parameters
    ----------
    n_splits : int, default 5
    shuffle : bool, default False
    random_state : int, RandomState or None, default None
        As for :class:`sklearn.model_selection.StratifiedKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.column_stack(([1, 1, 0, 0, 0, 0], [3.0, 2.0, 5.0, 1.0, 4.0, 6.0]))
    >>> [int(y[test, 0].sum()) for _, test in EventKFold(2).split(y, y)]
    [1, 1]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None):
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)

    def split(
        self, X: Any, y: Any, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return (train, test) positions; ``y`` as for :func:`check_survival`."""
        event = check_survival(y).event
        yield from super().split(np.empty((len(event), 1)), event, groups)


def _count_below(
    values: NDArray[np.int64], ends: NDArray[np.int64], of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count values[:end] that are less than, and equal to, a number; for many ends at once.

    Parameters
    ----------
    values : int64 ndarray of shape (n,)
        From 0 on.
    ends, of : int64 ndarrays of shape (n_queries,)

    Returns
    -------
    less, equal : int64 ndarrays of shape (n_queries,)
    """
    low, high = np.zeros_like(ends), ends.copy()
    less = np.zeros_like(ends)
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        # Split the values by this bit, stably; each query goes on where its own number went.
        ones = (values >> bit & 1).astype(bool)
        zeros_before = np.r_[0, np.cumsum(~ones)]
        up = (of >> bit & 1).astype(bool)
        zeros_low, zeros_high = zeros_before[low], zeros_before[high]
        less += np.where(up, zeros_high - zeros_low, 0)
        n_zeros = zeros_before[-1]
        low = np.where(up, n_zeros + low - zeros_low, zeros_low)
        high = np.where(up, n_zeros + high - zeros_high, zeros_high)
        values = np.concatenate((values[~ones], values[ones]))
    return less, high - low


def _two_columns(
    y: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, str], tuple[bool, bool]]:
    """Return two columns of numbers, their names, and which of them came as booleans."""
    if is_frame(y):
        columns = list(y.columns)
        names = [str(name) for name in columns]
        if len(columns) != 2:
            raise ValueError(
                f"y is a frame of {plural(len(columns), 'column')} ({', '.join(names)}), but two "
                "are needed: event and time"
            )
        parts = [np.asarray(y[name].to_numpy()) for name in columns]
    else:
        try:
            array = np.asarray(y)
        except ValueError as error:
            raise ValueError(f"y is no survival target: {error}; {_FORMS}") from None
        fields = array.dtype.names
        if fields is not None and len(fields) == 2 and array.ndim == 1:
            names, parts = list(fields), [array[name] for name in fields]
        elif fields is None and array.ndim == 2 and array.shape[1] == 2:
            names, parts = ["column 0", "column 1"], [array[:, 0], array[:, 1]]
        else:
            shown = f"fields {', '.join(fields)}" if fields else f"shape {array.shape}"
            raise ValueError(f"y must hold an event and a time a sample, got {shown}; {_FORMS}")
    numbers = [_numbers(part, name) for part, name in zip(parts, names, strict=True)]
    are_bool = (_came_bool(parts[0]), _came_bool(parts[1]))
    return numbers[0], numbers[1], (names[0], names[1]), are_bool


def _came_bool(part: NDArray[Any]) -> bool:
    if part.dtype.kind == "O":
        return len(part) > 0 and all(isinstance(value, (bool, np.bool_)) for value in part)
    return part.dtype.kind == "b"


def _numbers(part: NDArray[Any], name: str) -> NDArray[np.float64]:
    if part.dtype.kind in "OUS":
        try:
            return part.astype(np.float64)
        except (TypeError, ValueError):
            example = next(v for v in part.tolist() if not isinstance(v, (int, float)))
    elif part.dtype.kind in "biuf" and part.ndim == 1:
        return part.astype(np.float64)
    else:
        example = part.flat[0] if part.size else part.dtype
    raise ValueError(
        f"y must hold numbers, but {name} holds {example!r}; events are 0 (censored) and 1, times "
        "numbers of days, months or years"
    )


def _is_time_first(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    names: tuple[str, str],
    are_bool: tuple[bool, bool],
) -> bool:
    """Whether the columns are time and event rather than event and time."""
    if are_bool[0] != are_bool[1]:
        return are_bool[1]
    known = [name.lower() for name in names]
    if sorted(known) == ["event", "time"]:
        return known[0] == "time"
    binary = [bool(np.isin(column, (0.0, 1.0)).all()) for column in (first, second)]
    if all(binary):
        raise ValueError(
            "y is ambiguous: both columns hold nothing but 0 and 1, so that event and time cannot "
            "be told apart; pass a structured array with a bool field 'event', or a data frame "
            "with columns event and time"
        )
    if not any(binary):
        raise ValueError(
            f"neither {names[0]} nor {names[1]} of y is an event: one of the two must hold nothing "
            "but 0 (censored) and 1 (event)"
        )
    return binary[1]


def _refuse_unknown(column: NDArray[np.float64], name: str) -> None:
    missing = np.flatnonzero(np.isnan(column))
    if len(missing):
        raise ValueError(
            f"y contains NaN: {name} is not known for {plural(len(missing), 'sample')} (sample "
            f"{missing[0]}); leave such samples out"
        )


def _refuse_events(event: NDArray[np.float64]) -> None:
    wrong = np.flatnonzero(~np.isin(event, (0.0, 1.0)))
    if len(wrong):
        raise ValueError(
            f"events must be 0 (censored) or 1, got {event[wrong[0]]:g} (sample {wrong[0]})"
        )


def _refuse_times(time: NDArray[np.float64]) -> None:
    wrong = np.flatnonzero(~(np.isfinite(time) & (time >= 0)))
    if len(wrong):
        raise ValueError(
            f"times must be finite numbers from 0 on, got {time[wrong[0]]:g} (sample {wrong[0]})"
        )
