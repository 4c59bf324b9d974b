"""What a reader asks of each feature: in which class it is higher, by how much, how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_number
from bitsieve.data.inputs import Inputs, check_input

if TYPE_CHECKING:
    from bitsieve.evaluation.correlated import Substitutes

__all__ = ["FeatureStatistics", "feature_statistics"]

Floats = NDArray[np.float64]
Change = Literal["log2_fold_change", "fold_change", "mean_difference"]

#: No value on a log2 scale is as large; a table that has such a one is of raw intensities.
_RAW = 100.0

#: Numbers that are worked on in one go.
_BLOCK = 2_000_000


@dataclass(frozen=True, repr=False, eq=False)
class FeatureStatistics:
    """Numbers of each feature by itself, over all samples that were given.

    Attributes
    ----------
    classes : tuple of str
    direction : int64 array of shape (n_features,)
        The class with the highest mean, -1 where no class has a higher one.
    constancy : float64 array of shape (n_features,) or None
        Share of the outer training parts in which it is that class; None without outer folds.
    means : float64 array of shape (n_classes, n_features)
        In the units of the table.
    log2_means : float64 array of shape (n_classes, n_features) or None
        Means of the log2 values, where the selection was made on these.
    change : float64 array of shape (n_features,)
        The class of :attr:`direction` against all other samples.
    change_is : {"log2_fold_change", "fold_change", "mean_difference"}
        What :attr:`change` is: the difference of the log2 means; the ratio of the means, of
        positive raw intensities; the difference of the means in the units of the table, which is a
        log2 fold change where these are log2 already.
    test : str
        What :attr:`p` is of.
    p, q : float64 arrays of shape (n_features,)
        p-value of each feature, and adjusted for all features that have one
        (Benjamini-Hochberg). That features were selected is not in them.
    f_rank : int64 array of shape (n_features,)
        Position by F, 1 for the greatest; 0 where there is none.
    substitutes : mapping of int to Substitutes
        Of each selected feature.
    """

    classes: tuple[str, ...]
    direction: NDArray[np.int64]
    constancy: Floats | None
    means: Floats
    log2_means: Floats | None
    change: Floats
    change_is: Change
    test: str
    p: Floats
    q: Floats
    f_rank: NDArray[np.int64]
    substitutes: Mapping[int, Substitutes]

    def columns(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return the columns of selection.csv, a value a feature in the order of the table.

        Parameters
        ----------
        names : sequence of n_features str

        Returns
        -------
        dict of str to list
            Text, numbers, and None for what there is not.

        Raises
        ------
        ValueError
            Where the number of names is another one.
        """
        n_features = len(self.direction)
        if len(names) != n_features:
            raise ValueError(
                f"expected a name for each of {n_features} features, got {len(names)} names"
            )
        classes = [*self.classes, None]  # -1 takes the last
        out: dict[str, list[Any]] = {"direction": [classes[c] for c in self.direction]}
        if self.constancy is not None:
            out["direction_constancy"] = _numbers(self.constancy)
        for label, means in zip(self.classes, self.means, strict=True):
            out[f"mean_{label}"] = _numbers(means)
        if self.log2_means is not None:
            for label, means in zip(self.classes, self.log2_means, strict=True):
                out[f"log2_mean_{label}"] = _numbers(means)
        out[self.change_is] = _numbers(self.change)
        out |= {"p": _numbers(self.p), "q": _numbers(self.q)}
        out["f_rank"] = [int(rank) or None for rank in self.f_rank]
        out["n_substitutes"] = [None] * n_features
        out["substitutes"] = [None] * n_features
        for feature, found in self.substitutes.items():
            out["n_substitutes"][feature] = found.n_found
            out["substitutes"][feature] = "; ".join(
                f"{names[other]} ({r:.2f})"
                for other, r in zip(found.features, found.correlations, strict=True)
            )
        return out

    def substitutes_record(self, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the substitutes of each selected feature that has some, as run.json holds them.

        Parameters
        ----------
        names : sequence of n_features str

        Returns
        -------
        dict of str to list of dict
            By name; each with ``feature``, ``index`` and ``correlation``.
        """
        return {
            str(names[feature]): [
                {"feature": str(names[other]), "index": int(other), "correlation": float(r)}
                for other, r in zip(found.features, found.correlations, strict=True)
            ]
            for feature, found in self.substitutes.items()
            if found.n_found
        }


def feature_statistics(
    X: Any,
    y: Any,
    support: ArrayLike,
    *,
    floor: float | None = None,
    folds: Sequence[tuple[NDArray[Any], NDArray[Any]]] | None = None,
    threshold: float = 0.8,
    most: int = 5,
    n_jobs: int | None = None,
) -> FeatureStatistics:
    """Describe each feature by itself: direction, means, change, p and q, rank, substitutes.

    The p-value is that of Welch's t for two classes (Student's where a class has one sample) and of
    the F-test for more, on log2 values where a floor is given. q is adjusted for all features, but
    neither knows of the selection: a small p of a selected feature is no evidence that the panel
    predicts. That is what the outer folds are for.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        In the units of the table; NaN is a missing value.
    y : array-like of shape (n_samples,)
        Class labels.
    support : bool array-like of shape (n_features,)
        The selection, whose members get substitutes.
    floor : float, optional
        Where the selection was made on log2 values: values become ``log2(max(x, floor))``.
    folds : list of (train, test), optional
        The outer folds, as ``NestedResult.folds``, for the constancy of the direction.
    threshold, most : float, int
        As in :func:`bitsieve.evaluation.substitutes`.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    FeatureStatistics
        Features with missing values have means of the values there are, but no p, q and rank.

    Raises
    ------
    ValueError
        Where X, y or support are not fit for use, or floor is not above 0.

    Examples
    --------
    >>> from bitsieve.report import feature_statistics
    >>> X = [[1.0, 5.0], [3.0, 5.0], [7.0, 5.0], [9.0, 5.0]]
    >>> found = feature_statistics(X, ["a", "a", "b", "b"], [True, False])
    >>> found.columns(["x", "constant"])["direction"], found.change_is, found.change.tolist()
    (['b', None], 'mean_difference', [6.0, 0.0])
    """
    given = check_input(X, y, task="classification", missing="keep").floats()
    # Imported here: they load scikit-learn and SciPy, which other parts of the room do without.
    from bitsieve.evaluation.correlated import substitutes
    from bitsieve.filters import benjamini_hochberg

    raw = given.X
    chosen = np.asarray(support, dtype=bool)
    if chosen.shape != (given.n_features,):
        raise ValueError(
            f"support must have a flag for each of {given.n_features} features, got shape "
            f"{chosen.shape}"
        )
    if floor is not None:
        check_number("floor", floor, 0, hint="it is a value of the table, before the log")
    rows = [np.asarray(train) for train, _ in folds or ()]
    width = max(256, _BLOCK // given.n_samples)
    blocks = [
        _block(raw[:, begin : begin + width], given, floor, rows, n_jobs)
        for begin in range(0, given.n_features, width)
    ]
    direction, same, means, log2_means, change, f, p = (
        np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True)
    )
    change_is: Change = "mean_difference" if floor is None else "log2_fold_change"
    if floor is None and np.nanmin(raw) > 0 and np.nanmax(raw) > _RAW:
        change_is = "fold_change"
        high = means[direction, np.arange(given.n_features)]
        change = np.where(direction < 0, 1.0 + change, high / (high - change))
    tested = np.flatnonzero(~np.isnan(p))
    q, f_rank = np.full(len(p), np.nan), np.zeros(len(p), dtype=np.int64)
    if len(tested):
        q[tested] = benjamini_hochberg(p[tested])
        f_rank[tested[np.argsort(-f[tested], kind="stable")]] = np.arange(1, len(tested) + 1)
    return FeatureStatistics(
        classes=tuple(str(label) for label in given.classes),
        direction=direction,
        constancy=np.where(direction < 0, np.nan, same / len(rows)) if rows else None,
        means=means,
        log2_means=None if floor is None else log2_means,
        change=change,
        change_is=change_is,
        test=_test(given),
        p=p,
        q=q,
        f_rank=f_rank,
        substitutes=substitutes(raw, chosen, threshold=threshold, most=most, floor=floor),
    )


def _block(
    raw: NDArray[Any],
    given: Inputs,
    floor: float | None,
    rows: list[NDArray[Any]],
    n_jobs: int | None,
) -> tuple[NDArray[Any], ...]:
    """Return of some features direction, folds that agree, means, log2 means, change, F and p."""
    from bitsieve.evaluation.correlated import log2_values

    codes, n_classes, has_missing = given.codes, len(given.classes), given.has_missing
    values = np.ascontiguousarray(log2_values(raw, floor))
    base = np.nan_to_num(values[0].astype(np.float64))
    apart = values - base  # exactly 0 where constant, so that no rounding gives a direction
    means = _means(apart, codes, n_classes, has_missing)
    direction = _direction(means)
    same = np.zeros(len(direction), dtype=np.int64)
    for train in rows:
        same += _direction(_means(apart[train], codes[train], n_classes, has_missing)) == direction
    change = _difference(apart, codes, direction)
    change[np.isnan(means).any(axis=0)] = np.nan
    f, p = _tests(values, given, n_jobs)
    table_means = _means(raw, codes, n_classes, has_missing)
    return direction, same, table_means, means + base, change, f, p


def _means(values: NDArray[Any], codes: NDArray[Any], n_classes: int, has_missing: bool) -> Floats:
    """Return the mean of each class, NaN where it has no value."""
    out = np.empty((n_classes, values.shape[1]))
    for c in range(n_classes):
        rows = values[codes == c]
        with np.errstate(invalid="ignore", divide="ignore"):
            if has_missing:
                seen = np.isfinite(rows).sum(axis=0)
                out[c] = np.nansum(rows, axis=0, dtype=np.float64) / seen
            else:
                out[c] = rows.sum(axis=0, dtype=np.float64) / len(rows)
    return out


def _direction(means: Floats) -> NDArray[np.int64]:
    """Return the class of the greatest mean, -1 where all are the same or one is missing."""
    out: NDArray[np.int64] = means.argmax(axis=0).astype(np.int64)
    out[~(means.max(axis=0) > means.min(axis=0))] = -1
    return out


def _difference(values: Floats, codes: NDArray[Any], direction: NDArray[np.int64]) -> Floats:
    """Return the mean of the samples of the feature's class less that of all others, 0 without."""
    mine = codes[:, None] == direction
    seen = np.isfinite(values)
    filled = np.where(seen, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = (filled * mine).sum(axis=0) / (seen & mine).sum(axis=0)
        outside = (filled * ~mine).sum(axis=0) / (seen & ~mine).sum(axis=0)
    return np.where(direction < 0, 0.0, inside - outside)


def _test(given: Inputs) -> str:
    if len(given.classes) > 2:
        return "F"
    return "Welch's t" if given.counts.min() > 1 else "Student's t"


def _tests(values: NDArray[Any], given: Inputs, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Return F and the p-value of the test, NaN where a value is missing."""
    from bitsieve.filters import f_test, t_test

    f, p = np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    whole = np.isfinite(values).all(axis=0)
    if not whole.any() or given.n_samples <= max(len(given.classes), 2):
        return f, p
    kept = values if whole.all() else np.ascontiguousarray(values[:, whole])
    labels = given.codes
    f[whole], p[whole] = f_test(kept, labels, task="classification", p_values=True, n_jobs=n_jobs)
    if len(given.classes) == 2:
        is_welch = _test(given) == "Welch's t"
        _, p[whole] = t_test(kept, labels, equal_var=not is_welch, p_values=True, n_jobs=n_jobs)
    return f, p


def _numbers(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]
