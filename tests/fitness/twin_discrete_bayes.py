"""Slow and obvious twins of the compiled naive Bayes of bits, counts and categories, in numpy.

What they define: the joint log likelihood of each class by scikit-learn's formulas, summed over
the features of the mask in ascending order, and the class of the greatest, the lowest of equals.
A class without a training sample is never predicted (minus infinity).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

Array = np.ndarray[Any, Any]


def joint(model: Any, X: Array, codes: Array, split: Any, weights: Array | None = None) -> Array:
    """Joint log likelihoods of the test samples, shape (n_test, n_classes).

    ``model`` is an estimator of scikit-learn, of which the parameters alone are read, or a
    pipeline of a scaler, which is fitted to the training part, and one; X has the columns of the
    mask.
    """
    train, test = split
    if hasattr(model, "steps"):
        scaler, model = (step for _, step in model.steps)
        X = clone(scaler).fit(X[train]).transform(X)
    train = np.sort(train)
    n_classes = int(codes.max()) + 1
    present = np.isin(np.arange(n_classes), codes[train])
    members = codes[train][:, None] == np.arange(n_classes)
    W = members * (np.ones(len(codes)) if weights is None else weights)[train, None]
    X = X.astype(np.float64)
    alpha = model.alpha if model.force_alpha else max(model.alpha, 1e-10)
    out = np.full((len(test), n_classes), -np.inf)
    parts = _PARTS[type(model).__name__](model, X, W, train, test, alpha, present)
    out[:, present] = np.add.accumulate(parts, axis=0)[-1][:, present]
    if type(model).__name__ != "ComplementNB":
        out += _log_prior(model, W.sum(axis=0), present)
    return out


def predict(*args: Any, **kwargs: Any) -> Array:
    """Classes of the test samples."""
    return joint(*args, **kwargs).argmax(axis=1)


def probabilities(*args: Any, **kwargs: Any) -> Array:
    """Probabilities of the classes, 0 for those without a training sample."""
    likelihood = joint(*args, **kwargs)
    shares = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _log_prior(model: Any, counts: Array, present: Array) -> Array:
    out = np.full(len(counts), -np.inf)
    if model.class_prior is not None:
        out[present] = np.log(model.class_prior)
    elif model.fit_prior:
        out[present] = np.log(counts[present]) - np.log(counts.sum())
    else:
        out[present] = -np.log(present.sum())
    return out


# Each gives what one feature after the other adds, shape (n_features, n_test, n_classes).


def _bernoulli(
    model: Any, X: Array, W: Array, train: Array, test: Array, alpha: float, present: Array
) -> Array:
    bits = X if model.binarize is None else 1.0 * (model.binarize < X)
    counts = np.stack([bits[train].T @ W[:, c] for c in range(W.shape[1])], axis=1)
    with np.errstate(divide="ignore"):
        yes = np.log(counts + alpha) - np.log(W.sum(axis=0) + 2 * alpha)
        no = np.log(1 - np.exp(yes))
    return np.where(bits[test].T[:, :, None] > 0, yes[:, None], no[:, None])


def _multinomial(
    model: Any, X: Array, W: Array, train: Array, test: Array, alpha: float, present: Array
) -> Array:
    smooth = X[train].T @ W + alpha
    return X[test].T[:, :, None] * (np.log(smooth) - np.log(smooth.sum(axis=0)))[:, None]


def _complement(
    model: Any, X: Array, W: Array, train: Array, test: Array, alpha: float, present: Array
) -> Array:
    counts = X[train].T @ W
    rest = counts.sum(axis=1, keepdims=True) + alpha - counts
    return X[test].T[:, :, None] * -np.log(rest / rest.sum(axis=0))[:, None]


def _categorical(
    model: Any, X: Array, W: Array, train: Array, test: Array, alpha: float, present: Array
) -> Array:
    levels = X.astype(np.int64)
    out = []
    for column in levels.T:
        n_levels = max(column[train].max() + 1, model.min_categories or 0)
        counts = (column[train][:, None] == np.arange(n_levels)).T @ W + alpha
        out.append((np.log(counts) - np.log(counts.sum(axis=0)))[column[test]])
    return np.stack(out)


_PARTS = {
    "BernoulliNB": _bernoulli,
    "MultinomialNB": _multinomial,
    "ComplementNB": _complement,
    "CategoricalNB": _categorical,
}
