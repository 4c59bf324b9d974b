"""Cross-validated errors of every feature and of every pair of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve import _core
from bitsieve._checks import check_int, key_of
from bitsieve._random import Random, Stream
from bitsieve._threads import effective_n_jobs
from bitsieve.causal._tables_of_pairs import TableOfPairs
from bitsieve.data.inputs import check_input

__all__ = ["PairErrors"]

_LANE = 1 << 40  # of the folds drawn here, apart from those of evaluations

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


class PairErrors(TableOfPairs):
    """Balanced error rates of Gaussian naive Bayes of single features and of pairs, compiled.

    The balanced error rate is the mean over the classes of their shares of wrong predictions.
    Predictions are those of scikit-learn's ``GaussianNB()`` fitted in each training part, with the
    smoothing of the pair itself, but for ties within rounding (to the lowest class). A class that a
    training part lacks is not predicted there. Where both features are constant in a training part
    the priors decide. The pair of a feature with itself is the single feature.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite numbers. Where no feature has more than two values, samples are counted by bits.
    y : array-like of shape (n_samples,)
        At least two classes.
    cv : int, default 5
        Stratified folds, shuffled; each class needs as many samples.
    splits : list of (train, test), optional
        In place of ``cv``: each sample is tested once.
    var_smoothing : float, default 1e-9
    n_jobs : int or None, default None
        Threads; None uses the cores there are. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default None
        Of the folds.

    Attributes
    ----------
    X : float64 array of shape (n_samples, n_features)
    n_samples, n_features : int
    var_smoothing : float
    classes : ndarray of shape (n_classes,)
    splits : list of (train, test)
    kind : {"bits", "numbers"}
        How samples are counted.

    Raises
    ------
    ValueError
        If an argument is out of its range, or X has missing values.

    Notes
    -----
    Memory is that of X once more, or 1 / 64 of it where features have two values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bitsieve.causal import PairErrors
    >>> errors = PairErrors(*load_iris(return_X_y=True), random_state=0)
    >>> errors.single.round(3)
    array([0.28 , 0.447, 0.047, 0.04 ])
    >>> errors.of([(2, 3)]).round(3)
    array([0.04])
    >>> errors.best(2)
    (array([[2, 3],
           [0, 3]]), array([0.04      , 0.04666667]))
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        cv: int = 5,
        splits: list[tuple[Any, Any]] | None = None,
        var_smoothing: float = 1e-9,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        inputs = check_input(X, y, task="classification")
        self.X = np.ascontiguousarray(inputs.X, dtype=np.float64)
        self.n_samples, self.n_features = self.X.shape
        self.classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes) < 2:
            raise ValueError("y must have at least two classes")
        if not isinstance(var_smoothing, (int, float, np.number)) or not 0 < var_smoothing < np.inf:
            raise ValueError(f"var_smoothing must be a positive number, got {var_smoothing!r}")
        self.var_smoothing = float(var_smoothing)
        self._codes = codes.astype(np.int32)
        self._n_jobs = effective_n_jobs(n_jobs)
        self.splits = self._draw(cv, random_state) if splits is None else self._check(splits)
        self._compiled = self._make()
        self._single: NDArray[np.float64] | None = None

    def _draw(self, cv: int, random_state: Any) -> list[Split]:
        cv = check_int("cv", cv, 2)
        sizes = np.bincount(self._codes)
        if sizes.min() < cv:
            least = self.classes.tolist()[sizes.argmin()]
            raise ValueError(
                f"each class needs at least cv={cv} samples, {least!r} has {sizes.min()}"
            )
        random = Random(key_of(random_state), Stream.outer_folds, lane=_LANE)
        fold = np.empty(self.n_samples, dtype=np.int64)
        first = 0
        for c, size in enumerate(sizes):
            members = np.flatnonzero(self._codes == c)[random.permutation(int(size))]
            fold[members] = (first + np.arange(size)) % cv
            first += int(size)
        return [(np.flatnonzero(fold != s), np.flatnonzero(fold == s)) for s in range(cv)]

    def _check(self, splits: list[tuple[Any, Any]]) -> list[Split]:
        try:
            pairs = [(train, test) for train, test in splits]
        except (TypeError, ValueError) as error:
            raise ValueError(f"splits must be a list of (train, test), got {splits!r}") from error
        checked = [(self._samples(train), self._samples(test)) for train, test in pairs]
        tested = np.concatenate([test for _, test in checked] or [np.empty(0, np.int64)])
        if not np.array_equal(np.sort(tested), np.arange(self.n_samples)):
            raise ValueError("splits must test each sample once")
        if any(len(train) == 0 for train, _ in checked):
            raise ValueError("splits must have samples in each training part")
        return checked

    def _samples(self, part: Any) -> NDArray[np.int64]:
        """Return a part of a split as positions."""
        found = np.asarray(part)
        if found.size == 0:
            return np.empty(0, dtype=np.int64)
        if found.ndim != 1 or found.dtype.kind not in "iu":
            raise ValueError(
                f"splits must hold lists of positions of samples, got {found.dtype} of shape "
                f"{found.shape}"
            )
        if found.min() < 0 or found.max() >= self.n_samples:
            raise ValueError(
                f"splits must hold positions of samples, from 0 to {self.n_samples - 1}, got "
                f"{found.min()} to {found.max()}"
            )
        return found.astype(np.int64)

    def _make(self) -> _core.PairErrors:
        def joined(parts: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            begin = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
            return np.concatenate(parts), begin.astype(np.int64)

        train, train_begin = joined([train for train, _ in self.splits])
        test, test_begin = joined([test for _, test in self.splits])
        return _core.PairErrors(
            self.X,
            self._codes,
            len(self.classes),
            train=train,
            train_begin=train_begin,
            test=test,
            test_begin=test_begin,
            var_smoothing=self.var_smoothing,
            n_threads=self._n_jobs,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_compiled"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._compiled = self._make()

    @property
    def kind(self) -> str:
        """How samples are counted: "bits" where no feature has more than two values."""
        return self._compiled.kind

    @property
    def single(self) -> NDArray[np.float64]:
        """Rates of the single features, (n_features,)."""
        if self._single is None:
            self._single = self._compiled.singles(self._n_jobs)
            self._single.flags.writeable = False
        return self._single

    def _rows(self, features: NDArray[np.int64], first: int) -> NDArray[np.float64]:
        return self._compiled.rows(features, first, self.n_features, self._n_jobs)

    def _matrix(self) -> NDArray[np.float64]:
        return self._compiled.matrix(self._n_jobs)

    def taking(self, features: NDArray[np.int64]) -> PairErrors:
        """Return the errors of some features alone, on the same splits.

        Parameters
        ----------
        features : int64 array of shape (k,)

        Returns
        -------
        PairErrors
            Feature i of it is features[i].
        """
        return PairErrors(
            self.X[:, features],
            self.classes[self._codes],
            splits=self.splits,
            var_smoothing=self.var_smoothing,
            n_jobs=self._n_jobs,
        )

    def of(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the rates of pairs of features.

        Parameters
        ----------
        pairs : array-like of int, shape (n_pairs, 2)

        Returns
        -------
        float64 array of shape (n_pairs,)

        Raises
        ------
        ValueError
            If pairs have another shape, or are not positions of features.
        """
        asked = self._pairs(pairs)
        first, second = np.ascontiguousarray(asked.T)
        return self._compiled.pairs(first, second, self._n_jobs)
