"""EnergySelector: the set of features of least energy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB

from bitsieve._checks import check_choice, check_int, key_of
from bitsieve._threads import effective_n_jobs
from bitsieve.causal import Energy, Terms
from bitsieve.causal.energy import Minimum
from bitsieve.causal.terms import PRESETS
from bitsieve.data.inputs import check_input
from bitsieve.selectors._energy_learning import LEARNT, errors_of_terms
from bitsieve.selectors._energy_parts import RANKERS, EnergyParts, make_splits
from bitsieve.selectors._energy_search import (
    MOST_PAIRED,
    SEARCHES,
    STARTS,
    SearchName,
    StartName,
    minimize,
)
from bitsieve.selectors._ranked import RankSelector
from bitsieve.selectors.blanket import MarkovBlanket
from bitsieve.selectors.nested_subsets import NestedSubsets, nested_sizes

__all__ = ["EnergySelector"]

_MOST_PAIRED_TO_LEARN = 1000  # features, for each of many settings
_MOST_PAIRED_UNCOMPILED = 50  # each pair takes a fit a fold
_MOST_SEARCHED = 64  # features of a subset that is searched for; larger ones are ranked


class EnergySelector(RankSelector):
    """Keep the set of features of least energy: relevant, predictive and causal, alone and paired.

    An energy-based model [1]_ adds up what each feature of a set is worth (its positions in eight
    rankings and by the error of a classifier that sees it alone) and what each pair is worth (the
    error of a classifier that sees the two), with more weight for features in the target's Markov
    blanket. The set of least energy is looked for by iterated conditional modes.

    Parameters
    ----------
    n_features_to_select : int, float or None, default None
        Features of the set, or a fraction of all. None: 10, or all where there are fewer.
    terms : str, Terms or sequence of Terms, default "ebm"
        What the energy is made of. "ebm" is all of it; "lm" is relevance and prediction of single
        features, "mb" adds the blanket among all, "ebm-lm" has pairs and no blankets, "ebm-no-gmb"
        all but the blanket among all: the rows of the paper's Table 3. "learn" chooses among 27
        settings, a sequence among its own, by the error of the estimator on the selected features
        in folds of ``cv``, the selection made anew in each: the first that is within a paired
        standard error of the best ("learn" has all of the energy first).
    rankers : sequence or None, default None
        As in :class:`RankAggregation`; None: the paper's eight, signal-to-noise, Gram-Schmidt,
        Relief, recursive elimination by a linear SVM, AUC, F, t and Pearson's correlation.
    estimator : scikit-learn classifier or None, default None
        Whose errors count; None: ``GaussianNB()``. It is compiled where it can be.
    blanket : MarkovBlanket or None, default None
        How blankets are searched for; None: ``MarkovBlanket()``.
    cv : int, splitter or iterable of (train, test), default 5
        Folds of the errors, stratified and shuffled where it is a number; with ``GaussianNB`` each
        sample is tested once. Where terms are learnt also those of the comparison; inside them a
        list of parts, which is of all samples, gives way to five folds.
    search : {"icm", "annealing", "swaps"}, default "icm"
        Iterated conditional modes, simulated annealing, or exchanges of two features as long as
        the best one helps.
    start : {"both", "features", "pairs"}, default "both"
        Where the search starts: from the best features, as in the paper; from the best of all
        pairs (of the best 5,000 features where there are more, of the best 50 where the estimator
        is not compiled and every pair is fitted in every fold) and what is best added to it, one
        by one; or from both, the lower energy being taken. Features that tell together what none
        tells alone are found from pairs.
    max_sweeps : int, default 100
        Of iterated conditional modes; annealing takes 100 steps for each.
    random_state : int, Generator, RandomState or None, default 0
        Seed of folds, annealing and of rankers that draw.
    n_jobs : int or None, default None
        Threads. The result is the same for any number.

    Attributes
    ----------
    support_ : bool array of shape (n_features_in_,)
    n_features_ : int
    scores_ : float64 array of shape (n_features_in_,)
        What a feature takes off the energy beside the others of the set; of one that is not in it,
        what it would take off in place of the weakest that is (never more than that one does).
    ranking_ : int64 array of shape (n_features_in_,)
        1 is the best; those of the set come first.
    features_ : int64 array of shape (n_features_,)
        Positions of the set, the best first.
    energy_ : float
        Of the set; NaN where it has more than 64 features, and was not searched for.
    converged_ : bool
        Whether the search ended where it no longer changed anything.
    terms_ : Terms
        Those that were used.
    terms_errors_ : DataFrame
        Where terms were learnt: of each setting the balanced error rate and its standard error over
        the folds. The least of many is optimistic.
    nested_ : NestedSubsets
        Subsets of 2, 4, 8, ... and all features beside the set, found by iterated conditional
        modes: their merged ranking, how it agrees with a known blanket, and how well each predicts.
        Subsets of more than 64 features, the set too, are the best by equation 5.
    path_ : DataFrame
        A row a subset of ``nested_``: ``n_features``, ``energy``, ``features`` (names, or positions
        where X has none; best first).
    blanket_ : list
        Features in the Markov blanket among all, by name or position; empty where no term asks.
    positions_ : float64 array of shape (n_rankers, n_features_in_)
    ranker_names_ : list of str
    errors_ : float64 array of shape (n_features_in_,)
        Balanced error rate of the estimator on each feature alone.
    seed_ : int
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : array of str

    See Also
    --------
    bitsieve.causal.Energy : The energy itself, for rankings and errors of your own.
    bitsieve.causal.EnergyFitness : For any search of :mod:`bitsieve.search`.

    Notes
    -----
    Energies say nothing about how many features to take. In the paper the ranking by single
    features ("lm") did as well as the whole model; "learn" lets the data say.

    References
    ----------
    .. [1] H. J. Escalante, M. Montes, L. E. Sucar, "An energy-based model for feature selection",
       2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bitsieve import EnergySelector
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = EnergySelector(3).fit(X, y)
    >>> selector.transform(X).shape
    (569, 3)
    >>> selector.path_.n_features.tolist()
    [2, 3, 4, 8, 16, 30]
    """

    threshold = None

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        terms: str | Terms | Sequence[Terms] = "ebm",
        rankers: Sequence[Any] | None = None,
        estimator: Any = None,
        blanket: MarkovBlanket | None = None,
        cv: Any = 5,
        search: SearchName = "icm",
        start: StartName = "both",
        max_sweeps: int = 100,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.terms = terms
        self.rankers = rankers
        self.estimator = estimator
        self.blanket = blanket
        self.cv = cv
        self.search = search
        self.start = start
        self.max_sweeps = max_sweeps
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _score(self, X: Any, y: Any) -> NDArray[np.float64]:
        candidates = self._candidates()
        self._check_options()
        found = check_input(X, y, task="classification")
        if len(found.classes) < 2:
            raise ValueError("y must have at least two classes, got one")
        table = np.asarray(found.X, dtype=np.float64)
        names = found.names
        self.classes_ = found.classes
        self.seed_ = key_of(self.random_state)
        terms = candidates[0]
        for stale in {"terms_errors_"} & set(vars(self)):
            delattr(self, stale)
        cv = list(self.cv) if isinstance(self.cv, Iterator) else self.cv  # read more than once
        if len(candidates) > 1:
            terms = self._learn(candidates, table, found.codes, cv)
        parts = self._parts(
            table, found.codes, bool(terms.local_blanket or terms.global_blanket), cv
        )
        energy = parts.energy(terms)
        wanted = self._n_wanted(table.shape[1])
        assert wanted is not None
        best = self._minimum(parts, energy, wanted, self.search)
        self._store(parts, energy, best, names)
        local = parts.local(best.features) if parts.local and terms.local_blanket else ()
        return energy.contributions(best.features, local)

    def _keep(self, scores: NDArray[np.float64], ranking: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.isin(np.arange(len(scores)), self.features_)

    # -- steps -----------------------------------------------------------------------------------

    def _learn(
        self,
        candidates: tuple[Terms, ...],
        X: NDArray[np.float64],
        codes: NDArray[np.int32],
        cv: Any,
    ) -> Terms:
        """Choose terms by cross-validation, and keep what it said."""
        import pandas as pd

        wanted = self._n_wanted(X.shape[1])
        assert wanted is not None
        errors = errors_of_terms(
            candidates,
            X,
            codes,
            splits=make_splits(cv, X, codes, self.seed_ + 1),
            # Splits that are listed are of all samples; those of a training part are drawn.
            parts_of=lambda X, codes, blankets: self._parts(
                X, codes, blankets, cv if _is_repeatable(cv) else 5
            ),
            minimize=lambda parts, terms: self._minimum(
                parts, parts.energy(terms), wanted, self.search, _MOST_PAIRED_TO_LEARN
            ),
            estimator=self._classifier(),
        )
        mean, n_folds = errors.mean(axis=1), errors.shape[1]
        spread = errors.std(axis=1, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else np.nan
        rows = [vars(terms) for terms in candidates]
        self.terms_errors_ = pd.DataFrame(rows).assign(error=mean, standard_error=spread)
        return candidates[int(np.argmin(np.round(mean, 12)))]

    def _parts(
        self,
        X: NDArray[np.float64],
        codes: NDArray[np.int32],
        with_blankets: bool,
        cv: Any,
    ) -> EnergyParts:
        return EnergyParts.of(
            X,
            codes,
            rankers=RANKERS if self.rankers is None else self.rankers,
            estimator=self._classifier(),
            splits=make_splits(cv, X, codes, self.seed_),
            blanket=MarkovBlanket() if self.blanket is None else self.blanket,
            with_blankets=with_blankets,
            key=self.seed_,
            n_jobs=self.n_jobs,
        )

    def _minimum(
        self,
        parts: EnergyParts,
        energy: Energy,
        size: int,
        search: SearchName = "icm",
        n_paired: int = MOST_PAIRED,
    ) -> Minimum:
        if size > _MOST_SEARCHED:
            order = np.argsort(-energy.observed(), kind="stable")[:size]
            return Minimum(order, np.nan, np.empty(0), True)
        return minimize(
            energy,
            size,
            search=search,
            start=self.start,
            local=parts.local,
            max_sweeps=self.max_sweeps,
            key=self.seed_,
            n_paired=n_paired if parts.is_compiled else min(n_paired, _MOST_PAIRED_UNCOMPILED),
        )

    def _store(
        self, parts: EnergyParts, energy: Energy, best: Minimum, names: list[str] | None
    ) -> None:
        import pandas as pd

        n_features = energy.n_features
        sizes = nested_sizes(n_features, len(best.features))
        minima = {len(best.features): best}
        for size in sizes:
            if size not in minima:
                minima[size] = self._minimum(parts, energy, size)
        named = (lambda f: int(f)) if names is None else (lambda f: names[int(f)])
        self.nested_ = NestedSubsets(
            [minima[size].features for size in sizes],
            np.array([minima[size].energy for size in sizes]),
            n_features,
        )
        self.path_ = pd.DataFrame(
            {
                "n_features": sizes,
                "energy": self.nested_.energies,
                "features": [[named(f) for f in subset] for subset in self.nested_.subsets],
            }
        )
        self.features_ = best.features
        self.energy_ = float(best.energy)
        self.converged_ = bool(best.converged)
        self.terms_ = energy.terms
        self.blanket_ = [named(f) for f in parts.blanket]
        self.positions_ = parts.positions
        self.ranker_names_ = parts.ranker_names
        self.errors_ = np.array(parts.errors.single)

    # -- parameters ------------------------------------------------------------------------------

    def _classifier(self) -> Any:
        return GaussianNB() if self.estimator is None else clone(self.estimator)

    def _candidates(self) -> tuple[Terms, ...]:
        """Return the terms to choose among, one where there is nothing to choose."""
        given = self.terms
        if isinstance(given, Terms):
            return (given,)
        if isinstance(given, str):
            name = check_choice("terms", given.lower(), (*PRESETS, "learn"), instead="or Terms")
            return LEARNT if name == "learn" else (PRESETS[name],)
        if isinstance(given, (list, tuple)) and given and all(isinstance(t, Terms) for t in given):
            return tuple(given)
        raise ValueError(
            "terms must be a name such as 'ebm' or 'learn', bitsieve.causal.Terms(...) or a list "
            f"of these, got {given!r}"
        )

    def _check_options(self) -> None:
        check_choice("search", self.search, SEARCHES)
        check_choice("start", self.start, STARTS)
        check_int("max_sweeps", self.max_sweeps, 1)
        effective_n_jobs(self.n_jobs)
        if self.estimator is not None and not (
            hasattr(self.estimator, "fit") and is_classifier(self.estimator)
        ):
            raise ValueError(f"estimator must be a classifier, got {self.estimator!r}")
        if self.blanket is not None and not isinstance(self.blanket, MarkovBlanket):
            raise ValueError(f"blanket must be a MarkovBlanket, got {self.blanket!r}")
        if self.rankers is not None and (
            isinstance(self.rankers, str)
            or not isinstance(self.rankers, Sequence)
            or not len(self.rankers)
        ):
            raise ValueError(
                "rankers must be a list of names, functions or estimators, such as "
                f"['relieff', 'f'], got {self.rankers!r}"
            )


def _is_repeatable(cv: Any) -> bool:
    """Whether folds can be made of any samples, and not of all alone."""
    return cv is None or isinstance(cv, (int, np.integer)) or hasattr(cv, "split")
