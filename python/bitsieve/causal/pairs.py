"""Cross-validated errors of every feature and of every pair of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int, key_of
from bitsieve._random import Random, Stream
from bitsieve.data.inputs import check_input

__all__ = ["PairErrors"]

_LANE = 1 << 40  # of the folds drawn here, apart from those of evaluations
_MOST_CELLS = 1 << 18
_MOST_MATRIX = 1 << 28


class PairErrors:
    """Balanced error rates of Gaussian naive Bayes of single features and of pairs.

    The balanced error rate is the mean over the classes of their shares of wrong predictions.
    Predictions are those of scikit-learn's ``GaussianNB()`` fitted in each training part, with the
    smoothing of the pair itself, but for ties within rounding (to the lowest class). A class that a
    training part lacks is not predicted there. Where both features are constant in a training part
    the priors decide. The pair of a feature with itself is the single feature.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite numbers.
    y : array-like of shape (n_samples,)
        At least two classes.
    cv : int, default 5
        Stratified folds, shuffled; each class needs as many samples.
    splits : list of (train, test), optional
        In place of ``cv``: each sample is tested once.
    var_smoothing : float, default 1e-9
    random_state : int, Generator, RandomState or None, default None
        Of the folds.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        cv: int = 5,
        splits: list[tuple[Any, Any]] | None = None,
        var_smoothing: float = 1e-9,
        random_state: Any = None,
    ) -> None:
        inputs = check_input(X, y, task="classification")
        self.X = np.asarray(inputs.X, dtype=np.float64)
        self.n_samples, self.n_features = self.X.shape
        self.classes, self._codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes) < 2:
            raise ValueError("y must have at least two classes")
        if not 0 < var_smoothing < np.inf:
            raise ValueError("var_smoothing must be positive")
        self.var_smoothing = float(var_smoothing)
        self._sizes = np.bincount(self._codes)
        self.splits = self._draw(cv, random_state) if splits is None else self._check(splits)
        self._fit()
        self._single: NDArray[np.float64] | None = None

    def _draw(self, cv: int, random_state: Any) -> list[tuple[Any, Any]]:
        cv = check_int("cv", cv, 2)
        if self._sizes.min() < cv:
            raise ValueError(f"each class needs at least cv={cv} samples")
        random = Random(key_of(random_state), Stream.outer_folds, lane=_LANE)
        fold = np.empty(self.n_samples, dtype=np.int64)
        first = 0
        for c, size in enumerate(self._sizes):
            members = np.flatnonzero(self._codes == c)[random.permutation(int(size))]
            fold[members] = (first + np.arange(size)) % cv
            first += int(size)
        return [(np.flatnonzero(fold != s), np.flatnonzero(fold == s)) for s in range(cv)]

    def _check(self, splits: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        checked = [(np.asarray(train), np.asarray(test)) for train, test in splits]
        tested = np.concatenate([test for _, test in checked])
        if not np.array_equal(np.sort(tested), np.arange(self.n_samples)):
            raise ValueError("splits must test each sample once")
        if any(len(train) == 0 for train, _ in checked):
            raise ValueError("splits must have samples in each training part")
        return checked

    def _fit(self) -> None:
        n_classes, p = len(self.classes), self.n_features
        self._parts = []
        for train, test in self.splits:
            mean, variance = np.zeros((2, n_classes, p))
            codes = self._codes[train]
            counts = np.bincount(codes, minlength=n_classes)
            for c in np.flatnonzero(counts):
                rows = self.X[train[codes == c]]
                mean[c], variance[c] = rows.mean(axis=0), rows.var(axis=0)
            with np.errstate(divide="ignore"):
                prior = np.log(counts / len(train))
            top = self.X[train].var(axis=0)
            self._parts.append((test, mean, variance, prior, top))

    def _errors(self, a: NDArray[Any], b: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the rates of pairs (a[k], b[k]), or of single a[k]."""
        wrong = np.zeros((len(self.classes), len(a)))
        for test, mean, variance, prior, top in self._parts:
            most = top[a] if b is None else np.maximum(top[a], top[b])
            smoothing = self.var_smoothing * most
            flat = most == 0
            smoothing[flat] = 1.0
            best = np.full((len(test), len(a)), -np.inf)
            predicted = np.zeros(best.shape, dtype=np.int32)
            for c in range(len(self.classes)):
                if prior[c] == -np.inf:
                    continue
                score = self._score(a, test, mean[c], variance[c], smoothing)
                if b is not None:
                    score += self._score(b, test, mean[c], variance[c], smoothing)
                score[:, flat] = 0.0
                score += prior[c]
                better = score > best
                best[better], predicted[better] = score[better], c
            codes = self._codes[test]
            for c in range(len(self.classes)):
                wrong[c] += (predicted[codes == c] != c).sum(axis=0)
        return np.asarray((wrong / self._sizes[:, None]).mean(axis=0))

    def _score(
        self, f: NDArray[Any], test: Any, mean: Any, variance: Any, smoothing: Any
    ) -> NDArray[np.float64]:
        spread = variance[f] + smoothing
        away = self.X[np.ix_(test, f)] - mean[f]
        return np.asarray(-0.5 * (np.log(spread) + away * away / spread))

    def _blocks(self, a: NDArray[Any], b: NDArray[Any] | None) -> NDArray[np.float64]:
        out = np.empty(len(a))
        step = max(1, _MOST_CELLS // max(len(test) for _, test in self.splits))
        for k in range(0, len(a), step):
            part = slice(k, k + step)
            out[part] = self._errors(a[part], None if b is None else b[part])
        return out

    @property
    def single(self) -> NDArray[np.float64]:
        """Rates of the single features, (n_features,)."""
        if self._single is None:
            self._single = self._blocks(np.arange(self.n_features), None)
            self._single.flags.writeable = False
        return self._single

    def of(self, pairs: Any) -> NDArray[np.float64]:
        """Return the rates of pairs of features, (n_pairs, 2)."""
        asked = np.asarray(pairs)
        if asked.size == 0:
            return np.empty(0)
        if asked.ndim != 2 or asked.shape[1] != 2 or asked.dtype.kind not in "iu":
            raise ValueError("pairs must be whole numbers of shape (n_pairs, 2)")
        if asked.min() < 0 or asked.max() >= self.n_features:
            raise ValueError("pairs must lie in [0, n_features)")
        out = self._blocks(asked[:, 0], asked[:, 1])
        same = asked[:, 0] == asked[:, 1]
        out[same] = self.single[asked[same, 0]]
        return out

    def row(self, j: int) -> NDArray[np.float64]:
        """Return the rates of the pairs (j, k) of all k; that of (j, j) is the single feature's."""
        others = np.arange(self.n_features)
        return self.of(
            np.column_stack(
                [np.full_like(others, check_int("j", j, 0, self.n_features - 1)), others]
            )
        )

    def matrix(self) -> NDArray[np.float64]:
        """Return the rates of all pairs, symmetric, the single features on the diagonal."""
        p = self.n_features
        if 8 * p * p > _MOST_MATRIX:
            raise ValueError("too many features for a matrix: ask for rows")
        out = np.diag(self.single)
        for j in range(p - 1):
            others = np.arange(j + 1, p)
            out[j, j + 1 :] = self._blocks(np.full_like(others, j), others)
            out[j + 1 :, j] = out[j, j + 1 :]
        return out
