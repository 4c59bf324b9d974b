"""What every filter of the Relief family is given: the checked table and the options in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve import _core
from bitsieve._checks import check_choice, check_int, check_number, is_number, key_of
from bitsieve._errors import MissingValues, NumericTarget, name_columns, plural
from bitsieve._random import Random, Stream
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs, check_input, refuse_constant
from bitsieve.data.validation import Task
from bitsieve.discrete import MAX_LEVELS

__all__ = [
    "RAMP",
    "Difference",
    "Missing",
    "Precision",
    "Problem",
    "Weighting",
    "make_problem",
    "nearest_weights",
]

Difference = Literal["linear", "ramp"]
Missing = Literal["probabilistic", "ignore", "error"]
Precision = Literal["exact", "int16", "uint8"]
Weighting = Literal["equal", "exponential"]

#: Limits of the ramp unless others are given, shares of the range: CORElearn's.
RAMP = (0.04, 0.10)


@dataclass(frozen=True, eq=False)
class Problem:
    """A table and the options that all of the family share.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        C-ordered float32 or float64; NaN is a missing value. Discrete columns hold the codes
        0, 1, 2, ...
    y : ndarray of shape (n_samples,)
        Float64 numbers for RReliefF; empty for classes.
    codes : ndarray of shape (n_samples,)
        Int32 class codes; zeros for RReliefF.
    n_classes : int
    rows : ndarray of shape (n_rows,)
        Int64 positions of the samples whose neighbors are looked at, rising.
    discrete : ndarray of shape (n_features,)
        Bool: values are the same or not.
    feature_weights : ndarray of shape (n_features,)
        Float64 weights in the distance.
    ramp : (float, float) or None
        Shares of the range below which a difference is 0 and above which it is 1.
    incomplete : bool
        Whether X holds NaN.
    ignore : bool
        Whether unknown differences are left out rather than expected.
    precision : {"exact", "int16", "uint8"}
        Of the compiled distances.
    n_threads : int
    """

    X: NDArray[Any]
    y: NDArray[np.float64]
    codes: NDArray[np.int32]
    n_classes: int
    rows: NDArray[np.int64]
    discrete: NDArray[np.bool_]
    feature_weights: NDArray[np.float64]
    ramp: tuple[float, float] | None
    incomplete: bool
    ignore: bool
    precision: Precision
    n_threads: int

    @property
    def n_samples(self) -> int:
        """Rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])


def make_problem(
    X: Any,
    y: Any,
    *,
    task: Literal["classification", "regression"],
    n_instances: int | None,
    discrete_features: Any,
    missing: Missing,
    diff: Difference,
    ramp: tuple[float, float],
    feature_weights: ArrayLike | None,
    precision: Precision,
    random_state: Any,
    n_jobs: int | None,
) -> Problem:
    """Check what the user passed; see :func:`bitsieve.filters.relieff` for what it means."""
    check_choice("missing", missing, get_args(Missing))
    check_choice("diff", diff, get_args(Difference))
    check_choice("precision", precision, get_args(Precision))
    limits = _check_ramp(ramp)
    data = _check_data(X, y, task, discrete_features, missing)
    discrete = _not_binary(data.X, data.discrete)
    classes = task == "classification"
    return Problem(
        X=_compact_codes(data.X, discrete, effective_n_jobs(n_jobs)),
        y=np.empty(0) if classes else _check_numbers(data.y),
        codes=data.codes if classes else np.zeros(data.n_samples, dtype=np.int32),
        n_classes=len(data.classes) if classes else 1,
        rows=_sample(data.n_samples, n_instances, random_state),
        discrete=discrete,
        feature_weights=_check_weights(feature_weights, data.n_features, data.names),
        ramp=limits if diff == "ramp" else None,
        incomplete=data.has_missing,
        ignore=missing == "ignore",
        precision=precision,
        n_threads=effective_n_jobs(n_jobs),
    )


def nearest_weights(
    n_neighbors: int, weighting: Weighting, sigma: float, n_samples: int
) -> NDArray[np.float64]:
    """Return the weights of the nearest, second nearest, ... neighbor, not yet summing to one.

    There are at most ``n_samples``, and none so far down that it has no weight at all.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> nearest_weights(3, "equal", 20.0, 100)
    array([1., 1., 1.])
    """
    count = min(check_int("n_neighbors", n_neighbors, 1), n_samples)
    check_choice("weighting", weighting, get_args(Weighting))
    check_number("sigma", sigma, 0)
    if weighting == "equal":
        return np.ones(count)
    with np.errstate(over="ignore"):
        weights: NDArray[np.float64] = np.exp(-(((np.arange(count) + 1.0) / float(sigma)) ** 2))
    if weights[0] == 0.0:
        raise ValueError(
            f"sigma={sigma!r} is so small that even the nearest neighbor has no weight; the "
            "weight of rank r is exp(-(r / sigma)**2), so pass about the number of neighbors "
            "that shall count"
        )
    return weights[weights > 0.0]


