"""MarkovBlanket: the features given which the target is independent of all others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import RandomState
from bitsieve.causal import (
    Blanket,
    IndependenceTest,
    Method,
    TestName,
    make_test,
    markov_blanket,
)
from bitsieve.discrete import Discretization
from bitsieve.selectors._ranked import RankSelector

__all__ = ["MarkovBlanket"]


class MarkovBlanket(RankSelector):
    """Keep the Markov blanket of the target: its parents, its children and their other parents.

    Given the blanket, the target is independent of every other feature: they add nothing. How many
    features that are is found, not asked for. See :func:`bitsieve.causal.markov_blanket`.

    Parameters
    ----------
    method : {"hiton-mb", "mmmb", "pcmb", "iamb", "inter-iamb", "fast-iamb", "gs"}, \
default "hiton-mb"
        See :func:`bitsieve.causal.markov_blanket`.
    alpha : float, default 0.01
        Independent is what has a p-value above it. Of hundreds of features 0.001 keeps out what
        chance lets in.
    test : {"auto", "g2", "chi2", "fisher-z", "permutation"}, default "auto"
        See :func:`bitsieve.causal.make_test`.
    max_conditioning : int, default 3
        Most features of a separating set.
    min_samples_per_cell : float, default 5.0
        A test of levels that has fewer samples for a cell of its table is skipped: it neither
        removes a feature nor adds one.
    symmetric : bool, default True
        Only those are near that find each other.
    discretization : str, default "auto"
        How tests of levels cut continuous columns: :meth:`bitsieve.discrete.DiscreteTable.of`.
    discrete_features : "auto", bool, bool mask, positions or names, default "auto"
        Columns that hold levels whatever they look like.
    n_permutations : int, default 999
        For ``test="permutation"``.
    random_state : int, numpy Generator or RandomState, or None, default 0
        For ``test="permutation"``.
    n_jobs : int or None, default None
        Threads. The result is the same for any number.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True in the blanket. It may be empty.
    parents_children_, spouses_ : list
        Names of the features, or their positions where X has no names; ascending positions.
    separators_ : dict
        Of each feature outside, by name or position: the separating set (a tuple) and the p-value
        of the test given it. One without an entry had no reliable test, or says the same as
        another feature.
    scores_ : ndarray of shape (n_features_in_,)
        Association with the target given what speaks most against it: -log10 of the greatest
        p-value of its tests. At least -log10(alpha) in the blanket, less outside.
    ranking_ : ndarray of shape (n_features_in_,)
        1 is the best; those of the blanket come first.
    n_features_ : int
        Size of the blanket.
    blanket_ : Blanket
        All of it, by position; ``blanket_.why_not("Anxiety")`` tells why a feature is out.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> parent, spouse, other, *noise = np.random.default_rng(0).normal(size=(5, 1000))
    >>> y = parent + noise[0]
    >>> child = y + spouse + noise[1]
    >>> selector = MarkovBlanket().fit(np.column_stack([parent, spouse, child, other]), y)
    >>> selector.parents_children_, selector.spouses_, selector.support_
    ([0, 2], [1], array([ True,  True,  True, False]))
    """

    n_features_to_select = None
    threshold = None
    _decides_size = True

    def __init__(
        self,
        method: Method = "hiton-mb",
        *,
        alpha: float = 0.01,
        test: TestName = "auto",
        max_conditioning: int = 3,
        min_samples_per_cell: float = 5.0,
        symmetric: bool = True,
        discretization: Discretization = "auto",
        discrete_features: Any = "auto",
        n_permutations: int = 999,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.test = test
        self.max_conditioning = max_conditioning
        self.min_samples_per_cell = min_samples_per_cell
        self.symmetric = symmetric
        self.discretization = discretization
        self.discrete_features = discrete_features
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.n_jobs = n_jobs

    blanket_: Blanket
    parents_children_: list[Any]
    spouses_: list[Any]

    @property
    def separators_(self) -> dict[Any, tuple[tuple[Any, ...], float]]:
        """What separates each feature outside from the target."""
        found = self.blanket_.separators.items()
        return {self._name(x): (tuple(map(self._name, s.given)), s.p_value) for x, s in found}

    def _name(self, feature: int) -> Any:
        names = self.blanket_.names
        return feature if names is None else names[feature]

    def _score(self, X: Any, y: Any) -> NDArray[np.float64]:
        test = self._make_test(X, y)
        self.blanket_ = markov_blanket(
            test, test.n_variables - 1, n_jobs=self.n_jobs, **self._options()
        )
        self.parents_children_ = [self._name(x) for x in self.blanket_.parents_children]
        self.spouses_ = [self._name(x) for x in self.blanket_.spouses]
        return self.blanket_.strengths[:-1]

    def _make_test(self, X: Any, y: Any) -> IndependenceTest:
        """Return a test of the columns of X and, as the last variable, of y."""
        return make_test(
            X,
            y,
            test=self.test,
            discretization=self.discretization,
            discrete_features=self.discrete_features,
            min_samples_per_cell=self.min_samples_per_cell,
            n_permutations=self.n_permutations,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _options(self) -> dict[str, Any]:
        """Return how a blanket is searched for."""
        return {
            "method": self.method,
            "alpha": self.alpha,
            "max_conditioning": self.max_conditioning,
            "symmetric": self.symmetric,
        }

    def _keep(self, scores: NDArray[np.float64], ranking: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.isin(np.arange(len(scores)), self.blanket_.members)
