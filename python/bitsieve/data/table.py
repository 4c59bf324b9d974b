"""One table: the user's numbers, and the copy that the kernels read."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bitsieve import _core
from bitsieve._errors import plural
from bitsieve.data.feature_major import FeatureMajor, make_feature_major
from bitsieve.data.groups import group_codes, group_names
from bitsieve.data.missing import Missing, check_finite, check_missing, count_missing
from bitsieve.data.validation import (
    Task,
    check_discrete,
    check_dtype,
    check_matrix,
    check_target,
    check_text,
)

if TYPE_CHECKING:
    from bitsieve.data.doubts import Doubt

__all__ = ["Table"]


class Table:
    """Samples x features with names and a target, checked once.

    A table keeps the user's array by reference (`X`) and makes its *feature-major copy*, centred,
    when a kernel first asks for it. Do not change the array afterwards. The arrays of a table are
    read-only: what was checked stays as it was.

    A table is finite unless it says so: `has_missing` is False, or X may hold NaN for values that
    are not known. Such a table is made with ``missing="keep"`` alone; whoever takes no missing
    values calls :meth:`refuse_missing`. Infinite values are always refused.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        Real numbers. A C-ordered float32 or float64 array is kept, others are converted.
    y : array-like of shape (n_samples,), optional
        Labels of any type, or numbers.
    names : sequence of str, optional
        Feature names; those of a DataFrame by default.
    sample_names : sequence, optional
        Sample names; those of a pandas DataFrame with an index of text by default.
    target_name : str, optional
        What y is called.
    task : {"classification", "regression"}, optional
        By default decided from y, as scikit-learn's ``type_of_target`` does.
    dtype : {numpy.float32, numpy.float64}, default=numpy.float32
        Type of the feature-major copy.
    missing : {"error", "keep"}, default="error"
        Refuse missing values (NaN, None, masked), or keep them in X as NaN.
    discrete : bool array-like of shape (n_features,), optional
        Columns that hold categories: a number stands for a category, so that two values are the
        same or not. Filters that tell such columns from measurements go by it. None: no column.
    groups : array-like of shape (n_samples,), optional
        Samples that belong together, such as those of one patient; folds keep them together.
    to_predict : bool, default False
        The samples are only to be predicted: one is enough, no column need vary, and y may hold
        one class.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        C-ordered float32 or float64: the exact re-check of close comparisons. NaN only where
        `has_missing`.
    y : ndarray of shape (n_samples,) or None
    classes : ndarray of shape (n_classes,) or None
        Sorted distinct labels; None for regression.
    codes : ndarray of shape (n_samples,) or None
        Int32 position of each label in `classes`; None for regression.
    task : {"classification", "regression"} or None
    names, sample_names : list of str or None
    discrete : ndarray of shape (n_features,) or None
        Bool, read-only; None where no column holds categories.
    groups : ndarray of int32, shape (n_samples,), or None
    group_names : tuple of str or None
        Name of each group, in the order of their numbers.
        Groups by number, in the order in which they first come.
    n_samples, n_features : int
    n_missing : int
        Values of X that are missing.
    has_missing : bool
        Whether there are such.
    label_match : {"in order", "by name"} or None
        How labels in a file of their own met the samples; None where there is no such file.
    notes : tuple of str
        What :func:`bitsieve.data.read_table` left out without being told to.

    Raises
    ------
    ValueError
        If X, y or names are not fit for use; see :mod:`bitsieve.data.validation`.

    Examples
    --------
    >>> table = Table([[1.0, 10.0], [2.0, 10.0], [6.0, 13.0]], ["sick", "well", "sick"])
    >>> table
    Table(3 samples x 2 features, classification: 'sick' 2, 'well' 1)
    >>> table.centre, table.exact
    (array([ 3., 11.]), True)
    >>> table.features[:, :3]
    array([[-2., -1.,  3.],
           [-1., -1.,  2.]], dtype=float32)
    >>> Table([[1.0, 0.0], [np.nan, 1.0]], missing="keep", discrete=[False, True])
    Table(2 samples x 2 features (1 of categories, 1 value missing), no target)
    """

    X: NDArray[Any]
    y: NDArray[Any] | None
    names: list[str] | None
    sample_names: list[str] | None
    target_name: str | None
    task: Task | None
    classes: NDArray[Any] | None
    codes: NDArray[np.int32] | None
    discrete: NDArray[np.bool_] | None
    groups: NDArray[np.int32] | None
    group_names: tuple[str, ...] | None
    n_missing: int
    dtype: np.dtype[Any]
    label_match: Literal["in order", "by name"] | None
    notes: tuple[str, ...]

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        names: Sequence[str] | None = None,
        sample_names: Sequence[object] | None = None,
        target_name: str | None = None,
        task: Task | None = None,
        dtype: DTypeLike = np.float32,
        missing: Missing = "error",
        discrete: ArrayLike | None = None,
        groups: Any = None,
        to_predict: bool = False,
    ) -> None:
        self.dtype = check_dtype(dtype)
        keep = check_missing(missing)
        least = 1 if to_predict else 2
        array, self.names = check_matrix(
            X, names, allow_nan=keep, allow_constant=to_predict, min_samples=least
        )
        self.X = read_only(array)
        self.n_missing = count_missing(self.X) if keep else 0
        self.discrete = check_discrete(discrete, self.n_features)
        self.y = self.classes = self.codes = self.task = None
        if y is not None:
            target = check_target(y, self.n_samples, task, min_classes=least)
            self.y, self.task = read_only(target.y), target.task
            if target.classes is not None and target.codes is not None:
                self.classes, self.codes = read_only(target.classes), read_only(target.codes)
        self.sample_names = _sample_names(X, sample_names, self.n_samples)
        self.target_name = target_name
        self.groups = self.group_names = None
        if groups is not None:
            self.groups = group_codes(groups, self.n_samples)
            self.group_names = group_names(groups, self.groups)
        self.label_match = None
        self.notes = ()
        self._feature_major: FeatureMajor | None = None
        self._core: _core.Table | None = None
        self._lock = threading.Lock()

    @property
    def n_samples(self) -> int:
        """Rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])

    @property
    def has_missing(self) -> bool:
        """Whether X holds NaN."""
        return self.n_missing > 0

    @property
    def discrete_columns(self) -> list[int]:
        """Positions of the columns of categories, ascending."""
        return [] if self.discrete is None else np.flatnonzero(self.discrete).tolist()

    def refuse_missing(self) -> None:
        """Raise the error for missing values, where there are some.

        Raises
        ------
        ValueError
            If X holds NaN; it names the columns and a hint.

        Examples
        --------
        >>> Table([[1.0], [2.0]]).refuse_missing()
        >>> Table([[1.0], [2.0], [None]], names=["age"], missing="keep").refuse_missing()
        Traceback (most recent call last):
        bitsieve._errors.MissingValues: Input X contains NaN: 1 value in 1 column ('age'); ...
        """
        if self.has_missing:
            check_finite(self.X, self.names)

    def doubts(self) -> list[Doubt]:
        """Columns that are evidently no features, and classes that are hardly meant.

        Such columns are a counter of the samples, an identifier, the order of measurement, a copy
        of the target, a follow-up time beside its event. They predict within this table and
        nowhere else: leave them out before anything is selected. Nothing is doubted by values
        that a measurement might have; a table of fewer than 5 samples has no such column.

        Returns
        -------
        list of Doubt
            With ``kind`` ("column" or "classes"), ``names`` and ``why``.

        Examples
        --------
        >>> X = [[1, 0.3], [2, 0.7], [3, 0.1], [4, 0.2], [5, 0.9], [6, 0.4]]
        >>> table = Table(X, ["a", "a", "a", "A", "b", "b"], names=["Unnamed: 0", "tp53"])
        >>> for doubt in table.doubts():
        ...     print(*doubt.names, doubt.why, sep="; ")
        Unnamed: 0; counts the samples
        A; a; labels that differ in case or spaces alone are different classes: 'A' (1), 'a' (3)...
        A; the class 'A' has one sample: ...
        """
        from bitsieve.data.doubts import find_doubts

        return find_doubts(self)

    @property
    def feature_major(self) -> FeatureMajor:
        """The feature-major copy; made on first use, then kept.

        Raises
        ------
        ValueError
            If centred values do not fit in `dtype`, or some are missing.
        """
        self.refuse_missing()
        with self._lock:
            if self._feature_major is None:
                self._feature_major = make_feature_major(self.X, dtype=self.dtype, names=self.names)
            return self._feature_major

    @property
    def features(self) -> NDArray[Any]:
        """Hot copy, shape (n_features, ld): feature-major, centred, zero past n_samples."""
        return self.feature_major.features

    @property
    def centre(self) -> NDArray[np.float64]:
        """What was subtracted from each column, float64 of shape (n_features,)."""
        return self.feature_major.centre

    @property
    def max_abs(self) -> NDArray[np.float64]:
        """Largest absolute centred value of each feature, float64 of shape (n_features,)."""
        return self.feature_major.max_abs

    @property
    def exact(self) -> bool:
        """True if every centred value equals ``x - centre`` exactly."""
        return self.feature_major.exact

    @property
    def core(self) -> _core.Table:
        """What compiled kernels read: the copy and X, checked once; made on first use, then kept.

        Raises
        ------
        ValueError
            If `dtype` is not float32, centred values do not fit in it, or some are missing.
        """
        copied = self.feature_major
        with self._lock:
            if self._core is None:
                self._core = _core.Table(
                    copied.features,
                    n_samples=self.n_samples,
                    X=self.X,
                    max_abs=copied.max_abs,
                    exact=copied.exact,
                )
            return self._core

    def fingerprint(self) -> str:
        """Hex digest of shape, values, names, target and `discrete`: equal tables, equal digests.

        Examples
        --------
        >>> a, b = Table([[1.0], [2.0]], [0, 1]), Table([[1.0], [3.0]], [0, 1])
        >>> a.fingerprint() == b.fingerprint()
        False
        """
        digest = hashlib.sha256()
        digest.update(repr((self.X.shape, self.X.dtype.str, self.names, self.task)).encode())
        if self.y is not None:
            digest.update(repr(self.y.tolist()).encode())
        if self.discrete is not None:
            digest.update(self.discrete.tobytes())
        X = np.where(np.isnan(self.X), np.nan, self.X) if self.has_missing else self.X
        digest.update(X.view(np.uint8).data)  # with one NaN of the many that there are
        return digest.hexdigest()

    def to_frame(self) -> Any:
        """The samples x features as a pandas DataFrame, with both kinds of names.

        Columns of categories are of pandas' type for them, their values the numbers in X.

        Examples
        --------
        >>> Table([[1.0], [2.0]], names=["tp53"]).to_frame()
           tp53
        0   1.0
        1   2.0
        """
        import pandas  # slow to import

        frame = pandas.DataFrame(self.X, index=self.sample_names, columns=self.names, copy=False)
        for j in self.discrete_columns:
            frame.isetitem(j, frame.iloc[:, j].astype("category").array)
        return frame

    def of_features(self, keep: ArrayLike) -> Table:
        """Return a table of some of the features.

        Parameters
        ----------
        keep : bool array-like of shape (n_features,)
            At least one.

        Returns
        -------
        Table

        Examples
        --------
        >>> Table([[1.0, 5.0], [2.0, 3.0]], names=["a", "b"]).of_features([False, True]).names
        ['b']
        """
        kept = np.flatnonzero(np.asarray(keep, dtype=bool))
        made = Table(
            self.X[:, kept],
            self.y,
            names=None if self.names is None else [self.names[j] for j in kept],
            sample_names=self.sample_names,
            target_name=self.target_name,
            task=self.task,
            dtype=self.dtype,
            missing="keep" if self.n_missing else "error",
            discrete=None if self.discrete is None else self.discrete[kept],
            groups=self.groups,
        )
        made.group_names, made.label_match = self.group_names, self.label_match
        made.notes = self.notes
        return made

    def __getstate__(self) -> dict[str, Any]:
        # The feature-major copy is cheap to make again, and would double the size of a pickle.
        made = ("_feature_major", "_core", "_lock")
        return {k: v for k, v in self.__dict__.items() if k not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays = ("X", "y", "classes", "codes")
        frozen = {name: read_only(state[name]) for name in arrays if state[name] is not None}
        self.__dict__.update(state, **frozen)
        self.__dict__.update(_feature_major=None, _core=None, _lock=threading.Lock())

    def __repr__(self) -> str:
        shape = f"{plural(self.n_samples, 'sample')} x {plural(self.n_features, 'feature')}"
        special = [f"{len(self.discrete_columns)} of categories"] if self.discrete_columns else []
        special += [f"{plural(self.n_missing, 'value')} missing"] if self.has_missing else []
        shape += f" ({', '.join(special)})" if special else ""
        if self.classes is None or self.codes is None:
            return f"Table({shape}, {self.task or 'no target'})"
        counts = np.bincount(self.codes)
        shown = [f"{c!r} {k}" for c, k in zip(self.classes.tolist()[:5], counts, strict=False)]
        more = len(self.classes) - len(shown)
        text = ", ".join(shown) + (f" and {more} more" if more else "")
        return f"Table({shape}, {self.task}: {text})"


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array through which nobody can change it."""
    view = array.view()
    view.setflags(write=False)
    return view


def _sample_names(X: Any, given: Sequence[object] | None, n_samples: int) -> list[str] | None:
    if given is None:
        index = getattr(X, "index", None)
        if index is None or callable(index) or not all(isinstance(i, str) for i in index):
            return None
        given = list(index)
    names = [str(n) for n in given]
    if len(names) != n_samples:
        raise ValueError(
            f"expected {plural(n_samples, 'sample name')}, one a row of X, got {len(names)}"
        )
    check_text(names, "sample names")
    return names