def _check_data(X: Any, y: Any, task: Task, discrete_features: Any, missing: Missing) -> Inputs:
    """Check X and y, and say which options would let through what is refused."""
    try:
        return check_input(
            X,
            y,
            task=task,
            missing="error" if missing == "error" else "keep",
            categories=True,
            discrete_features=discrete_features,
            distinct="discrete",
        )
    except NumericTarget as error:
        reason = str(error).partition(";")[0]
        raise NumericTarget(
            f"{reason}; rrelieff scores features against numbers, or bin y into classes first"
        ) from None
    except MissingValues as error:
        raise MissingValues(f"{error}; or pass missing='probabilistic' or 'ignore'") from None


def _compact_codes(X: NDArray[Any], discrete: NDArray[np.bool_], n_threads: int) -> NDArray[Any]:
    """Copy X with discrete columns as 0, 1, 2, ...; X itself where they are so already."""
    flagged = np.flatnonzero(discrete)
    if flagged.size == 0:
        return X
    out = X
    part = np.ascontiguousarray(X[:, flagged])
    coded, n_levels = _core.encode_levels(part, most=MAX_LEVELS, n_threads=n_threads)
    whole = n_levels > 0  # NaN, fractions and more levels are numbered one column at a time
    if (coded[:, whole] != part[:, whole]).any():
        out = X.copy()
        out[:, flagged[whole]] = coded[:, whole]
    for f in flagged[~whole]:
        known = ~np.isnan(X[:, f])
        levels, codes = np.unique(X[known, f], return_inverse=True)
        if len(levels) == 0 or np.array_equal(levels, np.arange(len(levels))):
            continue
        if out is X:
            out = X.copy()
        out[known, f] = codes
    return out


def _not_binary(X: NDArray[Any], discrete: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Flags without those of zeros and ones, which differ as numbers just as they do as levels."""
    columns = np.flatnonzero(discrete)
    if columns.size == 0:
        return discrete
    everything = columns.size == discrete.size
    binary = np.ones(columns.size, dtype=bool)
    square, same = np.empty(columns.size, dtype=X.dtype), np.empty(columns.size, dtype=bool)
    for row in X:
        values = row if everything else row[columns]
        with np.errstate(over="ignore", under="ignore"):
            np.multiply(values, values, out=square)
        np.equal(square, values, out=same)
        np.logical_and(binary, same, out=binary)
        if not binary.any():
            return discrete
    out = discrete.copy()
    out[columns[binary]] = False
    return out


def _sample(n_samples: int, n_instances: int | None, random_state: Any) -> NDArray[np.int64]:
    if n_instances is None:
        return np.arange(n_samples, dtype=np.int64)
    count = check_int("n_instances", n_instances, 1, instead="or None")
    if count > n_samples:
        raise ValueError(
            f"n_instances is {count}, but X has {plural(n_samples, 'sample')}; pass at most as "
            "many, or None for all"
        )
    drawn = Random(key_of(random_state), Stream.instances).choice(n_samples, count)
    return np.sort(drawn)


def _check_numbers(y: NDArray[Any]) -> NDArray[np.float64]:
    numbers = y.astype(np.float64)
    with np.errstate(over="ignore"):
        fits = np.isfinite(np.ptp(numbers))
    if not fits:
        raise ValueError("y spans more than float64 can hold; divide it by a number")
    refuse_constant(numbers)
    return numbers


def _check_weights(
    given: ArrayLike | None, n_features: int, names: Sequence[str] | None
) -> NDArray[np.float64]:
    if given is None:
        return np.ones(n_features)
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"feature_weights must hold numbers, got {given!r}") from None
    if weights.shape != (n_features,):
        raise ValueError(
            f"feature_weights must hold one number a feature, {n_features} in all, got shape "
            f"{weights.shape}"
        )
    bad = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if bad.size:
        raise ValueError(
            "feature_weights must be finite and not negative, but "
            f"{name_columns(bad.tolist(), names)} got {weights[bad[0]]:g}; 0 leaves a feature out "
            "of the distances"
        )
    if not weights.any():
        raise ValueError("feature_weights are all 0, so there are no distances; pass some above 0")
    exponent = int(np.frexp(weights.max())[1])
    # Only their proportions count, and sums of huge ones would overflow.
    return weights if abs(exponent) < 500 else np.ldexp(weights, -exponent)


def _check_ramp(ramp: Any) -> tuple[float, float]:
    values = list(ramp) if isinstance(ramp, (tuple, list, np.ndarray)) else []
    if len(values) != 2 or not all(is_number(v) for v in values):
        raise ValueError(f"ramp must be two shares of the range (low, high), got {ramp!r}")
    low, high = float(values[0]), float(values[1])
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"ramp must be two shares with 0 <= low < high <= 1, got {ramp!r}")
    return low, high
