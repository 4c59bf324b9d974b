"""What a procedure may see of an outer fold, computed once for all that ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.svm import SVC

from honest.models import Scaler, ShrunkenLDA

__all__ = ["SIZES", "Fold", "Part", "lda", "svm"]

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

SIZES = (5, 10, 20, 50, 100, 200)
N_INNER = 3
SHARE = 0.2


@dataclass(eq=False)
class Part:
    """A training part and the samples to predict, scaled by what the training part says."""

    X_train: F64
    codes: I64
    X_test: F64
    n_classes: int
    _orders: dict[str, I64] = field(default_factory=dict)

    @cached_property
    def _scaler(self) -> Scaler:
        return Scaler.fit(self.X_train)

    @cached_property
    def Z(self) -> F64:
        return self._scaler.apply(self.X_train)

    @cached_property
    def Z_test(self) -> F64:
        return self._scaler.apply(self.X_test)

    @property
    def n_features(self) -> int:
        return self.X_train.shape[1]

    @cached_property
    def gram(self) -> tuple[F64, F64]:
        return self.Z @ self.Z.T, self.Z_test @ self.Z.T

    def order(self, ranker: str) -> I64:
        """Features best first, ties to the lowest; at least as many as the largest size."""
        if ranker not in self._orders:
            self._orders[ranker] = RANKERS[ranker](self)
        return self._orders[ranker]

    def grams(self, features: I64 | None) -> tuple[F64, F64, int]:
        """Gram matrix of these features (None: all), of test by training, and their number."""
        if features is None:
            return *self.gram, self.n_features
        Z, Z_test = self.Z[:, features], self.Z_test[:, features]
        return Z @ Z.T, Z_test @ Z.T, features.size


@dataclass(eq=False)
class Fold:
    """An outer fold: its part, and 3 x 5 inner parts of its training samples."""

    outer: Part
    seed: int
    _known: dict[Any, Any] = field(default_factory=dict)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once: kept with the fold, and gone with it."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    @cached_property
    def inner(self) -> list[tuple[Part, I64]]:
        """Parts, and the true codes of what they predict; the first five are the first repeat."""
        whole = self.outer
        folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=N_INNER, random_state=self.seed)
        return [
            (
                Part(whole.X_train[a], whole.codes[a], whole.X_train[b], whole.n_classes),
                whole.codes[b],
            )
            for a, b in folds.split(whole.X_train, whole.codes)
        ]


Model = Callable[[Part, "I64 | None"], I64]


def svm(part: Part, features: I64 | None) -> I64:
    """Codes by scikit-learn's linear SVM with C = 1, on these features."""
    K, K_test, _ = part.grams(features)
    model = SVC(kernel="precomputed", C=1.0).fit(K, part.codes)
    return np.asarray(model.predict(K_test))


def lda(part: Part, features: I64 | None) -> I64:
    """Codes by shrunken LDA on these features."""
    K, K_test, p = part.grams(features)
    model = ShrunkenLDA.fit(K, part.codes, part.n_classes, p)
    return np.asarray(model.decide(K_test).argmax(axis=1))


def _best_first(scores: F64) -> I64:
    return np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")


def _f_scores(part: Part) -> F64:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(f_classif(part.Z, part.codes)[0])


def _f(part: Part) -> I64:
    return _best_first(_f_scores(part))


def _relieff(part: Part) -> I64:
    from bitsieve.filters import relieff

    return _best_first(np.asarray(relieff(part.Z, part.codes)))


def _mrmr(part: Part) -> I64:
    """F divided by the mean absolute correlation with what is chosen (FCQ of Zhao et al., 2019)."""
    relevance = np.nan_to_num(_f_scores(part), nan=0.0)
    Z = part.Z.astype(np.float32)
    Z -= Z.mean(axis=0)
    Z /= np.maximum(np.sqrt(np.sum(Z * Z, axis=0)), 1e-12)
    total = np.zeros(Z.shape[1])
    left = relevance.copy()
    chosen = [int(np.argmax(left))]
    while len(chosen) < min(max(SIZES), Z.shape[1]):
        left[chosen[-1]] = -1.0
        total += np.abs(Z[:, chosen[-1]] @ Z)
        scores = left / np.maximum(total / len(chosen), 1e-3)
        chosen.append(int(np.argmax(scores)))
    return np.array(chosen)


def _rfe(part: Part) -> I64:
    """SVM-RFE (Guyon et al., 2002): a fifth of the features goes each step, by squared weights
    summed over the classes, each against the rest; a step stops where it meets a size."""
    Z, codes = part.Z, part.codes
    labels = [np.where(codes == c, 1, 0) for c in range(part.n_classes)]
    if part.n_classes == 2:
        labels = labels[1:]
    active = np.arange(Z.shape[1])
    columns = np.ascontiguousarray(Z.T)
    K = part.gram[0].copy()
    tail: list[I64] = []
    while True:
        weight = np.zeros(active.size)
        for label in labels:
            model = SVC(kernel="precomputed", C=1.0).fit(K, label)
            weight += (columns[:, model.support_] @ model.dual_coef_[0]) ** 2
        ranked = _best_first(weight)
        if active.size <= SIZES[0]:
            tail.append(active[ranked])
            break
        keep = max(int(active.size * (1 - SHARE)), max(s for s in SIZES if s < active.size))
        tail.append(active[ranked[keep:]])
        stay = np.sort(ranked[:keep])
        lost = columns[np.sort(ranked[keep:])]
        active, columns = active[stay], columns[stay]
        # Differences of large sums lose digits; small matrices are made anew.
        K = columns.T @ columns if keep <= 1000 else K - lost.T @ lost
    return np.concatenate(tail[::-1])


RANKERS: dict[str, Callable[[Part], I64]] = {
    "f": _f,
    "relieff": _relieff,
    "mrmr": _mrmr,
    "rfe": _rfe,
}


def sizes_up_to(limit: int | None, n_features: int) -> Sequence[int | None]:
    """Sizes below the number of features, ascending, None for all where there is no limit."""
    sizes: list[int | None] = [s for s in SIZES if s < n_features and (limit is None or s <= limit)]
    return [*sizes, None] if limit is None else sizes


def inner_counts(fold: Fold, ranker: str, model: Model) -> dict[int | None, int]:
    """Correct predictions of all inner folds by panel size, with the selection made in each."""

    def count() -> dict[int | None, int]:
        sizes = sizes_up_to(None, fold.outer.n_features)
        counts = dict.fromkeys(sizes, 0)
        for part, truth in fold.inner:
            order = part.order(ranker)
            for size in sizes:
                features = None if size is None else order[:size]
                counts[size] += int(np.sum(model(part, features) == truth))
        return counts

    result: dict[int | None, int] = fold.once((ranker, model), count)
    return result
