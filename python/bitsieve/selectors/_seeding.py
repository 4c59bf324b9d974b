"""Seeds for estimators that have none, so that a seeded search is repeated by its seed."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from bitsieve.search.seeds import SeedWords

__all__ = ["seeded"]

_ESTIMATORS = 4  # stream of Philox; the search, its folds and the last measurement have 1 to 3


def seeded(estimator: Any, key: int) -> Any:
    """Return a clone whose every ``random_state=None`` is a number drawn from the key.

    Parameters
    ----------
    estimator : estimator
        It stays as it is.
    key : int
        The key of the search.

    Returns
    -------
    estimator
        The same object where there is nothing to set.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier()
    >>> seeded(tree, 7).random_state == seeded(tree, 7).random_state
    True
    >>> tree.random_state is None
    True
    """
    unset = sorted(
        name
        for name, value in estimator.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    )
    if not unset:
        return estimator
    words = SeedWords(key, _ESTIMATORS).take(0, len(unset))
    # scikit-learn takes seeds of 32 bits.
    values = {name: int(word) >> 32 for name, word in zip(unset, words, strict=True)}
    return clone(estimator).set_params(**values)
