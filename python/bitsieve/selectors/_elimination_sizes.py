"""The sizes that an elimination may end at, what the folds say of them, and the one to take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int, check_number, is_whole
from bitsieve._errors import plural
from bitsieve.selectors._sizes import within_one_standard_error

__all__ = ["range_of_sizes", "results_of_folds", "size_taken"]


def range_of_sizes(given: Any, minimum: Any, p: int, n_forced: int) -> tuple[int, int, bool]:
    """Return the least and the largest size that may be taken, and whether several may.

    Parameters
    ----------
    given, minimum : object
        ``n_features_to_select`` and ``min_features_to_select``.
    p : int
        Features that may be selected.
    n_forced : int

    Raises
    ------
    ValueError
        Where no size, or none that there may be, is named.

    Examples
    --------
    >>> range_of_sizes("auto", 2, 10, 0), range_of_sizes(0.5, 1, 10, 0)
    ((2, 10, True), (5, 5, False))
    """
    name = "n_features_to_select"
    instead = "or a fraction in (0, 1], 'auto', a pair of sizes or None"
    if isinstance(given, str) and given == "auto":
        least = check_int("min_features_to_select", minimum, 1, p)
        return max(least, n_forced), p, True
    if isinstance(given, (tuple, list)) and len(given) == 2:
        low = check_int(f"{name}[0]", given[0], 1)
        high = check_int(f"{name}[1]", given[1], low)
        if high > p:
            raise ValueError(
                f"{name}={high} is more than the {plural(p, 'feature')} that may be selected"
            )
        if high < n_forced:
            raise ValueError(
                f"{name}={given!r} is less than the {plural(n_forced, 'forced feature')}"
            )
        return max(low, n_forced), high, True
    if given is None:
        size = max(1, p // 2, n_forced)
    elif is_whole(given):
        size = check_int(name, given, 1, p, instead=instead)
    else:
        share = check_number(
            name,
            given,
            0,
            1,
            closed="right",
            instead="or a whole number, 'auto', a pair of sizes or None",
        )
        size = max(1, int(share * p))
    if size < n_forced:
        raise ValueError(
            f"{name}={given!r} leaves no room for the {plural(n_forced, 'forced feature')}"
        )
    return size, size, False


def results_of_folds(
    scores: NDArray[np.float64], sizes: list[int], largest: int
) -> dict[str, NDArray[Any]]:
    """Return ``cv_results_``, from the smallest size on.

    Parameters
    ----------
    scores : float64 array of shape (n_splits, n_scored_sizes)
        From the largest size to the least.
    sizes : list of int
        Descending, all that were fitted.
    largest : int
        The largest that was scored.

    Examples
    --------
    >>> results = results_of_folds(np.array([[0.5, 1.0], [0.5, 0.8]]), [9, 5, 1], 5)
    >>> results["n_features"].tolist(), results["mean_test_score"].tolist()
    ([1, 5], [0.9, 0.5])
    """
    scores = scores[:, ::-1]
    n_splits = len(scores)
    with np.errstate(invalid="ignore"):
        error = (
            scores.std(axis=0, ddof=1) / np.sqrt(n_splits)
            if n_splits > 1
            else np.full(scores.shape[1], np.nan)
        )
    return {
        "n_features": np.array([size for size in sizes[::-1] if size <= largest]),
        "mean_test_score": scores.mean(axis=0),
        "std_test_score": scores.std(axis=0),
        "standard_error": error,
        **{f"split{k}_test_score": scores[k].copy() for k in range(n_splits)},
    }


def size_taken(results: dict[str, NDArray[Any]], rule: str) -> int:
    """Return the size that a rule takes, the smallest of equal ones.

    Parameters
    ----------
    results : dict of str to array
        What :func:`results_of_folds` returns.
    rule : {"best", "one_standard_error"}

    Examples
    --------
    >>> scores = np.array([[0.8, 0.8, 0.9], [1.0, 0.9, 0.7], [0.9, 1.0, 0.4]])
    >>> results = results_of_folds(scores, [9, 5, 1], 9)
    >>> size_taken(results, "best"), size_taken(results, "one_standard_error")
    (5, 5)
    """
    scores, errors = results["mean_test_score"], results["standard_error"]
    row = int(np.argmax(scores))
    if rule != "best" and not np.isnan(errors[row]):
        row = within_one_standard_error(scores, errors, np.ones(len(scores), dtype=bool))
    return int(results["n_features"][row])
