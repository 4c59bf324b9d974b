"""Toys, each of which breaks a clause of the filter contract."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from bitsieve.data import Table


def means(X: Any, y: Any = None, *, n_jobs: Any = None, p_values: bool = False) -> Any:
    """How far apart the means of two classes are, and p-values that are made up."""
    given = X if isinstance(X, Table) else Table(X, y, task="classification")
    if given.codes is None:
        raise ValueError("y is needed: the classes of the samples")
    parts = [given.X[given.codes == c].astype(float) for c in (0, 1)]
    scores = np.abs(parts[0].mean(axis=0) - parts[1].mean(axis=0))
    return (scores, np.exp(-scores)) if p_values else scores


def _of_scores(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """The same filter with its scores changed."""

    def changed(X: Any, y: Any = None, *, n_jobs: Any = None, p_values: bool = False) -> Any:
        scores = change(means(X, y))
        return (scores, np.exp(-means(X, y))) if p_values else scores

    return changed


def _of_calls(before: Callable[..., Any], after: Callable[[Any], Any] = lambda s: s) -> Any:
    """The same filter that does something to what it is called with before."""

    def changed(X: Any, y: Any = None, *, n_jobs: Any = None, p_values: bool = False) -> Any:
        found = before(X, y, n_jobs)
        X, y, factor = found if found is not None else (X, y, 1.0)
        scores = means(X, y, p_values=p_values)
        return scores if p_values else scores * factor

    return changed


def _centre(X: Any, y: Any, n_jobs: Any) -> Any:
    if isinstance(X, np.ndarray) and X.flags.writeable and X.ndim == 2 and X.dtype == float:
        X -= X.mean(axis=0)


def _isa_factor(X: Any, y: Any, n_jobs: Any) -> Any:
    from bitsieve import get_isa

    return X, y, 1.0 + 1e-15 * (get_isa() == "baseline")


def _above_one(X: Any, y: Any = None, *, p_values: bool = False) -> Any:
    scores = means(X, y)
    return (scores, 1.0 + scores) if p_values else scores


counter = itertools.count()

BROKEN_FILTERS: dict[str, list[Any]] = {
    "one_score_a_feature": [
        _of_scores(lambda s: s.astype(np.float32)),
        _of_scores(lambda s: s[1:]),
    ],
    "same_every_time": [_of_scores(lambda s: s * (1.0 + 1e-15 * next(counter)))],
    "greater_is_better": [_of_scores(lambda s: -s)],
    "constant_features_are_last": [_of_scores(lambda s: 1.0 + np.where(s == 0, 0.5, s))],
    "threads": [_of_calls(lambda X, y, n: (X, y, 1.0 + 1e-15 * ((n or 1) > 1)))],
    "instruction_sets": [_of_calls(_isa_factor)],
    "features_in_any_order": [_of_scores(lambda s: s + 1e-6 * np.arange(len(s)))],
    "samples_in_any_order": [_of_calls(lambda X, y, n: (X[:-1], y[:-1], 1.0))],
    "classes_by_any_name": [_of_calls(lambda X, y, n: (X, y, 1.0 + (str(y[0]) < "class 1")))],
    "any_form_of_table": [_of_calls(lambda X, y, n: (np.asarray(X), y, 1.0))],
    "input_stays": [_of_calls(_centre)],
    "p_values": [
        lambda X, y=None, p_values=False: (
            (means(X, y), 2.0 * means(X, y)) if p_values else means(X, y)
        )
    ],
    "refuses_what_it_cannot_take": [
        lambda X, y=None: means(np.nan_to_num(X), y) if np.ndim(X) == 2 else means(X, y),
    ],
    "leaves_global_generators": [_of_calls(lambda X, y, n: random.random() < 0 or None)],
}
